/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Samples of faultline top. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/frame.h"
#include "top/sample.h"

#define SECOND 1000000000ull

/* The service's JSON with every counter multiplied by `times`. */
static char *json_of(unsigned int readings, unsigned int times, const char *command)
{
	static const char methods[] =
		"[{\"op\":\"read\",\"method\":\"syscall\",\"count\":%u,\"errors\":%u,\"bytes\":%u,"
		"\"fetched_bytes\":%u,\"major_faults\":0,\"time_ns\":%u,"
		"\"latencies\":[0,0,%u,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,%u,0,0,0,0,0,0,0,0,0,0,0]}"
		","
		"{\"op\":\"read\",\"method\":\"mmap\",\"count\":%u,\"bytes\":%u,\"fetched_bytes\":%"
		"u,"
		"\"major_faults\":%u,\"time_ns\":%u},"
		"{\"op\":\"write\",\"method\":\"io_uring\",\"count\":%u,\"bytes\":%u,\"time_ns\":0}"
		","
		"{\"op\":\"sync\",\"method\":\"syscall\",\"count\":%u,\"time_ns\":0},"
		"{\"op\":\"of a later version\",\"method\":\"syscall\",\"count\":7}]";
	unsigned int t = times;
	char sums[2048], *text;

	snprintf(sums, sizeof(sums), methods, 1000 * t, 2 * t, 4096000 * t, 409600 * t,
		 100000000 * t, 995 * t, 5 * t, 30 * t, 120000 * t, 300000 * t, 20 * t,
		 90000000 * t, 10 * t, 40960 * t, 4 * t);
	assert_true(
		asprintf(&text,
			 "{\"schema\":2,\"time_unix_ns\":5,\"read_ns\":%llu,"
			 "\"readings\":%u,\"node\":{\"methods\":%s},\"jobs_left_out\":3,\"jobs\":["
			 "{\"id\":7,\"cgroup\":\"/system.slice/"
			 "train.service\",\"living\":4,\"user\":\"ann\","
			 "\"methods\":%s,\"processes\":[{\"pid\":42,\"start_ns\":5,\"program\":"
			 "\"p\","
			 "\"command\":\"%s\",\"methods\":%s}],\"files\":[{\"path\":\"/data/"
			 "tokens.bin\""
			 ",\"dev\":1,\"ino\":2,\"methods\":%s}],\"other_files\":{\"folded\":11}},"
			 "{\"id\":3,\"cgroup\":\"/x\",\"slurm_job\":\"123\",\"slurm_step\":\"0\","
			 "\"methods\":[],\"processes\":[],\"files\":[]}]}",
			 (100 + 2 * (unsigned long long)readings) * SECOND, readings, sums, sums,
			 command, sums, sums) > 0);
	return text;
}

static struct top_sample parsed(const char *text)
{
	struct top_sample sample;

	assert_int_equal(top_sample_parse(&sample, text, strlen(text)), 0);
	return sample;
}

static struct top_sample sample_of(unsigned int readings, unsigned int times, const char *command)
{
	char *text = json_of(readings, times, command);
	struct top_sample sample = parsed(text);

	free(text);
	return sample;
}
