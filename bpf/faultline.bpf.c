// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side as one object, layer by layer. It is one translation unit so that the layers
 * share one copy of common code, and because the static linker of libbpf 1.1 cannot link weak
 * kernel functions.
 */
#include "core/state.bpf.c"
#include "core/loop_check.bpf.c"
#include "task/task.bpf.c"
#include "task/attach.bpf.c"
#include "thread/thread.bpf.c"
#include "syscall/syscall.bpf.c"
#include "fault/fault.bpf.c"
#include "pagecache/pagecache.bpf.c"
#include "pagecache/writeback.bpf.c"
#include "vfs/vfs.bpf.c"
#include "syscall/waiting.bpf.c"
#include "syscall/in_flight.bpf.c"
#include "span/span.bpf.c"
#include "stack/stack.bpf.c"
#include "block/bio.bpf.c"
#include "block/request.bpf.c"
#include "fuse/fuse.bpf.c"
#include "nfs/nfs.bpf.c"
#include "p9/p9.bpf.c"
#include "netfs/netfs.bpf.c"
#include "async/uring.bpf.c"
#include "async/aio.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
