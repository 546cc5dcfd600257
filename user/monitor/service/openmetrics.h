/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Metrics as text: OpenMetrics 1.0, or Prometheus' own format 0.0.4. */
#pragma once

#include "monitor/service/metrics.h"
#include "output/base/sink.h"

enum openmetrics_format { FORMAT_PROMETHEUS, FORMAT_OPENMETRICS };

/* The metric's name and type in Prometheus. */
void openmetrics_name(const struct metric *metric, char *out, size_t size);
const char *openmetrics_type_name(const struct metric *metric);

/* Returns the format that an Accept header asks for (NULL: none was sent). */
enum openmetrics_format openmetrics_choose(const char *accept);
/* Returns the Content-Type. */
const char *openmetrics_type(enum openmetrics_format format);

void openmetrics_write(const struct metric_source *source, enum openmetrics_format format,
		       struct sink *out);

/* Writes the service's metrics to `out`, a memory sink, with the ledger locked. */
void openmetrics_render(struct service *service, uint64_t series_max,
			enum openmetrics_format format, struct sink *out);
