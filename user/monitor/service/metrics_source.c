/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills the source of all metrics from the service. */
#include "monitor/service/metrics.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file && fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

void metrics_fill_source(struct metric_source *source, struct service *service, uint64_t series_max)
{
	struct ledger *ledger = service_ledger(service);
	struct timespec cpu;

	memset(source, 0, sizeof(*source));
	service_look(service, &source->facts);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	source->cpu_ns = cpu.tv_sec * 1000000000ull + cpu.tv_nsec;
	source->resident_bytes = resident_bytes();
	source->series_max = series_max;
	source->node = ledger_node(ledger);
	source->jobs = ledger_jobs(ledger);
	for (const struct ledger_job *job = source->jobs; job; job = job->next) {
		source->job_count++;
		source->process_count += job->process_count;
	}
}
