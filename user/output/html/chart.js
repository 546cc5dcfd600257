/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by all charts: a frame with axes that follows its width and the range, a cursor moved by
 * mouse and keyboard, and a tip for what is under it.
 */

const charts = [], chartsDrawn = new Set();

/* If there is room, captions of full-width charts are in a margin on their left. */
const roomy = window.matchMedia('(min-width: 760px)');
const GUTTER = 150;

/* Room on the left for the axis: for "512 MiB/s". */
const AXIS_WIDTH = 72;

function wideLeft() {
	return roomy.matches ? GUTTER : AXIS_WIDTH;
}

/* Draws a figure now, and again with each new width or range. */
function drawAlways(figure, draw) {
	charts.push(draw);
	onRange(draw);
	new ResizeObserver(() => window.requestAnimationFrame(draw)).observe(figure);
}

function drawChart(chart) {
	const { figure, svg, plot, axis, options } = chart;
	const outer = figure.clientWidth, left = options.left === undefined
		? AXIS_WIDTH : options.left(outer);
	const width = outer - left - 26, height = typeof options.height === 'function'
		? options.height(outer) : options.height;
	const below = options.axis === false ? 6 : 22;

	if (width <= 20)
		return;
	chart.box = { left, width, height, x: d3.scaleLinear(rangeNs(), [0, width]) };
	svg.attr('width', outer).attr('height', height + below + 6)
		.attr('viewBox', `0 -6 ${outer} ${height + below + 6}`);
	plot.attr('transform', `translate(${left},0)`).selectAll('*').remove();
	axis.attr('transform', `translate(${left},${height})`).selectAll('*').remove();
	if (options.axis !== false)
		axis.call(d3.axisBottom(chart.box.x).ticks(Math.max(2, width / 90))
			.tickFormat(timeTick(chart.box.x)).tickSizeOuter(0));
	chart.cursor.attr('y2', height).attr('visibility', 'hidden');
	chart.chosen.attr('height', height);
	options.draw(plot, chart.box);
	chartsDrawn.add(chart.draw);
}

/* Moves the cursor, and shows what is there. */
function showAt({ cursor, box, options }, ns, y, clientX, clientY) {
	const tip = options.tip && options.tip(ns, y, box);
	const x = box.left + box.x(ns);

	cursor.attr('x1', x).attr('x2', x).attr('visibility', 'visible');
	if (tip)
		showTip(tip, clientX, clientY);
	else
		hideTip();
}

function hideCursor({ cursor }) {
	cursor.attr('visibility', 'hidden');
	hideTip();
}

function followPointer(chart) {
	const { figure, svg, chosen } = chart;
	const timeAt = (event) => chart.box.x.invert(Math.max(0, Math.min(chart.box.width,
		event.clientX - figure.getBoundingClientRect().left - chart.box.left)));
	let dragFrom = null;

	figure.addEventListener('pointermove', (event) => {
		if (!chart.box)
			return;
		const ns = timeAt(event);
		if (dragFrom !== null) {
			const xs = [dragFrom, ns].map(chart.box.x).sort((a, b) => a - b);
			chosen.attr('x', chart.box.left + xs[0]).attr('width', xs[1] - xs[0]);
		}
		showAt(chart, ns, event.clientY - svg.node().getBoundingClientRect().top - 6,
			event.clientX, event.clientY);
	});
	figure.addEventListener('pointerdown', (event) => {
		if (chart.box && event.button === 0 && event.pointerType === 'mouse'
			&& svg.node().contains(event.target))
			dragFrom = timeAt(event);
	});
	window.addEventListener('pointerup', (event) => {
		const from = dragFrom;
		dragFrom = null;
		chosen.attr('width', 0);
		if (from === null)
			return;
		const to = timeAt(event);
		if (Math.abs(chart.box.x(from) - chart.box.x(to)) > 4)
			setRangeNs(Math.min(from, to), Math.max(from, to));
	});
	figure.addEventListener('pointerleave', () => hideCursor(chart));
	figure.addEventListener('dblclick', () => setRange(0, LAST));
	figure.addEventListener('wheel', (event) => {
		if (!event.ctrlKey || !chart.box)
			return;
		event.preventDefault();
		zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
	}, { passive: false });
}

function followKeys(chart) {
	const { figure, options } = chart;
	let at = null, row = 0;

	figure.addEventListener('blur', () => hideCursor(chart));
	figure.addEventListener('keydown', (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
		if (event.key === 'Escape')
			hideCursor(chart);
		if (!chart.box || event.target !== figure || !step && !(up && options.rows))
			return;
		event.preventDefault();
		const [from, to] = rangeNs(), by = options.step || FINE_NS, box = chart.box;
		at = Math.max(from, Math.min(to - 1, (at === null || at < from || at > to
			? from + by / 2 - (step || 0) * by : at) + (step || 0) * by));
		if (up)
			row = Math.max(0, Math.min(options.rows - 1, row + up));
		const y = options.rows ? box.height - (row + 0.5) * box.height / options.rows : null;
		const place = figure.getBoundingClientRect();
		showAt(chart, at, y, place.left + box.left + box.x(at),
			place.top + (y === null ? box.height / 2 : y));
	});
}

/*
 * options: label (description for screen readers), height, class, axis (false: none), draw(g, box),
 * tip(ns, y, box) -> {title, rows} or null, step (ns per arrow key press), rows (number of rows
 * that the up and down keys move over). box: {x, width, height}. Dragging selects a range.
 */
function timeChart(options) {
	const figure = el('figure', { class: `chart ${options.class || ''}`, tabindex: 0,
		role: 'group', 'aria-label': `${options.label}. Use the arrow keys to read values.` });
	const svg = d3.select(figure).append('svg').attr('aria-hidden', 'true');
	const chart = { figure, svg, options, box: null,
		plot: svg.append('g').attr('class', 'plot'),
		axis: svg.append('g').attr('class', 'axis time'),
		cursor: svg.append('line').attr('class', 'cursor').attr('y1', 0),
		chosen: svg.append('rect').attr('class', 'chosen').attr('y', 0).attr('width', 0) };

	chart.draw = () => drawChart(chart);
	followPointer(chart);
	followKeys(chart);
	drawAlways(figure, chart.draw);
	figure.redraw = chart.draw;
	return figure;
}

/* Ticks of an axis in ns, all in one unit. */
function timeTick(x) {
	const most = x.domain()[1], step = most - x.domain()[0];
	const [unit, by] = most >= 600e9 ? ['min', 60e9] : most >= 2e9 ? ['s', 1e9]
		: most >= 2e6 ? ['ms', 1e6] : ['us', 1e3];
	const places = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step / by / 8))));
	return (ns) => `${Number((ns / by).toFixed(places + 1))}\u00a0${unit}`;
}

/* Round numbers without the ".0" that aligns columns of tables. */
function shortly(format) {
	return (value) => value === 0 ? '0' : format(value).replace('.0\u00a0', '\u00a0');
}

/* A value axis on the left: steps are powers of two for bytes. */
function valueAxis(g, y, format, ticks) {
	const top = y.domain()[1], count = ticks || 3;
	let values = y.ticks(count);
	if (format === rateText || format === bytesText) {
		const step = Math.pow(2, Math.round(Math.log2(top / count || 1)));
		values = d3.range(0, top * 1.0001, step);
	}
	g.append('g').attr('class', 'axis value')
		.call(d3.axisLeft(y).tickValues(values).tickFormat(shortly(format)).tickSize(3)
			.tickSizeOuter(0));
	g.append('g').attr('class', 'grid').selectAll('line').data(values.filter((v) => v > 0))
		.join('line').attr('x1', 0).attr('x2', y.wide || 0).attr('y1', y).attr('y2', y);
}

/* A stepped area over stretches of equal length: y0 and y1 are functions of the stretch. */
function areaOver(x, [from, to], length, y0, y1) {
	const first = Math.floor(from / length), last = Math.max(first + 1, Math.ceil(to / length));
	const at = (i) => Math.min(i, last - 1);
	return d3.area().curve(d3.curveStepAfter).x((i) => x(Math.min(i * length, to)))
		.y0((i) => y0(at(i))).y1((i) => y1(at(i)))(d3.range(first, last + 1));
}

/* The same over the fine stretches that are shown. */
function stepArea(box, y0, y1) {
	return areaOver(box.x, rangeNs(), FINE_NS, y0, y1);
}

function fineOf(ns) {
	return Math.max(0, Math.min(FINE - 1, Math.floor(ns / FINE_NS)));
}

function coarseOf(ns) {
	return Math.max(0, Math.min(COARSE - 1, Math.floor(ns / COARSE_NS)));
}

function stretchTitle(i, length) {
	return `${timeText(i * length)} to ${timeText(Math.min((i + 1) * length, DURATION_NS))}`;
}

/* How much of a stretch lies within the run. */
function lengthWithin(i, length) {
	return Math.max(1, Math.min(length, DURATION_NS - i * length));
}

function fineLength(i) {
	return lengthWithin(i, FINE_NS);
}
