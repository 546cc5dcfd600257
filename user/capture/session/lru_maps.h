/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sizes of the maps that replace their least recently used entries. */
#pragma once

struct bpf_object;

/*
 * Each CPU keeps up to 128 free entries of such a map for itself and, when they run out, evicts the
 * least recently used of all: with a fixed size, many CPUs would evict entries in use. So sets the
 * size of each by the number of possible CPUs, where what it declares is less.
 */
void lru_maps_size(struct bpf_object *object, unsigned int cpus);
