/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes as a tree over time: when each lived, and how much of that was I/O. */

const PROCESS_ROW = 18;
const PROCESSES_MAX = 200;
const ALIKE = 12; /* leaf children of the same name that share a row, from this many */

/* Rows of one or more processes: `members`, from the first one's start to the last one's end. */
function rowOf(members, depth) {
	return { members, depth, comm: members[0].comm, start_ns: d3.min(members, (row) => row.start_ns),
		until: d3.max(members, (row) => row.until) };
}

/* Processes, each with its end and its parent, null if unknown. If a pid was reused, the parent is
 * the process that lived at the time. */
function processesWithParents() {
	const end = (row) => row.end_ns === null ? DURATION_NS : row.end_ns;
	const rows = rowsOf('processes').filter((row) => row.start_ns !== null)
		.map((row) => Object.assign({ until: end(row) }, row));
	const byPid = d3.nest().key((row) => idOf([row.host, row.pid])).object(rows);

	for (const row of rows)
		row.parent = (byPid[idOf([row.host, row.ppid])] || []).filter((parent) => parent !== row
			&& parent.start_ns <= row.start_ns && parent.until >= row.start_ns).pop() || null;
	return rows;
}

/* Rows in tree order, each with its depth. */
function processTree() {
	const children = new Map(), out = [];

	for (const row of processesWithParents())
		children.set(row.parent, (children.get(row.parent) || []).concat([row]));
	const add = (parent, depth) => {
		const sorted = (children.get(parent) || []).sort((a, b) => a.start_ns - b.start_ns);
		const leaves = d3.nest().key((row) => row.comm)
			.object(sorted.filter((row) => !children.has(row)));
		const together = (row) => !children.has(row) && leaves[row.comm].length >= ALIKE;
		for (const row of sorted) {
			if (!together(row))
				out.push(rowOf([row], depth));
			else if (leaves[row.comm][0] === row)
				out.push(rowOf(leaves[row.comm], depth));
			if (depth < 64)
				add(row, depth + 1);
		}
	};
	add(null, 0);
	return out;
}

/* Distinguishes a row from others of its name. */
function whoOf(row) {
	return row.members.length === 1 ? String(row.members[0].pid) : `\u00d7${countText(row.members.length)}`;
}

function drawProcess(g, box, row, y, series) {
	const [from, to] = rangeNs(), at = (ns) => box.x(Math.max(from, Math.min(to, ns)));
	const group = g.append('g').attr('class', 'process');
	const indent = '\u2009\u2009'.repeat(Math.min(8, row.depth)), who = whoOf(row);
	const room = Math.floor(box.left / 6.6), comm = indent + (row.comm || '');
	const lives = row.members.filter((one) => one.start_ns < to && one.until >= from);

	for (const failed of [false, true])
		group.append('path').attr('class', failed ? 'life failed' : 'life')
			.attr('d', lives.filter((one) => Boolean(one.exit_code) === failed).map((one) => {
				const left = at(one.start_ns), width = Math.max(1.5, at(one.until) - left);
				return `M${left} ${y + 5}h${width}v8h${-width}z`;
			}).join(''));
	if (series)
		group.append('path').attr('class', 'c-read io').attr('d',
			d3.range(range.from, range.to).filter((i) => series.time[i] > 0).map((i) => {
				const height = (PROCESS_ROW - 3) * Math.min(1, series.time[i] / COARSE_NS);
				const left = at(i * COARSE_NS);
				return `M${left} ${y + PROCESS_ROW - 2}v${-height}H${at((i + 1) * COARSE_NS)}v${height}z`;
			}).join(''));
	group.append('text').attr('class', 'lane-name').attr('x', 4 - box.left).attr('y', y + 12)
		.text(box.left > 100 ? `${comm.slice(0, room - who.length - 1)} ${who}` : who);
}

/* A single process, at the time pointed at. */
function processLines(row) {
	return [['command', commandText(row.command).slice(0, 120)],
		['lifetime',
			`${timeText(row.start_ns)} to ${row.end_ns === null ? 'end of run' : timeText(row.end_ns)}`],
		['exit status', row.exit_code === null ? NOTHING : String(row.exit_code)],
		['I/O time, whole lifetime', timeText(row.time_ns)]];
}

function processesLines(row, ns) {
	const failed = row.members.filter((one) => one.exit_code).length;
	return [['first start to last end', `${timeText(row.start_ns)} to ${timeText(row.until)}`],
		['alive at this time',
			countText(row.members.filter((one) => one.start_ns <= ns && one.until > ns).length)],
		['failed', countText(failed)],
		['I/O time, whole lifetimes', timeText(d3.sum(row.members, (one) => one.time_ns))]];
}

function processTip(rows, seriesOf, ns, y) {
	const row = rows[Math.max(0, Math.min(rows.length - 1, Math.floor((y || 0) / PROCESS_ROW)))];
	const series = seriesOf(row), i = coarseOf(ns);
	return { title: `${row.comm || ''} ${whoOf(row)}`, rows: (row.members.length === 1
		? processLines(row.members[0]) : processesLines(row, ns)).concat(series
		? [[`threads in I/O, ${stretchTitle(i, COARSE_NS)}`,
			(series.time[i] / COARSE_NS).toFixed(2)]] : []) };
}

/* Maps a row to the sums by stretch of its processes, as far as they are known. */
function sumsOfRows(rows) {
	const known = new Map(sums.processes.filter((series) => !series.others
		&& pictures.summed !== 'all')
		.map((series) => [idOfProcess(series), series]));
	const found = new Map(rows.map((row) => [row, row.members.map((one) =>
		known.get(idOfProcess(one))).filter(Boolean)]));
	return (row) => found.get(row).length ? { time: Float64Array.from(d3.range(COARSE), (i) =>
		d3.sum(found.get(row), (series) => series.time[i])) } : undefined;
}

function makeProcesses() {
	const body = bodyOf('processes'), all = processTree(), rows = all.slice(0, PROCESSES_MAX);
	const seriesOf = sumsOfRows(rows);

	if (!rows.length) {
		body.append(el('p', { class: 'hint' }, 'No processes were recorded.'));
		return;
	}
	const figure = timeChart({ class: 'process-tree', height: rows.length * PROCESS_ROW,
		label: 'Processes over time', rows: rows.length, step: COARSE_NS,
		left: wideLeft,
		draw: (g, box) => rows.forEach((row, k) =>
			drawProcess(g, box, row, k * PROCESS_ROW, seriesOf(row))),
		tip: (ns, y) => processTip(rows, seriesOf, ns, y) });

	figure.prepend(el('figcaption', null, pictures.summed === 'all' ? 'bars: process lifetimes'
		: 'bars: process lifetimes; filled: threads in I/O, up to one'));
	body.append(figure);
	const most = tables.processes.of - rowsOf('processes').filter((row) => row.pid === 0).length;
	const shown = d3.sum(rows, (row) => row.members.length);
	if (most > shown) /* kernel activity (pid 0) is not a process */
		body.append(hintEl(
			`${countText(shown)} of ${countText(most)} processes, those with the most I/O time.`));
}
