/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps memory of the kernel side. */
#include "capture/host/shared.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t shared_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

void *shared_map(int fd, size_t bytes, bool writable, size_t offset)
{
	int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *map = mmap(NULL, bytes, rights, MAP_SHARED, fd, offset);

	if (map == MAP_FAILED)
		return NULL;
	if (madvise(map, bytes, MADV_DONTFORK))
		errno = 0; /* children then inherit it, which is harmless */
	return map;
}
