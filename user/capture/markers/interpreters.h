/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tells the kernel side where interpreters of Python keep their frames, file by file.
 */
#ifndef FAULTLINE_INTERPRETERS_H
#define FAULTLINE_INTERPRETERS_H

#include <stdint.h>

#include "bpf/records/event_python.h"

/* Maps of the kernel side; -1: the layer is off. */
struct interpreters {
	int files;     /* struct code_file to struct python_layout */
	int processes; /* pid to struct python_process */
};

/* Inspects a file, by an O_PATH descriptor, unless it is known. */
void interpreters_look(const struct interpreters *interpreters, const struct code_file *file,
		       int fd);

/* The same for a file that we found ourselves. Its name decides whether it is inspected. */
void interpreters_expect(const struct interpreters *interpreters, int fd);

/* Sets up a process that already ran, and has mapped code of the file at `address`. */
void interpreters_set_process(const struct interpreters *interpreters, uint32_t pid,
			      const struct code_file *file, uint64_t address, int fd);

#endif
