/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes as a tree over time: when each lived, and how much of that it was in I/O. */

const PROCESS_ROW = 18;
const PROCESSES_MOST = 200;

/* Rows in the order of the tree, each with its depth; a parent that had ended when its pid was used
 * again is the one that lived then. */
function processTree() {
	const rows = rowsOf('processes').filter((row) => row.start_ns !== null);
	const byPid = d3.nest().key((row) => row.pid).object(rows), out = [];
	const end = (row) => row.end_ns === null ? DURATION_NS : row.end_ns;
	const parentOf = (row) => (byPid[row.ppid] || []).filter((parent) => parent !== row
		&& parent.start_ns <= row.start_ns && end(parent) >= row.start_ns).pop();
	const children = new Map();

	for (const row of rows) {
		const parent = parentOf(row) || null;
		children.set(parent, (children.get(parent) || []).concat([row]));
	}
	const add = (parent, depth) => {
		for (const row of (children.get(parent) || []).sort((a, b) => a.start_ns - b.start_ns)) {
			out.push(Object.assign({ depth, until: end(row) }, row));
			if (depth < 64)
				add(row, depth + 1);
		}
	};
	add(null, 0);
	return out;
}

function drawProcess(g, box, row, y, series) {
	const [from, to] = rangeNs(), at = (ns) => box.x(Math.max(from, Math.min(to, ns)));
	const group = g.append('g').attr('class', 'process');
	const name = `${'\u2009\u2009'.repeat(Math.min(8, row.depth))}${row.comm || ''} ${row.pid}`;

	if (row.start_ns < to && row.until >= from)
		group.append('rect').attr('class', row.exit_code ? 'life failed' : 'life')
			.attr('x', at(row.start_ns)).attr('y', y + 5)
			.attr('width', Math.max(1.5, at(row.until) - at(row.start_ns))).attr('height', 8);
	if (series)
		group.append('path').attr('class', 'c-read io').attr('d',
			d3.range(range.from, range.to).filter((i) => series.time[i] > 0).map((i) => {
				const height = (PROCESS_ROW - 3) * Math.min(1, series.time[i] / COARSE_NS);
				const left = at(i * COARSE_NS);
				return `M${left} ${y + PROCESS_ROW - 2}v${-height}H${at((i + 1) * COARSE_NS)}v${height}z`;
			}).join(''));
	group.append('text').attr('class', 'lane-name').attr('x', 4 - box.left).attr('y', y + 12)
		.text(box.left > 100 ? name.slice(0, Math.floor(box.left / 6.6)) : row.pid);
}

function processTip(rows, seriesOf, ns, y) {
	const row = rows[Math.max(0, Math.min(rows.length - 1, Math.floor((y || 0) / PROCESS_ROW)))];
	const series = seriesOf(row), i = coarseOf(ns);
	return { title: `${row.comm || ''} ${row.pid}`, rows: [
		['command', (Array.isArray(row.command) ? listText(row.command) : row.command || '').slice(0,
			120)], ['lived', `${timeText(row.start_ns)} to ${row.end_ns === null
			? 'the end' : timeText(row.end_ns)}`],
		['exit status', row.exit_code === null ? NOTHING : String(row.exit_code)],
		['in I/O, whole life', timeText(row.time_ns)]].concat(series
		? [[`threads in I/O, ${stretchTitle(i, COARSE_NS)}`,
			(series.time[i] / COARSE_NS).toFixed(2)]] : []) };
}

function makeProcesses() {
	const body = bodyOf('processes'), all = processTree(), rows = all.slice(0, PROCESSES_MOST);
	const known = new Map(sums.processes.filter((series) => !series.others
		&& pictures.summed !== 'all')
		.map((series) => [`${series.pid} ${series.start_ns}`, series]));
	const seriesOf = (row) => known.get(`${row.pid} ${row.start_ns}`);

	if (!rows.length) {
		body.append(el('p', { class: 'hint' }, 'No process is known.'));
		return;
	}
	const figure = timeChart({ class: 'process-tree', height: rows.length * PROCESS_ROW,
		label: 'Processes over time', rows: rows.length, step: COARSE_NS,
		left: wideLeft,
		draw: (g, box) => rows.forEach((row, k) =>
			drawProcess(g, box, row, k * PROCESS_ROW, seriesOf(row))),
		tip: (ns, y) => processTip(rows, seriesOf, ns, y) });

	figure.prepend(el('figcaption', null, pictures.summed === 'all' ? 'bars: how long each lived'
		: 'bars: how long each lived; filled: threads in I/O, up to one'));
	body.append(figure);
	const most = tables.processes.of - rowsOf('processes').filter((row) => row.pid === 0).length;
	if (most > rows.length) /* what the kernel did is no process */
		body.append(hintEl(`${countText(rows.length)} of ${countText(most)} processes.`));
}
