/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Draws densities as cells of a few levels, one path per level. */

const LEVELS = 7;

/* 0 for nothing, else 1 to LEVELS, logarithmically. */
function levelOf(count, most) {
	if (!count)
		return 0;
	return most <= 1 ? LEVELS : 1 + Math.min(LEVELS - 1,
		Math.floor(Math.log(count) / Math.log(most + 1) * LEVELS));
}

/* cells: {x, y, width, height, count}; colour: class of the hue. */
function drawCells(g, cells, most, colour) {
	const paths = Array.from({ length: LEVELS + 1 }, () => []);
	for (const cell of cells)
		paths[levelOf(cell.count, most)].push(`M${cell.x.toFixed(1)} ${cell.y.toFixed(1)}h`
			+ `${cell.width.toFixed(1)}v${cell.height.toFixed(1)}h${(-cell.width).toFixed(1)}z`);
	for (let level = 1; level <= LEVELS; level++)
		if (paths[level].length)
			g.append('path').attr('class', `cell ${colour} level-${level}`)
				.attr('d', paths[level].join(''));
	return cells.length;
}
