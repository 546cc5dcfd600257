/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "paths": its columns, for comparing runs. */
#pragma once

#include "analysis/shared/analysis.h"

enum path_column {
	PATH_TIME,
	PATH_OPERATIONS,
	PATH_READ,
	PATH_WRITTEN,
	PATH_FETCHED,
	PATH_CREATED,
	PATH_FILES,
	PATH_PATH,
	PATH_COLUMNS,
};
