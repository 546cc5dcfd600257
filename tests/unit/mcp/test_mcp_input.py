# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`faultline mcp` and bad input: hostile SQL, names that escape, traces that change, answers that
are too large, programs and arguments that are missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.join("user", "python")]
import _together  # noqa: E402
from _directory import InDirectory  # noqa: E402
from faultline.mcp import database, traces  # noqa: E402
from _session import FAULTLINE, SAMPLE, SANITIZED, SPANS, Session  # noqa: E402

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class Sql(InDirectory):
    def setUp(self):
        super().setUp()
        self.temporary = self.path("tmp")
        os.mkdir(self.temporary)

    def session(self, *arguments):
        return Session(*arguments, SAMPLE, TMPDIR=self.temporary)

    def test_only_select(self):
        with self.session() as session:
            self.assertEqual(session.call("sql", query="SELECT 1")["rows"], [[1]])
            for query in ("DELETE FROM calls", "INSERT INTO meta VALUES (1, 2)", "DROP VIEW by_file",
                          "UPDATE calls SET pid = 1", "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)",
                          "ATTACH '/tmp/other' AS other", "ATTACH ':memory:' AS other",
                          "VACUUM INTO '/tmp/other'", "PRAGMA journal_mode = WAL",
                          "PRAGMA user_version", "SELECT * FROM pragma_database_list", "REINDEX", "ANALYZE", "BEGIN",
                          "SELECT load_extension('/tmp/x.so')",
                          "WITH a AS (SELECT 1) INSERT INTO meta SELECT 1, 2 FROM a"):
                self.assertIn("only SELECT", session.refused("sql", query=query), query)
            for query, why in (("SELECT 1; DELETE FROM calls", "one statement"),
                               ("SELEC 1", "syntax error"), ("SELECT * FROM nil", "no such table"),
                               ("", "no SELECT"), ("-- nothing", "no SELECT"),
                               ("SELECT readfile('/etc/passwd')", "no such function")):
                self.assertIn(why, session.refused("sql", query=query), query)
            self.assertEqual(session.call("sql", query="SELECT count(*) > 0 FROM calls")["rows"], [[1]])

    @staticmethod
    def answer(session, query):
        """Rows of a short query. Next to other work, even that may take longer than the limit."""
        for _ in range(10):
            answer = session.result("sql", {"query": query})
            if "stopped after" not in answer["content"][0]["text"]:
                break
        return answer["structuredContent"]["rows"]

    def test_endless(self):
        with self.session("--time", "4") as session:
            self.assertEqual(self.answer(session, "SELECT 1"), [[1]])
            for query in (ENDLESS, "SELECT count(*) FROM calls a, calls b, calls c, calls d, calls e, "
                          "calls f, calls g, calls h"):
                self.assertIn("stopped after", session.refused("sql", query=query), query)
            self.assertEqual(self.answer(session, "SELECT 2"), [[2]])

    @unittest.skipIf(SANITIZED, "the address sanitizer needs more memory")
    def test_memory(self):
        with self.session("--memory", "64M") as session:
            for query in ("SELECT length(hex(zeroblob(400000000)))",
                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) "
                          "SELECT count(DISTINCT hex(zeroblob(20000)) || i) FROM n"):
                self.assertRegex(session.refused("sql", query=query), "memory")

    def test_large(self):
        """Rows, cells and columns are bounded, and the answer says so."""
        with self.session() as session:
            numbers = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
                       "SELECT {} FROM n")
            answer = session.call("sql", query=numbers.format("i"), rows=1000)
            self.assertEqual(answer["rows"], [[i] for i in range(1, 1001)])
            answer = session.call("sql", query=numbers.format("i"))
            self.assertIn("rows: 20 of at least 1000 rows", answer["truncated"][0])
            answer = session.call("sql", query=numbers.format("i, hex(zeroblob(300))"), rows=1000)
            self.assertLess(len(answer["rows"]), 60)
            self.assertIn(f"rows: {len(answer['rows'])} of at least 1000 rows", answer["truncated"][0])
            self.assertLessEqual(len(json.dumps(answer, separators=(",", ":"))), 32 << 10)
            self.assertGreater(len(json.dumps(answer, separators=(",", ":"))), 31 << 10)
            answer = session.call("sql", query="SELECT hex(zeroblob(100000))")
            self.assertEqual(answer["rows"][0][0], "0" * 1000 + "... (3096 more characters)")
            wide = ", ".join(["zeroblob(2000)"] * 900)
            answer = session.call("sql", query=f"SELECT {wide}")
            self.assertEqual((len(answer["columns"]), answer["rows"]), (900, []))
            self.assertIn("rows: 0 of 1 rows", answer["truncated"][0])
            self.assertIn("wrote more than", session.refused("sql", query=numbers.format(wide)))

    def test_private_and_removed(self):
        """The export is in a private directory, which is removed, also after a signal."""
        for ended_by in (None, signal.SIGTERM):
            with self.session() as session:
                session.call("sql", query="SELECT 1")
                places = os.listdir(self.temporary)
                self.assertEqual(len(places), 1)
                mode = os.stat(os.path.join(self.temporary, places[0])).st_mode
                self.assertEqual(mode & 0o777, 0o700)
                if ended_by:
                    session.process.send_signal(ended_by)
                    session.process.wait(30)
            self.assertEqual((session.status, os.listdir(self.temporary)), (0, []))


class Exports(InDirectory):
    def test_all_exports_have_one_limit(self):
        """The oldest are removed before the next could exceed it."""
        class Exporter:
            def run(self, command, *_, output_max):
                [path] = (word[len("--output="):] for word in command if word.startswith("--output="))
                with open(path, "wb") as file:
                    file.truncate(output_max)

        databases = database.Databases("faultline", Exporter(), 0)
        self.addCleanup(databases.remove)
        most = []
        for number in range(6):
            trace = traces.Trace("t", "t.flt", traces.Identity(0, number, 0, 0))
            databases._export([trace], [])
            most.append(sum(os.path.getsize(os.path.join(directory, name))
                            for directory, _, names in os.walk(databases.directory) for name in names))
        self.assertLessEqual(max(most), 8 << 30)


class Files(InDirectory):
    def make(self, name, source=SAMPLE):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        shutil.copyfile(source, self.path(name))
        return self.path(name)

    def served(self, session):
        return {row["name"] for row in session.call("list_traces")["traces"]}

    def test_more_than_is_read(self):
        """Of a directory with very many entries, the traces are listed; those below it are not."""
        made = {self.make(f"many/{i}.flt") for i in range(3)}
        self.make("many/below/4.flt")
        for i in range(20000):
            with open(self.path(f"many/{i}.txt"), "w"):
                pass
        with Session(self.path("many")) as session:
            self.assertEqual(self.served(session), made)

    def test_directory(self):
        """Serves *.flt files below the directory; no links, hidden files or others."""
        made = {self.make("served/one.flt"), self.make("served/deep/two.flt")}
        secret = self.make("secret/three.flt", SPANS)
        self.make("served/.hidden.flt")
        self.make("served/.hidden/four.flt")
        self.make("served/other.txt")
        os.symlink(secret, self.path("served/link.flt"))
        os.symlink(self.path("secret"), self.path("served/linked"))
        os.mkfifo(self.path("served/pipe.flt"))
        with Session(self.path("served")) as session:
            self.assertEqual(self.served(session), made)
            for name in (secret, self.path("served/link.flt"), self.path("served/linked/three.flt"),
                         self.path("served/../secret/three.flt"), self.path("served/pipe.flt"),
                         "one.flt", "/etc/passwd", "", "--html=/tmp/x"):
                self.assertIn("no such trace", session.refused("report", traces=[name]), name)
            self.assertIn("there are 2 traces; name", session.refused("report"))
            self.assertIn("similar: " + self.path("served/one.flt"),
                          session.refused("report", traces=[self.path("served/on.flt")]))
            made.add(self.make("served/later.flt"))  # recorded while the server runs
            self.assertEqual(self.served(session), made)

    def test_hostile_names(self):
        """Names of traces are escaped, distinct, and not options."""
        names = {"\x1b[2J.flt": "\\x1b[2J.flt", "\\x1b[2J.flt": "\\x5cx1b[2J.flt",
                 "\u202egnp.flt": "\\u202egnp.flt", "a\nb.flt": "a\\x0ab.flt", "a,b.flt": "a,b.flt",
                 "-q.flt": "-q.flt", "é.flt": "é.flt", os.fsdecode(b"\xff.flt"): "\\xff.flt"}
        for name in names:
            self.make(name)
        with Session(self.directory) as session:
            escaped = {self.path(name) for name in names.values()}
            self.assertEqual(self.served(session), escaped)
            for name in sorted(escaped):
                self.assertEqual(session.call("report", traces=[name])["trace"]["events"], 44)
                self.assertIn("compared", session.call("compare", before=[name], now=[name]))
            self.assertIn("comma", session.refused("compare", before=sorted(escaped), now=[name]))

    def test_hostile_trace(self):
        """No character of a trace's names leaves the server unescaped, whichever tool is used."""
        maker = os.path.join(os.environ.get("BUILD", "build"), "tests", "unit", "export_traces")
        subprocess.run([maker, self.directory], check=True)
        with Session(self.directory) as session:
            for name in ("hostile.flt", "hostile_stacks.flt"):
                traces, escaped = [self.path(name)], 0
                for tool, arguments in (("list_traces", {}), ("report", {"traces": traces}),
                                        ("report", {"traces": traces, "table": "files"}),
                                        ("report", {"traces": traces, "by": "file"}),
                                        ("findings", {"traces": traces}), ("lines", {"traces": traces}),
                                        ("slowest_operations", {"traces": traces}),
                                        ("sql", {"traces": traces, "query": "SELECT * FROM files"}),
                                        ("sql", {"traces": traces, "query": "SELECT * FROM stacks"}),
                                        ("compare", {"before": traces, "now": traces})):
                    text = json.dumps(session.call(tool, **arguments), ensure_ascii=False)
                    self.assertTrue(text.isprintable(), (tool, text))
                    escaped += text.count("\\\\x1b")
                self.assertGreater(escaped, 0, name)

    def test_changes(self):
        """Answers about a changed trace are new, and say once that it has changed."""
        trace = self.make("run.flt")
        with Session(trace) as session:
            count = "SELECT count(*) FROM spans"
            self.assertNotIn("changed", session.call("report"))
            self.assertEqual(session.call("sql", query=count)["rows"], [[0]])
            shutil.copyfile(SPANS, self.path("new"))
            os.rename(self.path("new"), trace)
            answer = session.call("sql", query=count)
            self.assertGreater(answer["rows"][0][0], 0)
            self.assertIn("changed since an earlier answer", answer["changed"][trace])
            answer = session.call("report")
            self.assertEqual(answer["trace"]["events"], 69)
            self.assertNotIn("changed", answer)
            os.unlink(trace)
            self.assertIn("no such trace", session.refused("report", traces=[trace]))

    def test_changes_while_read(self):
        """A trace that keeps changing is read twice; the answer warns that it may mix both states."""
        trace = self.make("run.flt")
        program = self.file("faultline",  # the program, which finds the trace growing
                            f"#!/bin/sh\necho x >>'{trace}'\n{FAULTLINE} \"$@\"\n"
                            f"echo x >>'{self.path('runs')}'\n", 0o755)
        environment = dict(PYTHONPATH=os.path.join("user", "python"), FAULTLINE=program)
        with Session(trace, command=(sys.executable, "-m", "faultline.mcp"), **environment) as session:
            answer = session.call("report")
            self.assertIn("changed while it was read", answer["changed"][trace])
            self.assertEqual(answer["trace"]["duration_ns"], 100000000)
        with open(self.path("runs")) as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_damaged(self):
        """A damaged trace is read as far as possible; other files are only reported as no traces."""
        with open(SAMPLE, "rb") as file:
            data = file.read()
        self.file("cut.flt", data[:len(data) * 2 // 3])
        self.file("text.flt", "no trace\n")
        with Session(self.directory) as session:
            answer = session.call("report", traces=[self.path("cut.flt")])
            self.assertFalse(answer["trace"]["complete"])
            self.assertIn("is not a Faultline trace",
                          session.refused("report", traces=[self.path("text.flt")]))
            rows = {row["name"]: row for row in session.call("list_traces")["traces"]}
            self.assertIn("is not a Faultline trace", rows[self.path("text.flt")]["error"])

    def test_small_answers(self):
        with Session("--answer", "4K", SAMPLE) as session:
            answer = session.call("report", table="operations", rows=1000)
            self.assertLessEqual(len(json.dumps(answer, separators=(",", ":"))), 4096)
            self.assertIn(f"operations: {len(answer['operations'])} of 11 rows", answer["truncated"][0])
            self.assertGreater(len(answer["operations"]), 5)
            wide = ", ".join(f"1 AS a{'b' * 50}" for _ in range(100))
            self.assertIn("more than 4096 bytes", session.refused("sql", query=f"SELECT {wide}"))


class Command(InDirectory):
    def expect(self, status, messages, *command, **environment):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("faultline: "), done.stderr)
        self.assertIn(messages, done.stderr)

    def test_arguments(self):
        module = sys.executable, "-m", "faultline.mcp"
        python = dict(PYTHONPATH=os.path.join("user", "python"), FAULTLINE=FAULTLINE)
        self.expect(0, "serving 2 traces", FAULTLINE, "mcp", SAMPLE, SPANS)
        self.expect(0, "serving 0 traces", FAULTLINE, "mcp", self.directory)
        self.expect(0, "serving 1 trace ", *module, SAMPLE, **python)
        self.expect(2, "no trace given", FAULTLINE, "mcp")
        self.expect(2, "TRACE", *module, **python)
        self.expect(2, "/nonexistent: no such file", FAULTLINE, "mcp", "/nonexistent")
        self.expect(2, "is not a regular file", FAULTLINE, "mcp", "/dev/null")
        self.expect(2, "unknown option", FAULTLINE, "mcp", "--nothing", SAMPLE)
        self.expect(2, "must be positive", *module, "--time", "0", SAMPLE, **python)
        for closed in ("<&-", ">&-"):
            self.expect(2, "is closed", "sh", "-c", f'"$0" mcp "$1" {closed}', FAULTLINE, SAMPLE)
        self.expect(2, "--time", FAULTLINE, "mcp", "--time", "0", SAMPLE)
        self.expect(2, "faultline is not in PATH", *module, SAMPLE,
                    **{**python, "FAULTLINE": "", "PATH": ""})

    def test_missing_parts(self):
        alone = self.path("faultline")
        os.symlink(FAULTLINE, alone)  # the package is found next to the program, not next to a link
        self.expect(0, "serving", alone, "mcp", SAMPLE)
        self.expect(2, "cannot run python3", FAULTLINE, "mcp", SAMPLE, PATH=self.directory)
        os.unlink(alone)
        shutil.copy(FAULTLINE, alone)
        self.expect(2, "python3-faultline", alone, "mcp", SAMPLE)
        self.file("python3", f"#!/bin/sh\nshift 2\nexec {sys.executable}"
                  " -c \"import sys; sys.version_info = (3, 8)\n$1\"\n", 0o755)
        self.expect(2, "requires Python 3.9", FAULTLINE, "mcp", SAMPLE, PATH=self.directory)

    def test_no_module_of_the_directory(self):
        """A file in the current directory or in PYTHONPATH is not imported."""
        for name in ("json", "argparse", "faultline"):
            self.file(name + ".py", "raise SystemExit('imported')\n")
        done = subprocess.run([FAULTLINE, "mcp", os.path.abspath(SAMPLE)], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, PYTHONPATH=self.directory))
        self.assertIn("serving 1 trace", done.stderr)

    def test_program_gone(self):
        environment = dict(PYTHONPATH=os.path.join("user", "python"), FAULTLINE="/nonexistent")
        with Session(SAMPLE, command=(sys.executable, "-m", "faultline.mcp"), **environment) as session:
            self.assertIn("cannot run /nonexistent", session.refused("report"))


if __name__ == "__main__":
    _together.main()
