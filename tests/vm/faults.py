# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for mapped files: data fetched by faults and calls, compared with mincore and
getrusage."""
from job import NotRun, check, equal, fetched, file_row, reported_losses

# Modes of the workload `mapper`: all except one that needs more memory than a guest has.
MODES = """sequential random advised_random private_write shared_write populate mlock mlock2
    populate_read populate_write willneed fork threads write_from direct_write_from read_into pread
    read readahead fadvise sendfile""".split()
# In these the kernel itself takes the faults for a call that does not map: only fentry sees them.
PINNED = ["direct_write_from"]
QUICK_MODES = ["random", "shared_write", "populate", "threads", "read_into", "pread"]
DATA_MIB = 4
MAPPER = """echo %(modes)s >modes; fresh /mnt/other %(mib)d
for mode in %(modes)s; do fresh /mnt/data-$mode %(mib)d; done; cat modes >/dev/null
$RUN -- sh -c 'for mode in %(modes)s; do
mapper $mode /mnt/data-$mode account-$mode /mnt/other || exit; done'"""
FAULT_CROWD = """for i in 0 1 2 3; do fresh /mnt/data$i %(mib)d; done
$RUN -- sh -c 'for i in 0 1 2 3; do mapper threads /mnt/data$i account$i & done; wait'""" % {
    "mib": DATA_MIB
}


def judge_mapper(results):
    """One recording of several processes, each of which reads its own file into the cache."""
    report = results.report()
    lost, missing = reported_losses(results, report), 0
    modes = results.text("modes").split()
    for mode in modes:
        truth = results.account(f"account-{mode}")
        if truth["resident_before"]:
            raise NotRun(f"{mode}: {truth['resident_before']} pages were in memory before")
        row = file_row(report, f"/mnt/data-{mode}")
        resident = truth["resident"] * truth["page_bytes"]
        major = row["mmap"]["major"] if row["mmap"] else 0
        if lost:
            check(fetched(row) <= resident and major <= truth["major"],
                  f"{mode}: {fetched(row)} bytes of {resident}, {major} faults of {truth['major']}")
            missing += resident - fetched(row)
            continue
        equal(fetched(row), resident, f"{mode}: fetched bytes, mincore's")
        check(major == truth["major"] or (mode in PINNED and major < truth["major"]),
              f"{mode}: major faults: {major}, rusage's: {truth['major']}")
    reported = f", {missing} bytes missing, {lost} events reported lost" if lost else ""
    return f"{len(modes)} ways as mincore and rusage{reported}"


def judge_fault_crowd(results):
    """Several processes that fault concurrently: each file has its own pages."""
    report = results.report()
    lost = report["trace"]["lost"]["by_layer"]
    reported = missing = major = 0
    for number in range(4):
        truth = results.account(f"account{number}")
        row = file_row(report, f"/mnt/data{number}")
        resident = truth["resident"] * truth["page_bytes"]
        missing += resident - fetched(row)
        major += truth["major"] - (row["mmap"]["major"] if row["mmap"] else 0)
        reported += resident
    if not any(lost.values()):
        equal(missing, 0, "fetched bytes that were not recorded, with nothing lost")
    check(missing >= 0, f"{-missing} bytes more than came")
    check(0 <= major <= (lost.get("fault") or 0),
          f"{major} major faults fewer than rusage's, {lost.get('fault')} reported lost")
    return f"{reported} bytes, {missing} not recorded, {major} major faults, lost {sum(filter(None, lost.values()))}"


def mapper(modes):
    return MAPPER % {"modes": " ".join(modes), "mib": DATA_MIB}
