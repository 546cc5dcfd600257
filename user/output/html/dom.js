/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parts of the report's page, and its one tip. */

function bodyOf(id) {
	return document.querySelector(`#${id} .body`);
}

function hintEl(text) {
	return el('p', { class: 'hint' }, text);
}

/* In place of a picture of nothing. Operations that were summed up are in no picture. */
function noneEl(text) {
	return hintEl(pictures.summed === 'none' ? text
		: 'Not known: operations were summed up, and this needs them one by one (--mode trace tells them).');
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

/* A legend: [class of colour, label]... */
function legend(items) {
	return el('ul', { class: 'legend' }, ...items.map(([colour, label]) =>
		el('li', null, el('span', { class: `swatch ${colour}` }), label)));
}
