// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Containers and jobs from cgroup paths: those that engines create, and lookalikes. */
#include "unit_test.h"

#include <string.h>

#include "capture/names/cgroup_names.h"

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdee"

static const struct {
	const char *path, *id;
	bool is;
} containers[] = {
	{ "/system.slice/docker-" NUMBER ".scope", NUMBER, true },
	{ "/system.slice/docker-" NUMBER ".scope", "0123456789ab", true },
	{ "/system.slice/docker-" NUMBER ".scope", "012345", true },
	{ "/system.slice/docker-" NUMBER ".scope", "01234", false },
	{ "/system.slice/docker-" NUMBER ".scope", OTHER, false },
	{ "/system.slice/docker-" NUMBER ".scope", "0123456789ac", false },
	{ "/system.slice/docker-" NUMBER ".scope", NUMBER "0", false },
	{ "/system.slice/docker-" NUMBER ".scope", "", false },
	{ "/system.slice/docker-" NUMBER ".scope/init.scope", NUMBER, false },
	{ "/system.slice/docker-" NUMBER ".scopes", NUMBER, false },
	{ "/system.slice/docker-" NUMBER "0.scope", NUMBER, false },
	{ "/system.slice/docker-012345.scope", "012345", false },
	{ "/docker/" NUMBER, "0123456789ab", true },
	{ "/user.slice/" NUMBER, "0123456789ab", false },
	{ "/kubepods/burstable/pod6f1e/" NUMBER, NUMBER, true },
	{ "/kubepods/burstable/pod6f1e", "pod6f1e", false },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod6f1e.slice/"
	  "cri-containerd-" NUMBER ".scope",
	  "0123456789abcdef", true },
	{ "/kubepods.slice/kubepods-pod6f1e.slice/crio-" NUMBER ".scope", NUMBER, true },
	{ "/kubepods.slice/kubepods-pod6f1e.slice/crio-conmon-" NUMBER ".scope", NUMBER, false },
	{ "/machine.slice/libpod-" NUMBER ".scope", NUMBER, true },
	{ "/machine.slice/libpod-conmon-" NUMBER ".scope", NUMBER, false },
	{ "/system.slice/nerdctl-" NUMBER ".scope", NUMBER, true },
	{ "/default/" NUMBER, NUMBER, true },
	{ "/lxc/web", "web", true },
	{ "/lxc.payload.web", "web", true },
	{ "/lxc.payload.web", "we", false },
	{ "/lxc.payload.web/system.slice", "web", false },
	{ "/lxc.payload.web", ".", false },
	{ "/machine.slice/systemd-nspawn@web.service", "web", true },
	{ "/machine.slice/machine-web.scope", "web", true },
	{ "/system.slice/machine-web.scope", "web", false },
	{ "/", NUMBER, false },
	{ "", "web", false },
};

static const struct {
	const char *path, *id;
	bool is;
} jobs[] = {
	{ "/system.slice/slurmstepd.scope/job_123", "123", true },
	{ "/system.slice/slurmstepd.scope/job_123", "12", false },
	{ "/system.slice/slurmstepd.scope/job_123", "1234", false },
	{ "/system.slice/slurmstepd.scope/job_123/step_0", "123", false },
	{ "/system.slice/slurmstepd.scope/job_123/step_0", "123.0", true },
	{ "/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", "123.0", false },
	{ "/system.slice/slurmstepd.scope/job_123/step_batch", "123.batch", true },
	{ "/system.slice/slurmstepd.scope/job_123/step_extern", "123.batch", false },
	{ "/system.slice/node7_slurmstepd.scope/job_123", "123", true },
	{ "/slurm/uid_1000/job_123", "123", true },
	{ "/slurm_node7/uid_1000/job_123/step_4", "123.4", true },
	{ "/user.slice/job_123", "123", false },
	{ "/user.slice/job_123/slurm", "123", false },
	{ "/job_123", "123", false },
	{ "/", "123", false },
};

TEST(test_containers)
{
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++)
		if (cgroup_is_container(containers[i].path, containers[i].id) != containers[i].is)
			fail_msg("%s %s %s", containers[i].path, containers[i].is ? "is" : "is not",
				 containers[i].id);
}

TEST(test_jobs)
{
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		if (cgroup_is_slurm(jobs[i].path, jobs[i].id) != jobs[i].is)
			fail_msg("%s %s %s", jobs[i].path, jobs[i].is ? "is" : "is not",
				 jobs[i].id);
}

TEST(test_numbers_of_jobs)
{
	static const char *const good[] = { "1",       "4294967295", "1.0",
					    "1.batch", "1.extern",   "1.interactive" };
	static const char *const bad[] = { "",	   "x",	    "1.",    "1.x",	    ".1",    "-1",
					   "1.-1", "1.0.0", "1/../", "12345678901", "1.batc" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(slurm_id_fits(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(slurm_id_fits(bad[i]));
}

TEST(test_names_of_containers)
{
	char longest[300];

	memset(longest, 'a', sizeof(longest));
	longest[299] = 0;
	assert_true(container_id_fits("web"));
	assert_false(container_id_fits(""));
	assert_false(container_id_fits("a/b"));
	assert_false(container_id_fits(".."));
	assert_false(container_id_fits(longest));
	assert_false(cgroup_is_container("/lxc/web/..", ".."));
}
