# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from spack.package import *


class Libbpf(MakefilePackage):
    """Loads BPF programs into the kernel."""

    homepage = "https://github.com/libbpf/libbpf"
    url = "https://github.com/libbpf/libbpf/archive/refs/tags/v1.1.0.tar.gz"

    license("LGPL-2.1-only OR BSD-2-Clause")

    version("1.1.0", sha256="5da826c968fdb8a2f714701cfef7a4b7078be030cf58b56143b245816301cbb8")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("elfutils")
    depends_on("zlib-api")

    build_directory = "src"

    @property
    def make_variables(self):
        return [f"PREFIX={self.prefix}", f"LIBDIR={self.prefix.lib}"]

    @property
    def build_targets(self):
        return self.make_variables

    @property
    def install_targets(self):
        return [*self.make_variables, "install"]
