# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cross-builds Faultline with Debian packages of the other architecture unpacked into a
directory: installs nothing, and needs no root."""
import os
import shutil
import subprocess

import kernels

COMPILERS = {"arm64": "aarch64-linux-gnu-gcc"}
# For the build, and for the guest: libraries of faultline, strace, busybox, the tools that make
# devices and file systems, and the interpreter of jobs in Python.
PACKAGES = """libc6 libc6-dev linux-libc-dev libgcc-s1 libcrypt1 libbpf-dev libbpf1 libelf-dev libelf1
    zlib1g zlib1g-dev libzstd1 libzstd-dev libjson-c5 libjson-c-dev libmsgpackc2 libmsgpack-dev
    libsqlite3-0 libsqlite3-dev libdeflate0 libdeflate-dev
    libmicrohttpd12 libmicrohttpd-dev libgnutls30 libp11-kit0 libidn2-0 libunistring2 libtasn1-6
    libnettle8 libhogweed6 libgmp10 libffi8
    systemtap-sdt-dev strace libunwind8 liblzma5 busybox-static
    dmsetup libdevmapper1.02.1 libudev1 libselinux1 libpcre2-8-0
    e2fsprogs libext2fs2 libcom-err2 libss2 libblkid1 libuuid1 btrfs-progs liblzo2-2
    util-linux libdw1 libdw-dev libbz2-1.0 libiberty-dev
    python3.11-minimal libpython3.11-minimal libexpat1""".split()


def suite():
    """This machine's own release, whose library versions the sources target."""
    with open("/etc/os-release") as file:
        for line in file:
            if line.startswith("VERSION_CODENAME="):
                return line.split("=")[1].strip()
    return "bookworm"


def sysroot(packages):
    """A directory that serves as / of the other architecture."""
    packages.all_names()
    files = [packages.download(name, suite()) for name in PACKAGES]
    return packages.unpack(files, "sysroot")


def build(packages, top, where, programs):
    """Builds `programs` (paths below `where`); returns the sysroot directory."""
    compiler = COMPILERS[packages.architecture]
    if not shutil.which(compiler):
        raise kernels.Unavailable(f"{compiler} is missing: scripts/setup.sh vm-arm64 installs it")
    root = sysroot(packages)
    command = ["make", "-C", top, f"BUILD={where}", f"SYSROOT={root}", f"CC={compiler}"]
    done = subprocess.run([*command, *(os.path.join(where, name) for name in programs)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"the build for {packages.architecture} failed:\n{done.stdout[-3000:]}")
    return root
