/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the kernel side reads the arguments of markers: table rows that the user side fills in.
 */
#pragma once

#include "bpf/records/event_base.h"

/*
 * Markers are the USDT probes of provider "faultline". The ELF note of a marker says where its
 * arguments are, and the kernel side reads them there: one row per attached marker.
 */
enum marker_kind {
	MARKER_SPAN_BEGIN,
	MARKER_SPAN_END,
	MARKER_SPAN_RECORD,
	MARKER_INSTANT,
	MARKER_KIND_COUNT,
};

#define MARKER_ARGS_MAX 7
#define MARKER_SPECS_MAX 1024

/* Registers are identified by their offset in struct pt_regs, as a uprobe sees it. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define MARKER_REGISTERS_BYTES 272
#else
#define MARKER_REGISTERS_BYTES 168
#endif

enum marker_source {
	MARKER_CONSTANT, /* `value` */
	MARKER_REGISTER, /* the value of `base` */
	MARKER_MEMORY,	 /* memory at `value` + `base` + `scale` * `index` */
};

struct marker_arg {
	__s64 value;
	__u16 base, index;
	__u8 source; /* enum marker_source */
	__u8 scale;  /* 0: no index */
	__u8 bytes;
	__u8 is_signed;
};

struct marker_spec {
	__u32 kind;
	__u32 pad;
	struct marker_arg args[MARKER_ARGS_MAX]; /* missing arguments are constant 0 */
};

/* Where a marker is, for kernels whose uprobes have no cookies. */
struct marker_position {
	__u64 offset; /* in its file */
	__u32 ino;    /* lower half of its inode's number */
	__u32 pad;
};

EVENT_SIZE(marker_position, 16);
EVENT_SIZE(marker_arg, 16);
EVENT_SIZE(marker_spec, 120);
