/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings, each with a picture of what it goes by. Must not judge: the report has. */

/* Which picture, by the name of a finding; others get the share of time. */
const EVIDENCE = {
	'mmap-random': 'map', 'mmap-in-order': 'map', 'mmap-single': 'map', 'mmap-faults': 'story',
	'mmap-minor-faults': 'faults',
	'random-reads': 'map', 'small-reads-storage': 'sizes read', 'small-reads-cached': 'sizes read',
	'small-writes': 'sizes write', 'sync-writes': 'part sync', 'small-direct': 'sizes direct',
	'read-again': 'story', 'read-by-several': 'story', 'fetched-again': 'story',
	'cold-start': 'story', 'many-small-files': 'part metadata', 'opened-again': 'part metadata',
	'metadata-heavy': 'part metadata', 'metadata-cold': 'part metadata', 'failed-lookups': 'part metadata',
	'lock-wait': 'part metadata', 'failed-calls': 'operations', 'short-reads': 'sizes read',
	'fsync-often': 'part sync', 'writers-throttled': 'part write', 'stores-amplified': 'story',
	'epoch-from-storage': 'epochs', 'epoch-from-memory': 'epochs', 'straggler': 'ranks',
	'shallow-queue': 'part async', 'async-not-traced': 'operations', 'loss': 'lost',
	'loader-io': 'steps', 'loader-preprocessing': 'steps', 'loader-idle': 'steps',
	'worker-slow': 'ranks',
};

/* Bars of [label, value, class]. */
function barsEl(items, format, kind) {
	const most = d3.max(items, (item) => item[1]) || 1;
	return el('div', { class: `bars ${kind}` }, ...items.map(([label, value, colour]) => {
		const bar = el('span', { class: `bar ${colour || 'c-alone'}` });
		bar.style.width = `${(value || 0) / most * 100}%`;
		return el('div', { class: 'bar-row' }, nameEl(label), el('span', { class: 'size-bar' }, bar),
			el('span', { class: 'number' }, format(value)));
	}));
}

/* Pictures of findings are of the whole run: they stay as they are when the range changes. */
function wholeChart(kind, height, draw) {
	const svg = d3.create('svg').attr('class', `evidence ${kind}`).attr('viewBox', `0 0 320 ${height}`)
		.attr('preserveAspectRatio', 'none').attr('role', 'img').attr('aria-label', kind);
	draw(svg, d3.scaleLinear([0, Math.max(DURATION_NS, 1)], [0, 320]), height);
	return svg.node();
}

function timeFoot(says) {
	return el('div', { class: 'foot' }, el('span', null, '0'), el('span', null, says),
		el('span', null, timeText(DURATION_NS)));
}

function wholeArea(x, y0, y1) {
	return d3.area().curve(d3.curveStepAfter).x((i) => x(Math.min(i * FINE_NS, DURATION_NS)))
		.y0((i) => y0(Math.min(i, FINE - 1))).y1((i) => y1(Math.min(i, FINE - 1)))(d3.range(FINE + 1));
}

function partPicture(name) {
	const list = course[name] || course.all;
	const picture = wholeChart('part', 60, (svg, x, height) => {
		const share = (values) => (i) => height * Math.min(1, values[i] / fineLength(i));
		const alone = share(list.alone), hidden = share(list.hidden);
		svg.append('path').attr('class', `c-${name}`).attr('d', wholeArea(x, () => height,
			(i) => height - alone(i)));
		svg.append('path').attr('class', `faint c-${name}`).attr('d', wholeArea(x,
			(i) => height - alone(i), (i) => height - alone(i) - hidden(i)));
	});
	return [picture, timeFoot('share of time; faint: hidden by compute')];
}

function statesPicture() {
	const picture = wholeChart('states', 60, (svg, x, height) => {
		for (let k = STATES.length - 1; k >= 0; k--)
			svg.append('path').attr('class', STATES[k][0]).attr('d', wholeArea(x,
				(i) => height * (1 - sum(statesOf(i), 0, k)),
				(i) => height * (1 - sum(statesOf(i), 0, k + 1))));
	});
	return [picture, timeFoot('share of time'),
		legend(course.compute_ns ? STATES : STATES.slice(0, 1))];
}

function findMap(evidence) {
	return maps.find((map) => evidence.path && map.name === evidence.path)
		|| maps.find((map) => evidence.file && lastPart(map.name) === evidence.file);
}

function mapPicture(evidence) {
	const map = findMap(evidence);
	if (!map)
		return statesPicture();
	const picture = wholeChart('map', 96, (svg, x, height) => {
		const kinds = TOUCHES.filter(([name]) => map[`${name}_all`]);
		const y = d3.scaleLinear([0, map.extent], [height, 0]);
		for (const [name, colour] of kinds) {
			const cells = [];
			for (let i = 0; i < COARSE * pictures.offsets; i++)
				if (map[name][i]) {
					const left = Math.floor(i / pictures.offsets) * COARSE_NS;
					const row = i % pictures.offsets;
					const top = y(Math.min(map.extent, (row + 1) * map.row_bytes));
					cells.push({ x: x(left), width: Math.max(1, x(COARSE_NS)), y: top,
						height: Math.max(1, y(row * map.row_bytes) - top), count: map[name][i] });
				}
			drawCells(svg, cells, d3.max(cells, (cell) => cell.count) || 1, colour);
		}
	});
	return [picture, timeFoot(`offset, 0 to ${bytesText(map.extent)}, against time`),
		legend(TOUCHES.filter(([name]) => map[`${name}_all`]).map(([, colour, label]) =>
			[colour, label]))];
}

function storyPicture(evidence) {
	const map = findMap(evidence);
	if (!map)
		return statesPicture();
	const items = [['size of the file', map.size, 'c-size']].concat(STORY.map(([name, label, colour]) =>
		[label, storyTotal(map, name), colour])
		.filter((item) => item[1] > 0));
	return [barsEl(items, bytesText, 'story')];
}

function sizesPicture(name) {
	const counts = countsOf(sizes[name], pictures.size_classes, 0, COARSE);
	const last = d3.max(d3.range(counts.length), (k) => counts[k] ? k : 0);
	return [barsEl(d3.range(last + 1).map((k) => [sizeLabel(k), counts[k], `c-${name}`]), countText,
		'sizes')];
}

function faultsPicture() {
	return [barsEl([['major', sum(course.major || []), 'c-major'],
		['minor', sum(course.minor || []), 'c-minor']], countText, 'faults')];
}

function epochsPicture() {
	return [barsEl(rowsOf('epochs').slice(0, 16).map((row) => [`epoch ${row.epoch}`
		+ (row.rank === null ? '' : `, rank ${row.rank}`), row.fetched_bytes, 'c-fetched']), bytesText,
	'epochs')];
}

function ranksPicture() {
	return [barsEl(rowsOf('ranks').slice(0, 16).map((row) => [`rank ${row.rank}`,
		row.unoverlapped_io_ns, 'c-alone']), timeText, 'ranks')];
}

function stepsPicture() {
	const steps = rowsOf('steps').slice(0, 160);
	if (!steps.some((row) => row.wait_ns)) /* it waited between them */
		return statesPicture();
	const most = d3.max(steps, (row) => row.time_ns) || 1, wide = 320 / steps.length;
	const picture = wholeChart('steps', 60, (svg, x, height) => steps.forEach((row, i) => {
		const bar = (value, base, colour) => svg.append('rect').attr('class', colour)
			.attr('x', i * wide).attr('width', Math.max(0.5, wide - 0.6))
			.attr('y', height - (base + value) / most * height)
			.attr('height', value / most * height);
		bar(row.wait_ns || 0, 0, 'c-data');
		bar(row.compute_ns || 0, row.wait_ns || 0, 'c-compute');
	}));
	return [picture, el('div', { class: 'foot' }, el('span', null, 'first step'),
		el('span', null, `the longest took ${timeText(most)}`), el('span', null, 'last')),
	legend([['c-data', 'waiting for data'], ['c-compute', 'compute']])];
}

function operationsPicture() {
	return [barsEl(rowsOf('operations').filter((row) => row.thread_time_ns).slice(0, 6)
		.map((row) => [row.op, row.thread_time_ns, 'c-alone']), timeText, 'operations')];
}

function lostPicture() {
	const lost = record('trace');
	return [barsEl(Object.keys(lost).filter((name) => /^lost\.by_layer\./.test(name) && lost[name])
		.map((name) => [name.replace('lost.by_layer.', ''), lost[name], 'c-alone']), countText,
	'lost')];
}

const PICTURES = { map: mapPicture, story: storyPicture, faults: faultsPicture, epochs: epochsPicture,
	ranks: ranksPicture, steps: stepsPicture, operations: operationsPicture, lost: lostPicture };

function pictureOf(id, evidence) {
	const [kind, name] = (EVIDENCE[id] || 'states').split(' ');
	if (kind === 'part')
		return partPicture(name);
	if (kind === 'sizes')
		return sizesPicture(name);
	return PICTURES[kind] ? PICTURES[kind](evidence) : statesPicture();
}

function evidenceEl(evidence) {
	return el('details', { class: 'numbers' }, el('summary', null, 'the numbers it goes by'),
		el('dl', null, ...Object.keys(evidence).flatMap((name) => [
			el('dt', null, name.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ')),
			el('dd', null, nameEl(cellText(evidence[name], unitOf(name))))])));
}

function findingEl(row, place) {
	const evidence = within(row.evidence);
	const cost = [row.cost_ns === null ? null : `${timeText(row.cost_ns)}, `
		+ `${shareText(row.cost_ns / DURATION_NS)} of the run`,
	row.cost_bytes === null ? null : bytesText(row.cost_bytes)].filter(Boolean).join('; ');
	return el('article', { class: `finding ${row.severity}`, 'data-finding': row.id },
		el('h3', null, el('span', { class: 'place' }, String(place)), ' ', nameEl(row.title)),
		el('p', { class: 'cost' }, cost || 'costs nothing that is known', ' ',
			el('span', { class: 'severity' }, row.severity),
			row.confidence ? `, confidence ${row.confidence}` : ''),
		el('div', { class: 'picture' }, ...pictureOf(row.id, evidence)),
		el('p', { class: 'says' }, nameEl(row.says || '')),
		el('p', { class: 'advice' }, '\u2192 ', nameEl(row.advice || '')),
		row.more ? el('p', { class: 'more' }, nameEl(row.more)) : null,
		evidenceEl(evidence));
}

function whyNone() {
	const nothing = 'Nothing was found that costs time and could be changed.';
	if (record('trace').duration_ns === null)
		return 'Nothing of the run was written.';
	if (pictures.summed !== 'none')
		return `${nothing} What operations tell only one by one is not known: they were summed up.`;
	return rowsOf('access').every((row) => row.time_ns === null)
		? 'No layer that tells of I/O was recorded.' : nothing;
}

function makeFindings() {
	const body = bodyOf('findings'), rows = rowsOf('findings');
	if (tables.findings.absent)
		body.append(hintEl(`Not known: ${tables.findings.note}.`));
	else if (!rows.length)
		body.append(hintEl(whyNone()));
	else
		body.append(el('div', { class: 'finding-grid' }, ...rows.map((row, i) =>
			findingEl(row, i + 1))));
	if (tables.findings.of > rows.length)
		body.append(el('p', { class: 'hint' }, `${rows.length} of ${tables.findings.of} findings.`));
}
