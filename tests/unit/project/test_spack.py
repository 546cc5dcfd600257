# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The recipes for Spack, executed with a stand-in for Spack: their variables and targets are those of
the Makefile, and their dependencies everything that a build needs."""
import os
import pathlib
import re
import subprocess
import sys
import types
import unittest

TOP = pathlib.Path(__file__).parents[3]
RECIPES = TOP / "scripts/spack/packages"
PREFIX = "/opt/spack/faultline"
# Spack packages that correspond to Debian's. None: part of Spack or of the system.
PROVIDERS = {
    "gcc": "c", "libc6-dev": None, "make": None, "bpftool": None, "pkg-config": "pkgconfig",
    "clang": "llvm", "libbpf-dev": "libbpf", "libelf-dev": "elfutils", "libdw-dev": "elfutils",
    "libbz2-dev": "elfutils", "libiberty-dev": "libiberty", "libmsgpack-dev": "msgpack-c",
    "libzstd-dev": "zstd", "libjson-c-dev": "json-c", "zlib1g-dev": "zlib-api",
    "libsqlite3-dev": "sqlite", "libdeflate-dev": "libdeflate",
    "libmicrohttpd-dev": "libmicrohttpd", "systemtap-sdt-dev": "systemtap",
    "python3-dev": "python", "node-d3": "d3",
}


class Prefix(str):
    lib = f"{PREFIX}/lib"
    bin = f"{PREFIX}/bin"


class Environment(dict):
    def prepend_path(self, name, path):
        self[name] = path


class Recipe:
    """A recipe's class, and the calls of directives in it."""

    def __init__(self, name):
        self.calls = []
        stub = types.ModuleType("spack.package")
        stub.MakefilePackage, stub.join_path = type("MakefilePackage", (), {}), os.path.join
        for directive in ("license", "version", "resource", "depends_on", "conflicts", "variant"):
            setattr(stub, directive, self.directive(directive))
        stub.run_after = stub.on_package_attributes = lambda *_, **__: lambda function: function
        stub.__all__ = [key for key in vars(stub) if not key.startswith("__")]
        sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": stub})
        try:
            space = {"__name__": f"recipe_{name}"}
            path = RECIPES / name / "package.py"
            exec(compile(path.read_text(), path, "exec"), space)
        finally:
            del sys.modules["spack"], sys.modules["spack.package"]
        # Spack derives the class from the directory.
        self.package = space[name.title()]()
        self.package.prefix = Prefix(PREFIX)
        self.package.stage = types.SimpleNamespace(source_path="/stage")
        python = types.SimpleNamespace(command=types.SimpleNamespace(path="/opt/bin/python3"))
        self.package.spec = {"python": python}

    def directive(self, name):
        return lambda *args, **options: self.calls.append((name, args, options))

    def names(self, directive):
        """What the directive names, without versions and variants."""
        return {re.match(r"[\w-]+", options.get("name") or args[0])[0]
                for name, args, options in self.calls if name == directive}


class Spack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipe = Recipe("faultline")
        cls.package = cls.recipe.package
        cls.makefile = (TOP / "Makefile").read_text()

    def dry_run(self, arguments):
        done = subprocess.run(["make", "-C", TOP, "-n", "BUILD=/nonexistent/build", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={key: value for key, value in os.environ.items()
                                   if key not in ("MAKEFLAGS", "MAKELEVEL")})
        self.assertEqual(done.returncode, 0, done.stdout[-500:])
        return done.stdout

    def test_variables_and_targets(self):
        """A misspelled variable would be ignored."""
        for arguments in (self.package.build_targets, self.package.install_targets):
            named = [argument.split("=")[0] for argument in arguments if "=" in argument]
            targets = [argument for argument in arguments if "=" not in argument]
            self.assertIn("PREFIX", named)
            for name in named:
                self.assertRegex(self.makefile, rf"(?m)^{name} \?= ")
            self.assertEqual(len(targets), 1)
            self.assertRegex(self.makefile, rf"(?m)^{targets[0]}: ")

    def test_make_variables(self):
        plan = self.dry_run(self.package.install_targets)
        for path in ("bin/faultline", "lib/libfaultline.so.0", "include/faultline.h"):
            self.assertIn(f" {PREFIX}/{path}\n", plan)
        environment = Environment()
        self.package.setup_run_environment(environment)
        self.assertIn(f"/python {environment['PYTHONPATH']}\n", plan)

    def test_d3_is_where_make_looks(self):
        resource = next(options for name, _, options in self.recipe.calls if name == "resource")
        path = os.path.join("/stage", resource["placement"], os.path.basename(resource["url"]))
        self.assertIn(f"D3={path}", self.package.build_targets)
        self.assertRegex(resource["sha256"], r"^[0-9a-f]{64}$")
        self.assertFalse(resource["expand"])

    def test_dependencies(self):
        """Those of scripts/setup.sh, which lists them where it cannot install them."""
        done = subprocess.run(["/bin/bash", TOP / "scripts/setup.sh", "build"], text=True,
                              env={"PATH": "/nonexistent"}, stderr=subprocess.PIPE)
        needed = done.stderr.split(": ")[-1].split()
        self.assertIn("libbpf-dev", needed)
        self.assertEqual(set(needed) - set(PROVIDERS), set())
        provided = self.recipe.names("depends_on") | self.recipe.names("resource")
        self.assertEqual({PROVIDERS[name] for name in needed} - {None} - provided, set())

    def test_recipes_of_dependencies(self):
        for path in RECIPES.iterdir():
            with self.subTest(path.name):
                recipe = Recipe(path.name)
                self.assertEqual(len(recipe.names("version")), 1)
                self.assertEqual(recipe.package.install_targets[-1], "install")


if __name__ == "__main__":
    unittest.main()
