/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The probe table: which programs make up a layer, in which variants, best first. */
#pragma once

#include "bpf/records/event.h"
#include "capture/support/kernel.h"
#include "capture/support/refusal.h"
#include "trace/format/layers.h"

#define LAYERS_ALL ((1u << LAYER_COUNT) - 1)
/* Recorded by default. The VFS layer adds little to system calls, and costs an extra record for
 * each read and write of a file on an overlay. */
#define LAYERS_DEFAULT (LAYERS_ALL & ~(1u << LAYER_VFS))
/* Many kernels cannot record these, most runs do not need them, and the report says so if one does:
 * no warning unless they were chosen. */
#define LAYERS_QUIET LAYERS_OF_SERVERS
/* Their tracepoints, functions and types may come with kernel modules, which may be loaded and
 * unloaded during a recording: they wait for the module of their name. */
#define LAYERS_LATE LAYERS_OF_SERVERS
/* A recording without one of these is refused unless the caller insists. */
#define LAYERS_ESSENTIAL (1u << LAYER_SYSCALL | 1u << LAYER_FAULT)

/* A program of the kernel side and what it attaches to. */
struct probe {
	const char *program;
	enum hook hook;
	const char *target;
	int arguments;	       /* that the tracepoint must have; 0: any number */
	const char *signature; /* of the target: see kernel_has_signature; NULL: any */
	unsigned int copies;   /* in every variant; 0: as many as the variant has */
};

#define VARIANT_PROBES_MAX 8

/* One implementation of a part of a layer. */
struct variant {
	const char *name;    /* as shown in `check` and the trace */
	unsigned int copies; /* of each program, of which one does the work; 0: one */
	struct {
		const char *type, *member;
	} reads; /* a kernel struct's member that it cannot do without; NULL: none */
	struct probe probes[VARIANT_PROBES_MAX];
};

#define PART_VARIANTS_MAX 5

/* Features that only some recordings use. */
enum part_use {
	USE_ATTACH,    /* record running processes, not a command */
	USE_IN_FLIGHT, /* read operations in flight during the recording */
};

/*
 * A part of a layer. The first variant that works is chosen, or none; variants whose programs the
 * kernel may skip (kernel_preempts) are the last resort.
 */
struct part {
	enum layer layer;
	bool required;	     /* without it the layer is off */
	const char *without; /* what is lost, or why there is no alternative; NULL: nothing */
	unsigned int use;    /* mask of 1 << enum part_use: loaded only if one of these is used */
	unsigned int unless; /* mask of layers; if one of them is on, this part is not needed */
	struct variant variants[PART_VARIANTS_MAX]; /* best first */
};

extern const struct part parts[];
extern const size_t part_count;

/* The variant chosen for each part; for each layer, why it is off or what it lacks. A layer that
 * waits for a module is on, has no variants, and attaches "later". */
#define PARTS_MAX 48
#define REASON_BYTES 512
struct choice {
	const struct variant *variants[PARTS_MAX]; /* NULL: none */
	bool on[LAYER_COUNT];
	char attach[LAYER_COUNT][64];
	char reason[LAYER_COUNT][REASON_BYTES];
};

/* For tests: a forced variant for each layer (empty name: free choice), and lists (or NULL) of
 * targets to treat as changed, and of tracepoints and functions, by bare name, to treat as
 * absent. */
struct forced_variants {
	char names[LAYER_COUNT][16];
	const char *changed, *absent;
};

/*
 * Chooses variants for the layers in the mask; `uses` is a mask of 1 << enum part_use. `refused`
 * (may be NULL) lists programs that the kernel refused although their targets can be attached to;
 * variants with such programs are skipped.
 */
void probes_choose(struct kernel *kernel, unsigned int layers, unsigned int uses,
		   const struct forced_variants *forced, const struct refusals *refused,
		   struct choice *choice);

/* Returns whether programs of the variant may be preempted; false for NULL. */
bool probes_preempted(const struct kernel *kernel, const struct variant *variant);

/* Returns the layers of the mask that are off. */
unsigned int probes_missing(const struct choice *choice, unsigned int layers);

/*
 * A program to load: a probe's, or one of its copies, which are called NAME_2, NAME_3, ... (see
 * COPIED_PROGRAM of bpf/core/state.h). All zeros before the first one.
 */
struct probe_program {
	size_t part; /* its number */
	const struct probe *probe;
	unsigned int copy; /* 0: the probe's program itself */
	char name[16];
};

/* Advances to the next program of a variant, or of all chosen variants; false: there is none. */
bool variant_next(const struct variant *variant, struct probe_program *program);
bool probes_next(const struct choice *choice, struct probe_program *program);

/* Returns whether a chosen variant contains this program. */
bool probes_chosen(const struct choice *choice, const char *program);

/* The same for any program whose name begins with `begins`. */
bool probes_chosen_like(const struct choice *choice, const char *begins);
