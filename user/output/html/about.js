/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The head of the page; at its end, facts about the trace, what is missing, and a glossary. */

function factEl(label, value) {
	return value === null || value === undefined ? null
		: el('div', null, el('dt', null, label), el('dd', null, value));
}

function lossText(trace) {
	const total = trace['lost.total'];
	if (total === null || total === undefined)
		return 'unknown';
	return total ? `${countText(total)} events` : 'no events';
}

function makeHead() {
	const trace = record('trace'), totals = record('totals'), overlap = record('overlap');
	const command = commandText(trace.command);
	const started = trace.start_unix_ns ? new Date(trace.start_unix_ns / 1e6) : null;
	const total = (name) => totals[name] === undefined ? null : totals[name];
	const faults = total('mmap_read.faults') === null ? null
		: total('mmap_read.faults') + total('mmap_write.faults');
	const [all] = rowsOf('access'), summed = pictures.summed !== 'none';
	const fetched = summed ? all && all.fetched_bytes
		: timeline.fetched_bytes && sum(timeline.fetched_bytes);
	const facts = [
		factEl('duration', timeText(DURATION_NS)),
		factEl(summed ? 'I/O thread time' : 'I/O time', timeText(total('io.time_ns'))),
		timeline.compute_ns ? factEl('unoverlapped I/O', timeText(overlap.unoverlapped_io_ns === undefined
			? null : overlap.unoverlapped_io_ns)) : null,
		factEl('read by calls', bytesText(total('read.bytes'))),
		factEl('from storage', bytesText(fetched === undefined ? null : fetched)),
		factEl('page faults on files', countText(faults)),
		factEl('written', bytesText(total('write.bytes'))),
		factEl('lost', lossText(trace)),
	];

	document.title = `Faultline: ${command.slice(0, 80)}`;
	document.getElementById('command').textContent = command;
	document.getElementById('circumstances').textContent = [(trace.files || []).length > 1
		? `first of ${countText(trace.files.length)} traces` : null, (trace.hosts || []).join(' '),
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
		el('tr', null, ...['layer', 'state', 'attachment, or reason', 'lost'].map((text) =>
			el('th', { scope: 'col' }, text)))), el('tbody', null, ...layers.map((layer) => {
		const of = (name) => facts[`layers.${layer}.${name}`];
		const lost = facts[`lost.by_layer.${layer}`];
		return el('tr', { class: 'layer' }, el('th', { scope: 'row' }, layer), el('td', null,
			String(of('state'))), el('td', null, nameEl(of('attach') || of('reason') || '')),
		el('td', { class: 'number' }, countText(lost === undefined ? null : lost)));
	}))),
	el('h3', null, 'Trace'), el('details', null, el('summary', null, 'all trace metadata'),
		recordEl(trace)),
	el('h3', null, 'Limits of this page'), el('ul', null,
		el('li', null, 'Bytes per second are spread evenly over the operations that moved them; operations '
			+ 'are counted when they begin.'),
		el('li', null, `Charts have ${FINE} intervals of ${timeText(FINE_NS)}; tables, heat maps `
			+ `and the selection have ${COARSE} of ${timeText(COARSE_NS)}.`),
		...Object.keys(sums).filter((key) => sums[key].some((series) => series.others && series.of))
			.map((key) => el('li', null, `${key}: ${countText(sums[key].find((series) =>
				series.others).of)} share a row if part of the run is selected.`)),
		el('li', null, `File offsets use at most ${pictures.offsets} rows per chart; ${maps.length} of `
			+ `${pictures.maps_of} file charts fit on this page.`),
		pictures.lost ? el('li', null, 'Events were lost: charts omit them. Totals and tables '
			+ 'counted in the kernel include them.') : null,
		pictures.summed === 'none' ? null : el('li', null, 'Charts and parts of the run omit '
			+ 'aggregated operations; tables of the whole run include them.')),
	el('h3', null, 'Glossary'), el('dl', { class: 'words' }, ...Object.entries(data.terms).flatMap(
		([term, meaning]) => [el('dt', null, term), el('dd', null, meaning)])),
	el('p', { class: 'hint' }, `Made by faultline ${data.version}. Charts drawn with D3, copyright `
		+ 'Mike Bostock, BSD 3-clause licence. This page makes no network requests.'));
}
