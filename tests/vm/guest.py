# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Boots a kernel in QEMU with programs of this machine, runs a plan of jobs in it, and returns
their output."""
import functools
import glob
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Modules that a job can request (load NAME [OPTION...]): those that it names are in the guest.
LOADABLE = ("null_blk", "loop", "overlay", "xfs", "raid0", "dm_mod", "sd_mod", "scsi_debug",
            "nfsd", "nfsv3", "nfsv4", "nvme", "btrfs", "fuse", "9p", "9pnet_fd", "9pnet_virtio",
            "cifs", "ksmbd", "nls_utf8")
# The virtio disks in order, vda first: the jobs' files, one for raw writes, and the guest's output;
# plus one NVMe disk.
DISKS, XFS_MIB = {"scratch": 512, "bare": 256, "kept": 256}, 300
# An NVMe disk with two controllers, which have no driver until a job asks (paths on).
PATHS_MIB, PATH_ADDRESSES = 64, ("0x10", "0x11")
# The 9p server of QEMU itself, which logs what it does.
SHARED, SHARED_LOG, SHARED_BYTES = "share", "9p.log", 1 << 20
MEMORY_MIB, CPUS = 1536, 2
KEPT_BLOCK = 65536  # guest.sh


class Architecture:
    def __init__(self, name, qemu, triplet, machine, console):
        self.name, self.qemu, self.triplet = name, qemu, triplet
        self.machine, self.console = machine, console


ARCHITECTURES = {
    "amd64": Architecture("amd64", "qemu-system-x86_64", "x86_64-linux-gnu", "q35", "ttyS0"),
    "arm64": Architecture("arm64", "qemu-system-aarch64", "aarch64-linux-gnu", "virt", "ttyAMA0"),
}


def needed_libraries(path):
    """The libraries that the dynamic loader will look for, and the loader itself."""
    text = subprocess.run(
        ["readelf", "-dlW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text), re.findall(r"interpreter: (.*)\]", text)


class Root:
    """The initial file system of a guest."""

    def __init__(self, architecture, places):
        """`places`: root directories in which libraries are searched."""
        self.top = tempfile.mkdtemp(prefix="faultline-vm-")
        self.architecture, self.places = architecture, places
        for name in ("bin", "proc", "sys", "dev", "tmp", "mnt", "out", "root", "modules"):
            os.mkdir(os.path.join(self.top, name))

    def remove(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def put(self, source, target):
        target = self.top + target
        if not os.path.exists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)

    def find(self, path):
        """A file by its path or, without one, in the library directories."""
        triplet = self.architecture.triplet
        for place in self.places:
            for directory in ("", f"/usr/lib/{triplet}/", f"/lib/{triplet}/", "/usr/bin/", "/bin/"):
                if os.path.isfile(f"{place}{directory}{path}"):
                    return f"{place}{directory}{path}"
        return None

    def add_program(self, source, name=None):
        self.put(source, f"/bin/{name or os.path.basename(source)}")
        self.add_libraries(source)

    def add_libraries(self, source):
        libraries, loaders = needed_libraries(source)
        for loader in loaders:
            found = self.find(loader)
            if found:
                self.put(found, loader)
        for library in libraries:
            self.add_library(library)

    def add_library(self, name):
        target = f"/usr/lib/{self.architecture.triplet}/{name}"
        found = self.find(name)
        if found and not os.path.exists(self.top + target):
            self.put(found, target)
            self.put(found, f"/lib/{self.architecture.triplet}/{name}")
            self.add_libraries(found)

    def add_modules(self, kernel, listed, *names):
        """Modules and their dependencies; the list file gives the load order."""
        order = []

        def add(name):
            name = name.replace("-", "_")
            path = kernel.module(name)
            if name in order or not path:
                return
            target = os.path.join(self.top, "modules", f"{name}.ko")
            unpack = {".xz": ["xz", "-dc"], ".zst": ["zstd", "-dcq"]}.get(
                os.path.splitext(path)[1], ["cat"]
            )
            with open(target, "wb") as file:
                subprocess.run([*unpack, path], stdout=file, check=True)
            for dependency in module_needs(target):
                add(dependency)
            order.append(name)

        for name in names:
            add(name)
        with open(os.path.join(self.top, "modules", listed), "w") as file:
            file.writelines(f"{name}\n" for name in order)

    def pack(self, target):
        files = subprocess.run(
            ["find", ".", "-print0"], cwd=self.top, stdout=subprocess.PIPE, check=True
        ).stdout
        with open(target, "wb") as file:
            subprocess.run(["cpio", "-0", "-o", "-H", "newc", "--quiet"], cwd=self.top, input=files,
                           stdout=file, check=True)


def module_needs(path):
    """The modules that a module depends on, by its .modinfo, and those that it loads by name later."""
    with open(path, "rb") as file:
        data = file.read()
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    wanted = re.findall(rb"\0softdep=(?:pre: )?(\w+)(?=\0)", data)
    names = found[1].split(b",") if found else []
    return [name.decode() for name in (*names, *wanted) if name]


@functools.lru_cache(maxsize=None)
def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise FileNotFoundError(f"{name} is missing: scripts/setup.sh vm installs it")
    return path


def unpack(disk, top):
    """Unpacks what guest.sh left on the disk: a directory for each ended job, below `top`."""
    at = 0
    with open(disk, "rb") as file:
        while True:
            file.seek(at)
            words = file.read(KEPT_BLOCK).rstrip(b"\0").split()
            if len(words) != 2 or not words[1].isdigit():
                return
            size = int(words[1]) * KEPT_BLOCK
            subprocess.run(["tar", "-xf", "-", "-C", top], input=file.read(size), check=True)
            at += KEPT_BLOCK + size


class Outcome:
    """A guest's output: a directory for each job that ended in it, and its console."""

    def __init__(self, top, console, reason):
        self.top, self.console, self.reason = top, console, reason

    def path(self, job, name):
        return os.path.join(self.top, "out", job, name)

    def read(self, job, name):
        try:
            with open(self.path(job, name), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def jobs(self):
        return sorted(os.path.basename(path) for path in glob.glob(f"{self.top}/out/*"))

    def missing(self):
        """The jobs that ended according to the console, but left no output."""
        ended = re.findall(r"^vm: [\d.]+ s: (\S+): \d+$", self.console, re.M)
        return sorted(set(ended) - set(self.jobs()))

    def remove(self):
        shutil.rmtree(self.top, ignore_errors=True)


def boot(kernel, root, plan, seconds, parameters="", cpu="max"):
    """Boots, runs the plan, and returns the Outcome; `reason` is None if all jobs were run."""
    work = tempfile.mkdtemp(prefix="faultline-vm-")
    try:
        return boot_in(work, kernel, root, plan, seconds, parameters, cpu)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def boot_in(work, kernel, root, plan, seconds, parameters, cpu):
    """The same, in a directory that the Outcome then owns."""
    arch = root.architecture
    shutil.copy(os.path.join(HERE, "guest.sh"), os.path.join(root.top, "init"))
    os.chmod(os.path.join(root.top, "init"), 0o755)
    with open(os.path.join(root.top, "plan"), "w") as file:
        file.write(plan)
    # File-system checksums, requested at run time without a module dependency.
    sums = ("crc32c_generic", "crc32c_cryptoapi")
    root.add_modules(kernel, "at-start", "virtio_pci", "virtio_blk", "ext4", *sums)
    for name in LOADABLE:
        if re.search(rf"\bload {name}\b", plan) or (name == "null_blk" and "disks " in plan):
            root.add_modules(kernel, name, name)
    root.pack(f"{work}/initramfs")
    for name, size in [*DISKS.items(), ("xfs", XFS_MIB), ("paths", PATHS_MIB)]:
        with open(f"{work}/{name}", "wb") as file:
            file.truncate(size << 20)
    subprocess.run([tool("mkfs.ext4"), "-qF", f"{work}/scratch"], check=True)
    subprocess.run([tool("mkfs.xfs"), "-q", f"{work}/xfs"], check=True)
    command = [tool(arch.qemu), "-machine", arch.machine, "-cpu", cpu, "-m", str(MEMORY_MIB)]
    # One thread for all CPUs: with several, attaching probes has made emulated kernels panic.
    command += ["-accel", "tcg,thread=single", "-smp", str(CPUS), "-nodefaults", "-no-user-config"]
    command += ["-display", "none", "-no-reboot", "-kernel", kernel.image]
    command += ["-initrd", f"{work}/initramfs", "-serial", f"file:{work}/console"]
    # On a slow host the guest's timer check would fail: skip it.
    always = "panic=-1 quiet no_timer_check"
    command += ["-append", f"console={arch.console} {always} {parameters}"]
    for name in DISKS:
        command += ["-drive", f"file={work}/{name},format=raw,if=none,id={name[0]},cache=unsafe"]
        command += ["-device", f"virtio-blk-pci,drive={name[0]}"]
    command += ["-drive", f"file={work}/xfs,format=raw,if=none,id=x,cache=unsafe"]
    command += ["-device", "nvme,serial=1,drive=x"]
    command += ["-device", "nvme-subsys,id=paths,nqn=paths"]
    for address in PATH_ADDRESSES:
        command += ["-device", f"nvme,id=path{address},serial=2,subsys=paths,addr={address}"]
    command += ["-drive", f"file={work}/paths,format=raw,if=none,id=p,cache=unsafe", "-device",
                f"nvme-ns,drive=p,bus=path{PATH_ADDRESSES[0]},nsid=1,shared=on"]
    if "load 9pnet_virtio" in plan:
        os.mkdir(f"{work}/{SHARED}")
        with open(f"{work}/{SHARED}/data", "wb") as file:
            file.write(os.urandom(SHARED_BYTES))
        command += ["-trace", "v9fs_*", "-D", f"{work}/{SHARED_LOG}", "-virtfs",
                    f"local,path={work}/{SHARED},mount_tag={SHARED},security_model=none"]
    reason = None
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=seconds)
        if done.returncode:
            reason = f"qemu: {done.stderr.decode(errors='replace').strip()}"
    except subprocess.TimeoutExpired:
        reason = f"the guest was still running after {seconds} s"
    with open(f"{work}/console", errors="replace") as file:
        console = file.read().replace("\r", "")
    if not reason and "vm: done" not in console:
        reason = "the guest died"
    unpack(f"{work}/kept", work)
    for name in (*DISKS, "xfs", "paths", "initramfs"):
        os.remove(f"{work}/{name}")
    return Outcome(work, console, reason)
