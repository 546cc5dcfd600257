/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of the selected part of the run: rows with sums by stretch show what happened in it, cell
 * by cell; rows that are one interval each, like operations and steps, stay whole if they overlap
 * it.
 */

/* Tables whose rows have sums by stretch, and how to match them; the other tables in
 * pictures.rows_of are matched by row. */
const NARROWED = {
	files: { key: 'files',
		id: (row, of) => idOf(['host', 'dev', 'instance', 'ino', 'path'].map((name) => of(row, name))),
		idOf: ({ host, dev, instance, ino, name }) => idOf([host, dev, instance, ino, name]) },
	processes: { key: 'processes',
		id: (row, of) => idOf(['host', 'pid', 'start_ns'].map((name) => of(row, name))),
		idOf: idOfProcess },
	operations: { key: 'operations', id: (row, of) => `${of(row, 'layer')} ${of(row, 'op')}`,
		idOf: (series) => `${series.more} ${series.name}` },
	spans: { key: 'spans', id: (row, of) => `${of(row, 'name')} ${of(row, 'category')}`,
		idOf: (series) => `${series.name || ''} ${series.more || ''}` },
	devices: { key: 'devices',
		id: (row, of) => idOf(['host', 'dev', 'instance'].map((name) => of(row, name))),
		idOf: ({ host, dev, instance }) => idOf([host, dev, instance]) },
	ranks: { key: 'ranks', id: (row, of) => of(row, 'rank'), idOf: (series) => series.rank },
};

/* Kinds of columns that do not depend on the range. */
const FACTS = new Set(['key', 'fact', 'first', 'list', 'any', 'all', 'status', 'moment', 'duration']);
const isFact = ({ kind }) => FACTS.has(kind);

/* Columns that a table has only for a part of the run. */
const MORE = { ranks: [['count', 'operations', 'count'], ['time', 'thread time', 'ns'],
	['bytes', 'bytes by calls', 'bytes'], ['fetched', 'from storage', 'bytes']] };

/* For tables whose numbers follow from more than one event: what counts where. */
const COUNTS = {
	readahead: 'Readahead counts as used when its data is requested, whenever it was read.',
	writeback: 'Bytes count when they are dirtied and when they go to the device.',
	latency_breakdown: 'Each operation counts in full when it ends.',
	span_latency: 'Each operation counts in full when it ends.',
	epochs: 'An epoch that extends beyond it is cut.',
	lines: 'An operation that extends beyond it is cut.',
	functions: 'An operation that extends beyond it is cut.',
};

/* Columns that are computed from the numbers of a part. */
const DERIVED_OF_LINES = { share: (of, cell) => of('time_ns') / flameTime(cell('state')),
	uncertainty_ns: (of) => standardError(of('estimated_ns'), of('estimated_samples')) };
const DERIVED = {
	epochs: { compute_time_share: (of) => of('compute_ns') / of('time_ns'),
		samples_per_second: (of) => of('samples') / of('time_ns') * 1e9,
		compute_share: (of) => of('compute_ns') / (of('compute_ns') + of('wait_ns')) },
	lines: DERIVED_OF_LINES,
	functions: DERIVED_OF_LINES,
};

/* Tables made from data by stretch. */
const FROM_SUMS = { access: accessInRange, overlap: overlapInRange, device_heat: heatInRange };
const NO_BYTES = ['faults', 'metadata', 'sync']; /* page faults, and calls without a byte count */

function rangeTable(names, units, rows) {
	return { columns: names.map((title, i) => ({ get: (row) => row[i],
		column: { name: title.replace(/ /g, '_'), title, unit: units[i],
			meaning: 'in the selected part of the run' } })), rows, narrowed: NOW };
}

function accessInRange() {
	const all = timeline.all, time = (list) => inFineRange(list.alone) + inFineRange(list.hidden);
	const rows = sums.parts.filter((series) => !series.others && timeline[series.name])
		.map((series) => [PARTS.find((part) => part.name === series.name).title,
			time(timeline[series.name]), ...['count', 'bytes', 'fetched', 'time'].map((name) =>
				name === 'bytes' && NO_BYTES.includes(series.name) ? null : inRange(series, name))])
		.filter((row) => row[1] > 0 || row[2] > 0);
	const total = (i) => d3.sum(rows, (row) => row[i]);
	return rangeTable(['', 'time', 'operations', 'bytes by calls', 'from storage', 'thread time'],
		['none', 'ns', 'count', 'bytes', 'bytes', 'ns'],
		[['all I/O', time(all), ...[2, 3, 4, 5].map(total)], ...rows]);
}

function overlapInRange() {
	const alone = inFineRange(timeline.all.alone), hidden = inFineRange(timeline.all.hidden);
	const compute = inFineRange(timeline.compute_ns || []);
	return rangeTable(['compute', 'I/O', 'unoverlapped I/O', 'compute without I/O'],
		['ns', 'ns', 'ns', 'ns'], [[compute, alone + hidden, alone, Math.max(0, compute - hidden)]]);
}

function heatInRange(table) {
	const [from, to] = rangeNs(), at = table.index.requests;
	const within = (row) => d3.sum(cellOf(table, row, 'over_time').rows, ([start, requests]) =>
		start < to && start + cellOf(table, row, 'stretch_ns') > from ? requests : 0);
	return { columns: shownColumns(table), narrowed: NOW, rows: table.rows.map((row) =>
		row.map((cell, i) => i === at ? within(row) : cell)).filter((row) => row[at] > 0) };
}

/* Notes on rows of a part of the run. */
const NOW = 'Covers the selected part of the run.';
const STAYS = 'Rows that overlap the selected part of the run, each in full.';

/* When a row took place: the index of its start, and of how long it lasted. */
function whenOf(table) {
	const [start, lasted] = ['moment', 'duration'].map((kind) =>
		table.columns.findIndex((column) => column.kind === kind));
	return start < 0 || lasted < 0 ? null : [start, lasted];
}

function rowsWithin(table, [start, lasted]) {
	const [from, to] = rangeNs();
	return table.rows.filter((row) => {
		const begin = plain(row[start]);
		return begin !== null && begin < to && begin + (plain(row[lasted]) || 0) >= from;
	});
}

function isActive(series) {
	return ['count', 'time', 'fetched', 'marked', 'merged'].some((name) => inRange(series, name) > 0);
}

/* Units of the measures of device_heat. */
const UNITS = { latency_ns: 'ns', size_bytes: 'bytes' };

function shownColumns(table) {
	if (table.shown.length)
		return table.shown.map((i) => ({ column: table.columns[i], get: (row) => row[i],
			unit: table.name === 'device_heat' && ['above', 'upto'].includes(table.columns[i].name)
				? (row) => UNITS[cellOf(table, row, 'measure')] : null }));
	return table.columns.map((column, i) => ({ column, get: (row) => row[i] }))
		.filter(({ column }) => column.title !== null || table.shape === 'record')
		.slice(0, table.shape === 'record' ? 200 : 16);
}

/* Maps a table's row to its sums by stretch, undefined if unknown. */
function seriesOf(table) {
	const by = NARROWED[table.name];
	if (!by) {
		const ofRows = new Map(table.rows.map((row, i) => [row, rowSums[table.name].get(i)]));
		return (row) => ofRows.get(row);
	}
	const known = new Map(sums[by.key].filter((series) => !series.others)
		.map((series) => [String(by.idOf(series)), series]));
	return (row) => known.get(String(by.id(row, (of, name) => cellOf(table, of, name))));
}

/* A number of the selected part. If the run has none, neither has its part; lost events could
 * belong to any part, so the number is a lower bound. */
function asFarAsKnown(value, whole) {
	if (plain(whole) === null)
		return null;
	return whole === plain(whole) && !pictures.lost ? value : { least: value };
}

function cellInRange(series, members, whole) {
	return asFarAsKnown(d3.sum(members, (name) => name[0] === '-' ? -inRange(series, name.slice(1))
		: inRange(series, name)), whole);
}

/* Samples of a row, taken at the end of each stretch, summed over the selected part. */
const isSampled = (table, name) => name in table.index && table.name in rowSamples
	&& rowSamples[table.name].columns.has(name);

function sampleInRange(table, row, name) {
	const lists = rowSamples[table.name].rows.get(table.places.get(row));
	return lists ? sum(lists.get(name), range.from, range.to) : null;
}

function sampledCell(table, row, name, whole) {
	const value = sampleInRange(table, row, name);
	return value === null ? null : asFarAsKnown(value, whole);
}

function narrowedColumn(table, { column, get }, find) {
	if (isFact(column))
		return { column, get };
	if (isSampled(table, column.name))
		return { column, get: (row) => sampledCell(table, row, column.name, get(row)) };
	if (!column.sums)
		return { column, get, whole: true };
	return { column, get: (row) => cellInRange(find(row), column.sums, get(row)) };
}

/* Rows with sums by stretch: cell by cell, as far as those are known. */
function rowsInRange(table, columns) {
	const find = seriesOf(table);
	const more = (MORE[table.name] || []).map(([name, title, unit]) => ({
		column: { name, title, unit, meaning: 'in the selected part of the run' },
		get: (row) => inRange(find(row), name) }));
	const now = columns.map((column) => narrowedColumn(table, column, find));
	now.splice(1, 0, ...more);
	return { columns: now, narrowed: NOW, mixed: now.some((column) => column.whole),
		rows: table.rows.filter((row) => find(row) && isActive(find(row))),
		lacking: table.of - table.rows.filter((row) => find(row) || isNothing(table, row)).length };
}

/* A row with nothing but zeros. */
function isNothing(table, row) {
	return !table.columns.some((column, i) => column.sums && plain(row[i]) > 0);
}

/* The single row of a record by groups of columns: "read.count" is a sum of group "read". */
function recordInRange(table, columns) {
	const of = ({ column }) => rowSums[table.name].get(column.name.split('.')[0]);
	const now = columns.map((one) => {
		const series = of(one), members = one.column.sums;
		if (plain(one.get(table.rows[0])) === 0)
			return one;
		return series && members
			? { column: one.column, get: (row) => cellInRange(series, members, one.get(row)) }
			: Object.assign({ whole: true }, one);
	});
	return { columns: now, rows: table.rows, narrowed: NOW, mixed: now.some((one) => one.whole) };
}

/* Rows with samples taken at the end of each stretch. */
function samplesInRange(table, columns) {
	const samples = rowSamples[table.name], derived = DERIVED[table.name] || {};
	const of = (row) => (name) => sampleInRange(table, row, name);
	const own = table.columns.filter(({ name, kind }) => samples.columns.has(name) && kind !== 'shared')
		.map(({ name }) => name);
	const narrow = ({ column, get }) => {
		if (isSampled(table, column.name))
			return { column, get: (row) => sampledCell(table, row, column.name, get(row)) };
		if (derived[column.name])
			return { column, get: (row) => {
				const value = derived[column.name](of(row), (name) => cellOf(table, row, name));
				return plain(get(row)) === null || !isFinite(value) ? null : value;
			} };
		return isFact(column) ? { column, get } : { column, get, whole: true };
	};
	const now = columns.map(narrow);
	return { columns: now, narrowed: [NOW, COUNTS[table.name]].filter(Boolean).join(' '),
		mixed: now.some((column) => column.whole),
		rows: table.rows.filter((row) => own.some((name) => of(row)(name) > 0)),
		lacking: table.of - samples.rows.size };
}

/* The current columns and rows: of the whole run, or of the selected part. */
function contentOf(table) {
	const columns = shownColumns(table);
	const summed = pictures.summed === 'all' && !['spans', 'lines', 'functions'].includes(table.name);
	const when = whenOf(table);
	if (rangeIsWhole())
		return { columns, rows: table.rows };
	if (summed)
		return { columns, rows: table.rows, whole: true };
	if (FROM_SUMS[table.name])
		return FROM_SUMS[table.name](table);
	if (NARROWED[table.name])
		return rowsInRange(table, columns);
	if (rowSums[table.name])
		return table.shape === 'record' ? recordInRange(table, columns) : rowsInRange(table, columns);
	if (rowSamples[table.name])
		return samplesInRange(table, columns);
	if (when)
		return { columns, rows: rowsWithin(table, when), narrowed: STAYS };
	return { columns, rows: table.rows, whole: true };
}
