# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The code is layered: no file includes one of a higher layer."""
import pathlib
import re
import unittest

USER = pathlib.Path(__file__).parents[2] / "user"
# Bottom up; modules of one layer do not include each other.
FLOORS = [
    {"trace/format"},
    {"trace/read"},
    {"trace/write"},
    {"analysis/table", "analysis/job"},
    {"analysis/events"},
    {"analysis/order"},
    {"analysis/shared"},
    {"analysis/run"},
    {"analysis/devices"},
    {"analysis/files", "analysis/phases"},
    {"analysis/processes"},
    {"analysis/totals"},
    {"analysis/finding", "analysis/picture"},
    {"analysis/report"},
    {"output/base"},
    {"output/text", "output/rows", "output/tables", "output/timeline", "output/page"},
    {"command/common"},
    {"command/recording"},
    {"command"},
]
CAPTURE_FLOORS = [
    {"capture/host"},
    {"capture/calls", "capture/names", "capture/usdt"},
    {"capture/support"},
    {"capture/drain", "capture/follow"},
    {"capture/session"},
    {"capture/markers"},
    {"capture/flight", "capture/recorder"},
    {"monitor/ledger", "monitor/http"},
    {"monitor/intake"},
    {"monitor/service"},
    {"command/common"},
    {"command/recording"},
    {"command"},
]
def levels(floors):
    return {room: level for level, rooms in enumerate(floors) for room in rooms}


LEVELS = levels(FLOORS)
CAPTURE_LEVELS = levels(CAPTURE_FLOORS)
INCLUDE = re.compile(r'^#include "(?:\.\./)*([a-z_/0-9]+)/[a-z_0-9]+\.h"', re.M)


def room_of(file):
    return str(file.parent.relative_to(USER))


class Floors(unittest.TestCase):
    def check(self, levels):
        """No file of these rooms includes one of a room on its own floor or above."""
        above, seen = [], 0
        for file in sorted(USER.glob("**/*.[ch]")):
            room = room_of(file)
            for included in INCLUDE.findall(file.read_text()) if room in levels else ():
                if included not in levels or included == room:
                    continue
                seen += 1
                if levels[included] >= levels[room]:
                    above.append(f"{file.relative_to(USER)} includes one of {included}")
        self.assertEqual(above, [])
        self.assertGreater(seen, 150)

    def test_nothing_knows_what_is_above_it(self):
        self.check(LEVELS)

    def test_nothing_that_records_knows_what_is_above_it(self):
        self.check(CAPTURE_LEVELS)

    def test_every_room_has_a_floor(self):
        rooms = {room_of(file) for file in USER.glob("analysis/**/*.[ch]")}
        self.assertEqual(rooms, {room for room in LEVELS if room.startswith("analysis")})
        rooms = {room_of(file) for file in USER.glob("capture/**/*.[ch]")}
        self.assertEqual(rooms, {room for room in CAPTURE_LEVELS if room.startswith("capture")})


if __name__ == "__main__":
    unittest.main()
