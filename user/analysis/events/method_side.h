/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether a method reads or writes. */
#pragma once

enum method_side { SIDE_READ, SIDE_WRITE, SIDES };
