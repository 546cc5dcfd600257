/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replaces names by keyed hashes. */
#include "trace/write/redact.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "collections/arena.h"
#include "trace/write/writer.h"

#define KEY_BYTES_MIN 16
#define KEY_BYTES_MAX (64u << 10)
#define HASH_TEXT 13 /* "x" and 48 bits: a million names collide with a chance of 0.2% */

/* --- hashing --- */

static uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
		v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
	}
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

static uint64_t little_endian(const uint8_t *bytes, size_t count)
{
	uint64_t word = 0;

	for (size_t i = 0; i < count; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

uint64_t redact_hash(const uint64_t key[2], const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	size_t left = length;

	for (; left >= 8; left -= 8, at += 8)
		sip_word(v, little_endian(at, 8));
	sip_word(v, (uint64_t)length << 56 | little_endian(at, left));
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

int redaction_random(struct redaction *redaction)
{
	return getrandom(redaction->key, sizeof(redaction->key), 0) < 0 ? -errno : 0;
}

int redaction_from_file(struct redaction *redaction, const char *path)
{
	static const uint64_t first[2] = { 0, 1 }, second[2] = { 2, 3 };
	char bytes[KEY_BYTES_MAX];
	FILE *file = fopen(path, "re");
	size_t length;
	int err;

	if (!file)
		return -errno;
	length = fread(bytes, 1, sizeof(bytes), file);
	err = ferror(file) ? -EIO : length < KEY_BYTES_MIN ? -EINVAL : 0;
	fclose(file);
	redaction->key[0] = redact_hash(first, bytes, length);
	redaction->key[1] = redact_hash(second, bytes, length);
	return err;
}

/* --- texts --- */

/* Text being written, truncated at TRACE_STRING_BYTES_MAX. */
struct text {
	char *out;
	size_t length;
};

static void put(struct text *text, const char *bytes, size_t length)
{
	if (length > TRACE_STRING_BYTES_MAX - text->length)
		length = TRACE_STRING_BYTES_MAX - text->length;
	memcpy(text->out + text->length, bytes, length);
	text->length += length;
}

static void put_hash(const struct redaction *redaction, struct text *text, const char *bytes,
		     size_t length)
{
	char hash[HASH_TEXT + 1];

	snprintf(hash, sizeof(hash), "x%012" PRIx64,
		 redact_hash(redaction->key, bytes, length) >> 16);
	put(text, hash, HASH_TEXT);
}

static bool begins(const char *text, size_t length, const char *start)
{
	return length >= strlen(start) && !memcmp(text, start, strlen(start));
}

static bool is_one_of(const char *const *names, const char *text, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && !memcmp(*names, text, length))
			return true;
	return false;
}

/* Whether a path leads out of the directory that it begins with. */
static bool leaves(const char *path, size_t length)
{
	static const char *const links[] = { "/cwd/", "/root/", "/fd/" };

	if (memmem(path, length, "/../", 4) ||
	    (length >= 3 && !memcmp(path + length - 3, "/..", 3)))
		return true;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (begins(path, length, "/proc/") &&
		    memmem(path, length, links[i], strlen(links[i])))
			return true;
	return false;
}

/* Returns whether a path is a file of the system or of the interpreter, or the tracer's own name
 * for files without a path. */
static bool is_public(const char *path, size_t length)
{
	static const char *const starts[] = {
		"/bin/",       "/lib/",		"/lib32/",	  "/lib64/",	 "/proc/",
		"/sbin/",      "/sys/",		"/usr/bin/",	  "/usr/lib/",	 "/usr/lib32/",
		"/usr/lib64/", "/usr/libexec/", "/usr/sbin/",	  "/usr/share/", "<frozen ",
		"<string>",    "<stdin>",	"[block device ", "[inode ",	 "[jit]",
		"[vdso]",      "[unknown]",
	};

	if (leaves(path, length))
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (begins(path, length, starts[i]))
			return true;
	return false;
}

/* "python3.11" */
static bool is_python(const char *name, size_t length)
{
	if (!begins(name, length, "python"))
		return false;
	for (size_t i = strlen("python"); i < length; i++)
		if (!isdigit((unsigned char)name[i]) && name[i] != '.')
			return false;
	return true;
}

static bool is_public_name(const char *name, size_t length, bool is_first)
{
	static const char *const first[] = {
		"boot", "data", "dev",	   "etc", "home", "media", "mnt", "opt",
		"root", "run",	"scratch", "srv", "tmp",  "usr",   "var", NULL,
	};
	static const char *const any[] = {
		"",    ".",	"..",	 "__pycache__", "bin",		 "dist-packages",
		"lib", "lib64", "local", "shm",		"site-packages", NULL,
	};

	return is_one_of(any, name, length) || is_python(name, length) ||
	       (is_first && is_one_of(first, name, length));
}

/* Formats that analyses or their readers know; others may say too much. */
static bool is_extension(const char *text, size_t length)
{
	static const char *const extensions[] = {
		".arrow",  ".bin",     ".bmp",	   ".bz2",	".cfg",	   ".ckpt",	   ".conf",
		".csv",	   ".db",      ".feather", ".flac",	".gif",	   ".gz",	   ".h5",
		".hdf5",   ".html",    ".idx",	   ".ini",	".jpeg",   ".jpg",	   ".json",
		".jsonl",  ".lock",    ".log",	   ".lz4",	".mdb",	   ".mp3",	   ".mp4",
		".npy",	   ".npz",     ".parquet", ".pickle",	".pkl",	   ".png",	   ".pt",
		".pth",	   ".py",      ".pyc",	   ".rec",	".record", ".safetensors", ".so",
		".sqlite", ".sqlite3", ".tar",	   ".tfrecord", ".tgz",	   ".tmp",	   ".toml",
		".tsv",	   ".txt",     ".wav",	   ".webp",	".whl",	   ".xml",	   ".xz",
		".yaml",   ".yml",     ".zarr",	   ".zip",	".zst",	   NULL,
	};

	return is_one_of(extensions, text, length);
}

/* Returns where the extension begins: ".npy", ".tar.gz", ".so.1.2"; `length` if there is none. */
static size_t extension_at(const char *name, size_t length)
{
	static const char *const compressed[] = { ".bz2", ".gz", ".xz", ".zst", NULL };
	const char *library = memmem(name, length, ".so.", 4);
	const char *dot = memrchr(name, '.', length), *outer;
	size_t at = dot && dot > name ? (size_t)(dot - name) : length;

	if (library && library > name)
		return library - name;
	if (!is_extension(name + at, length - at))
		return length;
	outer = is_one_of(compressed, name + at, length - at) ? memrchr(name, '.', at) : NULL;
	return outer && outer > name && is_extension(outer, name + at - outer)
		       ? (size_t)(outer - name)
		       : at;
}

static void put_component(const struct redaction *redaction, struct text *text, const char *name,
			  size_t length, bool is_first, bool is_last)
{
	const size_t stem = is_last ? extension_at(name, length) : length;

	if (is_public_name(name, length, is_first)) {
		put(text, name, length);
		return;
	}
	put_hash(redaction, text, name, stem);
	put(text, name + stem, length - stem);
}

static size_t redact_path(const struct redaction *redaction, const char *path, size_t length,
			  char *out)
{
	struct text text = { out, 0 };
	size_t start = 0;

	if (is_public(path, length)) {
		put(&text, path, length);
		return text.length;
	}
	for (size_t end = 0; end <= length; end++) {
		if (end < length && path[end] != '/')
			continue;
		put_component(redaction, &text, path + start, end - start,
			      start == 1 && path[0] == '/', end == length);
		if (end < length)
			put(&text, "/", 1);
		start = end + 1;
	}
	return text.length;
}

static size_t redact_program(const struct redaction *redaction, const char *name, size_t length,
			     char *out)
{
	struct text text = { out, 0 };

	if (!length || is_python(name, length))
		put(&text, name, length);
	else
		put_hash(redaction, &text, name, length);
	return text.length;
}

static size_t redact_device(const struct redaction *redaction, const char *name, size_t length,
			    char *out)
{
	const char *type = memrchr(name, '(', length);
	size_t source = 0; /* of a mount: "bucket (fuse.s3fs)" */
	struct text text = { out, 0 };

	if (memchr(name, '/', length))
		return redact_path(redaction, name, length, out);
	if (type > name && type[-1] == ' ' && name[length - 1] == ')')
		source = type - 1 - name;
	if (source)
		put_hash(redaction, &text, name, source);
	put(&text, name + source, length - source);
	return text.length;
}

static size_t redact_command(const struct redaction *redaction, const char *command, size_t length,
			     char *out)
{
	return 0;
}

/* Replaces a text by at most TRACE_STRING_BYTES_MAX bytes in `out`, and returns how many. */
typedef size_t redact_fn(const struct redaction *redaction, const char *text, size_t length,
			 char *out);

static redact_fn *const functions[TRACE_NAME_COUNT] = {
	[TRACE_NAME_PATH] = redact_path,
	[TRACE_NAME_PROGRAM] = redact_program,
	[TRACE_NAME_DEVICE] = redact_device,
	[TRACE_NAME_COMMAND] = redact_command,
};

size_t redact_name(const struct redaction *redaction, enum trace_name sort, const char *text,
		   size_t length, char *out)
{
	return functions[sort](redaction, text, length, out);
}

size_t redact_function(const struct redaction *redaction, const char *source, size_t source_length,
		       const char *name, size_t length, char *out)
{
	struct text text = { out, 0 };
	size_t start = 0;

	if (is_public(source, source_length)) {
		put(&text, name, length);
		return text.length;
	}
	for (size_t end = 0; end <= length; end++) {
		if (end < length && name[end] != '.')
			continue;
		if (end == start || name[start] == '<') /* <module>, <locals> */
			put(&text, name + start, end - start);
		else
			put_hash(redaction, &text, name + start, end - start);
		if (end < length)
			put(&text, ".", 1);
		start = end + 1;
	}
	return text.length;
}

int redact_header(const struct redaction *redaction, struct trace_header *header,
		  struct arena *arena)
{
	static const char *const command[] = { REDACTED_COMMAND, NULL };
	struct trace_mount *mounts = arena_alloc(arena, header->mount_count * sizeof(*mounts) + 1);
	char path[TRACE_STRING_BYTES_MAX];

	for (size_t i = 0; mounts && i < header->mount_count; i++) {
		const char *from = header->mounts[i].path;

		mounts[i] = header->mounts[i];
		mounts[i].path =
			arena_text(arena, path, redact_path(redaction, from, strlen(from), path));
		mounts[i].options = "";
	}
	header->mounts = mounts;
	header->command = header->command ? command : NULL;
	header->targets = header->targets ? command : NULL;
	header->redaction = redaction;
	return arena_status(arena);
}

/* --- for writers --- */

uint32_t trace_writer_name(struct trace_writer *writer, enum trace_name sort, const char *text,
			   size_t length)
{
	const struct redaction *redaction = trace_writer_redaction(writer);
	char redacted[TRACE_STRING_BYTES_MAX];

	if (redaction) {
		length = redact_name(redaction, sort, text, length, redacted);
		text = redacted;
	}
	return trace_writer_string(writer, text, length);
}

uint32_t trace_writer_function(struct trace_writer *writer, const char *source,
			       size_t source_length, const char *text, size_t length)
{
	const struct redaction *redaction = trace_writer_redaction(writer);
	char redacted[TRACE_STRING_BYTES_MAX];

	if (redaction) {
		length = redact_function(redaction, source, source_length, text, length, redacted);
		text = redacted;
	}
	return trace_writer_string(writer, text, length);
}
