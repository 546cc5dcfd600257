# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs when Python starts under `faultline run --python-spans LIST`, which puts this directory first
# on PYTHONPATH and LIST (torch, dftracer) in FAULTLINE_PYTHON_SPANS. Must change nothing else for
# the program: its own sitecustomize still runs, and this directory is removed from sys.path again.
# Must work with any Python 3; does nothing if it is too old for the package.

import os
import sys


def _install(here):
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if sys.version_info < (3, 9):
        return
    wanted = os.environ.get("FAULTLINE_PYTHON_SPANS", "").split(",")
    package = os.path.dirname(here)
    if package not in sys.path:
        sys.path.append(package)  # last: the program's own packages take precedence
    if "dftracer" in wanted:
        from faultline import _dftracer, _hooks
        _hooks.when_missing("dftracer", os.path.join(here, "dftracer"))
        _hooks.when_imported(_dftracer.HOOKS)
    if "torch" in wanted:
        from faultline import _hooks, _torch
        _hooks.when_imported(_torch.HOOKS)


def _chain():
    """Runs the sitecustomize that would have run without this one, under its module name."""
    import importlib.util
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _install(os.path.dirname(os.path.abspath(__file__)))
except Exception as error:  # the program continues without spans
    sys.stderr.write("faultline: Python spans are off: %s: %s\n" % (type(error).__name__, error))
_chain()
