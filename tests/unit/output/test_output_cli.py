# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command line: exit statuses, one clear line for bad input, damaged traces, output that cannot
be written, and the output of print. Needs no root."""

import fcntl
import fnmatch
import itertools
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _command import BUILD, FAULTLINE, SAMPLE, SPANS, Command, call, events  # noqa: E402


def sample_bytes():
    with open(SAMPLE, "rb") as file:
        return file.read()


def formats():
    """The names of all export formats."""
    listed = call("export", "--to", "?", "-").stderr.decode().split("formats are ")[1]
    return [name.strip(",") for name in listed.split()]


class Reading(Command):
    def test_bad_files(self):
        sample = sample_bytes()
        bad = [
            self.directory,
            self.path("missing.flt"),
            self.file("empty.flt", b""),
            self.file("text.flt", b"not a trace\n" * 100),
            self.file("header.flt", sample[:40]),
        ]
        for command in "report", "print":
            for path in bad:
                with self.subTest(command=command, path=path):
                    self.refused(command, path, naming=path)

    def test_bad_options(self):
        for command in "report", "print":
            self.refused(command, naming="no trace given", cwd=os.path.dirname(self.path("none")))
            self.refused(command, "--nonsense", SAMPLE, naming="--nonsense")
            self.refused(command, "--format", "xml", SAMPLE, naming="xml")
        self.refused("report", "--top", "many", SAMPLE, naming="many")
        self.refused("print", SAMPLE, SAMPLE, naming="more than one")
        self.refused("print", "--layer", "nonsense", SAMPLE, naming="syscall, fault, pagecache, task")
        self.refused("print", "--pid", "x", SAMPLE, naming="--pid x")

    def test_bad_recording_options(self):
        """Invalid numbers, or options that the mode does not use: nothing is run."""
        for options, naming in (
            (("--mode", "profile", "--profile-slots", "0"), "--profile-slots: must be between 1 and"),
            (("--mode", "profile", "--interval", "1ms"), "--interval: must be between 10.0 ms and 1h 00m"),
            (("--mode", "auto", "--auto-rate", "0"), "--auto-rate: must be between 1 and"),
            (("--mode", "profile", "--auto-rate", "5"), "--auto-rate requires --mode auto"),
            (("--auto-rate", "5"), "--auto-rate requires --mode auto"),
            (("--profile-slots", "16"), "--profile-slots requires --mode profile or --mode auto"),
            (("--interval", "1s"), "--interval requires --mode profile or --mode auto"),
        ):
            with self.subTest(options=options):
                self.refused("run", *options, "--", "echo", "run", naming=naming, status=125)
                self.refused("attach", *options, "--pid", str(os.getpid()), naming=naming)

    def test_numbers_out_of_bounds(self):
        for command, *options, naming in (
            ("monitor", "--interval", "5ms", "--interval: must be between 100 ms and 1m 00s"),
            ("monitor", "--retire", "2d", "--retire 2d: not a time"),
            ("monitor", "--retire", "25h", "--retire: must be between 1.0 s and 1d 00h"),
            ("monitor", "--max-series", "999", "--max-series: must be between 1,000 and 1,000,000"),
            ("monitor", "--profile-slots", "0", "--profile-slots: must be between 1 and 1,048,576"),
            ("top", "--interval", "99ms", "--interval: must be at least 100 ms"),
            ("top", "-n", "0", "--count: must be at least 1"),
            ("report", "--slowest", "0", SAMPLE, "--slowest: must be between 1 and 1,000"),
            ("report", "--slowest", "1001", SAMPLE, "--slowest: must be between 1 and 1,000"),
            ("report", "--memory", "0", SAMPLE, "--memory: must be at least 1.0 MiB"),
            ("report", "--memory", "1", SAMPLE, "--memory 1: must be at least 1.0 MiB; 1M is 1 MiB"),
            ("monitor", "--buffer", "3", "--buffer 3: must be at least 4.0 KiB; 3M is 3 MiB"),
            ("attach", "--buffer", "3", "-p", "1", "--buffer 3: must be at least 4.0 KiB; 3M is 3 MiB"),
            ("summarize", "--rows", "65537", SAMPLE, "--rows: must be between 1 and 65,536"),
            ("summarize", "--memory", "0", SAMPLE, "--memory: must be at least 1.0 MiB"),
        ):
            with self.subTest(command=command, options=options):
                self.refused(command, *options, naming=naming)

    def test_no_operands(self):
        for command in "monitor", "top", "check":
            self.refused(command, "it", naming=f"it: {command} takes no arguments")

    def test_help(self):
        """No line is wider than the terminal, and no option is cut."""
        for command in "run", "attach", "monitor", "report", "print", "export", "top", "summarize", "check":
            recorded = {}
            for width in 80, 500:
                done = call(command, "--help", columns=width)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                recorded[width] = done.stdout.decode().partition("\nOptions:\n")[2]
                self.assertLessEqual(max(map(len, recorded[width].split("\n"))), width, command)
            self.assertEqual(recorded[80].split(), recorded[500].split())

    def test_same_trace_twice(self):
        link = self.path("link.flt")
        os.symlink(os.path.abspath(SAMPLE), link)
        self.refused("report", SAMPLE, SAMPLE, naming="the same trace")
        self.refused("report", SAMPLE, link, naming=link)

    def test_newer_among_many(self):
        """If this version cannot read one of a hundred traces, it is named and the rest are not
        reported as if they were all."""
        sample = sample_bytes()
        plain = subprocess.run(["zstd", "-dc"], input=sample, check=True, stdout=subprocess.PIPE).stdout
        key = b"\xa7version"
        self.assertIn(key + b"\x01", plain)
        newer = subprocess.run(["zstd", "-c"], input=plain.replace(key + b"\x01", key + b"\x02"),
                               check=True, stdout=subprocess.PIPE).stdout
        paths = [self.file(f"{i:02}.flt", newer if i == 57 else sample) for i in range(100)]
        summary = self.path("all.flt")
        for command in ("report",), ("summarize", "-o", summary):
            self.refused(*command, *paths, naming=f"{paths[57]}: was written by a newer Faultline")
        self.assertFalse(os.path.exists(summary))

    def test_incomplete(self):
        sample = sample_bytes()
        path = self.file("cut.flt", sample[: len(sample) * 2 // 3])
        text, data = call("report", path), call("report", "-q", "--format", "json", path)
        self.assertEqual((text.returncode, data.returncode, data.stderr), (0, 0, b""))
        screen = text.stdout.split(b"\n\n")[0]
        self.assertIn(b"\n!  incomplete: ", screen)
        self.assertIn(b"the number of lost events is unknown", b" ".join(screen.split()))
        self.assertIn(b"incomplete", text.stderr)
        trace = json.loads(data.stdout)["trace"]
        self.assertIs(trace["complete"], False)
        self.assertTrue(trace["incomplete_reason"])
        self.assertEqual(call("print", path).returncode, 0)
        # Counted only in the kernel and stored at the end: missing means unknown.
        handed = json.loads(data.stdout)["totals"]["async"]
        self.assertEqual(set(handed.values()), {None})

    def test_nothing_but_a_header(self):
        """If a recorder was killed at once, its duration and any problems are unknown."""
        sample = sample_bytes()
        path = self.file("begun.flt", sample[: sample.index(b"\x28\xb5\x2f\xfd", 4)])
        text, data = call("report", path), call("report", "-q", "--format", "json", path)
        self.assertEqual((text.returncode, data.returncode), (0, 0), text.stderr)
        self.assertIsNone(json.loads(data.stdout)["trace"]["duration_ns"])
        self.assertIn(b"\nRan for an unknown time, exit unknown.", text.stdout)
        self.assertIn(b"\nNo findings: the trace has no events\n", text.stdout)

    def test_damaged_header(self):
        sample = bytearray(sample_bytes())
        sample[30] ^= 0x10
        path = self.file("flipped.flt", sample)
        whole, text = call("report", "--format", "json", SAMPLE), call("report", path)
        self.assertEqual(text.returncode, 0)
        self.assertIn(b"the copy of its header", text.stderr)
        self.assertIn(b"a copy of the header replaces it", text.stdout.split(b"\n\n")[0])
        read, recorded = json.loads(whole.stdout), json.loads(call("report", "--format", "json", path).stdout)
        self.assertEqual([row["id"] for row in recorded["caveats"] if row["id"] == "header"], ["header"])
        for table in set(read) - {"trace", "caveats"}:
            self.assertEqual(read[table], recorded[table], table)

    def test_damaged_inside(self):
        """The rest is shown; the exit status and a line say that something is missing."""
        sample = bytearray(sample_bytes())
        starts = [at for at in range(len(sample)) if sample[at : at + 4] == b"\x28\xb5\x2f\xfd"]
        sample[starts[6] + 40] ^= 0x10  # a block of calls
        path = self.file("flipped.flt", sample)
        lost = json.loads(call("report", "--format", "json", path).stdout)["trace"]["lost"]
        self.assertEqual(lost["cause"], "damage")
        self.assertIn(b"copy the trace again from an intact copy",
                      re.sub(rb"\s+", b" ", call("report", path).stdout).lower())
        for command in (
            ("report", path), ("report", "--format", "json", path), ("print", path),
            ("report", "--html", self.path("page.html"), path),
            ("report", "--against", path, SAMPLE), ("report", "--against", SAMPLE, path),
            ("summarize", "-o", self.path("summary.flt"), path),
            ("export", "--to", "chrome", "-o", self.path("trace.json"), path),
        ):
            with self.subTest(command):
                done = call(*command)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{path}: the trace is damaged at byte".encode(), done.stderr)
        for name in ("page.html", "summary.flt", "trace.json"):
            self.assertTrue(os.path.getsize(self.path(name)), name)

    def test_csv_on_a_terminal(self):
        """Files get names verbatim; on a terminal they are escaped."""
        trace = self.path("escapes.flt")
        subprocess.run([os.path.join(BUILD, "tests/unit/test_output_html"), "--make", trace],
                       check=True)
        plain = call("report", "--format", "csv", "--table", "files", trace).stdout
        turned = b"\xe2\x80\xae"  # right-to-left override
        self.assertIn(turned, plain)
        master, slave = pty.openpty()
        done = call("report", "--format", "csv", "--table", "files", trace, stdout=slave)
        os.close(slave)
        self.assertEqual(done.returncode, 0)
        shown = os.read(master, 65536)
        os.close(master)
        self.assertNotIn(turned, shown)
        self.assertIn(rb"\xe2\x80\xae", shown)

    def at_a_terminal(self, command, columns, terminal):
        """Output of a shell command at a terminal of that width, and on the terminal itself."""
        def enter():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        subprocess.run(["sh", "-c", command], stdin=slave, stdout=slave, start_new_session=True, preexec_fn=enter,
                       check=True, env={"PATH": os.environ["PATH"], "TZ": "UTC", "TERM": terminal})
        shown = b""
        while select.select([master], [], [], 0)[0]:
            shown += os.read(master, 1 << 16)
        os.close(slave)
        os.close(master)
        return shown

    def test_width_behind_a_pager(self):
        """The width is that of the terminal behind a pipe, as for `report | less`."""
        for columns in 60, 130:
            path = self.path("out")
            self.at_a_terminal(f"{FAULTLINE} report {os.path.abspath(SAMPLE)} | cat >{path}", columns, "xterm")
            with open(path, "rb") as file:
                self.assertEqual(file.read(), call("report", os.path.abspath(SAMPLE), columns=columns).stdout)
        self.assertNotEqual(*(call("report", SAMPLE, columns=columns).stdout for columns in (60, 130)))

    def test_terminals_without_colour(self):
        for terminal, colour in ("xterm", True), ("dumb", False), ("", False):
            shown = self.at_a_terminal(f"{FAULTLINE} report {SAMPLE}", 100, terminal)
            self.assertIn(b"events", shown)
            self.assertEqual(b"\033[" in shown, colour, terminal)

    def test_ended_by_a_signal(self):
        """An export that is ended leaves no half of a file."""
        many = [self.file(f"{i}.flt", sample_bytes()) for i in range(200)]
        ended = 0
        for name in "chrome", "sqlite", "csv":
            out = self.path("out")
            os.mkdir(out)
            target = out if name == "csv" else os.path.join(out, "file")
            with subprocess.Popen([FAULTLINE, "export", "-q", "--to", name, "-o", target, *many],
                                  stdin=subprocess.DEVNULL) as process:
                while process.poll() is None and not os.listdir(out):
                    time.sleep(0.001)
                process.send_signal(signal.SIGTERM)
            if process.returncode:
                self.assertEqual(process.returncode, -signal.SIGTERM)
                ended += 1
                for left in os.listdir(out):  # of csv, the tables that were complete
                    self.assertRegex(left, r"^[a-z_]+\.csv$")
            shutil.rmtree(out)
        self.assertGreater(ended, 0)

    def test_newest(self):
        """Without a trace, report and print use the newest in the directory, and name it."""
        for name, age in (("old.flt", 100), ("new.flt", 10), ("newer.txt", 1), (".newer.flt", 1)):
            path = self.file(name, sample_bytes())
            os.utime(path, (1e9 - age, 1e9 - age))
        program = os.path.abspath(FAULTLINE)
        for command in "report", "print":
            done = subprocess.run([program, command], cwd=os.path.dirname(path),
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stderr),
                             (0, b"faultline: using new.flt, the newest trace in this directory\n"))
            self.assertEqual(done.stdout, call(command, self.path("new.flt"), columns=100).stdout
                             if command == "print" else done.stdout)
            os.mkdir(self.path(command))
            done = subprocess.run([program, command], cwd=self.path(command), capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"no trace given", done.stderr)

    def test_did_you_mean(self):
        for arguments, meant in (
            (("reprot",), "'faultline report'"), (("sumarize",), "'faultline summarize'"),
            (("record",), "'faultline run'"), (("stat",), "'faultline report'"),
            (("version",), "'faultline --version'"),
            (("--json",), "'faultline report --format json'"),
            ((SAMPLE,), f"'faultline report {SAMPLE}'"),
            (("report", "--tabel", "files", SAMPLE), "--table"),
            (("report", "--json", SAMPLE), "--format json"),
            (("export", "--overwrite", SAMPLE), "--force"), (("attach", "--ouput", "x"), "--output"),
        ):
            with self.subTest(arguments):
                self.refused(*arguments, naming=f"{arguments[-1] if len(arguments) == 1 else arguments[1]}: "
                             "unknown")
                self.assertIn(f"did you mean {meant}?".encode(), call(*arguments).stderr)
        for arguments in ("xyzzy",), ("report", "--xyzzy", SAMPLE):
            self.assertNotIn(b"did you mean", call(*arguments).stderr)

    def test_version(self):
        self.assertRegex(call("--version").stdout.decode(), r"^faultline [0-9.]+\n"
                         r"\(commit [0-9a-z-]+, libbpf [0-9.]+, trace format 1\)\n$")

    def test_never_through_a_link(self):
        """A symlink under the output's name may be anyone's and lead anywhere."""
        victim = self.file("victim", b"precious")
        link = self.path("link")
        os.symlink(victim, link)
        for command in (*(("export", "--to", name) for name in formats()),
                        ("export", "--to", "csv", "--table", "files"), ("summarize",)):
            with self.subTest(command):
                self.refused(*command, "--force", "-o", link, SAMPLE, naming="is a symbolic link")
        if os.geteuid() == 0:  # pages go through links of one's own
            os.chown(link, 65534, 65534, follow_symlinks=False)
            self.refused("report", "--html", link, SAMPLE, naming="symbolic link", status=1)
        self.assertTrue(os.path.islink(link))
        # A directory behind a link, and a link in a directory.
        real, out = self.path("real"), self.path("out")
        os.mkdir(real)
        os.symlink(real, out)
        for name, slashes in itertools.product(("csv", "jsonl"), ("", "/", "//")):
            with self.subTest(name, slashes=slashes):
                self.refused("export", "--to", name, "--force", "-o", out + slashes, SAMPLE,
                             naming="is a symbolic link")
                self.assertEqual(os.listdir(real), [])
        os.symlink(victim, os.path.join(real, "files.csv"))
        self.assertEqual(call("export", "--to", "csv", "--force", "-o", real, SAMPLE).returncode, 0)
        self.assertFalse(os.path.islink(os.path.join(real, "files.csv")))
        with open(victim, "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def test_ascii(self):
        """In a non-UTF-8 locale bars and signs are ASCII; in UTF-8 or without a locale they are
        not."""
        for locale, ascii in (("C", True), ("de_DE.ISO-8859-1", True), ("C.UTF-8", False), ("", False)):
            with self.subTest(locale=locale):
                text = subprocess.run([FAULTLINE, "report", SAMPLE], capture_output=True,
                                      env={"PATH": os.environ["PATH"], "LANG": locale}).stdout
                self.assertEqual(text.isascii(), ascii)
                self.assertIn(b">=" if ascii else "\u2265".encode(), text)

    def test_ascii_symbols(self):
        """Every symbol in a text has a replacement."""
        top = pathlib.Path(__file__).parents[3] / "user"
        replaced = set(re.findall(r'\{ "(.)", "', (top / "output/base/ascii.c").read_text()))
        self.assertGreater(len(replaced), 10)
        for part in "analysis", "command", "output/text", "top":
            for path in (top / part).rglob("*.[ch]"):
                texts = "".join(re.findall(r'"(?:[^"\\\n]|\\.)*"', path.read_text()))
                self.assertLessEqual({c for c in texts if not c.isascii()}, replaced, path)

    def test_small_stack(self):
        """Under a low stack limit, trace readers still have enough stack."""
        small = lambda: resource.setrlimit(resource.RLIMIT_STACK, (48 << 10, 48 << 10))
        whole = {"env": {"PATH": os.environ["PATH"]}, "preexec_fn": small, "capture_output": True}
        commands = [["report"], ["print"], ["report", "--html", self.path("page")]]
        commands += [["summarize", "-o", self.path("sums")]]
        commands += [["export", "-q", "--to", name, "-o", self.path(name)] for name in formats()]
        for command in commands:
            with self.subTest(command):
                done = subprocess.run([FAULTLINE, *command, SPANS], **whole)
                # Removes the address sanitizer's own warnings, if the program is built with it.
                messages = re.sub(rb"==\d+==WARNING: ASan doesn't fully support .*\n", b"", done.stderr)
                self.assertEqual((done.returncode, messages), (0, b""))

    def test_output_fails(self):
        for command in (("report", SAMPLE), ("print", SAMPLE), ("top", "--help"), ("--help",),
                        ("--version",), ("help", "terms"), ("monitor", "--list-metrics")):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = call(*command, stdout=full)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"No space left on device", done.stderr)

    def test_reader_goes_away(self):
        """As in `faultline print | head`: ended by SIGPIPE, or an error if it is ignored."""
        for ignored, status in (False, -signal.SIGPIPE), (True, 1):
            reading, writing = os.pipe()
            os.close(reading)
            action = signal.SIG_IGN if ignored else signal.SIG_DFL
            done = call("print", SAMPLE, stdout=writing,
                        preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
            os.close(writing)
            self.assertEqual(done.returncode, status)

    def test_print_programs(self):
        """The program's name appears where requested, and nothing else changes."""
        plain, named = call("print", SAMPLE), call("print", "--programs", SAMPLE)
        self.assertEqual(named.returncode, 0)
        text = named.stdout.decode()
        self.assertRegex(text, r"\n +\d+\.\d{9} 100/100 \(python3\) pread64 ")
        unnamed = re.sub(r"^( *-?\d+\.\d{9} [^ ]+) \([^)]*\) ", r"\1 ", text, flags=re.M)
        self.assertEqual(unnamed, plain.stdout.decode())
        comms = {row["pid"]: row["comm"] for row in events() if row["kind"] == "exec"}
        recorded = {row["pid"]: row["program"] for row in events("--programs") if "program" in row}
        for pid, comm in comms.items():
            self.assertEqual(recorded[pid], comm)

    def test_print_filters(self):
        every = events()
        self.assertEqual([e["time_ns"] for e in every], sorted(e["time_ns"] for e in every))
        for layer in "task", "syscall", "fault", "pagecache", "file":
            wanted = [e for e in every if e["layer"] == layer]
            self.assertTrue(wanted)
            self.assertEqual(events("--layer", layer), wanted)
        self.assertEqual(events("--layer", "fork"), [e for e in every if e["kind"] == "fork"])
        self.assertEqual(events("--pid", "101"),
                         [e for e in every if 101 in (e.get("pid"), e.get("child_pid"))])
        done = call("print", "--pid", "0", SAMPLE)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"no events match these filters", done.stderr)
        for glob in "/data/*", "*.pt", "/data/t?ain.bin":
            wanted = [e for e in every if any(fnmatch.fnmatchcase(e.get(key, ""), glob)
                                              for key in ("path", "path2"))]
            self.assertTrue(wanted)
            self.assertEqual(events("--file", glob), wanted)
        self.assertEqual(events("--layer", "syscall", "--op", "pread64"),
                         [e for e in every if e.get("op") == "pread64"])
        for options in ["--layer", "fork", "--op", "*"], ["--layer", "fault", "--op", "pread64"], \
                ["--layer", "exec", "--min-duration", "1us"]:
            done = call("print", *options, SAMPLE)
            self.assertEqual((done.returncode, done.stdout), (1, b""), options)
        self.assertEqual(events("--file", "*.pt", "--layer", "syscall", "--pid", "101"),
                         [e for e in every if e.get("op") == "sendfile"])

    def test_quiet_on_pipes(self):
        """Without a terminal: no progress, no colours, nothing but data."""
        for arguments in ("report",), ("print",), ("print", "--format", "json"):
            done = call(*arguments, SAMPLE)
            self.assertEqual(done.stderr, b"")
            self.assertNotIn(b"\x1b", done.stdout)


if __name__ == "__main__":
    unittest.main()
