/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The selected part of the run, in coarse stretches, which everything below follows. Selected with
 * the brush, by dragging over any chart with a time axis, by keyboard, or with sliders.
 */

const range = { from: 0, to: COARSE, listeners: [] };

/* The last stretch that the run extends into, plus 1. */
const LAST = Math.max(1, Math.min(COARSE, Math.ceil(DURATION_NS / COARSE_NS)));

function rangeNs() {
	return [range.from * COARSE_NS, Math.min(range.to * COARSE_NS, Math.max(DURATION_NS, 1))];
}

function rangeIsWhole() {
	return range.from === 0 && range.to >= LAST;
}

function setRange(from, to) {
	from = Math.max(0, Math.min(LAST - 1, Math.round(from)));
	to = Math.max(from + 1, Math.min(LAST, Math.round(to)));
	if (from === range.from && to === range.to)
		return;
	range.from = from;
	range.to = to;
	for (const listener of range.listeners)
		listener();
}

function setRangeNs(from, to) {
	setRange(Math.floor(from / COARSE_NS + 1e-6), Math.ceil(to / COARSE_NS - 1e-6));
}

/* Zooms by a factor around the middle, or around a point in time. */
function zoom(factor, aroundNs) {
	const span = range.to - range.from, around = aroundNs === undefined
		? (range.from + range.to) / 2 : aroundNs / COARSE_NS;
	const wanted = Math.max(1, Math.min(LAST, span * factor));
	const from = around - (around - range.from) * wanted / span;
	const start = Math.max(0, Math.min(LAST - Math.round(wanted), Math.round(from)));
	setRange(start, start + Math.round(wanted));
}

function move(share) {
	const span = range.to - range.from, by = Math.max(1, Math.round(span * Math.abs(share)))
		* Math.sign(share);
	const from = Math.max(0, Math.min(LAST - span, range.from + by));
	setRange(from, from + span);
}

function onRange(listener) {
	range.listeners.push(listener);
}

function rangeText() {
	const [from, to] = rangeNs();
	return rangeIsWhole() ? `the whole run, ${timeText(DURATION_NS)}`
		: `${from ? timeText(from) : '0'} to ${timeText(to)}, ${timeText(to - from)} of ${timeText(DURATION_NS)}`;
}

/* --- the bar --- */

const EDGE = 7; /* pixels around an end of the selection in which it can be dragged */

function drawOverview(svg) {
	const width = svg.node().clientWidth, height = svg.node().clientHeight;
	const x = d3.scaleLinear([0, LAST], [0, width]);
	const rows = [['compute_ns', 'c-compute'], ['all', 'c-alone']];
	const left = x(range.from), right = x(range.to);

	svg.attr('viewBox', `0 0 ${width} ${height}`);
	svg.select('.ground').selectAll('path').data(rows).join('path')
		.attr('class', (row) => row[1])
		.attr('d', ([name]) => {
			const list = name === 'all' ? timeline.all.alone : timeline[name];
			return list && d3.area().curve(d3.curveStepAfter)
				.x((d, i) => x(i / FINER)).y0(height)
				.y1((d) => height - height * Math.min(1, d / FINE_NS))(Array.from(list));
		});
	svg.select('.selection').attr('x', left).attr('width', right - left).attr('height', height);
	svg.selectAll('.handle').data([left, right]).join('rect').attr('class', 'handle')
		.attr('x', (at) => Math.max(0, Math.min(width - 3, at - 1.5))).attr('width', 3)
		.attr('height', height);
}

/* Dragging moves an end or the whole selection, or makes a new one. */
function makeBrush(node) {
	let drag = null;
	const at = (event) => {
		const place = node.getBoundingClientRect();
		return Math.max(0, Math.min(1, (event.clientX - place.left) / place.width)) * LAST;
	};
	const kindOf = (moment) => {
		const near = EDGE / node.clientWidth * LAST;
		if (Math.abs(moment - range.to) < near)
			return 'end';
		if (Math.abs(moment - range.from) < near)
			return 'start';
		return moment > range.from && moment < range.to && !rangeIsWhole() ? 'part' : 'new';
	};

	node.addEventListener('pointerdown', (event) => {
		if (event.button !== 0)
			return;
		const moment = at(event);
		drag = { kind: kindOf(moment), moment, from: range.from, to: range.to };
		node.setPointerCapture(event.pointerId);
		event.preventDefault();
	});
	node.addEventListener('pointermove', (event) => {
		const moment = at(event);
		const kind = drag ? drag.kind : kindOf(moment);
		node.style.cursor = kind === 'new' ? 'crosshair' : kind === 'part' ? 'grab' : 'ew-resize';
		if (!drag)
			return;
		if (kind === 'start')
			setRange(Math.min(moment, range.to - 1), range.to);
		else if (kind === 'end')
			setRange(range.from, Math.max(moment, range.from + 1));
		else if (kind === 'new' && Math.abs(moment - drag.moment) > EDGE / node.clientWidth * LAST)
			setRange(Math.min(moment, drag.moment), Math.max(moment, drag.moment));
		else if (kind === 'part') {
			const span = drag.to - drag.from;
			const from = Math.max(0, Math.min(LAST - span,
				Math.round(drag.from + moment - drag.moment)));
			setRange(from, from + span);
		}
	});
	for (const name of ['pointerup', 'pointercancel'])
		node.addEventListener(name, () => {
			drag = null;
		});
	node.addEventListener('dblclick', () => setRange(0, LAST));
}

function makeRange() {
	const bar = document.getElementById('range');
	const says = el('output', { id: 'range-text' });
	const svg = d3.create('svg').attr('class', 'overview').attr('role', 'img')
		.attr('aria-label', 'The whole run: compute and unoverlapped I/O');
	const button = (label, title, act) =>
		el('button', { type: 'button', title, 'aria-label': title, onclick: act }, label);
	const slider = (name, act) => el('input', { type: 'range', min: 0, max: LAST, step: 1,
		'aria-label': `${name} of the selected part`,
		oninput: (event) => act(Number(event.target.value)) });
	const first = slider('start', (value) => setRange(Math.min(value, range.to - 1), range.to));
	const last = slider('end', (value) => setRange(range.from, Math.max(value, range.from + 1)));
	const draw = () => {
		drawOverview(svg);
		says.textContent = rangeText();
		first.value = range.from;
		last.value = range.to;
		first.setAttribute('aria-valuetext', timeText(rangeNs()[0]));
		last.setAttribute('aria-valuetext', timeText(rangeNs()[1]));
		bar.classList.toggle('whole', rangeIsWhole());
	};

	svg.append('g').attr('class', 'ground');
	svg.append('rect').attr('class', 'selection');
	bar.append(el('div', { class: 'range-line' },
		el('span', { class: 'label' }, 'Shown: '), says,
		el('span', { class: 'buttons' },
			button('\u2212', 'Zoom out', () => zoom(2)),
			button('+', 'Zoom in', () => zoom(0.5)),
			button('\u25c0', 'Earlier', () => move(-0.5)),
			button('\u25b6', 'Later', () => move(0.5)),
			button('whole run', 'Show the whole run', () => setRange(0, LAST)))),
	svg.node(), el('div', { class: 'sliders' }, first, last));
	makeBrush(svg.node());
	onRange(draw);
	new ResizeObserver(() => window.requestAnimationFrame(draw)).observe(svg.node());
	draw();
}
