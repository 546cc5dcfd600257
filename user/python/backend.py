# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Builds the Python package, for pip (PEP 517) and for make.

    python3 backend.py DIRECTORY      makes the package importable in DIRECTORY

Must use only the standard library, so that neither needs a network. Without a C compiler, Python's
headers or <sys/sdt.h>, the package is built without its extension, with a warning: its spans then
do nothing.
"""

import base64
import hashlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, VERSION = "faultline", "0.1.0"
EXTENSION = "_core.abi3.so"
METADATA = f"""\
Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Mark program phases for the Faultline I/O profiler, and read its traces
License: BSD-2-Clause OR GPL-2.0-only
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: read
Requires-Dist: msgpack; extra == "read"
Requires-Dist: numpy; extra == "read"
Requires-Dist: pandas; extra == "read"
Requires-Dist: zstandard; extra == "read"
Provides-Extra: dask
Requires-Dist: faultline[read]; extra == "dask"
Requires-Dist: dask[dataframe]; extra == "dask"
Description-Content-Type: text/markdown
"""


def metadata():
    """Returns METADATA, with README.md as the description."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        return (METADATA + "\n" + file.read()).encode()


def package_files():
    """Returns the package's own files, as paths below HERE."""
    return sorted(os.path.relpath(os.path.join(directory, name), HERE)
                  for directory, _, names in os.walk(os.path.join(HERE, NAME)) for name in names
                  if name.endswith((".py", ".pyi", ".typed")))


def licence():
    """Finds LICENSE: at the top of the tree or, in a source archive, next to this file."""
    for directory in (HERE, os.path.join(HERE, os.pardir, os.pardir)):
        if os.path.exists(os.path.join(directory, "LICENSE")):
            return os.path.join(directory, "LICENSE")
    raise FileNotFoundError("LICENSE not found with the package's sources")


def span_directory():
    """Finds the C library's sources: next to the package in the tree, inside it in an archive."""
    for directory in (os.path.join(HERE, os.pardir, "span"), os.path.join(HERE, "span")):
        if os.path.exists(os.path.join(directory, "span.c")):
            return directory
    raise FileNotFoundError("sources of libfaultline (span.c) not found next to the package")


def compile_extension(output):
    """Compiles the extension into the file `output`. Returns None, or why it failed."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-fvisibility=hidden",
             "-Wall", "-Wextra", "-Wno-unused-parameter", "-DFAULTLINE_API=",
             "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
             "-Wl,-z,relro,-z,now"]
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        flags.append("-DPy_LIMITED_API=0x03090000")
    includes = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
    flags += [f"-I{path}" for path in sorted(includes)] + [f"-I{span_directory()}"]
    flags += shlex.split(os.environ.get("CFLAGS", ""))
    sources = [os.path.join(HERE, "src", name) for name in ("core.c", "values.c")]
    command = [*compiler, *flags, "-shared", "-o", output, *sources,
               *(os.path.join(span_directory(), name) for name in ("span.c", "ask.c")),
               *shlex.split(os.environ.get("LDFLAGS", ""))]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        return f"no C compiler: {error}"
    if done.stdout:
        print(done.stdout, end="", file=sys.stderr)
    if done.returncode == 0:
        return None
    fatal = [line for line in done.stdout.splitlines() if "error" in line]
    return (fatal or ["the C compiler failed"])[0]


def build(directory):
    """Builds the package in `directory`. Replaces an existing extension atomically, because a
    program may be using it. Returns None, or why there is no extension."""
    for name in package_files():
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        shutil.copyfile(os.path.join(HERE, name), os.path.join(directory, name))
    output = os.path.join(directory, NAME, EXTENSION)
    reason = compile_extension(output + ".new")
    if reason is None:
        os.replace(output + ".new", output)
    elif os.path.exists(output):
        os.unlink(output)
    return reason


def warn(reason):
    print(f"faultline: built the package without its extension; spans do nothing ({reason}). "
          "Install a C compiler, Python's headers (python3-dev) and <sys/sdt.h> "
          "(systemtap-sdt-dev)", file=sys.stderr)


# --- for pip ---

def _tag(has_extension):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not has_extension:
        return "py3-none-any"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        return f"{python}-{python}t-{platform}"
    return f"cp39-abi3-{platform}"


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as directory:
        reason = build(directory)
        if reason is not None:
            warn(reason)
        files = {}
        for name in package_files() + [os.path.join(NAME, EXTENSION)] * (reason is None):
            with open(os.path.join(directory, name), "rb") as file:
                files[name] = file.read()
    tag = _tag(reason is None)
    info = f"{NAME}-{VERSION}.dist-info"
    pure = "true" if reason else "false"
    files[f"{info}/METADATA"] = metadata()
    with open(licence(), "rb") as file:
        files[f"{info}/LICENSE"] = file.read()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: {NAME}\n"
                              f"Root-Is-Purelib: {pure}\nTag: {tag}\n").encode()
    record = "".join(_record_line(*item) for item in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    path = os.path.join(wheel_directory, wheel)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def _nobodys(member):
    """Removes the owner from a member of a source archive."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def build_sdist(sdist_directory, config_settings=None):
    root = f"{NAME}-{VERSION}"
    names = package_files() + ["pyproject.toml", "backend.py", "README.md"]
    names += [os.path.join("src", name) for name in sorted(os.listdir(os.path.join(HERE, "src")))]
    members = {name: os.path.join(HERE, name) for name in names}
    members["LICENSE"] = licence()
    for name in ("span.c", "ask.c", "ask.h", "tracer.h", "faultline.h", "pack.h"):
        members[os.path.join("span", name)] = os.path.join(span_directory(), name)
    archive_name = f"{root}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, archive_name), "w:gz") as archive:
        for name, path in members.items():
            archive.add(path, f"{root}/{name}", filter=_nobodys)
        information = tarfile.TarInfo(f"{root}/PKG-INFO")
        information.size = len(metadata())
        archive.addfile(information, io.BytesIO(metadata()))
    return archive_name


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: backend.py DIRECTORY")
    missing = build(sys.argv[1])
    if missing is not None:
        warn(missing)
