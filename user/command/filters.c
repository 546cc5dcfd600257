/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What filters share. Knows nothing of what is filtered.
 */
#include "command/filters.h"

#include "command/command.h"
#include "log.h"

int filters_check(const struct filter *filter)
{
	if (filter->until_ns > filter->from_ns)
		return 0;
	log_error("--until is not after --from: there is no time between them");
	return EXIT_USAGE;
}
