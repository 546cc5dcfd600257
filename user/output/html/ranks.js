/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ranks, and workers of one parent, side by side; outliers are marked. */

/* As for the finding straggler: excess over the median, as a share of the slow one's value. */
const IMBALANCE = 0.3;
const IMBALANCE_TEXT = `at least ${Math.round(100 * IMBALANCE / (1 - IMBALANCE))}%`;
const GROUPS_MAX = 6;
const GROUP_SHARE = 0.05; /* minimum share of all I/O time */
const BESIDE_MAX = 16; /* rows of a group, those with the most I/O */

function inRange(series, name) {
	return sum(series[name], range.from, range.to);
}

/* Rows of bars: items {label, values: [number...]}, the first `most` of them; heads: [label,
 * format, class]. */
function sideBySide(items, heads, mark, most) {
	const tops = heads.map((head, k) => d3.max(items, (item) => item.values[k]) || 1);
	/* The lower median: with two rows, the value of the other one. */
	const middle = items.map((item) => item.values[mark] || 0)
		.sort((a, b) => a - b)[(items.length - 1) >> 1];
	const cells = (item) => heads.map(([, format, colour], k) => {
		const bar = el('span', { class: `bar ${colour}` });
		bar.style.width = `${(item.values[k] || 0) / tops[k] * 100}%`;
		return el('td', null, el('span', { class: 'side-bar' }, bar),
			el('span', { class: 'number' }, format(item.values[k])));
	});
	const isSlow = (value) => value > middle && value - middle >= IMBALANCE * value
		&& (middle > 0 || rangeIsWhole());

	return el('table', { class: 'side' }, el('thead', null, el('tr', null, el('td'),
		...heads.map(([label]) => el('th', { scope: 'col' }, label)), el('td'))),
	el('tbody', null, ...items.slice(0, most).map((item) => {
		const straggles = isSlow(item.values[mark]);
		return el('tr', { class: straggles ? 'straggler' : null },
			el('th', { scope: 'row' }, nameEl(item.label)), ...cells(item),
			el('td', { class: 'note' }, straggles ? '\u25c4 straggler' : ''));
	})));
}

function rankItems() {
	const table = tables.ranks, name = 'unoverlapped_io_ns';
	const unhidden = new Map((table ? table.rows : []).map((row) => {
		const whole = cellOf(table, row, name);
		return [cellOf(table, row, 'rank'),
			rangeIsWhole() ? whole : plain(sampledCell(table, row, name, whole))];
	}));
	return sums.ranks.filter((series) => !series.others).map((series) => ({
		label: `rank ${series.rank}`, values: [inRange(series, 'time'),
			unhidden.has(series.rank) ? unhidden.get(series.rank) : null,
			inRange(series, 'bytes'), inRange(series, 'fetched')] }));
}

/* Marks unoverlapped I/O, which the others wait for, if it is known. */
function rankTable() {
	const items = rankItems();
	return sideBySide(items, [SIDE_HEADS[0], ['unoverlapped I/O', timeText, 'c-alone']]
		.concat(SIDE_HEADS.slice(1)), items.every((item) => item.values[1] !== null) ? 1 : 0);
}

const SIDE_HEADS = [['I/O thread time', timeText, 'c-read'],
	['bytes by calls', bytesText, 'c-write'], ['from storage', bytesText, 'c-fetched']];

/* Whether most members overlap an earlier one: programs that run one after the other are not
 * workers. */
function liveTogether(group) {
	let until = -1, overlapping = 0;
	for (const { row } of group.slice().sort((a, b) => a.row.start_ns - b.row.start_ns)) {
		overlapping += row.start_ns < until ? 1 : 0;
		until = Math.max(until, row.end_ns === null ? DURATION_NS : row.end_ns);
	}
	return overlapping >= (group.length - 1) / 2;
}

/* Children of one parent that did I/O, if several lived at once. */
function workerGroups() {
	const groups = new Map();
	const processes = new Map(processesWithParents().map((row) => [idOfProcess(row), row]));
	for (const series of sums.processes) {
		const row = series.others ? null : processes.get(idOfProcess(series));
		if (!row)
			continue;
		const key = idOf([row.host, row.ppid, row.parent && row.parent.start_ns, row.comm]);
		groups.set(key, (groups.get(key) || []).concat([{ series, row }]));
	}
	const timeOf = (group) => d3.sum(group, (item) => sum(item.series.time));
	const all = d3.sum(sums.processes, (series) => sum(series.time));
	return Array.from(groups.values())
		.filter((group) => group.length > 1 && timeOf(group) > GROUP_SHARE * all && liveTogether(group))
		.sort((a, b) => timeOf(b) - timeOf(a)).slice(0, GROUPS_MAX);
}

function makeRanks() {
	const body = bodyOf('ranks'), groups = workerGroups();
	const ranked = sums.ranks.filter((series) => !series.others).length > 0;
	const place = el('div', { class: 'sides' });
	const update = () => {
		const parts = [];
		if (ranked)
			parts.push(el('h3', null, 'Ranks'), rankTable());
		for (const group of groups) {
			const items = group.map(({ series, row }) => ({ label: `${row.comm || ''} ${row.pid}`,
				values: [inRange(series, 'time'), inRange(series, 'bytes'),
					inRange(series, 'fetched')] })).sort((a, b) => b.values[0] - a.values[0]);
			const { ppid, host, comm } = group[0].row;
			parts.push(el('h3', null, `Children of process ${ppid}`, SEVERAL_HOSTS ? ' on ' : '',
				SEVERAL_HOSTS ? nameEl(host) : '', ': ', nameEl(comm || '')),
			sideBySide(items, SIDE_HEADS, 0, BESIDE_MAX));
			if (items.length > BESIDE_MAX)
				parts.push(hintEl(
					`Top ${BESIDE_MAX} of ${countText(items.length)} by I/O thread time.`));
		}
		place.replaceChildren(...parts);
	};

	if (!ranked && !groups.length) {
		body.append(noneEl('No ranks, and no process with several concurrent children that did I/O.'));
		return;
	}
	body.append(el('p', { class: 'hint' }, `Marked: ${IMBALANCE_TEXT} more than the median of the group `
		+ '(of two: than the other one).'), place);
	const others = sums.ranks.find((series) => series.others && series.of);
	if (others)
		body.append(el('p', { class: 'hint' }, `${countText(others.of)} more ranks are not shown.`));
	onRange(update);
	update();
}
