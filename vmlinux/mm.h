/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory maps and the page cache.
 */
#pragma once

#include "fs.h"
#include "types.h"

struct maple_tree {
	void *ma_root;
} CORE_STRUCT;

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} CORE_STRUCT;

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} CORE_STRUCT;

struct mm_struct {
	struct maple_tree mm_mt;  /* since 6.1 (d4af56c5c7c6) */
	unsigned long start_code; /* lowest address of the program's code */
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
} CORE_STRUCT;

/* Before, mappings are in a red-black tree. */
struct rb_root {
	struct rb_node *rb_node;
} CORE_STRUCT;

struct mm_struct___rb {
	struct rb_root mm_rb;
} CORE_STRUCT;

/* Since 6.13, and in later 6.12 releases: odd while mappings may be changed, else even. */
struct mm_struct___sequence {
	struct {
		unsigned int sequence;
	} mm_lock_seq;
} CORE_STRUCT;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	struct {
		struct rb_node rb; /* in the tree of all mappings of the file */
	} shared;
} CORE_STRUCT;

struct vm_area_struct___rb {
	struct rb_node vm_rb;
} CORE_STRUCT;

/* Since 6.15: 0 if the mapping is not, or no longer, part of an address space. */
struct vm_area_struct___count {
	struct {
		struct {
			int counter;
		} refs;
	} vm_refcnt;
} CORE_STRUCT;

#define VM_SHARED 0x8ul
#define VM_SEQ_READ 0x8000ul
#define VM_RAND_READ 0x10000ul

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
} CORE_STRUCT;

/* The flags are the first word: a plain word, and since 6.18 a struct that holds one. */
struct folio {
	struct address_space *mapping;
	unsigned long index;
	unsigned long _flags_1; /* of the second page: the order is the low byte since 6.6 */
} CORE_STRUCT;

/* Before 6.6 (ebc1baf5c9b4) the order was a field of its own. */
struct folio___order {
	unsigned char _folio_order;
} CORE_STRUCT;

struct page {
	unsigned long compound_head; /* tail page: its head, with bit 0 set */
} CORE_STRUCT;

/* Since 7.2: the head as before, or a mask that yields the head from the page's address. */
struct page___info {
	unsigned long compound_info;
} CORE_STRUCT;

/* Before 5.16 the page cache holds pages; before 6.1 the order of a large one is in its second
 * page. */
struct page___cache {
	struct address_space *mapping;
	unsigned long index;
	unsigned char compound_order;
} CORE_STRUCT;

enum pageflags {
	PG_head = 6, /* relocated: the value differs between kernels */
};

enum fault_flag {
	FAULT_FLAG_WRITE = 1 << 0,
	FAULT_FLAG_TRIED = 1 << 5,
	FAULT_FLAG_USER = 1 << 6,
};

enum vm_fault_reason {
	VM_FAULT_MAJOR = 0x4,
	VM_FAULT_RETRY = 0x400,
	/* OOM, SIGBUS, SIGSEGV, HWPOISON, HWPOISON_LARGE, FALLBACK */
	VM_FAULT_ERROR = 0x1 | 0x2 | 0x40 | 0x10 | 0x20 | 0x800,
};
