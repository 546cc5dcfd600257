/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables updated in place: rows have a key, and only texts that differ are changed, which keeps
 * selection, focus and scroll position. */

function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

function cellEl(column) {
	return el('td', { class: column.name ? null : 'number', 'data-title': column.title },
		column.name ? nameEl('') : null);
}

function fillCell(cell, column, row) {
	const text = column.get(row);
	setText(column.name ? cell.firstChild : cell, text === null || text === undefined ? NOTHING : text);
	const title = (column.hint && column.hint(row)) || '';
	if (cell.title !== title)
		cell.title = title;
}

/* Updates the children of `parent` to match `items`, in order; `make` makes new ones. */
function syncChildren(parent, items, keyOf, make, update) {
	const before = new Map();
	for (const child of parent.children)
		if (child.dataset.key !== undefined)
			before.set(child.dataset.key, child);
	let last = null;
	for (const item of items) {
		const key = String(keyOf(item));
		let child = before.get(key);
		before.delete(key);
		if (!child) {
			child = make(item);
			child.dataset.key = key;
		}
		update(child, item);
		const place = last ? last.nextElementSibling : parent.querySelector(':scope > [data-key]');
		if (place !== child)
			parent.insertBefore(child, last ? last.nextSibling : place);
		last = child;
	}
	for (const child of before.values())
		child.remove();
}

/* A table of columns {title, get, name, hint}; fill(rows) shows the rows. */
function listTable(columns, keyOf, nothing) {
	const body = el('tbody');
	const table = el('table', null, el('thead', null, el('tr', null, ...columns.map((column) =>
		el('th', { class: column.name ? null : 'number' }, column.title)))), body);
	return {
		table,
		fill(rows) {
			syncChildren(body, rows.length ? rows : [null], (row) => row ? keyOf(row) : 'nothing',
				(row) => row ? el('tr', null, ...columns.map(cellEl))
					: el('tr', null, el('td', { class: 'nothing', colspan: columns.length }, nothing)),
				(tr, row) => row && columns.forEach(
					(column, i) => fillCell(tr.children[i], column, row)));
		},
	};
}
