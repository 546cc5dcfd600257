/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attaches uprobes by file and offset. */
#include "capture/usdt/uprobes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From the kernel's union bpf_attr, which may be newer than the headers of the build. */
#define UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI */

struct uprobe_multi_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 count, multi_flags, pid, pad;
};

static int link_multi(int program, const char *path, size_t count, const uint64_t *offsets,
		      const uint64_t *semaphores, const uint64_t *cookies)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = program,
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)semaphores,
		.cookies = (uintptr_t)cookies,
		.count = count,
	};
	int link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return link < 0 ? -errno : link;
}

bool uprobes_have_multi(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = UPROBE_MULTI);
	uint64_t offset = 0;
	int program, link;

	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "fl_probe", "GPL", nothing,
				sizeof(nothing) / sizeof(nothing[0]), &options);
	if (program < 0)
		return false;
	/* A directory cannot be attached to; a kernel that says so supports these links. */
	link = link_multi(program, "/", 1, &offset, NULL, NULL);
	if (link >= 0)
		close(link);
	close(program);
	return link == -EBADF;
}

void uprobes_load_multi(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program, UPROBE_MULTI);
}

static int attach_all(struct uprobes *uprobes, const char *path, const struct marker *markers,
		      size_t count, uint32_t first)
{
	uint64_t offsets[NOTES_MARKERS_MAX], semaphores[NOTES_MARKERS_MAX];
	uint64_t cookies[NOTES_MARKERS_MAX];
	int link;

	for (size_t i = 0; i < count; i++) {
		offsets[i] = markers[i].offset;
		semaphores[i] = markers[i].semaphore;
		cookies[i] = first + i;
	}
	link = link_multi(bpf_program__fd(uprobes->program), path, count, offsets, semaphores,
			  cookies);
	return link < 0 ? link : 0;
}

static int attach_each(struct uprobes *uprobes, const char *path, const struct marker *markers,
		       size_t count, uint32_t first)
{
	struct bpf_link *links[NOTES_MARKERS_MAX];

	for (size_t i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = markers[i].semaphore,
			    .bpf_cookie = uprobes->rows < 0 ? first + i : 0);
		int err;

		links[i] = bpf_program__attach_uprobe_opts(uprobes->program, -1, path,
							   markers[i].offset, &options);
		if (links[i])
			continue;
		err = -errno;
		while (i)
			bpf_link__destroy(links[--i]);
		return err;
	}
	return 0;
}

/* Stores where a marker is, to find its row. */
static int store_row(const struct uprobes *uprobes, int fd, const struct marker *marker,
		     uint32_t row)
{
	struct marker_position position = { .offset = marker->offset };
	struct stat status;

	if (uprobes->rows < 0)
		return 0;
	if (fstat(fd, &status))
		return -1;
	position.ino = status.st_ino;
	return bpf_map_update_elem(uprobes->rows, &position, &row, BPF_ANY);
}

int uprobes_attach(struct uprobes *uprobes, int fd, const struct marker *markers, size_t count)
{
	uint32_t first = uprobes->used;
	char path[64];

	if (count > NOTES_MARKERS_MAX || count > MARKER_SPECS_MAX - first)
		return -ENOSPC;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = first + i;

		if (bpf_map_update_elem(uprobes->specs, &row, &markers[i].spec, BPF_ANY) ||
		    store_row(uprobes, fd, &markers[i], row))
			return -errno;
	}
	uprobes->used += count;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return uprobes->multi ? attach_all(uprobes, path, markers, count, first)
			      : attach_each(uprobes, path, markers, count, first);
}
