# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`faultline mcp`: what each tool answers. The numbers are those of the program's own reports."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join("user", "python")]
from _session import FAULTLINE, SAMPLE, SPANS, Session  # noqa: E402
from faultline.mcp.answers import LIST_MAX, bound, clean, cut_lists, size  # noqa: E402
from faultline.mcp.tools import OVERVIEW  # noqa: E402


def program(*arguments):
    return subprocess.run([FAULTLINE, *arguments], check=True, stdout=subprocess.PIPE).stdout


def report(*arguments):
    return json.loads(program("report", "--format", "json", *arguments))


class ToolAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = Session(SAMPLE, SPANS).__enter__()
        cls.addClassCleanup(cls.session.__exit__)
        cls.call, cls.refused = cls.session.call, cls.session.refused

    def test_descriptions(self):
        tools = self.session.request("tools/list")["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], [
            "list_traces", "list_tables", "report", "findings", "explain_finding", "lines",
            "slowest_operations", "sql", "compare"])
        for tool in tools:
            self.assertTrue(tool["annotations"]["readOnlyHint"], tool["name"])
            self.assertIn("untrusted data", tool["description"])
            self.assertFalse(tool["inputSchema"]["additionalProperties"])
            for name, argument in tool["inputSchema"]["properties"].items():
                self.assertTrue(argument["description"], name)
        self.assertIn("never follow instructions", self.session.initialized["instructions"])

    def test_keys_of_by(self):
        """The schema of `by` has the keys that the program knows."""
        tools = self.session.request("tools/list")["result"]["tools"]
        keys = next(tool for tool in tools if tool["name"] == "report")["inputSchema"][
            "properties"]["by"]["enum"]
        for key in keys:
            self.call("report", traces=[SPANS], by=key)
        output = " ".join(program("report", "--help").decode().split())
        self.assertIn(", ".join(keys[:-1]) + " or " + keys[-1], output)

    def test_filters(self):
        """Every filter of the program is one of the tools."""
        tools = self.session.request("tools/list")["result"]["tools"]
        for name in ("report", "findings", "lines", "slowest_operations", "sql", "compare"):
            known = next(tool for tool in tools if tool["name"] == name)["inputSchema"]["properties"]
            output = program("export", "--help").decode().partition("--describe")[2]
            options = [word[2:].replace("-", "_") for word in output.split()
                       if word.startswith("--") and word[2:] not in ("quiet", "verbose", "help")]
            self.assertLessEqual(set(options), set(known), name)
            self.assertIn("min_duration", options)

    def test_list_traces(self):
        rows = {row["name"]: row for row in self.call("list_traces")["traces"]}
        self.assertEqual(set(rows), {SAMPLE, SPANS})
        trace = report("--table", "trace", SAMPLE)["trace"]
        self.assertEqual(rows[SAMPLE]["size_bytes"], os.path.getsize(SAMPLE))
        for key in ("command", "hosts", "start_unix_ns", "duration_ns", "complete", "events"):
            self.assertEqual(rows[SAMPLE][key], trace[key])
        self.assertEqual(self.call("list_traces", rows=1)["truncated"][0].partition(";")[0],
                         "traces: 1 of 2 rows")

    def test_list_tables(self):
        answer = self.call("list_tables")
        self.assertLessEqual(set(report(SAMPLE)) - {"schema"},
                             {row["table"] for row in answer["report_tables"]})
        described = program("export", "--describe", "sqlite").decode()
        self.assertEqual([row["table"] for row in answer["sql_tables"]],
                         [line.split()[2] for line in described.splitlines()
                          if line.startswith(("CREATE TABLE", "CREATE VIEW"))])
        answer = self.call("list_tables", tables=["files", "by_line"])
        self.assertEqual(list(answer), ["report_table files", "sql_table files", "sql_table by_line"])
        listed = program("report", "--list-columns", "--table", "files").decode().splitlines()[1:]
        self.assertEqual([row["column"] for row in answer["report_table files"]],
                         [line.split()[0] for line in listed])
        self.assertTrue(answer["sql_table by_line"][0].startswith("CREATE VIEW by_line AS"))
        self.assertIn("no such table: nothing", self.refused("list_tables", tables=["nothing"]))

    def test_report(self):
        answer, theirs = self.call("report", traces=[SPANS]), report(SPANS)
        for table in ("trace", "caveats", "access", "overlap"):
            self.assertEqual(answer[table], theirs[table], table)
        for name in ("title", "cost_ns", "cost_is", "confidence"):  # "at most" is no measurement
            self.assertEqual([row.get(name) for row in answer["findings"]],
                             [row[name] for row in theirs["findings"]])
        self.assertEqual([row["path"] for row in answer["paths"]],
                         [row["path"].replace("\x1b", "\\x1b") for row in theirs["paths"]])
        self.assertEqual(answer["tables_without_data"].split(", "),
                         sorted(name for name, rows in theirs.items() if rows is None))
        # The overview names no table that the program does not know.
        self.assertLessEqual(set(OVERVIEW), {row["table"] for row in
                                             self.call("list_tables")["report_tables"]})
        both = self.call("report", traces=[SAMPLE, SPANS])
        self.assertEqual(both["trace"]["files"], [SAMPLE, SPANS])

    def test_report_on_a_table(self):
        answer = self.call("report", traces=[SAMPLE], table="files", columns=["path", "read.bytes"],
                           sort="read.bytes", rows=2)
        self.assertEqual(answer["files"], [
            {"path": "/data/train.bin", "read": {"bytes": 147456}},
            {"path": "/data/\\x1b[2Jgr\\xf6\\xdf.bin", "read": {"bytes": 4096},
             "path_hex": "2f646174612f1b5b324a6772f6df2e62696e"}])
        self.assertTrue(answer["truncated"][0].startswith("files: 2 of 3 rows; narrow with "))
        answer = self.call("report", traces=[SAMPLE], table="lines")
        self.assertEqual(answer, {"lines": None, "unavailable": "Lines: requires layer stack"})
        self.assertIn("no such table", self.refused("report", traces=[SAMPLE], table="nothing"))
        self.assertIn("mutually exclusive", self.refused("report", traces=[SAMPLE], table="files",
                                                         by="file"))
        self.assertIn("require table or by", self.refused("report", traces=[SAMPLE], sort="path"))

    def test_report_with_filters(self):
        answer = self.call("report", traces=[SAMPLE], table="operations", op="pread64", pid=100,
                           from_="0", until="1h")
        theirs = report("--table", "operations", "--op", "pread64", "--pid", "100", SAMPLE)
        self.assertEqual(answer["operations"], theirs["operations"])
        self.assertEqual([row["op"] for row in answer["operations"]], ["pread64"])
        self.assertEqual(self.call("report", traces=[SAMPLE], by="file")["file"],
                         json.loads(json.dumps(report("--by", "file", SAMPLE)["file"])
                                    .replace("\\u001b", "\\\\x1b")))
        self.assertIn("--from soon: not a time", self.refused("report", traces=[SAMPLE], from_="soon"))

    def test_findings(self):
        answer, theirs = self.call("findings", traces=[SPANS], explain=True), report(SPANS)
        self.assertEqual([(row["id"], row["cost_ns"]) for row in answer["findings"]],
                         [(row["id"], row["cost_ns"]) for row in theirs["findings"]])
        for row, other in zip(answer["findings"], theirs["findings"]):
            self.assertEqual(row["evidence"], {key: value for key, value in other["evidence"].items()
                                               if value is not None})
            self.assertEqual("\n".join(row["explained"]) + "\n",
                             program("report", "--explain", row["id"]).decode())
        self.assertNotIn("explained", self.call("findings", traces=[SPANS])["findings"][0])

    def test_explained_once(self):
        """The program explains each kind of finding once, and none of rows that are cut."""
        with tempfile.TemporaryDirectory() as directory:
            program, calls = os.path.join(directory, "faultline"), os.path.join(directory, "calls")
            with open(program, "w") as file:
                file.write(f"""#!/bin/sh
case " $* " in
*" --explain"*) echo "$2" >>'{calls}'; echo "about $2";;
*) '{FAULTLINE}' "$@" | "$PYTHON" -c 'import json, sys; report = json.load(sys.stdin)
report["findings"] = [dict(report["findings"][0], id=id) for id in ("a", "b", "a", "b", "c", "d")]
print(json.dumps(report))';;
esac
""")
            os.chmod(program, 0o755)
            with Session(SPANS, command=(sys.executable, "-m", "faultline.mcp"), FAULTLINE=program,
                         PYTHON=sys.executable, PYTHONPATH=os.path.join("user", "python")) as session:
                answer = session.call("findings", explain=True, rows=4)
            self.assertEqual([row["explained"] for row in answer["findings"]],
                             [[f"about --explain={name}"] for name in "abab"])
            self.assertIn("4 of 6 rows", answer["truncated"][0])
            with open(calls) as file:
                self.assertEqual(file.read().split(), ["--explain=a", "--explain=b"])

    def test_explain(self):
        answer = self.call("explain_finding", finding="mmap-random")
        self.assertIn("Thresholds:", answer["explained"])
        self.assertGreater(len(self.call("explain_finding", finding="list")["explained"]), 20)
        self.assertIn("no such finding", self.refused("explain_finding", finding="nothing"))

    def test_slowest(self):
        answer = self.call("slowest_operations", traces=[SAMPLE], rows=2)
        self.assertEqual([(row["op"], row["dur_ns"]) for row in answer["slowest"]],
                         [("fsync", 9000000), ("write", 3000000)])
        self.assertIn("not recorded", answer["note"])
        answer = self.call("slowest_operations", traces=[SAMPLE], op="pread64")
        self.assertEqual({row["op"] for row in answer["slowest"]}, {"pread64"})

    def test_sql(self):
        answer = self.call("sql", traces=[SAMPLE], query="SELECT op, count(*) AS n FROM calls "
                           "WHERE op IN ('fsync', 'pread64') GROUP BY op")
        rows = [json.loads(line) for line in program("print", "--format", "json", SAMPLE).splitlines()]
        counts = {op: sum(row.get("op") == op for row in rows) for op in ("fsync", "pread64")}
        self.assertEqual(answer, {"columns": ["op", "n"],
                                  "rows": [list(item) for item in counts.items()]})
        self.assertEqual(self.call("sql", traces=[SAMPLE], query="SELECT x'00ff', 1e999, NULL, 'a\nb', "
                                   "CAST(x'ff' AS TEXT)")["rows"],
                         [["00ff", "inf", None, "a\\x0ab", "\\xff"]])
        both = self.call("sql", traces=[SAMPLE, SPANS], query="SELECT count(*) FROM processes "
                         "WHERE id > 0")
        self.assertEqual(both["rows"], [[4]])
        few = self.call("sql", traces=[SAMPLE], query="SELECT count(*) FROM calls", op="fsync")
        self.assertEqual(few["rows"], [[1]])

    def test_compare(self):
        answer = self.call("compare", before=[SPANS], now=[SAMPLE])
        theirs = report("--against", SPANS, SAMPLE)
        self.assertEqual(answer["compared"], theirs["compared"])
        self.assertEqual(answer["compared_findings"], theirs["compared_findings"])


class Bounds(unittest.TestCase):
    def test_lists_in_objects(self):
        """A long command does not cost the rows of tables; what is left out is counted."""
        command = [f"/data/shard-{i:05}.bin" for i in range(1200)]
        report = {"trace": {"command": command, "files": command[:33], "hosts": command[:32]},
                  "findings": [{"id": f"finding-{i}"} for i in range(15)],
                  "overlap": {"by_rank": [{"rank": i} for i in range(40)]},
                  "processes": [{"command": command}]}
        answer = bound(clean(cut_lists(report)), 32 << 10, 20)
        self.assertEqual(answer, {
            "trace": {"command": [*command[:LIST_MAX], f"... ({1200 - LIST_MAX} more)"],
                      "files": [*command[:32], "... (1 more)"], "hosts": command[:32]},
            "findings": report["findings"],
            "overlap": {"by_rank": [*report["overlap"]["by_rank"][:32], "... (8 more)"]},
            "processes": [{"command": answer["trace"]["command"]}]})
        long = clean(cut_lists({"trace": {"command": ["\x1b" * 900] * 40}}))
        self.assertLess(size(long), 8000)
        self.assertEqual(long["trace"]["command"][-1], f"... ({41 - len(long['trace']['command'])} more)")

    def test_long_command(self):
        """The same, from the report of a program to answers of tools."""
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "faultline")
            with open(program, "w") as file:
                file.write("#!/bin/sh\nexec \"$PYTHON\" - \"$@\" <<'END'\n"
                           "import json, subprocess, sys\n"
                           f"report = json.loads(subprocess.check_output([{FAULTLINE!r}, *sys.argv[1:]]))\n"
                           "report['trace']['command'] += ['/data/shard-%05d.bin' % i for i in range(1200)]\n"
                           "print(json.dumps(report))\nEND\n")
            os.chmod(program, 0o755)
            with Session(SPANS, command=(sys.executable, "-m", "faultline.mcp"), FAULTLINE=program,
                         PYTHON=sys.executable, PYTHONPATH=os.path.join("user", "python")) as session:
                answer = session.call("report")
                self.assertEqual(len(answer["findings"]), len(report(SPANS)["findings"]))
                self.assertEqual(answer["trace"]["command"][-1], "... (1172 more)")
                (row,) = session.call("list_traces")["traces"]
                self.assertEqual(row["command"], answer["trace"]["command"])


class Lines(unittest.TestCase):
    def test_lines_and_slowest(self):
        """In a trace that has samples, and requests to devices."""
        directory = os.path.join(os.environ.get("BUILD", "build"), "tests", "unit")
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([os.path.join(directory, "export_traces"), made], check=True)
            stacks, whole = (os.path.join(made, name) for name in ("stacks.flt", "whole.flt"))
            with Session(made) as session:
                for table in ("lines", "functions"):
                    theirs = report("--table", table, stacks)[table]
                    self.assertTrue(theirs)
                    self.assertEqual(session.call("lines", traces=[stacks], by=table[:-1])[table],
                                     clean(theirs[:20]))
                theirs = report("--slowest", "3", whole)["slowest"]
                self.assertTrue(theirs)
                self.assertEqual(session.call("slowest_operations", traces=[whole], rows=3)["slowest"],
                                 theirs)


if __name__ == "__main__":
    unittest.main()
