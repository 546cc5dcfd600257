/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether a method reads or writes. */
#ifndef FAULTLINE_METHOD_SIDE_H
#define FAULTLINE_METHOD_SIDE_H

enum method_side { SIDE_READ, SIDE_WRITE, SIDES };

#endif
