/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes elements for any page. Texts are always text nodes. */

/* el('p', {class: 'x'}, 'text', child...) */
function el(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const name of Object.keys(attributes || {})) {
		const value = attributes[name];
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

/* A name from the trace, isolated: its text direction does not affect its surroundings. */
function nameEl(text, attributes) {
	return el('bdi', Object.assign({ class: 'name' }, attributes), text);
}

function lastPart(path) {
	return path === null || path === undefined ? NOTHING : path.replace(/^.*\/(?=[^/])/, '');
}
