/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Docstrings of what is written in C, for help(faultline). */
#ifndef FAULTLINE_PYTHON_SPAN_DOC_H
#define FAULTLINE_PYTHON_SPAN_DOC_H

#define SPAN_DOC                                                                                   \
	"span(name, category='', **args)\n--\n\n"                                                  \
	"A phase of the program, for Faultline to tell its I/O by.\n\n"                            \
	"    with span('step', category='compute', step=i):     # a block\n"                       \
	"    @span('load', 'data')                              # a function\n"                    \
	"    s = span('epoch', epoch=3).begin() ... s.end()     # callbacks\n\n"                   \
	"Spans nest, belong to their thread, and may end on another one. A block ends its span\n"  \
	"also when an exception leaves it, and lets the exception pass. After a fork the child\n"  \
	"goes on with spans of its own. Coroutines that take turns on a thread each end their "    \
	"own\n"                                                                                    \
	"span.\n\n"                                                                                \
	"A decorated function is one span for each call, an async function from its first step "   \
	"to\n"                                                                                     \
	"its last, waits included. A generator, async or not, is one span for each time that it\n" \
	"runs: what its caller does between two items is none of it. Methods can be decorated,\n"  \
	"above or below @staticmethod and @classmethod. Name, docstring, signature and kind of\n"  \
	"function stay.\n\n"                                                                       \
	"One object may be begun again while it is open: by recursion, or by several threads. "    \
	"Each\n"                                                                                   \
	"end() ends the latest begin() of its own thread, or else the latest of any.\n\n"          \
	"Category 'compute' is what I/O can hide behind, 'io' is I/O as the program sees it; "     \
	"others\n"                                                                                 \
	"are free. Of names 255 bytes are kept, of categories 63, in UTF-8. args are packed when " \
	"the\n"                                                                                    \
	"span begins, and only while somebody listens: None, bool, int, float, str, bytes, "       \
	"lists,\n"                                                                                 \
	"tuples and dicts of them, and what turns itself into a number (__index__, __float__);\n"  \
	"anything else is kept as the start of its repr(), and none raises. args of more than\n"   \
	"1024 bytes are left out as a whole. A device tensor's value waits for the device: pass\n" \
	"numbers.\n"

#define INSTANT_DOC                                                                                \
	"instant($module, name, category='', **args)\n--\n\n"                                      \
	"Marks a moment. Parameters as for span."

#define RECORD_DOC                                                                                 \
	"record($module, name, category, start_ns, end_ns, /, **args)\n--\n\n"                     \
	"Tells of a span that is over: both times in ns of time.monotonic_ns(), neither taken "    \
	"for\n"                                                                                    \
	"later than now. For durations that are known only afterwards; where begin and end can "   \
	"be\n"                                                                                     \
	"marked, span() does, which tells it also of a program that is killed in between."

#define ENABLED_DOC                                                                                \
	"enabled($module)\n--\n\n"                                                                 \
	"True while somebody listens to spans: what is costly to prepare may be skipped without."

#endif
