/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints the terms of reports: 'faultline help terms'. */
#ifndef FAULTLINE_COMMAND_TERMS_H
#define FAULTLINE_COMMAND_TERMS_H

/* Returns the exit status. */
int terms_print(void);

#endif
