# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A busy Python job: two workers that read samples, parse and write them, for some seconds.

usage: job_busy.py DIRECTORY SECONDS
"""
import json
import multiprocessing
import os
import random
import sys
import time

FILES, RECORDS = 200, 200


def read_sample(directory, number):
    with open(f"{directory}/{number}.json") as file:
        return json.load(file)


def transformed(records):
    return sorted(({**record, "value": record["value"] ** 2} for record in records),
                  key=lambda record: record["value"])


def save(path, records):
    with open(path, "w") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
        file.flush()
        os.fdatasync(file.fileno())


def work(directory, worker, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        records = [record for _ in range(4)
                   for record in read_sample(directory, random.randrange(FILES))]
        save(f"{directory}/out-{worker}", transformed(records))


def main(directory, seconds):
    os.makedirs(directory, exist_ok=True)
    for number in range(FILES):
        with open(f"{directory}/{number}.json", "w") as file:
            json.dump([{"name": f"record {i}", "value": random.random()} for i in range(RECORDS)],
                      file)
    workers = [multiprocessing.Process(target=work, args=(directory, worker, seconds))
               for worker in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
