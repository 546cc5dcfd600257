# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Code annotated for DFTracer 2, and what its Python library logs for it (dftracer_events.json:
{scenario: [[name, category, arguments], ...]} in log order).

usage: _dftracer_scenarios.py FILE    records with the pydftracer installed or on PYTHONPATH
Its native module, which writes the file, is replaced by a list.
"""
import json
import os
import subprocess
import sys
import textwrap

SCENARIOS = {
    "functions": """
        train = dft_fn("COMPUTE")
        @train.log
        def step(index): return index
        class Reader:
            @train.log_init
            def __init__(self, epoch, image_idx=None): self.path = epoch
            @train.log
            def read(self, image_idx, step): return image_idx
            @train.log(name="renamed")
            def other(self): pass
            @staticmethod
            @train.log_static
            def static(x): return x
        step(1); Reader(epoch=3).read(5, step=6); Reader.static(7); Reader(epoch=4).other()
    """,
    "generators and coroutines": """
        import asyncio
        dft = dft_fn("c")
        @dft.log
        def generate():
            yield 1
            yield 2
        @dft.log
        async def co(): return 3
        assert list(generate()) == [1, 2] and asyncio.run(co()) == 3
    """,
    "blocks": """
        with dft_fn(cat="block", name="step", epoch=1) as dft:
            dft.update(step=2, args={"k": "v", "f": 0.5})
        def work():
            with dft_fn("c"): pass
        work()
        try:
            with dft_fn("c", "raises"): raise KeyError
        except KeyError: pass
        with dft_fn("c", "flushed") as dft: dft.flush()
        with dft_fn("c", "reset") as dft: dft.reset()
    """,
    "without a block": """
        dft = dft_fn("c", "made")
        dft.flush(); dft.reset(); dft.flush()
        off = dft_fn("c", "off", enable=False)
        off.flush()
        with off: off.update(step=1)
    """,
    "loops": """
        for i in dft_fn("data").iter(range(3)): pass
        for i in dft_fn("data").iter(iter([1, 2]), name="n", iter_name="k"): pass
        for i in dft_fn("data").iter(iter([])): pass
        for i in dft_fn("left").iter([1, 2, 3]):
            if i == 2: break
    """,
    "ai": """
        @ai.compute.forward
        def forward(x): return x
        @ai.data.preprocess.derive(name="collate")
        def collate(x): return x
        class Checkpoint:
            @ai.checkpoint.init
            def __init__(self): pass
            @ai.checkpoint.capture
            def save(self): pass
        forward(1); ai.update(epoch=1, step=7); collate(2); Checkpoint().save()
        with ai.device.transfer(epoch=3): pass
        ai.compute.step.start(); ai.compute.step.stop()
        ai.comm.barrier.disable()
        with ai.comm.barrier: pass
        with ai.data.io.read: pass
        with ai.checkpoint.io.write: pass
        with ai.other.log: pass
        with ai.other.io.open: pass
    """,
    "ai loops": """
        for i in ai.dataloader.fetch.iter([1, 2]): pass
        for i in ai.dataloader.fetch.iter(iter([1])): pass
        for i in ai.pipeline.epoch.iter([1], include_block=False, iter_name="x"): pass
        for i in ai.pipeline.train.iter([1], include_iter=False, block_name="y"): pass
    """,
    "events": """
        log.log_event("e", "cat", log.get_time(), 10, int_args={"a": (0, 1)},
                      string_args={"s": (0, "t")})
        log.log_event(name="f", cat="IO", start_time=log.get_time(), duration=0)
    """,
}
IMPORTS = """
from dftracer.python import dftracer, dft_fn, ai
log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
"""
NATIVE = """
import json, os, sys, time, types
import dftracer
native = types.ModuleType("dftracer.dftracer")
logged = []
def log_event(name, cat, start_time, duration, int_args, float_args, string_args, **more):
    args = {key: value[1] for given in (int_args, float_args, string_args)
            for key, value in given.items()}
    logged.append([str(name), str(cat), args])
native.log_event = log_event
native.get_time = lambda: time.time_ns() // 1000
for name in ("initialize", "enter_event", "exit_event", "log_metadata_event", "finalize"):
    setattr(native, name, lambda *args, **kwargs: None)
sys.modules["dftracer.dftracer"] = dftracer.dftracer = native
sys.modules["torch"] = None  # of no use here, and an older one is refused
"""


def program(name):
    return IMPORTS + textwrap.dedent(SCENARIOS[name])


def main(path):
    found = {}
    for name in SCENARIOS:
        code = NATIVE + program(name) + "\nprint(json.dumps(logged))"
        done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE,
                              env={**os.environ, "DFTRACER_ENABLE": "1"})
        found[name] = json.loads(done.stdout)
    with open(path, "w") as file:
        rows = [f" {json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(row)}" for row in rows) +
                "\n ]" for name, rows in found.items()]
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
