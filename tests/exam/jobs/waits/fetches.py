# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Cause: fetches objects from a server one by one, each 20 ms away. Change: 16 at once."""
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from exam_job import start


def make(d):
    pass


def serve(connection):
    with connection:
        while request := connection.recv(64):
            time.sleep(0.02)
            connection.sendall(b"y" * 32768)


def fetch(d):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{d}/server")
        connection.sendall(b"GET")
        left = 32768
        while left:
            left -= len(connection.recv(left))


def run(d, fixed):
    if fixed:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda _: fetch(d), range(120)))
    else:
        for _ in range(120):
            fetch(d)


if sys.argv[1] == "beside":
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{sys.argv[2]}/server")
        server.listen(64)
        print("ready", flush=True)
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
start(make, run)
