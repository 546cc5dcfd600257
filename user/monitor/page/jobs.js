/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of jobs by current activity, and the details of each: methods, files, processes. */

/* Columns of jobs; those without `always` are shown once any job has data in them. */
const JOB_COLUMNS = [
	{ title: 'threads waiting', value: (job) => waitingOf(job.methods), text: threadsText, always: true },
	{ title: 'from storage', value: (job) => sumOf(job.methods, 'fetched_bytes', true), text: bytesRate,
		always: true },
	{ title: 'by read calls', value: (job) => sumOf(job.methods, 'bytes', true, reads('syscall')), text: bytesRate,
		always: true },
	{ title: 'by mmap', value: (job) => sumOf(job.methods, 'fetched_bytes', true, reads('mmap')), text: bytesRate,
		always: true },
	...['direct', 'io_uring', 'libaio', 'splice', 'kernel'].map((method) => ({
		title: `by ${methodTitle(method)}`, text: bytesRate,
		value: (job) => sumOf(job.methods, 'bytes', true, reads(method)),
		ever: (job) => sumOf(job.methods, 'bytes', false, reads(method)) > 0 })),
	{ title: 'written', value: (job) => sumOf(job.methods, 'bytes', true, writes), text: bytesRate,
		always: true },
	{ title: 'major faults', value: (job) => sumOf(job.methods, 'major_faults', true), text: countRate,
		always: true },
	{ title: 'processes', value: (job) => job.living, text: countText, always: true },
];

const METHOD_COLUMNS = [
	{ title: 'method', name: true, get: (cell) => `${cell.op}, ${methodTitle(cell.method)}` },
	{ title: 'operations', get: (cell) => countRate(cell.rate ? cell.rate.count : null) },
	{ title: 'bytes', get: (cell) => bytesRate(cell.rate ? cell.rate.bytes : null) },
	{ title: 'from storage', get: (cell) => bytesRate(cell.rate ? cell.rate.fetched_bytes : null) },
	{ title: 'threads waiting', get: (cell) => threadsText(cell.rate ? cell.rate.time_ns / 1e9 : null) },
	{ title: 'p99', get: (cell) => timeText(cell.rate ? cell.rate.p99_ns : null) },
	{ title: 'errors', get: (cell) => countText(cell.errors) },
	{ title: 'total bytes', get: (cell) => bytesText(cell.bytes) },
	{ title: 'total from storage', get: (cell) => bytesText(cell.fetched_bytes) },
];

const FILE_COLUMNS = [
	{ title: 'worst files', name: true, get: (file) => file.path, hint: (file) => file.path },
	{ title: 'from storage', get: (file) => bytesRate(file.rate ? file.rate.fetched_bytes : null) },
	{ title: 'read or written', get: (file) => bytesRate(file.rate ? file.rate.bytes : null) },
	{ title: 'total from storage', get: (file) => bytesText(sumOf(file.methods, 'fetched_bytes')) },
	{ title: 'major faults', get: (file) => countText(sumOf(file.methods, 'major_faults')) },
	{ title: 'written', get: (file) => bytesText(sumOf(file.methods, 'bytes', false, writes)) },
	{ title: 'waited', get: (file) => timeText(sumOf(file.methods, 'time_ns')) },
];

const PROCESS_COLUMNS = [
	{ title: 'process', name: true, get: (process) => process.command || process.program,
		hint: (process) => process.command },
	{ title: 'pid', get: (process) => String(process.pid) },
	{ title: 'rank', get: (process) => process.rank === null ? null : String(process.rank) },
	{ title: 'from storage', get: (process) => bytesText(sumOf(process.methods, 'fetched_bytes')) },
	{ title: 'written', get: (process) => bytesText(sumOf(process.methods, 'bytes', false, writes)) },
	{ title: 'waited', get: (process) => timeText(sumOf(process.methods, 'time_ns')) },
	{ title: 'age', get: (process) => timeText(process.age_ns) },
	{ title: 'in flight', get: (process) => inFlightText(process.in_flight) },
];

const fileKey = (file) => `${file.dev}:${file.ino}:${file.path}`;

const jobList = { table: document.getElementById('job-table'), columns: [], reverse: false, opened: new Map(),
	now: null, sortTitle: null, showIdle: false };

/* --- details of a job --- */

function makeDetail() {
	const methods = listTable(METHOD_COLUMNS, (cell) => `${cell.op} ${cell.method}`, 'no activity yet');
	const files = listTable(FILE_COLUMNS, fileKey, 'no known files');
	const processes = listTable(PROCESS_COLUMNS, (process) => process.pid, 'no live processes');
	const cgroup = nameEl('');
	return {
		methods, files, processes, cgroup,
		row: el('tr', { class: 'inside' }, el('td', null,
			el('p', { class: 'hint' }, 'cgroup ', cgroup),
			el('div', { class: 'detail' }, el('div', null, methods.table), el('div', null, files.table),
				el('div', null, processes.table)))),
	};
}

function fillDetail(detail, job) {
	setText(detail.cgroup, job.cgroup === null ? NOTHING : job.cgroup);
	detail.methods.fill(job.methods.slice().sort((a, b) => b.time_ns - a.time_ns));
	detail.files.fill(job.files);
	detail.processes.fill(job.processes);
	detail.row.firstChild.colSpan = jobList.columns.length + 1;
}

/* --- the rows --- */

function makeJob(job) {
	const name = nameEl(''), about = el('small');
	const button = el('button', { type: 'button', class: 'open-job', 'aria-expanded': 'false' }, name, about);
	const body = el('tbody', { class: 'job' },
		el('tr', { class: 'opens', onclick: () => toggleJob(job.id, body) }, el('td', null, button)));
	return body;
}

function toggleJob(id, body) {
	const opened = jobList.opened.get(id);
	if (opened) {
		opened.row.remove();
		jobList.opened.delete(id);
	} else {
		const detail = makeDetail();
		jobList.opened.set(id, detail);
		body.append(detail.row);
	}
	body.querySelector('.open-job').setAttribute('aria-expanded', opened ? 'false' : 'true');
	drawJobs();
}

function updateJob(body, job) {
	const row = body.firstElementChild, button = row.firstElementChild.firstElementChild;
	const program = mainProgram(job);
	const words = (list) => list.filter((text) => text).join(' \u00b7 ');
	setText(button.children[0], words([job.user, program]) || jobName(job));
	const age = job.age_ns === null ? null : timeText(job.age_ns);
	setText(button.children[1], words([age, jobName(job)]));
	while (row.children.length > jobList.columns.length + 1)
		row.lastElementChild.remove();
	jobList.columns.forEach((column, i) => {
		const cell = row.children[i + 1] || row.appendChild(el('td', { class: 'number' }));
		cell.dataset.title = column.title;
		setText(cell, column.text(column.value(job)));
	});
	body.classList.toggle('idle', !waitingOf(job.methods));
	const detail = jobList.opened.get(job.id);
	if (detail)
		fillDetail(detail, job);
}

/* --- the head --- */

function sortBy(title) {
	jobList.reverse = jobList.sortTitle === title && !jobList.reverse;
	jobList.sortTitle = title;
	drawJobs();
}

function headEl(title, number) {
	return el('th', { class: number ? 'number' : null, scope: 'col' },
		el('button', { type: 'button', onclick: () => sortBy(title) }, title));
}

function drawHead() {
	const head = jobList.table.createTHead().rows[0] || jobList.table.tHead.insertRow();
	const titles = ['job', ...jobList.columns.map((column) => column.title)];
	if ([...head.children].map((th) => th.textContent).join() !== titles.join())
		head.replaceChildren(...titles.map((title, i) => headEl(title, i > 0)));
	const sorted = jobList.sortTitle || 'threads waiting';
	[...head.children].forEach((th) => {
		if (th.textContent === sorted)
			th.setAttribute('aria-sort', jobList.reverse !== (sorted === 'job') ? 'ascending' : 'descending');
		else
			th.removeAttribute('aria-sort');
	});
}

function sortedJobs(jobs) {
	const column = jobList.columns.find((item) => item.title === jobList.sortTitle);
	if (!column && jobList.sortTitle !== 'job')
		return jobList.reverse ? jobs.slice().reverse() : jobs; /* in the service's order */
	const sorted = jobs.slice().sort(column ? (a, b) => (column.value(b) || 0) - (column.value(a) || 0)
		: (a, b) => jobName(a).localeCompare(jobName(b)));
	return jobList.reverse ? sorted.reverse() : sorted;
}

/* Idle: no activity in the last interval and nothing hangs, or no process is left. */
function isIdle(job) {
	const done = (name) => sumOf(job.methods, name, true);
	return !job.living || (!done('count') && !done('bytes') && !done('time_ns') && !job.in_flight.count);
}

function drawIdle(count) {
	const button = document.getElementById('idle');
	button.hidden = !count;
	setText(button, `${jobList.showIdle ? 'hide' : 'show'} ${countText(count)} idle or ended `
		+ (count === 1 ? 'job' : 'jobs'));
}

document.getElementById('idle').addEventListener('click', () => {
	jobList.showIdle = !jobList.showIdle;
	drawJobs();
});

function drawJobs() {
	const now = jobList.now, wanted = document.getElementById('filter').value.trim().toLowerCase();
	if (!now)
		return;
	jobList.columns = JOB_COLUMNS.filter((column) => column.always || now.jobs.some(column.ever));
	drawHead();
	const named = now.jobs.filter((job) => !wanted || jobWords(job).includes(wanted));
	/* Opened jobs stay visible. Before the first interval, idle jobs are unknown. */
	const idle = now.interval_ns === null ? []
		: named.filter((job) => isIdle(job) && !jobList.opened.has(job.id));
	const jobs = jobList.showIdle ? named : named.filter((job) => !idle.includes(job));
	for (const id of jobList.opened.keys())
		if (!now.jobs.some((job) => job.id === id))
			jobList.opened.delete(id);
	syncChildren(jobList.table, sortedJobs(jobs), (job) => job.id, makeJob, updateJob);
	const hidden = now.jobs.length - named.length;
	drawIdle(idle.length);
	setText(document.getElementById('left-out'), [
		now.jobs.length === 0 ? 'No job activity yet.' : '',
		hidden ? `${hidden} more do not match the filter.` : '',
		now.jobs_left_out ? `${now.jobs_left_out} less active jobs are not listed.` : '',
	].filter((text) => text).join(' '));
}

function takeJobs(now) {
	jobList.now = now;
	drawJobs();
}
