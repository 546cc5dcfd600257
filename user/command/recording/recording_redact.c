/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "command/recording/recording_redact.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

#define FIELD(name) offsetof(struct redact_given, name)

static const struct option_row rows[] = {
	{ 0, "redact", NULL, OPTION_FLAG, FIELD(redact),
	  "Hash the names of files, directories, programs, functions and cgroups in traces, and "
	  "leave out command lines. System directories and well-known extensions stay." },
	{ 0, "redact-key", "FILE", OPTION_STRING, FIELD(key),
	  "With --redact: make hashes from the content of FILE, at least 16 bytes, so that several "
	  "traces agree. Default: a random key." },
};

const struct option_rows redact_rows = OPTION_ROWS(rows);

int recording_redact_choose(const struct redact_given *given, struct redaction *redaction)
{
	int err;

	if (!given->redact) {
		if (given->key)
			log_error("--redact-key requires --redact");
		return given->key ? -EINVAL : 0;
	}
	err = given->key ? redaction_from_file(redaction, given->key) : redaction_random(redaction);
	if (err == -EINVAL)
		log_error("--redact-key %s: a key has at least 16 bytes", given->key);
	else if (err)
		log_error("--redact: cannot read %s: %s", given->key ? given->key : "random bytes",
			  strerror(-err));
	return err;
}
