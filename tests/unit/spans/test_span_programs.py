# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The C library as programs use it: shared, static, from C++, installed, stripped, and more than
once in one process. span_listener reads the probes."""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _directory import InDirectory  # noqa: E402
from _span_listening import BUILD, Event, LISTENER, PLACE, environment, as_text  # noqa: E402

for library in ("libfaultline.so.0", "libfaultline.a"):
    shutil.copy(os.path.join(BUILD, library), PLACE)
os.symlink("libfaultline.so.0", os.path.join(PLACE, "libfaultline.so"))

PROGRAM = """
#include <faultline.h>
int main(void)
{
	struct faultline_args args;
	uint64_t outer, inner;
	faultline_args_init(&args);
	faultline_args_int(&args, "step", 3);
	outer = faultline_span_begin("outer", "compute", args.bytes, args.used);
	inner = faultline_span_begin(NULL, NULL, NULL, 9);
	faultline_instant("now", "mark", args.bytes, args.used);
	faultline_span_record("past", "io", args.bytes, args.used, 7, 9);
	faultline_span_end(inner);
	faultline_span_end(outer);
	return faultline_enabled();
}
"""
CXX_PROGRAM = """
#include <faultline.h>
#include <stdexcept>
int main()
{
	try {
		faultline::span outer("outer", "compute");
		faultline::span inner("inner");
		throw std::runtime_error("leaves both");
	} catch (const std::exception &) {
		faultline_instant("caught", "", NULL, 0);
	}
}
"""
LONG = """
#include <faultline.h>
#include <string.h>
static char name[10000], args[2000];
int main(void)
{
	memcpy(args, "\\xc5\\x03\\xfd", 3); /* 1021 bytes follow */
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name + 254, "\\xc3\\xa9", 2); /* a character across the edge */
	faultline_span_begin(name, name, args, 1025);
	memset(name, 0x80, sizeof(name) - 1);
	faultline_span_begin(name, "", args, 1024);
	memcpy(name + 252, "\\xf0\\x9d\\x84\\x9e", 4);
	faultline_span_begin(name, "\\xff\\xfe", args, 0);
}
"""
TWO_COPIES = """
#include <dlfcn.h>
#include <faultline.h>
int main(int count, char **files)
{
	void *other = dlopen(files[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	uint64_t (*begin)(const char *, const char *, const void *, size_t);
	int i;
	if (!other)
		return 9;
	*(void **)&begin = dlsym(other, "faultline_span_begin");
	if (begin == faultline_span_begin)
		return 8;
	for (i = 0; i < 3; i++) {
		faultline_span_begin("one", "", NULL, 0);
		begin("two", "", NULL, 0);
	}
}
"""


class Programs(InDirectory):
    def call(self, *command, status=0, **more):
        done = subprocess.run(command, env=environment(**more), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 77:
            print(done.stdout)
            sys.exit(77)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def compile(self, source, *flags, compiler="gcc", suffix=".c"):
        self.call(compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
                  self.file("program" + suffix, source), "-o", self.path("program"), *flags)
        return self.path("program")

    def events(self, *command, status=0, **more):
        self.call(LISTENER, self.path("told"), *command, status=status, **more)
        with open(self.path("told")) as file:
            return [Event(line) for line in file]

    def check(self, program, **more):
        self.assertEqual(self.call(program, **more), "")  # without a listener
        listed = self.events(program, status=1, **more)
        self.assertEqual(as_text(listed), "+outer + !now =past - -outer")
        self.assertEqual((listed[0].category, listed[0].args), (b"compute", {"step": 3}))
        self.assertEqual((listed[1].category, listed[1].args, listed[1].args_len), (b"", None, 0))
        self.assertEqual((listed[2].category, listed[2].args), (b"mark", {"step": 3}))

    SHARED = ("-Iuser/span", f"-L{PLACE}", "-lfaultline", f"-Wl,-rpath,{PLACE}")
    STATIC = ("-Iuser/span", os.path.join(PLACE, "libfaultline.a"))

    def test_shared(self):
        self.check(self.compile(PROGRAM, *self.SHARED))

    def test_static_library(self):
        self.check(self.compile(PROGRAM, *self.STATIC))
        self.check(self.compile(PROGRAM, *self.STATIC, "-no-pie"))

    def test_static_program(self):
        self.check(self.compile(PROGRAM, *self.STATIC, "-static", "-Wl,--gc-sections"))

    def test_without_notes(self):
        """Without its notes the library still works, but its probes cannot be found."""
        shutil.copy(os.path.join(PLACE, "libfaultline.so.0"), self.path("libfaultline.so.0"))
        self.call("strip", self.path("libfaultline.so.0"))
        program = self.compile(PROGRAM, *self.SHARED[:3])
        self.check(program, LD_LIBRARY_PATH=self.directory)  # strip on its own leaves them
        self.call("objcopy", "--remove-section=.note.stapsdt", self.path("libfaultline.so.0"))
        self.assertEqual(self.events(program, status=0, LD_LIBRARY_PATH=self.directory), [])

    @unittest.skipUnless(shutil.which("g++"), "no g++ here")
    def test_cplusplus(self):
        for standard in ("c++98", "c++20"):
            program = self.compile(CXX_PROGRAM, f"-std={standard}", "-pedantic", *self.SHARED,
                                   compiler="g++", suffix=".cc")
            self.assertEqual(as_text(self.events(program)), "+outer +inner -inner -outer !caught")

    def test_long_and_odd_strings(self):
        cut, odd, whole = self.events(self.compile(LONG, *self.SHARED))
        self.assertEqual((cut.name, cut.category), (b"x" * 254, b"x" * 63))
        self.assertEqual((cut.args, cut.args_len), (None, 1025))
        self.assertEqual((odd.name, odd.args_len), (b"\x80" * 255, 1024))
        self.assertEqual((whole.name, whole.category), (b"\x80" * 252, b"\xff\xfe"))

    def test_two_copies_in_one_process(self):
        shutil.copy(os.path.join(PLACE, "libfaultline.so.0"), self.path("copy.so"))
        program = self.compile(TWO_COPIES, *self.SHARED, "-ldl")
        listed = self.events(program, self.path("copy.so"))
        self.assertEqual(as_text(listed), "+one +two +one +two +one +two")
        self.assertEqual(len({event.id for event in listed}), 6)

    def test_installed(self):
        kept = {key: value for key, value in os.environ.items()
                if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}  # of the make that runs this
        done = subprocess.run(["make", f"BUILD={BUILD}", f"DESTDIR={self.directory}", "PREFIX=/opt/f",
                               "install"], env=kept, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        found = {"PKG_CONFIG_PATH": self.path("opt/f/lib/pkgconfig"),
                 "PKG_CONFIG_SYSROOT_DIR": self.directory}
        flags = self.call("pkg-config", "--cflags", "--libs", "faultline", **found).split()
        self.check(self.compile(PROGRAM, *flags),
                   LD_LIBRARY_PATH=self.path("opt/f/lib"))
        version = self.call("pkg-config", "--modversion", "faultline", **found).strip()
        python = self.path("opt/f/lib/faultline/python")
        code = "import faultline as f; print(f.__version__, f.__file__, f.status()['extension'])"
        output = self.call(sys.executable, "-c", code, PYTHONPATH=python).split()
        self.assertEqual(output, [version, f"{python}/faultline/__init__.py", "True"])
        self.assertTrue(os.path.exists(os.path.join(python, "hook", "sitecustomize.py")))

    def test_one_version(self):
        """The version is in the Makefile and, for pip, in three files of the package."""
        def version(name, pattern):
            with open(name) as file:
                return re.search(pattern, file.read(), re.MULTILINE).group(1)
        self.assertEqual(len({version("Makefile", r"^VERSION := (.*)$"),
                              version("user/python/pyproject.toml", r'^version = "(.*)"$'),
                              version("user/python/backend.py", r'VERSION = "faultline", "(.*)"$'),
                              version("user/python/faultline/__init__.py",
                                      r'^__version__ = "(.*)"$')}), 1)


if __name__ == "__main__":
    unittest.main()
