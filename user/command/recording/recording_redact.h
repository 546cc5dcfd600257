/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options of commands whose traces may be redacted. */
#pragma once

#include <stdbool.h>

#include "command/common/options.h"
#include "trace/write/redact.h"

/* Values given by the user. */
struct redact_given {
	const char *key; /* a file; NULL: a random key */
	bool redact;
};

/* Fields of a struct redact_given. */
extern const struct option_rows redact_rows;

/* Makes the key, if the traces are to be redacted. Returns 0, or a negative errno after a line. */
int recording_redact_choose(const struct redact_given *given, struct redaction *redaction);
