// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The capture tables are complete: every BPF program is in exactly one part, every row's program
 * exists, every record kind is decoded, and every call can be found.
 */
#include "unit_test.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/calls/calls.h"
#include "capture/drain/decode.h"
#include "capture/support/probes.h"

/* Number of parts that list a program. */
static int parts_with(const char *program)
{
	int found = 0;

	for (size_t p = 0; p < part_count; p++) {
		bool here = false;

		for (size_t v = 0; v < PART_VARIANTS_MAX; v++) {
			struct probe_program row = { 0 };

			while (variant_next(&parts[p].variants[v], &row))
				here |= !strcmp(row.name, program);
		}
		found += here;
	}
	return found;
}

TEST(test_each_program_has_one_part)
{
	struct faultline *skeleton = faultline__open();
	struct bpf_program *program;
	int programs = 0;

	assert_non_null(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);

		if (parts_with(name) != (strcmp(name, "fl_loop_check") != 0)) /* only loaded */
			fail_msg("%s stands in %d parts", name, parts_with(name));
		/* The kernel truncates names here; they must stay unique. */
		assert_true(strlen(name) <= 15);
		programs++;
	}
	assert_true(programs > 10);
	faultline__destroy(skeleton);
}

/* A program shared by several variants names no target itself. */
static bool serves_several(const struct variant *variant, const struct probe *probe)
{
	for (size_t i = 0; i < VARIANT_PROBES_MAX && variant->probes[i].program; i++)
		if (!strcmp(variant->probes[i].program, probe->program) &&
		    strcmp(variant->probes[i].target, probe->target))
			return true;
	return false;
}

/* A program's section without its markers for optional ("?") and sleepable (".s"). */
static void section_of(const struct bpf_program *program, char section[64])
{
	const char *name = bpf_program__section_name(program);
	char *sleeps;

	snprintf(section, 64, "%s", name + (name[0] == '?'));
	sleeps = strstr(section, ".s/");
	if (sleeps)
		memmove(sleeps, sleeps + 2, strlen(sleeps + 2) + 1);
}

TEST(test_each_row_has_a_program_for_its_hook)
{
	static const char *const sections[] = {
		[HOOK_TP_BTF] = "tp_btf",
		[HOOK_RAW_TP] = "raw_tp",
		[HOOK_TP] = "tp",
		[HOOK_FENTRY] = "fentry",
		[HOOK_FEXIT] = "fexit",
		[HOOK_KPROBE] = "kprobe",
		[HOOK_PERF] = "perf_event",
		[HOOK_USDT] = "uprobe",
		[HOOK_RUN] = "syscall",
		[HOOK_RUN_FOUND] = "syscall",
		[HOOK_KRETPROBE] = "kretprobe",
		[HOOK_ITER] = "iter",
	};
	struct faultline *skeleton = faultline__open();

	assert_non_null(skeleton);
	for (size_t p = 0; p < part_count; p++)
		for (size_t v = 0; v < PART_VARIANTS_MAX; v++) {
			const struct variant *variant = &parts[p].variants[v];
			struct probe_program row = { 0 };

			while (variant_next(variant, &row)) {
				const struct probe *probe = row.probe;
				struct bpf_program *program;
				char section[64], made[64];

				program = bpf_object__find_program_by_name(skeleton->obj, row.name);
				assert_non_null(program);
				snprintf(section, sizeof(section), "%s", sections[probe->hook]);
				if (probe->hook < HOOK_PERF && !serves_several(variant, probe))
					snprintf(section, sizeof(section), "%s/%s",
						 sections[probe->hook], probe->target);
				section_of(program, made);
				assert_string_equal(made, section);
			}
		}
	faultline__destroy(skeleton);
}

/* A block tracepoint whose arguments change is not mistaken for the known one. */
TEST(test_each_block_tracepoint_has_its_arguments)
{
	int tracepoints = 0;

	for (size_t p = 0; p < part_count; p++)
		for (size_t v = 0; v < PART_VARIANTS_MAX; v++)
			for (size_t i = 0; i < VARIANT_PROBES_MAX; i++) {
				const struct probe *probe = &parts[p].variants[v].probes[i];

				if (parts[p].layer != LAYER_BLOCK || !probe->program ||
				    probe->hook != HOOK_TP_BTF)
					continue;
				assert_non_null(probe->signature);
				tracepoints++;
			}
	assert_true(tracepoints > 10);
}

/* Names of the copies follow from the row. */
TEST(test_copies)
{
	static const struct variant two = { "some", .copies = 2,
					    .probes = {
						    { "fl_one", HOOK_TP_BTF, "x" },
						    { "fl_two", HOOK_TP_BTF, "y", .copies = 1 } } };
	static const char *const names[] = { "fl_one", "fl_one_2", "fl_two" };
	struct probe_program program = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(variant_next(&two, &program));
		assert_string_equal(program.name, names[i]);
		assert_int_equal(program.copy, i == 1);
	}
	assert_false(variant_next(&two, &program));
}

TEST(test_each_layer_has_a_required_part)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		int required = 0;

		assert_non_null(layer_names[layer]);
		for (size_t p = 0; p < part_count; p++)
			required += parts[p].layer == (enum layer)layer && parts[p].required;
		assert_true(required > 0);
	}
}

TEST(test_each_kind_is_decoded)
{
	const int servers = __builtin_popcount(LAYERS_OF_SERVERS);

	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++) {
		assert_non_null(decoder_kind_name(kind));
		assert_non_null(decoder_kind_layer(kind));
		if (kind != RECORD_CODE) /* no rows of their own */
			assert_true(decoder_kind(kind) < TRACE_KIND_COUNT);
	}
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		int records = 0;

		for (int event = RECORD_NONE + 1; event < RECORD_KIND_COUNT; event++)
			records += decoder_kind(event) == (enum trace_kind)kind;
		/* Kinds read from memory or computed from other traces have no records. */
		if (kind == TRACE_PROFILE || kind == TRACE_PROFILE_CLASS ||
		    TRACE_SUMMARY_KINDS >> kind & 1)
			assert_int_equal(records, 0);
		else
			assert_int_equal(records, kind == TRACE_REMOTE ? servers : 1);
	}
#define CHECK_LAYER(id, name, ...) assert_string_equal(decoder_kind_layer(RECORD_##id), name);
	TRACE_SERVER_LAYERS(CHECK_LAYER)
}

TEST(test_calls_by_number)
{
	struct call_request requests[CALL_REQUESTS];
	struct call_row rows[CALL_TABLE_SIZE];
	const struct trace_operation *operations;
	size_t count, found = 0;

	operations = calls_operations(&count);
	calls_fill(rows, requests);
	for (size_t i = 0; i < CALL_TABLE_SIZE; i++)
		found += rows[i].op != 0 && !(rows[i].traits & CALL_REQUEST);
	for (size_t i = 0; i < CALL_REQUESTS; i++) {
		if (!requests[i].row.op)
			continue;
		found++;
		assert_true(rows[requests[i].number].traits & CALL_REQUEST);
		assert_false(rows[requests[i].number].traits & CALL_PLAIN);
		assert_int_equal(rows[requests[i].number].request, requests[i].row.request);
	}
	assert_int_equal(found, calls_first_async() - OP_FIRST_CALL);
	assert_string_equal(operations[rows[SYS_pread64].op].name, "pread64");
	assert_string_equal(operations[rows[SYS_copy_file_range].op].name, "copy_file_range");
	assert_int_equal(operations[rows[SYS_fsync].op].family, TRACE_SYNC);
	assert_int_equal(rows[SYS_getpid].op, 0);
	assert_true(rows[SYS_pread64].traits & CALL_PLAIN);
	assert_true(rows[SYS_close].traits & CALL_PLAIN);
	assert_false(rows[SYS_preadv2].traits & CALL_PLAIN);
	assert_false(rows[SYS_lseek].traits & CALL_PLAIN);
	assert_false(rows[SYS_sendfile].traits & CALL_PLAIN);
	assert_false(rows[SYS_openat].traits & CALL_PLAIN);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (strcmp(operations[i].name, "none")) /* unused numbers */
				assert_string_not_equal(operations[i].name, operations[j].name);
}
