/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The run on one time axis: time with and without compute, by kind of I/O; bytes; faults. */

/* Disjoint shares of a fine stretch: I/O only, I/O and compute, compute only. */
function statesOf(i) {
	const length = fineLength(i), hidden = timeline.all.hidden[i];
	const compute = timeline.compute_ns ? timeline.compute_ns[i] : 0;
	return [timeline.all.alone[i], hidden, Math.max(0, compute - hidden)].map((ns) => ns / length);
}

function drawStates(g, box) {
	const y = d3.scaleLinear([0, 1], [box.height, 0]);
	y.wide = box.width;
	for (let k = 0; k < STATES.length; k++) {
		const base = (i) => sum(statesOf(i), 0, k);
		g.append('path').attr('class', `state ${STATES[k][0]}`).attr('d',
			stepArea(box, (i) => y(base(i)), (i) => y(base(i) + statesOf(i)[k])));
	}
	valueAxis(g, y, d3.format('.0%'), 2);
}

function statesTip(ns) {
	const i = fineOf(ns), states = statesOf(i);
	return { title: stretchTitle(i, FINE_NS),
		rows: STATES.map(([colour, label], k) => [label, shareText(states[k]), colour]) };
}

function statesChart(height, label, given) {
	return timeChart(Object.assign({ class: 'states', label, height, left: wideLeft,
		draw: drawStates, tip: statesTip }, given));
}

/* --- by kind of I/O: unoverlapped above the line, overlapped by compute below --- */

function partsWithTime() {
	return PARTS.filter((part) => sum(timeline[part.name].alone) + sum(timeline[part.name].hidden) > 0);
}

function drawPart(part, g, box) {
	const share = (list) => (i) => Math.min(1, list[i] / fineLength(i));
	const alone = share(timeline[part.name].alone), hidden = share(timeline[part.name].hidden);
	const middle = timeline.compute_ns ? box.height * 0.62 : box.height - 1;

	g.append('path').attr('class', `part c-${part.name}`)
		.attr('d', stepArea(box, () => middle, (i) => middle - alone(i) * middle));
	g.append('path').attr('class', `part faint c-${part.name}`).attr('d',
		stepArea(box, () => middle, (i) => middle + hidden(i) * (box.height - middle)));
	g.append('line').attr('class', 'base').attr('x2', box.width).attr('y1', middle)
		.attr('y2', middle);
}

function inFineRange(list) {
	return sum(list, range.from * FINER, range.to * FINER);
}

function partRow(part) {
	const list = timeline[part.name];
	const says = el('span', { class: 'amount' });
	const update = () => {
		const alone = inFineRange(list.alone), hidden = inFineRange(list.hidden);
		says.textContent = timeline.compute_ns
			? `${timeText(alone)} unoverlapped${hidden ? `, ${timeText(hidden)} overlapped` : ''}`
			: timeText(alone);
	};
	const figure = timeChart({ class: 'part-row in-margin', height: 30, axis: false,
		left: wideLeft,
		label: `Time in ${part.title}${timeline.compute_ns ? ', with and without compute' : ''}`,
		draw: (g, box) => drawPart(part, g, box),
		tip: (ns) => {
			const i = fineOf(ns);
			const share = (of) => shareText(of[i] / fineLength(i));
			return { title: `${part.title}, ${stretchTitle(i, FINE_NS)}`, rows: timeline.compute_ns
				? [['unoverlapped', share(list.alone)], ['overlapped by compute', share(list.hidden)]]
				: [['in progress', share(list.alone)]] };
		} });
	onRange(update);
	update();
	figure.prepend(el('figcaption', null, el('span', { class: `swatch c-${part.name}` }),
		part.title, ' ', says));
	figure.dataset.part = part.name;
	return figure;
}

/* --- bytes and faults per second --- */

function recorded(rows) {
	return rows.filter(([name]) => timeline[name] && sum(timeline[name]) > 0);
}

function rateOf(name, i) {
	return timeline[name][i] / fineLength(i) * 1e9;
}

function drawRates(rows, format, g, box) {
	const [from, to] = [fineOf(rangeNs()[0]), fineOf(rangeNs()[1] - 1)];
	const top = d3.max(rows, ([name]) => d3.max(d3.range(from, to + 1), (i) => rateOf(name, i)));
	const y = d3.scaleLinear([0, top || 1], [box.height, 0]);

	y.wide = box.width;
	for (const [name, , colour, filled] of rows)
		g.append('path').attr('class', `rate ${colour} ${filled ? 'filled' : 'line'}`).attr('d',
			filled ? stepArea(box, () => box.height, (i) => y(rateOf(name, i)))
				: stepLine(box, (i) => y(rateOf(name, i))));
	valueAxis(g, y, format);
}

function stepLine(box, y) {
	const [from, to] = rangeNs();
	const first = Math.floor(from / FINE_NS), last = Math.min(FINE, Math.ceil(to / FINE_NS));
	return d3.line().curve(d3.curveStepAfter).x((i) => box.x(Math.min(i * FINE_NS, to)))
		.y((i) => y(Math.min(i, last - 1)))(d3.range(first, last + 1));
}

function ratesChart(given, rows, title, format, unit) {
	const figure = timeChart({ class: given, height: 110, left: wideLeft, label: title,
		draw: (g, box) => drawRates(rows, format, g, box),
		tip: (ns) => {
			const i = fineOf(ns);
			return { title: stretchTitle(i, FINE_NS), rows: rows.map(([name, label, colour]) =>
				[label, format(rateOf(name, i)) + unit, colour]) };
		} });
	figure.prepend(el('figcaption', null, title),
		legend(rows.map(([, label, colour]) => [colour, label])));
	return figure;
}

function makeShares(body) {
	const states = statesChart(96, timeline.compute_ns ? 'Share of time in I/O and in compute'
		: 'Share of time in I/O');

	states.prepend(el('figcaption', null, 'share of time'),
		legend(STATES));
	body.append(states);
	if (!timeline.compute_ns)
		body.append(hintEl('No spans of category compute were marked, so overlap with '
			+ 'compute is unknown.'));
	body.append(el('div', { class: 'part-rows' }, ...partsWithTime().map(partRow)));
	if (timeline.compute_ns)
		body.append(hintEl('Above each line: unoverlapped time; below, fainter: overlapped by '
			+ 'compute. Full height is 100% of the time.'));
}

function makeRates(body) {
	const bytes = recorded(BYTES), faults = recorded(FAULTS);

	body.append(bytes.length ? ratesChart('bytes', bytes, 'bytes per second', rateText, '')
		: pictures.layers.pagecache ? noneEl('No bytes were moved.')
			: hintEl('Bytes from storage were not recorded.'));
	body.append(faults.length ? ratesChart('fault-rates', faults, 'page faults on files per second',
		countText, '/s') : pictures.layers.fault ? noneEl('There were no page faults on files.')
		: hintEl('Page faults were not recorded.'));
}

function makeTimeline() {
	const body = bodyOf('timeline');

	if (pictures.summed === 'all') {
		body.append(noneEl());
	} else {
		makeShares(body);
		makeRates(body);
	}
	makeRuler(body);
	makeLanes(body);
}
