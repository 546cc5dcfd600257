# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for stacks of Python: which lines read, slept and computed."""
import collections

from job import check, equal

SCRIPT = """import os, time
descriptor = os.open("/mnt/data", os.O_RDONLY)
buffer = [bytearray(8 << 20)]
def read(offset):
    os.preadv(descriptor, buffer, offset)
def deep(depth, offset):
    if depth:
        return deep(depth - 1, offset)
    read(offset)
class Data:
    def __getitem__(self, index):
        read(index)
        return index
def sleep():
    time.sleep(0.05)
def compute():
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        pass
read(0)
deep(30, 4096)
[Data()[8192] for _ in range(2)]
if not os.fork():
    read(12288)
    os._exit(0)
os.wait()
sleep()
compute()
"""
STACKS = f"""need python3; fresh /mnt/data 9; cat >script.py <<'END'
{SCRIPT}END
$RUN -- python3 -S -E -B script.py"""
NATIVE = STACKS.replace("$RUN", "$RUN --stacks native")
# {offset: the lines of the reading stacks, innermost first}
READS = {
    0: [5, 20],
    4096: [5, 9] + [8] * 30 + [21],
    8192: [5, 12, 22, 22],
    12288: [5, 24],
}


def judge_stacks(results):
    rows = collections.defaultdict(list)
    for row in results.printed("stack"):
        rows[row["kind"]].append(row)
    frames = {row["id"]: row for row in rows["frame"]}
    stacks = {row["id"]: row for row in rows["stack"]}
    states = collections.Counter()

    def chain(number):
        while number:
            frame = frames[stacks[number]["frame"]]
            yield frame
            number = stacks[number]["caller"]

    read = set()
    for sample in rows["sample"]:
        lines = [frame["line"] for frame in chain(sample["stack"])
                 if frame["source"].endswith("script.py")]
        if (sample["state"] == "io" and sample["op"] in ("preadv", "preadv2") and
                sample["dur_ns"] >= 1000000):
            equal(lines, READS[sample["offset"]], f"lines that read at {sample['offset']}")
            read.add(sample["offset"])
        elif lines:
            states[sample["state"], lines[0]] += sample["weight"]
    equal(read, set(READS), "offsets of reads with samples")
    check(states["sleep", 15] >= 25000000, f"time by state and line: {states}")
    computed = sum(states["cpu", line] for line in (17, 18, 19))
    check(computed, f"time by state and line: {states}")
    return f"{len(read)} stacks as they were, {states['sleep', 15]} ns asleep"


def judge_native(results):
    """The same lines of Python, and inside of them the function that read."""
    output = judge_stacks(results)
    functions = {row["function"] for row in results.printed("stack")
                 if row["kind"] == "frame" and "/libc.so" in row["source"]}
    check(any(name.startswith("preadv") for name in functions), f"functions of libc: {functions}")
    notes = results.report()["trace"]["notes"]
    whole = notes["native_stacks_whole"]
    check(whole, f"notes: {notes}")
    return f"{output}; {whole} native stacks complete"
