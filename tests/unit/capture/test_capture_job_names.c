// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Names of containers, pods and Slurm jobs: from state files as kubelet, containerd, nerdctl,
 * Docker, CRI-O and Podman write them, below a directory that stands for the node's root; and from
 * such files that are damaged, hostile or another container's.
 */
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/names/job_names.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD "6f1e1d2c-0a1b-4c2d-8e3f-0123456789ab"
#define CONTAINERD "run/containerd/io.containerd.runtime.v2.task/"
#define STORAGE "var/lib/containers/storage/overlay-containers/"

static char place[] = "/tmp/faultline-names-XXXXXX";
static const struct job_ids in_pod = { .container = ID, .pod = POD }, no_pod = { .container = ID };

/* --- the node --- */

static int drop(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

/* Begins with an empty root; returns it. */
static int open_root(void)
{
	int root;

	strcpy(place, "/tmp/faultline-names-XXXXXX");
	assert_non_null(mkdtemp(place));
	root = open(place, O_PATH | O_DIRECTORY);
	assert_true(root >= 0);
	return root;
}

static void close_root(int root)
{
	close(root);
	assert_int_equal(nftw(place, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(int root, const char *path, const char *text)
{
	char above[1024];
	int fd;

	strcpy(above, path);
	for (char *slash = above; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		assert_true(!mkdirat(root, above, 0700) || errno == EEXIST);
	}
	if (path[strlen(path) - 1] == '/')
		return;
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Asserts the names that the root gives. */
static void expect(int root, const struct job_ids *ids, const char *namespace, const char *pod,
		   const char *container, const char *image)
{
	struct job_names names = { 0 };

	job_names_read(root, ids, 0, &names);
	assert_string_equal(names.text[JOB_NAMESPACE], namespace);
	assert_string_equal(names.text[JOB_POD], pod);
	assert_string_equal(names.text[JOB_CONTAINER], container);
	assert_string_equal(names.text[JOB_IMAGE], image);
	assert_string_equal(names.text[JOB_SLURM_NAME], "");
}

static void expect_nothing(int root, const struct job_ids *ids)
{
	expect(root, ids, "", "", "", "");
}

/* --- each source --- */

TEST(test_kubelet_logs)
{
	int root = open_root();

	expect_nothing(root, &in_pod);
	put(root, "var/log/pods/ml_other-0_" POD "0/main/", "");
	put(root, "var/log/pods/" POD "/main/", ""); /* before Kubernetes 1.14 */
	expect_nothing(root, &in_pod);
	put(root, "var/log/pods/ml_train-0.x_" POD "/main/", "");
	expect(root, &in_pod, "ml", "train-0.x", "", "");
	put(root, "var/log/containers/train-0.x_ml_side-car-" OTHER ".log", "");
	expect(root, &in_pod, "ml", "train-0.x", "", "");
	put(root, "var/log/containers/train-0.x_ml_main-2-" ID ".log", "");
	expect(root, &in_pod, "ml", "train-0.x", "main-2", "");
	expect_nothing(root, &no_pod); /* in no pod's cgroup */
	close_root(root);
}

/* Containers without kubelet log files. */
TEST(test_containerd)
{
	static const char config[] =
		"{\"ociVersion\":\"1.1.0\",\"process\":{\"user\":{\"uid\":0}},\"annotations\":{"
		"\"io.kubernetes.cri.container-name\":\"main\","
		"\"io.kubernetes.cri.container-type\":\"container\","
		"\"io.kubernetes.cri.image-name\":\"registry.example/torch:2\","
		"\"io.kubernetes.cri.sandbox-id\":\"" OTHER "\","
		"\"io.kubernetes.cri.sandbox-name\":\"train-0\","
		"\"io.kubernetes.cri.sandbox-namespace\":\"ml\","
		"\"io.kubernetes.cri.sandbox-uid\":\"" POD "\"},\"linux\":{}}";
	int root = open_root();

	put(root, CONTAINERD "k8s.io/" OTHER "/config.json", config);
	expect_nothing(root, &in_pod);
	put(root, CONTAINERD "k8s.io/" ID "/config.json", config);
	expect(root, &in_pod, "ml", "train-0", "main", "registry.example/torch:2");
	expect_nothing(root, &no_pod);
	close_root(root);
}

TEST(test_nerdctl)
{
	int root = open_root();

	put(root, CONTAINERD "default/" ID "/config.json",
	    "{\"annotations\":{\"nerdctl/name\":\"web-1\","
	    "\"io.kubernetes.cri.sandbox-name\":\"pretended\"}}");
	expect(root, &no_pod, "", "", "web-1", "");
	close_root(root);
}

TEST(test_docker)
{
	int root = open_root();

	put(root, "var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"StreamConfig\":{},\"ID\":\"" ID "\",\"Config\":{\"Hostname\":\"x\","
	    "\"Image\":\"nginx:1.27\",\"Labels\":{}},\"Image\":\"sha256:12\",\"Name\":\"/web\"}");
	expect(root, &no_pod, "", "", "web", "nginx:1.27");
	expect(root, &in_pod, "", "", "", "nginx:1.27"); /* not kubelet's name for it */
	put(root, "var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"Config\":{\"Image\":\"sha256:12\"},\"Name\":\"/k8s_main_train-0_ml_" POD "_3\"}");
	expect(root, &in_pod, "ml", "train-0", "main", "sha256:12");
	put(root, "var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"Name\":\"/k8s_POD_train-0_ml_" POD "_0\"}");
	expect(root, &in_pod, "ml", "train-0", "", "");
	put(root, "var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"Name\":\"/k8s_main_train-0_ml_another-pod_0\"}");
	expect_nothing(root, &in_pod);
	close_root(root);
}

#define STORED(id, metadata)                                                                       \
	"{\"id\":\"" id "\",\"names\":[\"x\"],\"image\":\"12ab\",\"layer\":\"34cd\",\"metadata\":" \
	"\"" metadata "\",\"created\":\"2026-01-01T00:00:00Z\",\"flags\":{\"ProcessLabel\":\"\"}}"

TEST(test_podman_and_crio)
{
	int root = open_root();

	put(root, STORAGE "containers.json",
	    "[" STORED(OTHER, "{\\\"image-name\\\":\\\"no\\\",\\\"name\\\":\\\"no\\\"}") "," STORED(
		    ID, "{\\\"image-name\\\":\\\"quay.io/a/b:1\\\",\\\"image-id\\\":\\\"12ab\\\","
			"\\\"name\\\":\\\"db_1\\\",\\\"created-at\\\":1}") "]");
	expect(root, &no_pod, "", "", "db_1", "quay.io/a/b:1");
	put(root, STORAGE "containers.json", "[]");
	expect_nothing(root, &no_pod);
	/* CRI-O's are lost with a reboot, and those of podman run --rm. */
	put(root, STORAGE "volatile-containers.json",
	    "[" STORED(ID, "{\\\"pod-name\\\":\\\"k8s_train-0_ml_x_0\\\",\\\"pod-id\\\":\\\"5\\\","
			   "\\\"image-name\\\":\\\"quay.io/t:2\\\",\\\"name\\\":"
			   "\\\"k8s_main_train-0_ml_" POD "_0\\\",\\\"metadata-name\\\":"
			   "\\\"main\\\"}") "]");
	expect(root, &in_pod, "ml", "train-0", "main", "quay.io/t:2");
	close_root(root);
}

/* --- hostile input --- */

TEST(test_damaged)
{
	static const char *const texts[] = {
		"",
		"{",
		"[",
		"null",
		"7",
		"\"Name\"",
		"{\"Name\":7,\"Config\":[]}",
		"{\"Name\":\"\",\"Config\":{\"Image\":null}}",
		"{\"Name\":\"/\"}",
		"{\"Name\":\"/a\\u0000b\\u0000\"",
		"[{\"id\":\"" ID "\",\"metadata\":\"[\"}]",
		"[{\"id\":\"" ID "\",\"metadata\":7}]",
		"[[],{}]",
	};
	static const char *const paths[] = {
		"var/lib/docker/containers/" ID "/config.v2.json",
		CONTAINERD "k8s.io/" ID "/config.json",
		STORAGE "containers.json",
	};
	static char deep[100000], lengthy[1000];
	int root = open_root();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t j = 0; j < sizeof(paths) / sizeof(paths[0]); j++) {
			put(root, paths[j], texts[i]);
			expect_nothing(root, &no_pod);
			expect_nothing(root, &in_pod);
		}
	memset(deep, '[', sizeof(deep) - 1);
	put(root, paths[0], deep);
	memset(deep, 'x', sizeof(deep) - 1);
	expect_nothing(root, &no_pod);
	snprintf(lengthy, sizeof(lengthy),
		 "{\"Name\":\"/%.256s\",\"Config\":{\"Image\":\"%.255s\"}}", deep, deep);
	put(root, paths[0], lengthy);
	expect(root, &no_pod, "", "", "", deep + sizeof(deep) - 1 - 255); /* the name has no room */
	close_root(root);
}

/* Links are followed as on the node, and lead nowhere else. */
TEST(test_links)
{
	char outside[] = "/tmp/faultline-outside-XXXXXX", path[128];
	int root = open_root(), other;

	put(root, "data/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/moved\"}");
	put(root, "var/lib/", "");
	assert_int_equal(symlinkat("/data/docker", root, "var/lib/docker"), 0);
	expect(root, &no_pod, "", "", "moved", "");

	assert_non_null(mkdtemp(outside));
	other = open(outside, O_PATH | O_DIRECTORY);
	put(other, "containers/" ID "/config.v2.json", "{\"Name\":\"/secret\"}");
	assert_int_equal(unlinkat(root, "var/lib/docker", 0), 0);
	assert_int_equal(symlinkat(outside, root, "var/lib/docker"), 0);
	expect_nothing(root, &no_pod);
	assert_int_equal(unlinkat(root, "var/lib/docker", 0), 0);
	snprintf(path, sizeof(path), "../../../../../../..%s", outside);
	assert_int_equal(symlinkat(path, root, "var/lib/docker"), 0);
	expect_nothing(root, &no_pod);

	/* Nor does a pipe block. */
	assert_int_equal(unlinkat(root, "var/lib/docker", 0), 0);
	put(root, "var/lib/docker/containers/" ID "/", "");
	assert_int_equal(mkfifoat(root, "var/lib/docker/containers/" ID "/config.v2.json", 0600),
			 0);
	expect_nothing(root, &no_pod);
	close(other);
	assert_int_equal(nftw(outside, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
	close_root(root);
}

/* --- Slurm --- */

TEST(test_slurm)
{
	static const char mine[] = "PATH=/bin\0SLURM_JOB_ID=42\0SLURM_JOB_NAME=tune a=b\0"
				   "SLURM_JOB_USER=alice\0X=1";
	static const char others[] = "SLURM_JOB_ID=421\0SLURM_JOB_NAME=other\0";
	static const char none[] = "SLURM_JOB_NAME=x";
	const struct job_ids ids = { .slurm_job = "42" };
	struct job_names names = { 0 };

	job_names_of_environment(others, sizeof(others) - 1, "42", &names);
	job_names_of_environment(none, sizeof(none) - 1, "42", &names);
	assert_string_equal(names.text[JOB_SLURM_NAME], "");
	assert_true(job_names_lack(&ids, &names));
	job_names_of_environment(mine, sizeof(mine) - 1, "42", &names);
	assert_string_equal(names.text[JOB_SLURM_NAME], "tune a=b");
	assert_string_equal(names.text[JOB_SLURM_USER], "alice");
	assert_false(job_names_lack(&ids, &names));
}
