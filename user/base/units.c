/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats and parses numbers for people. */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t size;
};

static const struct unit byte_units[] = {
	{ "B", 1 },
	{ "KiB", 1ull << 10 },
	{ "MiB", 1ull << 20 },
	{ "GiB", 1ull << 30 },
	{ "TiB", 1ull << 40 },
	{ "PiB", 1ull << 50 },
	{ "EiB", 1ull << 60 },
};

static const struct unit time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
};

/* Uses the largest unit that leaves at least 1.0, with one decimal below 100. The rounded value
 * decides: 1023.97 KiB is 1.0 MiB, not 1024 KiB. */
static char *scale(char *out, uint64_t value, const struct unit *units, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t size = units[i].size;
		uint64_t whole = value / size + (value % size >= size - size / 2);
		unsigned __int128 tenths = ((unsigned __int128)value * 10 + size / 2) / size;

		if (i + 1 < count && whole >= units[i + 1].size / size)
			continue;
		if (i == 0 || tenths >= 1000)
			snprintf(out, UNITS_TEXT, "%" PRIu64 " %s", whole, units[i].name);
		else
			snprintf(out, UNITS_TEXT, "%u.%u %s", (unsigned int)(tenths / 10),
				 (unsigned int)(tenths % 10), units[i].name);
		break;
	}
	return out;
}

char *units_bytes(char out[UNITS_TEXT], uint64_t bytes)
{
	return scale(out, bytes, byte_units, sizeof(byte_units) / sizeof(byte_units[0]));
}

char *units_ns(char out[UNITS_TEXT], uint64_t ns)
{
	uint64_t seconds = ns / 1000000000 + (ns % 1000000000 >= 500000000);

	if (ns < 59950000000)
		return scale(out, ns, time_units, sizeof(time_units) / sizeof(time_units[0]));
	if (seconds < 3600)
		snprintf(out, UNITS_TEXT, "%um %02us", (unsigned int)(seconds / 60),
			 (unsigned int)(seconds % 60));
	else if (seconds < 86400)
		snprintf(out, UNITS_TEXT, "%uh %02um", (unsigned int)(seconds / 3600),
			 (unsigned int)(seconds / 60 % 60));
	else
		snprintf(out, UNITS_TEXT, "%" PRIu64 "d %02uh", seconds / 86400,
			 (unsigned int)(seconds / 3600 % 24));
	return out;
}

char *units_count(char out[UNITS_TEXT], uint64_t count)
{
	char digits[UNITS_TEXT];
	size_t length = snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

char *units_share(char out[UNITS_TEXT], double share)
{
	if (!isfinite(share))
		strcpy(out, "-");
	else if (share > 0 && share < 0.0005)
		strcpy(out, "<0.1%");
	else if (share <= 0)
		strcpy(out, "0%");
	else
		snprintf(out, UNITS_TEXT, "%.1f%%", share < 1e6 ? share * 100 : 1e8);
	return out;
}

char *units_share_bound(char out[UNITS_TEXT], const char *bound, double share)
{
	char text[UNITS_TEXT];

	units_share(text, share);
	if (*text != '<')
		snprintf(out, UNITS_TEXT, "%s%s", bound, text);
	else
		strcpy(out, !strcmp(bound, "≥") ? ">0%" : text);
	return out;
}

char *units_device(char out[UNITS_TEXT], uint64_t dev)
{
	snprintf(out, UNITS_TEXT, "%" PRIu64 ":%" PRIu64, dev >> 20, dev & 0xfffff);
	return out;
}

/* --- parsing --- */

bool units_read_number(const char *text, bool bytes, uint64_t *out)
{
	static const char letters[] = "KMGT";
	unsigned int shift = 0;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (bytes && *end) {
		size_t unit = strcspn(letters, (char[]) { *end & ~0x20, 0 });

		if (!letters[unit])
			return false;
		shift = 10 * (unit + 1);
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B')
			end++;
	}
	if (*end || (shift && *out >> (64 - shift)))
		return false;
	*out <<= shift;
	return true;
}

bool units_read_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1000000000 },    { "s", 1000000000 }, { "ns", 1 },
		      { "us", 1000 },	     { "ms", 1000000 },	  { "m", 60000000000 },
		      { "h", 3600000000000 } };
	uint64_t whole, part = 0, digit = 1000000000, unit = 0;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++) {
			digit /= 10;
			part += digit * (*end - '0');
		}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name))
			unit = units[i].ns;
	/* `part` is in billionths of the unit; the result is below one unit, so it fits 64 bits. */
	part = (unsigned __int128)part * unit / 1000000000;
	return unit && !__builtin_mul_overflow(whole, unit, ns) &&
	       !__builtin_add_overflow(*ns, part, ns);
}
