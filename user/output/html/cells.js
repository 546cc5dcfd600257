/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats cells of the report's tables as text. */

function shareText(value) {
	if (value === null)
		return NOTHING;
	if (value <= 0)
		return '0%';
	return value < 0.0005 ? '<0.1%' : (value * 100).toFixed(1) + '%';
}

function rateText(value) {
	return bytesText(value) + '/s';
}

const byUnit = { ns: timeText, bytes: bytesText, count: countText, share: shareText };

function listText(cell) {
	return cell.map(String).join(' ');
}

/* A command in one line: of each argument, the first line that is not empty, and "…" if there are
 * more. */
function commandText(command) {
	const words = Array.isArray(command) ? command.map(String) : [command || ''];

	return words.map((word) => word.replace(/^[\r\n]+|[\r\n]+$/g, '')
		.replace(/[\r\n][^]*/, '\u2026')).join(' ');
}

function cellText(cell, unit) {
	const value = plain(cell);
	if (value === null || value === undefined)
		return NOTHING;
	if (typeof value === 'boolean')
		return value ? 'yes' : 'no';
	if (Array.isArray(value))
		return listText(value);
	if (typeof value === 'object')
		return value.rows.length === 1 ? '1 row' : `${value.rows.length} rows`;
	if (typeof value === 'string')
		return value;
	const text = value === 0 && unit !== 'share' ? '0' : byUnit[unit] ? byUnit[unit](value)
		: Number.isInteger(value) ? String(value) : value.toPrecision(4);
	if (cell === value)
		return text;
	return text.startsWith('<') ? '>0%' : '\u2265\u00a0' + text;
}
