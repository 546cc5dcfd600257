/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The probe table, and choosing from it. Knows nothing of what the programs record.
 */
#include "capture/probes.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const layer_names[LAYER_COUNT] = {
	[LAYER_TASK] = "task",		 [LAYER_SYSCALL] = "syscall", [LAYER_FAULT] = "fault",
	[LAYER_PAGECACHE] = "pagecache", [LAYER_SPAN] = "span",
};

const struct part parts[] = {
	{
		.layer = LAYER_TASK,
		.required = true,
		.variants = { { "tp_btf",
				{ { "fl_fork", HOOK_TP_BTF, "sched_process_fork" },
				  { "fl_exec", HOOK_TP_BTF, "sched_process_exec" },
				  { "fl_exit", HOOK_TP_BTF, "sched_process_exit" } } } },
	},
	{
		.layer = LAYER_SYSCALL,
		.required = true,
		.variants = { { "tp_btf",
				{ { "fl_sys_enter", HOOK_TP_BTF, "sys_enter" },
				  { "fl_sys_exit", HOOK_TP_BTF, "sys_exit" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.required = true,
		.variants = { { "fentry",
				{ { "fl_fault_enter", HOOK_FENTRY, "handle_mm_fault" },
				  { "fl_fault_leave", HOOK_FEXIT, "handle_mm_fault" } } },
			      { "tp_btf+perf",
				{ { "fl_fault_user", HOOK_TP_BTF, "page_fault_user" },
				  { "fl_fault_kernel", HOOK_TP_BTF, "page_fault_kernel" },
				  { "fl_fault_major", HOOK_PERF, "page-faults-maj" },
				  { "fl_fault_minor", HOOK_PERF, "page-faults-min" } } } },
	},
	{
		.layer = LAYER_FAULT,
		.without = "whether filemap_fault was reached is not known",
		.variants = { { "tp_btf", { { "fl_filemap", HOOK_TP_BTF, "mm_filemap_fault" } } },
			      { "fentry", { { "fl_filemap_fn", HOOK_FENTRY, "filemap_fault" } } } },
	},
	{
		.layer = LAYER_PAGECACHE,
		.required = true,
		.variants = { { "tp_btf",
				{ { "fl_page_add", HOOK_TP_BTF,
				    "mm_filemap_add_to_page_cache" } } } },
	},
	{
		.layer = LAYER_SPAN,
		.required = true,
		/* The beginning last: a program that waits for it then finds all attached. */
		.variants = { { "usdt",
				{ { "fl_span_end", HOOK_USDT, "span_end" },
				  { "fl_span_record", HOOK_USDT, "span_record" },
				  { "fl_instant", HOOK_USDT, "instant" },
				  { "fl_span_begin", HOOK_USDT, "span_begin" } } } },
	},
	{
		.layer = LAYER_SPAN,
		.without = "libraries that are loaded after the start are not noticed",
		.unless = 1u << LAYER_SYSCALL,
		.variants = { { "tp_btf", { { "fl_code", HOOK_TP_BTF, "sys_exit" } } } },
	},
};
const size_t part_count = sizeof(parts) / sizeof(parts[0]);

static_assert(sizeof(parts) / sizeof(parts[0]) <= PARTS_MAX, "raise PARTS_MAX");

static const char *status_text(int status)
{
	if (status == -ENOENT)
		return "does not exist in this kernel";
	if (status == -EPERM)
		return "may not be attached to here (EPERM)";
	return strerror(-status);
}

static bool variant_works(struct kernel *kernel, const struct variant *variant,
			  const struct refusals *refused, char *why, size_t size)
{
	static const char *const kinds[] = {
		[HOOK_TP_BTF] = "tracepoint", [HOOK_FENTRY] = "entry of", [HOOK_FEXIT] = "exit of",
		[HOOK_PERF] = "perf event",   [HOOK_USDT] = "uprobe for",
	};

	for (size_t i = 0; i < VARIANT_PROBES_MAX && variant->probes[i].program; i++) {
		const struct probe *probe = &variant->probes[i];
		size_t used = strlen(why);
		int status = kernel_allows(kernel, probe->hook, probe->target);

		const char *refusal = refusals_find(refused, probe->program);

		if (!status && !refusal)
			continue;
		if (status)
			snprintf(why + used, size - used, "%s%s: %s %s %s", used ? "; " : "",
				 variant->name, kinds[probe->hook], probe->target,
				 status_text(status));
		else
			snprintf(why + used, size - used,
				 "%s%s: the kernel refuses the program %s: %s", used ? "; " : "",
				 variant->name, probe->program, refusal);
		return false;
	}
	return true;
}

static unsigned int on_mask(const struct choice *choice)
{
	unsigned int mask = 0;

	for (size_t l = 0; l < LAYER_COUNT; l++)
		mask |= choice->on[l] ? 1u << l : 0;
	return mask;
}

void probes_choose(struct kernel *kernel, unsigned int layers, const struct refusals *refused,
		   struct choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	for (size_t l = 0; l < LAYER_COUNT; l++) {
		choice->on[l] = layers & (1u << l);
		if (!choice->on[l])
			snprintf(choice->reason[l], sizeof(choice->reason[l]), "not asked for");
	}
	for (size_t p = 0; p < part_count; p++) {
		const struct part *part = &parts[p];
		char *reason = choice->reason[part->layer], why[400] = "";
		char *attach = choice->attach[part->layer];
		size_t size = sizeof(choice->reason[0]);

		if (!choice->on[part->layer] || part->unless & on_mask(choice))
			continue;
		for (size_t v = 0; v < PART_VARIANTS_MAX && part->variants[v].name; v++) {
			if (!variant_works(kernel, &part->variants[v], refused, why, sizeof(why)))
				continue;
			choice->variants[p] = &part->variants[v];
			break;
		}
		if (choice->variants[p]) {
			if (part->required)
				snprintf(attach, sizeof(choice->attach[0]), "%s",
					 choice->variants[p]->name);
			continue;
		}
		if (part->required) {
			choice->on[part->layer] = false;
			attach[0] = 0;
			snprintf(reason, size, "%s", why);
		} else {
			snprintf(reason, size, "%s (%s)", part->without, why);
		}
	}
	for (size_t p = 0; p < part_count; p++)
		if (!choice->on[parts[p].layer])
			choice->variants[p] = NULL;
}

unsigned int probes_missing(const struct choice *choice, unsigned int layers)
{
	return layers & ~on_mask(choice);
}

bool probes_chosen(const struct choice *choice, const char *program)
{
	for (size_t p = 0; p < part_count; p++) {
		if (!choice->variants[p])
			continue;
		for (size_t i = 0; i < VARIANT_PROBES_MAX; i++) {
			const char *name = choice->variants[p]->probes[i].program;

			if (name && !strcmp(name, program))
				return true;
		}
	}
	return false;
}
