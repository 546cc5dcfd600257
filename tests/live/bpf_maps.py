# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""BPF maps of a running process of the program under test, for tests that fill or forge them."""
import ctypes
import os
import re

import harness

libbpf = ctypes.CDLL("libbpf.so.1", use_errno=True)


def maps_of(pid):
    """{name: descriptor} of the maps that a process holds."""
    found = {}
    for descriptor in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{descriptor}") as info:
                number = re.search(r"^map_id:\s*(\d+)$", info.read(), re.M)
        except FileNotFoundError:
            continue
        if number:
            fd = libbpf.bpf_map_get_fd_by_id(int(number[1]))
            info, size = ctypes.create_string_buffer(80), ctypes.c_uint32(80)
            if fd < 0 or libbpf.bpf_obj_get_info_by_fd(fd, info, ctypes.byref(size)):
                raise harness.Broken(f"map {number[1]} cannot be looked at")
            found[info.raw[24:40].split(b"\0")[0].decode()] = fd
    return found


def fill_maps(pid, *names, most=1 << 32):
    """Fills maps of a process: all slots of an array are occupied, a hash takes no more, or has
    taken so many. Yields how many entries each took."""
    maps = maps_of(pid)
    value = ctypes.create_string_buffer(b"\1" * 256)
    for name in names:
        # Array keys are indices; hash keys are not addresses.
        key = (ctypes.c_uint64 * 8)()
        while key[0] < most and not libbpf.bpf_map_update_elem(maps[name], key, value, 0):
            key[0] += 1
        yield key[0]
    for fd in maps.values():
        os.close(fd)


def empty_map(pid, name):
    """Deletes all entries of a hash map, whose keys have at most 64 bytes. Returns their number."""
    maps, key, count = maps_of(pid), ctypes.create_string_buffer(64), 0
    while not libbpf.bpf_map_get_next_key(maps[name], None, key):
        count += not libbpf.bpf_map_delete_elem(maps[name], key)
    for fd in maps.values():
        os.close(fd)
    return count


class Array:
    """An array map of a process. `size`: bytes of a value, for per-CPU maps."""

    def __init__(self, pid, name, size=None):
        maps = maps_of(pid)
        self.fd = maps.pop(name)
        info, length = ctypes.create_string_buffer(80), ctypes.c_uint32(80)
        libbpf.bpf_obj_get_info_by_fd(self.fd, info, ctypes.byref(length))
        self.size = size or int.from_bytes(info.raw[12:16], "little")
        for fd in maps.values():
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def values(self):
        """All values, by index, up to a maximum."""
        count = ctypes.c_uint32(1 << 15)
        keys, last = (ctypes.c_uint32 * count.value)(), ctypes.c_uint32()
        room = ctypes.create_string_buffer(count.value * self.size)
        libbpf.bpf_map_lookup_batch(self.fd, None, ctypes.byref(last), keys, room,
                                    ctypes.byref(count), None)
        found = room.raw
        return [found[i * self.size:(i + 1) * self.size] for i in range(count.value)]

    def get(self, index):
        value = ctypes.create_string_buffer(self.size)
        libbpf.bpf_map_lookup_elem(self.fd, ctypes.byref(ctypes.c_uint32(index)), value)
        return value.raw

    def put(self, index, value):
        key = ctypes.c_uint32(index)
        if libbpf.bpf_map_update_elem(self.fd, ctypes.byref(key), value, 0):
            raise harness.Broken(f"entry {index} of a map cannot be written")
