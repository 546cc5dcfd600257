/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Integers at any address: columns may be unaligned. */
#pragma once

#include <stdint.h>

#define UNALIGNED(type) type __attribute__((aligned(1), may_alias))
typedef UNALIGNED(uint16_t) unaligned_u16;
typedef UNALIGNED(uint32_t) unaligned_u32;
typedef UNALIGNED(uint64_t) unaligned_u64;
typedef UNALIGNED(int16_t) unaligned_i16;
typedef UNALIGNED(int32_t) unaligned_i32;
#undef UNALIGNED
