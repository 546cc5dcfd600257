#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Phrases that make a reader stop: none may be in a source file, a document, a page or a name.

Passing this is not the goal, plain English is; the list only keeps the worst from coming back.
"""
import os
import re
import subprocess
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCE = re.compile(r"\.(c|h|py|pyi|js|css|html|sh|md|[1-9]|bash|fish|in|yml|yaml|toml|json|service|spec)$|"
                    r"(Makefile|Dockerfile|/_faultline)$|^scripts/debian/")
# Data, texts that are not ours, and this table.
NOT_OURS = ("LICENSE", "tests/golden/", "tests/unit/project/test_language.py")

# A part of the phrase, in lower case, that texts are searched for first; the pattern; what to write.
PHRASES = (
    ("told", r"\b(is|are|was|were|be|been|being|gets?|not|never|nothing) told\b", "report, print, ignore"),
    ("told ", r"\btold (of|about|apart|that|what|how|together)\b", "report, describe"),
    ("tell", r"\btells? (of|that|what|how|who|whom|why|which|none|nothing)\b", "report, describe, show"),
    ("not known", r"\bwhat [^.;:\"?]{1,70} (is|are|was|were) not known\b", "say who does not know it"),
    ("know", r"\bmust not know\b|\bknows? (nothing|no \w+) (of|about|by)\b", "say what the file does"),
    ("still", r"\b(stands?|stood) still\b", "block"),
    (" alone", r"(?<!leave )(?<!left )\b(by|with|of|on|in|the) ([\w%]+ ){1,3}alone\b", "only"),
    ("meanwhile", r"\bmeanwhile\b", "while ..., or nothing"),
    ("anew", r"\banew\b", "again"),
    ("door", r"\bdoors?\b", "method"),
    ("tale", r"\btales?\b", "record, row"),
    ("patience", r"\bpatience\b", "time budget"),
    ("asker", r"\baskers?\b", "client"),
    ("doer", r"\bdoers?\b", "process"),
    ("at least what", r"\bat least what\b", "lower bound"),
    ("such as it", r"\bsuch as it is\b", "leave it out"),
    (" who ", r"\bso that who\b|\b(to|of|for|by|from) who (is|has|comes|asks|ends|wants|waits)\b",
     "name who it is"),
    ("whomever", r"\bwhomever\b", "any process"),
    ("heed", r"\bheeds?\b|\bheeded\b", "respect, use"),
    ("gained", r"\bgained rights\b", "setuid program"),
    ("one or the other", r"\bone or the other\b", "are mutually exclusive"),
    (" is no ", r"\bis no (list|number|file|directory|time|size|option|name) of\b", "is not a ..."),
    (" of no ", r"\b(is|are) of no (?!use\b|interest\b|help\b)", "has no ..., belongs to no ..."),
    ("of which", r"\bof which table\b", "requires ..."),
    ("no operands", r"\btakes no operands\b", "takes no arguments"),
    ("misspelt", r"\bmisspelt\b", "misspelled"),
    ("account", r"\bon the account of\b|\bon nobody's account\b", "booked on; unattributed"),
    ("nobody", r"\basks? nobody\b|\bnobody for anything\b", "makes no requests"),
    ("is said", r"\bnothing is said of\b", "is not reported"),
    ("is not there", r"\bis not there\b", "is missing, does not exist"),
    (" be had", r"\b(cannot|can|could) be had\b", "is unavailable"),
    ("want of", r"\b(for|the) want of\b", "lack of"),
)
COMPILED = [(key, re.compile(pattern), advice) for key, pattern, advice in PHRASES]
# Quotations in a changelog, and keys and values of older versions.
QUOTED = re.compile(r"`[^`\n]*`")

# Words that no name of a test, nor of its file, may contain.
NAME = re.compile(r"(^|_)(told|tells?|alone|anew|meanwhile|beside|whom|doors?|tales?)(_|\.|$)")
TEST = re.compile(r"^(?:static void |\s*def |TEST(?:_WITH)?\()(test_\w+)", re.MULTILINE)


def sources():
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout.decode().split("\0")
    for name in listed:
        if SOURCE.search(name) and not name.startswith(NOT_OURS):
            path = os.path.join(TOP, name)
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield name, file.read()


def found_in(name, text):
    """The phrases in a text, also where one continues on the next line of a comment or string."""
    lower = QUOTED.sub("", text).lower()
    keys = [one for one in COMPILED if one[0].strip() in lower]
    if not keys:
        return
    lower = re.sub(r"[ \t]*\n[ \t]*(?:\*|#|//|\.\\\")?[ \t]*", "\n", lower)
    spaced = lower.replace("\n", " ")
    for _, pattern, advice in keys:
        for match in pattern.finditer(spaced):
            line = lower.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: \"{match.group().strip()}\": {advice}"


class Language(unittest.TestCase):
    def test_phrases(self):
        found = [one for name, text in sources() for one in found_in(name, text)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_names_of_tests(self):
        found = []
        for name, text in sources():
            if not name.startswith("tests/"):
                continue
            names = [one for one in (os.path.basename(name), *TEST.findall(text))
                     if one.startswith("test_")]
            found += [f"{name}: {one}" for one in names if NAME.search(one)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_the_table(self):
        """It finds what it is for, and leaves ordinary sentences as they are."""
        for text in ("what has no room is told together", "Knows nothing of mappings.",
                     "it works with the profiler alone", "the program stands still",
                     "what stores through\n * mappings dirty is not known", "named anew"):
            self.assertTrue(list(found_in("a.c", text)), text)
        for text in ("leave the file alone", "ftell(file)", "int alone;", "the page is not known yet",
                     "`door` is now `method`", "those that end", "most of it"):
            self.assertEqual(list(found_in("a.c", text)), [], text)


if __name__ == "__main__":
    unittest.main()
