# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Span arguments: every type, and names and arguments that are too long, not text, or that raise
when converted. None of this may affect the program."""

import unittest

from _span_listening import events, listen, run

MAX = 1024


def arguments(code):
    """The arguments of the single span that `code` makes."""
    return events(code)[0].args


class Arguments(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(arguments("""
            span('s', none=None, yes=True, no=False, f=1.5, text='é€', data=b'\\0\\xff',
                 empty='', array=bytearray(b'ab')).begin()
        """), {"none": None, "yes": True, "no": False, "f": 1.5, "text": "é€",
               "data": b"\0\xff", "empty": "", "array": b"ab"})

    def test_integers(self):
        edges = [0, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1,
                 -1, -32, -33, -128, -129, -32768, -32769, -2**31, -2**31 - 1, -2**63]
        self.assertEqual(arguments(f"span('s', n={edges}).begin()")["n"], edges)
        self.assertEqual(arguments(f"span('s', a={2**64}, b={-2**63 - 1}).begin()"),
                         {"a": str(2**64), "b": str(-2**63 - 1)})

    def test_texts_of_every_length(self):
        for length in (31, 32, 255, 256, 900):
            with self.subTest(length):
                self.assertEqual(arguments(f"span('s', t='x' * {length}, b=b'y' * 9).begin()"),
                                 {"t": "x" * length, "b": b"y" * 9})

    def test_nested(self):
        value = {"list": [1, [2, (3, {"k": [4]})]], "5": {}}
        self.assertEqual(arguments(f"span('s', v={value!r}).begin()")["v"],
                         {"list": [1, [2, [3, "{'k': [4]}"]]], "5": {}})
        self.assertEqual(arguments("span('s', v={1: 2, None: 3}).begin()")["v"],
                         {"1": 2, "None": 3})

    def test_in_themselves(self):
        value = arguments("""
            loop = [1]; loop.append(loop)
            span('s', v=loop).begin()
        """)["v"]
        self.assertEqual(value, [1, [1, [1, [1, "[1, [...]]"]]]])

    def test_numpy(self):
        self.assertEqual(arguments("""
            import numpy
            span('s', i=numpy.int64(-7), u=numpy.uint8(9), f=numpy.float32(0.5),
                 d=numpy.float64(2.5), b=numpy.bool_(True), a=numpy.arange(3)).begin()
        """), {"i": -7, "u": 9, "f": 0.5, "d": 2.5, "b": True, "a": "array([0, 1, 2])"})

    def test_other_types_become_text(self):
        reported = arguments("""
            class Long:
                def __repr__(self): return 'é' * 500
            class Bad:
                def __repr__(self): raise ValueError
            class Worse:
                def __index__(self): raise ValueError
                def __repr__(self): return 3
            class Liar:
                def __float__(self): return 'text'
                def __repr__(self): return 'liar'
            span('s', o={1}, c=int, long=Long(), bad=Bad(), worse=Worse(), liar=Liar()).begin()
        """)
        self.assertEqual(reported, {"o": "{1}", "c": "<class 'int'>", "long": "é" * 100, "bad": "Bad",
                                "worse": "Worse", "liar": "liar"})

    def test_values_that_change_while_encoded(self):
        self.assertEqual(arguments("""
            items = []
            class Shrinks:
                def __repr__(self): items.clear(); table.clear(); return 'shrinks'
            items += [Shrinks(), 1, 2]
            table = {'a': items, 'b': 3}
            span('s', items=items, table=table, last=4).begin()
        """), {"items": ["shrinks", 1, 2], "table": {}, "last": 4})

    def test_a_repr_that_opens_the_span_itself(self):
        listed = events("""
            class Opens:
                depth = 0
                def __repr__(self):
                    Opens.depth += 1
                    if Opens.depth < 40: s.begin()
                    return 'opens'
            s = span('s', o=Opens())
            s.begin()
            for i in range(50): s.end()
        """)
        begins = [event.id for event in listed if event.probe == "span_begin"]
        self.assertEqual(len(begins), 40)
        self.assertEqual({event.id for event in listed if event.probe == "span_end"}, set(begins))

    def test_surrogates(self):
        listed = events(r"""
            span('n\udcff', 'c\udcff', k='\udcff', **{'\udcff': 1}).begin()
        """)
        self.assertEqual((listed[0].name, listed[0].category), (b"n\\udcff", b"c\\udcff"))
        self.assertEqual(listed[0].args, {"k": "\\udcff", "\\udcff": 1})

    def test_too_long_as_a_whole(self):
        """The map header and the pair take 3 + 2 + 3 bytes besides the text."""
        for length, fits in ((MAX - 8, True), (MAX - 7, False), (10**6, False)):
            begin = events(f"span('s', t='x' * {length}).begin()")[0]
            self.assertEqual(begin.args, {"t": "x" * length} if fits else None)
            self.assertEqual(begin.args_len, MAX if fits else MAX + 1)
        for value in ("list(range(10**6))", "dict.fromkeys(range(10**6))", "[[1] * 600] * 600",
                      "'x' * 70000", "b'x' * 70000"):
            begin = events(f"span('s', k=1, v={value}, z=2).begin()")[0]
            self.assertEqual((begin.args, begin.args_len), (None, MAX + 1), value)

    def test_interrupt_in_a_repr(self):
        """Ctrl-C during a repr still ends the program; the span has not begun then."""
        _, listed = listen("""
            from faultline import span, instant
            class Interrupted:
                def __repr__(self): raise KeyboardInterrupt
            for call in (lambda: span('s', i=Interrupted()).begin(),
                         lambda: span('s', i=[Interrupted()]).begin(),
                         lambda: instant('s', i={1: Interrupted()})):
                try: call()
                except KeyboardInterrupt: pass
                else: raise SystemExit('swallowed')
        """)
        self.assertEqual(listed, [])

    def test_instant(self):
        for code in ("instant('now', 'mark', k=[1])",
                     "instant(name='now', category='mark', k=[1])"):
            event, = events(code)
            self.assertEqual((event.probe, event.name, event.category, event.args),
                             ("instant", b"now", b"mark", {"k": [1]}))
        self.assertEqual(events("instant('now')")[0].args_len, 0)


    def test_record(self):
        event, = events("record('r', 'io', 5, 2**70, k=[1], name='kept out', start_ns=3)")
        self.assertEqual((event.probe, event.name, event.category, event.args),
                         ("span_record", b"r", b"io", {"k": [1], "start_ns": 3}))
        self.assertEqual(event.times, (5, 2**63 - 1))
        self.assertEqual(events("record('r', '', -2**70, -1)")[0].times, (0, 0))


class Names(unittest.TestCase):
    def test_long_ones_are_cut_between_characters(self):
        for text, kept in (("x" * 10000, b"x" * 255), ("x" * 255, b"x" * 255),
                           ("é" * 5000, "é".encode() * 127), ("€" * 5000, "€".encode() * 85),
                           ("x" + "𝄞" * 5000, b"x" + "𝄞".encode() * 63)):
            self.assertEqual(events(f"span({text!r}).begin()")[0].name, kept)
        self.assertEqual(events("span('n', 'é' * 500).begin()")[0].category, "é".encode() * 31)

    def test_empty_and_with_a_nul(self):
        self.assertEqual(events("span('', '').begin()")[0].name, b"")
        self.assertEqual(events("span('a\\0b').begin()")[0].name, b"a")


CALLS = ["span()", "span(3)", "span(None)", "span('n', 3)", "span('n', category=3)",
         "span('n', 'c', 4)", "span('n', name='m')", "span('n', 'c', category='d')", "span(k=1)",
         "span('n', 'c', k=1)", "span('n', k=object())", "span(name='n', category='c')",
         "instant()", "instant(3)", "instant('n', 'c', 4)", "instant('n', name='m')",
         "instant('n', k=1)", "record()", "record('n', 'c', 1)", "record('n', 'c', 1, 2)",
         "record('n', 'c', 1, 2, k=3)", "record('n', 'c', 1, None)", "record(3, 'c', 1, 2)",
         "record('n', 'c', -1, 2**80)", "enabled()", "repr(span('n', 'c'))", "span('n').category",
         "span('n').begin().name", "span('n').end()", "span('n')(3)", "span('n')(len)('abc')",
         "list(trace_iter('ab', 'n'))", "type(span('n'))", "Span('n')", "Span()",
         "pickle.dumps(span('n'))", "copy.copy(span('n'))", "type('S', (Span,), {})"]


class Fallback(unittest.TestCase):
    """Without the extension everything exists, accepts and rejects the same, and does nothing."""

    CODE = f"""
        import sys
        if sys.argv[1:]: sys.modules['faultline._core'] = None
        import copy, pickle
        from faultline import *
        for call in {CALLS!r}:
            try: print(call, '->', eval(call))
            except Exception as error: print(call, '->', type(error).__name__, error)
        for name in 'name', 'category', 'other':
            try: setattr(span('n'), name, 'm')
            except Exception as error: print(name, type(error).__name__)
    """

    def test_the_same_with_and_without(self):
        with_it = run(self.CODE).stdout.replace("'faultline.Span'", "'faultline._fallback.Span'")
        self.assertEqual(run(self.CODE, arguments=["without"]).stdout, with_it)
        self.assertEqual(with_it.count("TypeError"), 23)
        self.assertEqual(with_it.count("AttributeError"), 3)

    def test_says_so(self):
        _, listed = listen("""
            import sys
            sys.modules['faultline._core'] = None
            import faultline
            status = faultline.status()
            assert status['extension'] is False and status['enabled'] is False
            assert '_core' in status['reason']
            with faultline.span('s'):
                faultline.instant('i')
            @faultline.span('f')
            def f(): return 3
            assert f() == 3
        """)
        self.assertEqual(listed, [])


if __name__ == "__main__":
    unittest.main()
