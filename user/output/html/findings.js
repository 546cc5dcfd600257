/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings, each with pictures of its evidence. */

function evidenceEl({ columns, units, rows }) {
	return el('details', { class: 'numbers' }, el('summary', null, 'evidence'),
		el('dl', null, ...columns.flatMap((name, i) => [
			el('dt', null, name.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ')),
			el('dd', null, nameEl(cellText(rows[0][i], units[i])))])));
}

function findingEl(row, place) {
	const evidence = Object.assign({ host: row.host }, within(row.evidence));
	const bound = /^at /.test(row.cost_is) ? `${row.cost_is} ` : '';
	const cost = [row.cost_ns === null ? null : `${bound}${timeText(row.cost_ns)}, `
		+ `${shareText(row.cost_ns / DURATION_NS)} of the run`,
	row.cost_cpu_ns === null ? null : `of that, ${timeText(row.cost_cpu_ns)} is CPU work`
		+ (row.cost_cpu_wait_ns >= row.cost_cpu_ns / 10
			? ` and ${timeText(row.cost_cpu_wait_ns)} is waiting for a CPU to do it` : ''),
	row.cost_bytes === null ? null : bytesText(row.cost_bytes)].filter(Boolean).join('; ');
	return el('article', { class: `finding ${row.severity}`, 'data-finding': row.id },
		el('h3', null, el('span', { class: 'place' }, String(place)), ' ', nameEl(row.title)),
		el('p', { class: 'cost' }, cost || 'unknown cost', ' ',
			el('span', { class: 'severity' }, row.severity),
			row.confidence ? `, confidence ${row.confidence}` : ''),
		el('div', { class: 'pictures' }, ...picturesOf(row.id, evidence)),
		el('p', { class: 'says' }, nameEl(row.says || '')),
		row.where ? el('p', { class: 'where' }, 'At ', nameEl(row.where)) : null,
		el('p', { class: 'advice' }, '\u2192 ', nameEl(row.advice || '')),
		row.more ? el('p', { class: 'more' }, nameEl(row.more)) : null,
		row.evidence && row.evidence.rows.length ? evidenceEl(row.evidence) : null);
}

const SUMMED = 'Findings that need individual operations are unavailable: operations were aggregated.';

function makeFindings() {
	const body = bodyOf('findings'), rows = rowsOf('findings');
	if (tables.findings.absent)
		body.append(hintEl(`Not available: ${tables.findings.note}.`));
	else if (!rows.length)
		body.append(hintEl([`${data.no_findings}.`].concat(pictures.summed === 'none' ? [] : SUMMED)
			.join(' ')));
	else
		body.append(el('div', { class: 'finding-grid' }, ...rows.map((row, i) =>
			findingEl(row, i + 1))),
		pictures.summed !== 'none' ? hintEl(SUMMED) : '');
	if (tables.findings.of > rows.length)
		body.append(el('p', { class: 'hint' }, `${rows.length} of ${tables.findings.of} findings.`));
}
