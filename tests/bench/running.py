# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs programs, and reads their own results and resource usage."""
import os
import resource
import subprocess
import time


class Failed(Exception):
    pass


def wall(argv, **how):
    """Seconds that a command takes."""
    began = time.monotonic()
    subprocess.run(argv, stdin=subprocess.DEVNULL, check=True, **how)
    return time.monotonic() - began


def computed():
    """CPU seconds of all ended children."""
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


def taken_so_far(pid):
    """CPU seconds of a process, including those of its ended threads."""
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid


def start_ready(program, command, *arguments):
    """Faultline, from the moment it reports ready: its process, and its message."""
    reader, writer = os.pipe()
    process = subprocess.Popen([program, command, "--ready-fd", str(writer), *arguments],
                               stdin=subprocess.DEVNULL, pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return process, pipe.read()


def ns_each(argv, done):
    """The last result that a finished program printed."""
    for line in reversed(done.stdout.splitlines()):
        words = line.split()
        if len(words) == 2 and words[1].isdigit():
            return float(words[0])
    raise Failed(f"{' '.join(argv[:6])} ... gave no time: {last_line(done.stderr)}")


def said_cpu(argv, done):
    """CPU seconds that a finished program reports for itself."""
    own = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("cpu ")]
    if done.returncode or not own:
        raise Failed(f"{' '.join(argv)} did not say what it needed: {last_line(done.stderr)}")
    return own[0]


def last_line(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1]


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def peak_rss(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) * 1024 for line in status
                         if line.startswith("VmHWM")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def mapped_rss(pid, *names):
    """Resident bytes of the mappings whose names contain one of `names`."""
    total, counted = 0, False
    try:
        with open(f"/proc/{pid}/smaps") as maps:
            for line in maps:
                if line.startswith("Rss:"):
                    total += int(line.split()[1]) * 1024 * counted
                elif "-" in line.split()[0]:
                    counted = any(name in line for name in names)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return total
