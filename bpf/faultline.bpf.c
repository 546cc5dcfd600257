// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel side as one object, layer by layer. It is one translation unit so that the layers
 * share one copy of common code, and because the static linker of libbpf 1.1 cannot link weak
 * kernel functions.
 */
#include "state.bpf.c"
#include "task.bpf.c"
#include "attach.bpf.c"
#include "syscall.bpf.c"
#include "fault.bpf.c"
#include "pagecache.bpf.c"
#include "writeback.bpf.c"
#include "vfs.bpf.c"
#include "waiting.bpf.c"
#include "in_flight.bpf.c"
#include "span.bpf.c"
#include "block.bpf.c"
#include "uring.bpf.c"
#include "aio.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
