/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables that sort, filter, copy as CSV, and follow the range: rows of what was summed up by
 * stretch show what happened in it, rows with a time of their own stay if they overlap it, rows about
 * what was used in it stay, too.
 */

const ROWS_AT_FIRST = 12;

/* Tables whose rows have sums by stretch: which, and how a row is found among them. */
const NARROWED = {
	files: { key: 'files', id: (row, of) => `${of(row, 'dev')} ${of(row, 'ino')}`,
		idOf: (series) => `${series.dev} ${series.ino}` },
	processes: { key: 'processes', id: (row, of) => `${of(row, 'pid')} ${of(row, 'start_ns')}`,
		idOf: (series) => `${series.pid} ${series.start_ns}` },
	operations: { key: 'operations', id: (row, of) => `${of(row, 'layer')} ${of(row, 'op')}`,
		idOf: (series) => `${series.more} ${series.name}` },
	spans: { key: 'spans', id: (row, of) => `${of(row, 'name')} ${of(row, 'category')}`,
		idOf: (series) => `${series.name || ''} ${series.more || ''}` },
	devices: { key: 'devices', id: (row, of) => of(row, 'dev'), idOf: (series) => series.dev },
	ranks: { key: 'ranks', id: (row, of) => of(row, 'rank'), idOf: (series) => series.rank },
};

/* What a narrowed table shows, by key: [name, title, unit, meaning]. */
const USUAL = [['count', 'operations', 'count'], ['time', 'summed over threads', 'ns'],
	['bytes', 'bytes by calls', 'bytes'], ['fetched', 'from storage', 'bytes']];
const MEASURES = { files: USUAL, processes: USUAL, operations: USUAL, ranks: USUAL,
	spans: [['count', 'began', 'count'], ['time', 'time', 'ns']],
	devices: [['count', 'requests', 'count'], ['time', 'summed over requests', 'ns'],
		['bytes', 'read', 'bytes'], ['fetched', 'written', 'bytes']] };

/* When a row was: of which columns its beginning is known, and how from them its end. */
const WHEN = [
	['start_ns', 'time_ns', (start, time) => start + time],
	['made_ns', 'lived_ns', (made, lived) => made + lived],
	['first_dirtied_ns', 'last_reached_ns', (dirtied, reached) => reached || dirtied],
];

/* Tables about files, processes or spans that have sums by stretch: which, and what names them. */
const ABOUT = {
	readahead: { key: 'files', id: 'path', idOf: (series) => series.name },
	chain: { key: 'files', id: 'path', idOf: (series) => series.name },
	chain_spans: { key: 'spans', id: 'name', idOf: (series) => series.name },
	device_users: { key: 'processes', id: 'pid', idOf: (series) => series.pid },
};

/* Tables that are made of what is known stretch by stretch. */
const TOLD = { access: accessInRange, overlap: overlapInRange, device_heat: heatInRange };
const NO_BYTES = ['faults', 'metadata', 'sync']; /* calls that ask for none, and page faults */

function told(names, units, rows) {
	return { columns: names.map((title, i) => ({ get: (row) => row[i],
		column: { name: title.replace(/ /g, '_'), title, unit: units[i],
			meaning: 'in the part of the run that is shown' } })), rows, narrowed: NOW };
}

function accessInRange() {
	const all = course.all, time = (list) => inFineRange(list.alone) + inFineRange(list.hidden);
	const rows = sums.parts.filter((series) => !series.others && course[series.name])
		.map((series) => [PARTS.find((part) => part.name === series.name).title,
			time(course[series.name]), ...['count', 'bytes', 'fetched', 'time'].map((name) =>
				name === 'bytes' && NO_BYTES.includes(series.name) ? null : inRange(series, name))])
		.filter((row) => row[1] > 0 || row[2] > 0);
	const total = (i) => d3.sum(rows, (row) => row[i]);
	return told(['', 'time', 'operations', 'bytes by calls', 'from storage', 'summed over threads'],
		['none', 'ns', 'count', 'bytes', 'bytes', 'ns'],
		[['all I/O', time(all), ...[2, 3, 4, 5].map(total)], ...rows]);
}

function overlapInRange() {
	const alone = inFineRange(course.all.alone), hidden = inFineRange(course.all.hidden);
	const compute = inFineRange(course.compute_ns || []);
	return told(['compute', 'I/O', 'unoverlapped I/O', 'compute without I/O'],
		['ns', 'ns', 'ns', 'ns'], [[compute, alone + hidden, alone, Math.max(0, compute - hidden)]]);
}

function heatInRange(table) {
	const [from, to] = rangeNs(), at = table.index.requests;
	const within = (row) => d3.sum(cellOf(table, row, 'over_time').rows, ([start, requests]) =>
		start < to && start + cellOf(table, row, 'stretch_ns') > from ? requests : 0);
	return { columns: shownColumns(table), narrowed: NOW, rows: table.rows.map((row) =>
		row.map((cell, i) => i === at ? within(row) : cell)).filter((row) => row[at] > 0) };
}

/* What is said of rows of a part of the run. */
const NOW = 'In the part of the run that is shown.';
const STAYS = 'Rows that reach into the part of the run that is shown, each as a whole.';
const USED = 'Of what was used in the part of the run that is shown; numbers are of the whole run.';

function rowsWithin(table, [start, end, until]) {
	const [from, to] = rangeNs();
	return table.rows.filter((row) => {
		const begun = cellOf(table, row, start);
		return begun !== null && begun < to && until(begun, cellOf(table, row, end) || 0) >= from;
	});
}

function isActive(series) {
	return ['count', 'time', 'fetched'].some((name) => inRange(series, name) > 0);
}

function rowsAbout(table, by) {
	const known = new Set(), active = new Set();
	for (const series of sums[by.key].filter((one) => !one.others)) {
		known.add(by.idOf(series));
		if (isActive(series))
			active.add(by.idOf(series));
	}
	const id = (row) => cellOf(table, row, by.id);
	return { rows: table.rows.filter((row) => active.has(id(row))),
		lacking: table.of - table.rows.filter((row) => known.has(id(row))).length };
}

function shownColumns(table) {
	if (table.shown.length)
		return table.shown.map((i) => ({ column: table.columns[i], get: (row) => row[i] }));
	return table.columns.map((column, i) => ({ column, get: (row) => row[i] }))
		.filter(({ column }) => column.title !== null || table.shape === 'record')
		.slice(0, table.shape === 'record' ? 200 : 16);
}

/* Columns and rows as they are now: of the whole run, or of the part that is shown. */
function contentOf(table) {
	const columns = shownColumns(table), by = NARROWED[table.name];
	const summed = pictures.summed === 'all' && table.name !== 'spans';
	const when = WHEN.find(([start, end]) => start in table.index && end in table.index);
	if (rangeIsWhole())
		return { columns, rows: table.rows };
	if (summed)
		return { columns, rows: table.rows, whole: true };
	if (TOLD[table.name])
		return TOLD[table.name](table);
	if (by) {
		const known = new Map(sums[by.key].filter((series) => !series.others)
			.map((series) => [String(by.idOf(series)), series]));
		const of = (row, name) => cellOf(table, row, name);
		const find = (row) => known.get(String(by.id(row, of)));
		const names = columns.filter(({ column }) => column.unit === 'path' || column.unit === 'none')
			.slice(0, 3);
		return { columns: MEASURES[table.name].map(([name, title, unit]) => ({
			column: { name, title, unit, meaning: 'in the part of the run that is shown' },
			get: (row) => inRange(find(row), name),
		})).concat(names), rows: table.rows.filter((row) => {
			const series = find(row);
			return series && isActive(series);
		}), narrowed: NOW, lacking: table.of - table.rows.filter(find).length };
	}
	if (when)
		return { columns, rows: rowsWithin(table, when), narrowed: STAYS };
	if (ABOUT[table.name])
		return Object.assign({ columns, narrowed: USED }, rowsAbout(table, ABOUT[table.name]));
	return { columns, rows: table.rows, whole: true };
}

function headingOf(column) {
	return column.title || column.name.replace(/[._]/g, ' ');
}

function compare(a, b) {
	const x = plain(a), y = plain(b);
	if (x === null || y === null)
		return (x === null) - (y === null);
	return typeof x === 'number' && typeof y === 'number' ? y - x : String(x).localeCompare(String(y));
}

function csvOf(columns, rows) {
	const field = (value) => {
		const v = plain(value);
		const text = v === null || v === undefined ? '' : Array.isArray(v) ? listText(v)
			: typeof v === 'object' ? JSON.stringify(v) : String(v);
		return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
	};
	return [columns.map(({ column }) => column.name)].concat(rows.map((row) =>
		columns.map(({ get }) => get(row)))).map((row) => row.map(field).join(',') + '\r\n').join('');
}

function copyText(text, button) {
	const done = (said) => {
		button.textContent = said;
		window.setTimeout(() => {
			button.textContent = 'copy as CSV';
		}, 1500);
	};
	const byHand = () => {
		const area = el('textarea', { class: 'off-screen' });
		area.value = text;
		document.body.append(area);
		area.select();
		done(document.execCommand('copy') ? 'copied' : 'could not copy');
		area.remove();
	};
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(() => done('copied'), byHand);
	else
		byHand();
}

function cellEl(column, value) {
	const v = plain(value), number = column.unit !== 'none' && column.unit !== 'path';
	const text = cellText(value, column.unit);
	const content = typeof v === 'string' || Array.isArray(v)
		? nameEl(text, text.length > 60 ? { title: text } : null) : text;
	return el('td', { class: number ? 'number' : column.unit === 'path' ? 'path' : null }, content);
}

function recordEl(table, now) {
	const { columns, rows } = now || { columns: shownColumns(table), rows: table.rows };
	return el('dl', { class: 'record' }, ...columns.flatMap(({ column, get }) =>
		rows.length ? [el('dt', { title: column.meaning }, headingOf(column)),
			el('dd', null, nameEl(cellText(get(rows[0]), column.unit)))] : []));
}

/* The same, following the range. */
function followingEl(table) {
	const place = el('div');
	const draw = () => {
		const now = contentOf(table), says = noteOf(table, now);
		place.replaceChildren(...says ? [hintEl(says)] : [], recordEl(table, now));
	};
	onRange(draw);
	draw();
	return place;
}

/* A table of rows, with its buttons. */
function listEl(table) {
	const state = { by: table.by === undefined ? null : table.columns[table.by].name,
		turned: false, filter: '', all: false };
	const head = el('tr'), rows = el('tbody'), note = el('p', { class: 'hint' });
	const filter = el('input', { type: 'search', placeholder: 'filter rows',
		'aria-label': `Filter rows of ${table.title || table.name}`, oninput: (event) => {
			state.filter = event.target.value.toLowerCase();
			draw();
		} });
	const more = el('button', { type: 'button', class: 'more', onclick: () => {
		state.all = !state.all;
		draw();
	} });
	const current = () => {
		const content = contentOf(table), wanted = state.filter;
		let found = content.rows.filter((row) => !wanted || content.columns.some(({ column, get }) =>
			cellText(get(row), column.unit).toLowerCase().includes(wanted)));
		const by = content.columns.find(({ column }) => column.name === state.by)
			|| (content.narrowed && NARROWED[table.name] ? content.columns[1] : null);
		if (by)
			found = found.slice().sort((a, b) => compare(by.get(a), by.get(b)));
		if (state.turned)
			found = found.slice().reverse();
		return Object.assign({ found }, content);
	};
	const copy = el('button', { type: 'button', onclick: () => {
		const now = current();
		copyText(csvOf(now.columns, now.found), copy);
	} }, 'copy as CSV');
	const sortBy = (name) => {
		state.turned = state.by === name && !state.turned;
		state.by = name;
		draw();
	};
	/* Those that stand out, where the table says which. */
	const few = (rows) => (table.only === undefined ? rows
		: rows.filter((row) => plain(row[table.only]))).slice(0, ROWS_AT_FIRST);
	const draw = () => {
		const now = current(), shown = state.all ? now.found : few(now.found);
		head.replaceChildren(...now.columns.map(({ column }) => el('th', { scope: 'col',
			class: column.unit !== 'none' && column.unit !== 'path' ? 'number' : null,
			'aria-sort': state.by === column.name ? (state.turned ? 'ascending' : 'descending') : null },
		el('button', { type: 'button', title: column.meaning, 'data-column': column.name,
			onclick: () => sortBy(column.name) }, headingOf(column),
		state.by === column.name ? (state.turned ? ' \u25b4' : ' \u25be') : ''))));
		rows.replaceChildren(...shown.map((row) => el('tr', null, ...now.columns.map(
			({ column, get }) => cellEl(column, get(row))))));
		more.hidden = few(now.found).length === now.found.length;
		more.textContent = state.all ? 'show fewer' : `show all ${countText(now.found.length)}`;
		note.textContent = noteOf(table, now);
		note.hidden = !note.textContent;
	};

	onRange(draw);
	draw();
	return el('div', null, el('div', { class: 'tools' }, filter, copy), note,
		el('div', { class: 'scroll', tabindex: 0, role: 'region',
			'aria-label': `Rows of ${table.title || table.name}` },
		el('table', null, el('thead', null, head), rows)), more);
}

function noteOf(table, now) {
	const says = [];
	if (table.rows.length < table.of)
		says.push(`The first ${countText(table.rows.length)} of ${countText(table.of)} rows; `
			+ `faultline report --table ${table.name} has all of them.`);
	if (now.lacking > 0)
		says.push('Only the worst are known by part of the run: '
			+ `${countText(now.lacking)} ${now.lacking === 1 ? 'is' : 'are'} not.`);
	if (now.narrowed)
		says.push(now.narrowed);
	if (now.whole)
		says.push('Of the whole run: it cannot be narrowed.');
	if (table.note)
		says.push(table.note);
	return says.join(' ');
}

/* Tables that stand elsewhere on the page, in another form. */
const ELSEWHERE = new Set(['findings', 'caveats', 'trace']);

/* Headings of those that the text report has not. */
const HEADINGS = { totals: 'Totals', doors: 'Reads and writes by path of access',
	lifetimes: 'Files made and removed', habits: 'Habits', overlap: 'I/O and compute' };

function makeTables() {
	const body = bodyOf('tables');
	const told = data.tables.filter((table) => !ELSEWHERE.has(table.name));

	for (const table of told) {
		const title = table.title || HEADINGS[table.name] || table.name;
		const content = table.absent || !table.rows.length
			? el('p', { class: 'hint' }, table.absent ? `not recorded${table.note ? `: ${table.note}` : ''}`
				: 'none') : table.shape === 'record' ? followingEl(table) : listEl(table);
		const details = el('details', { class: 'table', 'data-table': table.name },
			el('summary', null, el('span', { class: 'title' }, title), ' ',
				el('span', { class: 'amount' }, table.absent ? 'not recorded'
					: table.shape === 'record' ? '' : countText(table.of))),
			table.meaning ? el('p', { class: 'hint' }, `${table.meaning}.`) : null, content);
		details.open = ['access', 'files', 'operations', 'spans'].includes(table.name)
			&& table.rows.length > 0;
		body.append(details);
	}
}
