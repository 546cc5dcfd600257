#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reports and events of the traces in tests/golden contain the values in the JSON files there.

The files pin names and numbers, not everything: a new column or table, or another wording, changes
none of them. A list is pinned whole, or, as an object, by the numbers of some of its rows and the
number of all ("rows"). test_json_schema.py checks the structure, test_output_golden.c texts.
UPDATE=1 takes over changed values, and new rows; read the difference before you commit it.
"""
import json
import os
import subprocess
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FAULTLINE = os.environ.get("FAULTLINE", os.path.join(TOP, "build/faultline"))
PROSE = ("text", "title", "says", "advice", "hint", "remedy", "more", "reason")


def printed(*arguments):
    """The program's lines of JSON about a trace."""
    done = subprocess.run([FAULTLINE, *arguments], cwd=os.path.join(TOP, "tests/golden"), check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout


def differences(pinned, found, path):
    """Yields the places where `found` differs from the pinned values."""
    if isinstance(pinned, dict) and isinstance(found, list):
        found = {"rows": len(found), **{str(i): row for i, row in enumerate(found)}}
    if isinstance(pinned, dict) and isinstance(found, dict):
        for name, value in pinned.items():
            if name in found:
                yield from differences(value, found[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is missing"
    elif isinstance(pinned, list) and isinstance(found, list) and len(pinned) == len(found):
        for number, (one, other) in enumerate(zip(pinned, found)):
            yield from differences(one, other, f"{path}[{number}]")
    elif json.dumps(pinned) != json.dumps(found):
        yield f"{path} is {json.dumps(found)}, expected {json.dumps(pinned)}"


def updated(pinned, found):
    """The same members with the values found; all names and numbers of new rows."""
    if isinstance(pinned, dict) and isinstance(found, list):
        found = {"rows": len(found), **{str(i): row for i, row in enumerate(found)}}
    if isinstance(pinned, dict) and isinstance(found, dict):
        return {name: updated(value, found[name]) for name, value in pinned.items() if name in found}
    if isinstance(pinned, list) and isinstance(found, list):
        return [updated(pinned[i], row) if i < len(pinned) else without_prose(row)
                for i, row in enumerate(found)]
    return found


def without_prose(value):
    if isinstance(value, dict):
        return {k: without_prose(v) for k, v in value.items() if k not in PROSE and v is not None}
    return value


def layout(value):
    """JSON with one line for each row."""
    def members(items):
        return ",\n".join(items)
    if isinstance(value, list):
        return "[\n" + members(json.dumps(row) for row in value) + "\n]\n"
    tables = []
    for name, table in value.items():
        if isinstance(table, list) and table and isinstance(table[0], dict):
            rows = members(f"  {json.dumps(row)}" for row in table)
            tables.append(f" {json.dumps(name)}: [\n{rows}\n ]")
        else:
            tables.append(f" {json.dumps(name)}: {json.dumps(table)}")
    return "{\n" + members(tables) + "\n}\n"


class Golden(unittest.TestCase):
    def check(self, name, found):
        path = os.path.join(TOP, "tests/golden", name)
        with open(path, encoding="utf-8") as file:
            pinned = json.load(file)
        if os.environ.get("UPDATE"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(layout(updated(pinned, found)))
            return
        wrong = list(differences(pinned, found, name))
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_report(self):
        self.check("report.json", json.loads(printed("report", "--format", "json", "sample.flt")))

    def test_report_with_spans(self):
        """Only the tables that differ from those without spans."""
        self.check("spans.json", json.loads(printed("report", "--format", "json", "spans.flt")))

    def test_events(self):
        lines = printed("print", "--format", "json", "sample.flt").splitlines()
        self.check("print.json", [json.loads(line) for line in lines])

    def test_differences(self):
        """Changed, missing and added values, rows and members."""
        pinned = {"a": [{"n": 1}, {"n": 0}], "b": {"rows": 2, "1": {"n": 3}}}
        right = {"a": [{"n": 1, "new": 4}, {"n": 0}], "b": [{"n": 2}, {"n": 3}], "c": []}
        self.assertEqual(list(differences(pinned, right, "r")), [])
        for wrong in ({**right, "a": [{"n": 1}, {"n": None}]}, {**right, "a": right["a"][:1]},
                      {**right, "a": [{"n": 1}, {}]}, {**right, "b": [{"n": 2}, {"n": 4}]},
                      {**right, "b": [{"n": 2}, {"n": 3}, {}]}, {"a": right["a"]},
                      {**right, "a": [{"n": True}, {"n": 0}]}):
            self.assertNotEqual(list(differences(pinned, wrong, "r")), [], wrong)
        self.assertEqual(updated(pinned, right), pinned)


if __name__ == "__main__":
    unittest.main()
