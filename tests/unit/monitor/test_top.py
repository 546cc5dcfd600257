#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""faultline top from the user's side: on a terminal, with a monitor that answers, stops answering
or does not exist. The test plays the monitor, so the expected output is known."""
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _together  # noqa: E402

FAULTLINE = os.environ["FAULTLINE"]
SECOND = 10 ** 9
WAIT = 30  # seconds; longer than anything here takes


def methods(times):
    return [{"op": "read", "method": "syscall", "count": 1000 * times, "errors": 0,
             "bytes": 4096000 * times, "fetched_bytes": 0, "created_bytes": 0,
             "major_faults": 0, "time_ns": 1000000 * times}]


def jobs(reading):
    """A node of two jobs; the later one does twice as much, in every two seconds. The wall clock goes
    back, as it may."""
    return {
        "schema": 2, "time_unix_ns": 10 ** 18 - 5 * SECOND * reading, "read_ns": 10 ** 12 + 2 * SECOND * reading,
        "readings": reading, "node": {"methods": methods(3 * reading)}, "jobs_left_out": 0,
        "jobs": [{"id": number, "cgroup": f"/jobs/number{number}", "living": 1,
                  "methods": methods(number * reading),
                  "processes": [{"pid": 100 + number, "start_ns": 1, "program": "python3",
                                 "command": f"python3 train{number}.py",
                                 "methods": methods(number * reading)}],
                  "files": [{"path": f"/data/shard-{number}.bin", "dev": 1, "ino": number,
                             "methods": methods(number * reading)}]} for number in (1, 2)]}


class Monitor(http.server.ThreadingHTTPServer):
    """Answers each request with the next reading, or with a replacement from the test."""

    def __init__(self, answer=None):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests += 1
                status, body = answer(outer.requests) if answer else \
                    (200, json.dumps(jobs(outer.requests)))
                body = body.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = 0
        self.where = f"127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()


def top(*arguments, **more):
    return subprocess.run([FAULTLINE, "top", *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=WAIT, **more)


class Batch(unittest.TestCase):
    def batch(self, monitor, *arguments):
        done = top("--batch", "--interval", "0.1", "--connect", monitor.where, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_json(self):
        with Monitor() as monitor:
            frame = json.loads(self.batch(monitor, "-n", "1", "--format", "json"))
        self.assertEqual(frame["schema"], 2)
        self.assertEqual(frame["node"]["operations"], 1500)
        self.assertEqual({job["job"]: job["read_bytes"] for job in frame["jobs"]},
                         {"/jobs/number1": 2048000, "/jobs/number2": 4096000})

    def test_json_says_what_a_job_is(self):
        labels = {"cgroup": "/slurm/uid_1/job_7/step_0/task_1", "namespace": "ml", "pod": "train-0",
                  "pod_uid": "5f0e", "container": "main", "container_id": "c0ffee123456",
                  "image": "torch:2", "slurm_job": "7", "slurm_step": "0", "slurm_name": "tune",
                  "slurm_user": "alice"}

        def labelled(requested):
            reported = jobs(requested)
            reported["jobs"][0].update(labels)
            reported["jobs"][1].update(labels, cgroup="/slurm/uid_1/job_7/step_0/task_2/sub")
            return 200, json.dumps(reported)

        with Monitor(labelled) as monitor:
            for subject in ("jobs", "processes", "files"):
                frame = json.loads(self.batch(monitor, "-n", "1", "--format", "json", "--show",
                                              subject))
                rows = {row["cgroup"]: row for row in frame[subject]}
                self.assertEqual(len(rows), 2)
                row = rows[labels["cgroup"]]
                self.assertEqual({name: row[name] for name in labels}, labels)
                self.assertEqual({row["job"] for row in rows.values()},
                                 {"slurm 7.0 task 1 tune", "slurm 7.0 task 2 tune"})
        with Monitor() as monitor:
            row, *_ = json.loads(self.batch(monitor, "-n", "1", "--format", "json"))["jobs"]
        self.assertEqual([row[name] for name in labels], [row["job"]] + [None] * (len(labels) - 1))

    def test_subjects(self):
        with Monitor() as monitor:
            for subject, member, value in (("processes", "pid", 102),
                                           ("files", "path", "/data/shard-2.bin")):
                frame = json.loads(self.batch(monitor, "-n", "1", "--format", "json", "--show",
                                              subject, "--filter", "NUMBER2"))
                self.assertEqual([row[member] for row in frame[subject]], [value])

    def test_text_frames(self):
        with Monitor() as monitor:
            printed = self.batch(monitor, "-n", "3")
        frames = printed.split("\n\n")
        self.assertEqual(len(frames), 3, printed)
        for frame in frames:
            rows = re.findall(r"^/jobs/number(\d) .*", frame, re.M)
            self.assertEqual(rows, ["2", "1"], frame)

    def test_the_monitor_starts_again(self):
        """The counters are reset: nothing before that is shown, and nothing is negative."""
        with Monitor(lambda requested: (200, json.dumps(jobs(requested if requested < 4 else requested - 3)))) \
                as monitor:
            printed = self.batch(monitor, "-n", "4", "--format", "json")
        frames = [json.loads(frame) for frame in printed.replace("}\n{", "}\0{").split("\0")]
        self.assertEqual([frame["node"]["operations"] for frame in frames], [1500] * 4)

    def test_the_machine_starts_again(self):
        """Its clock counts from zero."""
        def started(requested):
            reported = jobs(requested)
            reported["read_ns"] -= 10 ** 12 - SECOND if requested > 3 else 0
            return 200, json.dumps(reported)

        with Monitor(started) as monitor:
            printed = self.batch(monitor, "-n", "4", "--format", "json")
        frames = [json.loads(frame) for frame in printed.replace("}\n{", "}\0{").split("\0")]
        self.assertEqual([frame["node"]["operations"] for frame in frames], [1500] * 4)

    def test_wrong_answers(self):
        for answer, messages in (
                ((200, "<html>"), "cannot parse"), ((200, ""), "cannot parse"),
                ((200, "{}"), "cannot parse"),
                ((200, json.dumps({**jobs(1), "read_ns": None})), "cannot parse"), ((503, "busy"), "503"), ((404, "no"), "404")):
            with Monitor(lambda requested, answer=answer: answer) as monitor:
                done = top("--batch", "-n", "1", "--connect", monitor.where)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(messages, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_answers_that_are_not_http(self):
        for answer in b"", b"HTTP/1.", b"HTTP/1.\r\n\r\n" + b"x" * 300000, b"220 mail\r\n\r\n":
            with socket.create_server(("127.0.0.1", 0)) as server:
                process = subprocess.Popen(
                    [FAULTLINE, "top", "--batch", "-n", "1", "--connect",
                     f"127.0.0.1:{server.getsockname()[1]}"], stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                with server.accept()[0] as caller:
                    caller.recv(4096)
                    caller.sendall(answer)
                messages = process.communicate(timeout=WAIT)
            self.assertEqual((process.returncode, messages),
                             (1, ("", "faultline: the server is not a faultline monitor\n")))

    def test_connection_not_accepted(self):
        with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
            server.bind(f"{place}/s")
            server.listen(0)
            with socket.socket(socket.AF_UNIX) as first:
                first.connect(f"{place}/s")  # fills the accept queue
                done = top("--batch", "--connect", f"unix:{place}/s")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("timed out", done.stderr)

    def test_endless_answer(self):
        """A trickle of bytes is not enough."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            process = subprocess.Popen(
                [FAULTLINE, "top", "--batch", "-n", "1", "--connect",
                 f"127.0.0.1:{server.getsockname()[1]}"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            with server.accept()[0] as caller:
                caller.recv(4096)
                end = time.monotonic() + WAIT
                while process.poll() is None and time.monotonic() < end:
                    try:
                        caller.send(b"H")
                    except OSError:
                        break
                    time.sleep(0.2)
                messages = process.communicate(timeout=WAIT)
        self.assertEqual((process.returncode, messages[0]), (1, ""))
        self.assertIn("timed out", messages[1])

    def test_nobody_answers(self):
        with tempfile.TemporaryDirectory() as place:
            done = top("--batch", "--connect", f"unix:{place}/none")
            self.assertEqual(done.returncode, 1)
            self.assertIn("No such file", done.stderr)

    def test_bad_input(self):
        for arguments, messages in ((["--connect", "nonsense"], "--connect nonsense"),
                                (["--connect", "unix:"], "the path is empty"),
                                (["--sort", "nothing"], "--sort nothing"),
                                (["--interval", "1us"], "--interval"),
                                (["--show", "all"], "--show"), (["operand"], "operand")):
            done = top("--batch", "-n", "1", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done))
            self.assertIn(messages, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for arguments, messages in (([], "--batch"), (["--format", "json"], "--batch")):
            done = top(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(messages, done.stderr)


def shown(text, columns):
    """Lines as shown by a terminal that does not wrap: after a full line the cursor stays on the
    last column, and erasing from there includes it."""
    lines, column = [""], 0
    for piece in re.findall(r"\033\[[0-9;?]*[A-Za-z]|\r|\n|[^\033\r\n]", text):
        if piece == "\n":
            lines.append("")
        elif piece == "\r":
            column = 0
        elif piece in ("\033[K", "\033[J"):
            lines[-1] = lines[-1][:column]
        elif piece[0] != "\033":
            lines[-1] = lines[-1][:column].ljust(column) + piece
            column = min(column + 1, columns - 1)
    return lines


class Terminal:
    """A terminal of 80 columns and 24 lines that runs faultline top."""

    def __init__(self, where, *arguments):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.size(80, 24)
        self.slave = slave
        self.process = subprocess.Popen(
            [FAULTLINE, "top", "--interval", "0.1", "--connect", where, *arguments],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm"})
        self.sent = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def size(self, columns, lines):
        self.columns = columns
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0.05)[0]:
            self.sent += os.read(self.master, 65536)

    def screen(self):
        """Lines of the last complete screen, as a terminal shows it."""
        drawn = self.sent.decode().split("\033[H")
        whole = [one for one in drawn[1:] if "\033[J" in one]
        return shown(whole[-1] if whole else "", self.columns)

    def until(self, is_so):
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            self.read()
            if is_so("\n".join(self.screen())):
                return self.screen()
        raise AssertionError("not seen:\n" + "\n".join(self.screen()))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Its exit status once it has ended by itself."""
        end = time.monotonic() + WAIT
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        return self.process.poll()


class Live(unittest.TestCase):
    def given_back(self, terminal):
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)
        self.assertTrue(terminal.sent.endswith(b"\033[?7h\033[?25h\033[?1049l"),
                        terminal.sent[-60:])

    def test_keys(self):
        with Monitor() as monitor, Terminal(monitor.where) as terminal:
            lines = terminal.until(lambda text: "/jobs/number2" in text)
            self.assertEqual(len(lines), 24)
            self.assertTrue(all(len(line) <= 80 for line in lines), lines)
            terminal.press("p")
            terminal.until(lambda text: "python3 train2.py" in text)
            terminal.press("f")
            terminal.until(lambda text: "/data/shard-2.bin" in text)
            terminal.press("/shard-1\r")
            terminal.until(lambda text: "shard-1" in text and "shard-2" not in text)
            terminal.press("\033")
            terminal.until(lambda text: "shard-2" in text)
            terminal.press(">\033[C")
            terminal.until(lambda text: "sort: ops/s" in text)
            terminal.press("<")
            terminal.until(lambda text: "sort: cpu" in text)
            terminal.press("h")
            terminal.until(lambda text: "pause, resume" in text)
            terminal.press("h")
            terminal.until(lambda text: "shard-2" in text)
            terminal.press(" ")
            terminal.until(lambda text: "(paused)" in text)
            requested = monitor.requests
            time.sleep(0.5)
            self.assertLessEqual(monitor.requests, requested + 1)
            terminal.press(" ")
            terminal.until(lambda text: "(paused)" not in text)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)
            self.given_back(terminal)

    def test_full_lines_are_whole(self):
        """On a terminal as wide as the table, it matches --batch at that width."""
        def long(requested):
            reported = jobs(requested)
            for job in reported["jobs"]:
                job["cgroup"] += "/" + "x" * 200
            return 200, json.dumps(reported)

        with Monitor(long) as monitor:
            for columns in (80, 101, 120):
                printed = top("--batch", "-n", "1", "--interval", "0.1", "--connect",
                              monitor.where, env={**os.environ, "COLUMNS": str(columns)}).stdout
                rows = [line for line in printed.split("\n") if line.startswith("/jobs/")]
                self.assertEqual([len(row) for row in rows], [columns] * 2, printed)
                with Terminal(monitor.where) as terminal:
                    terminal.size(columns, 24)
                    terminal.until(lambda text, rows=rows: all(row in text.split("\n")
                                                               for row in rows))
                    terminal.press("q")
                    self.assertEqual(terminal.end(), 0)

    def test_rows_that_have_room_are_shown(self):
        """Small ones are shown, too: nothing is folded while lines are free."""
        def many(requested):
            reported = jobs(requested)
            reported["jobs"] = [{"id": number, "cgroup": f"/jobs/number{number}", "living": 1,
                             "methods": methods(requested * (10000 if number == 1 else 1))}
                            for number in range(1, 13)]
            return 200, json.dumps(reported)

        with Monitor(many) as monitor, Terminal(monitor.where) as terminal:
            terminal.until(lambda text: text.count("/jobs/number") == 12 and "other" not in text)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)

    def test_size_changes(self):
        with Monitor() as monitor, Terminal(monitor.where) as terminal:
            terminal.until(lambda text: "/jobs/number2" in text)
            terminal.size(160, 40)
            lines = terminal.until(lambda text: text.count("\n") == 39)
            self.assertIn("io_uring/s", "\n".join(lines))
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)

    def test_stopped_and_continued(self):
        with Monitor() as monitor, Terminal(monitor.where) as terminal:
            terminal.until(lambda text: "/jobs/number2" in text)
            os.kill(terminal.process.pid, signal.SIGTSTP)
            os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED)
            terminal.read()
            self.given_back(terminal)
            terminal.sent = b""
            os.kill(terminal.process.pid, signal.SIGCONT)
            terminal.until(lambda text: "/jobs/number2" in text)
            self.assertNotEqual(termios.tcgetattr(terminal.slave), terminal.before)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)
            self.given_back(terminal)

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Monitor() as monitor, Terminal(monitor.where) as terminal:
                terminal.until(lambda text: "/jobs/number2" in text)
                terminal.process.send_signal(number)
                self.assertEqual(terminal.end(), 0)
                self.given_back(terminal)

    def test_other_signals_do_not(self):
        with Monitor() as monitor, Terminal(monitor.where) as terminal:
            terminal.until(lambda text: "/jobs/number2" in text)
            for number in signal.SIGUSR1, signal.SIGUSR2:
                terminal.process.send_signal(number)
            terminal.sent = b""
            terminal.until(lambda text: "/jobs/number2" in text)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)
            self.given_back(terminal)

    def test_the_monitor_goes_away(self):
        """The last state stays, with a line that says so; the monitor may come back."""
        with Monitor() as monitor:
            terminal = Terminal(monitor.where)
            terminal.until(lambda text: "/jobs/number2" in text)
        with terminal:
            terminal.until(lambda text: "Connection refused" in text and "/jobs/number2" in text)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)
            self.given_back(terminal)


if __name__ == "__main__":
    _together.main()
