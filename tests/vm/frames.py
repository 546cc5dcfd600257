#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stack depth of the BPF object: for each call chain, the sum that the kernel computes before it
accepts a program, and rejects above 512 bytes. Since 6.13, kernels give each function of some
programs a stack of its own, and so do not show what older ones reject.

usage: tests/vm/frames.py OBJECT      the deepest chain of each program, deepest first
"""
import collections
import struct
import sys

STACK_BYTES = 512  # for all frames of a chain
FRAMES = 8
ROUND_BYTES = 32
FRAME_POINTER = 10
LOAD, STORES, MOVE, ADD, CALL, LOAD_ADDRESS = 1, (2, 3), 0xBF, 0x07, 0x85, 0x18
TO_FUNCTION = 1  # source register of such a call
SYMTAB, REL, FUNC, SECTION, CODE = 2, 9, 2, 3, 4

Function = collections.namedtuple("Function", "name depth calls is_program")


class Elf:
    """Sections, symbols and relocations of a 64-bit object."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        at = struct.unpack_from("<Q", self.data, 0x28)[0]
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        self.heads = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size)
                      for i in range(count)]
        self.contents = [self.data[head[4] : head[4] + head[5]] for head in self.heads]
        self.names = [self.text(names, head[0]) for head in self.heads]
        table = next(i for i, head in enumerate(self.heads) if head[1] == SYMTAB)
        self.symbols = [
            (self.text(self.heads[table][6], name), kind & 15, section, value, length)
            for name, kind, _, section, value, length in struct.iter_unpack(
                "<IBBHQQ", self.contents[table])
        ]
        self.relocations = {
            (head[7], offset): self.symbols[info >> 32]
            for head, content in zip(self.heads, self.contents) if head[1] == REL
            for offset, info in struct.iter_unpack("<QQ", content)
        }

    def text(self, section, offset):
        start = self.heads[section][4] + offset
        return self.data[start : self.data.index(b"\0", start)].decode()


def callee(elf, section, at):
    """Section and offset of the function that the instruction calls, or passes to the kernel as
    a callback; None otherwise."""
    code, registers, _, number = struct.unpack_from("<BBhi", elf.contents[section], at)
    symbol = elf.relocations.get((section, at))
    if code == CALL and registers >> 4 == TO_FUNCTION:
        if not symbol:
            return section, at + 8 + number * 8
        number = (number + 1) * 8
    elif code != LOAD_ADDRESS or not symbol or not elf.heads[symbol[2]][2] & CODE:
        return None
    _, kind, there, value, _ = symbol
    return there, number if kind == SECTION else value


def read_function(elf, symbol):
    """A single pass: the lowest address below the frame pointer, and the functions called."""
    name, _, section, start, length = symbol
    code = elf.contents[section]
    lowest, calls, places, at = 0, set(), {}, start
    while at < start + length:
        op, registers, offset, number = struct.unpack_from("<BBhi", code, at)
        target, source = registers & 15, registers >> 4
        places[FRAME_POINTER] = 0
        base = {LOAD: source}.get(op & 7, target if op & 7 in STORES else None)
        if base == FRAME_POINTER:
            lowest = min(lowest, offset)
        calls.add(callee(elf, section, at))
        # A stack address is computed by a move and an addition; the object begins there.
        if op == MOVE and source in places:
            places[target] = places[source]
        elif op == ADD and target in places:
            places[target] += number
            lowest = min(lowest, places[target])
        elif op & 7 in (LOAD, 4, 7):
            places.pop(target, None)
        elif op == CALL:
            places = {register: there for register, there in places.items() if register > 5}
        at += 16 if op == LOAD_ADDRESS else 8
    is_program = elf.names[section] != ".text"
    return (section, start), Function(name, -lowest, calls - {None}, is_program)


def functions(path):
    elf = Elf(path)
    return dict(read_function(elf, symbol) for symbol in elf.symbols
                if symbol[1] == FUNC and symbol[4])


def deepest(all_of_them, at, known):
    """(bytes, [names]) of the deepest chain from there, the longest of several."""
    if at not in known:
        one = all_of_them[at]
        own = max(-(-one.depth // ROUND_BYTES), 1) * ROUND_BYTES
        below = [deepest(all_of_them, there, known) for there in sorted(one.calls)]
        most, chain = max(below, key=lambda found: (found[0], len(found[1])), default=(0, []))
        known[at] = own + most, [f"{one.name} {own}", *chain]
    return known[at]


def most_frames(all_of_them, at):
    return 1 + max((most_frames(all_of_them, there) for there in all_of_them[at].calls), default=0)


def programs(path):
    """{name of a program: (bytes of its deepest chain, [each function and its bytes], frames)}"""
    found, known = functions(path), {}
    return {one.name: (*deepest(found, at, known), most_frames(found, at))
            for at, one in found.items() if one.is_program}


def main(path):
    for name, (size, chain, frames) in sorted(programs(path).items(), key=lambda one: -one[1][0]):
        print(f"{size:4} {frames} {name}: {', '.join(chain)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
