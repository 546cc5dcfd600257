# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The code is layered: no file includes one of a higher layer, files form no cycles, and no folder
has too many files."""
import collections
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).parents[3]
USER = TOP / "user"
MOST_FILES = 25  # of a folder; a subfolder with a subject of its own keeps it below
# Folders with more, and how many. Only ever shorten this list, or lower its numbers.
CROWDED = {
    "tests/vm": 28,
}
# Bottom up; modules of one layer do not include each other.
FLOORS = [
    {"base", "span", "python/src"},
    {"collections"},
    {"trace/format"},
    {"trace/read"},
    {"trace/write"},
    {"analysis/table", "analysis/job"},
    {"analysis/events"},
    {"analysis/order"},
    {"analysis/shared"},
    {"analysis/run"},
    {"analysis/devices"},
    {"analysis/files", "analysis/phases", "analysis/readahead"},
    {"analysis/processes"},
    {"analysis/stacks", "analysis/critical_path"},
    {"analysis/totals"},
    {"analysis/finding", "analysis/picture"},
    {"analysis/rules/files", "analysis/rules/devices", "analysis/rules/ranks",
     "analysis/rules/threads", "analysis/rules/run"},
    {"analysis/report"},
    {"output/base"},
    {"output/text", "output/rows", "output/tables", "output/timeline", "output/page",
     "output/stacks"},
    {"command/common"},
    {"command/recording"},
    {"command"},
]
CAPTURE_FLOORS = [
    {"base", "span"},
    {"collections"},
    {"trace/format"},
    {"trace/read"},
    {"trace/write"},
    {"capture/host"},
    {"capture/calls", "capture/names", "capture/usdt"},
    {"capture/support", "capture/python", "capture/native"},
    {"capture/drain", "capture/follow"},
    {"capture/session"},
    {"capture/markers"},
    {"capture/flight", "capture/recorder"},
    {"monitor/ledger", "monitor/http"},
    {"monitor/intake"},
    {"monitor/service"},
    {"command/common", "top"},
    {"command/recording"},
    {"command"},
]
# Recording and reading share only the trace's format.
APART = ("analysis/", "output/"), "capture/"


def levels(floors):
    return {room: level for level, rooms in enumerate(floors) for room in rooms}


LEVELS = levels(FLOORS)
CAPTURE_LEVELS = levels(CAPTURE_FLOORS)
INCLUDE = re.compile(r'^#include "(?:\.\./)*([a-z_/0-9]+)/[a-z_0-9]+\.h"', re.M)
NOT_A_USE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\b(?:struct|enum) \w+|(?:\.|->)\w+', re.S)
# A definition that other files see; the return type is on the same line or above.
DEFINED = re.compile(r"^(?!static|typedef|struct \w+$|enum \w+$)[a-z][^\n;=(]*?\b(\w+)"
                     r"(?:\([^;{}]*\)\n\{|(?:\[[^\]\n]*\])* = )", re.M)


def room_of(file):
    return str(file.parent.relative_to(USER))


def sources():
    return sorted(USER.glob("**/*.[ch]"))


def needs(room):
    """For each file of a room: the other files there that define what it uses."""
    code = {file.stem: file.read_text() for file in room.glob("*.c")}
    owner = {name: stem for stem, text in code.items() for name in DEFINED.findall(text)}
    words = {stem: set(re.findall(r"\w+", NOT_A_USE.sub(" ", text))) for stem, text in code.items()}
    return {stem: {owner[word] for word in words[stem] & owner.keys()} - {stem} for stem in code}


def entangled(graph):
    """The nodes left after repeatedly removing those that need nothing, or that nothing needs."""
    graph = {node: set(targets) for node, targets in graph.items()}
    while True:
        needed = set().union(*graph.values()) if graph else set()
        ends = {node for node, targets in graph.items() if not targets or node not in needed}
        if not ends:
            return sorted(graph)
        graph = {node: targets - ends for node, targets in graph.items() if node not in ends}


class Floors(unittest.TestCase):
    def check(self, levels):
        """No file of these rooms includes one of a room on its own floor or above."""
        above, seen = [], 0
        for file in sources():
            room = room_of(file)
            for included in INCLUDE.findall(file.read_text()) if room in levels else ():
                if included not in levels or included == room:
                    continue
                seen += 1
                if levels[included] >= levels[room]:
                    above.append(f"{file.relative_to(USER)} includes one of {included}")
        self.assertEqual(above, [])
        self.assertGreater(seen, 150)

    def test_includes_point_downward(self):
        self.check(LEVELS)

    def test_capture_includes_point_downward(self):
        self.check(CAPTURE_LEVELS)

    def test_recording_and_reading_are_apart(self):
        readers, recorders = APART
        for file in sources():
            room = room_of(file) + "/"
            unwanted = recorders if room.startswith(readers) else readers
            if room.startswith(readers) or room.startswith(recorders):
                wrong = [i for i in INCLUDE.findall(file.read_text()) if i.startswith(unwanted)]
                self.assertEqual(wrong, [], file)

    def test_every_room_has_a_floor(self):
        rooms = {room_of(file) for file in sources()}
        self.assertEqual(rooms, set(LEVELS) | set(CAPTURE_LEVELS))

    def test_folders_are_small(self):
        done = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True)
        if done.returncode:
            self.skipTest("not in a git repository")
        counts = collections.Counter(
            str(pathlib.PurePath(path).parent) for path in done.stdout.split("\0") if path)
        self.assertIn("user/base", counts)
        larger = {folder: count for folder, count in counts.items()
                  if count > CROWDED.get(folder, MOST_FILES)}
        self.assertEqual(larger, {}, "split these by subject")
        smaller = {folder: counts[folder] for folder, most in CROWDED.items()
                   if counts[folder] < most}
        self.assertEqual(smaller, {}, "update CROWDED: numbers, or rows of at most 25 files")

    def test_no_files_of_a_room_need_each_other(self):
        tangles = {str(room.relative_to(USER)): entangled(needs(room))
                   for room in {file.parent for file in sources()}}
        self.assertEqual({room: files for room, files in tangles.items() if files}, {})


if __name__ == "__main__":
    unittest.main()
