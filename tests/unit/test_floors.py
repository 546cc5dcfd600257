# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Code that reads traces is layered: no file includes one of a higher layer."""
import pathlib
import re
import unittest

USER = pathlib.Path(__file__).parents[2] / "user"
# Bottom up; modules of one layer do not include each other.
FLOORS = [
    {"trace"},
    {"analysis/base"},
    {"analysis/table", "analysis/model"},
    {"analysis"},
    {"analysis/finding", "analysis/picture"},
    {"analysis/report"},
    {"output"},
    {"command"},
]
LEVELS = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
INCLUDE = re.compile(r'^#include "(?:\.\./)*([a-z_/0-9]+)/[a-z_0-9]+\.h"', re.M)


def room_of(file):
    return str(file.parent.relative_to(USER))


class Floors(unittest.TestCase):
    def test_nothing_knows_what_is_above_it(self):
        above, seen = [], 0
        for file in sorted(USER.glob("**/*.[ch]")):
            room = room_of(file)
            for included in INCLUDE.findall(file.read_text()) if room in LEVELS else ():
                if included not in LEVELS or included == room:
                    continue
                seen += 1
                if LEVELS[included] >= LEVELS[room]:
                    above.append(f"{file.relative_to(USER)} includes one of {included}")
        self.assertEqual(above, [])
        self.assertGreater(seen, 200)

    def test_every_room_has_a_floor(self):
        rooms = {room_of(file) for file in USER.glob("analysis/**/*.[ch]")}
        self.assertEqual(rooms, {room for room in LEVELS if room.startswith("analysis")})


if __name__ == "__main__":
    unittest.main()
