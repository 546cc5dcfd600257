#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Damages one column of one block of a trace at a time, and has every reader read the result: the
fuzzer's program, which is built with sanitizers, and each command of faultline that reads traces.

usage: damage_columns.py --reader FUZZ_READER [OPTION...] TRACE...
    --faultline FILE   have the commands of this program read them, too
    --block TEXT       damage only blocks whose kind contains TEXT
    --every N          try only every Nth way to damage them

The fuzzer's program takes many traces at once; only if it fails does each get a process.

A fuzzer does not find such damage: a block is compressed, has a checksum, and must match the index,
so everything except the one column is unchanged. Exit status 1 names the damage and the command.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

import msgpack
import numpy
import zstandard

SKIPPABLE = 0x184D2A50
TAIL = struct.Struct("<IIQQQQ")
OPTIONS = {"raw": False, "unicode_errors": "surrogateescape", "strict_map_key": False}
TOGETHER = 50


def without(column):
    return None


def shorter(column):
    return {**column, b"data": column[b"data"][:-1]}


def fewer(column):
    return {**column, b"shape": [column[b"shape"][0] - 1]}


def of_another_type(column):
    return {**column, b"type": "<f8"}


def all_ones(column):
    return {**column, b"data": b"\xff" * len(column[b"data"])}


def all_zeroes(column):
    return {**column, b"data": bytes(len(column[b"data"]))}


DAMAGES = (without, shorter, fewer, of_another_type, all_ones, all_zeroes)


def is_column(value):
    return isinstance(value, dict) and b"nd" in value


def frames_of(data):
    """The content of each frame of a trace, without its tail."""
    frames = []
    while data:
        if struct.unpack_from("<I", data)[0] == SKIPPABLE:
            data = data[8 + struct.unpack_from("<I", data, 4)[0]:]
            continue
        frame = zstandard.ZstdDecompressor().decompressobj()
        frames.append(msgpack.unpackb(frame.decompress(data), **OPTIONS))
        data = frame.unused_data
    return frames


def numbers(column):
    return numpy.frombuffer(column[b"data"], column[b"type"])


def indexed(block, moved):
    """An index with the new offsets of its blocks."""
    places = [moved.get(int(offset), offset) for offset in numbers(block["offset"])]
    data = numpy.array(places, "<u8").tobytes()
    return {**block, "offset": {**block["offset"], b"type": "<u8", b"data": data}}


def written(frames, places, damaged=None, block=None):
    """A trace of these frames, one of them replaced; `places` are their original offsets, as in
    the indexes."""
    out, moved, last = b"", {}, {}
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
    for number, frame in enumerate(frames):
        if frame.get("block") == "index":
            frame = indexed(frame, moved)
        if number == damaged:
            frame = block
        moved[places[number]] = len(out)
        last[frame.get("block")] = len(out)
        out += compressor.compress(
            msgpack.packb(frame, use_bin_type=True, unicode_errors="surrogateescape")
        )
    # The fuzzer's program makes a page for files of such a length.
    padding = -(len(out) + 8 + TAIL.size) % 16
    out += struct.pack("<II", SKIPPABLE, padding) + bytes(padding)
    size = len(out) + TAIL.size
    return out + TAIL.pack(SKIPPABLE, TAIL.size - 8, 0x0A444E45544C460A, last.get("index", 0),
                           last.get("totals", 0), size)


def places_of(data):
    """Offsets of a trace's frames."""
    places, at = [], 0
    while at < len(data):
        if struct.unpack_from("<I", data, at)[0] == SKIPPABLE:
            at += 8 + struct.unpack_from("<I", data, at + 4)[0]
            continue
        frame = zstandard.ZstdDecompressor().decompressobj()
        frame.decompress(data[at:])
        places.append(at)
        at = len(data) - len(frame.unused_data)
    return places


def damaged_traces(data, kind):
    """(name, trace) for each way to damage one column of one block whose kind contains `kind`."""
    frames, places = frames_of(data), places_of(data)
    for number, frame in enumerate(frames):
        if kind not in str(frame.get("block")):
            continue
        for name, value in frame.items():
            if not is_column(value) or not value[b"data"]:
                continue
            for damage in DAMAGES:
                changed = damage(value)
                block = {k: v for k, v in frame.items() if k != name}
                if changed:
                    block[name] = changed
                what = f"{number}-{frame.get('block')}-{name}-{damage.__name__}"
                yield what, written(frames, places, number, block)


def formats(faultline):
    """The formats of `faultline export`."""
    done = subprocess.run([faultline, "export", "--to", "?", "-"], stderr=subprocess.PIPE, text=True)
    return done.stderr.split("formats are ")[1].strip().split(", ")


def commands(trace, whole, scratch, exports):
    yield ["report", trace]
    yield ["report", "--format", "json", trace]
    yield ["report", "--html", f"{scratch}/page.html", trace]
    yield ["report", trace, whole]
    yield ["report", whole, trace]
    yield ["report", "--against", trace, whole]
    yield ["report", "--against", whole, trace]
    yield ["report", "--spans", trace, whole]
    yield ["report", "--line", "*:?", "--by", "function", trace]
    yield ["print", trace]
    yield ["print", "--format", "json", trace]
    yield ["summarize", "--force", "-o", f"{scratch}/summary.flt", trace]
    for kind in exports:
        yield ["export", "--force", "--to", kind, "-o", f"{scratch}/export-{kind}", trace]


def read_together(paths, options):
    """Whether the fuzzer's program reads all of these."""
    return subprocess.run([options.reader, *paths], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=600).returncode == 0


def check(path, whole, options, scratch, was_read):
    """What crashed on a trace, as text, or None."""
    tried = [] if was_read else [[options.reader, path]]
    if options.faultline:
        tried += [[options.faultline, *words] for words in commands(path, whole, scratch, options.exports)]
    for command in tried:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=120)
        fuzzer = command[0] == options.reader
        if done.returncode not in ((0,) if fuzzer else (0, 1, 2)):
            output = done.stderr.decode(errors="replace")[-3000:]
            return f"{' '.join(command[1:])}: status {done.returncode}\n{output}"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--faultline")
    parser.add_argument("--block", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    options.exports = formats(options.faultline) if options.faultline else []
    tried = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for whole in options.traces:
            with open(whole, "rb") as file:
                data = file.read()
            damaged = list(damaged_traces(data, options.block))[::options.every]
            for first in range(0, len(damaged), TOGETHER):
                group = damaged[first:first + TOGETHER]
                paths = [os.path.join(scratch, f"damaged-{n}.flt") for n in range(len(group))]
                for path, (_, trace) in zip(paths, group):
                    with open(path, "wb") as file:
                        file.write(trace)
                was_read = read_together(paths, options)
                for path, (name, _) in zip(paths, group):
                    trouble = check(path, whole, options, scratch, was_read)
                    tried, failed = tried + 1, failed + bool(trouble)
                    if trouble:
                        print(f"{os.path.basename(whole)}: {name}: {trouble}", flush=True)
    print(f"{tried} damaged traces, {failed} of them break something")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
