/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For each of the worst files: offsets accessed over time, and what the page cache had of it. */

const TOUCHES = [['reads', 'c-read', 'reads'], ['faults', 'c-faults', 'page faults'],
	['writes', 'c-write', 'writes']];

function unpackMap(map) {
	const cells = COARSE * pictures.offsets, out = Object.assign({}, map);
	for (const [name] of TOUCHES) {
		out[name] = unpack(map[name], cells);
		out[`${name}_all`] = sum(out[name]);
	}
	for (const name of ['read', 'missed', 'faulted', 'direct', 'written', 'minor', 'major'])
		out[name] = unpack(map[name], COARSE);
	out.extent = Math.max(map.furthest, map.size, 1);
	return out;
}

const maps = pictures.maps.map(unpackMap);

/* If a cell has several kinds, they share its width. */
function drawMap(map, g, box) {
	const rows = Math.min(pictures.offsets, Math.ceil(map.extent / map.row_bytes));
	const y = d3.scaleLinear([0, map.extent], [box.height, 0]);
	const kinds = TOUCHES.filter(([name]) => map[`${name}_all`]);
	const cells = kinds.map(() => []);
	let most = 1;

	y.wide = box.width;
	for (let i = range.from; i < range.to; i++) {
		const left = box.x(i * COARSE_NS);
		const width = Math.min(box.width, box.x((i + 1) * COARSE_NS)) - left;
		for (let row = 0; row < rows; row++) {
			const at = i * pictures.offsets + row;
			const here = kinds.filter(([name]) => map[name][at]);
			here.forEach(([name], k) => {
				const top = y(Math.min(map.extent, (row + 1) * map.row_bytes));
				most = Math.max(most, map[name][at]);
				cells[kinds.findIndex((kind) => kind[0] === name)].push({
					x: left + k * width / here.length, width: Math.max(0.7, width / here.length),
					y: top, height: Math.max(0.7, y(row * map.row_bytes) - top),
					count: map[name][at] });
			});
		}
	}
	kinds.forEach(([, colour], k) => drawCells(g, cells[k], most, colour));
	valueAxis(g, y, bytesText, 4);
}

function mapTip(map, ns, y, box) {
	const i = coarseOf(ns);
	const offset = y === null ? 0 : Math.max(0, Math.min(map.extent - 1,
		(1 - y / box.height) * map.extent));
	const row = Math.min(pictures.offsets - 1, Math.floor(offset / map.row_bytes));
	const at = i * pictures.offsets + row;
	return { title: `${bytesText(row * map.row_bytes)} to ${bytesText((row + 1) * map.row_bytes)}, `
		+ stretchTitle(i, COARSE_NS), rows: TOUCHES.filter(([name]) => map[`${name}_all`])
		.map(([name, colour, label]) => [label, countText(map[name][at]), colour]) };
}

/* --- requested, from memory, from storage --- */

const STORY = [
	['memory', 'read by calls, from memory', 'c-memory'],
	['missed', 'from storage, by read calls', 'c-read'],
	['faulted', 'from storage, by page faults', 'c-faults'],
	['direct', 'O_DIRECT, bypassing the cache', 'c-direct'],
	['written', 'written', 'c-write'],
];

function storyOf(map, i) {
	const memory = Math.max(0, map.read[i] - map.missed[i]);
	return { memory, missed: map.missed[i], faulted: map.faulted[i], direct: map.direct[i],
		written: map.written[i] };
}

/* Of the whole run: bytes requested in one stretch may have been fetched in another. */
function storyTotal(map, name) {
	return name === 'memory' ? Math.max(0, sum(map.read) - sum(map.missed)) : sum(map[name]);
}

function storyRows(map) {
	return STORY.filter(([name]) => d3.range(COARSE).some((i) => storyOf(map, i)[name] > 0));
}

function drawStory(map, rows, g, box) {
	const stretches = d3.range(range.from, range.to);
	const top = d3.max(stretches, (i) => d3.sum(rows, ([name]) => storyOf(map, i)[name])) || 1;
	const y = d3.scaleLinear([0, top], [box.height, 0]);

	y.wide = box.width;
	rows.forEach(([name, , colour], k) => {
		g.append('path').attr('class', `bar ${colour}`).attr('d', stretches.map((i) => {
			const story = storyOf(map, i), base = d3.sum(rows.slice(0, k), (row) => story[row[0]]);
			const left = box.x(i * COARSE_NS);
			const width = Math.min(box.width, box.x((i + 1) * COARSE_NS)) - left;
			return story[name] ? `M${left} ${y(base)}V${y(base + story[name])}h`
				+ `${Math.max(0.6, width - 0.6)}V${y(base)}z` : '';
		}).join(''));
	});
	valueAxis(g, y, bytesText, 2);
}

function storyText(map) {
	const total = (list) => sum(list, range.from, range.to);
	const asked = total(map.read), missed = total(map.missed), faulted = total(map.faulted);
	const parts = [];
	if (asked)
		parts.push(`read calls: ${bytesText(asked)} requested, `
		+ `${bytesText(Math.max(0, asked - missed))} from memory, ${bytesText(missed)} from storage`);
	if (total(map.major) + total(map.minor))
		parts.push(`${countText(total(map.major) + total(map.minor))} page faults read `
			+ `${bytesText(faulted)} from storage (${countText(total(map.major))} major)`);
	if (total(map.direct))
		parts.push(`${bytesText(total(map.direct))} by O_DIRECT`);
	if (total(map.written))
		parts.push(`${bytesText(total(map.written))} written`);
	return parts.join('; ') || 'no activity in this part of the run';
}

function fileFigure(map) {
	const rows = storyRows(map), says = el('p', { class: 'amount' });
	const kinds = TOUCHES.filter(([name]) => map[`${name}_all`]);
	const update = () => {
		says.textContent = storyText(map);
	};
	const place = timeChart({ class: 'map', height: 180, step: COARSE_NS, axis: !rows.length,
		rows: 24, label: `Offsets in ${lastPart(map.name)} over time`,
		draw: (g, box) => drawMap(map, g, box), tip: (ns, y, box) => mapTip(map, ns, y, box) });
	const story = rows.length ? timeChart({ class: 'story', height: 54, step: COARSE_NS,
		label: `Bytes of ${lastPart(map.name)} by source`,
		draw: (g, box) => drawStory(map, rows, g, box),
		tip: (ns) => ({ title: stretchTitle(coarseOf(ns), COARSE_NS), rows: rows.map(
			([name, label, colour]) => [label, bytesText(storyOf(map, coarseOf(ns))[name]), colour])
		}) }) : null;

	onRange(update);
	update();
	return el('article', { class: 'file' }, el('h3', null, nameEl(map.name || 'no name')), says,
		legend(kinds.map(([, colour, label]) => [colour, label])), place,
		rows.length ? legend(rows.map(([, label, colour]) => [colour, label])) : null, story);
}

function makeFiles() {
	const body = bodyOf('files');
	const shown = maps.filter((map) => TOUCHES.some(([name]) => map[`${name}_all`])
		|| storyRows(map).length);

	if (!shown.length) {
		body.append(noneEl('No regular files were read, written or mapped.'));
		return;
	}
	body.append(el('p', { class: 'hint' }, 'File offsets over time: darker cells have more '
		+ 'operations. A rising line is sequential access; a cloud is random access. '
		+ 'Below: bytes by source.'),
	el('div', { class: 'file-grid' }, ...shown.map(fileFigure)));
	if (tables.files && tables.files.of > shown.length)
		body.append(el('p', { class: 'hint' }, `The worst ${shown.length} of `
			+ `${countText(tables.files.of)} files; the files table lists more.`));
}
