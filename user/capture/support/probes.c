/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses variants from the probe table that this kernel supports. */
#include "capture/support/probes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "capture/support/modules.h"

bool variant_next(const struct variant *variant, struct probe_program *program)
{
	const struct probe *probe = program->probe;
	unsigned int copies = probe && probe->copies ? probe->copies : variant->copies;

	if (!probe) {
		probe = variant->probes;
	} else if (++program->copy >= copies) {
		probe++;
		program->copy = 0;
	}
	if (probe == variant->probes + VARIANT_PROBES_MAX || !probe->program) {
		program->probe = NULL;
		return false;
	}
	program->probe = probe;
	snprintf(program->name, sizeof(program->name), program->copy ? "%s_%u" : "%s",
		 probe->program, program->copy + 1);
	return true;
}

bool probes_next(const struct choice *choice, struct probe_program *program)
{
	for (; program->part < part_count; program->part++)
		if (choice->variants[program->part] &&
		    variant_next(choice->variants[program->part], program))
			return true;
	return false;
}

static const char *status_text(int status)
{
	if (status == -ENOENT)
		return "does not exist in this kernel";
	if (status == -EOPNOTSUPP)
		return "is unavailable: this kernel has no kprobes";
	if (status == -EPROTO)
		return "has a different signature in this kernel";
	if (status == -EPERM)
		return "cannot be attached to: no permission (EPERM)";
	return strerror(-status);
}

/* Returns whether `target` is in a comma-separated list; NULL is an empty list. */
static bool is_listed(const char *list, const char *target)
{
	size_t length = strlen(target);

	for (const char *word = list; word; word = strchr(word, ','), word += word ? 1 : 0)
		if (!strncmp(word, target, length) && (!word[length] || word[length] == ','))
			return true;
	return false;
}

/* Covers every way to reach the target: tracepoint "sys_enter" is also "raw_syscalls/sys_enter". */
static bool is_taken_for_absent(const struct forced_variants *forced, const char *target)
{
	const char *slash = strchr(target, '/');

	return is_listed(forced->absent, slash ? slash + 1 : target);
}

static int probe_status(struct kernel *kernel, const struct probe *probe,
			const struct forced_variants *forced)
{
	int status = is_taken_for_absent(forced, probe->target)
			     ? -ENOENT
			     : kernel_allows(kernel, probe->hook, probe->target);

	if (status)
		return status;
	if (is_listed(forced->changed, probe->target) ||
	    (probe->arguments &&
	     kernel_tracepoint_arguments(kernel, probe->target) != probe->arguments) ||
	    (probe->signature &&
	     !kernel_has_signature(kernel, probe->hook, probe->target, probe->signature)))
		return -EPROTO;
	return 0;
}

static bool variant_works(struct kernel *kernel, const struct variant *variant,
			  const struct forced_variants *forced, const struct refusals *refused,
			  struct strbuf *why)
{
	static const char *const kinds[] = {
		[HOOK_TP_BTF] = "tracepoint",  [HOOK_TP] = "tracepoint",
		[HOOK_FENTRY] = "entry of",    [HOOK_FEXIT] = "exit of",
		[HOOK_KPROBE] = "kprobe",      [HOOK_KRETPROBE] = "kretprobe",
		[HOOK_PERF] = "perf event",    [HOOK_USDT] = "uprobe for",
		[HOOK_RUN] = "helper",	       [HOOK_RAW_TP] = "tracepoint",
		[HOOK_ITER] = "iterator over", [HOOK_RUN_FOUND] = "file",
	};
	struct probe_program program = { 0 };

	if (variant->reads.type &&
	    !kernel_has_member(kernel, variant->reads.type, variant->reads.member)) {
		strbuf_clause(why, "%s: %s.%s does not exist in this kernel", variant->name,
			      variant->reads.type, variant->reads.member);
		return false;
	}
	while (variant_next(variant, &program)) {
		const struct probe *probe = program.probe;
		int status = probe_status(kernel, probe, forced);
		const char *refusal = refusals_find(refused, program.name);

		if (!status && !refusal)
			continue;
		if (status)
			strbuf_clause(why, "%s: %s %s %s", variant->name, kinds[probe->hook],
				      probe->target, status_text(status));
		else
			strbuf_clause(why, "%s: the kernel rejects program %s: %s", variant->name,
				      program.name, refusal);
		return false;
	}
	return true;
}

bool probes_preempted(const struct kernel *kernel, const struct variant *variant)
{
	for (size_t i = 0; variant && i < VARIANT_PROBES_MAX && variant->probes[i].program; i++)
		if (kernel_preempts(kernel, variant->probes[i].hook))
			return true;
	return false;
}

/* Returns whether the kernel may skip the variant's programs for other tasks while one of them is
 * preempted. */
static bool variant_passed_over(const struct kernel *kernel, const struct variant *variant)
{
	return !variant->copies && probes_preempted(kernel, variant);
}

/* A part that has the forced variant takes only that one. Other parts take the nearest match: with
 * fault=kprobe+perf, a kprobe. */
static bool variant_forced(const struct variant *variant, const char *forced)
{
	size_t length = strcspn(forced, "+");

	return !strcmp(variant->name, forced) ||
	       (!strncmp(variant->name, forced, length) && !variant->name[length]);
}

static const struct variant *choose_variant(struct kernel *kernel, const struct part *part,
					    const struct forced_variants *all,
					    const struct refusals *refused, struct strbuf *why)
{
	const char *forced = all->names[part->layer];
	const struct variant *best = NULL;
	bool must = false;

	for (size_t v = 0; v < PART_VARIANTS_MAX && part->variants[v].name && forced[0]; v++)
		must |= variant_forced(&part->variants[v], forced);
	for (size_t v = 0; v < PART_VARIANTS_MAX && part->variants[v].name; v++) {
		const struct variant *variant = &part->variants[v];

		if (must && !variant_forced(variant, forced))
			continue;
		if (best && variant_passed_over(kernel, variant))
			continue;
		if (!variant_works(kernel, variant, all, refused, why))
			continue;
		if (must || !variant_passed_over(kernel, variant))
			return variant;
		best = variant;
	}
	return best;
}

/* Whether a part has no variant only because its module is not loaded. */
static bool waits_for_module(const struct part *part, const struct forced_variants *forced)
{
	struct probe_program program = { 0 };

	if (!(LAYERS_LATE >> part->layer & 1) || module_present(layer_names[part->layer]))
		return false;
	while (variant_next(&part->variants[0], &program))
		if (is_taken_for_absent(forced, program.probe->target))
			return false;
	return true;
}

static unsigned int on_mask(const struct choice *choice)
{
	unsigned int mask = 0;

	for (size_t l = 0; l < LAYER_COUNT; l++)
		mask |= choice->on[l] ? 1u << l : 0;
	return mask;
}

void probes_choose(struct kernel *kernel, unsigned int layers, unsigned int uses,
		   const struct forced_variants *forced, const struct refusals *refused,
		   struct choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	for (size_t l = 0; l < LAYER_COUNT; l++) {
		choice->on[l] = layers & (1u << l);
		if (!choice->on[l])
			snprintf(choice->reason[l], sizeof(choice->reason[l]), "not requested");
	}
	for (size_t p = 0; p < part_count; p++) {
		const struct part *part = &parts[p];
		char *reason = choice->reason[part->layer];
		struct strbuf why = { .used = 0 };
		char *attach = choice->attach[part->layer];
		size_t size = sizeof(choice->reason[0]);

		if (!choice->on[part->layer] || part->unless & on_mask(choice) ||
		    (part->use && !(part->use & uses)))
			continue;
		choice->variants[p] = choose_variant(kernel, part, forced, refused, &why);
		if (choice->variants[p]) {
			if (part->required)
				snprintf(attach, sizeof(choice->attach[0]), "%s",
					 choice->variants[p]->name);
			continue;
		}
		if (waits_for_module(part, forced)) {
			snprintf(attach, sizeof(choice->attach[0]), "later");
			snprintf(reason, size,
				 "waits for the module %s, which the first mount loads",
				 layer_names[part->layer]);
			continue;
		}
		if (part->required) {
			choice->on[part->layer] = false;
			attach[0] = 0;
		}
		if (part->without)
			snprintf(reason, size, "%s (%.400s)", part->without, why.bytes);
		else
			snprintf(reason, size, "%.500s", why.bytes);
	}
	for (size_t p = 0; p < part_count; p++)
		if (!choice->on[parts[p].layer])
			choice->variants[p] = NULL;
}

unsigned int probes_missing(const struct choice *choice, unsigned int layers)
{
	return layers & ~on_mask(choice);
}

static bool chosen(const struct choice *choice, const char *name, size_t length)
{
	struct probe_program program = { 0 };

	while (probes_next(choice, &program))
		if (!strncmp(program.name, name, length))
			return true;
	return false;
}

bool probes_chosen(const struct choice *choice, const char *program)
{
	return chosen(choice, program, strlen(program) + 1);
}

bool probes_chosen_like(const struct choice *choice, const char *begins)
{
	return chosen(choice, begins, strlen(begins));
}
