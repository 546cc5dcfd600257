// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Block device requests, and the run's bios in them. Counts all requests by device. Records those
 * with bios that the run's tasks queued, or that carry files which the run has used (the kernel
 * writes those back later).
 *
 * A bio is marked when it is queued. When its request ends, the mark becomes the bio's record, and
 * the request's record follows. So bios are not matched to requests by sector and time, and a
 * reused address is a different bio.
 */
#include "async/async_flight.h"
#include "block/block.h"
#include "block/device.h"
#include "pagecache/fillers.h"
#include "pagecache/read_for_write.h"
#include "records/block_functions.h"

const volatile __u32 flush_sequence; /* this kernel's RQF_FLUSH_SEQ */
__u64 direct_end_io, direct_simple_end_io, btrfs_end_io, btrfs_mirrored_end_io;
__u64 device_end_io, device_async_end_io;
bool direct_size_lags;
volatile __u64 bio_marks_count;
__u64 block_last_request; /* number of the last recorded request */

/* --- copies of programs --- */

/* The copy of the program that last saw a request or a bio, by CPU and address. */
#define DONE_SLOTS 1024

struct done_slot {
	__u64 request;
	__u32 copy;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DONE_SLOTS);
	__type(key, __u32);
	__type(value, struct done_slot);
} done_slots SEC(".maps");

/* Returns whether this copy of the program is the first to see this request end, or this bio being
 * queued. Like task_copy_is_first, for events without a task. */
static __always_inline bool block_copy_is_first(__u64 request, __u32 copy)
{
	__u32 key = (request >> 6 ^ request >> 16) & (DONE_SLOTS - 1);
	struct done_slot *slot = bpf_map_lookup_elem(&done_slots, &key);
	bool first;

	if (!slot)
		return copy == 0;
	first = slot->request != request || copy <= slot->copy;
	slot->request = request;
	slot->copy = copy;
	return first;
}

/* --- bios --- */

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

/*
 * Sets the owner of a direct I/O bio that a kernel thread queues because a cgroup v1 limit held it
 * back: the followed task that waits for it. The task's address is only compared; nothing is
 * trusted unless a slot confirms it. Returns whether there is such a task.
 */
__noinline int bio_mark_by_waiter(struct bio_mark *mark, struct address *bio)
{
	struct task_slot *slot;
	__u64 waiter;
	__u32 tid;

	if (!mark || !bio || !direct_end_io ||
	    (__u64)KREAD(bio, bio->at, bi_end_io) != direct_end_io ||
	    !bpf_core_field_exists(struct iomap_dio, submit.waiter))
		return 0;
	waiter = NUMBER_OF(iomap_dio, KREAD(bio, bio->at, bi_private), submit.waiter);
	if (!waiter || (attach_to && recording_ended))
		return 0;
	tid = KREAD(task_struct, waiter, pid);
	slot = task_slot(tid);
	if (!slot || slot->owner != waiter || slot->tid != tid || slot->state.mode != TASK_FOLLOWED)
		return 0;
	mark->pid = slot->state.pid;
	mark->tid = tid;
	return 1;
}

/* The same for direct I/O that no task waits for: the owner is the submitter of the io_uring
 * request in flight. */
__noinline int bio_mark_by_submitter(struct bio_mark *mark, struct address *bio)
{
	struct async_key key = {};
	struct async_operation *operation;

	if (!mark || !bio || !async_recorded || !direct_end_io ||
	    (__u64)KREAD(bio, bio->at, bi_end_io) != direct_end_io ||
	    !bpf_core_type_exists(struct io_rw))
		return 0;
	key.address = NUMBER_OF(iomap_dio, KREAD(bio, bio->at, bi_private), iocb) -
		      bpf_core_field_offset(struct io_rw, kiocb);
	operation = async_find(&key);
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

static __always_inline int bio_queue(struct bio *bio, __u32 copy)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct gendisk *disk = KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk);
	struct address at = { (__u64)bio }, whole = { (__u64)disk };
	struct bio_mark mark = { .disk = bio_disk(disk) };
	bool followed = state, takes_bios;

	mark.bytes = bio->bi_iter.bi_size;
	/* Takes bios, not requests: it passes them to other devices, or is backed by memory. */
	takes_bios = !KREAD(request_queue, KREAD(gendisk, disk, queue), mq_ops);
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
	if ((bio->bi_opf & REQ_OP_MASK) == REQ_OP_ZONE_APPEND)
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
		.disk = bio_disk(KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk)),
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

/* A bio ends that never became part of a request. */
SEC("?tp_btf/block_bio_complete")
int BPF_PROG(fl_bio_done, struct request_queue *queue, struct bio *bio)
{
	struct bio_now now = bio_now(bio);
	struct bio_mark mark = {}; /* up to 6.1, functions take only initialized memory */

	bio_mark_take(&now, &mark, true);
	return 0;
}

static __always_inline int request_merge(struct gendisk *disk, __u32 opf)
{
	struct device_counts *counts = device_counts(disk, device_class(opf));

	if (counts)
		__sync_fetch_and_add(&counts->merges, 1);
	return 0;
}

SEC("?tp_btf/block_bio_backmerge")
int BPF_PROG(fl_bio_back, struct bio *bio)
{
	return request_merge(KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk), bio->bi_opf);
}

SEC("?tp_btf/block_bio_frontmerge")
int BPF_PROG(fl_bio_front, struct bio *bio)
{
	return request_merge(KREAD(block_device, KREAD(bio, bio, bi_bdev), bd_disk), bio->bi_opf);
}

SEC("?tp_btf/block_rq_merge")
int BPF_PROG(fl_rq_merge, struct request *rq)
{
	return request_merge(request_disk(rq), rq->cmd_flags);
}

/* --- requests --- */

#define REQUEST_BIOS_MAX 4096

struct issue_walk {
	struct address bio;
	__u64 now_ns;
};

static long issue_step(__u32 i, struct issue_walk *walk)
{
	if (!walk->bio.at || bio_mark_issue(&walk->bio, walk->now_ns))
		return 1;
	walk->bio.at = (__u64)KREAD(bio, walk->bio.at, bi_next);
	return 0;
}
LOOP_STEP(issue_step)

static __always_inline int request_issue(struct request *rq)
{
	struct issue_walk walk = { .bio.at = (__u64)KREAD(request, rq, bio),
				   .now_ns = bpf_ktime_get_ns() };

	if (!issue_step(0, &walk) && walk.bio.at)
		LOOP(REQUEST_BIOS_MAX, issue_step, &walk);
	return 0;
}

COPIED_PROGRAM("?tp_btf/block_rq_issue", fl_rq_issue, request_issue(rq), struct request *rq)

SEC("?tp_btf/block_rq_requeue")
int BPF_PROG(fl_rq_requeue, struct request *rq)
{
	struct device_counts *counts = device_counts(request_disk(rq), device_class(rq->cmd_flags));

	if (counts)
		__sync_fetch_and_add(&counts->requeues, 1);
	return 0;
}

/* A request that ends, in full or in part. */
struct done_walk {
	struct address bio; /* next bio */
	__u64 remaining_bytes;
	__u64 end_ns, issued_ns;
	__u64 queued_ns; /* earliest of the recorded bios */
	__u64 request;	 /* number; 0: none of its bios is recorded */
	__u64 sector;
	struct bio_mark first;
	__u64 first_sector;
	__u32 dev, disk, op;
	__u32 bios, own_bios, own_bytes;
	__u32 whole; /* the request is complete */
	__u32 flush; /* part of a flush sequence: its bio's bytes are already completed */
};

static __always_inline void bio_fill(struct event_bio *event, const struct done_walk *walk,
				     const struct bio_mark *mark, __u32 bytes, __u64 sector)
{
	event->header.time_ns = mark->queued_ns;
	event->request = walk->request;
	event->duration_ns = walk->end_ns - mark->queued_ns;
	event->queue_ns = walk->issued_ns > mark->queued_ns ? walk->issued_ns - mark->queued_ns : 0;
	event->sector = sector;
	event->offset = mark->offset;
	if (mark->offset >= 0)
		event->offset += (sector - mark->sector) * TRACE_SECTOR_BYTES;
	event->dev = walk->dev;
	event->file = mark->file;
	event->bytes = bytes;
	event->flags = mark->flags | (walk->issued_ns ? 0 : TRACE_BLOCK_UNISSUED);
	event->op = walk->op;
	event->pad = 0;
}

/* Global, like the functions below, so that the verifier checks it once, not on every path. */
__noinline int bio_send(struct done_walk *walk, struct bio_mark *mark, __u32 bytes, __u64 sector)
{
	struct event_bio *event;

	if (!walk || !mark || (profile_aggregates_all() && !profile_also_records(mark->pid)))
		return 0;
	event = ring_reserve(RECORD_BIO, sizeof(*event), (struct owner) { mark->pid, mark->tid });
	if (!event)
		return 0;
	bio_fill(event, walk, mark, bytes, sector);
	ring_submit(event);
	return 0;
}

/* A separate context, so that the verifier checks the loop once, whatever it knows of the walk. */
struct done_loop {
	struct done_walk *walk;
};

/* Handles the first recorded bio, whose mark is walk->first. It may be the only one. */
static __always_inline void done_first(struct done_walk *walk, __u32 bytes, __u64 sector)
{
	walk->own_bios = 1;
	walk->request = __sync_fetch_and_add(&block_last_request, 1) + 1;
	/* More exact than the kernel's own time: since 6.9, one clock reading serves all that a
	 * task does under a plug (da4c8c3d0975). */
	if (walk->first.issued_ns)
		walk->issued_ns = walk->first.issued_ns;
	walk->queued_ns = walk->first.queued_ns;
	walk->first_sector = sector;
	walk->own_bytes = bytes;
}

static long done_step(__u32 i, struct done_loop *loop)
{
	struct done_walk *walk = loop->walk;
	struct bio_mark copy = {};
	struct bio_now now = { .bio = walk->bio.at, .disk = walk->disk };
	__u64 sector;
	__u32 bytes;
	bool ends;

	if (!now.bio)
		return 1;
	bytes = now.bytes = KREAD(bio, now.bio, bi_iter.bi_size);
	sector = now.sector = KREAD(bio, now.bio, bi_iter.bi_sector);
	ends = walk->whole || bytes <= walk->remaining_bytes;
	if (!ends)
		bytes = walk->remaining_bytes; /* the rest ends later and keeps the mark */
	if (!ends && !bytes)
		return 1;
	walk->remaining_bytes -= bytes;
	walk->bio.at = ends ? (__u64)KREAD(bio, now.bio, bi_next) : 0;
	walk->bios++;
	/* Copies of this program get here one after the other. */
	if (!bio_mark_take(&now, &copy, ends))
		return 0;
	if (copy.disk & BIO_SECTOR_PENDING) {
		/* The request has only this bio, and the final sector, which the bio lacks. */
		sector = walk->sector;
		copy.sector = sector - (copy.bytes - now.bytes) / TRACE_SECTOR_BYTES;
	}
	if (walk->flush) {
		bytes = copy.bytes;
		sector = copy.sector;
		walk->sector = sector;
		if (!bytes)
			walk->op = OP_REQUEST_FLUSH;
	}
	if (!walk->own_bios) {
		walk->first = copy;
		done_first(walk, bytes, sector);
		return 0;
	}
	if (++walk->own_bios == 2)
		bio_send(walk, &walk->first, walk->own_bytes, walk->first_sector);
	if (copy.queued_ns < walk->queued_ns)
		walk->queued_ns = copy.queued_ns;
	walk->own_bytes += bytes;
	bio_send(walk, &copy, bytes, sector);
	return 0;
}
LOOP_STEP(done_step)

__noinline int done_bios(struct done_walk *walk)
{
	struct done_loop loop = { walk };

	if (walk && !done_step(0, &loop) && walk->bio.at)
		LOOP(REQUEST_BIOS_MAX, done_step, &loop);
	return 0;
}

/* Fast path, without a function call: a complete request with one bio, as most are. Returns false,
 * having done nothing, for any other request. */
static __always_inline bool done_single(struct done_walk *walk)
{
	struct bio_now now = { .bio = walk->bio.at, .disk = walk->disk };
	struct bio_slot *slot;

	if (!walk->whole || walk->flush || !now.bio || KREAD(bio, now.bio, bi_next))
		return false;
	slot = bio_places_slot(now.bio);
	if (!slot)
		return false;
	if (slot->bio != now.bio)
		return !bio_marks_count; /* the hash is empty too: not marked */
	walk->first = slot->mark;
	if (walk->first.disk & BIO_SECTOR_PENDING)
		return false;
	if (__sync_val_compare_and_swap(&slot->bio, now.bio, 0) != now.bio)
		return true; /* taken by another program */
	now.bytes = KREAD(bio, now.bio, bi_iter.bi_size);
	now.sector = KREAD(bio, now.bio, bi_iter.bi_sector);
	if (!bio_mark_matches(&walk->first, &now)) {
		bio_mark_stale();
		return true;
	}
	walk->bios = 1;
	done_first(walk, now.bytes, now.sector);
	return true;
}

static __always_inline void request_fill(struct event_request *event, const struct done_walk *walk,
					 __u64 start_ns, __u32 part, __u32 error, __u32 bytes)
{
	event->header.time_ns = start_ns;
	event->id = walk->request;
	event->duration_ns = walk->end_ns - start_ns;
	event->queue_ns = walk->issued_ns > start_ns ? walk->issued_ns - start_ns : 0;
	event->sector = walk->sector;
	event->dev = walk->dev;
	event->part = part;
	event->bytes = walk->flush ? walk->own_bytes : bytes;
	event->own_bytes = walk->own_bytes;
	event->bios = walk->bios;
	event->own_bios = walk->own_bios;
	event->file = walk->first.file;
	event->flags = walk->first.flags | (walk->issued_ns ? 0 : TRACE_BLOCK_UNISSUED) |
		       (walk->whole ? 0 : TRACE_BLOCK_PART);
	event->op = walk->op;
	event->status = error;
	event->pad = 0;
}

/* Sends one record for a request and its only bio of the run, as most requests have. */
static __always_inline void request_send_single(const struct done_walk *walk, struct owner owner,
						__u64 start_ns, __u32 part, __u32 error,
						__u32 bytes)
{
	struct kind_total *bios = ring_count(RECORD_BIO);
	struct event_request_single *event = ring_reserve(RECORD_REQUEST, sizeof(*event), owner);

	if (!event) {
		ring_count_lost(bios);
		return;
	}
	request_fill(&event->request, walk, start_ns, part, error, bytes);
	event->bio.header = event->request.header;
	event->bio.header.kind = RECORD_BIO;
	event->bio.header.size = sizeof(event->bio);
	bio_fill(&event->bio, walk, &walk->first, walk->own_bytes, walk->first_sector);
	ring_submit(event);
}

__noinline int request_send(struct done_walk *walk, struct address *request, __u32 error,
			    __u32 bytes)
{
	struct event_request *event;
	struct block_device *device;
	struct op_total *total;
	struct owner owner;
	__u64 start_ns;
	__u32 part;

	if (!walk || !request)
		return 0;
	owner = (struct owner) { walk->first.pid, walk->first.tid };
	total = op_total(walk->op);
	device = KREAD(request, request->at, part);
	part = device ? KREAD(block_device, device, bd_dev) : walk->dev;
	start_ns = KREAD(request, request->at, start_time_ns);
	if (!start_ns || start_ns > walk->end_ns ||
	    (walk->own_bios == walk->bios && start_ns < walk->queued_ns))
		start_ns = walk->queued_ns;
	if (total) {
		if (walk->whole)
			count_add(&total->count, 1, true);
		if (walk->whole && error)
			count_add(&total->errors, 1, true);
		count_add(&total->bytes, walk->own_bytes, true);
		count_add(&total->time_ns, walk->end_ns - start_ns, true);
	}
	if (profile_aggregates_all() && !profile_also_records(owner.pid))
		return 0;
	if (walk->own_bios == 1) {
		request_send_single(walk, owner, start_ns, part, error, bytes);
		return 0;
	}
	event = ring_reserve(RECORD_REQUEST, sizeof(*event), owner);
	if (!event)
		return 0;
	request_fill(event, walk, start_ns, part, error, bytes);
	ring_submit(event);
	return 0;
}

static __always_inline int request_complete(struct request *rq, int error, unsigned int bytes,
					    __u32 copy)
{
	struct done_walk walk = { .remaining_bytes = bytes };
	struct address request = { (__u64)rq };
	bool sequence = rq->rq_flags & flush_sequence;
	struct device_counts *counts;
	struct gendisk *disk;
	__u32 class;

	if (!block_copy_is_first((__u64)rq, copy))
		return 0;
	disk = request_disk(rq);
	class = device_class(rq->cmd_flags);
	counts = device_counts(disk, class);
	if (!counts)
		return 0;
	walk.bio.at = NUMBER_OF(request, rq, bio);
	walk.end_ns = bpf_ktime_get_ns();
	walk.whole = bytes >= rq->__data_len;
	__sync_fetch_and_add(&counts->bytes, bytes);
	/* In a flush sequence, only its end and each flush count as requests. */
	if (sequence && class != DEVICE_FLUSH)
		return 0;
	if (walk.whole) {
		__sync_fetch_and_add(&counts->requests, 1);
		if ((__u8)error)
			__sync_fetch_and_add(&counts->errors, 1);
		if (rq->start_time_ns && rq->start_time_ns < walk.end_ns)
			__sync_fetch_and_add(&counts->time_ns, walk.end_ns - rq->start_time_ns);
	}
	if (class == DEVICE_FLUSH)
		return 0; /* made by the block layer for the requests that wait for it */
	/* Not by its flags: the kernel clears them if the device has no FUA. */
	walk.flush = !bytes && (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_WRITE;
	walk.issued_ns = rq->io_start_time_ns;
	walk.dev = disk_dev(disk);
	walk.disk = bio_disk(disk);
	walk.sector = rq->__sector;
	walk.op = OP_REQUEST_READ + class;
	if (!done_single(&walk))
		done_bios(&walk);
	if (walk.request)
		request_send(&walk, &request, (__u8)error, bytes);
	return 0;
}

/* A request that ends in an interrupt may find the program busy with another one, and the kernel
 * then skips the program. Three copies suffice for a task, a softirq and an interrupt at once. */
COPIED_PROGRAM("?tp_btf/block_rq_complete", fl_rq_done, request_complete(rq, error, bytes, copy),
	       struct request *rq, int error, unsigned int bytes)

/* Before 5.16 the tracepoint passes an errno instead of a BLK_STS_*: the kernel's table. */
static const __u8 block_errors[128] = {
	[95] = 1,  /* EOPNOTSUPP, BLK_STS_NOTSUPP */
	[110] = 2, /* ETIMEDOUT, BLK_STS_TIMEOUT */
	[28] = 3,  /* ENOSPC, BLK_STS_NOSPC */
	[67] = 4,  /* ENOLINK, BLK_STS_TRANSPORT */
	[121] = 5, /* EREMOTEIO, BLK_STS_TARGET */
	[52] = 6,  /* EBADE, BLK_STS_NEXUS */
	[61] = 7,  /* ENODATA, BLK_STS_MEDIUM */
	[84] = 8,  /* EILSEQ, BLK_STS_PROTECTION */
	[12] = 9,  /* ENOMEM, BLK_STS_RESOURCE */
	[5] = 10,  /* EIO, BLK_STS_IOERR */
	[78] = 11, /* EREMCHG, BLK_STS_DM_REQUEUE */
	[11] = 12, /* EAGAIN, BLK_STS_AGAIN */
	[16] = 13, /* EBUSY, BLK_STS_DEV_RESOURCE */
};

static __always_inline int block_status(int error)
{
	__u8 status = block_errors[-error & (sizeof(block_errors) - 1)];

	return error && !status ? 10 : status;
}

COPIED_PROGRAM("?tp_btf/block_rq_complete", fl_rq_errno,
	       request_complete(rq, block_status(error), bytes, copy), struct request *rq,
	       int error, unsigned int bytes)

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
