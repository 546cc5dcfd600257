/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses the types that an object needs, and writes them. */
#include "capture/support/types.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collections/grow.h"
#include "base/write_all.h"
#include "capture/support/modules.h"

/* Modules with types that the kernel side reads. */
static const char *const modules[] = { "overlay", "btrfs", "iomap", "nvme_core",
				       LAYER_MODULES(MODULE_NAME) };

#define MODULES (sizeof(modules) / sizeof(modules[0]))
#define UNWANTED (BTF_KIND_FWD << 24) /* replaces a type that is left out */

struct buffer {
	char *data;
	size_t used, size;
	bool failed;
};

/* One BTF: the kernel's, or a module's, whose type ids follow the kernel's. */
struct type_layer {
	const struct btf *btf;
	const struct type_names *names;
	uint32_t first, end;
	uint32_t *numbers; /* new id of each type; 0: left out */
};

struct thin {
	const struct btf *object;
	bool *found; /* by the object's type ids: the kernel has such a type */
	struct type_layer kernel, layer;
	uint32_t last; /* last id assigned */
	struct buffer types, strings;
	uint32_t *pending;
	size_t pending_count, pending_room;
	bool failed;
};

/* --- what the object needs --- */

/* As in CO-RE: a suffix after three underscores distinguishes flavours of one type. */
static size_t essential_length(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = length; i >= 5; i--) {
		const char *at = name + i - 5;

		if (at[0] != '_' && !memcmp(at + 1, "___", 3) && at[4] != '_')
			return i - 4;
	}
	return length;
}

static bool can_be_asked_for(const struct btf_type *type)
{
	return type->name_off && (btf_is_composite(type) || btf_is_any_enum(type) ||
				  btf_kind(type) == BTF_KIND_TYPEDEF);
}

/* --- choosing --- */

static uint32_t *number_of(struct thin *thin, uint32_t id)
{
	struct type_layer *layer = id < thin->kernel.end ? &thin->kernel : &thin->layer;

	return id < layer->end ? &layer->numbers[id - layer->first] : NULL;
}

/* Wants a type, with all that it contains. */
static void want(struct thin *thin, uint32_t id)
{
	uint32_t *number = id ? number_of(thin, id) : NULL;

	if (!number || *number)
		return;
	*number = UINT32_MAX;
	if (GROW(thin->pending, thin->pending_room, thin->pending_count + 1))
		thin->pending[thin->pending_count++] = id;
	else
		thin->failed = true;
}

static void want_parts(struct thin *thin, const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (unsigned int i = 0; i < btf_vlen(type); i++)
			want(thin, btf_members(type)[i].type);
		break;
	case BTF_KIND_ARRAY:
		want(thin, btf_array(type)->type);
		want(thin, btf_array(type)->index_type);
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		want(thin, type->type);
		break;
	}
}

/* Chooses the needed types that a layer has and earlier layers lack. */
static void choose(struct thin *thin, const struct type_layer *layer, bool keep)
{
	uint32_t count = btf__type_cnt(thin->object);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(thin->object, id);
		const char *name = btf__name_by_offset(thin->object, type->name_off);
		size_t slot = 0, bytes = essential_length(name);
		uint32_t found;

		if (!can_be_asked_for(type) || thin->found[id])
			continue;
		while ((found = type_names_next(layer->names, name, bytes, &slot))) {
			if (!can_be_asked_for(btf__type_by_id(layer->btf, found)))
				continue;
			want(thin, found);
			thin->found[id] |= keep;
		}
	}
	while (thin->pending_count && !thin->failed)
		want_parts(thin, btf__type_by_id(layer->btf, thin->pending[--thin->pending_count]));
}

/* --- writing --- */

static void *append(struct buffer *buffer, const void *data, size_t bytes)
{
	if (buffer->used + bytes > buffer->size) {
		size_t size = 2 * (buffer->used + bytes) + (64 << 10);
		char *grown = realloc(buffer->data, size);

		if (!grown) {
			buffer->failed = true;
			return NULL;
		}
		buffer->data = grown;
		buffer->size = size;
	}
	memcpy(buffer->data + buffer->used, data, bytes);
	buffer->used += bytes;
	return buffer->data + buffer->used - bytes;
}

static uint32_t add_string(struct thin *thin, const struct type_layer *layer, uint32_t offset)
{
	const char *text = offset ? btf__name_by_offset(layer->btf, offset) : NULL;
	uint32_t at = thin->strings.used;

	return text && *text && append(&thin->strings, text, strlen(text) + 1) ? at : 0;
}

static uint32_t new_number(struct thin *thin, uint32_t id)
{
	const uint32_t *number = id ? number_of(thin, id) : NULL;

	return number ? *number : 0;
}

static size_t rest_bytes(const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return sizeof(__u32);
	case BTF_KIND_ENUM:
		return btf_vlen(type) * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return btf_vlen(type) * sizeof(struct btf_enum64);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen(type) * sizeof(struct btf_member);
	default:
		return 0;
	}
}

/* A module may define its own type under a kernel type's name. It is written for the types that
 * contain it, but anonymously: the name belongs to the kernel's type. */
static bool shadows_kernel_type(const struct thin *thin, const struct type_layer *layer,
				const struct btf_type *type)
{
	const char *name = btf__name_by_offset(layer->btf, type->name_off);
	size_t slot = 0;

	return layer == &thin->layer && (btf_is_composite(type) || btf_is_any_enum(type)) &&
	       type_names_next(thin->kernel.names, name, strlen(name), &slot);
}

static void add_type(struct thin *thin, const struct type_layer *layer, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(layer->btf, id);
	struct btf_type *copy = append(&thin->types, type, sizeof(*type) + rest_bytes(type));

	if (!copy)
		return;
	copy->name_off = shadows_kernel_type(thin, layer, type)
				 ? 0
				 : add_string(thin, layer, type->name_off);
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (unsigned int i = 0; i < btf_vlen(type); i++) {
			struct btf_member *member = &btf_members(copy)[i];

			member->name_off = add_string(thin, layer, member->name_off);
			member->type = new_number(thin, member->type);
		}
		break;
	case BTF_KIND_ENUM:
		for (unsigned int i = 0; i < btf_vlen(type); i++)
			btf_enum(copy)[i].name_off =
				add_string(thin, layer, btf_enum(copy)[i].name_off);
		break;
	case BTF_KIND_ENUM64:
		for (unsigned int i = 0; i < btf_vlen(type); i++)
			btf_enum64(copy)[i].name_off =
				add_string(thin, layer, btf_enum64(copy)[i].name_off);
		break;
	case BTF_KIND_ARRAY:
		btf_array(copy)->type = new_number(thin, btf_array(copy)->type);
		btf_array(copy)->index_type = new_number(thin, btf_array(copy)->index_type);
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
		break; /* they have sizes, not types */
	case BTF_KIND_PTR:
		copy->type = 0;
		break;
	default:
		copy->type = new_number(thin, copy->type);
	}
}

/* Adds the types of the kernel proper, up to the last wanted one. */
static void add_kernel(struct thin *thin)
{
	static const struct btf_type unwanted = { .info = UNWANTED };
	struct type_layer *layer = &thin->kernel;

	for (uint32_t id = layer->first; id < layer->end; id++)
		if (layer->numbers[id - layer->first]) {
			layer->numbers[id - layer->first] = id;
			thin->last = id;
		}
	for (uint32_t id = layer->first; id <= thin->last; id++) {
		if (layer->numbers[id - layer->first])
			add_type(thin, layer, id);
		else
			append(&thin->types, &unwanted, sizeof(unwanted));
	}
}

static void add_module(struct thin *thin)
{
	struct type_layer *layer = &thin->layer;

	for (uint32_t id = layer->first; id < layer->end; id++)
		if (layer->numbers[id - layer->first])
			layer->numbers[id - layer->first] = ++thin->last;
	for (uint32_t id = layer->first; id < layer->end; id++)
		if (layer->numbers[id - layer->first])
			add_type(thin, layer, id);
}

static int open_layer(struct type_layer *layer, const struct btf *btf,
		      const struct type_names *names, uint32_t first)
{
	*layer = (struct type_layer) { btf, names, first, btf__type_cnt(btf), NULL };
	layer->numbers = calloc(layer->end - first + 1, sizeof(*layer->numbers));
	return layer->numbers ? 0 : -ENOMEM;
}

/* Runs twice per module. The first run chooses, before anything is written, because a module's
 * types may need kernel types that nothing else needs; the second writes the module's own. */
static void take_module(struct thin *thin, const struct btf *btf, void (*take)(struct thin *thin))
{
	struct type_names *names;

	if (type_names_open(&names, btf, thin->kernel.end)) {
		thin->failed = true;
		return;
	}
	if (open_layer(&thin->layer, btf, names, thin->kernel.end))
		thin->failed = true;
	else
		choose(thin, &thin->layer, take != NULL);
	if (take && !thin->failed)
		take(thin);
	free(thin->layer.numbers);
	thin->layer = (struct type_layer) { 0 };
	type_names_close(names);
}

static void each_module(struct thin *thin, struct btf *const *btfs, void (*take)(struct thin *thin))
{
	for (size_t i = 0; i < MODULES && !thin->failed; i++)
		if (btfs[i])
			take_module(thin, btfs[i], take);
}

static int write_file(const struct thin *thin, int fd)
{
	const struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = thin->types.used,
		.str_off = thin->types.used,
		.str_len = thin->strings.used,
	};
	int err = write_all(fd, &header, sizeof(header));

	if (!err)
		err = write_all(fd, thin->types.data, thin->types.used);
	return err ? err : write_all(fd, thin->strings.data, thin->strings.used);
}

int types_write(int fd, const struct btf *kernel, const struct type_names *names,
		const struct btf *object)
{
	struct btf *btfs[MODULES] = { 0 };
	struct thin thin = { .object = object };
	int err = open_layer(&thin.kernel, kernel, names, 1);

	thin.found = calloc(btf__type_cnt(object), sizeof(*thin.found));
	if (err || !thin.found) {
		err = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < MODULES; i++)
		btfs[i] = btf__load_module_btf(modules[i], (struct btf *)kernel);
	append(&thin.strings, "", 1);
	choose(&thin, &thin.kernel, true);
	each_module(&thin, btfs, NULL);
	add_kernel(&thin);
	each_module(&thin, btfs, add_module);
	if (thin.failed || thin.types.failed || thin.strings.failed)
		err = -ENOMEM;
	else
		err = write_file(&thin, fd);
out:
	for (size_t i = 0; i < MODULES; i++)
		btf__free(btfs[i]);
	free(thin.kernel.numbers);
	free(thin.found);
	free(thin.pending);
	free(thin.types.data);
	free(thin.strings.data);
	return err;
}
