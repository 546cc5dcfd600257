# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Everything is built below build/. `make help` lists the targets; V=1 shows the commands.

VERSION := 0.1.0
PREFIX ?= /usr/local
# The C library's directory, if different: Debian has one per architecture.
LIBDIR ?= $(PREFIX)/lib
BUILD ?= build

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
# Headers and libraries of another architecture, if CC compiles for it.
SYSROOT ?=
ifneq ($(SYSROOT),)
override CC += --sysroot=$(SYSROOT)
export PKG_CONFIG_SYSROOT_DIR := $(SYSROOT)
export PKG_CONFIG_LIBDIR := $(SYSROOT)/usr/lib/$(shell $(CC) -print-multiarch)/pkgconfig
endif
ARCH ?= $(shell $(CC) -dumpmachine | sed 's/-.*//; s/x86_64/x86/; s/aarch64/arm64/')

ifeq ($(V),1)
Q :=
say :=
else
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)';
endif

# Packages for capture, and for everything that must build and pass its tests without libbpf.
# libdw unwinds for --stacks native. Without it, the option says so. LIBDW= builds without.
CAPTURE_PACKAGES := libbpf libelf
LIBDW ?= $(if $(shell $(PKG_CONFIG) --exists libdw && echo yes),libdw)
# libiberty names functions of C++ and Rust. Without it, they have the names of their symbols.
LIBIBERTY ?= $(if $(wildcard $(SYSROOT)/usr/include/libiberty/demangle.h),-l:libiberty.a)
# msgpack-c has another name since version 4.
MSGPACK := $(if $(shell $(PKG_CONFIG) --exists msgpack-c && echo yes),msgpack-c,msgpack)
CORE_PACKAGES := $(MSGPACK) libzstd json-c zlib sqlite3 libdeflate

CFLAGS ?= -O2 -g
# Hardening, and names of source files that do not depend on the tree's location.
HARDENING ?= -fPIE -fstack-protector-strong $(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) \
	-ffile-prefix-map=$(CURDIR)=.
LIBRARY_HARDENING ?= -Wl,-z,relro,-z,now
LINK_HARDENING ?= -pie $(LIBRARY_HARDENING)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
ALL_CFLAGS = -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -DFAULTLINE_VERSION='"$(VERSION)"' -Iuser -I. \
	$(shell $(PKG_CONFIG) --cflags $(CORE_PACKAGES)) $(CPPFLAGS) $(HARDENING) $(CFLAGS) $(SANITIZE) -pthread
CORE_LIBS = $(shell $(PKG_CONFIG) --libs $(CORE_PACKAGES)) -lm -ldl -pthread
CAPTURE_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBDW) $(CAPTURE_PACKAGES)) $(LIBIBERTY)
STATIC_LIBS = $(patsubst -l%,-l:lib%.a,$(filter-out -lm -ldl -lpthread -pthread,$(shell \
	$(PKG_CONFIG) --libs --static $(LIBDW) $(CAPTURE_PACKAGES) $(CORE_PACKAGES)))) $(LIBIBERTY) -lm -pthread

STATIC_SOURCE := user/base/static_program.c
CORE_SOURCES := $(filter-out $(STATIC_SOURCE),$(wildcard user/base/*.c)) $(wildcard user/collections/*.c user/trace/*/*.c user/analysis/*/*.c user/analysis/rules/*/*.c user/output/*/*.c)
# Without libdw, only the tracer's side of unwinding.
NATIVE_SOURCES := $(addprefix user/capture/native/,unwind.c unwind_process.c symbols.c demangle.c \
	mapped_files.c)
CAPTURE_SOURCES := $(filter-out $(if $(LIBDW),,$(NATIVE_SOURCES)),$(wildcard user/capture/*/*.c))
MONITOR_SOURCES := $(wildcard user/monitor/*/*.c user/top/*.c)
COMMAND_SOURCES := $(wildcard user/command/*.c user/command/*/*.c)
# Tests have unique names: they are built into one directory, whichever folder they are in.
UNIT_TESTS := $(patsubst %.c,$(BUILD)/tests/unit/%,$(notdir $(wildcard tests/unit/*/test_*.c)))
UNIT_TESTS := $(filter-out $(if $(LIBDW),,%/test_capture_unwind %/test_capture_demangle),$(UNIT_TESTS))
vpath test_%.c $(wildcard tests/unit/*)
WORKLOADS := tests/live/workloads
LIVE_PROGRAMS := $(patsubst %.c,$(BUILD)/tests/live/%,$(notdir $(wildcard $(WORKLOADS)/*.c $(WORKLOADS)/*/*.c)))
vpath %.c $(WORKLOADS) $(wildcard $(WORKLOADS)/*/)
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O2 -g -I$(WORKLOADS) -MMD -MP
BENCH_PROGRAMS := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/*.c))

# The page of report --html: our own scripts, and D3 from Debian's node-d3.
D3 ?= /usr/share/nodejs/d3/dist/d3.min.js
HTML := user/output/html
HTML_SHARED := $(HTML)/shared
SHARED_PROGRAMS := $(HTML_SHARED)/format.js $(HTML_SHARED)/element.js
HTML_PROGRAMS := $(SHARED_PROGRAMS) \
	$(sort $(filter-out %/main.js,$(wildcard $(HTML)/*.js))) $(HTML)/main.js
HTML_STYLES := $(HTML_SHARED)/palette.css $(HTML)/style.css
HTML_PAGE := $(BUILD)/html_page.c
# The page of faultline monitor, which shares some of them.
MONITOR := user/monitor/page
MONITOR_PROGRAMS := $(SHARED_PROGRAMS) \
	$(sort $(filter-out %/main.js,$(wildcard $(MONITOR)/*.js))) $(MONITOR)/main.js
MONITOR_STYLES := $(HTML_SHARED)/palette.css $(MONITOR)/style.css
MONITOR_PAGE := $(BUILD)/monitor_page.c

# The list of findings: their rules, by `order`.
FINDINGS := $(wildcard user/analysis/rules/*/*.c)
FINDING_LIST := $(BUILD)/finding_list.c

CORE_MADE := $(HTML_PAGE) $(FINDING_LIST)
CORE_OBJECTS := $(CORE_SOURCES:%.c=$(BUILD)/%.o) $(CORE_MADE:.c=.o)
CAPTURE_OBJECTS := $(CAPTURE_SOURCES:%.c=$(BUILD)/%.o)
MONITOR_OBJECTS := $(MONITOR_SOURCES:%.c=$(BUILD)/%.o) $(MONITOR_PAGE:.c=.o)
COMMAND_OBJECTS := $(COMMAND_SOURCES:%.c=$(BUILD)/%.o)
SKELETON := $(BUILD)/bpf/faultline.skel.h
PROBE_READ_SKELETON := $(BUILD)/bpf/probe_read.skel.h

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all programs test check bench exam soak fuzz vmtest dist dist-check install uninstall deb deb-check image-check \
	rpm clean help format FORCE

all: $(BUILD)/faultline

help:
	@echo 'all      build $(BUILD)/faultline'
	@echo 'test     unit tests (no root needed), then live tests (root)'
	@echo 'check    format, the kernel side for x86 and arm64, unit tests under ASan and UBSan'
	@echo 'format   lay the C files out by .clang-format'
	@echo 'bench    what tracing costs, as ratios paired in one run (BENCH=--full: all of it)'
	@echo 'exam     whether the first findings of jobs with a known cause are right (as root; EXAM=--help)'
	@echo 'soak     spans under four tracers at once, 500 times (SOAK="--rounds N --tracers N")'
	@echo 'fuzz     a bounded run of the reader under libFuzzer'
	@echo 'vmtest   the same comparisons on other kernels, in QEMU (scripts/setup.sh vm; VM=5.15-ubuntu; VMARCH=arm64; KERNEL=IMAGE)'
	@echo 'install  into DESTDIR and PREFIX ($(PREFIX)); uninstall removes it'
	@echo 'deb      Debian packages (scripts/setup.sh deb); deb-check uses them in a fresh Debian'
	@echo 'image-check  build the container image and run it (scripts/setup.sh image)'
	@echo 'rpm      RPM packages (RPMFLAGS, such as --nodeps where rpmbuild does not know what is installed)'
	@echo 'dist     a source archive and a program that needs no libraries; dist-check builds both twice'
	@echo 'clean    remove $(BUILD)'

# --- the kernel side ---------------------------------------------------------------------------

BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -I. -Ibpf -Wall -Wextra \
	-idirafter $(SYSROOT)/usr/include/$(shell $(CC) -print-multiarch) \
	-Wno-unused-parameter -Wno-missing-declarations -Wno-unused-function \
	-ffile-prefix-map=$(CURDIR)=.

# Architectures other than this one are only compile-tested.
BPF_ARCHES := x86 arm64

$(BUILD)/bpf/%/faultline.bpf.o: bpf/faultline.bpf.c \
		$(wildcard bpf/*/*.[ch] vmlinux/*.h user/trace/format/*.h) Makefile
	$(call say,BPF,$@)mkdir -p $(@D)
	$(Q)$(CLANG) $(filter-out -D__TARGET_ARCH_%,$(BPF_CFLAGS)) -Werror -D__TARGET_ARCH_$* -c $< -o $@

# Built twice, see bpf/core/kernel.h.
$(BUILD)/bpf/probe_read.bpf.o: BPF_CFLAGS += -DFAULTLINE_PROBE_READ
$(BUILD)/bpf/faultline.bpf.o $(BUILD)/bpf/probe_read.bpf.o: bpf/faultline.bpf.c Makefile
	$(call say,BPF,$@)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.full
	$(Q)$(BPFTOOL) gen object $@ $@.full

$(SKELETON) $(PROBE_READ_SKELETON): %.skel.h: %.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $(*F) >$@

# --- the user side -----------------------------------------------------------------------------

$(BUILD)/user/capture/%.o: ALL_CFLAGS += -I$(BUILD)
$(BUILD)/user/capture/native/%.o: ALL_CFLAGS += $(if $(LIBDW),-DHAVE_LIBDW) $(if $(LIBIBERTY),-DHAVE_LIBIBERTY)
$(CAPTURE_OBJECTS): | $(SKELETON) $(PROBE_READ_SKELETON)

# The commit for --version, if this is a git clone. Written only if it changed.
COMMIT := $(shell git describe --always --dirty --exclude='*' 2>/dev/null)
$(BUILD)/commit: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)[ "$$(cat $@ 2>/dev/null)" = '$(COMMIT)' ] || echo '$(COMMIT)' >$@

FORCE:

$(BUILD)/user/command/main.o: ALL_CFLAGS += -DFAULTLINE_COMMIT='"$(COMMIT)"'
$(BUILD)/user/command/main.o: $(BUILD)/commit

# Rows of option tables omit trailing members.
$(COMMAND_OBJECTS): ALL_CFLAGS += -Wno-missing-field-initializers

# Loops over columns, which -O2 does not vectorise.
$(BUILD)/user/trace/format/column.o $(BUILD)/user/trace/write/rows.o: ALL_CFLAGS += -O3

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(HTML_PAGE): $(HTML_SHARED)/make_page.py $(HTML)/page.html $(HTML_STYLES) $(HTML_PROGRAMS) $(D3) Makefile
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(PYTHON3) $< $@ html_page $(HTML)/page.html $(HTML_STYLES) $(D3) $(HTML_PROGRAMS)

$(MONITOR_PAGE): $(HTML_SHARED)/make_page.py $(MONITOR)/page.html $(MONITOR_STYLES) $(MONITOR_PROGRAMS) Makefile
	$(call say,PAGE,$@)mkdir -p $(@D)
	$(Q)$(PYTHON3) $< $@ monitor_page $(MONITOR)/page.html $(MONITOR_STYLES) $(MONITOR_PROGRAMS)

# Made every time, since a file may have been removed; written only if it changed. A rule without an
# order comes first, and fails a test.
$(FINDING_LIST): $(FINDINGS) Makefile FORCE
	$(Q)mkdir -p $(@D)
	$(Q)list=$$(awk '/^const struct finding_rule finding_/ { if (name) print 0, name; name = $$4 } \
		/^\t\.order = / { print $$3 + 0, name; name = "" } END { if (name) print 0, name }' \
		$(FINDINGS) | sort -n | awk 'BEGIN { print "#include \"analysis/finding/finding.h\"" } \
		{ print "extern const struct finding_rule " $$2 ";"; rules = rules "\t&" $$2 ",\n" } \
		END { print "const struct finding_rule *const finding_rules[] = {\n" rules "\tNULL\n};"; \
		print "const size_t finding_rule_count = " NR ";" }'); \
		[ "$$(cat $@ 2>/dev/null)" = "$$list" ] || printf '%s\n' "$$list" >$@

$(CORE_MADE:.c=.o) $(MONITOR_PAGE:.c=.o): %.o: %.c
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c $< -o $@

$(D3):
	@echo 'D3 is missing: install node-d3 (scripts/setup.sh build), or name it: make D3=FILE' >&2; false

$(BUILD)/libcore.a: $(CORE_OBJECTS)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(BUILD)/libcapture.a: $(CAPTURE_OBJECTS)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(BUILD)/libmonitor.a: $(MONITOR_OBJECTS)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

LIBRARIES := $(BUILD)/libmonitor.a $(BUILD)/libcapture.a $(BUILD)/libcore.a

# Links all objects: from a library, the linker would silently pick the first of two functions with
# the same name.
$(BUILD)/faultline: $(COMMAND_OBJECTS) $(LIBRARIES)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(LINK_HARDENING) $(LDFLAGS) -o $@ $(COMMAND_OBJECTS) \
		-Wl,--whole-archive $(LIBRARIES) -Wl,--no-whole-archive $(CAPTURE_LIBS) $(CORE_LIBS)

# Without shared libraries. The linker warns of functions for which the C library may load some; what
# STATIC_SOURCE does prevents it.
$(BUILD)/faultline-static: $(COMMAND_OBJECTS) $(STATIC_SOURCE:%.c=$(BUILD)/%.o) $(LIBRARIES)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -static-pie $(LIBRARY_HARDENING) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--whole-archive $(LIBRARIES) -Wl,--no-whole-archive $(STATIC_LIBS) 2>$@.log || { cat $@.log >&2; false; }

# Reference pages, generated from the program's own lists of columns.
all: $(BUILD)/faultline-trace.5 $(BUILD)/faultline-report.5

# Escapes plain text for a manual page.
as_page = sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'"'"']/\\\&&/'

$(BUILD)/faultline-trace.5: $(BUILD)/faultline
	$(call say,PAGE,$@)printf '.TH FAULTLINE-TRACE 5\n.SH NAME\nfaultline-trace \\- %s\n' \
		'kinds of rows and columns of a trace' >$@
	$(Q)printf '.SH DESCRIPTION\nName, type, unit and meaning of each column, by kind of row. %s\n.nf\n' \
		'Times are in ns of CLOCK_MONOTONIC; strings are referred to by their ids.' >>$@
	$(Q)$(BUILD)/faultline print --list-columns | $(as_page) >>$@
	$(Q)printf '.fi\n.SH SEE ALSO\n.BR faultline (1)\n' >>$@

$(BUILD)/faultline-report.5: $(BUILD)/faultline
	$(call say,PAGE,$@)printf '.TH FAULTLINE-REPORT 5\n.SH NAME\nfaultline-report \\- %s\n' \
		'tables and columns of a report' >$@
	$(Q)printf '.SH DESCRIPTION\nThe members of\n.BR "faultline report --format json" :\n%s\n.nf\n\n' \
		'name, unit, kind, type and meaning of each column, by table. A dot in a name is a nested object.' >>$@
	$(Q)$(BUILD)/faultline report --list-columns | $(as_page) >>$@
	$(Q)printf '.fi\n.SH SEE ALSO\n.BR faultline (1),\n.BR faultline-trace (5)\n' >>$@

# --- the library for marking spans -------------------------------------------------------------

# Also part of the Python extension: must build with nothing but the C library and <sys/sdt.h>.
SPAN_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/span/*.c))
SPAN_LIBRARIES := $(BUILD)/libfaultline.a $(BUILD)/libfaultline.so

all: $(SPAN_LIBRARIES)

$(SPAN_OBJECTS): ALL_CFLAGS += -fPIC -fvisibility=hidden
# No sanitizers: programs built without them load it. Its unit tests compile it separately.
$(SPAN_OBJECTS) $(BUILD)/libfaultline.so.0: override SANITIZE :=

$(BUILD)/libfaultline.a: $(SPAN_OBJECTS)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

# Never unloaded: a tracer's probes are in its text, and its address makes ids distinct.
$(BUILD)/libfaultline.so.0: $(SPAN_OBJECTS)
	$(call say,LINK,$@)$(CC) $(CFLAGS) $(SANITIZE) $(LIBRARY_HARDENING) $(LDFLAGS) -shared -Wl,-z,nodelete \
		-Wl,-soname,$(@F) -o $@ $^

$(BUILD)/libfaultline.so: $(BUILD)/libfaultline.so.0
	$(Q)ln -sf $(<F) $@

-include $(SPAN_OBJECTS:.o=.d)

# The Python package as the backend builds it for pip, for Debian's own Python, and the hook that
# `faultline run --python-spans` puts on PYTHONPATH.
PYTHON3 ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHON_FILES := user/python/backend.py $(wildcard user/python/faultline/*.* \
	user/python/faultline/mcp/*.py user/python/src/*.*) \
	$(shell find user/python/hook -name '*.py')

all: $(BUILD)/python/built

$(BUILD)/python/built: $(PYTHON_FILES) $(wildcard user/span/*.[ch])
	$(call say,PYTHON,$(@D))rm -rf $(@D) && mkdir -p $(@D)
	$(Q)CC='$(CC)' $(PYTHON3) user/python/backend.py $(@D)
	$(Q)cp -R user/python/hook $(@D)/hook && find $(@D) -name __pycache__ -prune -exec rm -r {} +
	$(Q)touch $@

# --- tests -------------------------------------------------------------------------------------

$(BUILD)/tests/unit/%.o: %.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -MF $@.d -c $< -o $@

# Tests of the capture side need libbpf and the kernel side's skeleton, but no kernel and no root.
$(BUILD)/tests/unit/test_capture%.o: ALL_CFLAGS += -I$(BUILD)
$(BUILD)/tests/unit/test_capture%.o: $(SKELETON)
$(BUILD)/tests/unit/test_capture%: $(BUILD)/tests/unit/test_capture%.o $(LIBRARIES)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CAPTURE_LIBS) $(CORE_LIBS) -lcmocka

$(BUILD)/tests/unit/test_monitor%: $(BUILD)/tests/unit/test_monitor%.o $(LIBRARIES)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(CAPTURE_LIBS) $(CORE_LIBS) -lcmocka

$(BUILD)/tests/unit/test_span: $(BUILD)/tests/unit/test_span.o $(wildcard user/span/*.c)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ \
		$(shell $(PKG_CONFIG) --libs $(MSGPACK)) -lcmocka

# Runs a command and reports each probe that fires, for the tests of spans in other languages.
programs test-unit: $(BUILD)/tests/unit/span_listener

$(BUILD)/tests/unit/span_listener: tests/unit/span_listener.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O2 -g -o $@ $<

# Servers, for tests of their pages.
SERVING_PROGRAMS := $(BUILD)/tests/unit/http_pages $(BUILD)/tests/unit/jobs_served
programs test-unit: $(SERVING_PROGRAMS)

$(SERVING_PROGRAMS): $(BUILD)/%: %.c $(LIBRARIES)
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIBRARIES) $(CAPTURE_LIBS) $(CORE_LIBS)

# Makes the traces that tests of exports share.
programs test-unit: $(BUILD)/tests/unit/export_traces

# Decodes exports to Perfetto, with code generated from the messages in use.
programs test-unit: $(BUILD)/tests/unit/perfetto_dump

$(BUILD)/tests/unit/perfetto.pb-c.c: tests/unit/perfetto.proto Makefile
	$(call say,PROTO,$<)mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(BUILD) $<

$(BUILD)/tests/unit/perfetto_dump: tests/unit/perfetto_dump.c $(BUILD)/tests/unit/perfetto.pb-c.c \
		$(BUILD)/libcore.a
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -I$(BUILD) -o $@ $< $(BUILD)/tests/unit/perfetto.pb-c.c \
		$(BUILD)/libcore.a $(CORE_LIBS) -lprotobuf-c

$(BUILD)/tests/unit/test_output_file: $(BUILD)/user/command/common/output_file.o
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libcore.a
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libcore.a $(CORE_LIBS) -lcmocka

$(BUILD)/tests/live/%: %.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -MF $@.d -pthread -o $@ $<

$(BUILD)/tests/live/standing: standing.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -MF $@.d -o $@ $< -lbpf

$(BUILD)/tests/live/span_%: span_%.c $(BUILD)/libfaultline.a Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -Iuser/span -MF $@.d -pthread -o $@ $< $(BUILD)/libfaultline.a

# The same program without the library linked in: it loads it with dlopen().
$(BUILD)/tests/live/span_opened: span_marks.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -Iuser/span -DOPENED -MF $@.d -pthread -o $@ $< -ldl

$(BUILD)/tests/bench/spans: tests/bench/spans.c $(BUILD)/libfaultline.a Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Iuser/span -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libfaultline.a

$(BUILD)/tests/bench/floor: tests/bench/floor.c Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(CAPTURE_LIBS)

$(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/libcore.a Makefile
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libcore.a $(CORE_LIBS)

# Where a library cannot be linked statically, only the test of faultline-static fails.
programs: all $(UNIT_TESTS) $(LIVE_PROGRAMS) $(BENCH_PROGRAMS)
	+-$(Q)$(MAKE) $(BUILD)/faultline-static

# The fuzzer does not depend on other build options, so make check shares it. It is built before its
# test starts, outside the test's time limit. If it cannot be built, only that test fails.
FUZZ ?= $(BUILD)/fuzz
FUZZ_PROGRAMS := $(FUZZ)/fuzz_reader $(BUILD)/fuzz/make_seeds
make_fuzz = +-$(Q)$(MAKE) $(FUZZ_PROGRAMS)

test: programs
	$(make_fuzz)
	$(Q)BUILD=$(BUILD) tests/run.sh unit live

# Checks the format, then rebuilds and runs the unit tests with sanitizers.
CLANG_FORMAT ?= clang-format
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
C_FILES := $(shell find bpf user vmlinux tests -name '*.[ch]')

check:
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)
	$(Q)$(MAKE) $(BPF_ARCHES:%=$(BUILD)/bpf/%/faultline.bpf.o)
	$(Q)$(MAKE) BUILD=$(BUILD)/asan FUZZ=$(FUZZ) SANITIZE='$(SANITIZERS)' test-unit

.PHONY: test-unit
test-unit: all $(UNIT_TESTS)
	$(make_fuzz)
	$(Q)BUILD=$(BUILD) tests/run.sh unit

format:
	$(Q)$(CLANG_FORMAT) -i $(C_FILES)

# Tests on other kernels, in QEMU: VM='6.1 7.2' selects kernels, KERNEL=IMAGE one of your own (and
# MODULES=DIR its modules), VMARCH=arm64 another architecture; VMFLAGS has options for
# tests/vm/run.py.
VMARCH ?= $(shell dpkg --print-architecture)
VM_PROGRAMS := $(addprefix $(BUILD)/tests/live/,calls mapper spawner span_marks hotread uring \
	uring_forms moves present span_opened waits fuse_serve nfs_serve p9_serve) \
	$(BUILD)/tests/bench/neighbour $(BUILD)/libfaultline.so.0

vmtest: $(BUILD)/faultline $(VM_PROGRAMS)
	$(Q)BUILD=$(BUILD) $(PYTHON3) tests/vm/run.py --arch $(VMARCH) $(KERNEL:%=--kernel %) $(MODULES:%=--modules %) $(VMFLAGS) $(VM)

soak: programs
	$(Q)BUILD=$(BUILD) /usr/bin/python3 tests/bench/soak_spans.py $(SOAK)

# EXAM has options for tests/exam/exam.py: make exam EXAM='--only sleeps,lock'
exam: $(BUILD)/faultline
	$(Q)BUILD=$(BUILD) /usr/bin/python3 tests/exam/exam.py $(EXAM)

# BENCH has options for tests/bench/run.py: make bench BENCH=--full
bench: all $(BENCH_PROGRAMS) $(BUILD)/tests/live/swarm
	$(Q)/usr/bin/python3 tests/bench/run.py --build $(BUILD) $(BENCH)

# Fuzzes the trace reader, the report and the exports with libFuzzer, for FUZZ_SECONDS or for N
# inputs (FUZZ_LIMIT=-runs=N); FUZZ_TRACES are the initial traces. Then tries these traces, a summary
# of each, and the seeds that are files, which have all kinds of blocks, with one damaged column at a
# time, for every FUZZ_EVERYth way to damage one.
FUZZ_EVERY ?= 20
FUZZ_SECONDS ?= 20
FUZZ_TRACES ?= $(wildcard tests/golden/*.flt)
FUZZ_LIMIT ?= -max_total_time=$(FUZZ_SECONDS)
FUZZ_SOURCES := tests/fuzz/fuzz_reader.c $(CORE_SOURCES) $(CORE_MADE:$(BUILD)/%=%)
FUZZ_OBJECTS := $(FUZZ_SOURCES:%.c=$(FUZZ)/%.o)
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DFAULTLINE_VERSION='"$(VERSION)"' -Iuser -I. -O1 \
	-gline-tables-only \
	$(shell $(PKG_CONFIG) --cflags $(CORE_PACKAGES)) -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all

$(FUZZ)/%.o: %.c Makefile
	$(call say,FUZZ,$<)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@

$(FUZZ)/%.o: $(BUILD)/%.c Makefile
	$(call say,FUZZ,$<)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -c $< -o $@

$(FUZZ)/fuzz_reader: $(FUZZ_OBJECTS)
	$(call say,LINK,$@)$(CLANG) $(FUZZ_CFLAGS) -o $@ $^ $(CORE_LIBS)

-include $(FUZZ_OBJECTS:.o=.d)

$(BUILD)/fuzz/make_seeds: tests/fuzz/make_seeds.c $(BUILD)/libcore.a
	$(call say,CC,$<)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libcore.a $(CORE_LIBS) -lcmocka

-include $(BUILD)/fuzz/make_seeds.d

fuzz: $(FUZZ_PROGRAMS) $(BUILD)/faultline
	$(Q)mkdir -p $(BUILD)/fuzz/corpus $(BUILD)/fuzz/seeds
	$(Q)$(BUILD)/fuzz/make_seeds $(BUILD)/fuzz/seeds $(FUZZ_TRACES)
	$(Q)$(FUZZ)/fuzz_reader $(FUZZ_LIMIT) -max_len=65536 -rss_limit_mb=2048 -timeout=25 \
		-print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ -dict=tests/fuzz/reader.dict $(FUZZ_OPTIONS) \
		$(BUILD)/fuzz/corpus $(BUILD)/fuzz/seeds
	$(Q)mkdir -p $(BUILD)/fuzz/summaries
	$(Q)for trace in $(FUZZ_TRACES); do \
		$(BUILD)/faultline summarize --force -o $(BUILD)/fuzz/summaries/$${trace##*/} $$trace || exit; \
	done
	$(Q)/usr/bin/python3 tests/fuzz/damage_columns.py --every $(FUZZ_EVERY) \
		--reader $(FUZZ)/fuzz_reader --faultline $(BUILD)/faultline $(FUZZ_TRACES) \
		$(addprefix $(BUILD)/fuzz/summaries/,$(notdir $(FUZZ_TRACES))) \
		$$(ls $(BUILD)/fuzz/seeds/*-0 | grep -v '/frames-')

# --- releases ---------------------------------------------------------------------------------

# The committed sources, and a program that needs no libraries. Builds are reproducible: the
# same sources and compiler give the same bytes anywhere.
DIST := $(BUILD)/dist
RELEASE := faultline-$(VERSION)
RELEASED := $(shell git rev-parse --short HEAD 2>/dev/null)
dist:
	$(Q)rm -rf $(DIST) && mkdir -p $(DIST)/source
	$(call say,DIST,$(DIST)/$(RELEASE).tar.gz)git archive --prefix=$(RELEASE)/ $(RELEASED) | \
		gzip -9n >$(DIST)/$(RELEASE).tar.gz
	$(Q)tar -xzf $(DIST)/$(RELEASE).tar.gz -C $(DIST)/source
	$(Q)$(MAKE) -C $(DIST)/source/$(RELEASE) BUILD=build \
		COMMIT=$(RELEASED) build/faultline-static
	$(call say,DIST,$(DIST)/$(RELEASE)-linux-$(ARCH))strip \
		-o $(DIST)/$(RELEASE)-linux-$(ARCH) $(DIST)/source/$(RELEASE)/build/faultline-static
	$(Q)rm -r $(DIST)/source && cd $(DIST) && sha256sum * >SHA256SUMS && cat SHA256SUMS

# Twice, in two directories: a release that cannot be reproduced fails.
dist-check: dist
	$(Q)$(MAKE) BUILD=$(BUILD)/elsewhere RELEASED=$(RELEASED) dist
	$(Q)diff $(DIST)/SHA256SUMS $(BUILD)/elsewhere/dist/SHA256SUMS && echo 'the same in two directories'

# --- install -----------------------------------------------------------------------------------

# Destinations. With DESTDIR, the loader's cache, which belongs to this machine, is not updated.
BINARY = $(DESTDIR)$(PREFIX)/bin/faultline
MAN = $(DESTDIR)$(PREFIX)/share/man/man1/faultline.1
MAN_TRACE = $(DESTDIR)$(PREFIX)/share/man/man5/faultline-trace.5
MAN_REPORT = $(DESTDIR)$(PREFIX)/share/man/man5/faultline-report.5
MAN_RECIPES = $(DESTDIR)$(PREFIX)/share/man/man7/faultline-recipes.7
COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/faultline
ZSH_COMPLETION = $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_faultline
FISH_COMPLETION = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/faultline.fish
HEADER = $(DESTDIR)$(PREFIX)/include/faultline.h
LIB = $(DESTDIR)$(LIBDIR)
PYTHON_PLACE = $(DESTDIR)$(PREFIX)/lib/faultline/python
PKGCONFIG = $(LIB)/pkgconfig/faultline.pc
# The monitoring service: its unit, and files for a cluster's other programs.
SYSTEMD_UNITS ?= $(PREFIX)/lib/systemd/system
UNIT = $(DESTDIR)$(SYSTEMD_UNITS)/faultline-monitor.service
MONITOR_FILES = $(DESTDIR)$(PREFIX)/share/faultline/monitor
LDCONFIG ?= $(firstword $(wildcard /sbin/ldconfig) ldconfig)
ldconfig = $(if $(DESTDIR),,$(LDCONFIG) || echo "run ldconfig as root before programs link with libfaultline")

install: all
	install -D -m 755 $(BUILD)/faultline $(BINARY)
	install -D -m 644 user/command/faultline.1 $(MAN)
	install -D -m 644 $(BUILD)/faultline-trace.5 $(MAN_TRACE)
	install -D -m 644 $(BUILD)/faultline-report.5 $(MAN_REPORT)
	install -D -m 644 user/command/faultline-recipes.7 $(MAN_RECIPES)
	install -D -m 644 user/command/faultline.bash $(COMPLETION)
	install -D -m 644 user/command/_faultline $(ZSH_COMPLETION)
	install -D -m 644 user/command/faultline.fish $(FISH_COMPLETION)
	sed -i "s|BASH_COMPLETION|$(COMPLETION:$(DESTDIR)%=%)|" $(ZSH_COMPLETION) $(FISH_COMPLETION)
	install -D -m 644 user/span/faultline.h $(HEADER)
	install -D -m 644 $(BUILD)/libfaultline.a $(LIB)/libfaultline.a
	install -D -m 755 $(BUILD)/libfaultline.so.0 $(LIB)/libfaultline.so.0
	ln -sf libfaultline.so.0 $(LIB)/libfaultline.so
	mkdir -p $(dir $(PYTHON_PLACE)) && rm -rf $(PYTHON_PLACE)
	cp -R $(BUILD)/python $(PYTHON_PLACE)
	rm $(PYTHON_PLACE)/built
	mkdir -p $(dir $(PKGCONFIG))
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		user/span/faultline.pc.in >$(PKGCONFIG)
	mkdir -p $(dir $(UNIT)) $(MONITOR_FILES)
	sed -e 's|@PREFIX@|$(PREFIX)|' scripts/monitor/faultline-monitor.service >$(UNIT)
	install -m 644 $(wildcard scripts/monitor/*.y*ml scripts/monitor/*.json) $(MONITOR_FILES)
	install -m 755 $(wildcard scripts/monitor/*.sh) $(MONITOR_FILES)
	$(ldconfig)

# Removes only what install installed.
uninstall:
	rm -f $(BINARY) $(MAN) $(MAN_TRACE) $(MAN_REPORT) $(MAN_RECIPES) $(COMPLETION) $(HEADER) $(PKGCONFIG)
	rm -f $(ZSH_COMPLETION) $(FISH_COMPLETION)
	rm -f $(LIB)/libfaultline.a $(LIB)/libfaultline.so $(LIB)/libfaultline.so.0
	rm -f $(UNIT)
	rm -rf $(PYTHON_PLACE) $(MONITOR_FILES)
	rmdir $(dir $(MONITOR_FILES)) 2>/dev/null || true
	rmdir $(dir $(PYTHON_PLACE)) 2>/dev/null || true
	$(ldconfig)

# Debian packages, in $(BUILD)/deb; deb-check runs lintian and tries them in a fresh Debian (needs
# root and network).
deb:
	$(Q)scripts/deb.sh build $(VERSION) $(BUILD)/deb

deb-check: deb
	$(Q)scripts/deb.sh check $(BUILD)/deb

# Builds the container image of the last commit with buildah, and runs it (needs root and network).
image-check:
	$(Q)scripts/container/check.sh $(VERSION)

# RPM packages of the last commit, in $(BUILD)/rpm/RPMS.
rpm:
	$(Q)rm -rf $(BUILD)/rpm && mkdir -p $(BUILD)/rpm/SOURCES
	$(Q)git archive --prefix=$(RELEASE)/ HEAD | gzip -9n >$(BUILD)/rpm/SOURCES/$(RELEASE).tar.gz
	$(Q)env -u MAKEFLAGS -u MAKELEVEL rpmbuild -bb --quiet $(RPMFLAGS) \
		--define '_topdir $(abspath $(BUILD)/rpm)' scripts/rpm/faultline.spec
	$(Q)ls $(BUILD)/rpm/RPMS/*/*.rpm

clean:
	$(Q)rm -rf $(BUILD)

-include $(CORE_OBJECTS:.o=.d) $(CAPTURE_OBJECTS:.o=.d) $(MONITOR_OBJECTS:.o=.d) $(COMMAND_OBJECTS:.o=.d) $(BUILD)/bpf/faultline.bpf.d $(BUILD)/bpf/probe_read.bpf.d
-include $(UNIT_TESTS:=.o.d) $(BUILD)/tests/unit/export_traces.d $(SERVING_PROGRAMS:=.d) $(LIVE_PROGRAMS:=.d) $(BENCH_PROGRAMS:=.d)
