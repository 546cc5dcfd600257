/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each process has a table of its modules, made while it runs and renewed when it maps code.
 * A process that ended before it was looked at is unwound with the modules of its parent, which it
 * had at first.
 */
#include "capture/native/unwind.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "collections/map.h"
#include "capture/host/host.h"
#include "capture/native/demangle.h"
#include "capture/native/mapped_files.h"
#include "capture/native/perf_map.h"
#include "capture/native/symbols.h"

#define PROCESSES_MAX 256
#define AGAIN_NS 50000000ull /* between looks at a process for unknown code */
#define JITTED_MAX 65536     /* frames of a JIT that are known */
#define VDSO_BYTES_MAX (1u << 20)
#define SYMBOL_BYTES 4096 /* longer ones are cut, and not understood */
#define JIT "[jit]"	  /* the path of functions in perf maps */

struct process {
	uint32_t pid;	 /* 0: free */
	uint32_t parent; /* 0: unknown, or it has executed another program */
	Dwfl *dwfl;
	uint64_t looked_ns, used;
	struct perf_map perf_map;
};

struct unwind {
	struct unwind_queue *queue;
	Elf *own; /* our program, whose architecture is that of the stacks */
	struct mapped_files *files;
	struct process processes[PROCESSES_MAX];
	uint64_t uses;
	struct map jitted;	  /* frames by hash of name */
	uint32_t unknown;	  /* the frame of code without a module */
	uint32_t jit;		  /* where the path of code from perf maps is in the queue's text */
	struct unwind_slot *slot; /* the stack that is being unwound */
	struct process *process;
	bool past_copy; /* the stack goes on where the copy ends */
	bool unread;	/* memory was needed that is not in the copy */
	struct mapped_module modules[MAPPED_MODULES_MAX];
};

/* --- registers and memory --- */

#if defined(__x86_64__)
#define SP_REGISTER 19
#define CS_REGISTER 17
#define USER32_CS 0x23
/* struct pt_regs, in the order of DWARF's numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to
 * r15, rip. */
static const uint8_t dwarf_registers[] = {
	10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16
};
#else
#define SP_REGISTER 31
#endif

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct unwind *unwind = context;
	const __u64 *registers = unwind->slot->copy.registers;
#if defined(__x86_64__)
	Dwarf_Word words[sizeof(dwarf_registers)];

	for (size_t i = 0; i < sizeof(dwarf_registers); i++)
		words[i] = registers[dwarf_registers[i]];
	return dwfl_thread_state_registers(thread, 0, sizeof(dwarf_registers), words);
#else
	Dwarf_Word words[SP_REGISTER + 1];

	for (size_t i = 0; i <= SP_REGISTER; i++)
		words[i] = registers[i];
	dwfl_thread_state_register_pc(thread, registers[SP_REGISTER + 1]);
	return dwfl_thread_state_registers(thread, 0, SP_REGISTER + 1, words);
#endif
}

/* Whether the stack is one that can be unwound. */
static bool is_native(const struct native_copy *copy)
{
#ifdef CS_REGISTER
	if (copy->registers[CS_REGISTER] == USER32_CS)
		return false;
#endif
	return copy->end && copy->end <= NATIVE_STACK_BYTES;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
	struct unwind *unwind = context;
	const struct native_copy *copy = &unwind->slot->copy;
	const uint64_t sp = copy->registers[SP_REGISTER];
	const uint64_t at = address - (sp - sp % NATIVE_PIECE_BYTES);

	if (address < sp || at > copy->end - sizeof(*word)) {
		unwind->unread = true;
		unwind->past_copy = address >= sp && copy->end == NATIVE_STACK_BYTES;
		return false;
	}
	memcpy(word, copy->stack + at, sizeof(*word));
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	const struct unwind *unwind = context;

	if (*thread)
		return 0;
	*thread = context;
	return unwind->slot->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
	*thread = context;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* --- modules --- */

/* Ours is that of every process. */
static Elf *open_vdso(void)
{
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)vdso;
	const size_t bytes = vdso ? head->e_shoff + (size_t)head->e_shentsize * head->e_shnum : 0;

	return bytes && bytes <= VDSO_BYTES_MAX ? elf_memory(vdso, bytes) : NULL;
}

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **found, Elf **elf)
{
	const struct mapped_file *file = *data;

	*found = NULL;
	if (!file) {
		*elf = open_vdso();
		return -1;
	}
	return file->fd < 0 ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
}

/* Frames are found with the file's own tables. */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			      const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debug_file,
};

static void process_end(struct process *process)
{
	dwfl_end(process->dwfl);
	perf_map_free(&process->perf_map);
	memset(process, 0, sizeof(*process));
}

static void forget_processes(struct unwind *unwind)
{
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		process_end(&unwind->processes[i]);
}

static bool report(Dwfl *dwfl, const struct mapped_module *modules, size_t count)
{
	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < count; i++) {
		const struct mapped_file *file = modules[i].file;
		Dwfl_Module *module = dwfl_report_module(dwfl, file ? file->path : "[vdso]",
							 modules[i].start, modules[i].end);
		void **data;

		if (!module)
			continue; /* of a file whose mappings overlap others' */
		dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
		*data = modules[i].file;
	}
	return !dwfl_report_end(dwfl, NULL, NULL);
}

/* Looks at what a process has mapped. Keeps what is known if it has ended. */
static void look(struct unwind *unwind, struct process *process)
{
	size_t count;

	process->looked_ns = host_now_ns();
	count = mapped_files_of(unwind->files, process->pid, unwind->modules);
	if (!count)
		return;
	if (!process->dwfl) {
		process->dwfl = dwfl_begin(&callbacks);
		if (process->dwfl && !report(process->dwfl, unwind->modules, count)) {
			dwfl_end(process->dwfl);
			process->dwfl = NULL;
		}
		if (process->dwfl && !dwfl_attach_state(process->dwfl, unwind->own, process->pid,
							&thread_callbacks, unwind)) {
			dwfl_end(process->dwfl);
			process->dwfl = NULL;
		}
		return;
	}
	report(process->dwfl, unwind->modules, count);
}

/* --- processes --- */

static struct process *find_process(struct unwind *unwind, uint32_t pid)
{
	for (size_t i = 0; pid && i < PROCESSES_MAX; i++)
		if (unwind->processes[i].pid == pid)
			return &unwind->processes[i];
	return NULL;
}

/* Returns a new entry in place of the one that was not used for longest. */
static struct process *add_process(struct unwind *unwind, uint32_t pid)
{
	struct process *oldest = &unwind->processes[0];

	for (size_t i = 1; i < PROCESSES_MAX && oldest->pid; i++)
		if (!unwind->processes[i].pid || unwind->processes[i].used < oldest->used)
			oldest = &unwind->processes[i];
	process_end(oldest);
	oldest->pid = pid;
	oldest->used = ++unwind->uses;
	return oldest;
}

static struct process *take_process(struct unwind *unwind, uint32_t pid)
{
	struct process *process = find_process(unwind, pid);

	return process ? process : add_process(unwind, pid);
}

/* Returns the table that a stack of a process is unwound with. */
static Dwfl *dwfl_of(struct unwind *unwind, struct process *process)
{
	const struct process *parent = process;

	if (!process->dwfl && !process->looked_ns)
		look(unwind, process);
	for (int i = 0; i < 16 && parent && !parent->dwfl; i++)
		parent = find_process(unwind, parent->parent);
	return parent ? parent->dwfl : NULL;
}

/* Code that was mapped unnoticed. Returns whether the process was looked at again. */
static bool look_again(struct unwind *unwind, struct process *process)
{
	if (!process->dwfl || host_now_ns() - process->looked_ns < AGAIN_NS)
		return false;
	look(unwind, process);
	return true;
}

/* --- names --- */

/* Returns where a text is in the queue, or 0 if there is no room. */
static uint32_t add_text(struct unwind_queue *queue, const char *text, size_t bytes)
{
	const uint32_t at = atomic_load(&queue->text_bytes);

	if (bytes > NATIVE_TEXT_BYTES - at)
		return 0;
	memcpy(queue->text + at, text, bytes);
	atomic_store(&queue->text_bytes, at + bytes);
	return at;
}

static size_t name_bytes(size_t bytes)
{
	return bytes < NATIVE_NAME_BYTES ? bytes : NATIVE_NAME_BYTES;
}

/* Returns the id of a new frame, or 0 if there is no room. */
static uint32_t add_frame(struct unwind *unwind, uint32_t path, uint32_t path_bytes,
			  const char *function, size_t function_bytes, uint32_t flags)
{
	struct unwind_queue *queue = unwind->queue;
	const uint32_t id = atomic_load(&queue->frame_count);
	struct native_frame frame = { .path = path, .path_bytes = path_bytes, .flags = flags };

	frame.function_bytes = name_bytes(function_bytes);
	frame.function = add_text(queue, function, frame.function_bytes);
	if (id == NATIVE_FRAMES_MAX || !frame.function)
		return 0;
	queue->frames[id] = frame;
	atomic_store(&queue->frame_count, id + 1);
	return id + 1;
}

static uint32_t add_file_frame(struct unwind *unwind, struct mapped_file *file,
			       const char *function, uint32_t flags)
{
	if (!file->path_at) {
		file->path_bytes = name_bytes(strlen(file->path));
		file->path_at = add_text(unwind->queue, file->path, file->path_bytes);
	}
	if (!file->path_at)
		return 0;
	return add_frame(unwind, file->path_at, file->path_bytes, function, strlen(function),
			 flags);
}

/* Code without a symbol: "[libx.so]", for all of a file. A name for each address would split what
 * belongs together. */
static uint32_t unnamed_frame(struct unwind *unwind, struct mapped_file *file)
{
	const char *slash = strrchr(file->path, '/');
	char name[MAPPED_PATH_BYTES + 2];

	if (file->unnamed)
		return file->unnamed;
	snprintf(name, sizeof(name), "[%s]", slash ? slash + 1 : file->path);
	return file->unnamed = add_file_frame(unwind, file, name,
					      file->symbols && symbols_have_eval(file->symbols)
						      ? NATIVE_FRAME_INTERPRETER
						      : 0);
}

static void name_symbol(const char *symbol, char name[NATIVE_NAME_BYTES + 1])
{
	char plain[SYMBOL_BYTES]; /* without its version */
	size_t bytes;

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(symbol, "@"), symbol);
	bytes = demangle(plain, name, NATIVE_NAME_BYTES);
	name[bytes] = 0;
	if (!bytes)
		snprintf(name, NATIVE_NAME_BYTES + 1, "%.*s", NATIVE_NAME_BYTES, plain);
}

static uint32_t symbol_frame(struct unwind *unwind, struct mapped_file *file, uint64_t address)
{
	char name[NATIVE_NAME_BYTES + 1];
	ptrdiff_t function;
	const char *symbol;
	uint32_t *id;

	if (!file->symbols_sought && file->fd >= 0) {
		file->symbols_sought = true;
		file->symbols = symbols_open(file->fd, file->path);
	}
	function = file->symbols ? symbols_find(file->symbols, address) : -1;
	if (function < 0)
		return unnamed_frame(unwind, file);
	id = symbols_word(file->symbols, function);
	if (!*id) {
		symbol = symbols_name(file->symbols, function);
		name_symbol(symbol, name);
		*id = add_file_frame(
			unwind, file, name,
			(symbols_have_eval(file->symbols) ? NATIVE_FRAME_INTERPRETER : 0) |
				(symbols_is_eval(symbol) ? NATIVE_FRAME_EVAL : 0));
	}
	return *id;
}

/* Code that the program made. */
static uint32_t jitted_frame(struct unwind *unwind, struct process *process, uint64_t address)
{
	const struct perf_map_function *function;
	uint64_t key, *known;
	bool added;

	function = perf_map_find(&process->perf_map, address);
	if (!function) {
		perf_map_read(&process->perf_map, process->pid);
		function = perf_map_find(&process->perf_map, address);
	}
	if (!function)
		return unwind->unknown;
	key = map_hash_bytes(&unwind->jitted, function->name, function->name_bytes);
	known = map_find(&unwind->jitted, &key);
	if (known)
		return *known;
	if (unwind->jitted.count >= JITTED_MAX)
		return unwind->unknown;
	known = map_add(&unwind->jitted, &key, &added);
	if (!known)
		return unwind->unknown;
	return *known = add_frame(unwind, unwind->jit, strlen(JIT), function->name,
				  function->name_bytes, 0);
}

static uint32_t name_frame(struct unwind *unwind, Dwfl *dwfl, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
	GElf_Addr bias = 0;
	Dwarf_Addr start;
	void **file;

	if (!module)
		return jitted_frame(unwind, unwind->process, address);
	dwfl_module_info(module, &file, &start, NULL, NULL, NULL, NULL, NULL);
	if (!*file)
		return unwind->unknown; /* the vDSO */
	if (!dwfl_module_getelf(module, &bias))
		bias = start;
	return symbol_frame(unwind, *file, address - bias);
}

/* --- stacks --- */

struct stack_walk {
	uint32_t count;
	uint64_t addresses[UNWIND_FRAMES_MAX];
};

/* Takes the address of the call, not of the instruction after it. */
static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct stack_walk *walk = context;
	bool is_activation;
	Dwarf_Addr address;

	if (!dwfl_frame_pc(frame, &address, &is_activation))
		return DWARF_CB_ABORT;
	if (!is_activation)
		address--;
	walk->addresses[walk->count++] = address;
	return walk->count < UNWIND_FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* Returns whether the outermost frame was reached. libdw reports no error for an address that could
 * not be read. */
static bool walk_stack(struct unwind *unwind, Dwfl *dwfl, struct stack_walk *walk)
{
	walk->count = 0;
	unwind->past_copy = unwind->unread = false;
	return !dwfl_getthread_frames(dwfl, unwind->slot->tid, take_frame, walk) && !unwind->unread;
}

static bool ends_unknown(Dwfl *dwfl, const struct stack_walk *walk)
{
	return walk->count && !dwfl_addrmodule(dwfl, walk->addresses[walk->count - 1]);
}

static void unwind_stack(struct unwind *unwind, struct unwind_slot *slot)
{
	struct process *process = take_process(unwind, slot->pid);
	struct stack_walk walk = { .count = 0 };
	Dwfl *dwfl = dwfl_of(unwind, process);
	bool whole;

	process->used = ++unwind->uses;
	unwind->process = process;
	slot->status = UNWIND_FAILED;
	slot->count = 0;
	if (!dwfl || !is_native(&slot->copy))
		return;
	whole = walk_stack(unwind, dwfl, &walk);
	if (!whole && !unwind->past_copy && ends_unknown(dwfl, &walk) &&
	    look_again(unwind, process))
		whole = walk_stack(unwind, dwfl, &walk);
	for (uint32_t i = 0; i < walk.count; i++)
		slot->frames[i] = name_frame(unwind, dwfl, walk.addresses[i]);
	slot->count = walk.count;
	if (whole)
		slot->status = UNWIND_WHOLE;
	else if (unwind->past_copy || walk.count == UNWIND_FRAMES_MAX)
		slot->status = UNWIND_CUT;
}

/* Forgets what a process was before an exec or a fork, unless it was looked at since. */
static bool begins_anew(struct unwind *unwind, const struct unwind_slot *slot)
{
	struct process *process = find_process(unwind, slot->pid);

	if (process && process->looked_ns > slot->time_ns)
		return false;
	if (process)
		process_end(process);
	return true;
}

static void note_code(struct unwind *unwind, const struct unwind_slot *slot)
{
	struct process *process = take_process(unwind, slot->pid);

	if (slot->time_ns >= process->looked_ns)
		look(unwind, process);
}

void unwind_answer(struct unwind *unwind, struct unwind_slot *slot)
{
	if (mapped_files_are_full(unwind->files)) {
		forget_processes(unwind);
		mapped_files_forget(unwind->files);
	}
	unwind->slot = slot;
	switch (slot->kind) {
	case UNWIND_STACK:
		unwind_stack(unwind, slot);
		break;
	case UNWIND_EXEC:
		if (begins_anew(unwind, slot))
			look(unwind, add_process(unwind, slot->pid));
		break;
	case UNWIND_FORK:
		if (begins_anew(unwind, slot) && find_process(unwind, slot->parent))
			add_process(unwind, slot->pid)->parent = slot->parent;
		break;
	case UNWIND_CODE:
		note_code(unwind, slot);
		break;
	case UNWIND_MISSED:
		forget_processes(unwind);
		break;
	}
}

struct unwind *unwind_make(struct unwind_queue *queue)
{
	struct unwind *unwind = calloc(1, sizeof(*unwind));
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	elf_version(EV_CURRENT);
	if (!unwind)
		return NULL;
	unwind->queue = queue;
	unwind->own = own >= 0 ? elf_begin(own, ELF_C_READ, NULL) : NULL;
	unwind->files = mapped_files_make();
	map_init(&unwind->jitted, 1, 1);
	if (!atomic_load(&queue->text_bytes))
		atomic_store(&queue->text_bytes, 1); /* 0 stands for no text */
	unwind->unknown = add_frame(unwind, 1, 0, "[unknown]", strlen("[unknown]"), 0);
	unwind->jit = add_text(queue, JIT, strlen(JIT));
	return unwind->own && unwind->files && unwind->unknown ? unwind : NULL;
}
