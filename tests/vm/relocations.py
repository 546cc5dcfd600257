#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the BPF object's relocations that a kernel's types cannot satisfy, without running that
kernel: does what libbpf does when it loads the object, from the same two sections. An unresolved
relocation makes the kernel reject every program that reaches it, unless the program first checks
that the field exists: those are listed here, and no others may remain.

usage: tests/vm/relocations.py OBJECT BTF...      BTF: for example /sys/kernel/btf/vmlinux
"""
import re
import struct
import subprocess
import sys

# At least one of each set must exist: the object uses that one.
ALTERNATIVES = [
    {"dentry.d_u.d_alias", "dentry.d_alias"},  # the union lost its name in 7.1
    # A folio's order, since and before 6.6; before 6.1, that of a compound page.
    {"folio._flags_1", "folio._folio_order", "page.compound_order"},
    # Pages of the page cache before 5.16.
    *({f"folio{name}", f"page{name}"} for name in ("", ".mapping", ".index")),
    # Mappings are in a maple tree, and before 6.1 in a red-black tree.
    {"mm_struct.mm_mt.ma_root", "vm_area_struct.vm_rb"},
    *({maple, "mm_struct.mm_rb.rb_node"}
      for maple in ("mm_struct.mm_mt.ma_root", "maple_range_64.pivot", "maple_range_64.slot",
                    "maple_arange_64.slot")),
    # Before 5.15, when mappings were in such trees, too, the layer async is off; up to 5.16 requests
    # have no descriptor, and up to 5.17 completions do not name them.
    *({name, "mm_struct.mm_rb.rb_node"}
      for name in ("io_splice.splice_fd_in", "io_close.file_slot", "io_open.file_slot",
                   "io_mkdir", "io_mkdir.dfd", "io_mkdir.filename",
                   "io_mkdir.filename.__incomplete_filename",
                   "trace_event_raw_io_uring_complete.req",
                   "trace_event_raw_io_uring_complete.res")),
    {"io_kiocb.cqe.user_data", "io_kiocb.user_data"},  # since and before 5.19
    {"io_kiocb.cqe.fd", "io_kiocb.fd", "mm_struct.mm_rb.rb_node"},
    {"task_struct.worker_private", "task_struct.pf_io_worker"},  # since and before 5.17
    {"rt_mutex_base.owner", "rt_mutex.owner"},  # since and before 5.15
    {"blkdev_dio.flags", "blkdev_dio.is_sync"},  # since and before 5.16
    # Since and before 6.0.
    {"req_op.REQ_OP_ZONE_APPEND", "req_opf.REQ_OP_ZONE_APPEND___old"},
    {"request_queue.disk", "request.rq_disk"},  # since and before 5.15
    {"bio.bi_iter.bi_bvec_done", "bio.bi_iter.bi_offset"},  # before and since 7.3
    {"page.compound_head", "page.compound_info"},  # renamed in 7.2
    {"mm_struct.flags", "mm_struct.flags.__mm_flags"},  # a struct since 6.18
    # Records of classic tracepoints, since and before 6.4.
    {"trace_event_raw_io_uring_submit_req.req", "trace_event_raw_io_uring_submit_sqe.req"},
    # Files registered with a ring, since and before 6.13.
    *({there, before}
      for there in ("io_ring_ctx.file_table.data.nr", "io_ring_ctx.file_table.data.nodes")
      for before in ("io_ring_ctx.file_table.files", "io_ring_ctx.nr_user_files")),
    {"io_rsrc_node.file_ptr", "io_fixed_file.file_ptr"},
    {"super_block.s_mounts", "super_block.s_mounts.next"},  # since and before 6.18
    {"fuse_req.fm", "fuse_req.chan"},  # before and since 7.2
    {"fuse_args_pages.folios", "fuse_args_pages.pages"},  # since and before 6.13
    # File names of io_uring requests, since and before 7.0.
    *({f"{name}.__incomplete_filename", name}
      for name in ("io_open.filename", "io_statx.filename", "io_unlink.filename",
                   "io_mkdir.filename", "io_rename.oldpath", "io_rename.newpath")),
]
# These may be missing: the object checks first, and works without them.
OPTIONAL = {
    "backing_file": "overlay files' own kind of file, since 6.5",
    "backing_file.user_path": "was real_path before 6.8",
    "io_fixed_file": "a node since 6.13",
    "mm_struct.mm_lock_seq.sequence": "a plain number at first, in 6.4",
    "vm_area_struct.vm_refcnt.refs.counter": "since 6.15",
    "mem_cgroup.oom_lock": "since 6.11 only with CONFIG_MEMCG_V1",
    "mount.mnt_instance": "before 6.18",
    "rw_semaphore.owner": "not on PREEMPT_RT",
    "inode.i_rwsem.owner": "not on PREEMPT_RT",
    "io_symlink": "before 6.0",
    "io_xattr": "since 5.19",
    "iomap_dio_simple": "since 7.3",
    # Records of classic page-fault tracepoints, under two names.
    "trace_event_raw_exceptions": "x86 only",
    "trace_event_raw_x86_exceptions": "x86 only",
    # File systems built as modules have types of their own, available once loaded.
    "btrfs_bio": "a module's",
    "btrfs_inode": "a module's",
    "btrfs_root": "a module's",
    **{f"fuse_{name}": "a module's"  # whose programs are then not loaded
       for name in ("args", "args_pages", "chan", "conn", "copy_state", "inode", "mount", "req",
                    "req_flag")},
    "iomap_dio": "a module's",
    **{name: "a module's"
       for name in ("netfs_io_request", "netfs_io_source", "netfs_io_subrequest", "netfs_sreq_trace",
                    "nfs4_create_arg", "nfs4_sequence_args", "nfs_commit_data", "nfs_fh",
                    "nfs_inode", "nfs_pgio_args",
                    "nfs_pgio_header", "nfs_pgio_res", "rpc_clnt", "rpc_message", "rpc_procinfo",
                    "rpc_rqst", "rpc_task", "p9_client", "p9_fcall", "p9_fid", "p9_req_status_t",
                    "p9_req_t")},
    "nvme_ns": "a module's",
    "nvme_ns_head": "a module's",
    "ovl_entry": "a module's",
    "ovl_inode": "a module's",
}

KINDS = dict(enumerate("void int ptr array struct union enum fwd typedef volatile const restrict "
                       "func func_proto var datasec float decl_tag type_tag enum64".split()))
OFFSET = 0
FIELD, TYPE, ENUM = {0, 1, 2, 3, 4, 5}, {7, 8, 9, 12}, {10, 11}
EXISTS = {2, 8, 10, 12}  # existence checks, which never fail


class Type:
    def __init__(self, name, kind, size, members=(), target=0, signed=False):
        self.name, self.kind, self.size = name, kind, size
        self.members, self.target, self.signed = members, target, signed


class Btf:
    """The types of a program or a kernel."""

    def __init__(self, data):
        magic, version, _, length, types, types_bytes, strings, strings_bytes = struct.unpack_from(
            "<HBBIIIII", data
        )
        if magic != 0xEB9F or version != 1:
            raise ValueError("no BTF")
        self.strings = data[length + strings : length + strings + strings_bytes]
        self.types, self.names = [Type("", "void", 0)], {}
        at, end = length + types, length + types + types_bytes
        while at < end:
            at = self.read_type(data, at)
        for number, one in enumerate(self.types):
            self.names.setdefault((essential(one.name), one.kind), []).append(number)

    def text(self, offset):
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()

    def read_type(self, data, at):
        name, info, size = struct.unpack_from("<III", data, at)
        at += 12
        count, kind = info & 0xFFFF, KINDS[info >> 24 & 31]
        members = []
        words = {"struct": 3, "union": 3, "enum": 2, "enum64": 3, "func_proto": 2, "datasec": 3}
        for _ in range(count if kind in words else 0):
            entry = struct.unpack_from(f"<{words[kind]}I", data, at)
            at += 4 * words[kind]
            if kind in ("struct", "union", "enum", "enum64", "func_proto"):
                members.append((self.text(entry[0]), entry[1]))
        target, signed = size, False
        if kind == "array":
            target = struct.unpack_from("<I", data, at)[0]
        elif kind == "int":
            signed = bool(struct.unpack_from("<I", data, at)[0] >> 24 & 1)
        at += {"int": 4, "array": 12, "var": 4, "decl_tag": 4}.get(kind, 0)
        self.types.append(Type(self.text(name), kind, size, members, target, signed))
        return at

    def plain(self, number):
        """Without typedefs and qualifiers."""
        while self.types[number].kind in ("typedef", "const", "volatile", "restrict", "type_tag"):
            number = self.types[number].target
        return number


def essential(name):
    """A name without its flavour: dentry___anonymous is dentry."""
    return name.split("___", 1)[0]


def access_path(btf, number, access):
    """The names of an access path, for example 0:3:1, and its type; array indices as numbers."""
    steps = [int(step) for step in access.split(":")][1:]
    names, number = [], btf.plain(number)
    for step in steps:
        one = btf.types[number]
        if one.kind == "array":
            names.append(step)
            number = btf.plain(one.target)
        else:
            name, target = one.members[step]
            names.append(name)
            number = btf.plain(target)
    return names, btf.types[number]


def find_member(btf, number, name):
    """The plain type of a member, also inside an unnamed struct or union."""
    for member, target in btf.types[number].members:
        target = btf.plain(target)
        if member == name:
            return target
        if not member and btf.types[target].kind in ("struct", "union"):
            inner = find_member(btf, target, name)
            if inner is not None:
                return inner
    return None


def fits(ours, theirs):
    """Whether libbpf can adapt a load of our type to the kernel's."""
    alike = {"union": "struct", "enum64": "enum"}
    if alike.get(ours.kind, ours.kind) != alike.get(theirs.kind, theirs.kind):
        return False
    return (ours.kind, theirs.kind) != ("int", "int") or ours.size == theirs.size or not (
        ours.signed or theirs.signed)


def resolves(kernel, kind, local, names, last):
    """True if a kernel type satisfies the relocation of an access, of a type."""
    for number in kernel.names.get((essential(local.name), local.kind), ()):
        if kind in TYPE:
            return True
        if kind in ENUM:
            if any(essential(name) == essential(names[0])
                   for name, _ in kernel.types[number].members):
                return True
            continue
        at = kernel.plain(number)
        for name in names:
            one = kernel.types[at]
            if isinstance(name, int):
                at = kernel.plain(one.target) if one.kind == "array" else None
            elif one.kind in ("struct", "union"):
                at = find_member(kernel, at, name) if name else at
            else:
                at = None
            if at is None:
                break
        else:
            return kind != OFFSET or fits(last, kernel.types[at])
    return False


def section(path, wanted):
    """A section of a 64-bit ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    at = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    texts = heads[names][4]
    for name, _, _, _, offset, length in heads:
        start = texts + name
        if data[start : data.index(b"\0", start)].decode() == wanted:
            return data[offset : offset + length]
    raise ValueError(f"{path} has no section {wanted}")


def relocations(path):
    """All relocations of an object, once each: {(access as text): (kind, local type, names, type
    that is accessed)}."""
    btf, data = Btf(section(path, ".BTF")), section(path, ".BTF.ext")
    length = struct.unpack_from("<I", data, 4)[0]
    start, size = struct.unpack_from("<II", data, 24)
    at, end = length + start + 4, length + start + size
    record = struct.unpack_from("<I", data, length + start)[0]
    found = {}
    while at < end:
        count = struct.unpack_from("<I", data, at + 4)[0]
        at += 8
        for _ in range(count):
            _, number, access, kind = struct.unpack_from("<4I", data, at)
            at += record
            number = btf.plain(number) if kind not in TYPE else number
            local = btf.types[number]
            last = local
            if kind in ENUM:
                names = [local.members[int(btf.text(access).split(":")[0])][0]]
            elif kind in FIELD:
                names, last = access_path(btf, number, btf.text(access))
            else:
                names = []
            text = ".".join([essential(local.name), *map(str, names)])
            if kind not in EXISTS and kind != 6:  # 6 is the ID in the object's own types
                found[text, kind] = (kind, local, names, last)
    return btf, found


def unresolved(object_path, kernel):
    """Unexpected relocations that the kernel's types cannot satisfy: a sorted list of texts."""
    missing, there = set(), set()
    for (text, _), access in relocations(object_path)[1].items():
        (there if resolves(kernel, *access) else missing).add(text)
    left = {text for text in missing if not guarded(text, missing, there)}
    return sorted(left), len(there)


def guarded(text, missing, there):
    if text in OPTIONAL or any(text.startswith(f"{name}.") for name in OPTIONAL):
        return True
    return any(text in group and group & there - missing for group in ALTERNATIVES)


# --- types from a kernel's image ---


def unpacked(data):
    """The image itself, and its decompressed contents."""
    yield data
    for magic, command in (
        (b"\xfd7zXZ\0", ["xz", "-dcq"]),
        (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]),
        (b"\x1f\x8b\x08", ["gzip", "-dcq"]),
        (b"\x02\x21\x4c\x18", ["lz4", "-dcq"]),
    ):
        at = data.find(magic)
        while at >= 0:
            # Trailing data makes the tool complain after it has done its work.
            done = subprocess.run(
                command, input=data[at:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            if len(done.stdout) > 4 << 20:
                yield done.stdout
            at = data.find(magic, at + 1)


def types_of_image(path):
    """The BTF of a kernel's image, or None."""
    with open(path, "rb") as file:
        data = file.read()
    for part in unpacked(data):
        for found in re.finditer(rb"\x9f\xeb\x01\0\x18\0\0\0", part):
            words = struct.unpack_from("<IIII", part, found.start() + 8)
            if words[0] == 0 and words[1] == words[2] and words[1] > 1 << 20:
                return part[found.start() : found.start() + 24 + words[2] + words[3]]
    return None


def main(path, *kernels):
    failed = False
    for name in kernels:
        with open(name, "rb") as file:
            left, there = unresolved(path, Btf(file.read()))
        print(f"{name}: {there} accesses resolve{'; not: ' * bool(left)}{', '.join(left)}")
        failed |= bool(left)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
