/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Polls the service while the page is visible, and reports when it does not answer. */

const EVERY_MS = 2000, GIVE_UP_MS = 10000;
const JOBS_SCHEMA = 2; /* the jobs' JSON that this page was written for */

const polling = { paused: false, fetching: false, answered: null, trouble: null };

function sayState() {
	const state = document.getElementById('state');
	const ago = polling.answered === null ? null : Math.round((Date.now() - polling.answered) / 1000);
	let text = polling.paused ? 'paused' : ago === null ? 'connecting\u2026'
		: ago < 4 ? 'live' : `as of ${ago} s ago`;
	if (polling.trouble)
		text = `${polling.trouble}; ${ago === null ? 'no data yet' : `data is ${ago} s old`}`;
	setText(state, text);
	state.classList.toggle('trouble', Boolean(polling.trouble));
	document.body.classList.toggle('stale', Boolean(polling.trouble));
}

function readTrouble(now) {
	if (now.schema !== JOBS_SCHEMA)
		return `the service has a different schema (${now.schema}): reload this page`;
	if (now.read_ns_ago === null)
		return 'the service has no data yet';
	return now.read_ns_ago > 60e9
		? `the service has had no new data for ${timeText(now.read_ns_ago)}` : null;
}

async function fetchJobs() {
	const stop = new AbortController(), timer = setTimeout(() => stop.abort(), GIVE_UP_MS);
	try {
		const answer = await fetch('jobs', { signal: stop.signal, cache: 'no-store', credentials: 'same-origin' });
		if (!answer.ok)
			throw new Error(`the service returned HTTP ${answer.status}`);
		const now = await answer.json();
		polling.trouble = readTrouble(now);
		if (now.schema === JOBS_SCHEMA && !polling.paused) {
			polling.answered = Date.now();
			setText(document.getElementById('host'), now.host || '');
			document.title = `Faultline ${now.host || ''}`;
			drawTiles(now.node);
			takeJobs(now);
			document.documentElement.dataset.drawn = String(now.readings);
		}
	} catch (error) {
		polling.trouble = error instanceof TypeError || error.name === 'AbortError'
			? 'the service is not responding' : error.message;
	} finally {
		clearTimeout(timer);
	}
}

function poll() {
	sayState();
	if (polling.fetching || polling.paused || document.hidden)
		return;
	polling.fetching = true;
	fetchJobs().then(() => {
		polling.fetching = false;
		sayState();
	});
}

document.getElementById('filter').addEventListener('input', drawJobs);
document.getElementById('pause').addEventListener('click', (event) => {
	polling.paused = !polling.paused;
	event.target.setAttribute('aria-pressed', String(polling.paused));
	poll();
});
document.addEventListener('visibilitychange', poll);
setInterval(poll, EVERY_MS);
poll();
