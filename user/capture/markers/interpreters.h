/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Gives the kernel side the layout of each Python interpreter. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/records/event_python.h"

#define REFUSED_INTERPRETERS_MAX 8

/* Interpreters without stacks, in memory that the tracer may share. */
struct refused_interpreters {
	_Atomic uint32_t count; /* of those below */
	_Atomic uint32_t more;	/* questions about others */
	struct {
		int status; /* -ENOTSUP, -ENODATA: see python_layout_find */
		char path[256];
	} files[REFUSED_INTERPRETERS_MAX];
};

struct interpreters {
	/* Maps of the kernel side; -1: the layer is off. */
	int files;     /* struct code_file to struct python_layout */
	int processes; /* pid to struct python_process */
	struct refused_interpreters *refused;
};

/* Returns the generation of a file's inode number, from an O_PATH descriptor; 0: its file system
 * has none. */
uint32_t interpreters_generation(int fd);

/* Inspects a file, by an O_PATH descriptor, unless it is known. After an error that may pass, it is
 * inspected when the kernel side asks again. */
void interpreters_look(const struct interpreters *interpreters, const struct code_file *file,
		       int fd);

/* The same for a file that we found ourselves and that may never run. Its name decides whether it
 * is inspected. */
void interpreters_expect(const struct interpreters *interpreters, int fd);

/* Gets the path where the library of a program that is an interpreter is installed, if it has one:
 * for BIN/python3.12, BIN/../lib/libpython3.12.so.1.0. `directory`: lib, or lib64. Returns false if
 * by its name the program is no interpreter. */
bool interpreters_library(int fd, const char *directory, char path[PATH_MAX]);

/* Sets up a process that already ran, and has mapped code of the file at `address`. */
void interpreters_set_process(const struct interpreters *interpreters, uint32_t pid,
			      const struct code_file *file, uint64_t address, int fd);
