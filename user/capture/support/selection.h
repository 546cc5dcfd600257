/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parses what to record. NULL means the default. For an unknown word, logs it with the known ones
 * and returns -EINVAL.
 */
#pragma once

#include "capture/support/probes.h"

/* "syscall,fault" to a mask of 1 << enum layer. The caller sets the mask to what "default" means. */
int selection_layers(const char *list, unsigned int *mask);
/* The same for "reg,dir" and FILE_CLASS_*; the default is reg,dir,blk, whatever the mask was. */
int selection_file_types(const char *list, unsigned int *mask);
/* "fault=kprobe+perf,syscall=tp": the variant that each of these layers must use. */
int selection_variants(const char *list, struct forced_variants *forced);
/* Prints all variants if the word is "list"; otherwise returns false. */
bool selection_lists_variants(const char *word);
