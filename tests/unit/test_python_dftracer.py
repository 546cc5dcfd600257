# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Code annotated for DFTracer, as its documentation shows it, below --python-spans dftracer."""

import unittest

from _span_listening import HOOK, listen, run, told

HOOKED = {"PYTHONPATH": HOOK, "FAULTLINE_PYTHON_SPANS": "dftracer"}
IMPORTS = """
from dftracer.{} import dftracer, dft_fn, ai
log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
"""


def events(code, module="logger"):
    lines = code.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    return listen(IMPORTS.format(module) + "\n".join(line[indent:] for line in lines), **HOOKED)[1]


def begins(listed):
    return [(event.name.decode(), event.category.decode(), event.args) for event in listed
            if event.probe == "span_begin"]


class Functions(unittest.TestCase):
    CODE = """
        dft = dft_fn("COMPUTE")
        @dft.log
        def f(index): return index
        @dft_fn("io", name="other")
        def g(epoch, *, step=None): return epoch
        class Test:
            @dft.log_init
            def __init__(self): self.step = 4
            @dft.log
            def method(self, image_idx): return image_idx
            @staticmethod
            @dft.log_static
            def static(x): return x
        assert f(1) == 1 and g(2, step=3) == 2 and Test().method(5) == 5 and Test.static(6) == 6
    """

    def test_decorators(self):
        for module in ("logger", "python"):
            self.assertEqual(begins(events(self.CODE, module)), [
                ("f", "compute", None), ("g", "io", {"epoch": 2, "step": 3}),
                ("Test.__init__", "compute", None),
                ("Test.method", "compute", {"step": 4, "image_idx": 5}),
                ("Test.static", "compute", None)])

    def test_an_exception_ends_it_and_passes(self):
        listed = events("""
            @dft_fn("c").log
            def f(): raise KeyError
            try: f()
            except KeyError: log.log_metadata_event("caught", 1)
        """)
        self.assertEqual(told(listed), "+f -f !caught")

    def test_generators_and_coroutines(self):
        listed = events("""
            import asyncio
            @dft_fn("c").log
            def g(): yield 1
            @dft_fn("c").log
            async def co(): return 2
            assert list(g()) == [1] and asyncio.run(co()) == 2
        """)
        self.assertEqual(told(listed), "+g -g +g -g +co -co")

    def test_switched_off(self):
        self.assertEqual(events("""
            dft = dft_fn("c", enable=False)
            @dft.log
            def f(): pass
            f(); dft.log_metadata("k", "v")
            with dft: list(dft.iter([1]))
        """), [])


class Blocks(unittest.TestCase):
    def test_with_and_update(self):
        listed = events("""
            with dft_fn(cat="block", name="step", epoch=1) as dft:
                dft.update(step=2, args={"k": "v"})
            with dft: pass
        """)
        self.assertEqual(told(listed), "+step !step -step +step -step")
        self.assertEqual(begins(listed), [("step", "block", {"epoch": 1}),
                                          ("step", "block", {"epoch": 1, "step": 2, "k": "v"})])
        self.assertEqual(listed[1].args, {"step": 2, "k": "v"})

    def test_named_after_its_function(self):
        listed = events("""
            def work():
                with dft_fn("c"): pass
            work()
        """)
        self.assertEqual(told(listed), "+work -work")

    def test_flush_and_reset(self):
        listed = events("""
            dft = dft_fn("c", "part")
            dft.reset(); dft.flush(); dft.reset(); dft.reset(); dft.flush(); dft.flush()
        """)
        self.assertEqual(told(listed), "+part -part +part -part +part -part")

    def test_in_threads(self):
        listed = events("""
            import threading
            dft = dft_fn("c", "part")
            barrier = threading.Barrier(2)
            def work():
                for _ in range(20):
                    barrier.wait()
                    with dft: pass
            threads = [threading.Thread(target=work) for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        self.assertEqual({event.id: event.tid for event in listed if event.probe == "span_begin"},
                         {event.id: event.tid for event in listed if event.probe == "span_end"})
        self.assertEqual(len(listed), 80)

    def test_pickled_while_open(self):
        events("""
            import copy, pickle
            with dft_fn("c", "part") as dft:
                assert pickle.loads(pickle.dumps(dft))._name == copy.deepcopy(dft)._name == "part"
        """)


class Loops(unittest.TestCase):
    def test_iter(self):
        listed = events("""
            for i in dft_fn("data").iter(range(2)): log.log_metadata_event("body", i)
            for i in dft_fn("data").iter(iter([1]), name="n", iter_name="k"): break
        """)
        self.assertEqual(told(listed), "+loop.iter -loop.iter +loop.yield !body -loop.yield "
                                       "+loop.iter -loop.iter +loop.yield !body -loop.yield "
                                       "+n.iter -n.iter +n.yield -n.yield")
        self.assertEqual([args for _, _, args in begins(listed)],
                         [{"step": 1}, {"step": 1}, {"step": 2}, {"step": 2}, {"k": 1}, {"k": 1}])


class Trees(unittest.TestCase):
    def test_ai(self):
        listed = events("""
            @ai.compute.forward
            def forward(x): return x
            @ai.data.preprocess.derive(name="collate")
            def collate(x): return x
            @ai.comm.all_reduce(step=9)
            def reduce(): pass
            class Checkpoint:
                @ai.checkpoint.init
                def __init__(self): pass
                @ai.checkpoint.capture
                def save(self): pass
            assert forward(1) == 1
            ai.update(step=7)
            assert collate(2) == 2
            reduce()
            Checkpoint().save()
            with ai.device.transfer(epoch=3): pass
            with ai.comm.barrier(enable=False): pass
            ai.compute.step.start(); ai.compute.step.stop()
            ai.pipeline.epoch.start(metadata=True)
            ai.dataloader.disable()
            for i in ai.dataloader.fetch.iter([1]): pass
            ai.dataloader.enable()
            for i in ai.dataloader.fetch.iter([1]): pass
            for i in ai.pipeline.epoch.iter([1], include_block=False, iter_name="x"): pass
        """)
        step = {"step": 7}
        self.assertEqual(begins(listed), [
            ("forward", "compute", None), ("preprocess.collate", "data", step),
            ("all_reduce", "comm", {"step": 9}), ("checkpoint.init", "checkpoint", step),
            ("capture", "checkpoint", step), ("transfer", "device", {"step": 7, "epoch": 3}),
            ("step", "compute", step), ("fetch.iter", "dataloader", {"step": 7, "count": 1}),
            ("fetch.block", "dataloader", {"step": 7, "count": 1}),
            ("x", "pipeline", {"step": 7, "count": 1})])
        self.assertEqual([event.name for event in listed if event.probe == "instant"],
                         [b"epoch.start"])

    def test_every_documented_name(self):
        run("""
            from dftracer.python import ai, compute, data, dataloader, comm, device, checkpoint
            from dftracer.python import pipeline, DFTracerAI, TagValue, TagType, TagDType
            for path in ('compute.forward compute.backward compute.step data.item data.preprocess '
                         'dataloader.fetch device.transfer comm.send comm.receive comm.barrier '
                         'comm.bcast comm.reduce comm.all_reduce comm.gather comm.all_gather '
                         'comm.scatter comm.reduce_scatter comm.all_to_all checkpoint.init '
                         'checkpoint.capture checkpoint.restart pipeline.epoch pipeline.train '
                         'pipeline.evaluate pipeline.test').split():
                category, name = path.split('.')
                assert getattr(getattr(ai, category), name).cat == category
            DFTracerAI(cat='custom', name='op', epoch=1, step=100, enable=True)
        """, **HOOKED)


class Logger(unittest.TestCase):
    def test_events_told_afterwards(self):
        listed = events("""
            assert dftracer.get_instance() is log
            log.enter_event()
            start = log.get_time()
            log.log_event("e", "cat", start, log.get_time() - start, int_args={"a": 1},
                          string_args={"name": "n"})
            log.log_event(name="e", cat="cat", start_time=1, duration=2)
            log.exit_event(); log.finalize()
        """)
        self.assertEqual(told(listed), "!e !e")
        self.assertEqual(listed[0].args["a"], 1)
        self.assertEqual(listed[1].args, {"start_time": 1, "duration": 2})

    def test_leaves_nothing_behind(self):
        done = run("""
            import os, signal
            before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT)]
            from dftracer.logger import dftracer
            dftracer.initialize_log('logs/x.pfw', '.', -1).finalize()
            assert before == [signal.getsignal(s) for s in
                              (signal.SIGINT, signal.SIGTERM, signal.SIGABRT)]
            print(os.listdir('.'))
        """, **HOOKED)
        self.assertEqual((done.stdout, done.stderr), ("['program.py']\n", ""))


if __name__ == "__main__":
    unittest.main()
