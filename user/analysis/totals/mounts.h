/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Caveats on file systems with servers. Each function writes its caveat, or nothing. */
#pragma once

#include "analysis/shared/results.h"
#include "base/strbuf.h"

/* Files on mounts with servers were used, but requests to these were not recorded. */
void mounts_say_unrecorded(struct strbuf *text, const struct results *results);
/* Files on FILE_SYSTEM_REMOTE were used: says which parts of their I/O are recorded. */
void mounts_say_servers(struct strbuf *text, const struct results *results);
