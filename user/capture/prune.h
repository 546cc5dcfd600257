/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program's settings turn off is taken out before it is loaded. The verifier would do so,
 * too, but it moves the rest of the program, and looks at all its jumps, for each place that it
 * takes out. Knows nothing of what programs are for.
 */
#ifndef FAULTLINE_PRUNE_H
#define FAULTLINE_PRUNE_H

#include <linux/bpf.h>
#include <stddef.h>

/* Memory that never changes once programs are loaded, as they find it by the descriptor of its map.
 */
struct prune_settings {
	int map_fd;
	const void *bytes;
	size_t length;
};

/*
 * Takes out of a program what no way leads to, loads of settings replaced by what they find; the
 * functions that go are taken out of `functions`, the places of the others follow. Returns how many
 * instructions are left: all, where they were, when there is no memory to do it or a way leads
 * outside.
 */
size_t prune(struct bpf_insn *insns, size_t count, struct bpf_func_info *functions,
	     __u32 *function_count, const struct prune_settings *settings);

#endif
