# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""report --html: a part of the run, chosen with the mouse or the sliders, narrows tables and pictures to
what a report of only that part says. Needs no root."""

import csv
import io
import json
import os

from _html_page import Page, call, main, make

# Tables with sums per bucket: {table: {row's name: {column: text}}}.
TABLES = """JSON.stringify(Object.fromEntries(['totals', 'methods', 'failed_lookups', 'io_patterns', 'programs', 'levels',
    'paths', 'files', 'operations', 'processes', 'devices'].map((name) => {
    const table = document.querySelector(`details[data-table=${name}]`), rows = {};
    const text = (cell) => cell.classList.contains('of-run') ? `(${cell.textContent})` : cell.textContent;
    table.open = true;
    const more = table.querySelector('button.more');
    if (more && !more.hidden && more.textContent.includes('all'))
        more.click();
    const heads = [...table.querySelectorAll('thead th')];
    for (const row of table.querySelectorAll('tbody tr')) {
        const cells = [...row.children], named = (i) => heads[i].className.includes('number') ? 'number' : 'name';
        rows[cells.filter((cell, i) => named(i) === 'name' && !(name === 'io_patterns' && i > 0)).map((cell) => cell.textContent).join(' ')] =
            Object.fromEntries(cells.map((cell, i) => [heads[i].querySelector('button').dataset.column, text(cell)])
                .filter((pair, i) => named(i) === 'number'));
    }
    const terms = [...table.querySelectorAll('dl.record dt')];
    if (terms.length)
        rows.all = Object.fromEntries(terms.map((term) => [term.textContent, text(term.nextElementSibling)]));
    return [name, rows];
})))"""
# Number of their columns that have a value of their own for any part of the run.
FOLLOW = {"totals": 40, "methods": 6, "failed_lookups": 4, "io_patterns": 4, "programs": 5, "levels": 3, "paths": 6,
          "files": 8, "operations": 5, "processes": 6, "devices": 4}


class Range(Page):
    def test_brush_narrows(self):
        x, y, width, height = self.browser.box("svg.overview")
        before = self.browser.value("document.querySelector('#latency .amount').textContent")
        self.assertTrue(before.startswith("200;"), before)
        self.browser.drag(x + width * 0.2, y + height / 2, x + width * 0.4, y + height / 2)
        self.assertIn("400 ms to 800 ms", self.text("#range-text").replace("\u00a0", " "))
        # The second file was read every 10 ms from 405 to 795 ms, and no other file.
        self.assertEqual(self.rows("files"), 1)
        self.assertEqual(self.cell("files", 0, "path"), "/data/</script><img src=x onerror=alert(1)>")
        self.assertEqual(self.cell("files", 0, "read.bytes").replace("\u00a0", " "), "160 KiB")
        self.assertEqual(self.rows("access"), 2)
        for row, name in enumerate(("all I/O", "read calls")):
            self.assertEqual([self.cell("access", row, column).replace("\u00a0", " ") for column in
                              ("", "time", "operations", "bytes_by_calls", "from_storage")],
                             [name, "40.0 ms", "40", "160 KiB", "160 KiB"])
        self.assertTrue(self.text("#latency .amount").startswith("40;"))
        self.assertEqual(self.text("#sizes .amount"), "40")
        self.assertIn("no activity in this part", self.text("article.file .amount"))
        # The button at the end of the bar shows the whole run again.
        x, y, width, height = self.browser.box("#range .buttons button:last-child")
        self.browser.click(x + width / 2, y + height / 2)
        self.assertIn("the whole run", self.text("#range-text"))
        self.assertTrue(self.text("#latency .amount").startswith("200;"))

    def tables(self):
        """For each table, its rows as texts by column, by row name; values in brackets are for the
        whole run."""
        return json.loads(self.browser.value(TABLES))

    def test_cells_are_of_the_range(self):
        """Each number of a part of the run equals that of a report of only that part."""
        trace, page, part = (os.path.join(self.directory.name, name)
                             for name in ("followed.flt", "followed.html", "part.html"))
        make("--make-followed", trace)
        call("report", "--html", page, trace)
        self.browser.open(page)
        lanes = self.browser.value("[...document.querySelectorAll('#processes .lane-name')]"
                                   ".map((name) => name.textContent.trim()).join(';')")
        self.assertRegex(lanes, "^train 100;(writer 1[0-9]+;)*loader \u00d713(;writer 1[0-9]+)*$")
        self.assertEqual(lanes.count(";"), 7)
        for window in (0, 50), (70, 101), (90, 160):
            self.browser.open(page)
            start, end = self.choose(*window)
            shown = self.tables()
            call("report", "--html", part, f"--from={start / 1e9:.9f}s", f"--until={(end - 1) / 1e9:.9f}s", trace)
            self.browser.open(part)
            wanted = self.tables()
            for table, columns in FOLLOW.items():
                followed = set()
                used = {key for key, row in wanted[table].items()  # else the table says none
                        if any(text.replace("\u00a0", " ") not in ("0", "0 B", "0 ns", "-", "\u2013") for text in row.values())}
                self.assertLessEqual(used, set(shown[table]), (table, window))
                for key, row in shown[table].items():
                    for column, text in row.items():
                        # A filter leaves no span out.
                        if text[0] != "(" and column not in ("start_ns", "end_ns", "size_bytes") \
                                and not key.startswith(("application", "data loader")):
                            # Absent in the whole run, so a filter has no effect.
                            if wanted[table][key].get(column, "\u2013") == "\u2013" != text:
                                self.assertEqual(text.split("\u00a0")[0], "0", (table, key, column, window))
                                continue
                            self.assertEqual(text, wanted[table][key][column], (table, key, column, window))
                            followed.add(column)
                self.assertGreaterEqual(len(followed), columns, (table, followed))
            compute = len([tick for tick in range(*window) if tick % 4 == 0])  # 4 ms each
            level = shown["levels"]["application compute"]
            self.assertEqual((level["count"], level["time_ns"].replace("\u00a0", " ")),
                             (str(compute), f"{4 * compute:.1f} ms"))

    def test_range_narrows_tables(self):
        """Rows with a time of their own, and those about usage, stay if they fall into the range; a
        table that cannot follow the range says so."""
        seen = set()
        page = os.path.join(self.directory.name, "range.html")
        for name in "device-slow", "readahead-unused", "loader-io", "save-waits":
            call("report", "--html", page, self.made[name])
            report = json.loads(call("report", "--format", "json", self.made[name]))
            self.browser.open(page)
            end = self.choose(0, 54)[1]
            # per table, which rows stay, judged by the row itself
            staying = {
                "slowest": lambda row: row["start_ns"] < end, "steps": lambda row: row["start_ns"] < end,
                "epochs": lambda row: row["start_ns"] < end,
                "writeback": lambda row: min(row["first_dirtied_ns"] or end, row["first_reached_ns"] or end) < end,
                "device_heat": lambda row: any(cell["start_ns"] < end for cell in row["over_time"])}
            for table, stays in staying.items():
                rows = report[table] or []
                left = sum(map(stays, rows))
                if rows:
                    self.assertEqual(self.rows(table), left, (name, table))
                if left < len(rows):
                    seen.add(table)
            output = json.loads(self.browser.value(
                "JSON.stringify([...document.querySelectorAll('details.table')].filter((table) =>"
                " !table.querySelector('.amount').textContent.match(/^(0|not recorded)$/)).map((table) =>"
                " [table.dataset.table, [...table.querySelectorAll('.hint')].map((hint) =>"
                " hint.hidden ? '' : hint.textContent).join(' ')]))"))
            for table, says in output:
                self.assertRegex(says, "selected part of the run|cannot be narrowed", table)
        self.assertLessEqual({"slowest", "steps"}, seen)

    def test_numbers_of_the_range(self):
        """Tables without per-event values follow the range as well: epochs are cut at its end, and
        parts of the run add up to the whole."""
        page = os.path.join(self.directory.name, "range.html")
        make("--make-chained", page + ".flt")
        call("report", "--html", page, page + ".flt")
        self.browser.open(page)
        tables = {"epochs": ("time_ns", "read_bytes"), "readahead": ("fetched_bytes", "ahead_bytes", "used_bytes"),
                  "writeback": ("written_bytes", "device_bytes"), "latency_breakdown": ("time_ns", "device_ns", "count"),
                  "span_latency": ("time_ns", "count"), "device_users": ("requests", "bytes", "time_ns"),
                  "ranks": ("io_ns", "unoverlapped_io_ns", "compute_ns"), "lines": ("time_ns", "fetched_bytes"),
                  "functions": ("time_ns", "count")}
        # Sums of the numbers of each column, as copied.
        self.browser.value("Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) => {"
                           " window.copied = text; return Promise.resolve(); } } })")

        def sums(table):
            self.rows(table)
            copied = self.browser.value(
                f"document.querySelector('details[data-table={table}] .tools button').click(), window.copied")
            rows = list(csv.DictReader(io.StringIO(copied)))
            return [sum(int(row[column] or 0) for row in rows) for column in tables[table]]

        self.choose(0, 160)
        whole = {table: sums(table) for table in tables}
        halves = []
        for window in (40, 160), (0, 40):
            self.choose(*window)
            halves.append({table: sums(table) for table in tables})
        for table in tables:
            parts = [half[table] for half in halves]
            self.assertEqual([sum(pair) for pair in zip(*parts)], whole[table], table)
            self.assertTrue(all(map(all, parts)), (table, parts))
        start, end = self.choose(30, 39)
        self.assertEqual(self.rows("epochs"), 1)
        self.assertEqual(self.cell("epochs", 0, "time_ns").replace("\u00a0", " "), f"{(end - start) / 1e6:.0f} ms")
        output = self.text("details[data-table=epochs] .tools + .hint")
        self.assertIn("is cut", output)
        self.assertIn("in parentheses", output)

    def test_files_of_the_range(self):
        """Files with the same numbers and path, on two mounts in turn, and a file without a path."""
        page = os.path.join(self.directory.name, "mounts.html")
        make("--make-mounts", page + ".flt")
        call("report", "--html", page, page + ".flt")
        self.browser.open(page)
        self.choose(0, 80)
        self.assertEqual(self.rows("files"), 3)
        self.assertEqual(sorted(self.cell("files", row, "read.bytes").replace("\u00a0", " ") for row in range(3)),
                         ["12.0 KiB", "4.0 KiB", "8.0 KiB"])

    def test_nodes_of_the_range(self):
        """Two hosts with the same numbers of files, devices and processes."""
        page, traces = os.path.join(self.directory.name, "nodes.html"), []
        for node in "first", "second":
            traces.append(f"{page}.{node}.flt")
            make(f"--make-{node}-node", traces[-1])
        call("report", "--html", page, *traces)
        self.browser.open(page)
        self.choose(0, 80)
        for table, column, wanted in ("files", "read.bytes", ["32.0 KiB", "8.0 KiB"]), \
                ("devices", "read.bytes", ["16.0 KiB", "4.0 KiB"]), \
                ("processes", "read.bytes", ["16.0 KiB", "16.0 KiB", "4.0 KiB", "4.0 KiB"]):
            with self.subTest(table=table):
                shown = [self.cell(table, row, column).replace("\u00a0", " ")
                         for row in range(self.rows(table))]
                self.assertEqual(sorted(shown), wanted)
        heads = self.browser.value("[...document.querySelectorAll('#ranks h3')].map((head) => head.textContent).join()")
        self.assertEqual(heads, "Children of process 10 on node2: loader,Children of process 10 on node1: loader")
        # Each process is drawn below its own parent.
        lanes = self.browser.value("[...document.querySelectorAll('#processes .lane-name')]"
                                   ".map((name) => name.textContent.trim()).join()")
        self.assertEqual(lanes, ",".join(["train 10", "loader 11", "loader 12"] * 2))


if __name__ == "__main__":
    main()
