# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Unmodified PyTorch marked by the start-up hook: spans, and that results stay bit-identical."""

import collections
import importlib.util
import json
import re
import sys
import textwrap
import unittest

from _span_listening import HOOK, listen, run, as_text

TRAIN = """
    import hashlib, sys
    import torch
    from torch.utils.data import DataLoader, Dataset, IterableDataset

    class Items(Dataset):
        def __len__(self): return 10
        def __getitem__(self, i): return torch.randn(4) + i

    class Stream(IterableDataset):
        def __iter__(self):
            shift = torch.rand(1)  # drawn when the iterator is made
            return iter([torch.randn(4) + shift for _ in range(7)])

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(),
                                             torch.nn.Linear(8, 1))
        def forward(self, x): return self.inner(x)

    def collate(items): return torch.stack(items)

    def main(workers, method):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        model, digest = Model(), hashlib.sha256()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        options = {'batch_size': 3, 'num_workers': workers,
                   'multiprocessing_context': method if workers else None}
        for loader in (DataLoader(Items(), shuffle=True, collate_fn=collate, **options),
                       DataLoader(Stream(), **options)):
            for batch in loader:
                loss = model(batch).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                digest.update(repr((loss.item(), torch.rand(1).item())).encode())
        torch.save(model.state_dict(), 'model.pt')
        for value in torch.load('model.pt').values():
            digest.update(repr(value.tolist()).encode())
        print(digest.hexdigest(), loader.dataset.__class__.__name__, 'faultline' in sys.modules)

    if __name__ == '__main__':
        for job in sys.argv[1:]:
            workers, method = job.split()
            main(int(workers), method)
            if 'faultline' in sys.modules:
                sys.modules['faultline'].instant(job)
"""
JOBS = "0 fork", "2 fork", "1 spawn"  # workers, and how they are started
HOOKED = {"PYTHONPATH": HOOK, "FAULTLINE_PYTHON_SPANS": "torch"}


def counts(listed):
    return collections.Counter((event.name.decode(), event.category.decode())
                               for event in listed if event.probe == "span_begin")


def split(listed, names):
    """{name: the events up to the instant of that name}: importing PyTorch takes seconds, so
    one process does everything that can be separated afterwards."""
    parts, part = {}, []
    for event in listed:
        if event.probe == "instant" and event.name.decode() in names:
            parts[event.name.decode()], part = part, []
        else:
            part.append(event)
    return parts


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch here")
class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Runs the jobs plainly, hooked, and with a listener."""
        cls.plain = run(TRAIN, arguments=JOBS, PYTHONPATH="").stdout
        cls.hooked = run(TRAIN, arguments=JOBS, **HOOKED)
        cls.heard, listed = listen(TRAIN, arguments=JOBS, **HOOKED)
        cls.events = split(listed, JOBS)

    def test_results(self):
        self.assertEqual(self.plain.count("Stream False\n"), len(JOBS))
        same = self.plain.replace("False", "True")
        self.assertEqual((self.hooked.stdout, self.hooked.stderr), (same, ""))
        self.assertEqual(self.heard.stdout, same)
        for listed in self.events.values():
            self.assertEqual({(e.pid, e.id) for e in listed if e.probe == "span_begin"},
                             {(e.pid, e.id) for e in listed if e.probe == "span_end"})

    def check_main(self, listed, batches):
        """Events in every job's main process."""
        main = next(event.pid for event in listed if event.name == b"forward")
        found = counts(event for event in listed if event.pid == main)
        self.assertEqual(found["forward", "compute"], batches)
        self.assertEqual(found["backward", "compute"], batches)
        self.assertEqual(found["optimizer.step", "compute"], batches)
        self.assertEqual(found["torch.save", "checkpoint"], 1)
        self.assertEqual(found["torch.load", "checkpoint"], 1)
        self.assertEqual({event.args["module"] for event in listed if event.name == b"forward"},
                         {"Model"})
        return main, found

    def test_in_the_main_process(self):
        listed = self.events["0 fork"]
        # 10 items and 7 of the stream, each in batches of 3, plus the check for the stream's end
        main, found = self.check_main(listed, 4 + 3)
        self.assertEqual(found["fetch", "data"], 4 + 3 + 1)
        self.assertEqual(found["start", "data"] + found["stop", "data"], 0)
        self.assertEqual(found["item", "data"], 10 + 7 + 1)
        self.assertEqual(found["collate", "preprocess"], 4 + 3)
        self.assertEqual({event.pid for event in listed}, {main})
        self.assertIn("+fetch +item -item +item -item +item -item +collate -collate -fetch "
                      "+forward -forward +backward -backward +optimizer.step -optimizer.step",
                      as_text(listed))

    def test_forked_workers(self):
        listed = self.events["2 fork"]
        main, found = self.check_main(listed, 4 + 6)
        self.assertEqual(found["fetch", "data"], 4 + 6 + 1)
        self.assertEqual((found["start", "data"], found["stop", "data"]), (2, 1))
        self.assertEqual(found["item", "data"] + found["collate", "preprocess"], 0)
        made = counts(event for event in listed if event.pid != main)
        # each of two workers has the whole stream, in three batches, and checks for its end
        self.assertEqual(made, {("item", "data"): 10 + 2 * (7 + 1),
                                ("collate", "preprocess"): 4 + 6})
        self.assertEqual(len({event.pid for event in listed}), 1 + 2 + 2)

    def test_spawned_workers(self):
        listed = self.events["1 spawn"]
        main, found = self.check_main(listed, 4 + 3)
        self.assertEqual(found["fetch", "data"], 4 + 3 + 1)
        made = counts(event for event in listed if event.pid != main)
        self.assertEqual(made, {("item", "data"): 10 + 7 + 1, ("collate", "preprocess"): 4 + 3})


SNIPPETS = {
    "an_optimizer_of_ones_own": """
        class Mine(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)
        weight = torch.nn.Parameter(torch.ones(1))
        for kind in (torch.optim.SGD, Mine, Mine):
            optimizer = kind([weight], lr=0.1)
            optimizer.zero_grad(); (weight * 2).sum().backward(); optimizer.step()
    """,
    "a_step_with_a_closure": """
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=1)
        def closure():
            optimizer.zero_grad()
            loss = model(torch.ones(2)).sum()
            loss.backward()
            return loss
        optimizer.step(closure)
    """,
    "the_outermost_module_only_and_after_an_exception_again": """
        class Bad(torch.nn.Module):
            def forward(self, x): raise KeyError
        model = torch.nn.Sequential(torch.nn.ReLU(), Bad())
        for _ in range(2):
            try: model(torch.ones(1))
            except KeyError: pass
        torch.nn.ReLU()(torch.ones(1))
    """,
    "a_transform_that_is_a_module_is_no_forward_pass": """
        scale = torch.nn.Linear(1, 1)
        class Items(torch.utils.data.Dataset):
            def __len__(self): return 1
            def __getitem__(self, i): return scale(torch.ones(1)).detach()
        for batch in torch.utils.data.DataLoader(Items()): pass
    """,
    "passes": """
        import faultline
        a, b = (torch.utils.data.DataLoader([1, 2, 3], batch_size=2) for _ in 'ab')
        for batch in a: pass
        for batch in b: break
        faultline.instant('left')
        for batch in a: pass
        kept = torch.utils.data.DataLoader([1, 2], num_workers=1, persistent_workers=True)
        for _ in range(2):
            for batch in kept: pass
    """,
    "a_sampler_of_ones_own_is_not_asked_for_its_length": """
        class Sampler:
            def __iter__(self): return iter([0, 1])
            def __len__(self): raise SystemExit('asked')
        for x in torch.utils.data.DataLoader([1, 2], sampler=Sampler()): pass
    """,
    "tracing_and_scripting_work": """
        import torch.fx
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        x = torch.ones(1, 2)
        y = model(x)
        for other in (torch.jit.trace(model, x), torch.jit.script(model),
                      torch.fx.symbolic_trace(model)):
            assert torch.equal(other(x), y)
        import copy, io, pickle
        assert torch.equal(pickle.loads(pickle.dumps(model))(x), y)
        loader = torch.utils.data.DataLoader([1, 2])
        assert len(loader) == 2 and [int(i) for i in loader] == [1, 2]
    """,
}
# Each is followed by an instant of its name, after its garbage has been collected.
RUN = """
    import gc, json, sys
    import faultline, torch
    for name, code in json.loads(sys.argv[1]).items():
        exec(compile(code, name, "exec"), {"torch": torch, "faultline": faultline})
        gc.collect()
        faultline.instant(name)
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch here")
class Details(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        code = {name: textwrap.dedent(code) for name, code in SNIPPETS.items()}
        cls.events = split(listen(RUN, arguments=[json.dumps(code)], **HOOKED)[1], SNIPPETS)

    def test_custom_optimizer(self):
        listed = self.events["an_optimizer_of_ones_own"]
        self.assertEqual(as_text(listed), " ".join(
            ["+backward -backward +optimizer.step -optimizer.step"] * 3))
        self.assertEqual([e.args for e in listed if e.name == b"optimizer.step"],
                         [{"optimizer": "SGD"}, {"optimizer": "Mine"}, {"optimizer": "Mine"}])

    def test_a_step_with_a_closure(self):
        listed = self.events["a_step_with_a_closure"]
        self.assertEqual(as_text(listed), "+optimizer.step +forward -forward +backward -backward "
                                       "-optimizer.step")

    def test_the_outermost_module_only_and_after_an_exception_again(self):
        listed = self.events["the_outermost_module_only_and_after_an_exception_again"]
        self.assertEqual(as_text(listed), " ".join(["+forward -forward"] * 3))

    def test_module_as_transform_is_not_a_forward_pass(self):
        listed = self.events["a_transform_that_is_a_module_is_no_forward_pass"]
        self.assertEqual(as_text(listed), "+pass +fetch +item -item +collate -collate -fetch -pass")

    def test_passes(self):
        """Numbered from 0 for each loader; an abandoned loop ends too, and a worker's copy of it
        ends nothing."""
        listed = self.events["passes"]
        begins = [event for event in listed if event.name == b"pass"]
        self.assertEqual([event.args["epoch"] for event in begins], [0, 0, 1, 0, 1])
        marks = [(event.probe, event.pid, event.id) for event in listed if event.id]
        self.assertEqual(sorted((pid, id) for probe, pid, id in marks if probe == "span_begin"),
                         sorted((pid, id) for probe, pid, id in marks if probe == "span_end"))
        text = as_text(event for event in listed if event.pid == begins[0].pid)
        self.assertIn("+pass +fetch -fetch -pass !left +pass", re.sub(r" .(item|collate)", "", text))

    def test_length_of_a_custom_sampler_is_not_requested(self):
        self.assertIn("a_sampler_of_ones_own_is_not_asked_for_its_length", self.events)

    def test_tracing_and_scripting_work(self):
        self.assertIn("tracing_and_scripting_work", self.events)


if __name__ == "__main__":
    if not unittest.main(exit=False).result.wasSuccessful():
        sys.exit(1)
    if not importlib.util.find_spec("torch"):
        print("no PyTorch here (python3-torch)")
        sys.exit(77)
