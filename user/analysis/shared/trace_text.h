/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Converts trace strings to table texts. */
#pragma once

#include "analysis/table/table.h"
#include "trace/read/reader.h"

/* An empty string becomes a null text. */
static inline struct table_text trace_text(struct trace_string string)
{
	return (struct table_text) { string.length ? string.bytes : NULL, string.length };
}
