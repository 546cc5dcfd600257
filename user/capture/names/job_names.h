/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of containers, pods and Slurm jobs, from what kubelet, container engines and Slurm leave on
 * the node. Nobody is asked over a socket or the network.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_ID_BYTES 72
#define JOB_NAME_BYTES 256 /* of a name, NUL included; longer ones are unknown */

/* What a cgroup's path says of a job; each is "" if absent. */
struct job_ids {
	char container[JOB_ID_BYTES]; /* 64 hexadecimal digits */
	char pod[JOB_ID_BYTES];	      /* uid */
	char slurm_job[16];
};

enum job_name {
	JOB_NAMESPACE, /* of the pod */
	JOB_POD,
	JOB_CONTAINER,
	JOB_IMAGE, /* as named when the container was created; may be an id */
	JOB_SLURM_NAME,
	JOB_SLURM_USER,
	JOB_NAMES
};

/* Each is "" if unknown. Arbitrary bytes: users choose most of them. */
struct job_names {
	char text[JOB_NAMES][JOB_NAME_BYTES];
};

/* Returns whether names are missing that a job with these ids should have. */
bool job_names_lack(const struct job_ids *ids, const struct job_names *names);

/*
 * Adds the missing names. `root` is a file descriptor of the node's root directory, and `pid` a
 * process of the job (0: none), whose environment names a Slurm job. What cannot be found stays
 * unknown.
 */
void job_names_read(int root, const struct job_ids *ids, uint32_t pid, struct job_names *names);

/* Adds names of the Slurm job from an environment, unless it is that of another job. */
void job_names_of_environment(const char *environment, size_t bytes, const char *slurm_job,
			      struct job_names *names);
