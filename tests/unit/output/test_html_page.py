# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""report --html in a headless Chromium: an empty console, no requests, every part drawn and counted
against the JSON report, filter and keyboard by real events. Needs no root."""

import json
import os
import re

from _html_page import Page, call, main, make

SAMPLE = os.path.join("tests", "golden", "sample.flt")

# Pictures of each finding: their kinds, captions, and how much of them is visible.
FINDINGS = """JSON.stringify([...document.querySelectorAll('article.finding')].map((card) => ({
    id: card.dataset.finding, pictures: [...card.querySelectorAll('figure.evidence')].map((figure) => ({
        kind: figure.dataset.kind, says: figure.querySelector('figcaption').textContent,
        marks: [...figure.querySelectorAll('.bar, svg path, svg rect')].filter((mark) => {
            const place = mark.getBoundingClientRect();
            return place.width > 0 && place.height > 0;
        }).length })) })))"""

# Texts of charts that reach beyond their drawing.
CLIPPED = """[...document.querySelectorAll('svg text')].filter((text) => {
    const [inner, outer] = [text, text.ownerSVGElement].map((element) => element.getBoundingClientRect());
    return inner.width > 0 && getComputedStyle(text.ownerSVGElement).overflow !== 'visible'
        && (inner.left < outer.left - 1 || inner.right > outer.right + 1);
}).map((text) => text.textContent)"""


class Whole(Page):
    def test_parts(self):
        report = self.report
        self.assertEqual(self.count("article.finding"), len(report["findings"]))
        self.assertGreater(len(report["findings"]), 0)
        self.assertGreaterEqual(self.count("article.finding .pictures > figure"),
                                len(report["findings"]))
        self.assertEqual(self.count("#timeline figure.part-row"),
                         sum(1 for name in ("read", "write", "metadata", "sync")
                             if report["totals"][name]["time_ns"]))
        self.assertEqual(self.count("#timeline path.state"), 3)
        self.assertEqual(self.count("#timeline .bytes path.rate"), 2)
        self.assertEqual(self.count("article.file"), len(report["files"]))
        for part in ("story", "map"):
            self.assertEqual(self.count(f"article.file figure.{part}"), len(report["files"]))
        self.assertEqual(self.count("#latency figure"), 1)
        self.assertEqual(self.count("#sizes figure"), 1)
        self.assertEqual(self.count("#processes g.process"), len(report["processes"]))
        spans = sum(span["count"] for span in report["spans"])
        self.assertEqual(self.count("#timeline g.span"), spans)
        self.assertEqual(self.count("#about tr.layer"), len(report["trace"]["layers"]))
        for name in ("files", "operations", "processes", "spans"):
            self.assertEqual(self.rows(name), len(report[name]), name)
        filled = self.browser.value(
            "JSON.parse(document.getElementById('data').textContent).tables.filter((table) => !table.absent"
            " && table.rows.length && !['findings', 'caveats', 'trace'].includes(table.name)).length")
        self.assertEqual(self.count("#tables details.table"), filled)
        self.assertRegex(self.text("#empty-tables"), "^Empty: .* Not recorded: ")
        self.assertEqual(self.count("#contents a"), filled + self.count("main > section"))
        # Every density cell is drawn: 40 reads of each file, each at a different offset.
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('article.file .map path.cell')]"
            ".reduce((sum, path) => sum + path.getAttribute('d').split('M').length - 1, 0)"), 200)

    def test_pictures_of_findings(self):
        """Each finding shows its evidence; a trace per finding."""
        page = os.path.join(self.directory.name, "finding.html")
        for wanted, trace in [*self.made.items(), ("loss", SAMPLE)]:
            call("report", "--html", page, trace)
            self.browser.open(page, "document.querySelectorAll('article.finding').length > 0")
            shown = json.loads(self.browser.value(FINDINGS))
            for row in shown:
                for picture in row["pictures"]:
                    self.assertGreater(picture["marks"], 0, row)
                    self.assertTrue(picture["says"], row)
            if wanted == "rank-slow":  # its bytes are those of the others
                self.assertEqual([picture["says"] for row in shown if row["id"] == wanted
                                  for picture in row["pictures"]], ["time of reads and writes"])
            kinds, = ([picture["kind"] for picture in row["pictures"]] for row in shown if row["id"] == wanted)
            self.assertTrue(kinds, f"{wanted} has no picture: name one in the rule's .pictures")
            named = self.browser.value("JSON.parse(document.getElementById('data').textContent)"
                                       f".finding_pictures[{json.dumps(wanted)}] || ''")
            named = [name.split()[0] for name in named.split(", ") if name]
            if kinds[0] in ("states", "measures"):  # the general ones; totals only have no rates
                self.assertIn(wanted if named else None, (None, "accelerator-idle", "tracer-cost"))
            else:  # the first of those that the rule names which have data
                self.assertEqual(kinds[0], named[0], wanted)
                self.assertLessEqual(set(kinds), set(named), wanted)

    def test_numbers(self):
        """Numbers are written as in the text report: the samples are those of its test."""
        with open(os.path.join("tests", "unit", "output", "test_output_units.c"), encoding="utf-8") as file:
            parts = re.split(r"^TEST\((\w+)\)", file.read(), flags=re.M)
        calls, wanted = [], []
        for test, function in ("test_bytes", "bytesText"), ("test_ns", "timeText"), ("test_count", "countText"):
            samples = re.findall(r'{ (\d+), "(.*?)" }', parts[parts.index(test) + 1])
            self.assertGreater(len(samples), 3)
            calls += [f"{function}({number})" for number, _ in samples]
            wanted += [text for _, text in samples]
        samples = re.findall(r'units_share\(text, ([0-9.]+)\), "(.*?)"', parts[parts.index("test_share") + 1])
        calls += [f"shareText({number})" for number, _ in samples]
        wanted += [text for _, text in samples]
        for unit, text in ("bytes", "0"), ("ns", "0"), ("count", "0"), ("share", "0%"):
            calls.append(f"cellText(0, '{unit}')")
            wanted.append(text)
        self.assertEqual([text.replace("\u00a0", " ") for text in self.of_program(f"[{', '.join(calls)}]")], wanted)

    def test_maps_of_findings(self):
        """A finding's file is that of its path and host, never another one of the same name."""
        def names(**evidence):
            return self.of_program(f"(mapOf({json.dumps(evidence)}) || {{ name: null }}).name")

        path = "/data/<!--<script>"
        self.assertEqual(names(path=path, file="<!--<script>", host="node1"), path)
        self.assertEqual(names(file="<!--<script>"), path)
        self.assertIsNone(names(path="/other/<!--<script>", file="<!--<script>"))
        self.assertIsNone(names(path=path, host="node2"))

    def test_names_stay_names(self):
        paths = {self.cell("files", row, "path") for row in range(self.rows("files"))}
        self.assertLessEqual({"/data/<script>alert(1)</script>",
                              "/data/</script><img src=x onerror=alert(1)>",
                              "/data/<!--<script>"}, paths)
        self.assertEqual(self.text("#command"),
                         "</script><script>alert(1)</script> import os\u2026 x")
        self.assertEqual(self.count("img"), 0)
        self.assertEqual(self.count("script"), 3)
        self.assertEqual(self.count("u, s, i, b"), 0)
    def flame_page(self):
        page = os.path.join(self.directory.name, "stacks.html")
        make("--make-stacks", page + ".flt")
        call("report", "--html", page, page + ".flt")
        self.browser.open(page)
        return page

    def says(self, selector="#flame .amount"):
        return self.text(selector).replace("\u00a0", " ")

    def boxes(self):
        """Boxes of the flame graph, by row and from left to right: (row, share of its width, text)."""
        return self.browser.value(
            "(() => { const width = document.querySelector('#flame svg').clientWidth; return [..."
            "document.querySelectorAll('#flame .frame')].map((box) => { const edge = box.querySelector('.border'), "
            "text = box.querySelector('text'); return [edge.getAttribute('y') / 18, (Number(edge.getAttribute('width'))"
            " + 1) / width, text ? text.textContent : '', Number(edge.getAttribute('x'))]; })"
            ".sort((a, b) => a[0] - b[0] || a[3] - b[3]).map((box) => box.slice(0, 3)); })()")

    def press(self, text):
        self.browser.value("[...document.querySelectorAll('#flame button')].find((button) => "
                           f"button.textContent === {json.dumps(text)}).click()")
        self.browser.settle()
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('#flame button[aria-pressed=true]')].some((button) => "
            f"button.textContent === {json.dumps(text)})"), True)

    def assert_boxes(self, wanted):
        boxes = self.boxes()
        self.assertEqual([(row, text) for row, share, text in boxes], [(row, text) for row, share, text in wanted])
        for box, want in zip(boxes, wanted):
            self.assertAlmostEqual(box[1], want[1], 2, (box, want))

    def test_lines_of_findings(self):
        """The traces of findings have no samples: the page is given a line."""
        page = os.path.join(self.directory.name, "line.html")
        call("report", "--html", page, self.made["mmap-random"])
        with open(page) as file:
            head, mark, rest = file.read().partition('id="data">')
        data, end, tail = rest.partition("</script>")
        data = json.loads(data)
        findings = next(table for table in data["tables"] if table["name"] == "findings")
        findings["rows"][0][[column["name"] for column in findings["columns"]].index("where")] = "a.py:1 in <module>"
        with open(page, "w") as file:
            file.write(head + mark + json.dumps(data).replace("<", "\\u003c") + end + tail)
        self.browser.open(page)
        self.assertEqual(self.text("article.finding .where"), "At a.py:1 in <module>")

    def test_flame_graph(self):
        self.flame_page()
        self.assertEqual(self.says(), "thread time: 636 ms \u00b1 2.0 ms")
        self.assertEqual(self.says("#flame .legend"), "in I/O 204 mslock 202 mspipe 30.0 mssleep 200 ms")
        loader, module, step = "Tokens.__getitem__ (loader.py:42)", "<module> (train.py:9)", "step (train.py:20)"
        self.assert_boxes([
            (0, 1, "all threads"), (1, 434 / 636, "main threads"), (1, 200 / 636, "workers"), (1, 2 / 636, ""),
            (2, 434 / 636, "train"), (2, 200 / 636, "train"), (2, 2 / 636, ""),
            (3, 434 / 636, module), (3, 200 / 636, module), (3, 2 / 636, ""),
            (4, 234 / 636, loader), (4, 200 / 636, step), (4, 200 / 636, loader), (5, 30 / 636, "</scrip\u2026")])
        self.press("workers")  # zooms
        self.assert_boxes([(0, 1, "all threads"), (1, 1, "workers"), (2, 1, "train"), (3, 1, module), (4, 1, loader)])
        x, y, width, height = self.browser.box("#flame svg")
        self.browser.click(x + width / 2, y + 9)  # the top box: all threads
        self.assertEqual(len(self.boxes()), 14)
        self.browser.value("(() => { const find = document.querySelector('#flame input'); find.value = 'LOADER.py:42';"
                           " find.dispatchEvent(new Event('input')); })()")
        self.assertIn("found: 68.2%", self.says())
        self.assertEqual(self.count("#flame .match"), 2)
        self.press("on CPU")
        self.assertIn("thread time: 800 ms \u00b1 126 ms", self.says())
        self.assertEqual(self.boxes()[-1], [4, 1, step])

    def test_flame_graph_follows_the_range(self):
        page = self.flame_page()
        for window, says, cpu in (((0, 80), "300 ms", "200 ms \u00b1 63.2 ms"),
                                  ((80, 160), "336 ms \u00b1 2.0 ms", "600 ms \u00b1 110 ms")):
            self.browser.open(page)
            start, end = self.choose(*window)
            self.assertEqual(self.says(), f"thread time: {says}")
            self.press("on CPU")
            self.assertEqual(self.says(), f"thread time: {cpu}")
            names = ("location", "state", "kind", "time_ns", "share", "uncertainty_ns")

            def rows():
                return sorted([table, *(self.cell(table, row, name) for name in columns)] for table, columns in (
                    ("lines", names), ("functions", names[:2] + names[3:])) for row in range(self.rows(table)))

            lines = rows()
            part = os.path.join(self.directory.name, "part.html")
            call("report", "--html", part, f"--from={start / 1e9:.9f}s", f"--until={(end - 1) / 1e9:.9f}s", page + ".flt")
            self.browser.open(part)
            self.assertEqual(self.says(), f"thread time: {says}")
            self.assertEqual(lines, rows())
        self.browser.open(page)
        self.choose(0, 1)
        self.press("lock")
        self.assertEqual(self.says(), "no samples in this part of the run")

    def test_flame_graph_by_keyboard(self):
        """Arrow keys read boxes, and names stay names."""
        self.flame_page()
        self.browser.value("document.querySelector('figure.flame').focus()")
        for _ in range(5):
            self.browser.key("ArrowDown")
        self.assertEqual(self.text("#tip strong"), "</script><img src=x onerror=alert(1)>")
        self.assertIn("/job/<b>&lt;.py:7", self.text("#tip"))
        self.assertEqual(self.count("img"), 0)
        self.browser.key("ArrowUp")
        self.browser.key("ArrowRight")
        self.assertEqual(self.text("#tip strong"), "step")
        self.assertIn("200 ms", self.says("#tip"))
        self.browser.key("Enter")
        self.assertEqual([box[1] for box in self.boxes()], [1] * 5)
        self.browser.key("Backspace")
        self.assertTrue(self.boxes()[-1][2].startswith("</script>"))
        self.browser.key("Escape")
        self.assertTrue(self.browser.value("document.getElementById('tip').hidden"))

    def test_without_stacks(self):
        self.assertEqual(self.text("#flame .hint"), "Not available: requires layer stack.")
        self.assertEqual(self.count("#flame svg"), 0)

    def test_several_traces(self):
        page = os.path.join(self.directory.name, "several.html")
        call("report", "--html", page, self.trace, self.made["lock-wait"])
        self.browser.open(page)
        self.assertTrue(self.text("#circumstances").startswith("first of 2 traces"))

    def test_words(self):
        """Headings are capitalized, and unknown values are not shown."""
        titles = json.loads(self.browser.value("JSON.stringify([...document.querySelectorAll("
                                               "'details.table .title')].map((t) => t.textContent))"))
        self.assertEqual([title for title in titles if not title[0].isupper()], [])
        ticks = self.browser.value("[...document.querySelectorAll('#latency .axis.value text')]"
                                   ".map((tick) => tick.textContent).join(' ')")
        self.assertRegex(ticks.replace("\u00a0", ""), r"^(10{0,2}(ns|us|ms|s) ?)+$")
        self.assertIn("unoverlapped I/O", self.text("#timeline .legend"))
        page = os.path.join(self.directory.name, "alone.html")
        call("report", "--html", page, self.made["lock-wait"])
        self.browser.open(page)  # compute is unknown
        self.assertEqual(self.text("#timeline .legend"), "I/O")

    def test_drag_over_a_picture(self):
        x, y, width, height = self.browser.box("#timeline figure.states svg")
        self.browser.drag(x + width / 2, y + 20, x + width * 0.7, y + 20)
        self.assertNotIn("the whole run", self.text("#range-text"))
        self.browser.mouse("mouseMoved", x + width / 2, y + 30)
        self.browser.settle()
        self.assertFalse(self.browser.value("document.getElementById('tip').hidden"))
        self.assertIn("compute only", self.text("#tip"))

    def test_keyboard(self):
        self.browser.value("document.querySelector('.sliders input').focus()")
        for _ in range(3):
            self.browser.key("ArrowRight")
        self.assertIn("37.5 ms to", self.text("#range-text").replace("\u00a0", " "))
        self.browser.value("document.querySelector('#latency figure').focus()")
        self.browser.key("ArrowRight")
        self.browser.key("ArrowUp")
        self.assertIn("read calls", self.text("#tip"))
        self.browser.key("Escape")
        self.assertTrue(self.browser.value("document.getElementById('tip').hidden"))
        # All controls can be reached by keyboard.
        self.assertEqual(self.browser.value(
            "[...document.querySelectorAll('figure.chart svg')].filter((svg) => "
            "svg.closest('figure').tabIndex < 0).length"), 0)

    def test_sort_filter_and_copy(self):
        self.rows("files")
        self.browser.value("document.querySelector('details[data-table=files] input').focus()")
        self.browser.type("onerror")
        self.assertEqual(self.count("details[data-table=files] tbody tr"), 1)
        self.browser.value(
            "document.querySelector('details[data-table=files] input').value = ''; "
            "document.querySelector('details[data-table=files] input')"
            ".dispatchEvent(new Event('input'))")
        head = "details[data-table=files] thead button[data-column=path]"
        x, y, width, height = self.browser.box(head)
        self.browser.click(x + width / 2, y + height / 2)
        paths = [self.cell("files", row, "path") for row in range(self.rows("files"))]
        x, y, width, height = self.browser.box(head)
        self.browser.click(x + width / 2, y + height / 2)
        self.assertEqual([self.cell("files", row, "path") for row in range(len(paths))],
                         paths[::-1])
        self.assertEqual(self.browser.value(f"document.querySelector('{head}').closest('th')"
                                            ".getAttribute('aria-sort')"), "ascending")
        self.browser.call("Browser.grantPermissions", root=True,
                          permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        x, y, width, height = self.browser.box(
            "details[data-table=files] .tools button")
        self.browser.click(x + width / 2, y + height / 2)
        self.browser.wait("document.querySelector('details[data-table=files] .tools button')"
                          ".textContent === 'copied'")
        copied = self.browser.value("navigator.clipboard.readText()")
        self.assertEqual(len(copied.split("\r\n")), len(paths) + 2)
        self.assertTrue(copied.startswith("path,"), copied[:80])

    def test_widths_and_schemes(self):
        for width in (360, 2560):
            self.browser.resize(width, 800)
            self.browser.settle()
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
            self.assertGreater(self.count("svg text"), 20)
            self.assertEqual(self.browser.value(CLIPPED), [], width)
        ground = "getComputedStyle(document.body).backgroundColor"
        light = self.browser.value(ground)
        self.browser.scheme(True)
        self.assertNotEqual(self.browser.value(ground), light)
        self.browser.scheme(False)
        self.browser.resize(718, 1000)  # A4 without its margins
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.browser.settle()
        style = "getComputedStyle(document.querySelector('%s')).%s"
        for selector, what, says in ((".tools", "display", "none"), (".sliders", "display", "none"),
                                     (".scroll", "overflowX", "visible"), ("#range", "position", "static")):
            self.assertEqual(self.browser.value(style % (selector, what)), says, selector)
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 718)
        self.browser.call("Emulation.setEmulatedMedia", media="")
        pdf = self.browser.call("Page.printToPDF", printBackground=True)["data"]
        self.assertGreater(len(pdf), 10000)

    def test_sample_with_loss(self):
        page = os.path.join(self.directory.name, "sample.html")
        with open(page, "wb") as file:
            file.write(call("report", "--html", "-", SAMPLE))
        self.browser.open(page)
        report = json.loads(call("report", "--format", "json", SAMPLE))
        self.assertEqual(self.count("#caveats p"), len(report["caveats"]))
        self.assertIn("2 events", self.text("#figures"))
        self.assertEqual(self.rows("files"), len(report["files"]))

    def test_nothing_but_a_header(self):
        """If a recorder was killed at once, problems are unknown."""
        trace, page = (os.path.join(self.directory.name, f"begun.{end}") for end in ("flt", "html"))
        with open(SAMPLE, "rb") as sample, open(trace, "wb") as file:
            whole = sample.read()
            file.write(whole[: whole.index(b"\x28\xb5\x2f\xfd", 4)])
        call("report", "--html", page, trace)
        self.browser.open(page)
        self.assertEqual(self.text("#findings .hint"), "No findings: the trace has no events.")

    def test_summed(self):
        """With aggregated calls, views that need individual ones do not claim there were none."""
        trace, page = (os.path.join(self.directory.name, f"summed.{end}") for end in ("flt", "html"))
        make("--make-summed", trace)
        call("report", "--html", page, trace)
        self.browser.open(page)
        self.assertIn("need individual operations are unavailable", self.text("#findings .hint"))
        for part in ("timeline", "files", "latency", "sizes", "ranks"):
            self.assertIn("Not available", self.text(f"#{part} .hint"), part)
        self.assertEqual(self.count("#timeline path.state"), 0)
        figures = self.text("#figures").replace("\u00a0", " ")
        self.assertIn("I/O thread time300 ms", figures)
        self.assertIn("from storage1.0 MiB", figures)
        # A part of the run has no totals of its own.
        self.browser.value("document.querySelector('#range [title$=in]').click()")
        self.assertNotIn("the whole run", self.text("#range-text"))
        self.assertEqual(self.rows("operations"), len(json.loads(
            call("report", "--format", "json", trace))["operations"]))
        self.assertIn("cannot be narrowed", self.text("details[data-table=operations] .tools + .hint"))


if __name__ == "__main__":
    main()
