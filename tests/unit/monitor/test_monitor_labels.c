// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Job labels: containers, pods and batch jobs from cgroup paths, including nested cgroups, and
 * which of several hierarchies is the most specific.
 */
#include "unit_test.h"

#include <string.h>

#include "capture/names/cgroup_names.h"
#include "made_ledger.h"
#include "monitor/ledger/job_labels.h"

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD "6f1e1d2c-0a1b-4c2d-8e3f-0123456789ab"
#define POD_ "6f1e1d2c_0a1b_4c2d_8e3f_0123456789ab"
#define STATIC_POD "0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *container, *pod, *job, *step; /* container: its id, or its name */
} rows[] = {
	{ "/", "", "", "", "" },
	{ "", "", "", "", "" },
	{ "/system.slice/ssh.service", "", "", "", "" },
	{ "/system.slice/docker-" NUMBER ".scope", NUMBER, "", "", "" },
	{ "/system.slice/docker-" NUMBER ".scope/init.scope", NUMBER, "", "", "" },
	{ "/system.slice/docker-" NUMBER ".scope/docker/" OTHER, NUMBER, "", "", "" },
	{ "/docker/" NUMBER, NUMBER, "", "", "" },
	{ "/kubepods/burstable/pod" POD "/" NUMBER, NUMBER, POD, "", "" },
	{ "/kubepods/pod" POD "/" NUMBER "/system.slice", NUMBER, POD, "", "" },
	{ "/kubepods/besteffort/pod" STATIC_POD "/" NUMBER, NUMBER, STATIC_POD, "", "" },
	{ "/kubepods/burstable/pod" POD, "", POD, "", "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_
	  ".slice/cri-containerd-" NUMBER ".scope",
	  NUMBER, POD, "", "" },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" NUMBER ".scope", NUMBER, POD, "", "" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_
	  ".slice/cri-containerd-" NUMBER ".scope",
	  NUMBER, POD, "", "" },
	{ "/user.slice/pod" POD, "", "", "", "" },
	{ "/kubepods/podium", "", "", "", "" },
	{ "/kubepods/pod" POD POD POD, "", "", "", "" },
	{ "/lxc.payload.web/system.slice/cron.service", "web", "", "", "" },
	{ "/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", "", "", "123", "0" },
	{ "/system.slice/slurmstepd.scope/job_123/step_batch", "", "", "123", "batch" },
	{ "/slurm/uid_1000/job_42", "", "", "42", "" },
	{ "/slurm_node01/uid_1000/job_42/step_extern/task_0", "", "", "42", "extern" },
	{ "/slurm/uid_1000/job_x", "", "", "", "" },
	{ "/slurm/uid_1000/job_42/step_;drop", "", "", "42", "" },
	{ "/slurm/uid_1000/job_12345678901234567890123456789", "", "", "", "" },
	{ "/user.slice/job_42", "", "", "", "" },
};

TEST(test_names)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job_labels labels;

		job_labels_of(rows[i].path, &labels);
		assert_string_equal(labels.cgroup, rows[i].path);
		assert_string_equal(labels.ids.container[0] ? labels.ids.container
							    : labels.container,
				    rows[i].container);
		assert_int_equal(strlen(labels.ids.container) % CONTAINER_DIGITS, 0);
		assert_false(labels.ids.container[0] && labels.container[0]);
		assert_string_equal(labels.ids.pod, rows[i].pod);
		assert_string_equal(labels.ids.slurm_job, rows[i].job);
		assert_string_equal(labels.slurm_step, rows[i].step);
	}
}

TEST(test_long_path)
{
	static char path[5000];
	struct job_labels labels;

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	strcpy(path + sizeof(path) - 5, "tail");
	job_labels_of(path, &labels);
	assert_int_equal(strlen(labels.cgroup), JOB_CGROUP_BYTES - 1);
	assert_string_equal(labels.cgroup + JOB_CGROUP_BYTES - 5, "tail");
}

static const struct {
	const char *text, *path;
} choices[] = {
	{ "0::/user.slice/session-3.scope\n", "/user.slice/session-3.scope" },
	{ "0::/\n", "/" },
	{ "0::/user.slice", "/user.slice" },
	{ "", NULL },
	{ "garbage\n\n:\n1:\n2::\n", NULL },
	{ "9:name=systemd:/system.slice/x.service\n4:memory:/m\n0::/\n",
	  "/system.slice/x.service" },
	{ "4:memory:/m\n9:name=systemd:/system.slice/x.service\n0::/u\n", "/u" },
	{ "9:name=systemd:/\n8:pids:/\n4:memory:/batch/17\n0::/\n", "/batch/17" },
	{ "9:name=systemd:/\n8:cpu,cpuacct:/a:b\n0::/\n", "/a:b" },
	{ "9:name=systemd:/\n4:memory:/docker/" NUMBER "\n0::/unified\n", "/docker/" NUMBER },
	{ "9:name=systemd:/\n8:pids:/\n0::/\n", "/" },
};

TEST(test_which_hierarchy)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		char path[JOB_CGROUP_BYTES];
		bool any = job_labels_choose(choices[i].text, path, sizeof(path));

		assert_int_equal(any, choices[i].path != NULL);
		assert_string_equal(path, choices[i].path ? choices[i].path : "");
	}
}

/* --- asking for names --- */

struct asking {
	const struct ledger_job *job;
	uint32_t pid;
	unsigned int count;
	bool refuse;
};

static bool ask(void *context, const struct ledger_job *job, uint32_t pid)
{
	struct asking *asking = context;

	if (asking->refuse)
		return false;
	asking->job = job;
	asking->pid = pid;
	asking->count++;
	return true;
}

/* A container's names are asked for again, ever more rarely, until they are known. */
TEST(test_asks_for_names)
{
	static const uint64_t seconds[] = { 10, 11, 13, 17, 25, 41 };
	struct ledger *ledger = open_with(roomy);
	struct asking asking = { .refuse = true };
	struct job_names names = { 0 };
	uint64_t id;

	begin(ledger, 7, "/system.slice/ssh.service", "sshd", 1);
	begin(ledger, 8, "/docker/" NUMBER, "x", 1);
	begin(ledger, 9, "/docker/" OTHER, "x", 1);
	id = job_called(ledger, "/docker/" NUMBER)->id;
	strcpy(names.text[JOB_CONTAINER], "web");
	strcpy(names.text[JOB_IMAGE], "nginx");
	ledger_name_job(ledger, job_called(ledger, "/docker/" OTHER)->id, &names);
	ledger_ask_names(ledger, 9999999999, ask, &asking); /* there is no room */
	asking.refuse = false;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		ledger_ask_names(ledger, seconds[i] * 1000000000 - (i ? 1 : 0), ask, &asking);
		assert_int_equal(asking.count, i ? i : 1);
		ledger_ask_names(ledger, seconds[i] * 1000000000, ask, &asking);
		assert_int_equal(asking.count, i + 1);
		assert_int_equal(asking.job->id, id);
		assert_int_equal(asking.pid, 8);
	}
	ledger_ask_names(ledger, 1000000000000, ask, &asking);
	assert_int_equal(asking.count, 6);

	names.text[JOB_IMAGE][0] = 0;
	ledger_name_job(ledger, id, &names);
	strcpy(names.text[JOB_CONTAINER], "renamed");
	strcpy(names.text[JOB_IMAGE], "nginx:2");
	ledger_name_job(ledger, id, &names);
	assert_string_equal(ledger_job_names(asking.job)->text[JOB_CONTAINER], "web");
	assert_string_equal(ledger_job_names(asking.job)->text[JOB_IMAGE], "nginx:2");
	ledger_close(ledger);
}
