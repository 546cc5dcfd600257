# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares a trace with its expected content, using only what a Python user would know of the
format. Called by test_trace_python with a trace and a list of its rows.
"""
import subprocess
import sys

import msgpack
import msgpack_numpy
import numpy as np

WIDTHS = {"<u1", "<u2", "<u4", "<u8", "<i1", "<i2", "<i4", "<i8", "|u1", "|i1"}


def objects(path):
    data = subprocess.run(["zstd", "-dc", path], check=True, stdout=subprocess.PIPE).stdout
    unpacker = msgpack.Unpacker(raw=False, object_hook=msgpack_numpy.decode, max_buffer_size=len(data))
    unpacker.feed(data)
    return list(unpacker)


def rows_of(block):
    """The rows of a block as dictionaries of plain integers; the time as dts."""
    columns = {name: value for name, value in block.items() if isinstance(value, np.ndarray)}
    for name, column in columns.items():
        assert column.shape == (block["n"],), (block["block"], name, column.shape)
        assert column.dtype.str in WIDTHS, column.dtype
        span = [int(column.min()), int(column.max())]
        narrowest = np.result_type(*(np.min_scalar_type(value) for value in span))
        if span[0] >= 0:
            narrowest = np.min_scalar_type(span[1])
        assert column.dtype.itemsize <= narrowest.itemsize, (name, column.dtype, span)
    differences = columns["dts"].astype(np.uint64)
    times = np.cumsum(differences) + np.uint64(block["t0"])  # modulo 2**64
    columns["dts"] = times
    return [dict(zip(columns, map(int, values))) for values in zip(*columns.values())]


def check_meta(header, totals, index, blocks):
    assert header["format"] == "faultline" and header["version"] == 1
    assert header["command"] == ["python3", b"caf\xe9.py", "", "\u20ac"], header["command"]
    assert header["layers"]["vfs"] == {"state": "off", "attach": None, "reason": "not asked for"}
    assert [operation["name"] for operation in header["operations"]] == ["read", "openat", "fault"]
    assert header["clock"]["realtime_ns"] == 1700000000123456789
    assert totals["operations"][2]["count"] == 2**64 - 1 and totals["exit_code"] == -1
    assert totals["survivors"] == [4242, 2**32 - 1]
    assert totals["kinds"][0] == {"kind": "syscall", "layer": "syscall", "events": 12,
                                  "written": 10, "lost": 2}
    kinds = [index["kinds"][kind] for kind in index["kind"]]
    assert kinds == [block.get("of", block["block"]) for block in blocks]
    assert index["rows"].tolist() == [block["n"] for block in blocks]


def main(trace, expected):
    header, *blocks, index, totals = objects(trace)
    copies = [block for block in blocks if block["block"] == "header"]
    assert copies == [header | {"block": "header", "n": 0}]
    blocks = [block for block in blocks if block["block"] != "header"]
    check_meta(header, totals, index, blocks)
    found, strings = {}, {}
    for block in blocks:
        if block["block"] == "string":
            strings.update(zip(block["id"].tolist(), block["text"]))
            continue
        for row in rows_of(block):
            found.setdefault(block["block"], []).append(row)
    args = {2 * n + 2: b"\x81\xa1n" + bytes([n]) for n in range(4)}
    names = {1: "/a/b", 3: b"\xff\xfe", 5: "\u00e9t\u00e9", 7: "a\0b"}
    assert strings == names | args, strings
    count = 0
    with open(expected) as lines:
        for line in lines:
            kind, key, number, *values = line.split()
            if not isinstance(found[kind], dict):
                found[kind] = {row[key]: row for row in found[kind]}
            row = dict(value.split("=") for value in values)
            assert found[kind][int(number)] == {name: int(value) for name, value in row.items()}, line
            count += 1
    assert count == sum(map(len, found.values()))


main(*sys.argv[1:])
