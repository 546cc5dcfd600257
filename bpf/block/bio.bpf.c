// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Bios on their way to a request: marks those that the run's tasks queued, or that carry files
 * which the run has used (the kernel writes those back later). When its request ends, the mark
 * becomes the bio's record (request.bpf.c). So bios are not matched to requests by sector and time,
 * and a reused address is a different bio.
 */
#include "async/async_flight.h"
#include "block/block.h"
#include "block/block_copy.h"
#include "block/device.h"
#include "pagecache/fillers.h"
#include "pagecache/read_for_write.h"
#include "records/block_functions.h"

__u64 direct_end_io, direct_simple_end_io, btrfs_end_io, btrfs_mirrored_end_io;
__u64 device_end_io, device_async_end_io, device_simple_end_io, wait_end_io, await_end_io;
__u64 paths_submit;
bool direct_size_lags;
volatile __u64 bio_marks_count;

/* --- counts --- */

/*
 * These two are global, so that the verifier checks each once, not on every path to it.
 *
 * Counts what a journal or a file system's thread writes for itself.
 */
__noinline int device_count_metadata(struct address *disk, __u32 bytes)
{
	struct device_total *total = disk ? disk_total((struct gendisk *)disk->at) : NULL;

	if (total)
		__sync_fetch_and_add(&total->kernel_metadata_bytes, bytes);
	return 0;
}

/* Counts a bio to a device that has no requests. A flush is not a write, although the kernel counts
 * it as one for some such devices. */
__noinline int device_count_bio(struct address *disk, __u32 opf, __u32 bytes)
{
	bool flush = !bytes && opf & 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);
	struct device_counts *counts =
		disk ? device_counts((struct gendisk *)disk->at,
				     flush ? DEVICE_FLUSH : device_class(opf))
		     : NULL;

	if (!counts)
		return 0;
	__sync_fetch_and_add(&counts->requests, 1);
	__sync_fetch_and_add(&counts->bytes, bytes);
	return 0;
}

/* --- bios that a limit of a cgroup held back: a kernel thread queues them --- */

/* The owner of a bio. The task may have ended: its address is only compared. */
struct bio_user {
	__u64 waiter; /* task; 0: unknown */
	__u64 iocb;   /* direct I/O; 0: none */
	bool in_call; /* the waiter is in the call */
	bool direct;  /* direct I/O that has no iocb here */
};

/* Returns the first task that waits for a completion. */
static __always_inline __u64 completion_waiter(__u64 completion)
{
	__u64 first = (__u64)KREAD(completion, completion, wait.task_list.next);

	return (__u64)KREAD(swait_queue,
			    first - bpf_core_field_offset(struct swait_queue, task_list), task);
}

static __always_inline void bio_find_user(struct bio_user *user, struct address *bio)
{
	__u64 end_io = (__u64)KREAD(bio, bio->at, bi_end_io);
	__u64 private = (__u64)KREAD(bio, bio->at, bi_private);
	struct device_dio dio;

	if (!end_io)
		return;
	if (end_io == direct_end_io && bpf_core_type_exists(struct iomap_dio)) {
		user->iocb = NUMBER_OF(iomap_dio, private, iocb);
		if (bpf_core_field_exists(struct iomap_dio, submit.waiter))
			user->waiter = NUMBER_OF(iomap_dio, private, submit.waiter);
		return;
	}
	if (end_io == direct_simple_end_io && bpf_core_type_exists(struct iomap_dio_simple)) {
		user->iocb = NUMBER_OF(
			iomap_dio_simple,
			bio->at - bpf_core_field_offset(struct iomap_dio_simple, bio), iocb);
		return;
	}
	if (end_io == btrfs_end_io || end_io == btrfs_mirrored_end_io) {
		if (bpf_core_field_exists(struct btrfs_bio, private) &&
		    bpf_core_field_exists(struct iomap_dio, submit.waiter)) {
			private = NUMBER_OF(btrfs_bio,
					    bio->at - bpf_core_field_offset(struct btrfs_bio, bio),
					    private);
			user->waiter = NUMBER_OF(iomap_dio, private, submit.waiter);
			user->direct = true;
		}
		return;
	}
	user->in_call = true;
	if (end_io == device_end_io || end_io == device_async_end_io) {
		dio = device_dio(bio->at, end_io == device_async_end_io);
		if (dio.sync)
			user->waiter = dio.iocb;
		else
			user->iocb = dio.iocb;
	} else if (end_io == wait_end_io || end_io == await_end_io) {
		user->waiter = completion_waiter(private);
	} else if (end_io == device_simple_end_io) {
		user->waiter = private;
	}
}

/* Sets the owner of a bio that a kernel thread queues because a cgroup v1 limit held it back: the
 * followed task that waits for it, or that submitted its direct I/O. Nothing is trusted unless a
 * slot confirms it. Returns whether there is such a task. */
__noinline int bio_mark_by_waiter(struct bio_mark *mark, struct address *bio)
{
	struct bio_user user = {};
	const struct op_account *call;
	struct task_slot *slot;
	__u32 tid;

	if (!mark || !bio || (attach_to && recording_ended))
		return 0;
	bio_find_user(&user, bio);
	if (!user.waiter)
		return 0;
	tid = KREAD(task_struct, user.waiter, pid);
	slot = task_slot(tid);
	if (!slot || slot->owner != user.waiter || slot->tid != tid ||
	    slot->state.mode != TASK_FOLLOWED)
		return 0;
	mark->pid = slot->state.pid;
	mark->tid = tid;
	mark->flags |= user.direct ? TRACE_BLOCK_DIRECT : 0;
	call = &slot->state.call.account;
	if (user.in_call && call->op && call->flags & TRACE_OP_DIRECT) {
		mark->file = call->file;
		mark->offset = -1;
		mark->flags |= TRACE_BLOCK_DIRECT;
	}
	return 1;
}

/* The key of the libaio operation with that control block. The kernel does not keep whose context
 * it is, but the context's ring is a mapping of the process that made it. fork() copies the
 * mapping, but the original stays first in the tree. */
static __always_inline void async_key_of_aio(struct async_key *key, __u64 iocb)
{
	__u64 ring = (__u64)KREAD(kioctx, KREAD(aio_kiocb, iocb, ki_ctx), aio_ring_file);
	__u64 first = (__u64)KREAD(address_space, KREAD(file, ring, f_mapping), i_mmap.rb_leftmost);

	key->address = KREAD(aio_kiocb, iocb, ki_res.obj);
	key->mm = (__u64)KREAD(vm_area_struct,
			       first - bpf_core_field_offset(struct vm_area_struct, shared.rb),
			       vm_mm);
}

/* The same for direct I/O that no task waits for: the owner is the submitter of the operation in
 * flight. */
__noinline int bio_mark_by_submitter(struct bio_mark *mark, struct address *bio)
{
	struct async_operation *operation = NULL;
	struct bio_user user = {};
	struct async_key key = {};

	if (!mark || !bio || !async_recorded)
		return 0;
	bio_find_user(&user, bio);
	if (!user.iocb)
		return 0;
	if (bpf_core_type_exists(struct io_rw)) {
		key.address = user.iocb - bpf_core_field_offset(struct io_rw, kiocb);
		operation = async_find(&key);
	}
	if (!operation && bpf_core_type_exists(struct aio_kiocb)) {
		async_key_of_aio(&key, user.iocb);
		operation = async_find(&key);
	}
	if (!operation || !operation->owner.pid)
		return 0;
	mark->pid = operation->owner.pid;
	mark->tid = operation->owner.tid;
	return 1;
}

/* The same for reads into the page cache: the owner is the task that added the folio. */
__noinline int bio_mark_by_filler(struct bio_mark *mark, struct address *bio)
{
	__u64 page, head;
	struct owner owner;

	if (!mark || !bio || !bios_held_back || mark->flags & TRACE_BLOCK_DIRECT ||
	    !KREAD(bio, bio->at, bi_io_vec))
		return 0;
	page = KNUMBER(bio_vec, bio_vector(bio->at), bv_page);
	if (!page)
		return 0;
	head = page_head(page);
	owner = filler_of(KFOLIO(KNUMBER, head, mapping), KFOLIO(KREAD, head, index));
	if (!owner.pid)
		return 0;
	mark->pid = owner.pid;
	mark->tid = owner.tid;
	return 1;
}

/* --- from queueing to the end --- */

/* Its number has changed twice. */
static __always_inline __u32 zone_append(void)
{
	if (bpf_core_enum_value_exists(enum req_op, REQ_OP_ZONE_APPEND))
		return bpf_core_enum_value(enum req_op, REQ_OP_ZONE_APPEND);
	return bpf_core_enum_value(enum req_opf, REQ_OP_ZONE_APPEND___old);
}

/* Whether the disk takes bios, not requests: it makes bios of its own for other devices, or is
 * backed by memory. Not so if it passes each bio on to one of its paths. Global, so it is verified
 * once. */
__noinline bool disk_takes_bios(struct address *disk)
{
	const struct block_device_operations *operations;

	if (!disk || KREAD(request_queue, KREAD(gendisk, disk->at, queue), mq_ops))
		return false;
	if (!disk_paths_known())
		return true;
	operations = KREAD(gendisk, disk->at, fops);
	return (__u64)KREAD(block_device_operations, operations, submit_bio) != paths_submit;
}

static __always_inline int bio_queue(struct bio *bio, __u32 copy)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct gendisk *disk = KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk);
	struct address at = { (__u64)bio }, whole = { (__u64)disk };
	struct bio_mark mark = { .disk = bio_disk(disk) };
	bool followed = state, takes_bios;

	if (recording_ended) /* the programs at the requests' ends are detached first */
		return 0;
	mark.bytes = bio->bi_iter.bi_size;
	takes_bios = disk_takes_bios(&whole);
	parent_bio_begin(state, task);
	if (takes_bios) {
		if (block_copy_is_first(at.at, copy))
			device_count_bio(&whole, bio->bi_opf, mark.bytes);
		if (!state || !bio_end_identifies_file(&at))
			return 0;
	}
	mark.flags = block_flags(bio->bi_opf);
	bio_mark_file(&mark, &at, state, followed);
	if (takes_bios) {
		if (state)
			parent_bio_store(state, &at, &mark);
		return 0;
	}
	if (followed) {
		mark.pid = task->tgid;
		mark.tid = task->pid;
		if (bio_reads_for_write(state, bio->bi_opf, &mark) &&
		    block_copy_is_first(at.at, copy))
			read_for_write(state, &at, &mark);
	} else if (task->flags & PF_KTHREAD) {
		followed = bio_mark_by_waiter(&mark, &at) || bio_mark_by_submitter(&mark, &at) ||
			   (!(bio->bi_opf & 1) && bio_mark_by_filler(&mark, &at));
		if (followed)
			mark.flags |= TRACE_BLOCK_HELD_BACK;
	}
	if (!followed && !mark.file) {
		if (mark.flags & TRACE_BLOCK_META && task->flags & PF_KTHREAD && bio->bi_opf & 1 &&
		    block_copy_is_first(at.at, copy))
			device_count_metadata(&whole, mark.bytes);
		return 0;
	}
	mark.sector = bio->bi_iter.bi_sector;
	if ((bio->bi_opf & REQ_OP_MASK) == zone_append())
		mark.disk |= BIO_SECTOR_PENDING;
	mark.queued_ns = bpf_ktime_get_ns();
	bio_mark_put(&at, &mark, copy > 0);
	return 0;
}

COPIED_PROGRAM("?tp_btf/block_bio_queue", fl_bio_queue, bio_queue(bio, copy), struct bio *bio)

static __always_inline struct bio_now bio_now(struct bio *bio)
{
	return (struct bio_now) {
		.bio = (__u64)bio,
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.disk = bio_disk(bio_gendisk(bio)),
	};
}

/* The front of a bio that is too long becomes a new bio; the rest keeps the address. */
static __always_inline int bio_split(struct bio *front)
{
	struct address whole = { (__u64)KREAD(bio, front, bi_private) };
	struct bio_now now = bio_now(front);

	return bio_mark_share(&whole, &now);
}

COPIED_PROGRAM("?tp_btf/block_split", fl_bio_split, bio_split(front), struct bio *front)

/* A bio ends that never became part of a request. The NVMe driver also reports bios of disks with
 * several paths, whose requests are about to end. */
SEC("?tp_btf/block_bio_complete")
int BPF_PROG(fl_bio_done, struct request_queue *queue, struct bio *bio)
{
	struct address disk = { (__u64)KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk) };
	struct bio_mark mark = {}; /* up to 6.1, functions take only initialized memory */
	struct bio_now now;

	if (disk_used(&disk) != disk.at)
		return 0;
	now = bio_now(bio);
	bio_mark_take(&now, &mark, true);
	return 0;
}

/* --- the kernel's bio completion functions --- */

#define FIND(variable, name)                                                                       \
	({                                                                                         \
		static const char __name[] = name;                                                 \
		status = bpf_kallsyms_lookup_name(__name, sizeof(__name), 0, &variable);           \
	});
#define TAKE(variable, name) variable = found->variable;

/* Run once, before the other programs are attached. Returns 0, or -EPERM if refused. */
SEC("?syscall")
int fl_block_names(void *context)
{
	long status = 0;

	BLOCK_FUNCTIONS(FIND)
	return status == -1 /* EPERM */ ? status : 0;
}

/* The same before 5.16: the user side has found them. */
SEC("?syscall")
int fl_block_found(const struct block_functions *found)
{
	BLOCK_FUNCTIONS(TAKE)
	return 0;
}
