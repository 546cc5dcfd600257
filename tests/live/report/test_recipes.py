# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The commands of faultline-recipes(7), run as printed: recipes in a directory set up as
described, and the other tools' rows on the trace of a job with known calls. The output must
hold the answer; attaching for ten seconds is shortened to one. Short scripts stand in for
tools that this machine lacks (Slurm, kubectl)."""

import csv
import importlib.util
import io
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import Recording, cool, machine, random_file

PAGE = os.path.join(harness.TOP, "user/command/faultline-recipes.7")
MIB = 1 << 20
# The job for the other tools' rows: file sizes, and how often it does each operation.
READ, SMALL, STREAM = 32 * MIB, 16 * MIB, 2 * MIB
RANDOM_READS, LOCKS, MISSING, WRITES = 40, 5, 7, 100

# --- the page ------------------------------------------------------------------------------------


def plain(text):
    """The text that a reader of roff sees."""
    return re.sub(r"\\(-|e|&|f[A-Z])", lambda m: {"-": "-", "e": "\\"}.get(m[1], ""), text)


EXAMPLE = r'^\.\\" (test|not run): ([^\n]*)\n\.EX\n(.*?)^\.EE'


def read_page():
    """({check: commands} of recipes, {tool: commands} of the last part, [examples not run])."""
    with open(PAGE, encoding="utf-8") as file:
        recipes, tools = file.read().split(".SH COMING FROM OTHER TOOLS")
    blocks, not_run = {}, []
    for messages, name, lines in re.findall(EXAMPLE, recipes, re.M | re.S):
        if messages == "test":
            blocks[name] = plain(lines)
        else:
            not_run.append(name)
    assert recipes.count("\n.EX\n") == len(blocks) + len(not_run), "an example says not how it is tested"
    rows = {}
    for head, lines in re.findall(r"^\.TP\n\.BR? (.*?)\n.*?^\.EX\n(.*?)^\.EE", tools, re.M | re.S):
        rows[plain(head).split(" (")[0].split(' "')[0]] = plain(lines)
    assert tools.count("\n.EX\n") == len(rows), "a tool stands there twice, or without commands"
    return blocks, rows, not_run


RECIPES, TOOLS, NOT_RUN = read_page()

# --- where commands run --------------------------------------------------------------------------

# Root needs no sudo; test_users.py tests what sudo removes and Faultline restores.
PLAYED = {
    "sudo": 'exec "$@"',
    "srun": 'for i in 0 1; do SLURM_PROCID=$i "$@" & all+=($!); done\n'
            'for one in "${all[@]}"; do wait $one || exit; done',

    "kubectl": 'echo "containerd://$CONTAINER"',
}
WORK = """
import os, sys, time
path, until = sys.argv[1], time.monotonic() + 60
while time.monotonic() < until:
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 65536):
        pass
    os.close(fd)
    with open(path + ".log", "wb") as file:
        file.write(bytes(5000))
    time.sleep(0.02)
"""
PER_RANK = """
import os
rank = os.environ.get("SLURM_PROCID") or os.environ["OMPI_COMM_WORLD_RANK"]
with open("shard-" + rank, "rb") as file:
    assert len(file.read()) == 1000000 * (1 + int(rank))
"""


class Workspace:
    """An empty directory in which commands are typed."""

    def __init__(self, where="root"):
        self.directory = machine().new_dir(where)
        self.tools = machine().new_dir()
        for name, body in PLAYED.items():
            self.write(os.path.join(self.tools, name), f"#!/bin/bash\n{body}\n", 0o755)
        path = f"{self.tools}:{machine().bin}:/usr/sbin:/usr/bin:/sbin:/bin"
        self.environment = {**harness.python_path(), "PATH": path, "LC_ALL": "C.UTF-8"}
        for name in list(self.environment):
            if name.startswith(("SUDO_", "OMPI_", "SLURM_")):
                del self.environment[name]
        # mpirun as root, and more ranks than processors
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1")

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def type(self, commands, **environment):
        """The output of the commands; all of them must succeed."""
        commands = commands.replace(" -d 10 ", " -d 1 ")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=self.directory,
                              env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.LIMIT,
                              text=True)
        if done.returncode:
            raise AssertionError(f"exit status {done.returncode} of\n{commands}\n{done.stderr}")
        return done.stdout

    def worker(self):
        """A process that reads and writes, to attach to."""
        path = random_file(self.path("worked-on"), 100_000)
        return machine().start(["/usr/bin/python3", "-S", "-c", WORK, path])


def stop(job):
    job.kill()
    job.wait()


def cells(text):
    """Rows of a table printed as text, as lists of words."""
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines() if line.strip()]


# --- recipes -------------------------------------------------------------------------------------


class Recipes(unittest.TestCase):
    def setUp(self):
        self.workspace = Workspace()

    def type(self, name, **environment):
        return self.workspace.type(RECIPES[name], **environment)

    def needs_modules(self, *names):
        for name in names:
            if not importlib.util.find_spec(name):  # of Debian's Python, which runs the tests
                self.skipTest(f"python3-{name} is not installed")

    def test_all_are_tested(self):
        known = {name[len("test_"):] for name in dir(self) if name.startswith("test_")}
        self.assertEqual(set(RECIPES) - known, {"notebook_cell", "ci_budget"})  # tested elsewhere
        self.assertEqual(len(NOT_RUN), 1, NOT_RUN)

    def test_pytorch(self):
        self.needs_modules("torch")
        job = os.path.join(harness.TOP, "tests/live/jobs/tokens.py")
        self.workspace.type(f"/usr/bin/python3 {job} . - --make 8")
        cool(self.workspace.path("tokens.bin"))
        self.workspace.write("train.py", "import runpy, sys\n"
                         "sys.argv = ['tokens.py', '.', 'out.json', '--steps', '6']\n"
                         f"runpy.run_path({job!r}, run_name='__main__')\n")
        out = self.type("pytorch")
        self.assertRegex(out, r"(?m)^Epochs$")
        for span in "fetch", "item", "forward", "backward", "optimizer.step":
            self.assertRegex(out, rf"(?m)^.* {re.escape(span)}$", "a span has no row by name")
        self.assertGreater(os.path.getsize(self.workspace.path("train.html")), 100_000)

    def test_safetensors(self):
        """A safetensors file: header length, JSON header, tensors; mapped, with each tensor
        touched, as the package does."""
        head = b'{"w": {"dtype": "F32", "shape": [2097152], "data_offsets": [0, 8388608]}}'
        path = random_file(self.workspace.path("model.safetensors"), 8 * MIB)
        with open(path, "r+b") as file:
            tensors = file.read()
            file.seek(0)
            file.write(len(head).to_bytes(8, "little") + head + tensors)
        os.sync()
        self.workspace.write("load.py",
                         "import json, mmap\n"
                         "file = open('model.safetensors', 'rb')\n"
                         "size = int.from_bytes(file.read(8), 'little')\n"
                         "head = json.loads(file.read(size))\n"
                         "data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
                         "begin, end = head['w']['data_offsets']\n"
                         "assert end - begin == 4 * head['w']['shape'][0]\n"
                         "sum(data[8 + size + begin:8 + size + end:4096])\n")

        def fetched():
            out = self.type("safetensors")
            os.unlink(self.workspace.path("load.flt"))
            return [int(word) for word in re.findall(r"(?m)^page faults .* (\d)\.\d MiB", out)]
        # faults fetched all of it, once: 8.0 MiB, less what read() of the header fetched
        self.assertTrue(harness.undisturbed(fetched, lambda mib: mib and mib[0] in (7, 8)))

    def shards(self):
        for rank in 0, 1:
            random_file(self.workspace.path(f"shard-{rank}"), 1_000_000 * (1 + rank))
        self.workspace.write("job.py", PER_RANK)

    def test_slurm(self):
        self.shards()
        out = self.type("slurm")
        self.assertIn("2 ranks", out)
        self.assertEqual(len([name for name in os.listdir(self.workspace.directory)
                              if name.startswith("trace-")]), 2)
        self.check_ranks(out)

    def check_ranks(self, out):
        """Rank 1 read twice as much as rank 0, and the report shows them separately."""
        rows = [line for line in out.splitlines() if re.search(r"\d \w*i?B.* [01]$", line)]
        sizes = {line.split()[-1]: re.findall(r"[\d.]+ [KM]iB", line) for line in rows}
        self.assertEqual(set(sizes), {"0", "1"}, out)
        mib = {rank: [float(size.split()[0]) / (1024 if "K" in size else 1) for size in found]
               for rank, found in sizes.items()}
        # besides Python's own modules, which both read
        more = [b - a for a in mib["0"] for b in mib["1"]]
        self.assertTrue(any(abs(1_000_000 / MIB - mib) < 0.06 for mib in more), out)

    @unittest.skipUnless(shutil.which("mpirun"), "openmpi-bin is not installed")
    def test_mpi(self):
        self.shards()
        out = self.type("mpi")
        self.assertIn("2 ranks", out)
        self.check_ranks(out)

    @unittest.skipUnless(shutil.which("mpirun"), "openmpi-bin is not installed")
    def test_mpi_node(self):
        self.shards()
        self.check_ranks(self.type("mpi_node"))

    def cgroup(self, below):
        """A cgroup of that name with a worker in it; skips the test if impossible."""
        top = "/sys/fs/cgroup"
        for found in (os.path.join(top, name) for name in ("unified", "pids", "cpu", "")):
            try:
                os.makedirs(found + below) if os.path.isdir(found) else None
            except OSError:
                continue
            if os.path.exists(found + below + "/cgroup.procs"):
                break
        else:
            self.skipTest("no cgroup can be made here")
        worker = self.workspace.worker()
        with open(f"{found}{below}/cgroup.procs", "w") as file:
            file.write(str(worker.pid))

        def remove():
            stop(worker)
            path = found + below
            while path != found:
                harness.wait_until(lambda: not open(f"{path}/cgroup.procs").read(), 5)
                try:
                    os.rmdir(path)
                except OSError:
                    break  # others have cgroups in it
                path = os.path.dirname(path)

        self.addCleanup(remove)

    def check_worked_on(self, out):
        self.assertIn("worked-on", out)
        self.assertIn("attached", out)

    def test_slurm_attached(self):
        number = str(int.from_bytes(os.urandom(3), "big") + 30_000_000)
        self.cgroup(f"/slurm/uid_7/job_{number}")
        self.check_worked_on(self.type("slurm_attached", SLURM_JOB_ID=number))

    def test_kubernetes(self):
        number = os.urandom(32).hex()
        self.cgroup(f"/kubepods.slice/kubepods-pod2.slice/cri-containerd-{number}.scope")
        self.check_worked_on(self.type("kubernetes", CONTAINER=number))

    def test_notebook(self):
        worker = self.workspace.worker()
        self.type("notebook", PID=str(worker.pid))
        stop(worker)
        # a notebook shows a cell's last line by its _repr_html_; calls is set by the cell
        cell = RECIPES["notebook_cell"].rstrip().rsplit("\n", 1)
        self.assertEqual(cell[1], "trace")
        self.workspace.write("cell.py", cell[0] + "\nprint(calls.index[0], trace._repr_html_())\n")
        self.needs_modules("pandas", "zstandard", "msgpack")
        out = self.workspace.type("python3 cell.py")
        self.assertTrue(out.startswith(self.workspace.path("worked-on")), out[:200])
        self.assertIn("<svg", out)

    def test_ci(self):
        random_file(self.workspace.path("data"), 500_000)
        self.workspace.write("job", "#!/bin/sh\ncat data >/dev/null\n", 0o755)
        self.workspace.type("sudo faultline run -o good.flt -- ./job")
        out = self.type("ci")
        self.assertTrue(out.startswith("before  good.flt, "), out[:200])
        self.assertIn("\n\nLimits\n", out)
        self.assertEqual(self.type("ci_budget").count("\nwithin "), 3)
        os.unlink(self.workspace.path("now.flt"))
        self.workspace.write("job", "#!/bin/sh\ncat data data >/dev/null\n", 0o755)
        with self.assertRaisesRegex(AssertionError, "exit status 3"):
            self.type("ci")


# --- coming from other tools ---------------------------------------------------------------------

JOB = f"""
import os
def check(path):
    try:
        os.stat(path)
    except OSError:
        pass
data = os.open("data", os.O_RDONLY)
assert len(os.pread(data, {READ}, 0)) == {READ}        # from storage, in one call
for i in range({READ // MIB}):
    os.pread(data, {MIB}, i * {MIB})                   # from memory
table = os.open("table", os.O_RDONLY)
os.posix_fadvise(table, 0, 0, os.POSIX_FADV_RANDOM)
for i in range({RANDOM_READS}):                        # a page each, never the one after the last
    os.pread(table, 4096, (i * 37 % 97) * 131072)
stream = os.open("stream", os.O_RDONLY)
for i in range({STREAM // 16384 // 2}):
    os.read(stream, 16384)
out = os.open("written", os.O_CREAT | os.O_WRONLY)
for i in range({WRITES}):
    os.pwrite(out, bytes(8192), i * 8192)
for i in range(3):
    os.fsync(out)
os.sync()
for i in range({MISSING}):
    check("missing")
    check("data")
for i in range({LOCKS}):
    os.close(os.open("lock-%d" % i, os.O_CREAT | os.O_WRONLY))
    os.unlink("lock-%d" % i)
os.mkdir("sub")
for i in range(3):
    with open("sub/%d" % i, "wb") as file:
        file.write(bytes(3000))
"""


class OtherTools(unittest.TestCase):
    """Each method checks the output for one tool's row."""

    ALONE = True  # attaches to all processes

    @classmethod
    def setUpClass(cls):
        cls.workspace = workspace = Workspace("ext4")
        workspace.write("job.py", JOB)
        for name, size in ("data", READ), ("table", SMALL), ("stream", STREAM):
            random_file(workspace.path(name), size)

        def record():
            for name in "written", "sub":
                shutil.rmtree(workspace.path(name), ignore_errors=True)
                if os.path.exists(workspace.path(name)):
                    os.unlink(workspace.path(name))
            for name in "data", "table", "stream":
                cool(workspace.path(name))
            return Recording(["/usr/bin/python3", "-S", "-E", "job.py"], "--force",
                             trace=workspace.path("job.flt"), cwd=workspace.directory)

        cls.recording = harness.counted_right(
            lambda: harness.undisturbed(
                record, lambda done: done.file(workspace.path("data"))["read"]["fetched_bytes"] == READ),
            lambda done: [done.trace.files[row["file"]]["path"] for row in done.trace.dicts("bio")
                          if row["file"] in done.trace.files]
            .count(os.fsencode(workspace.path("table"))) >= RANDOM_READS)
        number = os.stat(workspace.directory).st_dev
        cls.device = next(row for row in cls.recording.report["devices"]
                          if row["dev"] == f"{os.major(number)}:{os.minor(number)}")
        cls.pid = next(row["pid"] for row in cls.recording.report["processes"])

    def type(self, tool, **environment):
        return self.workspace.type(TOOLS[tool], **environment)

    def csv(self, tool):
        return list(csv.DictReader(io.StringIO(self.type(tool))))

    def test_all_are_tested(self):
        known = {name[len("test_"):] for name in dir(self) if name.startswith("test_")}
        self.assertEqual({re.sub(r"\W+", "_", tool) for tool in TOOLS}, known - {"all_are_tested"})

    def test_strace_c(self):
        ours = {}
        for row in cells(self.type("strace -c"))[1:]:
            name = next(word for word in row if re.fullmatch(r"[a-z_0-9]+", word))
            numbers = [int(word.replace(",", "")) for word in row if re.fullmatch(r"[\d,]+", word)]
            ours[name] = numbers
        workspace = Workspace()
        for name in "data", "table", "stream":
            os.symlink(self.workspace.path(name), workspace.path(name))
        counts = harness.strace_counts(["/usr/bin/python3", "-S", "-E", self.workspace.path("job.py")],
                                       cwd=workspace.directory)
        for call in "pread64", "pwrite64", "fsync", "sync", "unlink", "mkdir":
            self.assertEqual(ours[call][0], counts[call][0], call)
        self.assertEqual((ours["fsync"][0], ours["sync"][0], ours["unlink"][0]), (3, 1, LOCKS))

    def test_perf_trace(self):
        out = self.type("perf trace")
        fsync = rf'\(python3\) fsync "{self.workspace.path("written")}" = 0 <'
        self.assertGreaterEqual(len(re.findall(fsync, out)), 3)
        self.assertIn(f"asked {READ} = {READ}", out.replace(",", ""))
        self.assertRegex(out, r"\(python3\) fault ")

    def working(self, tool):
        worker = self.workspace.worker()
        self.addCleanup(stop, worker)
        return worker, self.type(tool, PID=str(worker.pid))

    def test_iotop(self):
        worker, out = self.working("iotop")
        (row,) = [row for row in cells(out) if str(worker.pid) in row]
        self.assertTrue(any(word.startswith("python3") for word in row), row)
        self.assertGreaterEqual(len([word for word in row if re.search(r"\d [KMG]iB$", word)]), 2, row)

    def test_pidstat_d(self):
        _, out = self.working("pidstat -d")
        rows = cells(out)
        seconds = [row for row in rows if row[-1] in ("0", "1", "2")]
        self.assertTrue(seconds, out)
        self.assertTrue(all(re.search(r"\d [KM]iB", " ".join(row)) for row in seconds[:1]), out)

    def test_fatrace(self):
        worker, out = self.working("fatrace")
        path = self.workspace.path("worked-on")
        self.assertRegex(out, rf'{worker.pid}/{worker.pid} \(python3\) openat "{path}"')
        self.assertRegex(out, rf'{worker.pid}/{worker.pid} \(python3\) write "{path}.log" ')

    def test_blktrace(self):
        out = self.type("blktrace")
        path = self.workspace.path("table")
        self.assertGreaterEqual(len(re.findall(rf'\(python3\) request_read "{path}" offset', out)),
                                RANDOM_READS)  # bios have the offset in the file
        self.assertRegex(out, r"request \d+ dev 7:\d+.* sector \d+ .*queue .*<")

    def test_opensnoop(self):
        out = self.type("opensnoop")
        for name in ("data", "table", "written", "lock-3", "sub/2"):
            self.assertRegex(out, rf'\(python3\) openat "{self.workspace.path(name)}" = \d+ ')
        self.assertRegex(out, r"= -ENOENT")

    def test_fileslower(self):
        out = self.type("fileslower")
        # a read of 32 MiB takes longer than that, from anywhere
        self.assertRegex(out, rf'\(python3\) pread64 "{self.workspace.path("data")}" offset 0 asked {READ} ')
        self.assertNotRegex(out, r"<\d+(\.\d)? (us|ns)>")

    def test_fsslower(self):
        out = self.type("fsslower")
        slowest = cells(out)[1:21]
        self.assertTrue([row for row in slowest if re.search(r"pread64 .*/data", " ".join(row))], out)

    def test_filetop(self):
        rows = [row for row in cells(self.type("filetop")) if row[-1].startswith("/")]
        (first,) = [row for row in rows if row[-1] == self.workspace.path("data")]
        self.assertEqual(rows.index(first), 0)
        self.assertIn("64.0 MiB", first)
        self.assertIn(str(1 + READ // MIB), first)
        (written,) = [row for row in rows if row[-1] == self.workspace.path("written")]
        self.assertIn("800 KiB", written)
        self.assertIn(str(WRITES), written)

    def test_filelife(self):
        out = self.type("filelife")
        rows = [row for row in cells(out) if "/lock-" in row[-1]]
        self.assertEqual({row[-1] for row in rows},
                         {self.workspace.path(f"lock-{i}") for i in range(LOCKS)})
        for row in rows:
            self.assertEqual(row[1:5], [str(self.pid), "python3", str(self.pid), "python3"])
        self.assertNotIn("written", out.split("\n", 1)[1])

    def test_dirtop(self):
        rows = {row[-1]: row for row in cells(self.type("dirtop"))}
        self.assertIn("8.8 KiB", rows[self.workspace.path("sub")])
        self.assertIn("65.2 MiB", rows[self.workspace.directory])

    def test_vfsstat(self):
        seconds = [row for row in cells(self.type("vfsstat")) if row[-1].isdigit()]
        first = [row for row in seconds if len(row) == 5]
        self.assertTrue(first)
        sums = [sum(int(row[i].replace(",", "")) for row in first) for i in range(4)]
        totals = self.recording.report["totals"]
        self.assertEqual(sums, [totals[name]["count"] for name in ("read", "write", "sync", "metadata")])
        opens = sum(int(row[0].replace(",", "")) for row in seconds if len(row) == 2)
        operations = self.recording.operations()
        self.assertEqual(opens, sum(operations[op][0] for op in operations if op.startswith("open")))

    def test_statsnoop(self):
        out = self.type("statsnoop")
        found = r'\(python3\) (newfstatat|stat|statx) "{}" = {}'
        for name, result in ("missing", "-ENOENT"), ("data", "0"):
            self.assertEqual(len(re.findall(found.format(self.workspace.path(name), result), out)), MISSING)

    def test_syncsnoop(self):
        out = self.type("syncsnoop")
        self.assertEqual(len(out.splitlines()), 4)
        self.assertRegex(out, r"\(python3\) sync = 0 <")
        self.assertEqual(out.count(f'(python3) fsync "{self.workspace.path("written")}" = 0 <'), 3)

    def test_cachestat(self):
        """Over all seconds, half of the bytes read came from storage."""
        sizes = {"B": 1, "KiB": 1 << 10, "MiB": MIB}
        requested = had = 0
        for row in cells(self.type("cachestat")):
            if row[-1].isdigit() and row[1].endswith("%"):
                number, unit = row[0].split()
                requested += float(number) * sizes[unit]
                had += float(number) * sizes[unit] * float(row[1].lstrip("<")[:-1]) / 100
        self.assertGreater(requested, 64 * MIB)
        self.assertTrue(0.45 < had / requested < 0.55, (had, requested))

    def test_cachetop(self):
        (row,) = [row for row in cells(self.type("cachetop")) if row[-1] == str(self.pid)]
        share = float(next(word for word in row if word.endswith("%"))[:-1])
        self.assertGreater(share, 45)
        self.assertLess(share, 55)
        self.assertIn("812 KiB", row)  # pages that writes created: 200, and 3 for 3000 bytes each

    def test_readahead(self):
        """Half of a file is read from its start, and some of it was fetched ahead. The amount is
        up to the kernel; the table matches the JSON report."""
        path = self.workspace.path("stream")
        (row,) = [row for row in cells(self.type("readahead")) if row[-1] == path]
        (ours,) = [row for row in self.recording.report["readahead"] if row["path"] == path]
        self.assertGreater(ours["ahead_bytes"], 0)
        self.assertGreaterEqual(ours["ahead_bytes"], ours["used_bytes"] + ours["unused_bytes"])
        self.assertEqual(len(row), 6)
        self.assertRegex(row[0], r"^[\d.]+ [KM]iB$")

    def test_biosnoop(self):
        out = self.type("biosnoop")
        requests = [line for line in out.splitlines() if f'"{self.workspace.path("table")}"' in line]
        self.assertGreaterEqual(len(requests), RANDOM_READS)
        for line in requests:
            self.assertRegex(line, r"\(python3\) request_read .* bytes 4\.0 KiB .*<.*>")

    def test_biolatency(self):
        """All requests of a kind are in one latency bucket."""
        rows = [row for row in cells(self.type("biolatency"))
                if row[0] == self.device["name"] and "read" in row and "latency_ns" in row]
        requests = sum(int(row[-1].replace(",", "")) for row in rows)
        self.assertEqual(requests, self.device["read"]["requests"])

    def test_biopattern(self):
        (row,) = [row for row in cells(self.type("biopattern")) if row[0] == self.device["name"]]
        sequential, random = (int(word.replace(",", "")) for word in row[1:3])
        self.assertEqual(sequential + random, self.device["read"]["requests"] - 1)
        # the table's random reads, except those that continue the previous one; file data came in
        # order
        self.assertGreaterEqual(random, RANDOM_READS - 1)
        self.assertGreaterEqual(sequential, 1)

    def test_bitesize(self):
        (most,) = [row for row in self.csv("bitesize")
                   if row["comm"] == "python3" and row["name"] == self.device["name"]]
        self.assertGreaterEqual(int(most["sizes.<=4KiB"]), RANDOM_READS)
        sizes = sum(int(value) for name, value in most.items() if name.startswith("sizes."))
        self.assertEqual(sizes, int(most["requests"]))


if __name__ == "__main__":
    unittest.main()
