// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs do the same when what their settings turn off is taken out: some by hand, and many made
 * at random, run by an interpreter of a dozen instructions before and after.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/prune.h"
#include "tests/random.h"

#define MAP 7
#define ROOM 96

static uint8_t bytes[32] = { 1, 0, 0, 0, 0x34, 0x12, 0, 0, 0xff, 0xff, 0xff, 0xff };
static const struct prune_settings settings = { MAP, bytes, sizeof(bytes) };

/* --- writing programs --- */

struct code {
	struct bpf_insn insns[ROOM];
	size_t count;
	struct bpf_func_info functions[3];
	__u32 function_count;
};

static void add(struct code *code, __u8 op, __u8 to, __u8 from, __s16 off, __s32 imm)
{
	code->insns[code->count++] = (struct bpf_insn) {
		.code = op, .dst_reg = to, .src_reg = from, .off = off, .imm = imm
	};
}

static void add_long(struct code *code, __u8 to, __u8 kind, __s32 first, __s32 second)
{
	add(code, BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, first);
	add(code, 0, 0, 0, 0, second);
}

static void add_move(struct code *code, __u8 to, __s32 value)
{
	add(code, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

static void add_setting(struct code *code, __u8 to, __u8 size, __s32 at)
{
	add_long(code, to, BPF_PSEUDO_MAP_VALUE, MAP, at);
	add(code, BPF_LDX | BPF_MEM | size, to, to, 0, 0);
}

static void add_exit(struct code *code)
{
	add(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void begin_function(struct code *code)
{
	code->functions[code->function_count++] =
		(struct bpf_func_info) { code->count, 100 + code->function_count };
}

static void prune_code(struct code *code)
{
	code->count =
		prune(code->insns, code->count, code->functions, &code->function_count, &settings);
}

static void expect(const struct code *code, size_t at, __u8 op, __s16 off, __s32 imm)
{
	assert_int_equal(code->insns[at].code, op);
	assert_int_equal(code->insns[at].off, off);
	assert_int_equal(code->insns[at].imm, imm);
}

/* --- by hand --- */

static void test_a_way_that_is_off(void **state)
{
	struct code code = { 0 };

	begin_function(&code);
	add_setting(&code, 1, BPF_B, 0);			  /* 0: true */
	add(&code, BPF_JMP32 | BPF_JNE | BPF_K, 1, 0, 2, 0);	  /* 3 */
	add_move(&code, 0, 11);					  /* 4 */
	add(&code, BPF_JMP | BPF_JA, 0, 0, 1, 0);		  /* 5 */
	add_move(&code, 0, 22);					  /* 6 */
	add(&code, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1, 0);	  /* 7: not known */
	add(&code, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 4); /* 8 */
	add_exit(&code);					  /* 9 */
	begin_function(&code);					  /* is not called */
	add_move(&code, 0, 33);
	add(&code, BPF_JMP | BPF_JA, 0, 0, -2, 0);
	add_exit(&code);
	begin_function(&code);
	add_move(&code, 0, 44);
	add_exit(&code);
	prune_code(&code);

	assert_int_equal(code.count, 7);
	expect(&code, 0, BPF_ALU | BPF_MOV | BPF_K, 0, 1); /* the setting */
	expect(&code, 1, BPF_ALU64 | BPF_MOV | BPF_K, 0, 22);
	expect(&code, 2, BPF_JMP | BPF_JEQ | BPF_K, 1, 0);
	expect(&code, 3, BPF_JMP | BPF_CALL, 0, 1);
	expect(&code, 4, BPF_JMP | BPF_EXIT, 0, 0);
	expect(&code, 5, BPF_ALU64 | BPF_MOV | BPF_K, 0, 44);
	assert_int_equal(code.function_count, 2);
	assert_int_equal(code.functions[0].insn_off, 0);
	assert_int_equal(code.functions[1].insn_off, 5);
	assert_int_equal(code.functions[1].type_id, 103);
}

/* What two ways bring along is not known, nor what a call leaves. */
static void test_what_is_not_known_stays(void **state)
{
	struct code code = { 0 };

	add_setting(&code, 6, BPF_B, 0);
	add(&code, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1, 0); /* 3: r2 is not known */
	add_move(&code, 6, 0);
	add(&code, BPF_JMP | BPF_JNE | BPF_K, 6, 0, 5, 0); /* 5: by either way */
	add_setting(&code, 1, BPF_B, 0);
	add(&code, BPF_JMP | BPF_CALL, 0, 0, 0, 5);
	add(&code, BPF_JMP | BPF_JNE | BPF_K, 1, 0, 0, 0); /* 10 */
	add_exit(&code);
	prune_code(&code);
	assert_int_equal(code.count, 8);
	expect(&code, 1, BPF_JMP | BPF_JEQ | BPF_K, 1, 0);
	expect(&code, 3, BPF_JMP | BPF_JNE | BPF_K, 3, 0);
	expect(&code, 6, BPF_JMP | BPF_JNE | BPF_K, 0, 0);
}

/* Functions that are handed on, not called; and settings of other maps, or outside of ours. */
static void test_what_is_handed_on_stays(void **state)
{
	struct code code = { 0 };

	begin_function(&code);
	add_setting(&code, 1, BPF_B, 4);
	add(&code, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 2, 0x34);
	add_long(&code, 2, BPF_PSEUDO_MAP_VALUE, MAP + 1, 0); /* never comes to it */
	add_long(&code, 2, BPF_PSEUDO_FUNC, 6, 0);	      /* 6: at 13 */
	add_long(&code, 3, BPF_PSEUDO_MAP_VALUE, MAP, sizeof(bytes) - 1);
	add(&code, BPF_LDX | BPF_MEM | BPF_H, 3, 3, 0, 0); /* 10 */
	add(&code, BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 0, 0);
	add_exit(&code);
	begin_function(&code);
	add_exit(&code); /* 13 */
	prune_code(&code);
	assert_int_equal(code.count, 9);
	assert_int_equal(code.function_count, 2);
	assert_int_equal(code.functions[1].insn_off, 8);
	expect(&code, 1, BPF_LD | BPF_IMM | BPF_DW, 0, 6);
	expect(&code, 5, BPF_LDX | BPF_MEM | BPF_H, 0, 0);
}

/* Ways that lead outside: the kernel is to refuse it, as it is. Each follows one that is settled.
 */
static void test_no_program_stays(void **state)
{
	static const struct bpf_insn last[] = {
		{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, MAP }, /* half of it */
		{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_FUNC, 0, INT32_MAX },
		{ BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, INT32_MAX },
		{ BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, INT32_MIN },
		{ BPF_JMP | BPF_JA, 0, 0, 0, 0 },
		{ BPF_JMP | BPF_JA, 0, 0, INT16_MIN, 0 },
		{ BPF_JMP | BPF_JEQ | BPF_K, 2, 0, INT16_MAX, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		struct code code = { 0 };
		struct bpf_insn *exact;
		size_t size;

		begin_function(&code);
		add_setting(&code, 1, BPF_B, 0);
		add(&code, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0, 0);
		code.insns[code.count++] = last[i];
		size = code.count * sizeof(*exact);
		exact = malloc(size); /* nothing stands behind it */
		assert_non_null(exact);
		memcpy(exact, code.insns, size);
		assert_int_equal(
			prune(exact, code.count, code.functions, &code.function_count, &settings),
			code.count);
		assert_int_equal(code.function_count, 1);
		assert_memory_equal(&exact[code.count - 1], &last[i], sizeof(last[i]));
		free(exact);
	}
}

/* --- at random --- */

#define SETTINGS_AT 0x100000000ull
#define INSIDE(address) ((address)-SETTINGS_AT < sizeof(bytes))

struct outcome {
	uint64_t result, calls; /* a sum over what was called, with what, in order */
	size_t steps;
};

static bool jumps(__u8 op, uint64_t left, uint64_t right, bool narrow)
{
	int64_t one = narrow ? (int32_t)left : (int64_t)left;
	int64_t other = narrow ? (int32_t)right : (int64_t)right;

	if (narrow) {
		left = (uint32_t)left;
		right = (uint32_t)right;
	}
	return op == BPF_JEQ	? left == right
	       : op == BPF_JNE	? left != right
	       : op == BPF_JGT	? left > right
	       : op == BPF_JGE	? left >= right
	       : op == BPF_JLT	? left < right
	       : op == BPF_JLE	? left <= right
	       : op == BPF_JSET ? (left & right) != 0
	       : op == BPF_JSGT ? one > other
	       : op == BPF_JSGE ? one >= other
	       : op == BPF_JSLT ? one < other
				: one <= other;
}

/* Outside of the settings there is 0. */
static uint64_t load(uint64_t address, __u8 size)
{
	size_t length = size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8;
	uint64_t value = 0, at = address - SETTINGS_AT;

	if (at <= sizeof(bytes) - length)
		memcpy(&value, bytes + at, length);
	return value;
}

static struct outcome run(const struct code *code, uint64_t seed)
{
	struct outcome outcome = { 0 };
	uint64_t r[16];

	for (int i = 0; i < 16; i++)
		r[i] = next_random(&seed) & (i & 1 ? 1 : ~0ull);
	for (size_t at = 0; outcome.steps < 10 * ROOM; outcome.steps++) {
		const struct bpf_insn *insn = &code->insns[at++];
		__u8 class = BPF_CLASS(insn->code);
		uint64_t operand = BPF_SRC(insn->code) == BPF_X ? r[insn->src_reg]
								: (uint64_t)(int64_t)insn->imm;

		assert_true(at <= code->count);
		if (insn->code == (BPF_JMP | BPF_EXIT)) {
			outcome.result = r[0];
			return outcome;
		} else if (insn->code == (BPF_JMP | BPF_CALL)) {
			outcome.calls = outcome.calls * 31 + insn->imm + r[6];
			for (int i = 0; i < 6; i++)
				r[i] = outcome.calls + i;
		} else if (class == BPF_LD) {
			r[insn->dst_reg] = SETTINGS_AT + code->insns[at++].imm;
		} else if (class == BPF_LDX) {
			r[insn->dst_reg] = load(r[insn->src_reg] + insn->off, BPF_SIZE(insn->code));
		} else if (class == BPF_ALU || class == BPF_ALU64) {
			uint64_t *to = &r[insn->dst_reg];

			*to = BPF_OP(insn->code) == BPF_MOV ? operand : *to & operand;
			if (class == BPF_ALU)
				*to = (uint32_t)*to;
		} else if (insn->code == (BPF_JMP | BPF_JA) ||
			   jumps(BPF_OP(insn->code), r[insn->dst_reg], operand,
				 class == BPF_JMP32)) {
			at += insn->off;
		}
	}
	fail();
	return outcome;
}

/* Jumps go forward, so that it ends. */
static void make_code(struct code *code, uint64_t *random)
{
	static const __u8 ops[] = { BPF_JEQ,  BPF_JNE,	BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				    BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE };
	static const __u8 sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
	bool starts[ROOM + 1] = { 0 };

	begin_function(code);
	while (code->count < ROOM - 8) {
		uint64_t dice = next_random(random), to = dice >> 8 & 7, from = dice >> 11 & 7;
		__s32 value = dice >> 14 & 1 ? (int)(dice >> 15 & 3) - 1 : (int)(dice >> 20);
		__u8 wide = dice >> 60 & 1, by = dice >> 61 & 1 ? BPF_X : BPF_K;

		starts[code->count] = true;
		switch (dice % 8) {
		case 0:
			add_setting(code, to, sizes[dice >> 16 & 3], dice >> 18 & 31);
			starts[code->count - 1] = dice >> 62 & 1; /* may be jumped to */
			break;
		case 1:
			add_long(code, to, BPF_PSEUDO_MAP_VALUE, MAP, dice >> 18 & 15);
			break;
		case 2:
			add(code, BPF_LDX | BPF_MEM | sizes[dice >> 16 & 3], to, from,
			    dice >> 18 & 15, 0);
			break;
		case 3:
			add(code, (wide ? BPF_ALU64 : BPF_ALU) | BPF_MOV | by, to, by ? from : 0, 0,
			    by ? 0 : value);
			break;
		case 4:
			add(code, (wide ? BPF_ALU64 : BPF_ALU) | BPF_AND | by, to, by ? from : 0, 0,
			    by ? 0 : value);
			break;
		case 5:
			if (dice >> 63)
				add(code, BPF_JMP | BPF_CALL, 0, 0, 0, dice >> 16 & 15);
			else
				add(code, BPF_JMP | BPF_JA, 0, 0, dice >> 16 & 7, 0);
			break;
		default:
			add(code, (wide ? BPF_JMP : BPF_JMP32) | ops[(dice >> 24) % 11] | by, to,
			    by ? from : 0, dice >> 16 & 15, by ? 0 : value);
		}
	}
	while (code->count < ROOM) {
		starts[code->count] = true;
		add_exit(code);
	}
	for (size_t i = 0; i < ROOM; i++) {
		struct bpf_insn *insn = &code->insns[i];
		__u8 class = BPF_CLASS(insn->code);

		if ((class != BPF_JMP && class != BPF_JMP32) || BPF_OP(insn->code) == BPF_CALL ||
		    BPF_OP(insn->code) == BPF_EXIT)
			continue;
		while (i + 1 + insn->off >= ROOM || !starts[i + 1 + insn->off])
			insn->off += i + 1 + insn->off >= ROOM ? -1 : 1;
	}
}

static void test_programs_do_the_same(void **state)
{
	uint64_t random = 0x9e3779b97f4a7c15ull;
	size_t shorter = 0, quicker = 0;

	for (int round = 0; round < 20000; round++) {
		struct code code = { 0 }, before;
		struct outcome was, is;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = next_random(&random) % 3 ? next_random(&random) & 1
							    : next_random(&random);
		make_code(&code, &random);
		before = code;
		prune_code(&code);
		shorter += code.count < before.count;
		for (uint64_t seed = 1; seed < 6; seed++) {
			was = run(&before, seed);
			is = run(&code, seed);
			assert_int_equal(is.result, was.result);
			assert_int_equal(is.calls, was.calls);
			assert_true(is.steps <= was.steps);
			quicker += is.steps < was.steps;
		}
	}
	assert_true(shorter > 10000);
	assert_true(quicker > 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_way_that_is_off),
		cmocka_unit_test(test_what_is_not_known_stays),
		cmocka_unit_test(test_what_is_handed_on_stays),
		cmocka_unit_test(test_no_program_stays),
		cmocka_unit_test(test_programs_do_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
