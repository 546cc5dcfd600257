/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits of opens. Include after locks.h. */
static char fifo_path[sizeof(lock_path) + 8];

static void fifo_prepare(void)
{
	snprintf(fifo_path, sizeof(fifo_path), "%s.fifo", lock_path);
	require(!mkfifo(fifo_path, 0600));
}

STEP(fifo_block, (ends[0] = open(fifo_path, O_RDONLY | O_CLOEXEC)) >= 0);

static void fifo_end(void)
{
	it.waker_pid = -1;
	ends[1] = open(fifo_path, O_WRONLY | O_CLOEXEC);
	require(ends[1] >= 0);
}

static void fifo_clean(void)
{
	close_ends();
	require(!unlink(fifo_path));
}
