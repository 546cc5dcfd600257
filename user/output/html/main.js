/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Draws the parts of the page in order, so that the top appears first. */

const STEPS = [makeHead, makeFindings, makeRange, makeTimeline, makeFlame, makeFiles, makeLatency,
	makeSizes, makeRanks, makeProcesses, makeTables, makeAbout, makeContents];

/* Links to the parts of the page and, below, to each table that has rows. */
function makeContents() {
	const link = (id, text) => el('a', { href: `#${id}` }, text);
	const sections = document.querySelectorAll('main > section');
	const listed = document.querySelectorAll('details.table');

	document.getElementById('contents').append(
		el('ul', null, ...Array.from(sections, (section) => el('li', null,
			link(section.id, section.querySelector('h2').textContent)))),
		el('details', null, el('summary', null, `${listed.length} tables`),
			el('ul', null, ...Array.from(listed, (table) => el('li', null,
				link(table.id, table.querySelector('.title').textContent))))));
}

/* Following a link to a table opens it. */
window.addEventListener('hashchange', () => {
	const target = document.getElementById(window.location.hash.slice(1));
	if (target && target.matches('details.table'))
		target.open = true;
});

/* Charts are drawn once they know their width. */
function whenDrawn() {
	if (chartsDrawn.size < charts.length)
		window.requestAnimationFrame(whenDrawn);
	else
		document.documentElement.dataset.drawn = 'all';
}

function drawNext(i) {
	if (i === STEPS.length) {
		whenDrawn();
		return;
	}
	STEPS[i]();
	window.setTimeout(drawNext, 0, i + 1);
}

/* In print, all tables are open. */
window.addEventListener('beforeprint', () => {
	for (const details of document.querySelectorAll('details.table'))
		details.open = true;
	for (const draw of charts)
		draw();
});

drawNext(0);
