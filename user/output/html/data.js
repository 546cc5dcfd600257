/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The data of the page: unpacked lists, and tables by name. */

const data = JSON.parse(document.getElementById('data').textContent);
const pictures = data.pictures;

const FINE = pictures.fine;
const COARSE = pictures.coarse;
const FINER = FINE / COARSE;
const FINE_NS = pictures.fine_ns;
const COARSE_NS = FINE_NS * FINER;
const DURATION_NS = pictures.duration_ns;

/* Kinds of I/O in the order in which they are shown. */
const PARTS = [
	{ name: 'read', title: 'read calls' },
	{ name: 'faults', title: 'page faults' },
	{ name: 'direct', title: 'O_DIRECT' },
	{ name: 'async', title: 'io_uring, libaio' },
	{ name: 'splice', title: 'sendfile, splice' },
	{ name: 'kernel', title: 'kernel I/O' },
	{ name: 'write', title: 'write calls' },
	{ name: 'metadata', title: 'metadata' },
	{ name: 'sync', title: 'sync' },
];
const KINDS = PARTS.concat([
	{ name: 'device_read', title: 'device reads' },
	{ name: 'device_write', title: 'device writes' },
]);

/* Unpacks a run-length encoded list: -N stands for N zeros. null (not recorded) stays null. */
function unpack(list, length) {
	if (!list)
		return null;
	const out = new Float64Array(length);
	let at = 0;
	for (const number of list) {
		if (number < 0) {
			at -= number;
			continue;
		}
		out[at++] = number;
	}
	return out;
}

function sum(list, from, to) {
	let total = 0;
	for (let i = from === undefined ? 0 : from; i < (to === undefined ? list.length : to); i++)
		total += list[i];
	return total;
}

const timeline = {};
for (const name of Object.keys(pictures.timeline)) {
	const list = pictures.timeline[name];
	timeline[name] = list && list.alone_ns
		? { alone: unpack(list.alone_ns, FINE), hidden: unpack(list.hidden_ns, FINE) }
		: unpack(list, FINE);
}

/* How time is spent. Without compute spans, overlap is unknown. */
const STATES = timeline.compute_ns ? [
	['c-alone', 'unoverlapped I/O'],
	['c-hidden', 'I/O during compute'],
	['c-compute', 'compute only'],
] : [['c-alone', 'I/O']];

/* Rates of the timeline: [name, label, colour, whether it is solid]. */
const BYTES = [
	['fetched_bytes', 'from storage', 'c-fetched', true],
	['read_bytes', 'read by calls', 'c-read', false],
	['write_bytes', 'written by calls', 'c-write', false],
	['device_read_bytes', 'read by devices', 'c-device_read', false],
	['device_write_bytes', 'written by devices', 'c-device_write', false],
];
const FAULTS = [
	['major', 'major (read from storage)', 'c-major', true],
	['minor', 'minor', 'c-minor', false],
];

/* Sums by stretch; missing members are zeros. */
const NO_SUM = new Float64Array(COARSE);
const SUM_MEMBERS = ['count', 'errors', 'metadata', 'read_faults', 'write_faults', 'major', 'opens',
	'marked', 'read', 'written', 'fetched', 'read_faulted', 'write_faulted', 'created', 'dirtied',
	'time', 'merged'];

function unpackSums(packed) {
	const series = Object.assign({}, packed);
	for (const name of SUM_MEMBERS)
		series[name] = unpack(packed[name], COARSE) || NO_SUM;
	series.bytes = series.read.map((bytes, i) => bytes + series.written[i]);
	return series;
}

const sums = {};
for (const key of Object.keys(pictures.sums))
	sums[key] = pictures.sums[key].map(unpackSums);

/* ... of the rows of further tables, by row; of the totals, by the names of their groups. */
const rowSums = {};
for (const name of Object.keys(pictures.rows_of))
	rowSums[name] = new Map(pictures.rows_of[name].map((series) =>
		[name === 'totals' ? series.name : series.row, unpackSums(series)]));

/* ... of rows that do not follow from single events: lists by column. */
const rowSamples = {};
for (const name of Object.keys(pictures.samples)) {
	const { columns, rows } = pictures.samples[name];
	const listsOf = (packed) => new Map(columns.map((column) =>
		[column, unpack(packed[column], COARSE) || NO_SUM]));
	rowSamples[name] = { columns: new Set(columns),
		rows: new Map(rows.map((packed) => [packed.row, listsOf(packed)])) };
}

const tables = {};
for (const table of data.tables) {
	table.index = {};
	table.places = new Map(table.rows.map((row, i) => [row, i]));
	table.columns.forEach((column, i) => {
		table.index[column.name] = i;
	});
	tables[table.name] = table;
}

/* The number, text or list of a cell; null if not measured. */
function plain(cell) {
	return cell !== null && typeof cell === 'object' && 'least' in cell ? cell.least : cell;
}

function cellOf(table, row, name) {
	const i = table.index[name];
	return i === undefined ? null : plain(row[i]);
}

/* The single row of a record as an object; {} if the table is absent. */
function record(name) {
	const table = tables[name], out = {};
	if (table && table.rows.length)
		table.columns.forEach((column, i) => {
			out[column.name] = plain(table.rows[0][i]);
		});
	return out;
}

function rowsOf(name) {
	const table = tables[name];
	return (table ? table.rows : []).map((row) => {
		const out = {};
		table.columns.forEach((column, i) => {
			out[column.name] = plain(row[i]);
		});
		return out;
	});
}

/* Hosts of one job have the same device and process numbers. */
const idOf = (parts) => parts.map((part) => part || '').join(' ');
const idOfProcess = ({ host, pid, start_ns }) => idOf([host, pid, start_ns]);
const SEVERAL_HOSTS = (record('trace').hosts || []).length > 1;

/* The first row of a nested table as an object. */
function within(cell) {
	const out = {};
	if (cell && cell.rows && cell.rows.length)
		cell.columns.forEach((name, i) => {
			out[name] = plain(cell.rows[0][i]);
		});
	return out;
}
