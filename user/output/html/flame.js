/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flame graph of the selected part of the run: which frames took the time of threads, in operations
 * and blocked, or on a CPU. Callers are above what they call; boxes are as wide as their time.
 */

const FLAME_ROW = 18;
const FLAME_MIN = 3; /* pixels; narrower boxes, often of deep stacks, are not drawn */
const FLAME_COLOURS = { cpu: 'c-compute', io: 'c-alone', storage: 'c-alone', lock: 'c-sync',
	pipe: 'c-async', child: 'c-splice', sleep: 'c-size', memory: 'c-kernel', device: 'c-direct',
	stopped: 'c-checkpoint', runnable: 'c-comm', other: 'c-metadata' };
/* In this order. */
const THREAD_KINDS = { main: 'main threads', worker: 'workers', helper: 'helper threads',
	other: 'other threads' };
const OTHER_FRAMES = '(other)';

/* Nodes, and cells of stretches in which a node itself took time. */
function unpackFlame({ states, texts, nodes, sums }) {
	const all = nodes.map(([parent, file, line, name], number) => ({ number, parent, line,
		file: texts[file], name: texts[name] || '?', children: [], depth: 0 }));
	const cells = [];

	for (const node of all.slice(1)) {
		node.depth = all[node.parent].depth + 1;
		all[node.parent].children.push(node);
		if (node.depth === 1)
			node.name = THREAD_KINDS[node.name] || node.name;
	}
	const kinds = Object.values(THREAD_KINDS), placeOf = ({ name }) => (kinds.indexOf(name) + 1) || 9;
	all[0].children.sort((a, b) => placeOf(a) - placeOf(b));
	all[0].name = 'all threads';
	for (const [node, state, exact, samples, estimated] of sums) {
		const counts = unpack(samples, COARSE), times = Array.isArray(estimated)
			? unpack(estimated, COARSE) : counts && counts.map((count) => count * estimated);
		unpack(exact, COARSE).forEach((ns, at) => {
			const more = counts ? times[at] : 0;
			if (ns || counts && counts[at])
				cells.push({ node, state, at, time: ns + more, samples: counts ? counts[at] : 0,
					estimated: more });
		});
	}
	return { states, nodes: all, cells };
}

const flame = pictures.flame && unpackFlame(pictures.flame);

/* Sets each node's sums over the selected part of the run, by state, with all it calls. */
function sumFlame() {
	for (const node of flame.nodes)
		for (const name of ['time', 'samples', 'estimated'])
			node[name] = new Float64Array(flame.states.length);
	for (const cell of flame.cells)
		if (cell.at >= range.from && cell.at < range.to)
			for (const name of ['time', 'samples', 'estimated'])
				flame.nodes[cell.node][name][cell.state] += cell[name];
	for (const node of flame.nodes.slice(1).reverse())
		for (const name of ['time', 'samples', 'estimated'])
			node[name].forEach((value, state) => {
				flame.nodes[node.parent][name][state] += value;
			});
}

/* The time of all samples in a state, in the selected part of the run. */
function flameTime(name) {
	return flame.nodes[0].time[flame.states.findIndex(([known]) => known === name)];
}

/* The standard error of a time, as in the table of lines. */
function standardError(estimated, samples) {
	return samples ? estimated / Math.sqrt(samples) : 0;
}

function errorOf(node, states) {
	return Math.sqrt(d3.sum(states, (state) =>
		Math.pow(standardError(node.estimated[state], node.samples[state]), 2)));
}

function plusMinus(ns, error) {
	return error ? `${timeText(ns)} \u00b1 ${timeText(error)}` : timeText(ns);
}

function timeOf(node, states) {
	return d3.sum(states, (state) => node.time[state]);
}

function frameText(node) {
	return node.file ? `${node.name} (${lastPart(node.file)}${node.line ? `:${node.line}` : ''})`
		: node.name;
}

/* The boxes to draw below `top`, with its callers above it: {node, x, width, row}. */
function flameBoxes(top, states, width) {
	const boxes = [], callers = [];
	const place = (node, x, wide, row) => {
		boxes.push({ node, x, width: wide, row });
		const scale = wide / timeOf(node, states), time = (child) => timeOf(child, states);
		const order = node.children.slice().sort((a, b) =>
			(a.name === OTHER_FRAMES) - (b.name === OTHER_FRAMES) || time(b) - time(a));
		for (const child of node.number ? order : node.children) {
			if (time(child) * scale >= FLAME_MIN)
				place(child, x, time(child) * scale, row + 1);
			x += time(child) * scale;
		}
	};

	for (let node = top; node.number; node = flame.nodes[node.parent])
		callers.unshift(flame.nodes[node.parent]);
	callers.forEach((node, row) => boxes.push({ node, x: 0, width, row }));
	if (timeOf(top, states))
		place(top, 0, width, callers.length);
	return boxes;
}

function drawFlame(g, boxes, state) {
	for (const { node, x, width, row } of boxes) {
		const y = row * FLAME_ROW, wide = Math.max(0.5, width - 1);
		const group = g.append('g').attr('class', state.matches(node) ? 'frame match' : 'frame');
		const name = frameText(node), room = (width - 6) / 6.4;
		let left = x;
		for (const i of state.states) {
			const part = wide * node.time[i] / timeOf(node, state.states);
			if (part > 0)
				group.append('rect').attr('class', FLAME_COLOURS[flame.states[i][0]]).attr('x', left)
					.attr('y', y).attr('width', part).attr('height', FLAME_ROW - 1);
			left += part || 0;
		}
		group.append('rect').attr('class', node === state.at ? 'border current' : 'border')
			.attr('x', x).attr('y', y).attr('width', wide).attr('height', FLAME_ROW - 1);
		if (room >= 3)
			group.append('text').attr('x', x + 3).attr('y', y + 12.5)
				.text(name.length <= room ? name : name.slice(0, room - 1) + '\u2026');
	}
}

function flameTip(node, states) {
	const all = timeOf(flame.nodes[0], states), time = timeOf(node, states);
	const own = time - d3.sum(node.children, (child) => timeOf(child, states));
	const used = states.filter((state) => node.time[state] > 0);
	return { title: node.name, rows: [
		node.file ? ['line', node.file + (node.line ? `:${node.line}` : '')] : null,
		['time', plusMinus(time, errorOf(node, states))],
		['share', shareText(all ? time / all : null)],
		node.children.length ? ['itself', timeText(own)] : null]
		.concat(states.length > 1 ? used.map((state) => [flame.states[state][1],
			plusMinus(node.time[state], errorOf(node, [state])),
			FLAME_COLOURS[flame.states[state][0]]]) : []).filter(Boolean) };
}

/* Time of all boxes that the search finds, each counted once. */
function foundTime(state, node) {
	return state.matches(node) ? timeOf(node, state.states)
		: d3.sum(node.children, (child) => foundTime(state, child));
}

/* The choices of states: [label, states]... */
function flameViews() {
	const used = d3.range(flame.states.length).filter((state) =>
		flame.cells.some((cell) => cell.state === state));
	const cpu = flame.states.findIndex(([name]) => name === 'cpu');
	const io = flame.states.length - 1;
	const waits = used.filter((state) => state === io)
		.concat(used.filter((state) => state !== cpu && state !== io));
	const views = waits.length ? [['in I/O and blocked', waits]] : [];
	if (used.includes(cpu))
		views.push(['on CPU', [cpu]]);
	return views.concat(waits.length > 1
		? waits.map((state) => [flame.states[state][1], [state]]) : []);
}

/* Buttons of which one is pressed: [label, value]... */
function choiceEl(label, choices, chosen, choose) {
	return el('span', { class: 'choice', role: 'group', 'aria-label': label },
		...choices.map(([text, value]) => el('button', { type: 'button',
			'aria-pressed': String(value === chosen()), onclick: () => choose(value) }, text)));
}

/* The text above the graph: the time that is shown, and what was found. */
function flameText({ states, find }, found) {
	const time = timeOf(flame.nodes[0], states);
	const shareOf = (ns) => shareText(time ? ns / time : null);
	const rest = d3.sum(flame.nodes.filter((node) => node.name === OTHER_FRAMES && !node.file),
		(node) => timeOf(node, states));
	return [time ? `thread time: ${plusMinus(time, errorOf(flame.nodes[0], states))}`
		: 'no samples in this part of the run',
	rest ? `boxes ${OTHER_FRAMES}, of frames with little time, have ${shareOf(rest)}` : '',
	find ? `found: ${shareOf(found)}` : ''].filter(Boolean).join('; ');
}

function flameLegend(states) {
	return legend(states.filter((i) => flame.nodes[0].time[i] > 0).map((i) =>
		[FLAME_COLOURS[flame.states[i][0]],
			`${flame.states[i][1]} ${timeText(flame.nodes[0].time[i])}`]));
}

function followFlamePointer(figure, svg, state, zoomTo) {
	const boxAt = (event) => {
		const place = svg.node().getBoundingClientRect();
		const x = event.clientX - place.left, row = Math.floor((event.clientY - place.top) / FLAME_ROW);
		return state.boxes.find((box) => box.row === row && box.x <= x && x < box.x + box.width);
	};

	figure.addEventListener('pointermove', (event) => {
		const box = boxAt(event);
		if (box)
			showTip(flameTip(box.node, state.states), event.clientX, event.clientY);
		else
			hideTip();
	});
	figure.addEventListener('click', (event) => {
		const box = boxAt(event);
		if (box)
			zoomTo(box.node);
	});
	for (const name of ['pointerleave', 'blur'])
		figure.addEventListener(name, hideTip);
}

function followFlameKeys(figure, svg, state, zoomTo, draw) {
	figure.addEventListener('keydown', (event) => {
		const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
			ArrowRight: [0, 1] }[event.key];
		const now = state.boxes.find((box) => box.node === state.at) || state.boxes[0];
		if (event.key === 'Escape')
			hideTip();
		if (event.key === 'Enter' && now)
			zoomTo(now.node);
		if (event.key === 'Backspace')
			zoomTo(flame.nodes[state.top.parent]);
		if (!step || !now)
			return;
		event.preventDefault();
		state.at = nextBox(state.boxes, now, step).node;
		draw();
		const place = svg.node().getBoundingClientRect();
		const box = state.boxes.find((one) => one.node === state.at);
		showTip(flameTip(state.at, state.states), place.left + box.x,
			place.top + (box.row + 1) * FLAME_ROW);
	});
}

function makeFlameGraph(body) {
	const views = flameViews();
	const state = { states: views[0][1], top: flame.nodes[0], at: null, boxes: [], find: '',
		matches: (node) => state.find !== '' && `${node.name} ${node.file}:${node.line}`.toLowerCase()
			.includes(state.find) };
	const figure = el('figure', { class: 'chart flame', tabindex: 0, role: 'group',
		'aria-label': 'Flame graph. Use the arrow keys to read boxes, Enter to zoom in, Backspace to '
			+ 'zoom out.' });
	const svg = d3.select(figure).append('svg').attr('aria-hidden', 'true');
	const says = el('p', { class: 'amount' }), keys = el('div'), choices = el('span');
	const find = el('input', { type: 'search', placeholder: 'find function or file',
		'aria-label': 'Find functions or files in the flame graph', oninput: (event) => {
			state.find = event.target.value.toLowerCase();
			draw();
		} });
	const draw = () => {
		const width = figure.clientWidth;
		if (width <= 20)
			return;
		state.boxes = flameBoxes(state.top, state.states, width);
		const height = (1 + (d3.max(state.boxes, (box) => box.row) || 0)) * FLAME_ROW;
		svg.attr('width', width).attr('height', height).attr('viewBox', `0 0 ${width} ${height}`)
			.selectAll('*').remove();
		drawFlame(svg, state.boxes, state);
		says.textContent = flameText(state, foundTime(state, flame.nodes[0]));
		keys.replaceChildren(flameLegend(state.states));
		chartsDrawn.add(draw);
	};
	const update = () => {
		choices.replaceChildren(choiceEl('State', views, () => state.states, (states) => {
			state.states = states;
			update();
		}), choiceEl('Threads', [flame.nodes[0], ...flame.nodes[0].children].map((node) =>
			[node.name, node]), () => state.top, zoomTo));
		draw();
	};
	const zoomTo = (node) => {
		state.top = state.at = node;
		update();
	};

	followFlamePointer(figure, svg, state, zoomTo);
	followFlameKeys(figure, svg, state, zoomTo, draw);
	figure.prepend(el('figcaption', null, keys));
	body.append(el('div', { class: 'tools' }, choices, find), says, figure);
	drawAlways(figure, draw);
	update();
}

/* The box that an arrow key leads to: the caller, the first that it calls, or a neighbour. */
function nextBox(boxes, now, [down, right]) {
	const row = boxes.filter((box) => box.row === now.row + down).sort((a, b) => a.x - b.x);
	if (!down)
		return row[row.indexOf(now) + right] || now;
	return (down < 0 ? row.find((box) => now.node.parent === box.node.number)
		: row.find((box) => box.node.parent === now.node.number)) || now;
}

function makeFlame() {
	const body = bodyOf('flame');

	if (!flame)
		body.append(hintEl(`Not available: ${tables.lines.note}.`));
	else if (!flame.cells.length)
		body.append(hintEl('No samples were taken.'));
	else {
		body.append(hintEl('Thread time by stack: callers are above what they call, and boxes are as '
			+ 'wide as their time. Click a box to zoom in, or one above it to zoom out. Times are '
			+ 'estimated from samples; \u00b1 is one standard error. Time in I/O includes its time on '
			+ 'a CPU.'));
		onRange(sumFlame);
		sumFlame();
		makeFlameGraph(body);
	}
}
