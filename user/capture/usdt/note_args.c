/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parses a marker's arguments as the assembler wrote them into the note: for each, its size
 * (negative: signed), an @ and an operand.
 */
#include "capture/usdt/notes.h"

#include <asm/ptrace.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool take_char(const char **text, char wanted)
{
	while (**text == ' ')
		++*text;
	if (**text != wanted)
		return false;
	++*text;
	return true;
}

static bool take_number(const char **text, __s64 *value)
{
	char *end;

	errno = 0;
	*value = strtoll(*text, &end, 0);
	if (errno == ERANGE) { /* a constant above INT64_MAX */
		errno = 0;
		*value = strtoull(*text, &end, 0);
	}
	if (errno || end == *text)
		return false;
	*text = end;
	return true;
}

static size_t word_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]))
		length++;
	return length;
}

#if defined(__x86_64__)

static const struct {
	const char *names[4];
	__u16 offset;
} registers[] = {
#define REGISTER(field, ...)                                                                       \
	{                                                                                          \
		{ __VA_ARGS__ }, offsetof(struct pt_regs, field)                                   \
	}
	REGISTER(rax, "rax", "eax", "ax", "al"),      REGISTER(rbx, "rbx", "ebx", "bx", "bl"),
	REGISTER(rcx, "rcx", "ecx", "cx", "cl"),      REGISTER(rdx, "rdx", "edx", "dx", "dl"),
	REGISTER(rsi, "rsi", "esi", "si", "sil"),     REGISTER(rdi, "rdi", "edi", "di", "dil"),
	REGISTER(rbp, "rbp", "ebp", "bp", "bpl"),     REGISTER(rsp, "rsp", "esp", "sp", "spl"),
	REGISTER(r8, "r8", "r8d", "r8w", "r8b"),      REGISTER(r9, "r9", "r9d", "r9w", "r9b"),
	REGISTER(r10, "r10", "r10d", "r10w", "r10b"), REGISTER(r11, "r11", "r11d", "r11w", "r11b"),
	REGISTER(r12, "r12", "r12d", "r12w", "r12b"), REGISTER(r13, "r13", "r13d", "r13w", "r13b"),
	REGISTER(r14, "r14", "r14d", "r14w", "r14b"), REGISTER(r15, "r15", "r15d", "r15w", "r15b"),
};

static bool take_register(const char **text, __u16 *offset)
{
	size_t length;

	if (!take_char(text, '%'))
		return false;
	length = word_length(*text);
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		for (size_t j = 0; j < 4; j++)
			if (strlen(registers[i].names[j]) == length &&
			    !memcmp(registers[i].names[j], *text, length)) {
				*offset = registers[i].offset;
				*text += length;
				return true;
			}
	return false;
}

/* %rax, $5, -16(%rbp), (%rax,%rbx,8) */
static bool take_operand(const char **text, struct marker_arg *arg)
{
	__s64 scale = 1;

	if (**text == '%') {
		arg->source = MARKER_REGISTER;
		return take_register(text, &arg->base);
	}
	if (take_char(text, '$')) {
		arg->source = MARKER_CONSTANT;
		return take_number(text, &arg->value);
	}
	arg->source = MARKER_MEMORY;
	if (**text != '(' && !take_number(text, &arg->value))
		return false;
	if (!take_char(text, '(') || !take_register(text, &arg->base))
		return false;
	if (take_char(text, ',')) {
		if (!take_register(text, &arg->index) ||
		    (take_char(text, ',') && !take_number(text, &scale)))
			return false;
		if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
			return false;
		arg->scale = scale;
	}
	return take_char(text, ')');
}

#elif defined(__aarch64__)

static bool take_register(const char **text, __u16 *offset)
{
	size_t length;
	char *end;
	long number;

	while (**text == ' ')
		++*text;
	length = word_length(*text);
	if (length == 2 && !memcmp(*text, "sp", 2)) {
		*offset = offsetof(struct user_pt_regs, sp);
		*text += length;
		return true;
	}
	if (length < 2 || (**text != 'x' && **text != 'w') || !isdigit((unsigned char)(*text)[1]))
		return false;
	number = strtol(*text + 1, &end, 10);
	if (end != *text + length || number > 30)
		return false;
	*offset = offsetof(struct user_pt_regs, regs) + number * 8;
	*text = end;
	return true;
}

/* x0, 5, [sp, 16], [x0, x1] */
static bool take_operand(const char **text, struct marker_arg *arg)
{
	if (isalpha((unsigned char)**text)) {
		arg->source = MARKER_REGISTER;
		return take_register(text, &arg->base);
	}
	if (!take_char(text, '[')) {
		arg->source = MARKER_CONSTANT;
		return take_number(text, &arg->value);
	}
	arg->source = MARKER_MEMORY;
	if (!take_register(text, &arg->base))
		return false;
	if (take_char(text, ',')) {
		if (take_register(text, &arg->index))
			arg->scale = 1;
		else if (!take_number(text, &arg->value))
			return false;
	}
	return take_char(text, ']');
}

#else
#error "only x86-64 and arm64 are supported"
#endif

static bool take_argument(const char **text, struct marker_arg *arg)
{
	__s64 bytes;

	*arg = (struct marker_arg) { 0 };
	if (!take_number(text, &bytes) || !take_char(text, '@'))
		return false;
	arg->is_signed = bytes < 0;
	if (bytes < 0)
		bytes = -bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	arg->bytes = bytes;
	return take_operand(text, arg);
}

int notes_arguments(const char *text, struct marker_arg args[MARKER_ARGS_MAX])
{
	int count = 0;

	memset(args, 0, MARKER_ARGS_MAX * sizeof(*args));
	for (;;) {
		while (*text == ' ')
			text++;
		if (!*text)
			return count;
		if (count == MARKER_ARGS_MAX || !take_argument(&text, &args[count]))
			return -ENOTSUP;
		if (*text && *text != ' ')
			return -ENOTSUP;
		count++;
	}
}
