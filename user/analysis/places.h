/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "places": its columns, for those who compare them.
 */
#ifndef FAULTLINE_PLACES_H
#define FAULTLINE_PLACES_H

#include "analysis/analysis.h"

enum place_column {
	PLACE_TIME,
	PLACE_OPERATIONS,
	PLACE_READ,
	PLACE_WRITTEN,
	PLACE_FETCHED,
	PLACE_CREATED,
	PLACE_FILES,
	PLACE_PATH,
	PLACE_COLUMNS,
};

#endif
