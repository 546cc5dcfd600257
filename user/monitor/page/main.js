/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Polls the service while the page is visible, and reports when it does not answer. */

const EVERY_MS = 2000, GIVE_UP_MS = 10000;
const JOBS_SCHEMA = 2; /* the jobs' JSON that this page was written for */

const course = { paused: false, asking: false, answered: null, trouble: null };

function sayState() {
	const state = document.getElementById('state');
	const ago = course.answered === null ? null : Math.round((Date.now() - course.answered) / 1000);
	let text = course.paused ? 'paused' : ago === null ? 'connecting\u2026'
		: ago < 4 ? 'live' : `as of ${ago} s ago`;
	if (course.trouble)
		text = `${course.trouble}; ${ago === null ? 'no data yet' : `data is ${ago} s old`}`;
	setText(state, text);
	state.classList.toggle('trouble', Boolean(course.trouble));
	document.body.classList.toggle('stale', Boolean(course.trouble));
}

function readTrouble(now) {
	if (now.schema !== JOBS_SCHEMA)
		return `the service has a different schema (${now.schema}): reload this page`;
	if (now.read_ns_ago === null)
		return 'the service has no data yet';
	return now.read_ns_ago > 60e9
		? `the service has had no new data for ${timeText(now.read_ns_ago)}` : null;
}

async function ask() {
	const stop = new AbortController(), timer = setTimeout(() => stop.abort(), GIVE_UP_MS);
	try {
		const answer = await fetch('jobs', { signal: stop.signal, cache: 'no-store', credentials: 'same-origin' });
		if (!answer.ok)
			throw new Error(`the service returned HTTP ${answer.status}`);
		const now = await answer.json();
		course.trouble = readTrouble(now);
		if (now.schema === JOBS_SCHEMA && !course.paused) {
			course.answered = Date.now();
			setText(document.getElementById('host'), now.host || '');
			document.title = `Faultline ${now.host || ''}`;
			drawTiles(now.node);
			takeJobs(now);
			document.documentElement.dataset.drawn = String(now.readings);
		}
	} catch (error) {
		course.trouble = error instanceof TypeError || error.name === 'AbortError'
			? 'the service is not responding' : error.message;
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
