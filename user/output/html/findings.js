/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings, each with pictures of what it goes by. Must not judge: the report has. */

function evidenceEl(evidence) {
	return el('details', { class: 'numbers' }, el('summary', null, 'the numbers it goes by'),
		el('dl', null, ...Object.keys(evidence).flatMap((name) => [
			el('dt', null, name.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ')),
			el('dd', null, nameEl(cellText(evidence[name], unitOf(name))))])));
}

function findingEl(row, place) {
	const evidence = within(row.evidence);
	const bound = /^at /.test(row.cost_is) ? `${row.cost_is} ` : '';
	const cost = [row.cost_ns === null ? null : `${bound}${timeText(row.cost_ns)}, `
		+ `${shareText(row.cost_ns / DURATION_NS)} of the run`,
	row.cost_bytes === null ? null : bytesText(row.cost_bytes)].filter(Boolean).join('; ');
	return el('article', { class: `finding ${row.severity}`, 'data-finding': row.id },
		el('h3', null, el('span', { class: 'place' }, String(place)), ' ', nameEl(row.title)),
		el('p', { class: 'cost' }, cost || 'costs nothing that is known', ' ',
			el('span', { class: 'severity' }, row.severity),
			row.confidence ? `, confidence ${row.confidence}` : ''),
		el('div', { class: 'pictures' }, ...picturesOf(row.id, evidence)),
		el('p', { class: 'says' }, nameEl(row.says || '')),
		el('p', { class: 'advice' }, '\u2192 ', nameEl(row.advice || '')),
		row.more ? el('p', { class: 'more' }, nameEl(row.more)) : null,
		evidenceEl(evidence));
}

const SUMMED = 'What operations tell only one by one is not known: they were summed up.';

function whyNone() {
	const nothing = 'Nothing was found that costs time and could be changed.';
	if (record('trace').duration_ns === null)
		return 'Nothing of the run was written.';
	if (pictures.summed !== 'none')
		return `${nothing} ${SUMMED}`;
	return rowsOf('access').every((row) => row.time_ns === null)
		? 'No layer that tells of I/O was recorded.' : nothing;
}

function makeFindings() {
	const body = bodyOf('findings'), rows = rowsOf('findings');
	if (tables.findings.absent)
		body.append(hintEl(`Not known: ${tables.findings.note}.`));
	else if (!rows.length)
		body.append(hintEl(whyNone()));
	else
		body.append(el('div', { class: 'finding-grid' }, ...rows.map((row, i) =>
			findingEl(row, i + 1))),
		pictures.summed !== 'none' ? hintEl(SUMMED) : '');
	if (tables.findings.of > rows.length)
		body.append(el('p', { class: 'hint' }, `${rows.length} of ${tables.findings.of} findings.`));
}
