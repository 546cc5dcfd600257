// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A FUSE file system that reports every request. Its files are 1 MiB, in memory, and lost when it
 * ends. Mounts itself at MOUNT, prints "ready", answers each request DELAY_MS after it has taken
 * it, and serves until it is unmounted. Writes a line to LOG for each answer:
 *
 *   OPCODE TID NODE OFFSET ASKED MOVED ERROR WAITING TAKEN ANSWERED
 *
 * The last three are times in ns: when it began to read the request, had it, and replies.
 *
 * Reads of some files get an unusual answer: "short" 10 bytes, "long" more than was asked for,
 * "failing" EIO; "die" and "stop" none, but the daemon kills or stops itself, in the middle of such
 * a read. Writes to "boaster" claim to have written more. "direct" is not cached.
 *
 *   fuse_serve MOUNT SOURCE SUBTYPE DELAY_MS LOG [writeback]
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "live.h"

#define FILE_BYTES (1 << 20)
#define MAX_BYTES (128 << 10) /* of a read or write */
#define FIRST_NODE 100

enum { DATA, OTHER, DIRECT, SHORT, LONG, FAILING, BOASTER, DIE, STOP, NAMES };
static const char *const names[NAMES] = { "data",    "other",	"direct", "short", "long",
					  "failing", "boaster", "die",	  "stop" };

static char request[MAX_BYTES + (64 << 10)];
static char reply[2 * MAX_BYTES];
static char contents[NAMES][FILE_BYTES];
static int device;
static struct timespec delay;
static FILE *log_file;

/* A reply without its header. */
struct answer {
	int error;
	size_t bytes;	 /* of the reply's body */
	uint64_t offset; /* for the log: */
	uint32_t asked, moved;
	uint64_t waiting_ns, taken_ns;
};

static void fill_attributes(struct fuse_attr *attributes, uint64_t node)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->ino = node;
	attributes->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	attributes->nlink = 1;
	attributes->size = node == FUSE_ROOT_ID ? 4096 : FILE_BYTES;
	attributes->blksize = 4096;
}

static int find(const char *name)
{
	int number = 0;

	while (number < NAMES && strcmp(names[number], name))
		number++;
	return number;
}

static struct answer serve_read(const struct fuse_read_in *in, unsigned int number, void *out)
{
	size_t left = in->offset < FILE_BYTES ? FILE_BYTES - in->offset : 0;
	struct answer answer = { .offset = in->offset, .asked = in->size };

	answer.bytes = in->size < left ? in->size : left;
	if (number == DIE)
		raise(SIGKILL);
	if (number == STOP)
		raise(SIGSTOP);
	if (number == SHORT)
		answer.bytes = 10;
	if (number == FAILING)
		answer.error = EIO;
	memcpy(out, contents[number] + in->offset, answer.bytes);
	answer.moved = answer.error ? 0 : answer.bytes;
	if (number == LONG) { /* which the kernel refuses */
		answer.bytes = in->size + 1000;
		answer.moved = 0;
	}
	return answer;
}

static struct answer serve_write(const struct fuse_write_in *in, unsigned int number,
				 struct fuse_write_out *out)
{
	struct answer answer = { .offset = in->offset, .asked = in->size, .bytes = sizeof(*out) };

	if (in->offset + in->size > FILE_BYTES) {
		answer.error = EFBIG;
		return answer;
	}
	memcpy(contents[number] + in->offset, in + 1, in->size);
	answer.moved = in->size;
	out->size = in->size + (number == BOASTER ? 1000 : 0);
	return answer;
}

static struct answer serve_readdir(const struct fuse_read_in *in, char *out)
{
	struct answer answer = { .asked = in->size };

	for (uint64_t i = in->offset; i < NAMES; i++) {
		struct fuse_dirent *entry = (void *)(out + answer.bytes);
		size_t length = strlen(names[i]);
		size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);

		if (answer.bytes + size > in->size)
			break;
		memset(entry, 0, size);
		*entry = (struct fuse_dirent) { .ino = FIRST_NODE + i,
						.off = i + 1,
						.namelen = length,
						.type = S_IFREG >> 12 };
		memcpy(entry->name, names[i], length);
		answer.bytes += size;
	}
	answer.moved = answer.bytes;
	return answer;
}

static struct answer serve(const struct fuse_in_header *in, bool writeback)
{
	void *out = reply + sizeof(struct fuse_out_header), *body = request + sizeof(*in);
	unsigned int number = in->nodeid - FIRST_NODE;
	struct fuse_open_out *open_out = out;
	struct fuse_attr_out *attributes = out;
	struct fuse_entry_out *entry = out;
	struct fuse_init_out *init = out;

	memset(out, 0, 256);
	switch (in->opcode) {
	case FUSE_INIT:
		init->major = FUSE_KERNEL_VERSION;
		init->minor = 31;
		init->max_readahead = MAX_BYTES;
		init->max_write = MAX_BYTES;
		init->max_pages = MAX_BYTES / 4096;
		init->flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_MAX_PAGES;
		if (writeback)
			init->flags |= FUSE_WRITEBACK_CACHE;
		return (struct answer) { .bytes = sizeof(*init) };
	case FUSE_LOOKUP:
		number = find(body);
		entry->nodeid = FIRST_NODE + number;
		fill_attributes(&entry->attr, entry->nodeid);
		return (struct answer) { .error = number == NAMES ? ENOENT : 0,
					 .bytes = sizeof(*entry) };
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		fill_attributes(&attributes->attr, in->nodeid);
		return (struct answer) { .bytes = sizeof(*attributes) };
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		open_out->open_flags = number == DIRECT ? FOPEN_DIRECT_IO : 0;
		return (struct answer) { .bytes = sizeof(*open_out) };
	case FUSE_READ:
		return serve_read(body, number, out);
	case FUSE_WRITE:
		return serve_write(body, number, out);
	case FUSE_READDIR:
		return serve_readdir(body, out);
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_DESTROY:
		return (struct answer) { 0 };
	default:
		return (struct answer) { .error = ENOSYS };
	}
}

static void reply_to(const struct fuse_in_header *in, const struct answer *answer)
{
	struct fuse_out_header *out = (void *)reply;

	out->unique = in->unique;
	out->error = -answer->error;
	out->len = sizeof(*out) + (answer->error ? 0 : answer->bytes);
	nanosleep(&delay, NULL);
	fprintf(log_file, "%u %u %llu %llu %u %u %d %llu %llu %llu\n", in->opcode, in->pid,
		(unsigned long long)in->nodeid, (unsigned long long)answer->offset, answer->asked,
		answer->moved, answer->error, (unsigned long long)answer->waiting_ns,
		(unsigned long long)answer->taken_ns, (unsigned long long)now_ns());
	require(!fflush(log_file));
	if (write(device, reply, out->len) < 0) /* the caller has gone, or the answer is refused */
		require(errno == ENOENT || errno == EINVAL);
}

int main(int argc, char **argv)
{
	char options[256];

	require(argc == 6 || argc == 7);
	for (unsigned int i = 0; i < NAMES; i++)
		for (unsigned int at = 0; at < FILE_BYTES; at++)
			contents[i][at] = at * 31 + i;
	delay.tv_nsec = atoi(argv[4]) * 1000000L;
	log_file = fopen(argv[5], "w");
	require(log_file);
	device = open("/dev/fuse", O_RDWR);
	if (device < 0)
		return 77;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,max_read=%d", device,
		 MAX_BYTES);
	snprintf(request, sizeof(request), "fuse.%s", argv[3]);
	if (mount(argv[2], argv[1], request, MS_NOSUID | MS_NODEV, options))
		return 77;
	puts("ready");
	require(!fflush(stdout));
	for (;;) {
		const struct fuse_in_header *in = (void *)request;
		uint64_t waiting_ns = now_ns(), taken_ns;
		ssize_t n = read(device, request, sizeof(request));
		struct answer answer;

		taken_ns = now_ns();
		if (n < 0 && errno == ENODEV)
			return 0;
		if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		require(n >= (ssize_t)sizeof(*in));
		if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
		    in->opcode == FUSE_INTERRUPT)
			continue; /* no reply is due */
		answer = serve(in, argc == 7);
		answer.waiting_ns = waiting_ns;
		answer.taken_ns = taken_ns;
		reply_to(in, &answer);
	}
}
