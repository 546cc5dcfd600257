/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats numbers as the text report does. */

const NOTHING = '\u2013'; /* not measured */

function digits(value) {
	return value.toFixed(value >= 99.95 ? 0 : 1);
}

function scaled(value, step, units) {
	let i = 0;
	while (Math.round(value) >= step && i < units.length - 1) {
		value /= step;
		i++;
	}
	return (i === 0 ? String(Math.round(value)) : digits(value)) + '\u00a0' + units[i];
}

function bytesText(value) {
	return value === null ? NOTHING
		: scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']);
}

function timeText(ns) {
	if (ns === null)
		return NOTHING;
	if (ns < 59.95e9)
		return scaled(ns, 1000, ['ns', 'us', 'ms', 's']);
	const seconds = Math.round(ns / 1e9), pad = (number) => String(number).padStart(2, '0');
	if (seconds < 3600)
		return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`;
	if (seconds < 86400)
		return `${Math.floor(seconds / 3600)}h ${pad(Math.floor(seconds / 60) % 60)}m`;
	return `${Math.floor(seconds / 86400)}d ${pad(Math.floor(seconds / 3600) % 24)}h`;
}

function countText(value) {
	return value === null ? NOTHING : Math.round(value).toLocaleString('en-US');
}
