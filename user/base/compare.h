/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Comparisons for qsort() and bsearch(). */
#ifndef FAULTLINE_BASE_COMPARE_H
#define FAULTLINE_BASE_COMPARE_H

/* Negative, 0 or positive, for numbers of one type. COMPARE(b, a) sorts the largest first, and
 * COMPARE(...) ?: COMPARE(...) by one number after the other. Arguments are evaluated twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
