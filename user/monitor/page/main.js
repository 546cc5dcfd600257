/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Asks the service again and again while the page is seen, and says when it does not answer. */

const EVERY_MS = 2000, GIVE_UP_MS = 10000;

const course = { paused: false, asking: false, answered: null, trouble: null };

function sayState() {
	const state = document.getElementById('state');
	const ago = course.answered === null ? null : Math.round((Date.now() - course.answered) / 1000);
	let text = course.paused ? 'paused' : ago === null ? 'asking\u2026' : ago < 4 ? 'live' : `as of ${ago} s ago`;
	if (course.trouble)
		text = `${course.trouble}; ${ago === null ? 'nothing was heard yet' : `these numbers are ${ago} s old`}`;
	setText(state, text);
	state.classList.toggle('trouble', Boolean(course.trouble));
	document.body.classList.toggle('stale', Boolean(course.trouble));
}

function readTrouble(now) {
	if (now.schema !== 1)
		return `the service speaks another language (schema ${now.schema}): load this page again`;
	if (now.read_ns_ago === null)
		return 'the service has read nothing yet';
	return now.read_ns_ago > 60e9 ? `the service read nothing for ${timeText(now.read_ns_ago)}` : null;
}

async function ask() {
	const stop = new AbortController(), timer = setTimeout(() => stop.abort(), GIVE_UP_MS);
	try {
		const answer = await fetch('jobs', { signal: stop.signal, cache: 'no-store', credentials: 'same-origin' });
		if (!answer.ok)
			throw new Error(`the service answers ${answer.status}`);
		const now = await answer.json();
		course.trouble = readTrouble(now);
		if (now.schema === 1 && !course.paused) {
			course.answered = Date.now();
			setText(document.getElementById('host'), now.host || '');
			document.title = `Faultline ${now.host || ''}`;
			drawTiles(now.node);
			takeJobs(now);
			document.documentElement.dataset.drawn = String(now.readings);
		}
	} catch (error) {
		course.trouble = error instanceof TypeError || error.name === 'AbortError'
			? 'the service does not answer' : error.message;
	} finally {
		clearTimeout(timer);
	}
}

function turn() {
	sayState();
	if (course.asking || course.paused || document.hidden)
		return;
	course.asking = true;
	ask().then(() => {
		course.asking = false;
		sayState();
	});
}

document.getElementById('filter').addEventListener('input', drawJobs);
document.getElementById('pause').addEventListener('click', (event) => {
	course.paused = !course.paused;
	event.target.setAttribute('aria-pressed', String(course.paused));
	turn();
});
document.addEventListener('visibilitychange', turn);
setInterval(turn, EVERY_MS);
turn();
