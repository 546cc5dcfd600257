# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The start-up hook of `faultline run --python-spans` leaves the program's Python unchanged, and
reports what it cannot mark. Small packages stand in for PyTorch."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _directory import InDirectory  # noqa: E402
from _span_listening import HOOK, PACKAGE, listen, run, as_text  # noqa: E402


class HookTest(InDirectory):
    def start(self, code, spans="torch", call=run, **more):
        path = os.pathsep.join([HOOK, self.directory])
        return call(code, PYTHONPATH=path, FAULTLINE_PYTHON_SPANS=spans, **more)


class StartUp(HookTest):
    def test_the_path_is_the_programs(self):
        code = "import sys; print(sys.path[1:])"
        plain = eval(run(code, PYTHONPATH=self.directory).stdout)
        self.assertEqual(eval(self.start(code).stdout), plain + [PACKAGE])
        self.assertEqual(eval(self.start(code, spans="").stdout), plain + [PACKAGE])
        self.assertEqual(eval(self.start(code, spans="dftracer").stdout), plain + [PACKAGE])

    def test_another_sitecustomize_still_runs(self):
        self.file("sitecustomize.py", "import sys; sys.flag = (__name__, __file__); here = 3")
        done = self.start("""
            import sys, sitecustomize
            print(sys.flag, sitecustomize.here, sitecustomize.__file__ == sys.flag[1])
        """)
        path = self.path("sitecustomize.py")
        self.assertEqual(done.stdout, f"{('sitecustomize', path)} 3 True\n")

    def test_failing_sitecustomize_is_reported(self):
        self.file("sitecustomize.py", "raise ValueError('mine')")
        done = self.start("print('on')")
        self.assertEqual(done.stdout, "on\n")
        self.assertIn("ValueError: mine", done.stderr)

    def test_a_package_that_the_program_brings_comes_first(self):
        self.file("faultline/__init__.py", "mine = True")
        done = self.start("import faultline; print(faultline.mine)", spans="")
        self.assertEqual(done.stdout, "True\n")

    def test_unrelated_package_of_the_same_name(self):
        self.file("faultline.py", "mine = True")
        done = self.start("import faultline; print(faultline.mine)")
        self.assertEqual(done.stdout, "True\n")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("faultline: Python spans are off", done.stderr)

    def test_silent_on_success(self):
        self.assertEqual(self.start("", spans="torch,dftracer,other").stderr, "")

    def test_dftracer_only_if_requested(self):
        code = """
            import importlib.util
            print(importlib.util.find_spec('dftracer') is not None)
        """
        self.assertEqual(self.start(code, spans="torch").stdout, "False\n")
        self.assertEqual(self.start(code, spans="dftracer").stdout, "True\n")
        self.assertEqual(self.start(code, spans="torch,dftracer").stdout, "True\n")


class Imports(HookTest):
    def test_looking_for_a_module_is_not_importing_it(self):
        self.file("torch/__init__.py")
        self.file("torch/serialization.py", "def save(x, f): return x\ndef load(f): return f")
        _, listed = self.start("""
            import importlib.util
            assert importlib.util.find_spec('torch.serialization')
            assert importlib.util.find_spec('torch.serialization')
            import torch.serialization
            assert torch.serialization.save(1, 2) == 1 and torch.serialization.load(f=3) == 3
            import inspect
            assert 'return x' in inspect.getsource(torch.serialization.save)
            assert 'exec_module' not in vars(torch.serialization.__loader__)
        """, call=listen)
        self.assertEqual(as_text(listed), "+torch.save -torch.save +torch.load -torch.load")
        self.assertEqual(listed[0].category, b"checkpoint")

    def test_module_imported_by_its_package_is_marked(self):
        self.file("torch/__init__.py", "from .serialization import save")
        self.file("torch/serialization.py", "def save(): pass\ndef load(): pass")
        _, listed = self.start("import torch; torch.save()", call=listen)
        self.assertEqual(as_text(listed), "+torch.save -torch.save")

    def test_no_such_module(self):
        done = self.start("""
            import sys
            sys.path[:] = [entry for entry in sys.path if 'dist-packages' not in entry]
            try: import torch
            except ModuleNotFoundError as error: print(error.name)
        """)
        self.assertEqual(done.stdout, "torch\n")

    def test_module_that_fails_once(self):
        self.file("torch/__init__.py")
        self.file("torch/serialization.py", """
import builtins
if not hasattr(builtins, 'again'):
    builtins.again = True
    raise RuntimeError('not yet')
def save(): pass
def load(): pass
""")
        _, listed = self.start("""
            try: import torch.serialization
            except RuntimeError: pass
            else: raise SystemExit('no RuntimeError')
            import torch.serialization
            torch.serialization.save()
        """, call=listen)
        self.assertEqual(as_text(listed), "+torch.save -torch.save")


class OtherVersions(HookTest):
    """A PyTorch without the parts to mark: the program works, and there is a note for each part."""

    MODULES = ("utils/data/dataloader", "utils/data/_utils/fetch", "nn/modules/module", "autograd",
               "optim/optimizer", "serialization")

    def setUp(self):
        super().setUp()
        self.file("torch/__init__.py", "__version__ = '0.0'")
        for name in self.MODULES:
            parts = name.split("/")
            for i in range(1, len(parts)):
                self.file("/".join(["torch", *parts[:i], "__init__.py"]))
            self.file(f"torch/{name}.py")
        self.code = "".join(f"import torch.{name.replace('/', '.')}\n" for name in self.MODULES)

    def test_notes(self):
        done = self.start(self.code + "import faultline\nprint(*faultline.notes(), sep='\\n')")
        self.assertEqual(done.stderr, "")
        notes = done.stdout.splitlines()
        for what in ("pass and fetch", "item and collate", "forward", "backward", "optimizer.step",
                     "torch.save", "torch.load"):
            self.assertEqual(len([note for note in notes if note.startswith(what + " is not")]), 1,
                             (what, notes))
        self.assertEqual(len(notes), 7)

    def test_notes_on_stderr(self):
        done = self.start(self.code, FAULTLINE_PYTHON_SPANS_VERBOSE="1")
        self.assertEqual(len(done.stderr.splitlines()), 7)
        self.assertTrue(all(line.startswith("faultline: ") for line in done.stderr.splitlines()))

    def test_unpatchable_class(self):
        self.file("torch/optim/optimizer.py", "class Meta(type):\n"
                   "    def __setattr__(*a): raise AttributeError('sealed')\n"
                   "class Optimizer(metaclass=Meta): pass")
        done = self.start("import torch.optim.optimizer, faultline\nprint(faultline.notes())")
        self.assertIn("torch.optim.optimizer is not marked: AttributeError: sealed", done.stdout)


if __name__ == "__main__":
    unittest.main()
