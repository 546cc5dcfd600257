# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks reports in JSON against the JSON Schema that the program prints."""
import functools
import json
import os
import subprocess

import jsonschema

ROWS = 10  # checked of each end of a list: its rows have the same members
# Objects whose members depend on the trace: its layers, and its recorder's counters.
NAMED_BY_TRACE = ("report.trace.lost.by_layer", "report.trace.layers", "report.trace.notes")


@functools.lru_cache(maxsize=None)
def validator():
    program = os.environ.get("FAULTLINE") or os.path.join(os.environ.get("BUILD", "build"), "faultline")
    schema = json.loads(subprocess.check_output([program, "report", "--json-schema"],
                                                stdin=subprocess.DEVNULL))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def shortened(value):
    """The same with only the first and last rows of each list."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in (value if len(value) <= 2 * ROWS else value[:ROWS] + value[-ROWS:])]
    return value


def unknown_members(value, schema, path="report"):
    """Yields the members that the schema lacks: to a validator they are extensions."""
    known = schema.get("properties")
    if isinstance(value, dict) and known is not None and path not in NAMED_BY_TRACE:
        for name, member in value.items():
            if name in known:
                yield from unknown_members(member, known[name], f"{path}.{name}")
            elif not name.endswith("_hex"):
                yield f"{path}.{name}"
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            yield from unknown_members(item, schema["items"], f"{path}[]")


def check(report):
    """Raises an exception if a report, read from JSON, does not match the schema."""
    short = shortened(report)
    validator().validate(short)
    unknown = set(unknown_members(short, validator().schema))
    if unknown:
        raise AssertionError(f"not in the schema: {', '.join(sorted(unknown))}")
