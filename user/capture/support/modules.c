/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the kernel modules that layers require. */
#include "capture/support/modules.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/support/type_names.h"

static const char *const module_names[] = { LAYER_MODULES(MODULE_NAME) };

#define MODULES (sizeof(module_names) / sizeof(module_names[0]))

struct module {
	bool opened;	 /* when a type is not in the kernel proper */
	struct btf *btf; /* NULL: not loaded, or built in */
	struct type_names *names;
	int fd; /* 0: not open */
};

struct modules {
	struct btf *kernel;
	struct module modules[MODULES];
};

int modules_open(struct modules **modules, struct btf *kernel)
{
	*modules = calloc(1, sizeof(**modules));
	if (!*modules)
		return -ENOMEM;
	(*modules)->kernel = kernel;
	return 0;
}

void modules_forget(struct modules *modules)
{
	for (size_t i = 0; i < MODULES; i++) {
		struct module *module = &modules->modules[i];

		type_names_close(module->names);
		btf__free(module->btf);
		if (module->fd)
			close(module->fd);
		*module = (struct module) { 0 };
	}
}

void modules_close(struct modules *modules)
{
	if (modules)
		modules_forget(modules);
	free(modules);
}

static const struct module *open_module(struct modules *modules, size_t number)
{
	struct module *module = &modules->modules[number];

	if (module->opened)
		return module;
	module->opened = true;
	module->btf = btf__load_module_btf(module_names[number], modules->kernel);
	if (module->btf &&
	    type_names_open(&module->names, module->btf, btf__type_cnt(modules->kernel)))
		module->names = NULL;
	return module;
}

int modules_find(struct modules *modules, const char *name, unsigned int kind,
		 const struct btf **btf, int *number)
{
	int id = -ENOENT;

	for (size_t i = 0; i < MODULES && id < 0; i++) {
		const struct module *module = open_module(modules, i);

		if (!module->names)
			continue;
		id = type_names_find(module->names, name, kind);
		*btf = module->btf;
		if (number)
			*number = i;
	}
	return id;
}

/* Whether the descriptor is that module's BTF. */
static bool is_of_module(int fd, const char *module)
{
	char name[64] = "";
	struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf &&
	       !strcmp(name, module);
}

int modules_fd(struct modules *modules, int number)
{
	struct module *module = &modules->modules[number];
	uint32_t id = 0;

	while (!module->fd && !bpf_btf_get_next_id(id, &id)) {
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0 && errno != ENOENT) /* otherwise its module has just been unloaded */
			return -errno;
		if (fd >= 0 && is_of_module(fd, module_names[number]))
			module->fd = fd;
		else if (fd >= 0)
			close(fd);
	}
	return module->fd ? module->fd : -errno;
}

uint64_t module_present(const char *name)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return stat(path, &status) ? 0 : status.st_ino;
}
