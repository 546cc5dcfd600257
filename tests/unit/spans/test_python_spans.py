# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Each guarantee of faultline.span and related functions, checked by the probes that a program
fires."""

import unittest

from _span_listening import events, listen, run, as_text


class Blocks(unittest.TestCase):
    def test_name_category_arguments(self):
        begin, end = events("with span('step', category='compute', step=3): pass")
        self.assertEqual((begin.probe, begin.name, begin.category, begin.args),
                         ("span_begin", b"step", b"compute", {"step": 3}))
        self.assertEqual((end.probe, end.id), ("span_end", begin.id))
        self.assertNotEqual(begin.id, 0)
        self.assertLess(begin.id, 1 << 53)

    def test_without_arguments(self):
        begin = events("with span('step'): pass")[0]
        self.assertEqual((begin.category, begin.args, begin.args_len), (b"", None, 0))

    def test_by_keyword_and_by_position(self):
        listed = events("""
            with span(name='a', category='x', k=1): pass
            with span('a', 'x', k=1): pass
        """)
        self.assertEqual([(e.name, e.category, e.args) for e in listed[::2]],
                         [(b"a", b"x", {"k": 1})] * 2)

    def test_nested(self):
        listed = events("""
            with span('a'):
                with span('b'): pass
                with span('c'): pass
        """)
        self.assertEqual(as_text(listed), "+a +b -b +c -c -a")
        self.assertEqual(len({event.id for event in listed}), 3)

    def test_an_exception_ends_it_and_passes(self):
        listed = events("""
            try:
                with span('a'): raise KeyError('k')
            except KeyError as error:
                assert error.args == ('k',)
                instant('caught')
            else:
                raise SystemExit(9)
        """)
        self.assertEqual(as_text(listed), "+a -a !caught")

    def test_one_object_again_and_in_itself(self):
        listed = events("""
            s = span('s')
            with s: pass
            with s:
                with s: instant('deep')
        """)
        self.assertEqual(as_text(listed), "+s -s +s +s !deep -s -s")
        outer, inner = listed[2], listed[3]
        self.assertEqual([listed[5].id, listed[6].id], [inner.id, outer.id])

    def test_the_object_says_what_it_is(self):
        done = run("""
            from faultline import span, Span
            s = span('n', 'c', k=1)
            print(repr(s), s.name, s.category, isinstance(s, Span), span('n').category == '')
            with s as same: assert same is s
            assert s.begin() is s and s.end() is None
        """)
        self.assertEqual(done.stdout, "span('n', category='c') n c True True\n")


class Callbacks(unittest.TestCase):
    def test_begin_and_end(self):
        self.assertEqual(as_text(events("s = span('s').begin(); instant('in'); s.end()")), "+s !in -s")

    def test_ended_twice_or_never_begun(self):
        listed = events("s = span('s'); s.end(); s.begin(); s.end(); s.end()")
        self.assertEqual(as_text(listed), "+s -s")

    def test_never_ended(self):
        self.assertEqual(as_text(events("span('s').begin()")), "+s")

    def test_ended_on_another_thread(self):
        begin, end = events("""
            import threading
            s = span('s').begin()
            thread = threading.Thread(target=s.end)
            thread.start(); thread.join()
        """)
        self.assertEqual(begin.id, end.id)
        self.assertNotEqual(begin.tid, end.tid)

    def test_begun_without_bound(self):
        listed = events("""
            s = span('s')
            for i in range(5000): s.begin()
            for i in range(5000): s.end()
        """)
        begins = [event.id for event in listed if event.probe == "span_begin"]
        ends = [event.id for event in listed if event.probe == "span_end"]
        self.assertEqual(len(begins), 1024)
        self.assertEqual(ends, begins[::-1])


class Threads(unittest.TestCase):
    def test_each_thread_ends_its_own(self):
        listed = events("""
            import threading
            shared = span('shared')
            barrier = threading.Barrier(4)
            def work():
                for _ in range(50):
                    barrier.wait()
                    with shared, span('own'): pass
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        begins = {event.id: event.tid for event in listed if event.probe == "span_begin"}
        ends = {event.id: event.tid for event in listed if event.probe == "span_end"}
        self.assertEqual(len(begins), 400)
        self.assertEqual(begins, ends)
        self.assertEqual(len(set(begins.values())), 4)

    def test_fork(self):
        listed = events("""
            import os
            with span('parent'):
                for i in range(2):
                    pid = os.fork()
                    if pid == 0:
                        with span('child', number=i): instant('there')
                        os._exit(0)
                    os.waitpid(pid, 0)
        """)
        by_process = {}
        for event in listed:
            by_process.setdefault(event.pid, []).append(event)
        self.assertEqual(sorted(as_text(each) for each in by_process.values()),
                         ["+child !there -child"] * 2 + ["+parent -parent"])

    def test_a_span_open_at_fork_ends_in_both(self):
        listed = events("""
            import os
            with span('both'):
                pid = os.fork()
            if pid: os.waitpid(pid, 0)
        """)
        self.assertEqual(len(listed), 3)
        self.assertEqual(len({event.id for event in listed}), 1)
        self.assertEqual(len({event.pid for event in listed[1:]}), 2)

    def test_workers_of_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                listed = events("""
                    import multiprocessing, sys
                    def work(i):
                        with span('item', i=i): return i
                    if __name__ == '__main__':
                        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                            assert pool.map(work, range(4), chunksize=1) == [0, 1, 2, 3]
                            pool.close(); pool.join()
                """, arguments=[method])
                begins = [event for event in listed if event.probe == "span_begin"]
                self.assertEqual(sorted(event.args["i"] for event in begins), [0, 1, 2, 3])
                self.assertEqual({(event.pid, event.id) for event in begins},
                                 {(e.pid, e.id) for e in listed if e.probe == "span_end"})


class Decorators(unittest.TestCase):
    def test_functions_and_methods(self):
        listed = events("""
            @span('f', 'c', k=1)
            def f(a, *, b): return a + b
            class C:
                @span('m')
                def m(self): return self
                @classmethod
                @span('inner-class')
                def c1(cls): return cls
                @span('outer-class')
                @classmethod
                def c2(cls): return cls
                @staticmethod
                @span('inner-static')
                def s1(x): return x
                @span('outer-static')
                @staticmethod
                def s2(x): return x
            c = C()
            assert f(1, b=2) == 3 and c.m() is c and C.c1() is C.c2() is c.c2() is C
            assert C.s1(5) == c.s1(5) == c.s2(5) == C.s2(5) == 5
        """)
        self.assertEqual(as_text(listed).split()[::2],
                         ["+f", "+m", "+inner-class", "+outer-class", "+outer-class",
                          "+inner-static", "+inner-static", "+outer-static", "+outer-static"])
        self.assertEqual((listed[0].category, listed[0].args), (b"c", {"k": 1}))

    def test_recursion_and_exceptions(self):
        listed = events("""
            @span('f')
            def f(n):
                if n == 0: raise ValueError
                f(n - 1)
            try: f(2)
            except ValueError: instant('caught')
        """)
        self.assertEqual(as_text(listed), "+f +f +f -f -f -f !caught")
        ids = [event.id for event in listed[:6]]
        self.assertEqual(ids[3:], ids[2::-1])

    def test_decorated_function_keeps_its_kind(self):
        run("""
            import asyncio, inspect
            from faultline import span
            def f(a: int, b=2) -> str: "doc"
            async def co(): "doc"
            def gen(): "doc"; yield
            async def agen(): "doc"; yield
            f.mark = 1
            for function in f, co, gen, agen:
                made = span('x')(function)
                assert made is not function and made.__wrapped__ is function
                assert made.__name__ == function.__name__ and made.__doc__ == 'doc'
                assert made.__qualname__ == function.__qualname__
                assert made.__module__ == function.__module__
                assert inspect.signature(made) == inspect.signature(function)
                for kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction,
                             inspect.isasyncgenfunction, asyncio.iscoroutinefunction):
                    assert kind(made) == kind(function), (kind, function)
            assert span('x')(f).mark == 1
        """)

    def test_decorating_non_functions(self):
        run("""
            from faultline import span
            for thing in (3, int, type('C', (), {})):
                try: span('x')(thing)
                except TypeError: pass
                else: raise SystemExit(f'{thing} was decorated')
            for arguments in ((), (len, len)):
                try: span('x')(*arguments)
                except TypeError: pass
                else: raise SystemExit('called with too few or too many')
        """)


class Coroutines(unittest.TestCase):
    def test_interleaved_on_one_thread(self):
        listed = events("""
            import asyncio
            @span('task')
            async def task(n):
                for _ in range(n):
                    with span('part', n=n): await asyncio.sleep(0)
                return n
            async def main(): return await asyncio.gather(task(3), task(1), task(2))
            assert asyncio.run(main()) == [3, 1, 2]
        """)
        self.assertTrue(as_text(listed).startswith("+task +part +task +part +task +part -part"))
        open_spans = {}
        for event in listed:
            if event.probe == "span_begin":
                open_spans[event.id] = event
            else:
                del open_spans[event.id]
        self.assertEqual(open_spans, {})
        self.assertEqual(len(listed), 2 * (3 + 6))

    def test_an_exception_and_a_cancellation(self):
        listed = events("""
            import asyncio
            @span('bad')
            async def bad(): raise KeyError
            @span('long')
            async def long(): await asyncio.sleep(60)
            async def main():
                try: await bad()
                except KeyError: instant('caught')
                task = asyncio.ensure_future(long())
                await asyncio.sleep(0)
                task.cancel()
                try: await task
                except asyncio.CancelledError: instant('cancelled')
            asyncio.run(main())
        """)
        self.assertEqual(as_text(listed), "+bad -bad !caught +long -long !cancelled")


class Generators(unittest.TestCase):
    def test_only_what_runs_inside(self):
        listed = events("""
            @span('g')
            def g():
                for i in range(2):
                    instant('inside')
                    yield i
            for i in g(): instant('outside')
        """)
        self.assertEqual(as_text(listed), "+g !inside -g !outside +g !inside -g !outside +g -g")

    def test_protocol(self):
        run("""
            from faultline import span
            log = []
            @span('g')
            def g():
                got = None
                while True:
                    try:
                        got = yield got
                        if got == 'stop': return 'value'
                    except KeyError as error:
                        got = error
                    finally:
                        log.append('step')
            it = g()
            assert next(it) is None and it.send(5) == 5
            error = KeyError('k')
            assert it.throw(error) is error
            try: it.send('stop')
            except StopIteration as end: assert end.value == 'value'
            def outer(): return (yield from g())
            it = outer(); next(it)
            try: it.send('stop')
            except StopIteration as end: assert end.value == 'value'
            it = g(); next(it)
            try: it.throw(ValueError('v'))
            except ValueError as error: assert error.args == ('v',)
            else: raise SystemExit('no ValueError')
        """)

    def test_closed_early(self):
        listed = events("""
            @span('g')
            def g():
                try:
                    while True: yield 1
                finally: instant('closed')
            for i in g(): break
            instant('after')
        """)
        self.assertEqual(as_text(listed), "+g -g +g !closed -g !after")

    def test_async(self):
        listed = events("""
            import asyncio
            @span('g')
            async def g():
                try:
                    for i in range(2):
                        await asyncio.sleep(0)
                        got = yield i
                        if got: instant(str(got))
                except KeyError: yield 'caught'
                finally: instant('closed')
            async def main():
                async for i in g(): instant('outside')
                it = g()
                await it.__anext__()
                assert await it.asend('sent') == 1
                assert await it.athrow(KeyError('k')) == 'caught'
                await it.aclose()
            asyncio.run(main())
        """)
        self.assertEqual(as_text(listed), "+g -g !outside +g -g !outside +g !closed -g "
                                       "+g -g +g !sent -g +g -g +g !closed -g")


class Loops(unittest.TestCase):
    def test_known_length(self):
        listed = events("for x in trace_iter([7, 8], 'fetch', k=1): instant('body')")
        self.assertEqual(as_text(listed), "+fetch -fetch !body +fetch -fetch !body")
        self.assertEqual((listed[0].category, listed[0].args), (b"data", {"k": 1}))

    def test_unknown_length(self):
        listed = events("for x in trace_iter(iter([7]), 'fetch', 'io'): instant('body')")
        self.assertEqual(as_text(listed), "+fetch -fetch !body +fetch -fetch")
        self.assertEqual(listed[0].category, b"io")

    def test_lengths_of_others(self):
        """The length of somebody else's iterable may cost anything, such as loading all rows: it is
        not asked for. One of PyTorch's own loaders knows its batches without asking its data."""
        code = """
            import sys, types
            from faultline import trace_iter
            class Rows(list):
                def __len__(self): raise SystemExit('counted')
            for row in trace_iter(Rows('ab'), 'rows'): pass
            torch = types.ModuleType('torch')
            exec('class Sampler(list): pass', torch.__dict__)
            torch.Sampler.__module__ = 'torch.utils.data.sampler'
            class DataLoader(Rows):
                _index_sampler = torch.Sampler('abc')
            DataLoader.__module__ = 'torch.utils.data.dataloader'
            for batch in trace_iter(DataLoader('abc'), 'batches'): pass
        """
        run(code)
        self.assertEqual(as_text(events(code)), " ".join(["+rows -rows"] * 3 + ["+batches -batches"] * 3))

    def test_items_are_those_of_the_iterable(self):
        run("""
            from faultline import trace_iter
            class Odd:
                def __init__(self, length): self.length = length
                def __len__(self):
                    if self.length is None: raise RuntimeError
                    return self.length
                def __iter__(self): return iter('abc')
            for length in (None, 0, 1, 3, 7):
                assert list(trace_iter(Odd(length), 'x')) == ['a', 'b', 'c'], length
            assert list(trace_iter({}, 'x')) == []
            def bad(): yield 1; raise KeyError
            it = trace_iter(bad(), 'x')
            assert next(it) == 1
            try: next(it)
            except KeyError: pass
            else: raise SystemExit('no KeyError')
        """)

    def test_left_early(self):
        self.assertEqual(as_text(events("for x in trace_iter('ab', 'fetch'): break")), "+fetch -fetch")


class Unlistened(unittest.TestCase):
    def test_nothing_listens(self):
        run("""
            from faultline import *
            assert enabled() is False and status() == {
                'extension': True, 'reason': None, 'enabled': False}
            class Trap:
                def __repr__(self): raise SystemExit('looked at')
            with span('a', trap=Trap()): instant('b', trap=Trap())
            assert notes() == []
        """)

    def test_listened(self):
        done, _ = listen("import faultline; print(faultline.enabled(), faultline.status())")
        self.assertEqual(done.stdout, "True {'extension': True, 'reason': None, 'enabled': True}\n")

    def test_wait_for_a_tracer_is_bounded(self):
        """If the tracer of `faultline run` never arrives, waits half a second, then continues."""
        done = run("""
            import time; started = time.monotonic()
            import faultline
            assert 0.49 <= time.monotonic() - started < 10
        """, FAULTLINE_RUN="1")
        self.assertEqual(done.stderr, "")

    def test_waits_for_nobody_else(self):
        for expected, more in ((False, {}), (True, {"FAULTLINE_RUN": "1"})):
            strace = ["strace", "-e", "trace=nanosleep,clock_nanosleep"]
            done = run("import faultline", strace, **more)
            self.assertEqual("nanosleep(" in done.stderr, expected, done.stderr)

    def test_objects_in_cycles_are_freed(self):
        run("""
            import gc, weakref
            from faultline import span
            class Thing: pass
            thing = Thing()
            thing.span = span('s', thing=thing, text='t')
            watch = weakref.ref(thing)
            del thing
            gc.collect()
            assert watch() is None
        """)

    def test_not_made_by_hand(self):
        run("""
            import copy, pickle
            from faultline import span, Span
            for make in (lambda: Span('x'), lambda: Span.__new__(Span),
                         lambda: object.__new__(Span), lambda: copy.copy(span('x')),
                         lambda: pickle.dumps(span('x'))):
                try: make()
                except TypeError: pass
                else: raise SystemExit('was made')
        """)


if __name__ == "__main__":
    unittest.main()
