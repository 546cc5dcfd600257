/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Metrics as text: OpenMetrics 1.0, or Prometheus' own format 0.0.4. Knows nothing of what they
 * tell.
 */
#ifndef FAULTLINE_MONITOR_OPENMETRICS_H
#define FAULTLINE_MONITOR_OPENMETRICS_H

#include "monitor/metrics.h"
#include "output/sink.h"

enum openmetrics_format { FORMAT_PROMETHEUS, FORMAT_OPENMETRICS };

/* What Prometheus calls it, and its type. */
void openmetrics_name(const struct metric *metric, char *out, size_t size);
const char *openmetrics_type_name(const struct metric *metric);

/* The format that an Accept header asks for (NULL: none was sent). */
enum openmetrics_format openmetrics_choose(const char *accept);
/* As a Content-Type header. */
const char *openmetrics_type(enum openmetrics_format format);

void openmetrics_write(const struct metric_source *source, enum openmetrics_format format,
		       struct sink *out);

/* Takes what the service knows, locked, into memory: `out` is a sink in memory. */
void openmetrics_render(struct service *service, uint64_t most_series,
			enum openmetrics_format format, struct sink *out);

#endif
