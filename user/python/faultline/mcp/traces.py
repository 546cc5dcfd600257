# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The traces that may be opened: those given at the start, and *.flt files in directories given."""

from __future__ import annotations

import difflib
import os
import stat
from typing import Dict, Iterator, List, NamedTuple, Sequence

from .answers import ToolError, escape

ENTRIES_MAX = 20000  # of directories, read for one listing
SUFFIX = ".flt"


class Identity(NamedTuple):
    """Differs if a file has changed, or is another."""
    device: int
    inode: int
    size: int
    modified_ns: int


class Trace(NamedTuple):
    name: str  # as clients know it
    path: str
    identity: Identity


def identify(path: str) -> Identity:
    """Of a regular file. Raises OSError if there is none."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "is not a regular file")
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class Traces:
    def __init__(self, arguments: Sequence[str]) -> None:
        """Raises OSError for an argument that is neither a file nor a directory."""
        self.directories: List[str] = []
        self.files: List[str] = []
        self.overfull = False  # there were more entries than were read
        for path in arguments:
            if os.path.isdir(path):
                self.directories.append(path)
            else:
                identify(path)
                self.files.append(path)

    def list(self) -> Dict[str, Trace]:
        """All traces that exist now, by name. A name is the path below the argument as given, with
        backslashes escaped too, so that no two are alike."""
        found: Dict[str, Trace] = {}
        for path in [*self.files, *self._in_directories()]:
            try:
                name = escape(path.replace("\\", "\\x5c"))
                found[name] = Trace(name, path, identify(path))
            except OSError:
                pass  # removed, or no regular file
        return found

    def _in_directories(self) -> Iterator[str]:
        """Follows no symbolic links; skips hidden files and directories."""
        entries = 0
        self.overfull = False
        for top in self.directories:
            for place, directories, files in os.walk(top):
                directories[:] = sorted(name for name in directories if not name.startswith("."))
                entries += len(files) + len(directories) + 1
                for name in sorted(files):
                    path = os.path.join(place, name)
                    if name.endswith(SUFFIX) and not name.startswith(".") and \
                            not os.path.islink(path):
                        yield path
                if entries > ENTRIES_MAX:
                    self.overfull = True
                    return

    def find(self, names: Sequence[str]) -> List[Trace]:
        """The traces of these names; without any, the only one that there is."""
        known = self.list()
        if not names:
            if len(known) == 1:
                return list(known.values())
            raise ToolError(f"there are {len(known)} traces; name one or more in `traces`, as "
                            "list_traces lists them")
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, 3)
                raise ToolError(f"no such trace: {name}" +
                                (f"; similar: {', '.join(near)}" if near else "; see list_traces"))
        return [known[name] for name in dict.fromkeys(names)]
