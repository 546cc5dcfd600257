# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs one SELECT of untrusted SQL on a database, in a process of its own, whose time, memory and
output the server limits.

    python3 -I query.py DATABASE ROWS <QUERY

Prints {"columns": [...], "rows": [[...], ...]}, or a line on stderr and exits with status 1.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import sqlite3
import sys
from typing import Any

CELL_MAX = 4096  # characters
ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION,
           sqlite3.SQLITE_RECURSIVE)


def authorize(action: int, _: Any, detail: Any, *more: Any) -> int:
    if action in ALLOWED and detail != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def cell(value: Any) -> Any:
    if isinstance(value, bytes):
        value = value[:CELL_MAX // 2].hex()
    return value[:CELL_MAX] if isinstance(value, str) else value


def main(path: str, rows_max: int) -> None:
    query = sys.stdin.buffer.read().decode()
    database = sqlite3.connect(f"{pathlib.Path(path).as_uri()}?mode=ro&immutable=1", uri=True)
    # CAST makes any text, also what is not UTF-8.
    database.text_factory = lambda text: text.decode(errors="backslashreplace")
    database.execute("PRAGMA temp_store = MEMORY")  # no temporary files
    database.set_authorizer(authorize)
    cursor = database.execute(query)
    if cursor.description is None:
        raise sqlite3.Error("no SELECT statement was given")
    # Row by row, so that the limit on output ends it early.
    print(f'{{"columns": {json.dumps([column[0] for column in cursor.description])}, "rows": [')
    for number, row in enumerate(itertools.islice(cursor, rows_max)):
        print("," * (number > 0) + json.dumps([cell(value) for value in row]))
    print("]}")


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except MemoryError:
        sys.exit("the query needs too much memory: select fewer or shorter values")
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        denied = re.search("not authorized|prohibited|authorization denied", str(error))
        sys.exit(f"{error}{': only SELECT on these tables is allowed' if denied else ''}")
