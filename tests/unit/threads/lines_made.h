/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A run with stacks, for tests of lines. Include after cmocka.h. */
#pragma once

#include "ask_report.h"

#define MS 1000000ull
#define S 1000000000ull
#define LOADER "/job/loader.py"
#define TORCH "/usr/lib/python3/dist-packages/torch/utils.py"

enum { STACK_MAIN = 1, STACK_ITEM, STACK_LIBRARY, STACK_FROZEN, STACK_TEXT };

/* Stacks of a trace; `first` is added to all ids. */
MADE void add_stacks(struct made_trace *made, uint64_t first)
{
	made_frame(made, 1, first + 1, "/job/train.py", 9, "<module>");
	made_frame(made, 1, first + 2, LOADER, 42, "TokenDataset.__getitem__");
	made_frame(made, 1, first + 3, TORCH, 7, "load");
	made_frame(made, 1, first + 4, "<frozen importlib._bootstrap>", 100, "_load");
	made_frame(made, 1, first + 5, "<string>", 1, "<module>");
	made_stack(made, 1, first + STACK_MAIN, 0, first + 1);
	made_stack(made, 1, first + STACK_ITEM, first + STACK_MAIN, first + 2);
	made_stack(made, 1, first + STACK_LIBRARY, first + STACK_ITEM, first + 3);
	made_stack(made, 1, first + STACK_FROZEN, 0, first + 4);
	made_stack(made, 1, first + STACK_TEXT, first + STACK_FROZEN, first + 5);
}

MADE void begin(struct made_trace *made)
{
	BEGIN(made, .stacks = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "train", .command = "train", .rank = 3);
	FILE_ROW(made, .id = 1, .dev = 1, .ino = 1, .path = "/data/a.bin");
	FILE_ROW(made, .id = 2, .dev = 1, .ino = 2, .path = "/data/b.bin");
	add_stacks(made, 0);
}
