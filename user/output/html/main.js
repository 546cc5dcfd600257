/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Draws the parts one after the other: what comes first on the page is seen first. */

const STEPS = [makeHead, makeFindings, makeRange, makeCourse, makeFiles, makeLatency, makeSizes,
	makeRanks, makeProcesses, makeTables, makeAbout];

/* Pictures are drawn once they know how wide they are. */
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

/* On paper every table is open. */
window.addEventListener('beforeprint', () => {
	for (const details of document.querySelectorAll('details.table'))
		details.open = true;
	for (const draw of charts)
		draw();
});

drawNext(0);
