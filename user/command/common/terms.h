/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The terms of reports with short explanations, for 'faultline help terms'. A test asserts that the
 * manual page says the same.
 */
#ifndef FAULTLINE_TERMS_H
#define FAULTLINE_TERMS_H

/* Returns the exit status. */
int terms_print(void);

#endif
