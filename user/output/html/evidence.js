/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pictures of the evidence of findings, which name them: see finding.h. Each is made from data that
 * the page has already, and is null if there is none. They show the whole run: selecting a range
 * does not change them.
 */

const WIDE = 320; /* units of a drawing, which is stretched to the available width */

/* A picture with a caption above it, for all readers. */
function picture(kind, says, ...parts) {
	return el('figure', { class: `evidence ${kind}`, 'data-kind': kind },
		el('figcaption', null, says), ...parts);
}

/* A drawing over the time of the run; its caption describes it. */
function drawing(height, draw) {
	const svg = d3.create('svg').attr('viewBox', `0 0 ${WIDE} ${height}`)
		.attr('preserveAspectRatio', 'none').attr('aria-hidden', 'true');
	draw(svg, d3.scaleLinear([0, Math.max(DURATION_NS, 1)], [0, WIDE]));
	return svg.node();
}

function timeFoot(says) {
	return el('div', { class: 'foot' }, el('span', null, '0'), el('span', null, says),
		el('span', null, timeText(DURATION_NS)));
}

/* An area over the whole run. */
function areaPath(x, length, y0, y1) {
	return areaOver(x, [0, DURATION_NS], length, y0, y1);
}

/* Draws densities from a list with `rows` entries per coarse stretch; `y` is where a row begins. */
function drawDensity(svg, x, list, rows, y, colour) {
	const cells = [];
	list.forEach((count, at) => {
		const row = at % rows, top = y(row + 1);
		if (count)
			cells.push({ x: x(Math.floor(at / rows) * COARSE_NS), y: top, count,
				width: Math.max(1, x(COARSE_NS)), height: Math.max(1, y(row) - top) });
	});
	drawCells(svg, cells, d3.max(cells, (cell) => cell.count), colour);
}

/* --- bars: [label, [value, colour]...]; unknown values and zeros are left out --- */

function bars(kind, says, format, items, keys) {
	const rows = items.map(([label, ...parts]) => ({ label,
		parts: parts.filter(([value]) => value > 0), all: d3.sum(parts, ([value]) => value) }))
		.filter((row) => row.parts.length);
	const most = d3.max(rows, (row) => row.all);
	if (!rows.length)
		return null;
	return picture(kind, says, ...rows.map(({ label, parts, all }) => el('div', { class: 'bar-row' },
		nameEl(label), el('span', { class: 'size-bar' }, ...parts.map(([value, colour]) => {
			const bar = el('span', { class: `bar ${colour}` });
			bar.style.width = `${value / most * 100}%`;
			return bar;
		})), el('span', { class: 'number' }, format(all)))), keys ? legend(keys) : null);
}

/* Compares numbers of the evidence: [its name, label, colour]... */
function compared(kind, says, format, names) {
	return (evidence) => bars(kind, says, format, names.map(([name, label, colour]) =>
		[label, [evidence[name], colour]]));
}

const ROWS_MAX = 6;
const ROW_MIN = 0.002; /* of the largest: shorter bars would be invisible */

/* The largest rows of a table by a column. */
function ranking(kind, says, table, label, column, format, colour, only) {
	return () => {
		const rows = rowsOf(table).filter((row) => row[column] > 0 && (!only || only(row)))
			.sort((a, b) => b[column] - a[column])
			.filter((row, i, all) => row[column] >= all[0][column] * ROW_MIN);
		return bars(kind, says + (rows.length > ROWS_MAX ? `, top ${ROWS_MAX} of ${rows.length}`
			: ''), format, rows.slice(0, ROWS_MAX).map((row) =>
			[typeof label === 'function' ? label(row) : row[label] || 'no name', [row[column], colour]]));
	};
}

/* --- over time --- */

/* One below the other: [label, colour, time by stretch, length of a stretch]. */
function strips(kind, says, rows) {
	const known = rows.filter((row) => sum(row[2]) > 0);
	return known.length ? picture(kind, says, ...known.map(([label, colour, times, length]) =>
		el('div', { class: 'bar-row' }, nameEl(label), drawing(20, (svg, x) => svg.append('path')
			.attr('class', colour).attr('d', areaPath(x, length, () => 20,
				(i) => 20 * (1 - Math.min(1, times[i] / lengthWithin(i, length)))))),
		el('span', { class: 'number' }, timeText(sum(times))))),
	el('div', { class: 'bar-row' }, el('span'), timeFoot(''), el('span'))) : null;
}

/* Spans of some categories, over all threads. */
function spanStrip(label, categories) {
	const all = new Float64Array(COARSE);
	for (const series of sums.spans)
		if (categories.includes(series.more))
			series.time.forEach((ns, i) => {
				all[i] += ns;
			});
	return [label, categoryColour(categories[0]), all, COARSE_NS];
}

function partsOf(...names) {
	return () => strips('parts', 'share of time over the run', names.flatMap((name) => {
		const { title } = PARTS.find((part) => part.name === name);
		return [[title, `c-${name}`, timeline[name].alone, FINE_NS],
			['overlapped by compute', `faint c-${name}`, timeline[name].hidden, FINE_NS]];
	}));
}

function phases(...rows) {
	return () => strips('phases', 'share of time over the run', rows.map(([label, ...categories]) =>
		spanStrip(label, categories)).concat([
		['compute', 'c-compute', timeline.compute_ns || [], FINE_NS],
		[STATES[0][1], 'c-alone', timeline.all.alone, FINE_NS]]));
}

function statesPicture() {
	if (!(sum(timeline.all.alone) + sum(timeline.all.hidden) + sum(timeline.compute_ns || []) > 0))
		return null;
	return picture('states', 'share of time in compute and I/O over the run', drawing(60,
		(svg, x) => STATES.forEach(([colour], k) => svg.append('path').attr('class', colour).attr('d',
			areaPath(x, FINE_NS, (i) => 60 * (1 - sum(statesOf(i), 0, k)),
				(i) => 60 * (1 - sum(statesOf(i), 0, k + 1)))))), timeFoot(''), legend(STATES));
}

/* Areas of rates: [name in the timeline, label, colour]; the first is solid, the others faint. */
function rates(says, format, ...wanted) {
	return () => {
		const rows = recorded(wanted);
		if (!rows.length)
			return null;
		const all = d3.range(Math.ceil(DURATION_NS / FINE_NS));
		const most = d3.max(rows, ([name]) => d3.max(all, (i) => rateOf(name, i)));
		const y = d3.scaleLinear([0, most], [60, 1]);
		return picture('rates', `${says} over the run`, drawing(60, (svg, x) =>
			rows.forEach(([name, , colour], k) => svg.append('path')
				.attr('class', k ? `faint ${colour}` : colour).attr('d',
					areaPath(x, FINE_NS, () => 60, (i) => y(rateOf(name, i)))))),
		timeFoot(`peak: ${format(most)}`), legend(rows.map(([, label, colour]) => [colour, label])));
	};
}

/* How many of some operations were in flight at once: their time divided by elapsed time. */
function underWay(what, colour, takes) {
	return () => {
		const at = new Float64Array(COARSE);
		for (const series of takes())
			series.time.forEach((ns, i) => {
				at[i] += ns / lengthWithin(i, COARSE_NS);
			});
		const most = d3.max(at);
		if (!most)
			return null;
		return picture('depth', `${what} in flight, average over the run`,
			drawing(60, (svg, x) => svg.append('path').attr('class', colour).attr('d',
				areaPath(x, COARSE_NS, () => 60, (i) => 60 - 59 * at[i] / most))),
			timeFoot(`peak: ${Number.isInteger(most) ? most : digits(most)}`));
	};
}

/* Latencies as densities, slower operations higher. */
function took(...wanted) {
	return (evidence) => {
		const names = (wanted.length ? wanted : [`device_${evidence.op || 'write'}`])
			.filter((name) => sum(latencies[name]) > 0);
		const bounds = latencyBounds(names);
		if (!bounds)
			return null;
		const [first, last] = bounds, y = d3.scaleLinear(bounds, [72, 0]);
		return picture('took', `latency, ${timeText(latencyEdge(first))} to `
			+ `${timeText(latencyEdge(last))} (upward, logarithmic), over the run`,
		drawing(72, (svg, x) => names.forEach((name) =>
			drawDensity(svg, x, latencies[name], pictures.latencies, y, `c-${name}`))),
		timeFoot('darker: more operations'), legend(KINDS.filter(({ name }) => names.includes(name))
			.map(({ name, title }) => [`c-${name}`, title])));
	};
}

/* --- the file that the finding names --- */

const isOnHost = (evidence, { host }) => !evidence.host || host === evidence.host;

/* Undefined if the file has no map. */
function mapOf(evidence) {
	const names = evidence.path ? (map) => map.name === evidence.path
		: (map) => lastPart(map.name) === evidence.file;
	return maps.find((map) => map.name && isOnHost(evidence, map) && names(map));
}

function where(evidence) {
	const map = mapOf(evidence), kinds = map ? TOUCHES.filter(([name]) => map[`${name}_all`]) : [];
	if (!kinds.length)
		return null;
	const y = d3.scaleLinear([0, map.extent], [96, 0]);
	const rowAt = (row) => y(Math.min(map.extent, row * map.row_bytes));
	return picture('map', `offsets in ${lastPart(map.name)} (upward, 0 to ${bytesText(map.extent)}), `
		+ 'over the run', drawing(96, (svg, x) => kinds.forEach(([name, colour]) =>
		drawDensity(svg, x, map[name], pictures.offsets, rowAt, colour))), timeFoot(''),
	legend(kinds.map(([, colour, label]) => [colour, label])));
}

function story(evidence) {
	const map = mapOf(evidence);
	return map && STORY.some(([name]) => storyTotal(map, name) > 0)
		? bars('story', `bytes of ${lastPart(map.name)}`, bytesText, [['file size',
			[map.size, 'c-size']]].concat(STORY.map(([name, label, colour]) =>
			[label, [storyTotal(map, name), colour]]))) : null;
}

/* The same for all such files, if there are several or nothing else is known of the one. */
function storyOfAll(evidence) {
	return evidence.files === 1 && story(evidence) ? null : compared('story',
		'bytes, all affected files', bytesText, [['size_bytes', 'total file size', 'c-size'],
			['bytes', 'moved by calls', 'c-read'], ['fetched_bytes', 'from storage', 'c-fetched'],
			['again_bytes', 'beyond file size', 'c-alone']])(evidence);
}

/* --- sizes --- */

/* By kind of I/O: caption, and family of operations. */
const SIZES_OF = {
	'read': ['reads by requested size', 'read'],
	'write': ['writes by size', 'write'],
	'direct': ['reads and writes bypassing the cache, by size', null],
	'device_read': ['device requests by size', null],
};

/* For aggregated operations, the table of operations has sizes by family. */
function sizesOf(says, family, ...names) {
	return () => {
		const count = pictures.size_classes, summed = names.every((name) => !sum(sizes[name]));
		const listed = summed && family ? rowsOf('operations').filter((row) => row.family === family) : [];
		const counts = names.map((name) => countsOf(sizes[name], count, 0, COARSE));
		const columns = tables.operations.columns.map((column) => column.name)
			.filter((name) => name.startsWith('sizes.'));
		for (const row of listed)
			columns.forEach((name, k) => {
				counts[0][k] += row[name] || 0;
			});
		const used = d3.range(count).filter((k) => counts.some((list) => list[k]));
		const shown = d3.range(used[0] || 0, (used[used.length - 1] || 0) + 1);
		return bars('sizes', says, countText, shown.map((k) =>
			[sizeLabel(k), ...names.map((name, n) => [counts[n][k], `c-${name}`])]),
		names.length > 1 && KINDS.filter(({ name }) => sum(counts[names.indexOf(name)] || []) > 0)
			.map(({ name, title }) => [`c-${name}`, title]));
	};
}

function filesBySize() {
	const files = rowsOf('files').filter((row) => row.opens > 0 && row.size_bytes !== null);
	const counts = d3.rollup(files, (rows) => rows.length, (row) => d3.bisectLeft(
		d3.range(pictures.size_classes - 1).map((k) => 4096 * Math.pow(4, k)), row.size_bytes));
	return bars('sizes', `opened files by size${tables.files.of > tables.files.rows.length
		? ` (${countText(tables.files.rows.length)} of ${countText(tables.files.of)} files)` : ''}`,
	countText, Array.from(counts.keys()).sort((a, b) => a - b).map((k) =>
		[sizeLabel(k), [counts.get(k), 'c-metadata']]));
}

/* --- ranks, workers, epochs, steps --- */

function ranksPicture(evidence) {
	const waits = (row) => row.unoverlapped_io_ns === null ? row.io_ns : row.unoverlapped_io_ns;
	const rows = rowsOf('ranks'), most = 16;
	const worst = rows.sort((a, b) => waits(b) - waits(a)).slice(0, most)
		.sort((a, b) => a.rank - b.rank);
	return bars('ranks', `${STATES[0][1]} by rank${rows.length > most
		? `, top ${most} of ${rows.length}` : ''}`, timeText,
	worst.map((row) => [`rank ${row.rank}`, [waits(row), row.rank === evidence.slowest ? 'c-alone'
		: 'c-hidden']]).concat([['median rank', [evidence.median_ns, 'c-size']]]));
}

/* A rank of the evidence and the median: a number, and the name of its median. */
const rankPicture = (says, format, name, median) => (evidence) => bars('ranks', says, format, [
	[`rank ${evidence.rank}`, [evidence[name], 'c-alone']],
	['median rank', [evidence[median], 'c-size']]]);

function workersPicture(evidence) {
	return bars('workers', 'average span duration', timeText, [
		[`worker ${evidence.pid}`, [evidence.each_ns, 'c-alone']],
		['median worker', [evidence.median_ns, 'c-data']]]);
}

function workersIo(evidence) {
	const group = workerGroups().find((items) => items.some(({ row }) =>
		row.pid === evidence.pid && isOnHost(evidence, row)));
	return group ? bars('workers', 'I/O thread time by worker', timeText, group.map((item) =>
		[`worker ${item.row.pid}`, [sum(item.series.time), item.row.pid === evidence.pid ? 'c-alone'
			: 'c-data']])) : null;
}

function epochsPicture() {
	const rows = rowsOf('epochs'), seen = rows.slice(0, 16);
	return bars('epochs', `bytes per epoch${rows.length > 16 ? `, first 16 of ${rows.length}` : ''}`,
		bytesText, seen.map((row) => [`epoch ${row.epoch}` + (row.rank === null ? '' : `, rank ${row.rank}`),
			[row.fetched_bytes, 'c-fetched'], [(row.from_memory || 0) * (row.read_bytes || 0), 'c-memory']]),
		[['c-fetched', 'from storage'], ['c-memory', 'read by calls, from memory']]);
}

function stepsPicture() {
	const steps = rowsOf('steps').slice(0, 160);
	if (!steps.some((row) => row.wait_ns)) /* no waits between steps */
		return null;
	const most = d3.max(steps, (row) => row.time_ns) || 1, wide = WIDE / steps.length;
	return picture('steps', `step durations, longest ${timeText(most)}`, drawing(60, (svg) =>
		steps.forEach((row, i) => {
			const bar = (value, base, colour) => svg.append('rect').attr('class', colour)
				.attr('x', i * wide).attr('width', Math.max(0.5, wide - 0.6))
				.attr('y', 60 - (base + value) / most * 60).attr('height', value / most * 60);
			bar(row.wait_ns || 0, 0, 'c-data');
			bar(row.compute_ns || 0, row.wait_ns || 0, 'c-compute');
		})), el('div', { class: 'foot' }, el('span', null, 'first step'),
		el('span', null, 'last step')),
	legend([['c-data', 'waiting for data'], ['c-compute', 'compute']]));
}

/* --- other evidence --- */

function lostPicture() {
	const lost = record('trace');
	return bars('lost', 'lost events by layer', countText, Object.keys(lost)
		.filter((name) => name.startsWith('lost.by_layer.'))
		.map((name) => [name.replace('lost.by_layer.', ''), [lost[name], 'c-alone']]));
}

function readAheadPicture(evidence) {
	return bars('story', 'bytes from storage, all affected files', bytesText, [
		['used', [evidence.fetched_bytes - evidence.unused_bytes - evidence.unseen_bytes, 'c-fetched']],
		['unknown', [evidence.unseen_bytes, 'c-size']],
		['unused', [evidence.unused_bytes, 'c-alone']]]);
}

function usersPicture(evidence) {
	const of = (name, pid) => name + (pid ? ` ${pid}` : '');
	return bars('users', `bytes moved by ${evidence.device || 'the device'}, by program`, bytesText, [
		[of(evidence.first, null), [evidence.first_bytes, 'c-device_read']],
		[of(evidence.second, evidence.second_pid), [evidence.second_bytes, 'c-alone']]]);
}

/* --- the pictures that findings name, as in "map, took read write" --- */

const LOCKS = ['flock', 'fcntl_setlk', 'fcntl_setlkw', 'fcntl_ofd_setlk', 'fcntl_ofd_setlkw'];
const callsOf = (family) => ranking('calls', `${family} calls by thread time`, 'operations', 'op',
	'thread_time_ns', timeText, `c-${family}`, (row) => row.family === family);
const pathsBy = (says, column, format, colour) => ranking('paths', `${says} by path`, 'paths', 'path',
	column, format, colour);
const aSecond = (value) => `${countText(value)}/s`;

const PICTURES = {
	'lost': lostPicture,
	'states': statesPicture,
	'map': where,
	'story': story,
	'story all': storyOfAll,
	'story readahead': readAheadPicture,
	'story amplified': compared('story', 'bytes, all affected files', bytesText, [
		['changed_bytes', 'changed', 'c-write'],
		['device_bytes', 'written to device', 'c-device_write'],
		['excess_bytes', 'excess', 'c-alone']]),
	'rates events': rates('events per second', aSecond, ['operations', 'calls and faults', 'c-alone']),
	'rates faults': rates('page faults on files per second', aSecond, ...FAULTS),
	'rates major': rates('major faults on files per second', aSecond, FAULTS[0]),
	'rates storage': rates('bytes from storage', rateText, BYTES[0]),
	'rates written': rates('bytes written', rateText, BYTES[2], BYTES[4]),
	'faults': compared('faults', 'page faults', countText, [['major', 'major', 'c-major'],
		['minor', 'minor', 'c-minor']]),
	'memory': compared('memory', 'faults on anonymous memory', countText, [
		['major', 'major', 'c-major'], ['count', 'total', 'c-minor']]),
	'processes': compared('processes', 'processes that died', countText, [
		['died', 'died', 'c-alone'], ['processes', 'total', 'c-minor']]),
	'calls untraced': compared('calls', 'submitted but not traced', countText, [
		['count', 'operations', 'c-alone'], ['polled_rings', 'polled rings', 'c-async']]),
	'calls metadata': callsOf('metadata'),
	'calls sync': callsOf('sync'),
	'calls failed': ranking('calls', 'failed calls by name', 'operations', 'op', 'errors', countText,
		'c-alone'),
	'paths storage': pathsBy('bytes from storage', 'fetched_bytes', bytesText, 'c-fetched'),
	'paths operations': pathsBy('operations', 'operations', countText, 'c-metadata'),
	'files opens': ranking('files', 'opens by file', 'files', (row) => lastPart(row.path), 'opens',
		countText, 'c-metadata', (row) => row.opens > 1),
	'requests': ranking('requests', 'server requests by type', 'operations', 'op', 'count',
		countText, 'c-metadata', (row) => row.family === 'remote'),
	'lookups': ranking('lookups', 'failed lookups by directory', 'failed_lookups', 'directory',
		'count', countText, 'c-metadata'),
	'path': ranking('path', 'critical path by thread', 'critical_path',
		(row) => `${row.comm} ${row.kind} ${row.tid}`, 'time_ns', timeText, 'c-alone'),
	'starts': ranking('starts', 'program startup time by name', 'starts', 'program', 'time_ns',
		timeText, 'c-metadata'),
	'writers': ranking('writers', 'throttled thread time by file', 'writeback',
		(row) => lastPart(row.path), 'pause_ns', timeText, 'c-write'),
	'depth async': underWay('io_uring and libaio operations', 'c-async',
		() => sums.parts.filter((series) => series.name === 'async')),
	'depth locks': underWay('lock calls', 'c-metadata', () => sums.operations.filter((series) =>
		LOCKS.includes(series.name))),
	'device throttled': compared('device', 'read time, all affected files', timeText, [
		['held_ns', 'throttled', 'c-alone'], ['time_ns', 'total', 'c-read']]),
	'device queue': compared('device', 'average time per request', timeText, [
		['queue_each_ns', 'in queue', 'c-alone'], ['service_each_ns', 'at device', 'c-device_read']]),
	'device nodes': compared('node', 'average time per request', timeText, [
		['each_ns', 'this node', 'c-alone'], ['median_ns', 'median node', 'c-device_read']]),
	'device failed': compared('device', 'device requests of the run', countText, [
		['reads', 'failed reads', 'c-alone'], ['writes', 'failed writes', 'c-alone'],
		['requests', 'total', 'c-device_read']]),
	'device pieces': compared('device', 'average size', bytesText, [
		['bytes_each', 'per operation', 'c-read'],
		['request_bytes_each', 'per request', 'c-device_read']]),
	'device flushes': compared('device', 'time', timeText, [['sync_ns', 'syncs of the run', 'c-sync'],
		['flush_ns', 'device flushes', 'c-alone']]),
	'users': usersPicture,
	'sizes files': filesBySize,
	'epochs': epochsPicture,
	'steps': stepsPicture,
	'phases checkpoints': phases(['checkpoints', 'checkpoint']),
	'phases data': phases(['loading data', 'data', 'dataloader', 'reader'],
		['preparing data', 'preprocess']),
	'workers': workersPicture,
	'workers io': workersIo,
	'ranks': ranksPicture,
	'ranks uneven': rankPicture('bytes read and written', bytesText, 'bytes', 'median_bytes'),
	'ranks slow': rankPicture('time of reads and writes', timeText, 'moving_ns', 'median_ns'),
};

/* Pictures that take kinds of I/O: "parts read". */
const PICTURES_OF = {
	took, /* without kinds, of requests of the evidence's "op" */
	'parts': partsOf,
	'sizes': (first, ...more) => sizesOf(...SIZES_OF[first], first, ...more),
};

const PICTURES_MAX = 2;

/* For any finding: the times or bytes of its evidence. */
function numbersPicture(evidence) {
	const ending = (end, format) => bars('measures', 'evidence', format, Object.keys(evidence)
		.filter((name) => name.endsWith(end) && typeof evidence[name] === 'number')
		.map((name) => [name.slice(0, -end.length).replace(/_/g, ' '), [evidence[name], 'c-alone']]));
	return ending('_ns', timeText) || ending('_bytes', bytesText);
}

function pictureNamed(name) {
	const [kind, ...kinds] = name.split(' ');
	return PICTURES[name] || PICTURES_OF[kind](...kinds);
}

/* The first pictures available, of those that the finding's rule names; or else a general one. */
function picturesOf(id, evidence) {
	const found = [];
	for (const name of data.finding_pictures[id] ? data.finding_pictures[id].split(', ') : []) {
		const made = found.length < PICTURES_MAX && pictureNamed(name)(evidence);
		if (made)
			found.push(made);
	}
	return found.length ? found : [statesPicture() || numbersPicture(evidence)].filter(Boolean);
}
