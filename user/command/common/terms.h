/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints the terms of reports: 'faultline help terms'. */
#pragma once

/* Returns the exit status. */
int terms_print(void);
