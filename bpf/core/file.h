/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files: from descriptor to file, from file to id, and the file's path, which is read once.
 *
 * A file is identified by device, inode number and generation (see identity.h). It gets its id when
 * it is first seen; the record that describes the id is sent before any record that uses it.
 */
#pragma once

#include "core/addr_table.h"
#include "core/file_path.h"
#include "core/inode_class.h"
#include "core/overlay.h"

#ifdef __TARGET_ARCH_arm64
#define O_DIRECT 0200000
#else
#define O_DIRECT 040000
#endif
#define O_ACCMODE 03
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_APPEND 02000
#define RWF_APPEND 0x10
#define RWF_NOAPPEND 0x20 /* since 6.9 */
#define O_DSYNC 010000	  /* O_SYNC includes this bit */
#define FMODE_WRITE 0x2u
#define FMODE_BACKING (1u << 24)     /* since 6.14 */
#define FMODE_BACKING_OLD (1u << 25) /* since 6.5 */

/*
 * Known files. A file's identity selects a slot in an array, which costs a fraction of a hash
 * lookup. If another file holds the slot, the file goes into an LRU hash, which is not searched
 * while it is empty. A file that was evicted from the hash gets a new id when it is used again; the
 * reader merges ids with the same identity.
 */
#define FILE_SLOTS_LOG 16

struct file_table_slot {
	struct file_entry entry; /* id 0: free */
	struct file_key key;
};

ADDR_TABLE(file_slots, struct file_table_slot, FILE_SLOTS_LOG)

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct file_key);
	__type(value, struct file_entry);
} files SEC(".maps");

/*
 * Ids are the low 31 bits of a counter. An epoch is 2^29 ids, so ids repeat after four epochs.
 * Before that, a file whose id is two epochs old gets a new id on its next use: no id ever stands
 * for two files.
 */
#define FILE_EPOCH_LOG 29
extern __u64 file_last_id;
extern volatile __u32 file_epoch;      /* the current epoch */
extern volatile bool files_overflowed; /* the hash is not empty */

static __always_inline struct file_table_slot *file_table_slot(const struct file_key *key)
{
	return file_slots_at(key->ino ^ (__u64)key->generation << 32 ^ (__u64)key->device << 20);
}

static __always_inline bool file_slot_matches(const struct file_table_slot *slot,
					      const struct file_key *key)
{
	return slot->entry.id && slot->key.ino == key->ino &&
	       *(const __u64 *)&slot->key.device == *(const __u64 *)&key->device;
}

/* Looks up a file by its key, which must be on the stack. Returns NULL if the file is new or its id
 * is too old. */
static __always_inline struct file_entry *file_find(struct file_key *key)
{
	struct file_table_slot *slot = file_table_slot(key);
	struct file_entry *entry = NULL;

	if (slot && file_slot_matches(slot, key))
		entry = &slot->entry;
	else if (files_overflowed)
		entry = bpf_map_lookup_elem(&files, key);
	return entry && file_epoch - entry->epoch < 2 ? entry : NULL;
}

/* Identifies an open file description without revealing its address: a hash of the address, with
 * secrets chosen at random for each recording. Returns 0 without a file or secrets. */
static __always_inline __u32 open_file_of(__u64 file)
{
	return file ? ((file ^ open_file_secrets[0]) * open_file_secrets[1]) >> 32 : 0;
}

/* --- from a descriptor to its file --- */

static __always_inline struct file *file_of_fd(struct task_struct *task, __u32 fd)
{
	struct files_struct *open_files = TASK_POINTER(task, files);
	struct fdtable *table;

	if (!open_files)
		return NULL;
	table = open_files->fdt;
	if (fd >= table->max_fds)
		return NULL;
	/* Reads an entry of the table as a struct that begins with a pointer. */
	return KREAD_POINTER(table->fd + fd);
}

/* Returns the last component that the task's path lookup has reached; NULL: it looks up none. */
static __always_inline struct dentry *task_lookup_dentry(struct task_struct *task)
{
	struct nameidata *lookup = TASK_POINTER(task, nameidata);

	return lookup ? KREAD(nameidata, lookup, path.dentry) : NULL;
}

/*
 * A mapping of an overlay file holds a backing file of a layer, which also stores the path that the
 * user opened. The flag that marks backing files moved in 6.14, and its old bit got another
 * meaning. So the path is trusted only if it leads to a file system that creates backing files.
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

/* The path of an open file, as the user opened it. */
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

/* A file without a path has a kernel-generated name on a mount of its own. */
static __always_inline bool file_is_nameless(const struct file_facts *facts)
{
	void *mount;

	if (!facts->mnt)
		return false;
	mount = (void *)facts->mnt - bpf_core_field_offset(struct mount, mnt);
	return facts->dentry == KREAD(dentry, facts->dentry, d_parent) &&
	       KREAD(mount, mount, mnt_parent) == mount &&
	       facts->dentry != KREAD(vfsmount, facts->mnt, mnt_root);
}

/* Fills in everything except the path. In a frame of its own: the deepest call chain ends in the
 * path code, and must fit the kernel's 512 bytes of stack. */
static __noinline int file_describe(struct event_file *record, struct file_facts *facts,
				    struct file_key *key)
{
	struct inode *inode = facts->inode;
	struct super_block *sb = KREAD(inode, inode, i_sb);

	record->ino = key->ino;
	record->dev = inode_dev(inode);
	record->instance = mount_read_instance(sb); /* the deepest call chain ends here */
	record->pad = 0;
	record->generation = key->generation;
	record->mode = KREAD(inode, inode, i_mode);
	record->rdev = KREAD(inode, inode, i_rdev);
	record->class = inode_class(inode); /* the deepest call chain ends here */
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

/* In a frame of its own, as file_describe is. */
static __noinline struct file_draft *file_draft_get(void)
{
	return scratch_get();
}

/* Sends the record that describes `id`. Returns 0 or a negative value. */
static __noinline int file_announce(struct file_facts *facts, struct file_key *key, __u32 id,
				    __s64 size)
{
	struct file_draft *draft = file_draft_get();
	struct event_file *record;
	struct path_walk *walk;
	struct fs_struct *fs;
	__u64 bytes;
	long length;

	if (!draft)
		return ring_lose(RECORD_FILE) - 1;
	record = (struct event_file *)draft->record;
	walk = &draft->walk;
	/* Uses the arguments first: values that are live across a call take up stack (see
	 * file_describe). */
	record->size_bytes = size;
	record->id = id;
	file_describe(record, facts, key);
	record->flags = 0;

	path_begin(walk, facts);
	if (!facts->dentry) {
		record->flags |= TRACE_FILE_PATH_CUT;
	} else if (file_is_nameless(facts)) {
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
		LOOP(PATH_COMPONENTS_MAX, path_step, &draft);
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
	scratch_put(draft);
	return length;
}

/* --- ids --- */

/*
 * These functions are global, so each is verified once, and have frames of their own: the deepest
 * call chain must fit the kernel's 512 bytes of stack.
 *
 * Returns the id of a file, 0 if it is new. Sets FILE_UNANNOUNCED if the record must be sent again
 * because the name, or with `refresh` the size, has changed.
 */
__noinline __u32 file_check(struct file_key *key, __u32 name_hash, __s64 size, bool refresh)
{
	struct file_entry *entry;
	struct file_key at; /* on the stack: up to 6.1, maps accept no other key */

	if (!key)
		return 0;
	at = *key;
	entry = file_find(&at);
	if (!entry)
		return 0;
	/* A file first seen through its page cache gets its path when it is first opened. */
	if (!(entry->id & FILE_UNANNOUNCED) &&
	    (refresh ? entry->name_hash == name_hash && entry->size_bytes == size
		     : entry->name_hash || !name_hash))
		return entry->id;
	return entry->id | FILE_UNANNOUNCED;
}

/* Stores a file under a new id. */
__noinline int file_insert(struct file_key *key, __u32 id, __u32 name_hash, __s64 size)
{
	struct file_entry fresh = {
		.id = id, .name_hash = name_hash, .size_bytes = size, .epoch = file_epoch
	};
	struct file_table_slot *slot;
	struct file_key at;

	if (!key)
		return 0;
	at = *key;
	slot = file_table_slot(&at);
	/* Until both are stored, another CPU sees a slot of a different file and assigns a second
	 * id, or sees a different name and size and sends the record again. */
	if (slot && (file_slot_matches(slot, &at) ||
		     !__sync_val_compare_and_swap(&slot->entry.id, 0, id))) {
		slot->entry = fresh;
		slot->key = at;
		return 0;
	}
	files_overflowed = true;
	return bpf_map_update_elem(&files, &at, &fresh, BPF_ANY);
}

/* Stores the name and size that the record carried, for the next comparison. FILE_UNANNOUNCED in
 * the id means that the record was lost: the next use of the file sends it again. */
__noinline int file_update(struct file_key *key, __u32 id, __u32 name_hash, __s64 size)
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
static __always_inline __u32 file_allocate_id(void)
{
	__u64 number = __sync_fetch_and_add(&file_last_id, 1) + 1;

	if (!(number & ((1ull << FILE_EPOCH_LOG) - 1))) {
		file_epoch = number >> FILE_EPOCH_LOG;
		number = __sync_fetch_and_add(&file_last_id, 1) + 1; /* 0 means no file */
	}
	return number & ~FILE_UNANNOUNCED;
}

/* Returns the id of a file, with FILE_UNANNOUNCED if its record was lost: the next use tries again.
 * `refresh` checks whether the file or a directory above it was renamed, or its size has
 * changed. */
__noinline __u32 file_id(struct file_facts *facts, bool refresh)
{
	struct file_key key = {};
	__u32 id, name_hash;
	__s64 size;

	if (!facts)
		return 0;
	file_key_of(&key, (struct address *)facts); /* the inode's address comes first */
	size = KREAD(inode, facts->inode, i_size);
	name_hash = refresh ? path_hash(facts) : !!facts->mnt;
	id = file_check(&key, name_hash, size, refresh);
	if (id && !(id & FILE_UNANNOUNCED))
		return id;
	id &= ~FILE_UNANNOUNCED;
	if (!refresh)
		name_hash = path_hash(facts);
	if (!id) {
		id = file_allocate_id();
		file_insert(&key, id, name_hash, size);
	}
	if (file_announce(facts, &key, id, size))
		id |= FILE_UNANNOUNCED;
	file_update(&key, id, name_hash, size);
	return id;
}

/* Returns what the task remembers of the file reached through `address`, with inode `inode`. */
static __always_inline struct known_file *file_known(struct task_state *state, __u64 address,
						     struct inode *inode)
{
	struct address at = { (__u64)inode };

#pragma unroll
	for (int i = 0; i < 2; i++) {
		struct known_file *known = &state->known[i];

		if (known->address == address && known->inode == (__u64)inode &&
		    known->epoch == file_epoch && known->ino == KREAD(inode, inode, i_ino) &&
		    known->generation ==
			    (known->tagged ? inode_tag(&at) : KREAD(inode, inode, i_generation)))
			return known;
	}
	return NULL;
}

static __always_inline void file_remember(struct task_state *state, __u64 address,
					  struct inode *inode, __u64 mapping, __u32 id)
{
	struct known_file *known = &state->known[state->known_next++ & 1];
	struct address at = { (__u64)inode };

	known->address = address;
	known->inode = (__u64)inode;
	known->ino = KREAD(inode, inode, i_ino);
	known->tagged = inode_needs_tag(inode);
	known->generation = known->tagged ? inode_tag(&at) : KREAD(inode, inode, i_generation);
	known->mapping = mapping;
	known->id = id;
	known->epoch = file_epoch;
	known->class = file_class(inode);
}

/* A file is identified by the inode of the name that was opened. */
static __always_inline void file_facts_of(struct file *file, struct file_facts *facts)
{
	file_path(file, &facts->mnt, &facts->dentry);
	facts->inode = KREAD(dentry, facts->dentry, d_inode);
	if (!facts->inode)
		facts->inode = KREAD(file, file, f_inode);
}

/* Returns the page cache that a call on the file fills. For an overlay file that is the cache of a
 * layer's file, which is known only when its first page arrives: 0. */
static __always_inline __u64 file_mapping(struct file *file, struct inode *inode)
{
	if (KREAD(super_block, KREAD(inode, inode, i_sb), s_magic) == OVERLAYFS_MAGIC)
		return 0;
	return (__u64)KREAD(file, file, f_mapping);
}

/* Returns the id of an open file that the task does not remember; 0 if the file is in none of the
 * classes. `refresh`: see file_id. */
__noinline __u32 file_intern(struct task_state *state, struct address *address, __u32 classes,
			     bool refresh)
{
	struct file_facts facts = {};
	struct address overlay;
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
	if (!(id & FILE_UNANNOUNCED)) {
		file_remember(state, address->at, inode, file_mapping(file, inode), id);
		if (inode_magic(facts.inode) == OVERLAYFS_MAGIC) {
			overlay.at = (__u64)facts.inode;
			overlay_link(&overlay, id);
		}
	}
	return id & ~FILE_UNANNOUNCED;
}

static __always_inline __u32 file_id_of(struct task_state *state, struct file *file)
{
	struct known_file *known = file_known(state, (__u64)file, KREAD(file, file, f_inode));
	struct address address = { (__u64)file };

	return known ? known->id : file_intern(state, &address, ~0u, false);
}

/* Returns the id of a file known only by its inode. */
static __always_inline __u32 file_id_by_inode(struct inode *inode)
{
	struct file_facts facts = { .inode = inode };
	void *alias = KREAD(inode, inode, i_dentry.first);

	if (alias)
		facts.dentry =
			alias - (bpf_core_field_exists(struct dentry___anonymous, d_alias)
					 ? bpf_core_field_offset(struct dentry___anonymous, d_alias)
					 : bpf_core_field_offset(struct dentry, d_u.d_alias));
	return file_id(&facts, false) & ~FILE_UNANNOUNCED;
}

/* The same for the file itself, even if it backs an overlay file. */
__noinline __u32 file_id_of_inode(struct address *inode)
{
	return inode && inode->at ? file_id_by_inode((struct inode *)inode->at) : 0;
}

/* Returns the id of the file that owns a page cache; of the overlay file if the owner backs one. */
__noinline __u32 file_id_of_mapping(struct address *mapping)
{
	struct address layer;
	__u32 id;

	if (!mapping)
		return 0;
	layer.at = (__u64)KREAD(address_space, mapping->at, host);
	if (!layer.at)
		return 0;
	id = overlay_find(&layer);
	return id ? id : file_id_by_inode((struct inode *)layer.at);
}
