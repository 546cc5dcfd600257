/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Elements of the report's page, and its tip. */

function bodyOf(id) {
	return document.querySelector(`#${id} .body`);
}

function hintEl(text) {
	return el('p', { class: 'hint' }, text);
}

/* Replaces an empty picture. Aggregated operations are in no picture. */
function noneEl(text) {
	return hintEl(pictures.summed === 'none' ? text
		: 'Not available: operations were aggregated; use --mode trace to record them individually.');
}

/* --- the tip: lines of [label, value] below a heading --- */

const tipBox = document.getElementById('tip');

function showTip(tip, x, y) {
	tipBox.replaceChildren(el('strong', null, tip.title));
	if (tip.rows.length)
		tipBox.append(el('dl', null, ...tip.rows.flatMap(([label, value, colour]) => [
			el('dt', colour ? { class: `key ${colour}` } : null, label),
			el('dd', null, value)])));
	tipBox.hidden = false;
	const width = tipBox.offsetWidth, height = tipBox.offsetHeight;
	const left = x + 14 + width > window.innerWidth ? x - width - 14 : x + 14;
	const top = y + 14 + height > window.innerHeight ? y - height - 14 : y + 14;
	tipBox.style.left = `${Math.max(4, left)}px`;
	tipBox.style.top = `${Math.max(4, top)}px`;
}

function hideTip() {
	tipBox.hidden = true;
}

/* A legend of items [colour class, label]. */
function legend(items) {
	return el('ul', { class: 'legend' }, ...items.map(([colour, label]) =>
		el('li', null, el('span', { class: `swatch ${colour}` }), label)));
}
