// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests to block devices. Counts all of them by device. Records those that contain marked bios,
 * with these bios: see bio.bpf.c.
 */
#include "block/block.h"
#include "block/block_copy.h"
#include "block/device.h"

const volatile __u32 flush_sequence; /* this kernel's RQF_FLUSH_SEQ */
__u64 block_last_request;	     /* number of the last recorded request */

/* --- before the end --- */

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
	return request_merge(bio_gendisk(bio), bio->bi_opf);
}

SEC("?tp_btf/block_bio_frontmerge")
int BPF_PROG(fl_bio_front, struct bio *bio)
{
	return request_merge(bio_gendisk(bio), bio->bi_opf);
}

SEC("?tp_btf/block_rq_merge")
int BPF_PROG(fl_rq_merge, struct request *rq)
{
	return request_merge(request_disk(rq), rq->cmd_flags);
}

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

/* --- the end --- */

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
	__u32 instance, pad;
};

static __always_inline void bio_fill(struct event_bio *event, const struct done_walk *walk,
				     const struct bio_mark *mark, __u32 bytes, __u64 sector)
{
	event->header.time_ns = mark->queued_ns;
	event->request = walk->request;
	event->duration_ns = walk->end_ns - mark->queued_ns;
	event->queue_ns = number_sub(walk->issued_ns, mark->queued_ns);
	event->sector = sector;
	event->offset = mark->offset;
	if (mark->offset >= 0)
		event->offset += (sector - mark->sector) * TRACE_SECTOR_BYTES;
	event->dev = walk->dev;
	event->file = mark->file;
	event->bytes = bytes;
	event->flags = mark->flags | (walk->issued_ns ? 0 : TRACE_BLOCK_UNISSUED);
	event->op = walk->op;
	event->instance = walk->instance;
}

/* Global, like the functions below, so that the verifier checks it once, not on every path. */
__noinline int bio_send(struct done_walk *walk, struct bio_mark *mark, __u32 bytes, __u64 sector)
{
	struct event_bio *event;

	if (!walk || !mark || (profile_aggregates_others() && !profile_also_records(mark->pid)))
		return 0;
	event = ring_reserve(RECORD_BIO, sizeof(*event), (struct owner) { mark->pid, mark->tid });
	if (!event)
		return 0;
	bio_fill(event, walk, mark, bytes, sector);
	ring_submit(event);
	return 0;
}

/* A separate context: with the walk itself, the verifier would check the loop again for each state
 * of it. */
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
	slot = bio_slots_at(now.bio);
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
	event->queue_ns = number_sub(walk->issued_ns, start_ns);
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
	event->instance = walk->instance;
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
	part = walk->dev;
	barrier_var(part); /* up to 6.8, one load may not serve both kinds of memory */
	if (device && bio_disk(KREAD(block_device, device, bd_disk)) == walk->disk)
		part = KREAD(block_device, device, bd_dev);
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
	if (profile_aggregates_others() && !profile_also_records(owner.pid))
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
	if (!disk || class >= DEVICE_CLASSES)
		return 0;
	counts = device_counts(disk, class); /* NULL: too many devices */
	walk.bio.at = NUMBER_OF(request, rq, bio);
	walk.end_ns = bpf_ktime_get_ns();
	walk.whole = bytes >= rq->__data_len;
	if (counts)
		__sync_fetch_and_add(&counts->bytes, bytes);
	/* In a flush sequence, only its end and each flush count as requests. */
	if (sequence && class != DEVICE_FLUSH)
		return 0;
	if (counts && walk.whole) {
		__sync_fetch_and_add(&counts->requests, 1);
		if ((__u8)error)
			__sync_fetch_and_add(&counts->errors, 1);
		if (rq->start_time_ns && rq->start_time_ns < walk.end_ns)
			__sync_fetch_and_add(&counts->time_ns, walk.end_ns - rq->start_time_ns);
	}
	if (class == DEVICE_FLUSH)
		return 0; /* made by the block layer for the requests that wait for it */
	/* Not from REQ_PREFLUSH and REQ_FUA: the kernel clears the first, and the second if the
	 * device lacks FUA. */
	walk.flush = !bytes && (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_WRITE;
	walk.issued_ns = rq->io_start_time_ns;
	walk.dev = disk_dev(disk);
	walk.instance = disk_instance(disk);
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
