/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Latencies and request sizes of operations: densities over time. */

const latencies = {}, sizes = {};
for (const { name } of KINDS) {
	latencies[name] = unpack(pictures.latencies_of[name], COARSE * pictures.latencies);
	sizes[name] = unpack(pictures.sizes_of[name], COARSE * pictures.size_classes);
}

/* The lower edge of a latency class in ns; there are two classes per power of two. */
function latencyEdge(i) {
	const bits = pictures.latency_first + (i >> 1);
	return i % 2 ? 1.5 * Math.pow(2, bits) : Math.pow(2, bits);
}

/* The position of a latency among the classes, which are halves of an octave. */
function latencyPosition(ns) {
	const bits = Math.floor(Math.log2(ns) + 1e-9);
	return 2 * (bits - pictures.latency_first) + 2 * (ns / Math.pow(2, bits) - 1);
}

/* Round times between two classes: powers of ten, or of two if fewer than two of those fit. */
function latencyTicks(first, last) {
	const decades = d3.range(0, 13).map((n) => Math.pow(10, n)).filter((ns) =>
		latencyPosition(ns) >= first && latencyPosition(ns) <= last);
	return decades.length > 1 ? decades
		: d3.range(first, last + 1).filter((k) => k % 2 === 0).map(latencyEdge);
}

function countsOf(list, classes, from, to) {
	const out = new Float64Array(classes);
	for (let i = from; i < to; i++)
		for (let k = 0; k < classes; k++)
			out[k] += list[i * classes + k];
	return out;
}

/* The class of the quantile `share`; -1 for none. */
function quantile(counts, share) {
	let left = sum(counts) * share;
	for (let k = 0; k < counts.length; k++) {
		left -= counts[k];
		if (counts[k] && left <= 1e-9)
			return k;
	}
	return -1;
}

/* The first class that any of these kinds uses, and the one after the last; null if there is
 * none. */
function latencyBounds(names) {
	const classes = pictures.latencies;
	const used = d3.range(classes).filter((k) => names.some((name) =>
		d3.range(COARSE).some((i) => latencies[name][i * classes + k])));
	return used.length ? [used[0], used[used.length - 1] + 1] : null;
}

function latencyChart(kind, first, last) {
	const list = latencies[kind.name], classes = pictures.latencies;
	const ticks = latencyTicks(first, last);
	const says = el('span', { class: 'amount' });
	const update = () => {
		const counts = countsOf(list, classes, range.from, range.to), all = sum(counts);
		const upper = (share) => timeText(latencyEdge(quantile(counts, share) + 1));
		says.textContent = all ? `${countText(all)}; p50 \u2264 ${upper(0.5)}, `
			+ `p99 \u2264 ${upper(0.99)}` : 'none in this part of the run';
	};
	const figure = timeChart({ class: 'heat', height: 150, step: COARSE_NS, rows: last - first,
		label: `Latency of ${kind.title} over time`,
		draw: (g, box) => {
			const y = d3.scaleLinear([first, last], [box.height, 0]), cells = [];
			let most = 1;
			for (let i = range.from; i < range.to; i++)
				for (let k = first; k < last; k++) {
					const count = list[i * classes + k], x = box.x(i * COARSE_NS);
					if (!count)
						continue;
					most = Math.max(most, count);
					cells.push({ x, width: Math.max(0.7, Math.min(box.width,
						box.x((i + 1) * COARSE_NS)) - x), y: y(k + 1),
					height: y(k) - y(k + 1), count });
				}
			drawCells(g, cells, most, `c-${kind.name}`);
			g.append('g').attr('class', 'axis value').call(d3.axisLeft(y)
				.tickValues(ticks.map(latencyPosition))
				.tickFormat((k, i) => shortly(timeText)(ticks[i])).tickSize(3).tickSizeOuter(0));
		},
		tip: (ns, y, box) => {
			const i = coarseOf(ns), k = y === null ? first : Math.max(first, Math.min(last - 1,
				first + Math.floor((1 - y / box.height) * (last - first))));
			return { title: `${timeText(latencyEdge(k))} to ${timeText(latencyEdge(k + 1))}, `
				+ stretchTitle(i, COARSE_NS), rows: [[kind.title, countText(list[i * classes + k])],
				['total in this interval', countText(sum(list, i * classes, (i + 1) * classes))]] };
		} });
	onRange(update);
	update();
	figure.prepend(el('figcaption', null, el('span', { class: `swatch c-${kind.name}` }),
		kind.title, ' ', says));
	figure.dataset.kind = kind.name;
	return figure;
}

function makeLatency() {
	const body = bodyOf('latency');
	const kinds = KINDS.filter((kind) => sum(latencies[kind.name]) > 0);
	const bounds = latencyBounds(kinds.map((kind) => kind.name));

	if (!bounds) {
		body.append(noneEl('No operations were recorded.'));
		return;
	}
	body.append(el('p', { class: 'hint' }, 'Operations by start time and latency '
		+ '(logarithmic, same scale in all charts); darker cells have more operations.'),
	el('div', { class: 'grid-2' }, ...kinds.map((kind) => latencyChart(kind, ...bounds))));
	if (!pictures.layers.block)
		body.append(el('p', { class: 'hint' }, 'Device requests were not recorded.'));
}

/* --- sizes --- */

function sizeLabel(k) {
	const names = ['4 KiB', '16 KiB', '64 KiB', '256 KiB', '1 MiB', '4 MiB', '16 MiB', '64 MiB',
		'256 MiB', '1 GiB', '4 GiB'];
	return k < names.length ? `\u2264 ${names[k]}` : '> 4 GiB';
}

function sizeChart(kind, classes, height) {
	const rows = el('div', { class: 'size-rows' });
	const says = el('span', { class: 'amount' });
	const update = () => {
		const counts = countsOf(sizes[kind.name], pictures.size_classes, range.from, range.to);
		const most = d3.max(counts) || 1;
		says.textContent = countText(sum(counts));
		rows.replaceChildren(...d3.range(classes).map((k) => {
			const bar = el('span', { class: `bar c-${kind.name}` });
			bar.style.width = `${counts[k] / most * 100}%`;
			return el('div', { class: 'size-row' }, el('span', { class: 'size-label' }, sizeLabel(k)),
				el('span', { class: 'size-bar' }, bar),
				el('span', { class: 'number' }, countText(counts[k])));
		}));
	};
	onRange(update);
	update();
	return el('figure', { class: 'chart sizes', 'data-kind': kind.name },
		el('figcaption', null, el('span', { class: `swatch c-${kind.name}` }), kind.title, ' ', says),
		rows);
}

function makeSizes() {
	const body = bodyOf('sizes'), classes = pictures.size_classes;
	const kinds = KINDS.filter((kind) => sum(sizes[kind.name]) > 0);
	const last = d3.max(kinds, (kind) => d3.max(d3.range(classes), (k) =>
		d3.range(COARSE).some((i) => sizes[kind.name][i * classes + k]) ? k : 0));

	if (!kinds.length) {
		body.append(noneEl('No operations with a size were recorded.'));
		return;
	}
	body.append(el('p', { class: 'hint' }, 'Calls by requested bytes, device requests by bytes moved. '
		+ 'Page faults have no size.'),
	el('div', { class: 'grid-3' }, ...kinds.map((kind) => sizeChart(kind, last + 1))));
}
