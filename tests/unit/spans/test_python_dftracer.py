# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Code annotated for DFTracer, as in its documentation, under --python-spans dftracer."""

import json
import os
import tempfile
import time
import unittest

from _dftracer_scenarios import SCENARIOS, program
from _span_listening import HOOK, listen, run, as_text

HOOKED = {"PYTHONPATH": HOOK, "FAULTLINE_PYTHON_SPANS": "dftracer"}
IMPORTS = """
from dftracer.{} import dftracer, dft_fn, ai
log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
"""


def events(code, module="logger"):
    lines = code.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    return listen(IMPORTS.format(module) + "\n".join(line[indent:] for line in lines), **HOOKED)[1]


def spans(listed):
    return [(event.name.decode(), event.category.decode(), event.args) for event in listed
            if event.probe == "span_record"]


class Recorded(unittest.TestCase):
    """Exactly the events that DFTracer 2.0.3 logs, recorded from its own Python library, in the
    same order."""

    def test_scenarios(self):
        place = os.path.join(os.path.dirname(__file__), "dftracer_events.json")
        with open(place, encoding="utf-8") as file:
            recorded = json.load(file)
        self.assertEqual(set(recorded), set(SCENARIOS))
        for name, expected in recorded.items():
            with self.subTest(name):
                told_here = spans(listen(program(name), **HOOKED)[1])
                capitals = {"COMPUTE": "compute", "IO": "io"}
                self.assertEqual([(name, cat) for name, cat, _ in told_here],
                                 [(name, capitals.get(cat, cat)) for name, cat, _ in expected])
                for (_, _, args), (_, _, theirs) in zip(told_here, expected):
                    if name == "functions":  # where arguments carry over to later calls
                        self.assertLessEqual((args or {}).items(), theirs.items())
                    else:
                        self.assertEqual(args or {}, theirs)

    def test_times(self):
        before = time.monotonic_ns()
        listed = events("""
            import time
            with dft_fn("c", "outer"):
                for i in dft_fn("c").iter([1]): time.sleep(0.01)
            start = log.get_time(); time.sleep(0.01)
            log.log_event("event", "c", start, log.get_time() - start)
            log.log_event("other clock", "c", 1, 5000)
        """)
        times = {event.name.decode(): event.times for event in listed}
        for start, end in times.values():
            self.assertTrue(before < start <= end < time.monotonic_ns())
        for name in ("outer", "loop.yield", "event"):
            self.assertGreaterEqual(times[name][1] - times[name][0], 10**7)
        self.assertEqual(times["other clock"][1] - times["other clock"][0], 5_000_000)
        self.assertTrue(times["outer"][0] <= times["loop.iter"][0] <= times["loop.iter"][1] <=
                        times["loop.yield"][0] <= times["loop.yield"][1] <= times["outer"][1])


class Library(unittest.TestCase):
    """Creates the files of LIBRARY in the directory `path`."""

    LIBRARY = {}

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.path = place.name
        for name, text in self.LIBRARY.items():
            os.makedirs(os.path.dirname(f"{self.path}/{name}"), exist_ok=True)
            with open(f"{self.path}/{name}", "w", encoding="utf-8") as file:
                file.write(text)


class Installed(Library):
    """An installed DFTracer is used as it is, and its events become spans."""

    LIBRARY = {
        "dftracer/__init__.py": "",
        "dftracer/python/__init__.py": "from .common import *",
        "dftracer/python/common.py": """
class dftracer:
    logged = []
    def log_event(self, name, cat, start_time, duration, int_args=None, string_args=None):
        self.logged.append((name, cat, start_time, duration, int_args, string_args))
        return "theirs"
"""}

    CODE = """
        import dftracer.python as library, time
        assert not hasattr(library, "ai") and library.__file__.startswith({path!r}), library
        log = library.dftracer()
        start = time.time_ns() // 1000
        assert log.log_event("e", "IO", start, 7, string_args={{"k": (0, "v")}}) == "theirs"
        assert log.log_event("f", "c", duration=1, start_time=start) == "theirs"
        assert len(log.logged) == 2 and log.logged[0] == ("e", "IO", start, 7, None,
                                                          {{"k": (0, "v")}})
    """

    def test_on_the_path(self):
        _, listed = listen(self.CODE.format(path=self.path), **{
            **HOOKED, "PYTHONPATH": HOOK + os.pathsep + self.path})
        self.assertEqual(spans(listed), [("e", "io", {"k": "v"}), ("f", "c", None)])

    def test_path_added_by_the_program(self):
        _, listed = listen(f"import sys; sys.path.append({self.path!r})\n" +
                           "\n".join(line[8:] for line in
                                     self.CODE.format(path=self.path).splitlines()), **HOOKED)
        self.assertEqual(spans(listed), [("e", "io", {"k": "v"}), ("f", "c", None)])


class WithoutNative(Library):
    """Only pydftracer, as DLIO installs it: its log is discarded, and it has no clock."""

    LIBRARY = {
        "dftracer/__init__.py": "",
        "dftracer/python/__init__.py": "from .common import *",
        "dftracer/python/common.py": """
import os
DFTRACER_ENABLE = os.environ.get("DFTRACER_ENABLE") == "1"
class dftracer:
    def __init__(self): self.logger = None
    def initialize_log(self): self.logger = object()
    def get_time(self): return 0
    def log_event(self, name, cat, start_time, duration):
        assert self.logger or not start_time
"""}
    CODE = """
        import dftracer.python as library, time
        log = library.dftracer()
        def mark(name, start): log.log_event(name, "c", start, log.get_time() - start)
        mark("before there was a log", log.get_time())
        start = log.get_time()
        log.initialize_log()
        mark("begun before", start)
        start = log.get_time()
        time.sleep(0.05)
        mark("in it", start)
    """

    def hooked(self, **more):
        return listen(self.CODE, **{**HOOKED, "PYTHONPATH": HOOK + os.pathsep + self.path, **more})

    def test_clock(self):
        done, listed = self.hooked(DFTRACER_ENABLE="1")
        self.assertEqual(done.stderr, "")
        self.assertEqual(spans(listed), [("in it", "c", None)])
        self.assertGreaterEqual(listed[0].times[1] - listed[0].times[0], 50_000_000)

    def test_switched_off(self):
        """A note says that it is off; notes do not disturb a job's output."""
        off = "DFTracer is disabled"
        self.assertEqual(self.hooked()[0].stderr, "")
        self.assertIn(off, self.hooked(FAULTLINE_PYTHON_SPANS_VERBOSE="1")[0].stderr)
        done, _ = self.hooked(DFTRACER_ENABLE="1", FAULTLINE_PYTHON_SPANS_VERBOSE="1")
        self.assertNotIn(off, done.stderr)


class Disabled(unittest.TestCase):
    def test_by_the_environment(self):
        for name in SCENARIOS:
            with self.subTest(name):
                _, listed = listen(program(name), **HOOKED, DFTRACER_ENABLE="0")
                self.assertEqual(listed, [])


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
            self.assertEqual(spans(events(self.CODE, module)), [
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
        self.assertEqual(as_text(listed), "=f !caught")

    def test_switched_off(self):
        self.assertEqual(events("""
            dft = dft_fn("c", enable=False)
            @dft.log
            def f(): pass
            f(); dft.log_metadata("k", "v")
            with dft: list(dft.iter([1]))
        """), [])


class Blocks(unittest.TestCase):
    def test_begun_again(self):
        listed = events("""
            with dft_fn(cat="block", name="step", epoch=1) as dft:
                with dft: dft.update(step=2)
            with dft: pass
        """)
        self.assertEqual(spans(listed), 3 * [("step", "block", {"epoch": 1, "step": 2})])

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
        self.assertEqual(len({event.id for event in listed}), 40)
        self.assertEqual(len({event.tid for event in listed}), 2)

    def test_pickled_while_open(self):
        events("""
            import copy, pickle
            with dft_fn("c", "part") as dft:
                assert pickle.loads(pickle.dumps(dft))._name == copy.deepcopy(dft)._name == "part"
        """)


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
        self.assertEqual(spans(listed), [
            ("forward", "compute", None), ("preprocess.collate", "data", step),
            ("all_reduce", "comm", {"step": 9}), ("checkpoint.init", "checkpoint", step),
            ("capture", "checkpoint", step), ("transfer", "device", {"epoch": 3}),
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

    def test_names_of_version_2(self):
        run("""
            import importlib
            for name in ('ai ai_common ai_init common env dynamo logger torch torch.profiler '
                         'torch.common dbg dbg.ai dbg.logger dbg.torch.profiler').split():
                importlib.import_module('dftracer.python.' + name)
            from dftracer.python import (
                CheckpointEvent, CommunicationEvent, ComputeEvent, DFTRACER_ENABLE, DataEvent,
                DataLoaderEvent, DeviceEvent, Dynamo, EntityRelation, EntityRole, EntityStore,
                INIT_NAME, IOEvent, ITER_COUNT_NAME, PipelineEvent, ProfileCategory, ai,
                create_backend, dft_fn, dftracer, dynamo, get_iter_block_name,
                get_iter_handle_name)
            from dftracer.python.ai_common import AI, BLOCK_NAME, Communication, Compute, IO
            from dftracer.python.common import TagDType, TagType, TagValue, get_default_args
            from dftracer.python.torch.profiler import trace_handler
            assert f'{ProfileCategory.COMPUTE}' == ProfileCategory.COMPUTE == 'compute'
            assert [str(event) for event in IOEvent] == ['open', 'read', 'write', 'close']
            assert get_iter_handle_name('a') == 'a.iter'
            assert get_iter_block_name('a.block') == 'a.block'
            assert TagValue('3', TagDType.INT).value() == (0, 3)
            assert ai.compute is not AI().compute and ai.data.io.open.name == 'data.io.open'
            log = dftracer.get_instance()
            log.declare_entity_type('shard', EntityRole.INPUT, 'a shard')
            assert log.declare_entity('shard', 7, EntityStore.PARALLEL_FS, '/data/7') == 0
            log.relate_entities(EntityRelation.CONTAINS, 1, 2)
            with dft_fn('APP', name='f') as f:
                assert f.uses('shard', 7) == f.generates('shard', 8) == 0
                f.relate_entity(EntityRelation.INVALIDATED, 'shard', 7)
                f.relate(EntityRelation.USED, 3)
            @dynamo.compile
            def one(): return 1
            @dynamo.compile(autograd=False)
            def two(): return 2
            assert one() == 1 and two() == 2 and dynamo.count_parameters(3) is None
            class Graph: forward = one
            assert create_backend(name='m')(Graph, [])() == 1
            trace_handler(None)
        """, **HOOKED)


class Logger(unittest.TestCase):
    def test_metadata(self):
        listed = events("""
            assert dftracer.get_instance() is log
            log.enter_event(); log.exit_event()
            log.log_metadata_event("key", "value"); dft_fn("c").log_metadata("k", "v")
            ai.pipeline.epoch.start(metadata=True); ai.pipeline.epoch.stop(metadata=True)
            log.finalize()
        """)
        self.assertEqual(as_text(listed), "!key !k !epoch.start !epoch.end")
        self.assertEqual(listed[0].args, {"value": "value"})

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
