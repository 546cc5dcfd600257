/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/job/file_system.h"

#include <string.h>

static const struct {
	const char *type;
	unsigned int traits;
} types[] = {
	{ "ext2", FILE_SYSTEM_ON_BLOCKS | FILE_SYSTEM_LOCKS_HERE },
	{ "ext3", FILE_SYSTEM_ON_BLOCKS | FILE_SYSTEM_LOCKS_HERE },
	{ "ext4", FILE_SYSTEM_ON_BLOCKS | FILE_SYSTEM_LOCKS_HERE },
	{ "xfs", FILE_SYSTEM_ON_BLOCKS | FILE_SYSTEM_LOCKS_HERE },
	{ "bcachefs", FILE_SYSTEM_LOCKS_HERE },
	{ "btrfs", FILE_SYSTEM_LOCKS_HERE },
	{ "f2fs", FILE_SYSTEM_LOCKS_HERE },
	{ "overlay", FILE_SYSTEM_LOCKS_HERE },
	{ "zfs", FILE_SYSTEM_LOCKS_HERE },
	{ "devtmpfs", FILE_SYSTEM_IN_MEMORY | FILE_SYSTEM_LOCKS_HERE },
	{ "hugetlbfs", FILE_SYSTEM_IN_MEMORY | FILE_SYSTEM_LOCKS_HERE },
	{ "ramfs", FILE_SYSTEM_IN_MEMORY | FILE_SYSTEM_LOCKS_HERE },
	{ "tmpfs", FILE_SYSTEM_IN_MEMORY | FILE_SYSTEM_LOCKS_HERE },
	{ "fuse", FILE_SYSTEM_SERVED(LAYER_FUSE) },
	{ "fuseblk", FILE_SYSTEM_SERVED(LAYER_FUSE) },
	{ "virtiofs", FILE_SYSTEM_SERVED(LAYER_FUSE) },
	{ "nfs", FILE_SYSTEM_SERVED(LAYER_NFS) },
	{ "nfs4", FILE_SYSTEM_SERVED(LAYER_NFS) },
	{ "9p", FILE_SYSTEM_SERVED(LAYER_P9) },
	{ "afs", FILE_SYSTEM_SERVED(LAYER_NETFS) },
	{ "beegfs", FILE_SYSTEM_REMOTE | FILE_SYSTEM_BYPASSES },
	{ "ceph", FILE_SYSTEM_SERVED(LAYER_NETFS) },
	{ "cifs", FILE_SYSTEM_SERVED(LAYER_NETFS) },
	{ "gpfs", FILE_SYSTEM_REMOTE | FILE_SYSTEM_BYPASSES },
	{ "lustre", FILE_SYSTEM_REMOTE },
	{ "panfs", FILE_SYSTEM_REMOTE | FILE_SYSTEM_BYPASSES },
	{ "pvfs2", FILE_SYSTEM_REMOTE | FILE_SYSTEM_BYPASSES },
	{ "smb3", FILE_SYSTEM_SERVED(LAYER_NETFS) },
	{ "wekafs", FILE_SYSTEM_REMOTE | FILE_SYSTEM_BYPASSES },
};

unsigned int file_system_traits(struct trace_string type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type.length == strlen(types[i].type) &&
		    !memcmp(type.bytes, types[i].type, type.length))
			return types[i].traits;
	return 0;
}
