# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from spack.package import *


class Faultline(MakefilePackage):
    """I/O and page-fault profiler: what a job reads and writes, how, and why it waits. Recording needs
    Linux 5.14 or later with BTF, and root or capabilities; reports need neither."""

    homepage = "https://faultline.invalid/"
    git = "https://faultline.invalid/faultline.git"

    license("BSD-2-Clause OR GPL-2.0-only")

    version("0.1.0", tag="v0.1.0")

    # In the page of `report --html`.
    resource(
        name="d3",
        url="https://d3js.org/d3.v5.min.js",
        sha256="5dbe924b3847df010f0b8572dd6ef42ea87d6370eeff72b13ea236247412a53c",
        expand=False,
        placement="d3",
    )

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("llvm+clang@14:", type="build")  # the kernel side; its targets include BPF
    depends_on("systemtap", type=("build", "link"))  # for <sys/sdt.h>
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("elfutils@0.180:+bzip2")
    depends_on("json-c")
    depends_on("libbpf@1.1:")
    depends_on("libdeflate")
    depends_on("libiberty+pic")  # names of C++ and Rust
    depends_on("libmicrohttpd")  # loaded when faultline monitor serves HTTP, from the program's RPATH
    depends_on("msgpack-c")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("zstd")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    @property
    def make_variables(self):
        # Spack has no bpftool: the system's is used. make looks for libiberty only there.
        return [
            f"PREFIX={self.prefix}",
            f"LIBDIR={self.prefix.lib}",
            f"D3={join_path(self.stage.source_path, 'd3', 'd3.v5.min.js')}",
            "LIBIBERTY=-l:libiberty.a",
            f"PYTHON3={self.spec['python'].command.path}",
            "LDCONFIG=true",
        ]

    @property
    def build_targets(self):
        return [*self.make_variables, "all"]

    @property
    def install_targets(self):
        return [*self.make_variables, "install"]

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "faultline", "python"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_version(self):
        Executable(join_path(self.prefix.bin, "faultline"))("--version")
