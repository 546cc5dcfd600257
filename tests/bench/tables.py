# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows of measurements, and the tables printed from them."""
import statistics

MIB = 2**20


def ratios(pairs):
    each = [traced / plain for plain, traced in pairs]
    return {"untraced_ns": statistics.median(plain for plain, _ in pairs),
            "traced_ns": statistics.median(traced for _, traced in pairs),
            "ratio": statistics.median(each), "ratios": each,
            "best_ratio": min(traced for _, traced in pairs) / min(plain for plain, _ in pairs)}


def verdict(value, target, at_least=False):
    if target is None:
        return "-"
    return "ok" if (value >= target if at_least else value <= target) else "MISSED"


def cost_row(name, pairs, target, lost):
    row = {"name": name, **ratios(pairs), "target": target, "lost": lost}
    return {**row, "verdict": verdict(round(row["ratio"], 2), target)}


def figure(name, unit, value, target, at_least=False):
    return {"name": name, "unit": unit, "value": value, "target": target,
            "verdict": verdict(value, target, at_least)}


def figures(measured):
    """From (name, value, unit, target or None)."""
    return (figure(name, unit, value, target) for name, value, unit, target in measured)


# --- tables ---

def nanoseconds(value):
    return f"{value:,.0f} ns" if value < 10_000 else f"{value / 1000:,.1f} us"


def quantity(value, unit):
    if value is None:
        return "-"
    if unit == "bytes":
        return f"{value / MIB:,.1f} MiB" if value >= MIB else f"{value:.2f}"
    if unit == "ns":
        return f"{value:,.1f} ns"
    if unit == "s":
        return f"{value:.3f} s"
    if unit == "share":
        return f"{value:.2%}"
    if unit == "ratio":
        return f"x{value:.2f}"
    return f"{value / 1e6:,.2f} M/s" if unit == "events/s" else f"{value:,.0f}"


def print_table(title, headings, rows):
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    print(f"\n{title}\n")
    for row in [headings, *rows]:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "   ".join(cells).rstrip())


def print_costs(rows):
    print_table("What faultline costs the traced, per operation",
                ["", "untraced", "traced", "ratio", "of pairs", "of bests", "empty programs",
                 "with a clock", "lost", "target", ""],
                [[row["name"], nanoseconds(row["untraced_ns"]), nanoseconds(row["traced_ns"]),
                  f"x{row['ratio']:.2f}", f"{min(row['ratios']):.2f}-{max(row['ratios']):.2f}",
                  f"x{row['best_ratio']:.2f}",
                  *(f"x{row[kind]:.2f}" if row[kind] else "-" for kind in ("empty", "clock")),
                  f"{row['lost']:,}",
                  f"x{row['target']:.2f}" if row["target"] else "-", row["verdict"]]
                 for row in rows])


def print_rivals(rows, costs):
    tools = dict.fromkeys(row["tool"] for row in rows)
    names = list(dict.fromkeys(row["workload"] for row in rows))
    found = {(row["tool"], row["workload"]): row for row in rows}
    ours = {row["name"]: f"x{row['ratio']:.2f}" for row in costs}
    lines = [["faultline", *(ours.get(name, "-") for name in names)]]
    for tool in tools:
        cells = [found[tool, name] for name in names]
        lines.append([tool, *("-" if "skipped" in row else f"x{row['ratio']:.2f}"
                              for row in cells)])
    print_table("Beside it, the same pairs under", ["", *names], lines)
    for row in rows:
        if "skipped" in row:
            print(f"  - {row['tool']}, {row['workload']}: {row['skipped']}")


def print_figures(rows):
    print_table("Size and speed", ["", "value", "target", ""],
                [[row["name"], quantity(row["value"], row["unit"]),
                  quantity(row["target"], row["unit"]), row["verdict"]] for row in rows])
