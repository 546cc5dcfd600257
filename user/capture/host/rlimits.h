/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Resource limits of processes that read hostile files. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

/* Sets both limits of this process. */
void rlimits_set(__rlimit_resource_t resource, rlim_t limit);
/* Limits its memory to what it has mapped already (much under a sanitizer) and as many bytes more.
 */
void rlimits_set_memory(uint64_t more_bytes);
