#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page of `faultline report --html` at build time: puts style, d3 and our own programs
into page.html, with a policy that allows these and nothing else, and writes it as C source, cut
where the data goes. Must not know what the programs do.

usage: make_page.py OUT.c D3.min.js page.html style.css PROGRAM.js...
"""
import base64
import hashlib
import re
import sys


def digest(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def without_head(text):
    """A program without the two lines on licence and purpose that each file begins with."""
    return re.sub(r"\A/\* SPDX.*?\*/\n/\*.*?\*/\n", "", text, flags=re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def as_c(name, text):
    data = text.encode()
    lines = [",".join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    return "const unsigned char %s[] = {\n%s,0\n};\n" % (name, ",\n".join(lines).replace("\n,", "\n"))


def main():
    out, d3_path, page_path, style_path, *program_paths = sys.argv[1:]
    page, style, d3 = read(page_path), read(style_path), read(d3_path)
    program = "'use strict';\n(() => {\n%s})();\n" % "".join(
        without_head(read(path)) for path in program_paths)
    for text in (style, d3, program):
        if "</style" in text or "</script" in text or "<!--" in text:
            sys.exit("make_page.py: a text would end the element that it stands in")
    style = "\n" + without_head(style)
    d3, program = "\n" + d3, "\n" + program
    policy = "default-src 'none'; img-src data:; style-src %s; script-src %s %s; " \
        "base-uri 'none'; form-action 'none'" % (digest(style), digest(d3), digest(program))
    for mark, text in (("@POLICY@", policy), ("@STYLE@", style), ("@D3@", d3),
                       ("@PROGRAM@", program)):
        if page.count(mark) != 1:
            sys.exit("make_page.py: %s must stand in the page once" % mark)
        page = page.replace(mark, text)
    head, tail = page.split("@DATA@")
    with open(out, "w", encoding="ascii") as file:
        file.write("/* Made by make_page.py; not to be changed. */\n")
        file.write("extern const unsigned char html_page_head[], html_page_tail[];\n")
        file.write(as_c("html_page_head", head) + as_c("html_page_tail", tail))


if __name__ == "__main__":
    main()
