# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The programs and functions of a BPF object: names, calls, and stack depth of each."""
import struct

STACK_UNIT = 32  # the verifier rounds a function's stack use up to this
INSTRUCTION = 8
SYMBOLS, REL, FUNCTION, EXECUTABLE = 2, 9, 2, 4
R10 = 10
CALL, MOVE, ADD, WIDE = 0x85, 0xBF, 0x07, 0x18
TO_FUNCTION = 1  # source register of a call to a BPF function, not a helper
LOADS = {1}  # instruction classes: LDX, by its source; ST and STX, by their destination
STORES = {2, 3}


class Object:
    """The functions of an ELF file of BPF programs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        at, = struct.unpack_from("<Q", self.data, 0x28)
        size, count = struct.unpack_from("<HH", self.data, 0x3A)
        # name, type, flags, address, offset, size, link, info
        self.heads = [struct.unpack_from("<IIQQQQII", self.data, at + i * size)
                      for i in range(count)]
        table = next(head for head in self.heads if head[1] == SYMBOLS)
        names = self.part(self.heads[table[6]])
        # name, info, other, section, value, size
        self.symbols = list(struct.iter_unpack("<IBBHQQ", self.part(table)))
        self.functions = {}  # (section, first instruction): (name, instructions)
        for name, info, _, section, value, length in self.symbols:
            if info & 15 == FUNCTION and self.heads[section][2] & EXECUTABLE:
                text = names[name : names.index(b"\0", name)].decode()
                self.functions[section, value // INSTRUCTION] = text, length // INSTRUCTION
        self.targets = {}  # (section, instruction): symbol of its relocation
        for head in self.heads:
            if head[1] == REL:
                for offset, info in struct.iter_unpack("<QQ", self.part(head)):
                    self.targets[head[7], offset // INSTRUCTION] = self.symbols[info >> 32]

    def part(self, head):
        return self.data[head[4] : head[4] + head[5]]

    def instructions(self, section, first):
        """code, destination, source, offset, immediate of each of a function's instructions."""
        _, count = self.functions[section, first]
        data = self.part(self.heads[section])
        at = first * INSTRUCTION
        for code, registers, offset, immediate in struct.iter_unpack(
            "<BBhi", data[at : at + count * INSTRUCTION]
        ):
            yield code, registers & 15, registers >> 4, offset, immediate

    def called(self, section, number, code, source, immediate):
        """The function that an instruction calls, or passes to a helper as a callback; None if
        it is not one of ours."""
        target = self.targets.get((section, number))
        if code == CALL and source == TO_FUNCTION:
            if not target:
                return section, number + immediate + 1
            callee = target[3], target[4] // INSTRUCTION + immediate + 1
        elif code == WIDE and target:
            callee = target[3], (target[4] + immediate) // INSTRUCTION
        else:
            return None
        return callee if callee in self.functions else None

    def function(self, section, first):
        """A function's own depth, and the functions that it calls."""
        deepest, callees = 0, set()
        frame = {R10: 0}  # registers that point into the frame, and their offsets
        for i, (code, to, source, offset, immediate) in enumerate(self.instructions(section, first)):
            kind = code & 7
            base = source if kind in LOADS else to if kind in STORES else None
            if base in frame:
                deepest = max(deepest, -(frame[base] + offset))
            callee = self.called(section, first + i, code, source, immediate)
            if callee:
                callees.add(callee)
            if code == ADD and to in frame:
                frame[to] += immediate
                deepest = max(deepest, -frame[to])
            elif code == MOVE and source in frame:
                frame[to] = frame[source]
            elif code == CALL:
                frame = {register: at for register, at in frame.items() if register > 5}
            elif kind not in STORES and kind not in (5, 6):  # all except jumps write to `to`
                frame.pop(to, None)
        return deepest, callees

    def deepest(self, function):
        """The deepest call chain from a function on: bytes, and names with their depths."""
        own, callees = self.function(*function)
        own = max(1, -(-own // STACK_UNIT)) * STACK_UNIT
        below = max((self.deepest(callee) for callee in callees), default=(0, []))
        return own + below[0], [f"{self.functions[function][0]} {own}", *below[1]]

    def section(self, number):
        names = self.part(self.heads[struct.unpack_from("<H", self.data, 0x3E)[0]])
        name = self.heads[number][0]
        return names[name : names.index(b"\0", name)].decode()

    def programs(self):
        """Entry points: all functions in sections of their own rather than in .text."""
        for section, first in self.functions:
            if self.section(section) != ".text":
                yield section, first

    def reached(self, function):
        """A function and all that it calls, directly or not."""
        found, left = set(), [function]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += self.function(*one)[1]
        return found
