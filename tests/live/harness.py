# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Common parts of the live tests: the program under test, scratch file systems, and oracles.

A live test compares what Faultline reports on a run with other sources on the same run: strace,
getrusage, mincore, /proc/self/io, the workload's own account. Nothing here asserts anything, or
depends on how Faultline works inside. decoded.py decodes traces by their documented format. Numbers
that readahead, scheduling or another program may change are only compared with such a source.
"""
import atexit
import ctypes
import functools
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import report_schema  # noqa: E402
from decoded import Trace  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
WORKLOADS = os.path.join(TOP, "tests/live/workloads")
PYTHON = "/usr/bin/python3"
NOBODY = 65534
LIMIT = 120  # seconds; only to end hanging programs

# Recorded calls by the kernel's names, listed by hand as specified. sync, which never fails and
# blocks every program, is in test_recipes.py.
RECORDED = """
    read pread64 readv preadv preadv2 write pwrite64 writev pwritev pwritev2
    open openat openat2 creat close stat fstat lstat newfstatat statx access faccessat faccessat2
    readlink readlinkat getdents getdents64 lseek ftruncate truncate fallocate
    fsync fdatasync msync sync_file_range syncfs mmap munmap mremap madvise mlock mlock2
    sendfile splice copy_file_range fadvise64 readahead
    mknod mknodat chmod fchmod fchmodat chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr
    rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link symlink
    execve statfs fstatfs flock fcntl_getlk fcntl_setlk fcntl_setlkw
    fcntl_ofd_getlk fcntl_ofd_setlk fcntl_ofd_setlkw""".split()

# Calls for which only some requests are recorded, as calls of their own: the requests by strace's
# names.
REQUESTS = {
    "fcntl": ("F_GETLK", "F_SETLK", "F_SETLKW", "F_OFD_GETLK", "F_OFD_SETLK", "F_OFD_SETLKW"),
    "ioctl": ("FICLONE", "FICLONERANGE", "FIDEDUPERANGE"),
}


class Broken(Exception):
    """The test could not run, for a reason other than the program under test."""


# --- scratch space -------------------------------------------------------------------------------


def run(*command, **options):
    """Runs a tool that must succeed; returns its stdout."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                          **options)
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise Broken(f"{' '.join(map(str, command))}: {message}")
    return done.stdout


class Machine:
    """Everything that the tests create outside of themselves, and its removal."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="faultline-live-", dir="/var/tmp")
        os.chmod(self.top, 0o755)
        self.mounts, self.loops, self.jobs, self.made = [], [], [], 0
        self.limits = {}
        atexit.register(self.remove)
        # Copies: a concurrent build does not affect the tests, and any user may run them.
        self.bin = os.path.join(self.top, "bin")
        os.mkdir(self.bin)
        program = os.environ.get("FAULTLINE", os.path.join(BUILD, "faultline"))
        try:
            self.faultline = shutil.copy(program, self.bin)
            for name in os.listdir(os.path.join(BUILD, "tests/live")):
                if "." not in name:
                    shutil.copy(os.path.join(BUILD, "tests/live", name), self.bin)
            # Next to the program, where it looks for its start-up hook.
            shutil.copytree(os.path.join(BUILD, "python"), os.path.join(self.bin, "python"))
        except FileNotFoundError as error:
            raise Broken(f"{error.filename} does not exist; run make programs") from None

    def program(self, name):
        return os.path.join(self.bin, name)

    def new_dir(self, where="root"):
        """A new empty directory on a file system: root, ext4, xfs."""
        self.made += 1
        path = os.path.join(self.file_system(where), f"{self.made:03d}")
        os.mkdir(path)
        os.chmod(path, 0o755)
        return path

    @functools.lru_cache(maxsize=None)
    def file_system(self, where):
        if where == "root":
            path = os.path.join(self.top, "root")
            os.mkdir(path)
            return path
        # The files of all tests together; the image is sparse.
        return self.mount_image(where, 4 << 30)

    def mount_image(self, kind, size):
        """A separate file system in an image file, through a loop device."""
        image = os.path.join(self.top, f"{kind}-{len(self.mounts)}.img")
        with open(image, "wb") as file:
            file.truncate(size)
        # Without lazy initialisation: it writes to the device while tests count its writes.
        lazy = "lazy_itable_init=0,lazy_journal_init=0"
        run(f"mkfs.{kind}", *{"ext4": ["-q", "-F", "-i", "65536", "-E", lazy], "xfs": ["-q"],
                              "btrfs": ["-q"]}[kind], image)
        device = self.new_loop(image)
        # The default is so large that a small file is read whole, whatever is touched.
        with open(f"/sys/block/{os.path.basename(device)}/queue/read_ahead_kb", "w") as file:
            file.write("128")
        return self.mount("-t", kind, device)

    def new_device(self, size):
        """An unmounted block device of random bytes."""
        image = random_file(os.path.join(self.new_dir(), "device.img"), size)
        return self.new_loop(image)

    def new_loop(self, path, *options):
        """A loop device over a file or another device."""
        device = run("losetup", "--find", "--show", *options, path).decode().strip()
        self.loops.append(device)
        return device

    def limit_dirty(self, device, size):
        """Limits a device's dirty bytes; False if this kernel cannot. The limits outlive a loop
        device and apply to the next with its number: remove() resets them."""
        with open(f"/sys/block/{os.path.basename(device)}/dev") as file:
            of = f"/sys/class/bdi/{file.read().strip()}"
        if not os.path.exists(f"{of}/max_bytes"):
            return False
        for name in ("strict_limit", "max_ratio"):
            with open(f"{of}/{name}") as file:
                self.limits[f"{of}/{name}"] = file.read()
        for name, value in ("strict_limit", 1), ("max_bytes", size):
            with open(f"{of}/{name}", "w") as file:
                file.write(str(value))
        return True

    def mount(self, *arguments):
        path = os.path.join(self.top, f"mount-{len(self.mounts)}")
        os.mkdir(path)
        run("mount", *arguments, path)
        self.mounts.append(path)
        return path

    def start(self, command, **options):
        """A process that is killed after the tests if still running."""
        job = subprocess.Popen(command, **options)
        self.jobs.append(job)
        return job

    def start_ready(self, command, *arguments, by=None, **options):
        """Faultline, from the moment it reports ready: its process, and its ready message. `by`:
        the command line that starts it, without its own arguments."""
        reader, writer = os.pipe()
        job = self.start([*(by or [self.faultline]), command, "--ready-fd", str(writer), *arguments],
                         stdin=subprocess.DEVNULL, pass_fds=[writer], **options)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            return job, pipe.read()

    def remove(self):
        for job in self.jobs:
            if job.poll() is None:
                job.kill()
                job.wait()
        self.jobs.clear()
        for path, value in self.limits.items():
            with open(path, "w") as file:
                file.write(value)
        self.limits.clear()
        for path in reversed(self.mounts):
            for _ in range(50):  # a leftover job may briefly still be in it
                if subprocess.run(["umount", path], stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                print(f"could not unmount {path}", file=sys.stderr)
                subprocess.run(["umount", "--lazy", path])
        self.mounts.clear()
        for device in self.loops:
            subprocess.run(["losetup", "-d", device])
        self.loops.clear()
        shutil.rmtree(self.top, ignore_errors=True)


@functools.lru_cache(maxsize=None)
def machine():
    return Machine()


def wait_until(condition, seconds=LIMIT):
    """Waits for a condition; False after a time that only a hang exceeds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def python_path(**more):
    """An environment in which programs find the package `faultline`."""
    return {**os.environ, "PYTHONPATH": machine().program("python"), **more}


def static_program(name):
    """A workload without a dynamic loader, whose calls its account would not include."""
    path = machine().program(f"{name}-static")
    if not os.path.exists(path):
        source, = pathlib.Path(WORKLOADS).rglob(f"{name}.c")
        run("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-pthread", "-static", f"-I{WORKLOADS}",
            "-o", path, source)
    return path


def device_number(path):
    """A block device's number, as in the rows."""
    number = os.stat(path).st_rdev
    return os.major(number) << 20 | os.minor(number)


# --- the page cache ------------------------------------------------------------------------------

libc = ctypes.CDLL(None, use_errno=True)


def resident_bytes(path):
    """How much of a file or block device is in the page cache, by mincore."""
    fd = os.open(path, os.O_RDONLY)
    size = os.lseek(fd, 0, os.SEEK_END)
    if size == 0:
        os.close(fd)
        return 0
    pages = -(-size // mmap.PAGESIZE)
    vector = (ctypes.c_ubyte * pages)()
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    os.close(fd)
    try:
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), vector):
            raise Broken(f"mincore: {os.strerror(ctypes.get_errno())}")
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
    return sum(page & 1 for page in vector) * mmap.PAGESIZE


def cool(path):
    """Evicts a file from the page cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    left = resident_bytes(path)
    if left:
        raise Broken(f"{path}: {left} bytes stay in the page cache")


def cache_drops():
    """The kernel's counters of drop_caches on this machine."""
    with open("/proc/vmstat") as file:
        return [line for line in file if line.startswith("drop_")]


def reclaims_what_is_cold():
    """DAMON monitors memory by address: it may evict pages read ahead into cold regions before
    they are used."""
    try:
        with open("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds") as file:
            return int(file.read()) > 0
    except OSError:
        return False


def undisturbed(action, is_right, tries=5):
    """Returns the result of `action`. Repeats it if it is not right and the page cache was
    dropped in between, as other tests on the same machine do, or if the kernel reclaims cold
    memory."""
    for _ in range(tries):
        before = cache_drops()
        result = action()
        if is_right(result):
            return result
        # The kernel counts a drop when it finishes, which may take a while.
        if not reclaims_what_is_cold() and not wait_until(lambda: cache_drops() != before, 2):
            return result
    if reclaims_what_is_cold():
        return result
    raise Broken("something keeps emptying this machine's page cache")


def counted_right(action, is_right):
    """Returns the first right result of up to five runs of `action`, or the last. Some kernels
    run no BPF program on top of some of their threads, not even in interrupts: several
    request completions in a row may then be missed."""
    for _ in range(5):
        result = action()
        if is_right(result):
            break
    return result


def random_file(path, size):
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
        file.write(os.urandom(size & ((1 << 20) - 1)))
    return path


def has_uring():
    """True if this kernel has io_uring and permits its use, according to the workload."""
    directory = machine().new_dir()
    data = random_file(f"{directory}/data", 64 << 10)
    done = subprocess.run([machine().program("uring"), data, f"{directory}/out.json"])
    return done.returncode != 77


# --- strace --------------------------------------------------------------------------------------


def strace_counts(command, **options):
    """{call: (count, errors)} of all system calls of a command and its children."""
    with tempfile.NamedTemporaryFile("r", dir=machine().top) as out:
        run("strace", "-f", "-qq", "-c", "-U", "name,calls,errors", "-o", out.name, *command,
            **options)
        counts = {}
        for line in out.read().splitlines():
            words = line.split()
            if len(words) > 1 and words[1].isdigit() and words[0] != "total":
                counts[words[0]] = (int(words[1]), int(words[2]) if len(words) > 2 else 0)
        return counts


def strace_requests(command, **options):
    """{call_request: (count, errors)} of REQUESTS, for a command and its children."""
    directory = machine().new_dir()
    run(
        "strace",
        "-ff",  # a file per thread: lines do not interleave
        "-qq",
        "-e",
        "trace=" + ",".join(REQUESTS),
        "-o",
        f"{directory}/calls",
        *command,
        **options,
    )
    counts = {}
    for name in os.listdir(directory):
        with open(f"{directory}/{name}", errors="replace") as file:
            for call, words, result in re.findall(
                r"^(\w+)\(-?\d+, ([\w ]+).* = (-?\d+)", file.read(), re.MULTILINE
            ):
                # One number may have two names: "BTRFS_IOC_CLONE or FICLONE".
                for request in set(words.split()) & set(REQUESTS[call]):
                    key = f"{call}_{request[2:] if call == 'fcntl' else request}".lower()
                    count, errors = counts.get(key, (0, 0))
                    counts[key] = (count + 1, errors + (int(result) < 0))
    return counts


def expected_counts(program, *arguments):
    """{call: (count, errors)} to be recorded for a program that is given a new directory."""
    counts = strace_counts([program, machine().new_dir(), *arguments])
    counts.update(strace_requests([program, machine().new_dir(), *arguments]))
    # The exec of the program itself: recording starts after it.
    count, errors = counts["execve"]
    return {**counts, "execve": (count - 1, errors)}


# --- the program under test ----------------------------------------------------------------------


def captured(*command, **options):
    """Runs a command, whatever its exit status; stdout and stderr as bytes."""
    return subprocess.run(command, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                      "stderr": subprocess.PIPE, "timeout": LIMIT, **options})


def faultline(*arguments, **options):
    return captured(machine().faultline, *arguments, **options)


class Traced:
    """A run that leaves a trace at `path`."""

    @functools.cached_property
    def report(self):
        return report_of(self.path)

    @functools.cached_property
    def trace(self):
        return Trace(self.path)


class Recording(Traced):
    """A run of a command under `faultline run`, with its trace and report."""

    def __init__(self, command, *arguments, trace=None, status=0, **options):
        self.path = trace or os.path.join(machine().new_dir(), "trace.flt")
        self.done = faultline("run", "-o", self.path, *arguments, "--", *command, **options)
        self.stderr = self.done.stderr.decode(errors="replace") if self.done.stderr else ""
        if status is not None and self.done.returncode != status:
            raise AssertionError(
                f"exit status {self.done.returncode} in place of {status} from "
                f"{' '.join(command)}: {self.stderr.strip()}"
            )

    def operations(self):
        """{call: (count, errors)} from the report."""
        return {
            row["op"]: (row["count"], row["errors"])
            for row in self.report["operations"]
            if row["layer"] == "syscall" and row["count"]
        }

    def file(self, path):
        """The report's row of a file; there must be exactly one."""
        found = [row for row in self.report["files"] if row["path"] == path]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} rows in files for {path}")
        return found[0]


class CpuQuota:
    """A new cgroup whose quota is this many CPUs; skips the test if there can be none."""

    def __init__(self, test, cpus):
        first = os.path.isdir("/sys/fs/cgroup/cpu")
        try:
            self.path = new_cgroup(test, "cpu" if first else "")
            files = {"cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": int(cpus * 100000)} \
                if first else {"cpu.max": f"{int(cpus * 100000)} 100000"}
            for name, value in files.items():
                with open(f"{self.path}/{name}", "w") as file:
                    file.write(str(value))
        except OSError as error:
            test.skipTest(f"no cgroup with a CPU quota can be made here: {error}")

    def enter(self):
        with open(f"{self.path}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))

    def throttled_ns(self):
        with open(f"{self.path}/cpu.stat") as file:
            words = dict(line.split() for line in file)
        return int(words.get("throttled_usec", 0)) * 1000 or int(words["throttled_time"])


def cgroup_mount(controller):
    """Where cgroups with this controller are ("": of version 2); None: nowhere."""
    with open("/proc/self/mountinfo") as file:
        mounts = [(*line.split()[4:5], *line.split(" - ")[1].split()[:3]) for line in file]
    first = [mount for mount, kind, _, options in mounts if kind == "cgroup" and controller in options.split(",")]
    second = [mount for mount, kind, *_ in mounts if kind == "cgroup2"]
    try:
        if controller and second and not first:
            with open(f"{second[0]}/cgroup.subtree_control", "w") as file:
                file.write("+io" if controller == "blkio" else f"+{controller}")
        return (first or second or [None])[0]
    except OSError:
        return None


def limit_memory(group, size):
    first = f"{group}/memory.limit_in_bytes"
    with open(first if os.path.exists(first) else f"{group}/memory.max", "w") as file:
        file.write(str(size))


def new_cgroup(test, hierarchy="", name=""):
    """A new cgroup in this controller's hierarchy ("" is cgroup v2, which is used if it has the
    controller), removed after the test; skips the test if there is no such hierarchy."""
    mount = cgroup_mount(hierarchy)
    if mount:
        os.makedirs(path := f"{mount}/faultline-{os.getpid()}-{time.monotonic_ns()}{name}")
        test.addCleanup(remove_cgroup, path)
        return path
    test.skipTest(f"no cgroup hierarchy of {hierarchy or 'the second version'} here")


def remove_cgroup(path):
    while "/faultline-" in path:
        if os.path.isdir(path):
            wait_until(lambda: not open(f"{path}/cgroup.procs").read(), 10)
            os.rmdir(path)
        path = os.path.dirname(path)


def in_cgroup(group, *command):
    """A command line that enters the cgroup and then execs, as container engines do."""
    return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', group, *command]


def little_memory(test, size):
    """A new cgroup with this much memory, and a swap file; skips the test if there can be none."""
    group = new_cgroup(test, "memory")
    swap = f"{machine().new_dir()}/swap"
    with open(swap, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        os.posix_fallocate(file.fileno(), 0, 128 << 20)
    run("mkswap", "-q", swap)
    if captured("swapon", swap).returncode:
        test.skipTest("no file may be swapped to here")
    test.addCleanup(run, "swapoff", swap)
    limit_memory(group, size)
    return group


def below_root(group):
    """The path of a cgroup below the root of its hierarchy."""
    return group[group.index("/faultline-"):]


class Attached(Traced):
    """faultline attach, from the moment it reports that it records."""

    def __init__(self, *arguments, by=None):
        """`by`: see Machine.start_ready."""
        self.path = os.path.join(machine().new_dir(), "trace.flt")
        self.process, messages = machine().start_ready(
            "attach", "-o", self.path, *arguments, by=by, stderr=subprocess.PIPE
        )
        if messages != "recording\n":
            raise AssertionError(f"not ready: {self.end()[1]}")

    def end(self, number=None):
        """Waits for its end, after sending a signal if one is given: status and stderr."""
        if number:
            self.process.send_signal(number)
        stderr = self.process.communicate(timeout=LIMIT)[1]
        return self.process.returncode, stderr.decode(errors="replace")


def followed(report):
    """Processes of a report without the kernel, which appears whenever it writes back."""
    return [row for row in report["processes"] if row["pid"]]


def report_of(path):
    done = faultline("report", "--format", "json", path)
    if done.returncode:
        raise AssertionError(f"report: {done.stderr.decode(errors='replace').strip()}")
    report = json.loads(done.stdout)
    report_schema.check(report)
    return report


ACCOUNTS = ("read", "write", "mmap", "indirect", "unattributed")


def fetched(row):
    """Bytes fetched into the page cache for reads of a file, by any method."""
    return sum(row[account]["fetched_bytes"] or 0 for account in ACCOUNTS if row[account])


def created(row):
    """Bytes newly cached by writes."""
    return sum(row[account]["created_bytes"] or 0 for account in ACCOUNTS if row[account])


def account(path):
    """A workload's own account."""
    with open(path) as file:
        return json.load(file)


def as_user(uid, *command):
    """A command line that runs `command` with a user's privileges and none of root's."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all",
            "--inh-caps=-all", *command]


def interrupt(signum, frame):
    sys.exit(128 + signum)


signal.signal(signal.SIGTERM, interrupt)
