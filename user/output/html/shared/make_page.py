#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a page at build time: puts styles, a library and our own programs into its frame, with a
policy that allows these and nothing else, and writes it as C source.

usage: make_page.py OUT.c NAME FRAME.html FILE...

FILEs are styles (.css), at most one library (.min.js) and programs (.js), in their order. In the
frame @STYLE@, @LIBRARY@ and @PROGRAM@ stand for them. @POLICY@ is where a page that is kept as a file
has its policy; of a page that is served, NAME_policy is for the header, and it may ask its own server
for more. A page with @DATA@ is cut there into NAME_head and NAME_tail.
"""
import base64
import hashlib
import re
import sys


def digest(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def without_head(text):
    """A text without the two lines on licence and purpose that each of our files begins with."""
    return re.sub(r"\A/\* SPDX.*?\*/\n/\*.*?\*/\n", "", text, flags=re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def as_c(name, text):
    data = text.encode()
    lines = [",".join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    return "extern const unsigned char %s[];\nconst unsigned char %s[] = {\n%s,0\n};\n" % (
        name, name, ",\n".join(lines))


def fill(page, marks):
    for mark, text in marks:
        if page.count(mark) != (text is not None):
            sys.exit("make_page.py: %s must stand in the page %s" % (
                mark, "once" if text is not None else "nowhere"))
        page = page.replace(mark, text or "")
    return page


def main():
    out, name, frame_path, *paths = sys.argv[1:]
    frame = read(frame_path)
    style = "\n" + "".join(without_head(read(path)) for path in paths if path.endswith(".css"))
    libraries = ["\n" + read(path) for path in paths if path.endswith(".min.js")]
    program = "\n'use strict';\n(() => {\n%s})();\n" % "".join(
        without_head(read(path)) for path in paths if re.search(r"(?<!\.min)\.js\Z", path))
    for text in (style, program, *libraries):
        if "</style" in text or "</script" in text or "<!--" in text:
            sys.exit("make_page.py: a text would end the element that it stands in")
    served = "@POLICY@" not in frame
    policy = "default-src 'none'; img-src data:; style-src %s; script-src %s; " \
        "base-uri 'none'; form-action 'none'" % (
            digest(style), " ".join(map(digest, (*libraries, program))))
    page = fill(frame, (("@POLICY@", None if served else policy), ("@STYLE@", style),
                        ("@LIBRARY@", libraries[0] if libraries else None),
                        ("@PROGRAM@", program)))
    with open(out, "w", encoding="ascii") as file:
        file.write("/* Made by make_page.py; not to be changed. */\n")
        if "@DATA@" in page:
            head, tail = page.split("@DATA@")
            file.write(as_c(name + "_head", head) + as_c(name + "_tail", tail))
        else:
            file.write(as_c(name, page))
        if served:
            file.write(as_c(name + "_policy",
                            policy + "; connect-src 'self'; frame-ancestors 'none'"))


if __name__ == "__main__":
    main()
