// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A FUSE file system whose files all have the same inode number: 1 to FILES, 8 KiB each. Mounts
 * itself at MOUNT, prints "ready", and serves until it is unmounted.
 *
 *   fuse_alike MOUNT FILES
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "live.h"

#define INODE 4711
#define FILE_BYTES 8192
#define FIRST_NODE 100

static char request[1 << 18];
static char reply[1 << 18];
static int device;

static void fill_attributes(struct fuse_attr *attributes, uint64_t node)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->ino = node == FUSE_ROOT_ID ? 1 : INODE;
	attributes->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	attributes->nlink = 1;
	attributes->size = node == FUSE_ROOT_ID ? 4096 : FILE_BYTES;
	attributes->blksize = 4096;
}

static void answer(const struct fuse_in_header *in, int error, size_t bytes)
{
	struct fuse_out_header *out = (void *)reply;

	out->unique = in->unique;
	out->error = error;
	out->len = sizeof(*out) + (error ? 0 : bytes);
	if (write(device, reply, out->len) < 0)
		require(errno == ENOENT); /* the caller has gone */
}

static void serve(const struct fuse_in_header *in, int files)
{
	void *out = reply + sizeof(struct fuse_out_header), *body = request + sizeof(*in);
	struct fuse_entry_out *entry = out;
	struct fuse_attr_out *attributes = out;
	struct fuse_init_out *init = out;
	const struct fuse_read_in *read_in = body;
	int file;

	memset(out, 0, 256);
	switch (in->opcode) {
	case FUSE_INIT:
		init->major = FUSE_KERNEL_VERSION;
		init->minor = 31;
		init->max_readahead = 65536;
		init->max_write = 65536;
		answer(in, 0, sizeof(*init));
		break;
	case FUSE_LOOKUP:
		file = atoi(body);
		entry->nodeid = FIRST_NODE + file;
		fill_attributes(&entry->attr, entry->nodeid);
		answer(in, file < 1 || file > files ? -ENOENT : 0, sizeof(*entry));
		break;
	case FUSE_GETATTR:
		fill_attributes(&attributes->attr, in->nodeid);
		answer(in, 0, sizeof(*attributes));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(in, 0, sizeof(struct fuse_open_out));
		break;
	case FUSE_READ:
		if (read_in->offset >= FILE_BYTES) {
			answer(in, 0, 0);
			break;
		}
		memset(out, (int)in->nodeid, FILE_BYTES - read_in->offset);
		answer(in, 0,
		       read_in->size < FILE_BYTES - read_in->offset ? read_in->size
								    : FILE_BYTES - read_in->offset);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(in, 0, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* no reply is due */
	default:
		answer(in, -ENOSYS, 0);
	}
}

int main(int argc, char **argv)
{
	char options[128];

	require(argc == 3);
	device = open("/dev/fuse", O_RDWR);
	if (device < 0)
		return 77;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("alike", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		return 77;
	puts("ready");
	require(!fflush(stdout));
	for (;;) {
		ssize_t n = read(device, request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			return 0;
		if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		require(n >= (ssize_t)sizeof(struct fuse_in_header));
		serve((void *)request, atoi(argv[2]));
	}
}
