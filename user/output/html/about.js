/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The head of the page; at its end what the trace is, what is missing, what the words mean. */

const WORDS = [
	['unoverlapped, alone', 'Time in I/O while nothing computed: it is never hidden. Known only '
		+ 'where spans of category compute were marked, or a GPU\u2019s times were given.'],
	['hidden', 'Time in I/O beside compute.'],
	['time', 'With at least one operation under way: several threads at once count once. Summed over '
		+ 'threads it may be more than the run.'],
	['page fault', 'The program touched memory that stands for a file. Major: the page had to be '
		+ 'read; minor: it was there, or on its way. No read call shows it.'],
	['from storage', 'Bytes brought into the page cache to be read, readahead included; not those '
		+ 'that writing created.'],
	['from memory', 'Bytes that read calls asked for beyond what came in during them.'],
	['method', 'Read calls, page faults, O_DIRECT, io_uring and libaio, sendfile and splice, '
		+ 'the kernel on a task\u2019s behalf, write calls. Each byte has one.'],
	['unattributed', 'Brought in on no operation\u2019s account: by the kernel itself.'],
	['queue, service', 'Of a request: before the driver had it; with the device.'],
	['straggler', 'Takes more than one and a half times the median of those beside it.'],
	['bytes a second', 'Bytes are spread evenly over the operations that moved them; counts stand '
		+ 'where operations began.'],
];

function factEl(label, value) {
	return value === null || value === undefined ? null
		: el('div', null, el('dt', null, label), el('dd', null, value));
}

function lossText(trace) {
	const total = trace['lost.total'];
	if (total === null || total === undefined)
		return 'unknown';
	return total ? `${countText(total)} events` : 'nothing';
}

function makeHead() {
	const trace = record('trace'), totals = record('totals'), overlap = record('overlap');
	const command = Array.isArray(trace.command) ? listText(trace.command) : trace.command || '';
	const started = trace.start_unix_ns ? new Date(trace.start_unix_ns / 1e6) : null;
	const total = (name) => totals[name] === undefined ? null : totals[name];
	const faults = total('mmap_read.faults') === null ? null
		: total('mmap_read.faults') + total('mmap_write.faults');
	const [all] = rowsOf('access'), summed = pictures.summed !== 'none';
	const fetched = summed ? all && all.fetched_bytes
		: course.fetched_bytes && sum(course.fetched_bytes);
	const facts = [
		factEl('ran', timeText(DURATION_NS)),
		factEl(summed ? 'in I/O, summed over threads' : 'in I/O', timeText(total('io.time_ns'))),
		course.compute_ns ? factEl('not hidden', timeText(overlap.unoverlapped_io_ns === undefined
			? null : overlap.unoverlapped_io_ns)) : null,
		factEl('read by calls', bytesText(total('read.bytes'))),
		factEl('from storage', bytesText(fetched === undefined ? null : fetched)),
		factEl('faults on files', countText(faults)),
		factEl('written', bytesText(total('write.bytes'))),
		factEl('lost', lossText(trace)),
	];

	document.title = `Faultline: ${command.slice(0, 80)}`;
	document.getElementById('command').textContent = command;
	document.getElementById('circumstances').textContent = [(trace.files || []).length > 1
		? `the first of ${countText(trace.files.length)} traces` : null, (trace.hosts || []).join(' '),
		trace.kernel ? `Linux ${trace.kernel}` : null,
		started ? started.toISOString().slice(0, 19).replace('T', ' ') + ' UTC' : null,
		trace.exit_code === null || trace.exit_code === undefined ? null
			: `exit ${trace.exit_code}`,
		trace.complete === false ? `incomplete: ${trace.incomplete_reason || ''}` : null]
		.filter(Boolean).join(', ');
	document.getElementById('figures').append(...facts.filter(Boolean));
	document.getElementById('caveats').append(...rowsOf('caveats').map((row) =>
		el('p', { class: 'caveat' }, nameEl(`${row.weight}: ${row.text}`))));
}

function makeAbout() {
	const body = bodyOf('about'), trace = tables.trace;
	const layers = trace.columns.filter((column) => /^layers\..*\.state$/.test(column.name))
		.map((column) => column.name.split('.')[1]);
	const facts = record('trace');

	body.append(el('h3', null, 'Layers'), el('table', { class: 'layers' }, el('thead', null,
		el('tr', null, ...['layer', 'state', 'how, or why not', 'lost'].map((text) =>
			el('th', { scope: 'col' }, text)))), el('tbody', null, ...layers.map((layer) => {
		const of = (name) => facts[`layers.${layer}.${name}`];
		const lost = facts[`lost.by_layer.${layer}`];
		return el('tr', { class: 'layer' }, el('th', { scope: 'row' }, layer), el('td', null,
			String(of('state'))), el('td', null, nameEl(of('attach') || of('reason') || '')),
		el('td', { class: 'number' }, countText(lost === undefined ? null : lost)));
	}))),
	el('h3', null, 'Trace'), el('details', null, el('summary', null, 'all that it says of itself'),
		recordEl(trace)),
	el('h3', null, 'What is folded'), el('ul', null,
		el('li', null, `Time stands in ${FINE} stretches of ${timeText(FINE_NS)}; tables, densities `
			+ `and the range in ${COARSE} of ${timeText(COARSE_NS)}.`),
		...Object.keys(sums).filter((key) => sums[key].some((series) => series.others && series.of))
			.map((key) => el('li', null, `Of ${key}, ${countText(sums[key].find((series) =>
				series.others).of)} share a row when a part of the run is shown.`)),
		el('li', null, `Offsets of a file stand in at most ${pictures.offsets} rows; ${maps.length} of `
			+ `${pictures.maps_of} files that were drawn had room.`),
		pictures.lost ? el('li', null, 'Events were lost: they are in no picture. Totals and tables '
			+ 'that the kernel counted have them.') : null,
		pictures.summed === 'none' ? null : el('li', null, 'Operations that were summed up are in no '
			+ 'picture, and in no part of the run: tables of the whole run have them.')),
	el('h3', null, 'Words'), el('dl', { class: 'words' }, ...WORDS.flatMap(([word, meaning]) =>
		[el('dt', null, word), el('dd', null, meaning)])),
	el('p', { class: 'hint' }, `Made by faultline ${data.version}. Drawn with D3, copyright Mike `
		+ 'Bostock, under the BSD 3-clause licence. This page asks nobody for anything.'));
}
