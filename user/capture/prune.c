/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Settings are followed from where their address is loaded to where a jump goes by them, no farther
 * than to the next place that is jumped to: that is how compilers leave what is read anew each
 * time.
 */
#include "capture/prune.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IS_LONG(insn) ((insn)->code == (BPF_LD | BPF_IMM | BPF_DW)) /* takes two */

/* Of an instruction. */
#define JUMPED_TO 1u
#define REACHED 2u
#define LEFT_OUT 4u /* reached, but does nothing */

struct pruned_program {
	struct bpf_insn *insns;
	size_t count;
	const struct prune_settings *settings;
	uint8_t *marks;
	uint32_t *places; /* where an instruction comes to stand; before: what is to be looked at */
};

/* What is known of a register. */
struct known_value {
	enum { ANYTHING, ADDRESS, NUMBER } kind;
	uint64_t value; /* of an address: how far into the settings */
};

static bool is_jump(const struct bpf_insn *insn)
{
	__u8 class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static bool is_goto(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_JA);
}

/* Where a function that the instruction calls, or hands on, begins relative to it; 0: none. */
static int64_t function_ahead(const struct bpf_insn *insn)
{
	if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL)
		return (int64_t)insn->imm + 1;
	if (IS_LONG(insn) && insn->src_reg == BPF_PSEUDO_FUNC)
		return (int64_t)insn->imm + 1;
	return 0;
}

/* --- jumps by settings --- */

static bool is_taken(__u8 op, uint64_t left, uint64_t right)
{
	switch (op) {
	case BPF_JEQ:
		return left == right;
	case BPF_JNE:
		return left != right;
	case BPF_JGT:
		return left > right;
	case BPF_JGE:
		return left >= right;
	case BPF_JLT:
		return left < right;
	case BPF_JLE:
		return left <= right;
	case BPF_JSET:
		return left & right;
	case BPF_JSGT:
		return (int64_t)left > (int64_t)right;
	case BPF_JSGE:
		return (int64_t)left >= (int64_t)right;
	case BPF_JSLT:
		return (int64_t)left < (int64_t)right;
	default:
		return (int64_t)left <= (int64_t)right;
	}
}

/* Makes a jump that always goes the same way one that does not ask. */
static void settle_jump(struct bpf_insn *insn, const struct known_value *registers)
{
	struct known_value left = registers[insn->dst_reg];
	struct known_value right = { NUMBER, (int64_t)insn->imm };

	if (is_goto(insn))
		return;
	if (BPF_SRC(insn->code) == BPF_X)
		right = registers[insn->src_reg];
	if (left.kind != NUMBER || right.kind != NUMBER)
		return;
	if (BPF_CLASS(insn->code) == BPF_JMP32) {
		left.value = (int64_t)(int32_t)left.value;
		right.value = (int64_t)(int32_t)right.value;
	}
	*insn = (struct bpf_insn) {
		.code = BPF_JMP | BPF_JA,
		.off = is_taken(BPF_OP(insn->code), left.value, right.value) ? insn->off : 0,
	};
}

/* Makes a load of a setting what it finds. */
static struct known_value settle_load(struct bpf_insn *insn, struct known_value from,
				      const struct prune_settings *settings)
{
	static const size_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8
	};
	size_t size = sizes[BPF_SIZE(insn->code) >> 3], at = from.value + insn->off;
	struct known_value found = { NUMBER, 0 };

	if (from.kind != ADDRESS || BPF_MODE(insn->code) != BPF_MEM || at > settings->length ||
	    size > settings->length - at)
		return (struct known_value) { ANYTHING };
	memcpy(&found.value, (const char *)settings->bytes + at, size);
	if (found.value <= UINT32_MAX)
		*insn = (struct bpf_insn) { .code = BPF_ALU | BPF_MOV | BPF_K,
					    .dst_reg = insn->dst_reg,
					    .imm = found.value };
	return found;
}

static struct known_value moved(const struct bpf_insn *insn, const struct known_value *registers)
{
	struct known_value value = { NUMBER, (int64_t)insn->imm };

	if (BPF_OP(insn->code) != BPF_MOV || insn->off)
		return (struct known_value) { ANYTHING };
	if (BPF_SRC(insn->code) == BPF_X)
		value = registers[insn->src_reg];
	if (BPF_CLASS(insn->code) == BPF_ALU64)
		return value;
	value.value = (uint32_t)value.value;
	return value.kind == NUMBER ? value : (struct known_value) { ANYTHING };
}

static struct known_value loaded_long(const struct bpf_insn *insn,
				      const struct prune_settings *settings)
{
	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE && insn->imm == settings->map_fd)
		return (struct known_value) { ADDRESS, (uint32_t)insn[1].imm };
	return (struct known_value) { ANYTHING };
}

/* Follows an instruction that does not jump; true if it was a load of a setting, and is none. */
static bool follow(struct bpf_insn *insn, struct known_value *registers,
		   const struct prune_settings *settings)
{
	__u8 class = BPF_CLASS(insn->code);

	switch (class) {
	case BPF_LD:
		registers[insn->dst_reg] = IS_LONG(insn) ? loaded_long(insn, settings)
							 : (struct known_value) { ANYTHING };
		break;
	case BPF_LDX:
		registers[insn->dst_reg] = settle_load(insn, registers[insn->src_reg], settings);
		break;
	case BPF_ALU:
	case BPF_ALU64:
		registers[insn->dst_reg] = moved(insn, registers);
		break;
	case BPF_STX: /* some exchange what they find for a register */
		if (BPF_MODE(insn->code) == BPF_ATOMIC) {
			registers[insn->src_reg].kind = ANYTHING;
			registers[BPF_REG_0].kind = ANYTHING;
		}
		break;
	case BPF_JMP: /* a call */
		for (int r = BPF_REG_0; r <= BPF_REG_5; r++)
			registers[r].kind = ANYTHING;
	}
	return class != BPF_CLASS(insn->code);
}

/* Leaves out what loads the address of a setting, where the setting has taken its register. */
static void leave_address_out(struct pruned_program *program, size_t load)
{
	const struct bpf_insn *insn = &program->insns[load];

	if (load < 2 || program->marks[load] & JUMPED_TO || !IS_LONG(insn - 2) ||
	    insn[-2].dst_reg != insn->dst_reg)
		return;
	program->marks[load - 2] |= LEFT_OUT;
	program->marks[load - 1] |= LEFT_OUT;
}

/* The last instruction ends a function, or goes back: there is nothing to settle. */
static void settle(struct pruned_program *program)
{
	struct known_value registers[16];

	for (size_t i = 0; i + 1 < program->count; i++) {
		struct bpf_insn *insn = &program->insns[i];

		if (program->marks[i] & JUMPED_TO)
			memset(registers, 0, sizeof(registers));
		if (is_jump(insn))
			settle_jump(insn, registers);
		else if (follow(insn, registers, program->settings))
			leave_address_out(program, i);
		i += IS_LONG(insn);
	}
}

/* --- what is left --- */

/* Marks a place that is gone on from; false: it lies outside. */
static bool reach(struct pruned_program *program, size_t place, size_t *waiting)
{
	if (place >= program->count)
		return false;
	if (!(program->marks[place] & REACHED)) {
		program->marks[place] |= REACHED;
		program->places[(*waiting)++] = place;
	}
	return true;
}

/* Marks everything that a way leads to. Each place waits once at most. */
static bool reach_all(struct pruned_program *program)
{
	size_t waiting = 0;
	bool inside = reach(program, 0, &waiting);

	while (inside && waiting) {
		size_t i = program->places[--waiting];
		const struct bpf_insn *insn = &program->insns[i];
		int64_t ahead = function_ahead(insn);

		if (ahead)
			inside = reach(program, i + ahead, &waiting);
		if (inside && is_jump(insn))
			inside = reach(program, i + 1 + insn->off, &waiting);
		if (IS_LONG(insn) && i + 1 < program->count)
			program->marks[++i] |= REACHED;
		if (inside && !is_goto(insn) && insn->code != (BPF_JMP | BPF_EXIT))
			inside = reach(program, i + 1, &waiting);
	}
	return inside;
}

static bool stays(const struct pruned_program *program, size_t place)
{
	return (program->marks[place] & (REACHED | LEFT_OUT)) == REACHED;
}

/* Leaves out what goes on where it would go on anyway, and tells where what stays comes to stand:
 * what goes away stands where the next one that stays does. */
static size_t place_all(struct pruned_program *program)
{
	size_t next = program->count, left = 0;

	/* Here places are those of the next ones that stay, as they are numbered now. */
	for (size_t i = program->count; i-- > 0;) {
		const struct bpf_insn *insn = &program->insns[i];

		if (program->marks[i] & REACHED && is_goto(insn) && insn->off >= 0 &&
		    next < program->count && program->places[i + 1 + insn->off] == next)
			program->marks[i] |= LEFT_OUT;
		if (stays(program, i))
			next = i;
		program->places[i] = next;
	}
	for (size_t i = 0; i < program->count; i++) {
		program->places[i] = left;
		left += stays(program, i);
	}
	return left;
}

static void move_all(struct pruned_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		struct bpf_insn *insn = &program->insns[i];
		uint32_t place = program->places[i];
		int64_t ahead = function_ahead(insn);

		if (!stays(program, i))
			continue;
		if (ahead)
			insn->imm = program->places[i + ahead] - place - 1;
		if (is_jump(insn))
			insn->off = program->places[i + 1 + insn->off] - place - 1;
		program->insns[place] = *insn;
		if (IS_LONG(insn))
			program->insns[place + 1] = program->insns[++i];
	}
}

static void move_functions(const struct pruned_program *program, struct bpf_func_info *functions,
			   __u32 *count)
{
	__u32 left = 0;

	for (__u32 i = 0; i < *count; i++) {
		__u32 at = functions[i].insn_off;

		if (at >= program->count || !(program->marks[at] & REACHED))
			continue;
		functions[left] = functions[i];
		functions[left++].insn_off = program->places[at];
	}
	*count = left;
}

/* Marks where jumps and functions go, and the beginning. */
static void mark_targets(struct pruned_program *program)
{
	program->marks[0] |= JUMPED_TO;
	for (size_t i = 0; i < program->count; i++) {
		const struct bpf_insn *insn = &program->insns[i];
		int64_t ahead = is_jump(insn) ? insn->off + 1 : function_ahead(insn);

		if (ahead && i + ahead < program->count)
			program->marks[i + ahead] |= JUMPED_TO;
		i += IS_LONG(insn);
	}
}

size_t prune(struct bpf_insn *insns, size_t count, struct bpf_func_info *functions,
	     __u32 *function_count, const struct prune_settings *settings)
{
	struct pruned_program program = { .insns = insns, .count = count, .settings = settings };
	size_t left = count;

	program.marks = calloc(count, sizeof(*program.marks));
	program.places = calloc(count, sizeof(*program.places));
	if (program.marks && program.places && count) {
		mark_targets(&program);
		settle(&program);
		if (reach_all(&program)) {
			left = place_all(&program);
			move_all(&program);
			move_functions(&program, functions, function_count);
		}
	}
	free(program.marks);
	free(program.places);
	return left;
}
