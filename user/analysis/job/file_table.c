/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loads the files that traces name, and finds them by id or identity. */
#include "analysis/job/file_table.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"
#include "base/units.h"
#include "trace/format/flags.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                    \
	(1ull << FILE_TIME | 1ull << FILE_ID | 1ull << FILE_DEV | 1ull << FILE_INO |               \
	 1ull << FILE_GENERATION | 1ull << FILE_MODE | 1ull << FILE_SIZE | 1ull << FILE_FLAGS |    \
	 1ull << FILE_PATH | 1ull << FILE_READAHEAD | 1ull << FILE_FILESYSTEM |                    \
	 1ull << FILE_CAPACITY | 1ull << FILE_STRIPES | 1ull << FILE_STRIPE_BYTES |                \
	 1ull << FILE_INSTANCE)

/* --- lookup --- */

static uint64_t hash_identity(const struct file *file, uint64_t seed)
{
	const uint64_t words[] = { (uint64_t)file->host << 32 | file->dev, file->ino,
				   (uint64_t)file->instance << 32 | file->generation };

	return number_index_hash(seed, words, sizeof(words) / sizeof(words[0]));
}

static uint64_t hash_of_file(const void *files, uint32_t number, uint64_t seed)
{
	return hash_identity((const struct file *)files + number, seed);
}

static uint64_t hash_of_id(const void *ids, uint32_t number, uint64_t seed)
{
	const uint64_t id = ((const struct file_id *)ids)[number].id;

	return number_index_hash(seed, &id, 1);
}

/* Returns the number of the file of a row, or FILE_NONE. */
static uint32_t find_identity(const struct file_table *table, const struct file *row)
{
	uint64_t at = hash_identity(row, table->identities.seed);
	uint32_t number;

	while ((number = number_index_next(&table->identities, &at)) != UINT32_MAX) {
		const struct file *file = &table->files[number];

		if (file->ino == row->ino && file->dev == row->dev && file->host == row->host &&
		    file->generation == row->generation && file->instance == row->instance)
			return number;
	}
	return FILE_NONE;
}

/* Ids count up, and most come in order: returns the index of one that does. */
static uint64_t guess_of(const struct file_ids *ids, uint64_t id)
{
	return ids->count ? id - ids->ids[0].id : 0;
}

static struct file_id *find_id(const struct file_ids *ids, uint64_t id)
{
	uint64_t guess = guess_of(ids, id), at;
	uint32_t number;

	if (guess < ids->count && ids->ids[guess].id == id)
		return &ids->ids[guess];
	at = number_index_hash(ids->index.seed, &id, 1);
	while ((number = number_index_next(&ids->index, &at)) != UINT32_MAX)
		if (ids->ids[number].id == id)
			return &ids->ids[number];
	return NULL;
}

static int add_file(struct file_table *table, const struct file *file)
{
	if (!GROW(table->files, table->room, table->count + 1))
		return -ENOMEM;
	table->files[table->count++] = *file;
	return 0;
}

/* --- the table --- */

/* Reserves room for all possible rows, within reason: unused memory costs nothing. */
#define RESERVED_MAX (1u << 22)

static size_t room_for(const struct trace_reader *trace)
{
	uint64_t rows = 1;

	for (size_t i = 0; i < trace_reader_block_count(trace); i++) {
		const struct trace_block_info *info = trace_reader_block_info(trace, i);

		rows += info->kind == TRACE_FILE ? info->rows : 0;
	}
	return rows < RESERVED_MAX ? rows : RESERVED_MAX;
}

int file_table_init(struct file_table *table, struct trace_reader *const *traces,
		    size_t trace_count)
{
	static const struct file unknown;

	*table = (struct file_table) { .traces = traces, .trace_count = trace_count };
	number_index_init(&table->identities, hash_of_file);
	map_init(&table->first_paths, 1, 2);
	table->ids = calloc(trace_count, sizeof(*table->ids));
	if (!table->ids)
		return -ENOMEM;
	for (size_t i = 0; i < trace_count; i++) {
		struct file_ids *ids = &table->ids[i];

		number_index_init(&ids->index, hash_of_id);
		ids->room = room_for(traces[i]);
		ids->ids = calloc(ids->room, sizeof(*ids->ids));
		if (!ids->ids)
			return -ENOMEM;
		table->room += ids->room;
	}
	table->room = table->room < RESERVED_MAX ? table->room + 1 : RESERVED_MAX;
	table->files = calloc(table->room, sizeof(*table->files));
	if (!table->files || !number_index_reserve(&table->identities, table->files, table->room))
		return -ENOMEM;
	return add_file(table, &unknown);
}

void file_table_free(struct file_table *table)
{
	for (size_t i = 0; table->ids && i < table->trace_count; i++) {
		number_index_free(&table->ids[i].index);
		free(table->ids[i].ids);
	}
	number_index_free(&table->identities);
	map_free(&table->first_paths);
	map_free(&table->imported);
	free(table->ids);
	free(table->files);
	free(table->lost_names);
	arena_free(&table->lost_texts);
	*table = (struct file_table) { 0 };
}

static bool same_path(const struct file_table *table, const struct file *a, const struct file *b)
{
	struct trace_string first, second;

	if (a->trace == b->trace && a->path == b->path)
		return true;
	first = trace_reader_string(table->traces[a->trace], a->path);
	second = trace_reader_string(table->traces[b->trace], b->path);
	return first.length == second.length && !memcmp(first.bytes, second.bytes, first.length);
}

/* Rows of one file come in trace order, not in time order. */
static int keep_first(struct file_table *table, uint32_t number, const struct file *row)
{
	const struct file *file = &table->files[number];
	const struct file *first = row->time < file->time ? row : file;
	const uint64_t key = number;
	uint64_t *kept;
	bool added;

	if (!row->path || !file->path || same_path(table, row, file))
		return 0;
	kept = map_add(&table->first_paths, &key, &added);
	if (!kept)
		return -ENOMEM;
	if (added || first->time < kept[0]) {
		kept[0] = first->time;
		kept[1] = (uint64_t)first->trace << 32 | first->path;
	}
	return 0;
}

/* A later row of the same file has its current name (after a rename) and size. */
static void update(struct file *file, const struct file *row)
{
	uint16_t deleted = (file->flags | row->flags) & TRACE_FILE_DELETED;
	const struct file striped = row->stripes ? *row : *file;

	if (row->time >= file->time) {
		const struct file named = row->path ? *row : *file;

		*file = *row;
		file->path = named.path;
		file->filesystem = named.filesystem;
		file->trace = named.trace;
	}
	file->flags |= deleted;
	file->stripes = striped.stripes;
	file->stripe_kib = striped.stripe_kib;
}

static int set_id(struct file_ids *ids, uint64_t id, uint32_t file, uint64_t time)
{
	struct file_id *known = find_id(ids, id);

	if (!known) {
		if (!GROW(ids->ids, ids->room, ids->count + 1))
			return -ENOMEM;
		ids->ids[ids->count] = (struct file_id) { time, id, file };
		if (guess_of(ids, id) != ids->count &&
		    !number_index_add(&ids->index, ids->ids, ids->count))
			return -ENOMEM;
		ids->count++;
	} else if (time >= known->time) {
		known->file = file;
		known->time = time;
	}
	return 0;
}

static int load_row(struct file_table *table, uint64_t id, const struct file *row)
{
	uint32_t number = find_identity(table, row);

	if (number != FILE_NONE) {
		if (keep_first(table, number, row))
			return -ENOMEM;
		update(&table->files[number], row);
	} else if (table->max && table->count >= table->max) {
		table->overflow++;
		return 0;
	} else {
		number = table->count;
		if (add_file(table, row) ||
		    !number_index_add(&table->identities, table->files, number))
			return -ENOMEM;
	}
	return set_id(&table->ids[row->trace], id, number, row->time);
}

static int load_block(struct file_table *table, uint32_t trace, uint32_t host, size_t block,
		      struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	uint32_t rows = trace_reader_block_info(reader, block)->rows;
	const uint64_t *columns[FILE_COLUMNS];
	int status = trace_reader_read(reader, block, COLUMNS, error);

	if (status == -EINVAL) { /* damaged: the other blocks are still useful */
		trace_reader_pass_over(reader, block, error);
		return 0;
	}
	if (status)
		return status;
	for (unsigned int i = 0; i < FILE_COLUMNS; i++)
		columns[i] = trace_reader_column(reader, i);
	for (uint32_t i = 0; i < rows && !status; i++) {
		const struct file row = {
			.dev = number_min(columns[FILE_DEV][i], UINT32_MAX),
			.ino = columns[FILE_INO][i],
			.generation = number_min(columns[FILE_GENERATION][i], UINT32_MAX),
			.instance = number_min(columns[FILE_INSTANCE][i], UINT32_MAX),
			.host = host,
			.trace = trace,
			.path = number_min(columns[FILE_PATH][i], UINT32_MAX),
			.filesystem = number_min(columns[FILE_FILESYSTEM][i], UINT32_MAX),
			.readahead_bytes = number_min(columns[FILE_READAHEAD][i], UINT32_MAX),
			.capacity_kib = number_min(columns[FILE_CAPACITY][i] >> 10, UINT32_MAX),
			.stripe_kib = number_min(columns[FILE_STRIPE_BYTES][i] >> 10, UINT32_MAX),
			.stripes = number_min(columns[FILE_STRIPES][i], UINT16_MAX),
			.time = columns[FILE_TIME][i],
			.size_bytes = columns[FILE_SIZE][i],
			.mode = number_min(columns[FILE_MODE][i], UINT16_MAX),
			.flags = columns[FILE_FLAGS][i] & UINT16_MAX,
		};

		if (columns[FILE_ID][i] && columns[FILE_ID][i] <= UINT32_MAX)
			status = load_row(table, columns[FILE_ID][i], &row);
	}
	return status;
}

int file_table_load(struct file_table *table, uint32_t trace, uint32_t host,
		    struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	size_t blocks = trace_reader_block_count(reader);
	int status = 0;

	for (size_t i = 0; i < blocks && !status; i++)
		if (trace_reader_block_info(reader, i)->kind == TRACE_FILE)
			status = load_block(table, trace, host, i, error);
	return status;
}

uint32_t file_table_find(const struct file_table *table, uint32_t trace, uint64_t id)
{
	const struct file_id *known;

	if (!id)
		return FILE_NONE;
	known = find_id(&table->ids[trace], id);
	return known ? known->file : FILE_UNKNOWN;
}

static const struct trace_string none = { .bytes = "", .length = 0 };

struct trace_string file_table_path(const struct file_table *table, uint32_t file)
{
	if (file >= table->count || file == FILE_UNKNOWN)
		return none;
	return trace_reader_string(table->traces[table->files[file].trace],
				   table->files[file].path);
}

struct trace_string file_table_first_path(const struct file_table *table, uint32_t file)
{
	const uint64_t key = file;
	const uint64_t *kept = map_find(&table->first_paths, &key);

	return kept ? trace_reader_string(table->traces[kept[1] >> 32], kept[1] & UINT32_MAX)
		    : file_table_path(table, file);
}

struct trace_string file_table_filesystem(const struct file_table *table, uint32_t file)
{
	if (file >= table->count || file == FILE_UNKNOWN)
		return none;
	return trace_reader_string(table->traces[table->files[file].trace],
				   table->files[file].filesystem);
}

bool file_table_is_on(const struct file_table *table, uint32_t file, unsigned int trait)
{
	return file_system_traits(file_table_filesystem(table, file)) & trait;
}

/* --- lost names --- */

static int add_lost(struct file_table *table, uint32_t number)
{
	const struct file *file = &table->files[number];
	char text[64 + UNITS_TEXT], device[UNITS_TEXT];
	int length = snprintf(text, sizeof(text), "(name lost, dev %s inode %" PRIu64 ")",
			      units_device(device, file->dev), file->ino);
	const char *copy = arena_text(&table->lost_texts, text, length);

	if (!copy || !GROW(table->lost_names, table->lost_room, table->lost_count + 1))
		return -ENOMEM;
	table->lost_names[table->lost_count++] =
		(struct lost_name) { number, { .bytes = copy, .length = length } };
	return 0;
}

#define COMPILED "/__pycache__"
#define SOURCES_MIN 20 /* fewer sources that no program imports are not a corpus */

static int add_imported(struct file_table *table, struct trace_string path)
{
	const char *found =
		path.length ? memmem(path.bytes, path.length, COMPILED, strlen(COMPILED)) : NULL;
	uint64_t key;
	bool added;

	if (!found)
		return 0;
	key = map_hash_bytes(&table->imported, path.bytes, found - path.bytes);
	return map_add(&table->imported, &key, &added) ? 0 : -ENOMEM;
}

static bool has_imported(const struct file_table *table, struct trace_string path)
{
	uint64_t key;

	while (path.length && path.bytes[path.length - 1] != '/')
		path.length--;
	if (!path.length)
		return false;
	key = map_hash_bytes(&table->imported, path.bytes, path.length - 1);
	return map_find(&table->imported, &key);
}

static bool is_source(struct trace_string path)
{
	return path.length > 3 && !memcmp(path.bytes + path.length - 3, ".py", 3);
}

static int find_imported(struct file_table *table)
{
	int status = 0;

	map_init(&table->imported, 1, 0);
	for (uint32_t i = FILE_UNKNOWN + 1; i < table->count && !status; i++)
		status = add_imported(table, file_table_path(table, i));
	for (uint32_t i = FILE_UNKNOWN + 1; i < table->count && !status; i++)
		table->sources += is_source(file_table_path(table, i)) &&
				  !has_imported(table, file_table_path(table, i));
	return status;
}

bool file_table_is_imported(const struct file_table *table, const char *path, size_t length)
{
	return table->sources < SOURCES_MIN ||
	       has_imported(table, (struct trace_string) { path, length });
}

int file_table_find_lost(struct file_table *table)
{
	bool *lacking = calloc(table->trace_count, sizeof(*lacking)); /* by trace */
	int status = lacking ? 0 : -ENOMEM;

	for (size_t i = 0; i < table->trace_count && !status; i++) {
		lacking[i] = trace_reader_damage(table->traces[i]) ||
			     trace_reader_incomplete(table->traces[i]);
		table->lost_rows += trace_reader_damaged_rows(table->traces[i], TRACE_FILE);
	}
	for (uint32_t i = FILE_UNKNOWN + 1; i < table->count && !status; i++)
		if (lacking[table->files[i].trace] && table->files[i].path &&
		    !file_table_path(table, i).length)
			status = add_lost(table, i);
	free(lacking);
	return status ? status : find_imported(table);
}

static int compare_lost(const void *key, const void *item)
{
	const uint32_t file = *(const uint32_t *)key,
		       other = ((const struct lost_name *)item)->file;

	return COMPARE(file, other);
}

static const struct lost_name *find_lost(const struct file_table *table, uint32_t file)
{
	return table->lost_count ? bsearch(&file, table->lost_names, table->lost_count,
					   sizeof(*table->lost_names), compare_lost)
				 : NULL;
}

bool file_table_is_lost(const struct file_table *table, uint32_t file)
{
	return file == FILE_UNKNOWN ? table->lost_rows : find_lost(table, file) != NULL;
}

bool file_table_is_rest(const struct file_table *table, uint32_t file)
{
	const struct trace_string path = file_table_path(table, file);

	return path.length == strlen(TRACE_OTHER_FILES) &&
	       !memcmp(path.bytes, TRACE_OTHER_FILES, path.length);
}

struct trace_string file_table_name(const struct file_table *table, uint32_t file)
{
	const struct lost_name *lost;

	if (file == FILE_UNKNOWN && table->lost_rows)
		return (struct trace_string) { .bytes = FILES_LOST, .length = strlen(FILES_LOST) };
	lost = find_lost(table, file);
	return lost ? lost->text : file_table_path(table, file);
}
