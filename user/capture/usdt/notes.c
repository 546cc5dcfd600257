/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the notes of USDT probes of provider "faultline" from ELF files in confined processes.
 * Their results are checked again here, and trusted only for the file that they describe.
 */
#include "capture/usdt/notes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/usdt/confined.h"
#include "capture/usdt/elf_file.h"

/* A linked program has at most a few hundred KiB of notes; searching more only wastes time. */
#define NOTES_BYTES_MAX (4u << 20)

static struct time_budget time_budget = { CONFINED_BUDGET_NS }; /* per-process time budget */

static const struct {
	const char *name;
	int args;
} kinds[MARKER_KIND_COUNT] = {
	[MARKER_SPAN_BEGIN] = { "span_begin", 5 },
	[MARKER_SPAN_END] = { "span_end", 1 },
	[MARKER_SPAN_RECORD] = { "span_record", 7 },
	[MARKER_INSTANT] = { "instant", 4 },
};

/* --- confined reading --- */

/* Returns the next string of the description, or NULL if it is not terminated within it. */
static const char *next_string(const char **at, const char *end)
{
	const char *text = *at, *stop = memchr(text, 0, end - text);

	if (!stop)
		return NULL;
	*at = stop + 1;
	return text;
}

/* A note holds three addresses, then provider, name and arguments, each with its NUL. `base` is the
 * address of the section .stapsdt.base, which shows how far prelink moved the file. */
static void take_note(Elf *elf, const char *description, size_t bytes, uint64_t base,
		      struct markers_found *found)
{
	const char *at = description + 3 * sizeof(uint64_t), *end = description + bytes;
	const char *provider, *name, *arguments;
	uint64_t addresses[3];
	struct marker *marker = &found->markers[found->count];
	int kind = 0;

	if (bytes < sizeof(addresses) || !(provider = next_string(&at, end)) ||
	    strcmp(provider, "faultline") != 0)
		return;
	memcpy(addresses, description, sizeof(addresses));
	name = next_string(&at, end);
	arguments = name ? next_string(&at, end) : NULL;
	while (arguments && kind < MARKER_KIND_COUNT && strcmp(kinds[kind].name, name) != 0)
		kind++;
	if (!arguments || kind == MARKER_KIND_COUNT)
		return;
	if (found->count == NOTES_MARKERS_MAX) {
		found->status = -E2BIG;
		return;
	}
	*marker = (struct marker) { .spec.kind = kind };
	if (base && addresses[1])
		addresses[0] += base - addresses[1];
	if (notes_arguments(arguments, marker->spec.args) != kinds[kind].args ||
	    !elf_file_offset(elf, addresses[0], PF_X, &marker->offset) ||
	    (addresses[2] && !elf_file_offset(elf, addresses[2], PF_W, &marker->semaphore))) {
		found->status = -ENOTSUP;
		return;
	}
	found->count++;
}

static void take_notes(Elf *elf, Elf_Scn *section, uint64_t base, struct markers_found *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name, description;
	GElf_Nhdr note;

	/* Stop as soon as the file is refused. */
	while (data && !found->status &&
	       (at = gelf_getnote(data, at, &note, &name, &description)) > 0)
		if (note.n_namesz == sizeof("stapsdt") &&
		    !memcmp((const char *)data->d_buf + name, "stapsdt", sizeof("stapsdt")))
			take_note(elf, (const char *)data->d_buf + description, note.n_descsz, base,
				  found);
}

static void read_notes(int fd, struct markers_found *found)
{
	Elf_Scn *notes;
	GElf_Shdr header;
	uint64_t base = 0;
	Elf *elf;

	memset(found, 0, sizeof(*found));
	if (elf_file_open(fd, &elf) == -E2BIG)
		found->status = -E2BIG;
	if (!elf)
		return;
	notes = elf_file_section(fd, elf, ".note.stapsdt", &header);
	if (!notes || header.sh_type != SHT_NOTE)
		goto out;
	if (header.sh_size > NOTES_BYTES_MAX) {
		found->status = -E2BIG;
		goto out;
	}
	if (elf_file_section(fd, elf, ".stapsdt.base", &header))
		base = header.sh_addr;
	take_notes(elf, notes, base, found);
out:
	elf_end(elf);
}

static void find_confined(void *context, void *out)
{
	read_notes(*(const int *)context, out);
}

struct waited_fds {
	const int *fds;
	size_t count;
};

static void suspect_confined(void *context, void *out)
{
	const struct waited_fds *batch = context;
	unsigned char *suspected = out;
	static struct markers_found found;

	for (size_t i = 0; i < batch->count; i++) {
		read_notes(batch->fds[i], &found);
		suspected[i] = found.count || found.status;
	}
}

/* --- checking the results --- */

/* Requires the one-byte nop of sdt.h. Linux 6.18 optimizes a longer one to a call, which crashed
 * forked children. Anything else may not be the start of an instruction, and a breakpoint would
 * corrupt it. */
static bool is_nop(int fd, uint64_t offset)
{
#if defined(__x86_64__)
	static const unsigned char nop[] = { 0x90 };
#else
	static const unsigned char nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
#endif
	unsigned char there[sizeof(nop)];

	return pread(fd, there, sizeof(there), offset) == sizeof(there) &&
	       !memcmp(there, nop, sizeof(nop));
}

static bool is_sound(const struct marker_spec *spec)
{
	const __u16 last = MARKER_REGISTERS_BYTES - sizeof(uint64_t);

	if (spec->kind >= MARKER_KIND_COUNT)
		return false;
	for (size_t i = 0; i < MARKER_ARGS_MAX; i++)
		if (spec->args[i].source > MARKER_MEMORY || spec->args[i].base > last ||
		    spec->args[i].index > last)
			return false;
	return true;
}

void notes_find(int fd, struct markers_found *found)
{
	int err = confined_run(find_confined, &fd, found, sizeof(*found), &time_budget);

	if (!err && found->count > NOTES_MARKERS_MAX)
		err = -EPROTO;
	for (uint32_t i = 0; !err && i < found->count; i++)
		if (!is_sound(&found->markers[i].spec) || !is_nop(fd, found->markers[i].offset))
			err = -ENOTSUP;
	if (err) {
		found->status = err;
		found->count = 0;
	}
}

void notes_suspect(const int *fds, size_t count, bool *suspected)
{
	struct waited_fds batch = { fds, count };
	unsigned char out[NOTES_BATCH_MAX] = { 0 };
	int err = confined_run(suspect_confined, &batch, out, sizeof(out), &time_budget);

	/* Any file may have caused an error: suspect all, so that each is read by itself. */
	for (size_t i = 0; i < count; i++)
		suspected[i] = err || out[i];
}
