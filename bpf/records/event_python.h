/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where an interpreter keeps the frames of its threads: filled in by the user side from the file of
 * the interpreter, and followed by the kernel side in the memory of its processes.
 */
#pragma once

#include "bpf/records/event_base.h"

/* Period of samples of a CPU: 49 Hz, so as not to alias with timers of 50 or 100 Hz. */
#define STACK_CPU_NS (1000000000 / 49)

#define PYTHON_FRAMES_MAX 128 /* of one stack: the innermost ones */

/* The largest parts of a frame and of a code object that are read at once. */
#define PYTHON_FRAME_BYTES 112
#define PYTHON_FRAME_BYTES_NEW 80 /* since 3.11 */
#define PYTHON_CODE_BYTES 160

#define PYTHON_NOWHERE 0xffff /* this version has no such field */

/* The thread is identified by its thread pointer, not by its thread id; up to 3.10. */
#define PYTHON_BY_THREAD_POINTER (1u << 0)
/* A frame holds the index of its instruction, not the address; up to 3.10. */
#define PYTHON_FRAME_HAS_INDEX (1u << 1)

/* Offsets in bytes, from the start of the struct that the first word names. */
struct python_layout {
	__s64 runtime; /* _PyRuntime, from the start of the file's mapping of code */
	__u16 version; /* 0x30b is 3.11; 0: not an interpreter, or not one that is known */
	__u16 flags;   /* PYTHON_* */
	__u16 runtime_interpreters;
	__u16 interpreter_next;
	__u16 interpreter_threads;
	__u16 thread_next;
	__u16 thread_id;
	__u16 thread_frame;
	__u16 cframe_frame; /* if the thread's frame is in a struct of its own */
	__u16 frame_code;
	__u16 frame_caller;
	__u16 frame_instruction;
	__u16 frame_owner;
	__u16 frame_owner_c; /* frames of this owner and above belong to C */
	__u16 code_line;     /* its first line */
	__u16 code_path;
	__u16 code_function;
	__u16 code_table;  /* of its lines */
	__u16 code_start;  /* its instructions, if they are in the object */
	__u16 text_ascii;  /* characters of an ASCII string */
	__u16 text_other;  /* characters of any other string */
	__u16 frame_entry; /* one byte, not 0 if C called the interpreter with this frame; 3.11 */
	/* Threads run copies of the instructions; free-threaded, since 3.14. */
	__u16 frame_copy;   /* which of them, as 4 bytes; 0 is the one in the object */
	__u16 code_copies;  /* a pointer to their addresses */
	__u16 object_bytes; /* what all objects begin with */
	__u16 text_shift;   /* in bits, of a string's state */
	__u16 pad[2];
};

EVENT_SIZE(python_layout, 64);

/* After its header, a str object has its length in characters (8 bytes), its hash (8) and its state
 * (4); a bytes object has its length (8) and its hash (8). */
#define PYTHON_TEXT_IS_ASCII(layout, state) ((state) >> (layout)->text_shift & 0x40)
#define PYTHON_TEXT_WIDTH(layout, state) ((state) >> (layout)->text_shift >> 2 & 7)
#define PYTHON_BYTES_CONTENT(layout) ((layout)->object_bytes + 16)

/* Since 3.14, a frame's pointer to its code has tags in these bits. */
#define PYTHON_CODE_TAGS 7ull

/* A file as the kernel identifies it. */
struct code_file {
	__u64 ino;
	__u32 dev;	  /* major << 20 | minor */
	__u32 generation; /* inode numbers are used again */
};

EVENT_SIZE(code_file, 16);

/* Where a process has mapped code of a file that may be an interpreter; all 0: nowhere. */
struct python_mapping {
	struct code_file file;
	__u64 address;
};

/* The program of a process, and the first library that may be an interpreter. If both are, a
 * program that exports the interpreter takes precedence, as it does for the dynamic loader. */
struct python_process {
	struct python_mapping program, library;
	__u64 asked_ns; /* time of the last question about a file that is not known */
};

EVENT_SIZE(python_process, 56);

/* A frame of a stack. */
struct python_frame {
	__u64 code;	   /* address of its code object */
	__u32 check;	   /* hash of the object's contents */
	__s32 instruction; /* in bytes from the first one; negative: before it */
};

EVENT_SIZE(python_frame, 16);
