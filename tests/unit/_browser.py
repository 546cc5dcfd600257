# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A headless Chromium, driven over a pipe by the DevTools protocol.

    with Browser(width, height) as browser:
        browser.open(path)
        browser.value("document.title")
        browser.problems   # console output, exceptions, attempted requests
"""
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--disable-default-apps", "--hide-scrollbars", "--mute-audio",
         "--no-proxy-server", "--remote-debugging-pipe")


def chromium():
    return shutil.which("chromium")


class Browser:
    def __init__(self, width=1280, height=900, dark=False, limit=60, server="file:"):
        self.size, self.dark, self.limit = (width, height), dark, limit
        self.number, self.buffer = 0, b""
        self.serve(server)

    def serve(self, server):
        """Requests to `server`, which serves the next page, are not problems."""
        self.own, self.problems = (server, "data:", "about:"), []

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="faultline-browser-")
        to_browser, self.write_fd = os.pipe()
        self.read_fd, from_browser = os.pipe()

        def take_pipes():  # it reads from 3 and writes to 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            while first in (3, 4):
                first = os.dup(first)
            while second in (3, 4):
                second = os.dup(second)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [chromium(), *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=take_pipes, start_new_session=True,
            env=dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile))
        os.close(to_browser)
        os.close(from_browser)
        try:
            target = self.call("Target.getTargets", root=True)["targetInfos"]
            page = next(item for item in target if item["type"] == "page")
            self.session = self.call("Target.attachToTarget", root=True,
                                     targetId=page["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
            self.resize(*self.size)
            self.scheme(self.dark)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        os.close(self.write_fd)
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_fd)
        for _ in range(20):  # helper processes may still write there
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)

    # --- the protocol ---

    def receive(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.read_fd, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def take(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append((method, json.dumps(params)[:600]))
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(self.own):
                self.problems.append((method, url))

    def call(self, method, root=False, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if not root:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.limit
        while True:
            answer = self.receive(until)
            if answer.get("id") != self.number:
                self.take(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer.get("result", {})

    # --- for tests ---

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, drawn="document.documentElement?.dataset.drawn === 'all'"):
        self.call("Page.navigate", url=path if str(path).startswith(("http:", "about:"))
                  else pathlib.Path(path).absolute().as_uri())
        self.wait(drawn)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def wait(self, expression, seconds=20):
        until = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > until:
                raise TimeoutError(f"never came true: {expression}; {self.problems}")
            time.sleep(0.02)

    def settle(self):
        """Waits until the page has been redrawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame("
                   "() => setTimeout(done, 30))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y0 + (y1 - y0) * i / 5, button="left",
                       buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)
        self.settle()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def key(self, name, text=None):
        code = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Enter": 13,
                "Tab": 9, "Escape": 27}.get(name, 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code,
                  **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def box(self, selector):
        """x, y, width and height of an element after scrolling it into view."""
        return self.value("(() => { const e = document.querySelector(%s); "
                          "e.scrollIntoView({block: 'center'}); "
                          "const r = e.getBoundingClientRect(); "
                          "return [r.x, r.y, r.width, r.height]; })()" % json.dumps(selector))
