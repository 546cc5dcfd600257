/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What to record, from the words that a user gives. NULL means the default. An unknown word is
 * logged with the known ones, and -EINVAL returned.
 */
#ifndef FAULTLINE_SELECTION_H
#define FAULTLINE_SELECTION_H

#include "capture/probes.h"

/* "syscall,fault" to a mask of 1 << enum layer; LAYERS_DEFAULT by default. */
int selection_layers(const char *list, unsigned int *mask);
/* "reg,dir" or "all" to a mask of FILE_CLASS_*; reg,dir,blk by default. */
int selection_file_types(const char *list, unsigned int *mask);
/* "fault=kprobe+perf,syscall=tp": the variant of each layer that takes no other. */
int selection_variants(const char *list, struct forced_variants *forced);
/* Prints all of them, if that is what the word asks for; else false. */
bool selection_lists_variants(const char *word);

#endif
