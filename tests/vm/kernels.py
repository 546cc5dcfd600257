# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds, fetches, unpacks and caches kernels of Debian and Ubuntu. Package lists and cache are
separate from the machine's; Debian's mirror is the one in its package sources."""
import glob
import hashlib
import http.client
import os
import re
import subprocess
import threading
import time
import urllib.request

import relocations

FALLBACK_MIRROR = "http://deb.debian.org/debian"
UBUNTU_MIRRORS = {"amd64": "http://archive.ubuntu.com/ubuntu",
                  "arm64": "http://ports.ubuntu.com/ubuntu-ports"}
# The package with the keys of Ubuntu's archive in its pool, and its SHA-256. The key for the suites
# below is F6ECB3762474EDA9D21B7022871920D1991BC93C.
UBUNTU_KEYS = ("pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb",
               "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f")
LIMIT = 600  # seconds for one apt call, or one package
# The ends of the packages' names. Ubuntu has more: ubuntu-aws, ubuntu-lowlatency and others.
FLAVOURS = {"": "cloud-{}", "full": "{}", "rt": "rt-{}", "16k": "{}-16k", "ubuntu": "generic"}
UBUNTU = re.compile("ubuntu(?:-([a-z]+))?")
# Modules that jobs load, and that Ubuntu ships in the large package linux-modules-extra.
EXTRA = ("null_blk", "scsi_debug")
SILENCE = 30  # seconds without data from a mirror


class Unavailable(Exception):
    """The request cannot be met here; the text gives the reason."""


def mirror():
    """The first of this machine's package sources with Debian's own suites."""
    for path in [*glob.glob("/etc/apt/sources.list.d/*.sources"), "/etc/apt/sources.list"]:
        try:
            with open(path) as file:
                lines = file.read().splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith(("URIs:", "deb ")):
                for word in line.split():
                    if "://" in word and word.rstrip("/").endswith("/debian"):
                        return word.rstrip("/")
    return FALLBACK_MIRROR


class Packages:
    """Debian packages of one architecture, in a directory."""

    suites = ("bullseye", "bookworm", "bookworm-backports", "trixie", "trixie-backports")

    def __init__(self, top, architecture, until=None, suites=None):
        """`until`: time.monotonic() after which missing packages count as unavailable."""
        self.top = os.path.join(os.path.abspath(top), architecture)
        self.architecture = architecture
        self.url = mirror()
        self.until = until
        self.suites = suites or self.suites
        self.names = None
        self.lock = threading.Lock()  # guests of one kernel may want the same package
        self.ubuntu = None

    def of_ubuntu(self):
        """Ubuntu's packages, in a directory next to this one."""
        self.ubuntu = self.ubuntu or UbuntuPackages(self)
        return self.ubuntu

    def source_options(self):
        """For a line of sources.list."""
        return f"arch={self.architecture}"

    def seconds_left(self):
        left = LIMIT if self.until is None else min(LIMIT, self.until - time.monotonic())
        if left <= 0:
            raise Unavailable("no time is left to fetch it")
        return left

    def apt(self, tool, *arguments):
        lists, cache = os.path.join(self.top, "lists"), os.path.join(self.top, "cache")
        options = {
            "Dir::State::lists": lists,
            "Dir::Cache": cache,
            "Dir::Etc::sourcelist": os.path.join(self.top, "sources.list"),
            "Dir::Etc::sourceparts": "/dev/null",
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Acquire::http::Timeout": str(SILENCE),
        }
        if os.geteuid() == 0:
            options["APT::Sandbox::User"] = "root"
        command = [tool, "-q"]
        for name, value in options.items():
            command += ["-o", f"{name}={value}"]
        for directory in (f"{lists}/partial", f"{cache}/archives/partial"):
            os.makedirs(directory, exist_ok=True)
        return subprocess.run([*command, *arguments], cwd=self.top, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=self.seconds_left())

    def all_names(self):
        """Names of all packages; suites missing on the mirror are left out."""
        if self.names is not None:
            return self.names
        os.makedirs(self.top, exist_ok=True)
        done = os.path.join(self.top, "updated")
        if not os.path.exists(done):
            options = self.source_options()
            with open(os.path.join(self.top, "sources.list"), "w") as file:
                for suite in self.suites:
                    file.write(f"deb [{options}] {self.url} {suite} main\n")
            self.apt("apt-get", "update")
        names = self.apt("apt-cache", "pkgnames").stdout.split()
        if not names:
            raise Unavailable(f"no package lists from {self.url}")
        with open(done, "w"):
            self.names = names
        return names

    def download(self, name, suite=None):
        """The path of a package's file: the newest, or that of a suite."""
        have = glob.glob(os.path.join(self.top, f"{name}_*.deb"))
        if not have:
            done = self.apt("apt-get", "download", f"{name}/{suite}" if suite else name)
            have = glob.glob(os.path.join(self.top, f"{name}_*.deb"))
            if not have:
                output = done.stderr.strip().splitlines()
                raise Unavailable(f"{name} cannot be fetched: {output[-1] if output else 'no reason'}")
        return have[0]

    def download_all(self, names):
        """The paths of the files of packages and of all packages that they depend on."""
        done = self.apt("apt-get", "-y", "-o", "Dir::State::status=/dev/null", "-o",
                        "Debug::NoLocking=true", "--no-install-recommends", "--download-only",
                        "install", *names)
        if done.returncode:
            output = done.stderr.strip().splitlines()
            raise Unavailable(f"packages cannot be fetched: {output[-1] if output else 'no reason'}")
        return sorted(glob.glob(os.path.join(self.top, "cache/archives/*.deb")))

    def from_pool(self, pattern):
        """Fetches the newest package of a kind from the pool if no list has it."""
        found = set()
        for source in (f"linux-signed-{self.architecture}", "linux"):
            try:
                text = self.read(f"{self.url}/pool/main/l/{source}/").decode(errors="replace")
            except OSError:
                continue
            for name in re.findall(r'href="([^"/]+\.deb)"', text):
                name = name.replace("%2b", "+").replace("%2B", "+").replace("%7e", "~")
                if re.fullmatch(pattern, name.split("_")[0]):
                    found.add((version_key(name), source, name))
        if not found:
            return None
        _, source, name = max(found)
        path = os.path.join(self.top, name)
        if not os.path.exists(path):
            with open(f"{path}.part", "wb") as file:
                file.write(self.read(f"{self.url}/pool/main/l/{source}/{name}"))
            os.rename(f"{path}.part", path)
        return path

    def read(self, url):
        """The complete contents of a URL, within the remaining time."""
        self.seconds_left()
        text = b""
        try:
            with urllib.request.urlopen(url, timeout=SILENCE) as page:
                while part := page.read(1 << 20):
                    text += part
                    self.seconds_left()
                length = int(page.headers.get("Content-Length", len(text)))
        except http.client.HTTPException as error:
            raise Unavailable(f"{url}: {error}") from error
        if len(text) != length:
            raise Unavailable(f"{url}: {len(text)} of {length} bytes came")
        return text

    def unpack(self, files, directory):
        """Unpacks packages, each once; `directory` is below the cache."""
        directory = os.path.join(self.top, directory)
        done = os.path.join(directory, ".done")
        os.makedirs(directory, exist_ok=True)
        with open(done, "a+") as list_of_them:
            list_of_them.seek(0)
            have = list_of_them.read().splitlines()
            for file in files:
                name = os.path.basename(file)
                if name not in have:
                    subprocess.run(["dpkg", "-x", file, directory], check=True)
                    print(name, file=list_of_them, flush=True)
        return directory


class UbuntuPackages(Packages):
    """Ubuntu packages of one architecture, in a directory."""

    suites = ("jammy", "jammy-updates", "noble", "noble-updates")

    def __init__(self, debian):
        super().__init__(os.path.dirname(debian.top), debian.architecture, debian.until)
        self.top = f"{debian.top}-ubuntu"
        self.url = UBUNTU_MIRRORS[self.architecture]

    def source_options(self):
        path, digest = UBUNTU_KEYS
        package = self.read(f"{self.url}/{path}")
        if hashlib.sha256(package).hexdigest() != digest:
            raise Unavailable(f"{self.url}/{path} has an unknown content")
        kept = os.path.join(self.top, os.path.basename(path))
        with open(kept, "wb") as file:
            file.write(package)
        keys = f"{self.unpack([kept], 'keys')}/usr/share/keyrings/ubuntu-archive-keyring.gpg"
        return f"{super().source_options()} signed-by={keys}"


def version_key(text):
    return [int(part) if part.isdigit() else 0 for part in re.split(r"(\d+)", text)]


def newest(names, pattern):
    found = [name for name in names if re.fullmatch(pattern, name)]
    return max(found, key=version_key) if found else None


def types_of(image):
    types = relocations.types_of_image(image)
    if not types:
        raise Unavailable(f"{image} has no type information")
    return types


def debian_files(packages, version, flavour):
    """The packages of a kernel, with its image first."""
    named = FLAVOURS[flavour].format(packages.architecture)
    wanted = rf"{re.escape(version)}\.[0-9+~.a-z]*(-[0-9]+)?-{named}"
    # From 6.19 on the image package is empty and split into linux-binary and linux-modules.
    name = newest(packages.all_names(), f"linux-binary-{wanted}")
    if name:
        modules = name.replace("linux-binary", "linux-modules", 1)
        return [packages.download(name), packages.download(modules)]
    name = newest(packages.all_names(), f"linux-image-{wanted}")
    path = packages.download(name) if name else packages.from_pool(f"linux-image-{wanted}")
    if not path:
        raise Unavailable(f"no kernel {wanted} in the lists or the pool of {packages.url}")
    return [path]


def ubuntu_files(packages, version, flavour):
    """The same of Ubuntu, without the EXTRA modules."""
    named = UBUNTU.fullmatch(flavour)[1] or FLAVOURS["ubuntu"]
    wanted = rf"{re.escape(version)}\.[0-9]+-[0-9]+-{named}"
    name = newest(packages.all_names(), f"linux-image-unsigned-{wanted}")
    if not name:
        raise Unavailable(f"no kernel {wanted} in the lists of {packages.url}")
    modules = name.replace("linux-image-unsigned", "linux-modules", 1)
    return [packages.download(name), packages.download(modules)]


class Kernel:
    """An unpacked kernel: its image, its modules, its name. `requested` is a version, for example
    6.12, optionally with a flavour: 6.12-rt, 5.15-ubuntu."""

    ubuntu = False

    def __init__(self, packages, requested):
        self.version, _, self.flavour = requested.partition("-")
        self.ubuntu = bool(UBUNTU.fullmatch(self.flavour))
        if self.flavour not in FLAVOURS and not self.ubuntu:
            known = ", ".join(filter(None, FLAVOURS))
            raise Unavailable(f"no flavour {self.flavour}; there are {known}")
        self.packages = packages.of_ubuntu() if self.ubuntu else packages
        find = ubuntu_files if self.ubuntu else debian_files
        files = find(self.packages, self.version, self.flavour)
        package = os.path.basename(files[0]).split("_")[0]
        self.name = re.sub(r"^linux-(binary|image(-unsigned)?)-", "", package)
        self.top = self.packages.unpack(files, self.name)
        images = glob.glob(f"{self.top}/**/vmlinuz*", recursive=True)
        if not images:
            raise Unavailable(f"{package} holds no kernel")
        self.image = images[0]
        self.btf = f"{self.top}.btf"
        if not os.path.exists(self.btf):
            with open(self.btf, "wb") as file:
                file.write(types_of(self.image))

    def types(self):
        """The kernel's BTF."""
        with open(self.btf, "rb") as file:
            return file.read()

    def module(self, name):
        """The path of a module's file; None if it is built in."""
        if self.ubuntu and name in EXTRA:
            self.fetch_extra()
        spelt = re.sub("[-_]", "[-_]", name)
        found = glob.glob(f"{self.top}/**/{spelt}.ko*", recursive=True)
        return found[0] if found else None

    def fetch_extra(self):
        """Ubuntu's EXTRA modules."""
        with self.packages.lock:
            file = self.packages.download(f"linux-modules-extra-{self.name}")
            self.packages.unpack([file], self.name)


class Image(Kernel):
    """A kernel's image file, and a directory with its modules (or None)."""

    def __init__(self, image, modules):
        self.image, self.top = image, modules or os.devnull
        with open(image, "rb") as file:
            found = re.search(rb"(\d+\.\d+[^\0 ]*) \([^\0]*\) #\d+ ", file.read())
        if not found:
            raise Unavailable(f"{image} is no kernel")
        self.name = found[1].decode()
        self.version, self.flavour = re.match(r"\d+\.\d+", self.name)[0], ""

    def types(self):
        return types_of(self.image)
