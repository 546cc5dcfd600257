/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The whole node: a tile per number, with its history while the page has been open. */

const TIMELINE_LENGTH = 60; /* values */

const TILES = [
	{ title: 'from storage', get: (methods) => sumOf(methods, 'fetched_bytes', true), text: bytesRate },
	{ title: 'by read calls', get: (methods) => sumOf(methods, 'bytes', true, reads('syscall')), text: bytesRate },
	{ title: 'by mmap', get: (methods) => sumOf(methods, 'fetched_bytes', true, reads('mmap')), text: bytesRate },
	{ title: 'by other reads', text: bytesRate, get: (methods) => sumOf(methods, 'bytes', true,
		(cell) => cell.op === 'read' && !['syscall', 'mmap'].includes(cell.method)) },
	{ title: 'written', get: (methods) => sumOf(methods, 'bytes', true, writes), text: bytesRate },
	{ title: 'major faults', get: (methods) => sumOf(methods, 'major_faults', true), text: countRate },
	{ title: 'operations', get: (methods) => sumOf(methods, 'count', true), text: countRate },
	{ title: 'threads waiting', get: (methods) => waitingOf(methods), text: threadsText },
];

const SVG = 'http://www.w3.org/2000/svg';

function tileEl(tile) {
	const svg = document.createElementNS(SVG, 'svg'), path = document.createElementNS(SVG, 'path');
	svg.setAttribute('class', 'series');
	svg.setAttribute('viewBox', `0 0 ${TIMELINE_LENGTH - 1} 26`);
	svg.setAttribute('preserveAspectRatio', 'none');
	svg.setAttribute('aria-hidden', 'true');
	svg.append(path);
	tile.values = [];
	tile.path = path;
	tile.number = el('dd', null, NOTHING);
	return el('div', { class: 'tile' }, el('dt', null, tile.title), tile.number, svg);
}

/* The newest value is on the right; gaps are unknown values. */
function seriesPath(values) {
	const top = Math.max(...values.filter((value) => value !== null), 1e-9);
	let drawn = '', pen = 'M';
	values.forEach((value, i) => {
		if (value === null) {
			pen = 'M';
			return;
		}
		const x = TIMELINE_LENGTH - values.length + i, y = 24.5 - value / top * 23;
		drawn += `${pen}${x} ${y.toFixed(1)}`;
		pen = 'L';
	});
	return drawn;
}

function drawTiles(node) {
	const list = document.getElementById('tiles');
	if (!list.children.length)
		list.append(...TILES.map(tileEl));
	for (const tile of TILES) {
		const value = tile.get(node.methods);
		tile.values.push(value);
		if (tile.values.length > TIMELINE_LENGTH)
			tile.values.shift();
		setText(tile.number, tile.text(value));
		tile.path.setAttribute('d', seriesPath(tile.values));
	}
}
