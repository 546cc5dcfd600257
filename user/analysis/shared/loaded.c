/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognizes files that are loaded to run a program, by path. */
#include "analysis/shared/loaded.h"
#include "analysis/events/path.h"

#include <string.h>

/* Directories that the filesystem hierarchy reserves for programs and what they load. */
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
	"/site-packages/", "/dist-packages/", "/lib/python2",  "/lib/python3",
	"/lib64/python2",  "/lib64/python3",  "/__pycache__/",
};

/* Not .pth: Python's own are in site-packages, and others are PyTorch checkpoints. */
static const char *const module_endings[] = { ".py", ".pyc", ".pyi" };

/* Whether the path contains one of `parts` or is that directory itself. */
static bool has_part(struct table_text path)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]), directory = length - 1;

		if (memmem(path.bytes, path.length, parts[i], length))
			return true;
		if (parts[i][directory] == '/' && path.length >= directory &&
		    !memcmp(path.bytes + path.length - directory, parts[i], directory))
			return true;
	}
	return false;
}

/* Python modules, their compiled files, and the directories that contain them. */
static bool is_module(struct table_text path)
{
	if (!path.length)
		return false;
	for (size_t i = 0; i < sizeof(module_endings) / sizeof(module_endings[0]); i++)
		if (path_ends(path.bytes, path.length, module_endings[i]))
			return true;
	return has_part(path);
}

/* Python looks for extension modules under such names first: NAME.cpython-311-x86_64-linux-gnu.so,
 * NAME.abi3.so, NAME.so. Libraries have other names. */
bool loaded_names_module(struct table_text path)
{
	size_t base = path_base(path.bytes, path.length);

	return is_module(path) ||
	       (path_ends(path.bytes, path.length, ".so") && path.length - base > 3 &&
		memcmp(path.bytes + base, "lib", 3) != 0);
}

/* Whether the path starts with one of `roots` or is that directory itself. */
static bool has_root(struct table_text path)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		size_t length = strlen(roots[i]),
		       directory = length - (roots[i][length - 1] == '/');

		if (path_begins(path.bytes, path.length, roots[i]))
			return true;
		if (path.length == directory && !memcmp(path.bytes, roots[i], directory))
			return true;
	}
	return false;
}

bool loaded_is(struct table_text path)
{
	size_t base;

	if (!path.length)
		return false;
	if (has_root(path))
		return true;
	if (is_module(path) || path_ends(path.bytes, path.length, ".so"))
		return true;
	base = path_base(path.bytes, path.length);
	return memmem(path.bytes + base, path.length - base, ".so.", 4);
}

/* Whether only the file's extension makes it a module. */
static bool is_source_alone(struct table_text path)
{
	return (path_ends(path.bytes, path.length, ".py") ||
		path_ends(path.bytes, path.length, ".pyi")) &&
	       !has_root(path) && !has_part(path);
}

bool loaded_in_is_module(const struct file_table *files, struct table_text path)
{
	return is_module(path) &&
	       (!is_source_alone(path) || file_table_is_imported(files, path.bytes, path.length));
}

bool loaded_in(const struct file_table *files, struct table_text path)
{
	return loaded_is(path) &&
	       (!is_source_alone(path) || file_table_is_imported(files, path.bytes, path.length));
}
