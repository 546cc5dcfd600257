/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The probe table: which programs make up a layer, in which variants, best first.
 */
#ifndef FAULTLINE_PROBES_H
#define FAULTLINE_PROBES_H

#include "bpf/event.h"
#include "capture/kernel.h"
#include "capture/refusal.h"

enum layer {
	LAYER_TASK,
	LAYER_SYSCALL,
	LAYER_FAULT,
	LAYER_PAGECACHE,
	LAYER_SPAN,
	LAYER_BLOCK,
	LAYER_ASYNC,
	LAYER_VFS,
	LAYER_COUNT,
};

#define LAYERS_ALL ((1u << LAYER_COUNT) - 1)
/* Recorded unless others are asked for. What the VFS layer adds to system calls is little, and
 * costs each read and write of an overlay's file a record of its own. */
#define LAYERS_DEFAULT (LAYERS_ALL & ~(1u << LAYER_VFS))
/* Without these a recording is not what was asked for: better none, unless the caller insists. */
#define LAYERS_ESSENTIAL (1u << LAYER_SYSCALL | 1u << LAYER_FAULT)

/* Names of layers, as --layers, the trace and the report know them; indexed by enum layer. */
extern const char *const layer_names[LAYER_COUNT];

/* One program of the kernel side, and what it is attached to. */
struct probe {
	const char *program;
	enum hook hook;
	const char *target;
	int arguments; /* that this tracepoint has where the program suits it; 0: any number */
	const char *signature; /* of what it is attached to: see kernel_has_signature; NULL: any */
};

#define VARIANT_PROBES_MAX 13

/* One way to do a part of a layer. */
struct variant {
	const char *name; /* as `check` and the trace tell it */
	bool copies;	  /* probes of one target that follow each other do the same work once */
	bool walks;	  /* looks for mappings in the kernel's maple tree */
	struct probe probes[VARIANT_PROBES_MAX];
};

#define PART_VARIANTS_MAX 5

/* Features that only some recordings use. */
enum part_use {
	USE_ATTACH,    /* what runs already is recorded, no command */
	USE_IN_FLIGHT, /* what is in flight is looked at while the recording goes on */
};

/*
 * A part of a layer: one of its variants is chosen, or none. The first that works, but those whose
 * programs the kernel may pass over come last (kernel_preempts).
 */
struct part {
	enum layer layer;
	bool required;	     /* without it the layer is off */
	const char *without; /* what is lost, or why there is no other way; NULL: nothing to say */
	unsigned int use;    /* mask of 1 << enum part_use: loaded only if one of these is used */
	unsigned int unless; /* mask of layers; where one of them is on, this part has no work */
	struct variant variants[PART_VARIANTS_MAX]; /* best first */
};

extern const struct part parts[];
extern const size_t part_count;

/* What was chosen for each part, and for each layer why it is off or what it lacks. */
#define PARTS_MAX 40
#define REASON_BYTES 512
struct choice {
	const struct variant *variants[PARTS_MAX]; /* NULL: none */
	bool on[LAYER_COUNT];
	char attach[LAYER_COUNT][64];
	char reason[LAYER_COUNT][REASON_BYTES];
};

/* For tests: a variant for each layer that takes no other (an empty name leaves the choice), and
 * lists (or NULL) of targets that are taken for changed, and of tracepoints and functions, by their
 * names alone, that are taken for absent. */
struct forced_variants {
	char names[LAYER_COUNT][16];
	const char *changed, *absent;
};

/*
 * Chooses variants for the layers in the mask; `uses` is a mask of 1 << enum part_use. `refused`
 * (may be NULL) lists programs that the kernel did not take although they could be attached: their
 * variants are passed over.
 */
void probes_choose(struct kernel *kernel, unsigned int layers, unsigned int uses,
		   const struct forced_variants *forced, const struct refusals *refused,
		   struct choice *choice);

/* Whether programs of the variant may be preempted; not those of NULL. */
bool probes_preempted(const struct kernel *kernel, const struct variant *variant);

/* The layers of the mask that are off. */
unsigned int probes_missing(const struct choice *choice, unsigned int layers);

/* The variant chosen for the part that this program belongs to is one with this program. */
bool probes_chosen(const struct choice *choice, const char *program);

/* The same for any of the programs whose names begin so. */
bool probes_chosen_like(const struct choice *choice, const char *begins);

#endif
