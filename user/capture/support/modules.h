/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Kernel modules with tracepoints, functions and types that layers require. */
#pragma once

#include <bpf/btf.h>
#include <stdint.h>

struct modules;

/* The modules whose tracepoints, functions and types layers use: MODULE(LAYER, name). */
#define LAYER_MODULES(MODULE)                                                                      \
	MODULE(FUSE, "fuse")                                                                       \
	MODULE(NFS, "sunrpc")                                                                      \
	MODULE(NFS, "nfs")                                                                         \
	MODULE(NFS, "nfsv4")                                                                       \
	MODULE(P9, "9pnet")                                                                        \
	MODULE(P9, "9p")                                                                           \
	MODULE(NETFS, "netfs")
#define MODULE_NAME(layer, name) name,

/* `kernel` are the types of the kernel proper, which must outlive these. Returns 0 or a negative
 * errno. */
int modules_open(struct modules **modules, struct btf *kernel);
void modules_close(struct modules *modules); /* NULL is fine */
/* Forgets their types, because modules were loaded or unloaded. */
void modules_forget(struct modules *modules);

/* Finds a type that the kernel proper lacks. Returns its id in `btf`, or -ENOENT; the number of the
 * module in `module` unless that is NULL. */
int modules_find(struct modules *modules, const char *name, unsigned int kind,
		 const struct btf **btf, int *module);

/* Returns a descriptor of a module's types in the kernel, which stays open until they are
 * forgotten; or a negative errno: it takes CAP_SYS_ADMIN. */
int modules_fd(struct modules *modules, int module);

/* Returns a number for a module that is loaded, or built in with parameters; another one when it is
 * loaded again. 0: it is not loaded. */
uint64_t module_present(const char *name);
