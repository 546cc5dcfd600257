/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files: from a descriptor to the file, from the file to its id, and its path, read once.
 *
 * A file is (device, inode number, generation). Its id is drawn when it is first seen; the record
 * that says what the id stands for goes ahead of the first record that uses it.
 */
#ifndef FAULTLINE_BPF_FILE_H
#define FAULTLINE_BPF_FILE_H

#include "file_path.h"
#include "inode_class.h"
#include "layer.h"

#ifdef __TARGET_ARCH_arm64
#define O_DIRECT 0200000
#else
#define O_DIRECT 040000
#endif
#define O_ACCMODE 03
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_DSYNC 010000 /* O_SYNC has this bit, too */
#define FMODE_WRITE 0x2u
#define FMODE_BACKING (1u << 24)     /* since 6.14 */
#define FMODE_BACKING_OLD (1u << 25) /* from 6.5 on */

/*
 * What is known of a file. It has a place by its identity in an array, which costs a fraction of
 * what a hash does, and keeps it; where another has that place it goes to a hash, in which nobody
 * looks while that is empty. That is bounded: a file that fell out gets a new id when it comes
 * back, and the reader joins the two by what the ids stand for.
 */
#define FILE_PLACES_LOG 16

struct file_place {
	struct file_entry entry; /* id 0: free */
	struct file_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << FILE_PLACES_LOG);
	__type(key, __u32);
	__type(value, struct file_place);
} file_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct file_key);
	__type(value, struct file_entry);
} files SEC(".maps");

/*
 * Ids are the lower 31 bits of a counter. The counter runs in turns of 2^29, so the fifth turn
 * hands out the ids of the first again. Before that can happen, a file whose id is two turns old
 * gets a new one the next time it is used: no id ever stands for two files.
 */
#define FILE_TURN_LOG 29
extern __u64 file_last_id;
extern volatile __u32 file_turn;    /* the current turn */
extern volatile bool files_crowded; /* the hash is not empty */

static __always_inline struct file_place *file_place(const struct file_key *key)
{
	__u64 number = key->ino ^ (__u64)key->generation << 32 ^ (__u64)key->dev << 20;
	__u32 at = number * 0x9e3779b97f4a7c15 >> (64 - FILE_PLACES_LOG); /* 2^64 / golden ratio */

	return bpf_map_lookup_elem(&file_places, &at);
}

static __always_inline bool file_is_at(const struct file_place *place, const struct file_key *key)
{
	return place->entry.id && place->key.ino == key->ino &&
	       *(const __u64 *)&place->key.dev == *(const __u64 *)&key->dev;
}

/* Looks up a file by its key, which must be on the stack. NULL: the file is new, or its id is too
 * old. */
static __always_inline struct file_entry *file_find(struct file_key *key)
{
	struct file_place *place = file_place(key);
	struct file_entry *entry = NULL;

	if (place && file_is_at(place, key))
		entry = &place->entry;
	else if (files_crowded)
		entry = bpf_map_lookup_elem(&files, key);
	return entry && file_turn - entry->turn < 2 ? entry : NULL;
}

/* Identifies an open file (POSIX: open file description) without giving away its address: a hash of
 * the address, with secrets chosen at random for each recording. 0: no file, or no secrets. */
static __always_inline __u32 open_file_of(__u64 file)
{
	return file ? ((file ^ open_file_secrets[0]) * open_file_secrets[1]) >> 32 : 0;
}

/* --- from a descriptor to the file --- */

/* `quick`: see caller_find; the same of what follows. */
static __always_inline struct file *file_of_fd_by(struct task_struct *task, __u32 fd,
						  const bool quick)
{
	struct files_struct *open_files = quick ? task->files : TASK_POINTER(task, files);
	struct fdtable *table;

	if (!open_files)
		return NULL;
	table = open_files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	/* A slot of the table, read as a struct that begins with a pointer. */
	return (struct file *)KREAD_BY(quick, hlist_head, table->fd + fd, first);
}

static __always_inline struct file *file_of_fd(struct task_struct *task, __u32 fd)
{
	return file_of_fd_by(task, fd, false);
}

/*
 * What a mapping of an overlay file holds is a file of a layer, behind which the path that the user
 * opened stands. The bit that says so moved in 6.14, where the old one got another meaning, so the
 * path is believed only when it leads to a file system that makes such files.
 */
static __always_inline bool file_is_backing(struct file *file)
{
	struct dentry *dentry;
	struct inode *inode;
	unsigned long magic;

	if (!bpf_core_type_exists(struct backing_file) ||
	    !bpf_core_field_exists(struct backing_file, user_path) ||
	    !(KREAD(file, file, f_mode) & (FMODE_BACKING | FMODE_BACKING_OLD)))
		return false;
	dentry = KREAD(backing_file, file, user_path.dentry);
	inode = KREAD(dentry, dentry, d_inode);
	magic = KREAD(super_block, KREAD(inode, inode, i_sb), s_magic);
	return magic == OVERLAYFS_MAGIC || magic == FUSE_MAGIC;
}

/* Name and place of an open file, as the user opened it. */
static __always_inline void file_path(struct file *file, struct vfsmount **mnt,
				      struct dentry **dentry)
{
	if (file_is_backing(file)) {
		*mnt = KREAD(backing_file, file, user_path.mnt);
		*dentry = KREAD(backing_file, file, user_path.dentry);
		return;
	}
	*mnt = KREAD(file, file, f_path.mnt);
	*dentry = KREAD(file, file, f_path.dentry);
}

/* --- what an id stands for --- */

/* A file without a path has a name of its kernel's making on a mount of its own. */
static __always_inline bool file_nameless(const struct file_facts *facts)
{
	void *mount;

	if (!facts->mnt)
		return false;
	mount = (void *)facts->mnt - bpf_core_field_offset(struct mount, mnt);
	return facts->dentry == KREAD(dentry, facts->dentry, d_parent) &&
	       KREAD(mount, mount, mnt_parent) == mount &&
	       facts->dentry != KREAD(vfsmount, facts->mnt, mnt_root);
}

/* What is known of the file without its path. In a frame of its own: the deepest chain of calls
 * ends in the path's, and has to stay within the kernel's 512 bytes of stack. */
static __noinline int file_describe(struct event_file *record, struct file_facts *facts,
				    struct file_key *key)
{
	struct inode *inode = facts->inode;
	struct super_block *sb = KREAD(inode, inode, i_sb);

	record->ino = key->ino;
	record->dev = key->dev;
	record->generation = key->generation;
	record->mode = KREAD(inode, inode, i_mode);
	record->rdev = KREAD(inode, inode, i_rdev);
	record->class = inode_class(inode); /* calls go no deeper than this */
	record->capacity_pages = 0;
	if (KREAD(super_block, sb, s_magic) == TMPFS_MAGIC &&
	    bpf_core_type_exists(struct shmem_sb_info))
		record->capacity_pages =
			KREAD(shmem_sb_info, KREAD(super_block, sb, s_fs_info), max_blocks);
	record->readahead_pages = KREAD(backing_dev_info, KREAD(super_block, sb, s_bdi), ra_pages);
	if (bpf_probe_read_kernel_str(
		    record->filesystem, sizeof(record->filesystem),
		    KREAD(file_system_type, KREAD(super_block, sb, s_type), name)) < 0)
		record->filesystem[0] = 0;
	return 0;
}

/* In a frame of its own, like file_describe. */
static __noinline struct file_making *file_making_get(void)
{
	return scratch_get();
}

/* Sends the record that says what `id` stands for. Returns 0, or what went wrong. */
static __noinline int file_announce(struct file_facts *facts, struct file_key *key, __u32 id,
				    __s64 size)
{
	struct file_making *making = file_making_get();
	struct event_file *record;
	struct path_walk *walk;
	struct fs_struct *fs;
	__u64 bytes;
	long length;

	if (!making)
		return ring_lose(RECORD_FILE) - 1;
	record = (struct event_file *)making->record;
	walk = &making->walk;
	/* What is at hand first: whatever is kept over a call takes of the stack (file_describe).
	 */
	record->size_bytes = size;
	record->id = id;
	file_describe(record, facts, key);
	record->flags = 0;

	path_begin(walk, facts);
	if (!facts->dentry) {
		record->flags |= TRACE_FILE_PATH_CUT;
	} else if (file_nameless(facts)) {
		record->flags |= TRACE_FILE_NAMELESS;
		length = bpf_probe_read_kernel_str(record->names, NAME_SPACE,
						   KREAD(dentry, facts->dentry, d_name.name));
		if (length > 0)
			walk->bytes = length;
	} else {
		fs = TASK_POINTER(bpf_get_current_task_btf(), fs);
		if (fs) {
			walk->root_dentry = fs->root.dentry;
			walk->root_mnt = fs->root.mnt;
		}
		bpf_loop(PATH_COMPONENTS_MAX, path_step, &making, 0);
		if (!walk->done || !facts->mnt)
			record->flags |= TRACE_FILE_PATH_CUT;
	}
	if (facts->dentry && !KREAD(dentry, facts->dentry, d_hash.pprev) &&
	    facts->dentry != KREAD(dentry, facts->dentry, d_parent))
		record->flags |= TRACE_FILE_DELETED;
	bytes = walk->bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_PATH_BYTES + NAME_SPACE)
		bytes = EVENT_PATH_BYTES + NAME_SPACE;
	record->names_bytes = bytes;
	length = ring_output(&record->header, RECORD_FILE, bpf_ktime_get_ns(),
			     sizeof(*record) + bytes, owner_of(bpf_get_current_task_btf()));
	scratch_put(making);
	return length;
}

/* --- ids --- */

/*
 * These are global, and in frames of their own: the verifier looks at each once, and the deepest
 * chain of calls has to stay within the kernel's 512 bytes.
 *
 * The id of a file; 0 if it is new. FILE_UNTOLD is set if its record must be sent again, because
 * its name, or with `refresh` its size, has changed.
 */
__noinline __u32 file_look(struct file_key *key, __u32 name_hash, __s64 size, bool refresh)
{
	struct file_entry *entry;
	struct file_key at; /* on the stack: up to 6.1 a map takes no other */

	if (!key)
		return 0;
	at = *key;
	entry = file_find(&at);
	if (!entry)
		return 0;
	/* A file that was first met through its page cache gets its path from the first opener. */
	if (!(entry->id & FILE_UNTOLD) &&
	    (refresh ? entry->name_hash == name_hash && entry->size_bytes == size
		     : entry->name_hash || !name_hash))
		return entry->id;
	return entry->id | FILE_UNTOLD;
}

/* Stores a file under a new id. */
__noinline int file_enter(struct file_key *key, __u32 id, __u32 name_hash, __s64 size)
{
	struct file_entry fresh = {
		.id = id, .name_hash = name_hash, .size_bytes = size, .turn = file_turn
	};
	struct file_place *place;
	struct file_key at;

	if (!key)
		return 0;
	at = *key;
	place = file_place(&at);
	/* Who meets the file before all of it is there finds another's place and gives it one more
	 * id, or finds another name and size, and tells them. */
	if (place &&
	    (file_is_at(place, &at) || !__sync_val_compare_and_swap(&place->entry.id, 0, id))) {
		place->entry = fresh;
		place->key = at;
		return 0;
	}
	files_crowded = true;
	return bpf_map_update_elem(&files, &at, &fresh, BPF_ANY);
}

/* Stores what the record of a file said, for the next comparison. FILE_UNTOLD means that the record
 * was lost: the next use of the file sends it again. */
__noinline int file_note(struct file_key *key, __u32 id, __u32 name_hash, __s64 size)
{
	struct file_entry *entry;
	struct file_key at;

	if (!key)
		return 0;
	at = *key;
	entry = file_find(&at);
	if (!entry)
		return 0;
	entry->id = id;
	entry->name_hash = name_hash;
	entry->size_bytes = size;
	return 0;
}

/* Returns an unused id. */
static __always_inline __u32 file_draw_id(void)
{
	__u64 number = __sync_fetch_and_add(&file_last_id, 1) + 1;

	if (!(number & ((1ull << FILE_TURN_LOG) - 1))) {
		file_turn = number >> FILE_TURN_LOG;
		number = __sync_fetch_and_add(&file_last_id, 1) + 1; /* 0 is none */
	}
	return number & ~FILE_UNTOLD;
}

/* The id of a file, maybe with FILE_UNTOLD: whoever meets it next tries to tell it again. `refresh`
 * looks whether it, or a directory above it, was renamed, or its size has changed. */
__noinline __u32 file_id(struct file_facts *facts, bool refresh)
{
	struct file_key key = {};
	__u32 id, name_hash;
	__s64 size;

	if (!facts)
		return 0;
	file_key_of(&key, (struct address *)facts); /* they begin with the inode's address */
	size = KREAD(inode, facts->inode, i_size);
	name_hash = refresh ? path_hash(facts) : !!facts->mnt;
	id = file_look(&key, name_hash, size, refresh);
	if (id && !(id & FILE_UNTOLD))
		return id;
	id &= ~FILE_UNTOLD;
	if (!refresh)
		name_hash = path_hash(facts);
	if (!id) {
		id = file_draw_id();
		file_enter(&key, id, name_hash, size);
	}
	if (file_announce(facts, &key, id, size))
		id |= FILE_UNTOLD;
	file_note(&key, id, name_hash, size);
	return id;
}

/* What the task remembers of the file reached through `address`, whose inode is `inode`. */
static __always_inline struct known_file *file_known_by(struct task_state *state, __u64 address,
							struct inode *inode, const bool quick)
{
	struct address at = { (__u64)inode };

#pragma unroll
	for (int i = 0; i < 2; i++) {
		struct known_file *known = &state->known[i];

		if (known->address == address && known->inode == (__u64)inode &&
		    known->turn == file_turn &&
		    known->ino == KREAD_BY(quick, inode, inode, i_ino) &&
		    known->generation == (known->derived
						  ? derived_generation(&at)
						  : KREAD_BY(quick, inode, inode, i_generation)))
			return known;
	}
	return NULL;
}

static __always_inline struct known_file *file_known(struct task_state *state, __u64 address,
						     struct inode *inode)
{
	return file_known_by(state, address, inode, false);
}

static __always_inline void file_remember(struct task_state *state, __u64 address,
					  struct inode *inode, __u64 mapping, __u32 id)
{
	struct known_file *known = &state->known[state->known_next++ & 1];

	known->address = address;
	known->inode = (__u64)inode;
	known->ino = KREAD(inode, inode, i_ino);
	known->derived = derives_generation(inode);
	known->generation = inode_generation(inode);
	known->mapping = mapping;
	known->id = id;
	known->turn = file_turn;
	known->class = file_class(inode);
}

/* The inode that is a file's identity: of the name that was opened. */
static __always_inline void file_facts_of(struct file *file, struct file_facts *facts)
{
	file_path(file, &facts->mnt, &facts->dentry);
	facts->inode = KREAD(dentry, facts->dentry, d_inode);
	if (!facts->inode)
		facts->inode = KREAD(file, file, f_inode);
}

/* The page cache that a call on the file fills. Calls on an overlay file fill that of a file of a
 * layer, which shows when its first page comes: 0. */
static __always_inline __u64 file_mapping(struct file *file, struct inode *inode)
{
	if (KREAD(super_block, KREAD(inode, inode, i_sb), s_magic) == OVERLAYFS_MAGIC)
		return 0;
	return (__u64)KREAD(file, file, f_mapping);
}

/* The id of an open file that the task does not remember; 0 when it is of none of the classes.
 * `refresh`: see file_id. */
__noinline __u32 file_meet(struct task_state *state, struct address *address, __u32 classes,
			   bool refresh)
{
	struct file_facts facts = {};
	struct address met;
	struct inode *inode;
	struct file *file;
	__u32 id;

	if (!state || !address)
		return 0;
	file = (struct file *)address->at;
	inode = KREAD(file, file, f_inode);
	if (!(file_class(inode) & classes))
		return 0;
	file_facts_of(file, &facts);
	id = file_id(&facts, refresh);
	if (!(id & FILE_UNTOLD)) {
		file_remember(state, address->at, inode, file_mapping(file, inode), id);
		if (inode_magic(facts.inode) == OVERLAYFS_MAGIC) {
			met.at = (__u64)facts.inode;
			layer_link(&met, id);
		}
	}
	return id & ~FILE_UNTOLD;
}

static __always_inline __u32 file_id_of(struct task_state *state, struct file *file)
{
	struct known_file *known = file_known(state, (__u64)file, KREAD(file, file, f_inode));
	struct address address = { (__u64)file };

	return known ? known->id : file_meet(state, &address, ~0u, false);
}

/* The id of a file of which only the inode is known. */
static __always_inline __u32 file_id_by_inode(struct inode *inode)
{
	struct file_facts facts = { .inode = inode };
	void *alias = KREAD(inode, inode, i_dentry.first);

	if (alias)
		facts.dentry =
			alias - (bpf_core_field_exists(struct dentry___anonymous, d_alias)
					 ? bpf_core_field_offset(struct dentry___anonymous, d_alias)
					 : bpf_core_field_offset(struct dentry, d_u.d_alias));
	return file_id(&facts, false) & ~FILE_UNTOLD;
}

/* ... of the file itself, also where it serves an overlay's. */
__noinline __u32 file_id_of_inode(struct address *inode)
{
	return inode && inode->at ? file_id_by_inode((struct inode *)inode->at) : 0;
}

/* The id of the file that a page cache belongs to, where only that is known: of the overlay's file
 * if it serves one. */
__noinline __u32 file_id_of_mapping(struct address *mapping)
{
	struct address layer;
	__u32 id;

	if (!mapping)
		return 0;
	layer.at = (__u64)KREAD(address_space, mapping->at, host);
	if (!layer.at)
		return 0;
	id = layer_serves(&layer);
	return id ? id : file_id_by_inode((struct inode *)layer.at);
}

#endif
