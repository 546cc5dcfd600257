/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that are loaded to run, told by their paths. Knows nothing of what was done with them.
 */
#include "analysis/loaded.h"
#include "analysis/path.h"

#include <string.h>

/* Directories that the file system hierarchy keeps for what runs. */
static const char *const roots[] = {
	"/bin/",
	"/sbin/",
	"/lib/",
	"/lib32/",
	"/lib64/",
	"/libx32/",
	"/usr/bin/",
	"/usr/sbin/",
	"/usr/lib/",
	"/usr/lib32/",
	"/usr/lib64/",
	"/usr/libx32/",
	"/usr/libexec/",
	"/usr/local/bin/",
	"/usr/local/sbin/",
	"/usr/local/lib/",
	"/usr/local/libexec/",
	"/opt/conda/bin/",
	"/opt/conda/lib/",
	"/usr/share/locale/",
	"/usr/share/zoneinfo/",
	"/usr/share/perl",
	"/etc/ld.so.",
	"/etc/ld-nix.so.",
	"/etc/localtime",
	"/etc/locale.alias",
	"/etc/nsswitch.conf",
};

static const char *const parts[] = {
	"/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python", "/__pycache__/",
};

static const char *const endings[] = { ".so", ".py", ".pyc", ".pyi", ".pth" };

bool loaded_is(struct table_text path)
{
	size_t base = path_base(path.bytes, path.length);

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (path.length >= strlen(roots[i]) &&
		    !memcmp(path.bytes, roots[i], strlen(roots[i])))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (path.length && memmem(path.bytes, path.length, parts[i], strlen(parts[i])))
			return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]);

		if (path.length - base >= length &&
		    !memcmp(path.bytes + path.length - length, endings[i], length))
			return true;
	}
	return path.length && memmem(path.bytes + base, path.length - base, ".so.", 4);
}
