# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A job that opens files under every kind of name, and writes down what each should be called.

usage: job_names.py DIR BIND OUT     BIND is DIR/bound, mounted elsewhere

OUT: {case: {"ino": .., "bytes": read from it, "path": hex of its absolute path}} and, under
"missing", {case: hex of a path whose lookup failed}.
"""
import json
import os
import sys

top, bind, out = (os.fsencode(argument) for argument in sys.argv[1:])
cases, missing, size = {}, {}, 100


def make(path):
    """A file of unique length."""
    global size
    size += 1
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(fd, b"x" * size)
    os.close(fd)
    return path


def read(case, fd, path):
    """Reads a whole file and writes down its expected name."""
    count = 0
    while data := os.read(fd, 4096):
        count += len(data)
    cases[case] = {"ino": os.fstat(fd).st_ino, "bytes": count, "path": path.hex()}
    os.close(fd)


def try_open(case, path, expected=None, **options):
    try:
        os.open(path, os.O_RDONLY, **options)
    except OSError:
        missing[case] = (expected or path).hex()
    else:
        raise SystemExit(f"{path} should not be there")


def names():
    for case, name in (
        ("plain", b"plain"),
        ("latin", b"caf\xe9 \xff\xfe"),
        ("newline", b"two\nlines\n"),
        ("escape", b"\x1b[31mred\x07"),
        ("quotes", b"'\"\\ $(x)"),
        ("longest", b"n" * 255),
        ("utf-8", "größe-数据".encode()),
    ):
        path = make(os.path.join(top, name))
        read(case, os.open(path, os.O_RDONLY), path)


def long_path():
    """About 4,000 bytes, the maximum for a system call."""
    path = top
    while len(path) < 3850:
        path = os.path.join(path, b"d" * 200)
        os.mkdir(path)
    path = make(os.path.join(path, b"f" * (4090 - len(path) - 1)))
    read("long", os.open(path, os.O_RDONLY), path)


def deep_path():
    """700 components: too deep for many readers."""
    here = os.getcwd()
    path = top
    os.chdir(top)
    for _ in range(700):
        os.mkdir(b"p")
        os.chdir(b"p")
        path = os.path.join(path, b"p")
    make(b"deep")
    read("deep", os.open(b"deep", os.O_RDONLY), os.path.join(path, b"deep"))
    os.chdir(here)


def other_ways():
    """One file each, because a file keeps the name by which it was first opened."""
    target = make(os.path.join(top, b"target"))
    os.symlink(target, os.path.join(top, b"link"))
    read("symlink", os.open(os.path.join(top, b"link"), os.O_RDONLY), target)

    bound = os.path.join(bind, b"in-bind")
    make(os.path.join(top, b"bound", b"in-bind"))  # first known by this name
    make(bound + b"-only")
    read("bind", os.open(bound + b"-only", os.O_RDONLY), bound + b"-only")

    again = make(os.path.join(top, b"again"))
    first = os.open(again, os.O_RDONLY)
    read("proc_fd", os.open(b"/proc/self/fd/%d" % first, os.O_RDONLY), again)

    os.mkdir(os.path.join(top, b"dir"))
    relative = make(os.path.join(top, b"dir", b"relative"))
    os.chdir(os.path.join(top, b"dir"))
    read("cwd", os.open(b"../dir/./relative", os.O_RDONLY), relative)
    at = make(os.path.join(top, b"dir", b"at"))
    directory = os.open(top, os.O_RDONLY)
    read("dir_fd", os.open(b"dir/at", os.O_RDONLY, dir_fd=directory), at)

    try_open("missing", os.path.join(top, b"not-there"))
    try_open("missing_latin", os.path.join(top, b"no\xff"))
    try_open("missing_cwd", b"nor-here", os.path.join(top, b"dir", b"nor-here"))
    try_open("missing_dir_fd", b"dir/no", os.path.join(top, b"dir/no"), dir_fd=directory)
    try_open("missing_long", os.path.join(top, b"l" * 255, b"m" * 255))
    os.chdir(b"/")


def gone():
    """Files whose name is removed while they are open, or that never had one."""
    path = make(os.path.join(top, b"unlinked"))
    fd = os.open(path, os.O_RDONLY)
    os.unlink(path)
    read("unlinked", fd, path)

    path = make(os.path.join(top, b"replaced"))
    old = os.open(path, os.O_RDONLY)
    os.rename(make(os.path.join(top, b"replacement")), path)
    read("replaced_new", os.open(path, os.O_RDONLY), path)
    read("replaced_old", old, path)

    fd = os.memfd_create("a-memfd")
    os.write(fd, b"y" * 777)
    os.lseek(fd, 0, os.SEEK_SET)
    read("memfd", fd, b"memfd:a-memfd")

    fd = os.open(top, os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"y" * 778)
    os.lseek(fd, 0, os.SEEK_SET)
    read("nameless", fd, b"")


def in_chroot():
    root = os.path.join(top, b"root")
    os.mkdir(root)
    path = make(os.path.join(root, b"inside"))
    pid = os.fork()
    if pid == 0:
        os.chroot(root)
        os.chdir(b"/")
        os.read(os.open(b"/inside", os.O_RDONLY), 4096)
        try:
            os.open(b"/not-inside", os.O_RDONLY)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    cases["chroot"] = {"ino": os.stat(path).st_ino, "bytes": os.stat(path).st_size,
                       "path": path.hex()}


names()
long_path()
deep_path()
other_ways()
gone()
in_chroot()
with open(out, "w") as file:
    json.dump({**cases, "missing": missing}, file)
