/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables that sort, filter and copy as CSV, of the run or of its selected part. */

const ROWS_AT_FIRST = 12;

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
	return [columns.map(({ column, whole }) => whole ? `${column.name}, whole run` : column.name)].concat(rows.map((row) =>
		columns.map(({ get }) => get(row)))).map((row) => row.map(field).join(',') + '\r\n').join('');
}

function copyText(text, button) {
	const done = (result) => {
		button.textContent = result;
		window.setTimeout(() => {
			button.textContent = 'copy as CSV';
		}, 1500);
	};
	const byHand = () => {
		const area = el('textarea', { class: 'off-screen' });
		area.value = text;
		document.body.append(area);
		area.select();
		done(document.execCommand('copy') ? 'copied' : 'copy failed');
		area.remove();
	};
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(() => done('copied'), byHand);
	else
		byHand();
}

function classOf({ column, unit, whole }) {
	const number = unit || (column.unit !== 'none' && column.unit !== 'path');
	return [number ? 'number' : column.unit === 'path' ? 'path' : '', whole ? 'of-run' : '']
		.join(' ').trim() || null;
}

function cellEl(shown, row) {
	const value = shown.get(row), v = plain(value);
	const text = cellText(value, shown.unit ? shown.unit(row) : shown.column.unit);
	const content = typeof v === 'string' || Array.isArray(v)
		? nameEl(text, text.length > 60 ? { title: text } : null) : text;
	return el('td', { class: classOf(shown), title: shown.whole ? 'whole run' : null }, content);
}

function recordEl(table, now) {
	const { columns, rows } = now || { columns: shownColumns(table), rows: table.rows };
	return el('dl', { class: 'record' }, ...columns.flatMap(({ column, get, whole }) =>
		rows.length ? [el('dt', { title: column.meaning }, headingOf(column)),
			el('dd', { class: whole ? 'of-run' : null, title: whole ? 'whole run' : null },
				nameEl(cellText(get(rows[0]), column.unit)))] : []));
}

/* The same, updated with the range. */
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
		const by = content.columns.find(({ column }) => column.name === state.by);
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
	/* Rows that stand out, if the table marks them. */
	const few = (rows) => (table.only === undefined ? rows
		: rows.filter((row) => plain(row[table.only]))).slice(0, ROWS_AT_FIRST);
	const draw = () => {
		const now = current(), shown = state.all ? now.found : few(now.found);
		head.replaceChildren(...now.columns.map(({ column, unit, whole }) => el('th', { scope: 'col',
			class: classOf({ column, unit, whole }),
			'aria-sort': state.by === column.name ? (state.turned ? 'ascending' : 'descending') : null },
		el('button', { type: 'button', title: column.meaning, 'data-column': column.name,
			onclick: () => sortBy(column.name) }, headingOf(column),
		state.by === column.name ? (state.turned ? ' \u25b4' : ' \u25be') : ''))));
		rows.replaceChildren(...shown.map((row) => el('tr', null, ...now.columns.map(
			(one) => cellEl(one, row)))));
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
		says.push((table.by === undefined
			? `First ${countText(table.rows.length)} of ${countText(table.of)} rows; `
			: `Of ${countText(table.of)} rows, the ${countText(table.rows.length)} with the most `
				+ `${headingOf(table.columns[table.by])}; `)
				+ `faultline report --table ${table.name} lists all.`);
	if (now.lacking > 0)
		says.push('Only the top rows are available for part of the run: '
			+ `${countText(now.lacking)} ${now.lacking === 1 ? 'is' : 'are'} omitted.`);
	if (now.narrowed)
		says.push(now.narrowed);
	if (now.mixed)
		says.push('Values in parentheses are for the whole run.');
	if (now.whole)
		says.push('Covers the whole run; this table cannot be narrowed.');
	if (table.note)
		says.push(table.note);
	return says.join(' ');
}

/* Tables shown elsewhere on the page in another form. */
const ELSEWHERE = new Set(['findings', 'caveats', 'trace']);

/* Headings of tables that the text report does not have. */
const HEADINGS = { totals: 'Totals', methods: 'Reads and writes by method',
	starts: 'Program starts', reopens: 'Repeatedly opened files', functions: 'Functions',
	lifetimes: 'Files created and deleted', advice: 'fadvise and madvise calls',
	io_patterns: 'I/O patterns', overlap: 'I/O and compute' };

function titleOf(table) {
	return table.title || HEADINGS[table.name] || table.name;
}

/* Tables without rows share one line: empty ones first, then those not recorded. */
function makeEmpty(empty) {
	const titles = (tables) => tables.map((table) =>
		titleOf(table).toLowerCase() + (table.note ? ` (${table.note})` : '')).join(', ');
	const none = empty.filter((table) => !table.absent), absent = empty.filter((table) => table.absent);
	const says = [none.length ? `Empty: ${titles(none)}.` : '',
		absent.length ? `Not recorded: ${titles(absent)}.` : ''].filter(Boolean).join(' ');

	return says ? el('p', { class: 'hint', id: 'empty-tables' }, says) : null;
}

function makeTables() {
	const body = bodyOf('tables');
	const listed = data.tables.filter((table) => !ELSEWHERE.has(table.name));
	const isEmpty = (table) => table.absent || !table.rows.length;

	for (const table of listed.filter((table) => !isEmpty(table))) {
		const attributes = { class: 'table', id: `table-${table.name}`, 'data-table': table.name };
		const details = el('details', attributes,
			el('summary', null, el('span', { class: 'title' }, titleOf(table)), ' ',
				el('span', { class: 'amount' }, table.shape === 'record' ? '' : countText(table.of))),
			table.meaning ? el('p', { class: 'hint' }, `${table.meaning}.`) : null,
			table.shape === 'record' ? followingEl(table) : listEl(table));
		details.open = ['access', 'files', 'operations', 'spans'].includes(table.name);
		body.append(details);
	}
	body.append(...[makeEmpty(listed.filter(isEmpty))].filter(Boolean));
}
