/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Docstrings of the names written in C, for help(faultline). */
#pragma once

#define SPAN_DOC                                                                                   \
	"span(name, category='', **args)\n--\n\n"                                                  \
	"A phase of the program, for which Faultline reports the I/O.\n\n"                         \
	"    with span('step', category='compute', step=i):     # a block\n"                       \
	"    @span('load', 'data')                              # a function\n"                    \
	"    s = span('epoch', epoch=3).begin() ... s.end()     # callbacks\n\n"                   \
	"Spans nest, belong to the thread that began them, and may end on another one. A block\n"  \
	"ends its span on exceptions, too, and lets them propagate. After a fork, parent and\n"    \
	"child mark spans independently. Coroutines that alternate on one thread each end their\n" \
	"own span.\n\n"                                                                            \
	"A decorated function has one span per call; an async function's span lasts from its\n"    \
	"first step to its last, waits included. A generator, async or not, has one span each\n"   \
	"time it runs, without what its caller does between two items. Methods can be\n"           \
	"decorated, above or below @staticmethod and @classmethod. Name, docstring, signature\n"   \
	"and kind of the function are kept.\n\n"                                                   \
	"An object may be begun again while it is open, by recursion or in several threads.\n"     \
	"Each end() ends the latest begin() of its own thread, or else of any thread.\n\n"         \
	"Category 'compute' is what I/O can overlap with; 'io' is I/O as the program sees it;\n"   \
	"other categories are free to use. Names are kept up to 255 bytes of UTF-8, categories\n"  \
	"up to 63. args are packed when the span begins, and only while a tracer listens: None,\n" \
	"bool, int, float, str, bytes, lists, tuples and dicts of these, and values that\n"        \
	"convert to a number (__index__, __float__). Anything else is kept as the beginning of\n"  \
	"its repr(); no value raises. args above 1024 bytes are dropped as a whole. Reading a\n"   \
	"tensor on a device waits for the device: pass numbers instead.\n"

#define INSTANT_DOC                                                                                \
	"instant($module, name, category='', **args)\n--\n\n"                                      \
	"Marks a moment. Parameters as for span()."

#define RECORD_DOC                                                                                 \
	"record($module, name, category, start_ns, end_ns, /, **args)\n--\n\n"                     \
	"Records a span that has ended. Both times are ns of time.monotonic_ns(); times later\n"   \
	"than now count as now. Use it for durations known only afterwards; otherwise prefer\n"    \
	"span(), which also shows spans of a program that is killed in between."

#define ENABLED_DOC                                                                                \
	"enabled($module)\n--\n\n"                                                                 \
	"Returns True while a tracer listens; otherwise costly preparations can be skipped."
