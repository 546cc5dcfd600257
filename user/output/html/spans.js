/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Epochs and steps as a ruler, spans as lanes by rank, process and thread. */

const CATEGORIES = { compute: 'c-compute', data: 'c-data', dataloader: 'c-data', reader: 'c-data',
	io: 'c-data', checkpoint: 'c-checkpoint', comm: 'c-comm', preprocess: 'c-preprocess',
	step: 'c-step', epoch: 'c-step' };

function categoryColour(category) {
	return CATEGORIES[category] || 'c-span';
}

/* --- the ruler --- */

function rulerRow(name, rows, label) {
	const figure = timeChart({ class: `ruler ${name} in-margin`, height: 18, axis: false,
		left: wideLeft,
		label: `${name} over time`,
		draw: (g, box) => {
			const [from, to] = rangeNs();
			const seen = rows.filter((row) => row.start_ns < to && row.start_ns + row.time_ns > from);
			const at = (ns) => box.x(Math.max(from, Math.min(to, ns)));
			const items = g.selectAll('g').data(seen).join('g').attr('class', 'mark');

			items.append('rect').attr('x', (row) => at(row.start_ns)).attr('height', 18)
				.attr('class', (row) => row.outlier ? 'outlier' : null)
				.attr('width', (row) => Math.max(1, at(row.start_ns + row.time_ns)
					- at(row.start_ns) - 1));
			items.append('text').attr('x', (row) => at(row.start_ns) + 3).attr('y', 13)
				.text((row) => at(row.start_ns + row.time_ns) - at(row.start_ns) > 22
					? label(row) : '');
		},
		tip: (ns) => {
			const row = rows.find((item) => item.start_ns <= ns
				&& item.start_ns + item.time_ns > ns);
			return row && { title: `${name.replace(/s$/, '')} ${label(row)}`, rows: [
				['duration', timeText(row.time_ns)], ['waited for data', timeText(row.wait_ns)],
				['unoverlapped I/O', timeText(row.stall_ns === undefined
					? row.unoverlapped_io_ns : row.stall_ns)]]
				.concat(row.outlier ? [['', 'much longer than the others']] : []) };
		} });
	figure.prepend(el('figcaption', null, name));
	return figure;
}

function makeRuler(body) {
	const epochs = rowsOf('epochs').filter((row) => row.time_ns !== null);
	const steps = rowsOf('steps').filter((row) => row.time_ns !== null);
	const ranks = new Set(steps.concat(epochs).map((row) => row.rank));
	const first = ranks.size ? Array.from(ranks).sort((a, b) => a - b)[0] : null;
	const ofFirst = (row) => row.rank === first;

	if (epochs.length)
		body.append(rulerRow('epochs', epochs.filter(ofFirst), (row) => String(row.epoch)));
	if (steps.length)
		body.append(rulerRow('steps', steps.filter(ofFirst), (row) => String(row.index)));
	if (ranks.size > 1)
		body.append(el('p', { class: 'hint' }, `Epochs and steps are those of rank ${first}.`));
	if (tables.steps && tables.steps.rows.length < tables.steps.of)
		body.append(el('p', { class: 'hint' }, `The first ${countText(tables.steps.rows.length)} of `
			+ `${countText(tables.steps.of)} steps.`));
}

/* --- lanes --- */

const LANE = 16;

function laneName(lane) {
	const rank = lane.rank === undefined ? '' : `rank ${lane.rank} `;
	return `${rank}${lane.name || ''} ${lane.tid === lane.pid ? lane.pid : `${lane.pid}/${lane.tid}`}`;
}

/* Lays out lanes: the y of each, and the rows it takes. */
function layOut() {
	const kept = pictures.spans.kept, lanes = pictures.spans.lanes.map((lane) =>
		Object.assign({}, lane, { depth: 1, spans: [], busy: unpack(lane.busy, COARSE) }));
	let y = 0;

	for (const [lane, depth, label, start, length, unfinished] of kept) {
		lanes[lane].depth = Math.max(lanes[lane].depth, depth + 1);
		lanes[lane].spans.push({ depth, start, length, unfinished,
			label: pictures.spans.labels[label] || {} });
	}
	for (const lane of lanes) {
		lane.y = y;
		y += lane.depth * LANE + 4;
		lane.spans.sort((a, b) => a.start - b.start);
	}
	return { lanes, height: y };
}

function drawLane(g, box, lane) {
	const [from, to] = rangeNs(), at = (ns) => box.x(Math.max(from, Math.min(to, ns)));
	const seen = lane.spans.filter((span) => span.start < to && span.start + span.length >= from);
	const busy = d3.range(range.from, range.to).filter((i) => lane.busy[i] > 0);
	const y = (span) => lane.y + span.depth * LANE;
	const group = g.append('g').attr('class', 'lane');

	group.append('rect').attr('class', 'ground').attr('y', lane.y).attr('width', box.width)
		.attr('height', lane.depth * LANE);
	group.append('path').attr('class', 'busy').attr('d', busy.map((i) => {
		const height = LANE * Math.min(1, lane.busy[i] / COARSE_NS), x = at(i * COARSE_NS);
		return `M${x} ${lane.y + LANE}v${-height}h${at((i + 1) * COARSE_NS) - x}v${height}z`;
	}).join(''));
	const items = group.selectAll('.span').data(seen).join('g')
		.attr('class', (span) => `span ${categoryColour(span.label.more)}`);
	items.append('rect').attr('x', (span) => at(span.start)).attr('y', y)
		.attr('width', (span) => Math.max(0.8, at(span.start + span.length) - at(span.start) - 0.5))
		.attr('height', LANE - 2).attr('class', (span) => span.unfinished ? 'unfinished' : null);
	items.append('text').attr('x', (span) => at(span.start) + 3).attr('y', (span) => y(span) + 11)
		.text((span) => {
			const room = (at(span.start + span.length) - at(span.start) - 6) / 6.4;
			const name = span.label.name || '';
			return room < 3 ? '' : name.length <= room ? name : name.slice(0, room - 1) + '\u2026';
		});
	group.append('text').attr('class', 'lane-name').attr('x', -6).attr('y', lane.y + 11)
		.attr('text-anchor', 'end').text(box.left > 100 ? laneName(lane)
			: String(lane.rank === undefined ? lane.tid : lane.rank));
}

function lanesTip(laid, ns, y) {
	const lane = laid.lanes.find((item) => y === null || y < item.y + item.depth * LANE + 4);
	if (!lane)
		return null;
	const depth = y === null ? 0 : Math.max(0, Math.floor((y - lane.y) / LANE));
	const open = lane.spans.filter((span) => span.start <= ns && span.start + span.length >= ns);
	const span = open.find((item) => item.depth === depth) || open[open.length - 1];
	const rows = span ? [['span', `${span.label.name || ''}`], ['category', span.label.more || ''],
		['began', timeText(span.start)], ['duration', timeText(span.length)
			+ (span.unfinished ? ', unfinished' : '')]]
		: [['in spans, this interval', shareText(Math.min(1, lane.busy[coarseOf(ns)] / COARSE_NS))]];
	return { title: laneName(lane), rows };
}

function makeLanes(body) {
	const spans = pictures.spans, laid = layOut();
	if (!spans.count) {
		body.append(el('p', { class: 'hint' }, pictures.layers.span
			? 'No spans were marked.' : 'Spans were not recorded.'));
		return;
	}
	const colours = new Map();
	for (const lane of laid.lanes)
		for (const span of lane.spans)
			colours.set(span.label.more || 'no category', categoryColour(span.label.more));
	const figure = timeChart({ class: 'lanes', height: laid.height, label: 'Spans by thread',
		left: wideLeft, rows: laid.lanes.length,
		draw: (g, box) => laid.lanes.forEach((lane) => drawLane(g, box, lane)),
		tip: (ns, y) => lanesTip(laid, ns, y) });
	const shown = spans.kept.length;

	figure.prepend(el('figcaption', null, 'spans by rank, process and thread'),
		legend(Array.from(colours).slice(0, 12).map(([name, colour]) => [colour, name])));
	body.append(figure);
	if (shown < spans.count || spans.lanes.length < spans.lanes_of)
		body.append(el('p', { class: 'hint' }, `The ${countText(shown)} longest of `
			+ `${countText(spans.count)} spans, on ${spans.lanes.length} of `
			+ `${countText(spans.lanes_of)} threads; the pale background shows how busy a thread was `
			+ 'with all of its spans.'));
}
