/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline._core: spans for Python, linked with the probes of user/span/span.c. Must stay on the
 * limited API of Python 3.9, and must not raise because of a span's arguments.
 */
#include "values.h"

#include "faultline.h"

/*
 * The header hides this before 3.10, where it became part of the stable ABI; flag and signature are
 * the same in every Python since 3.7. Without it `with` creates a tuple at each exit.
 */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

#define OPEN_MAX 1024 /* open begins of one object; further ones are ignored */

/* A begin that has not ended yet. */
struct open {
	uint64_t id;
	unsigned long thread;
};

/*
 * One object may be open several times: as a decorator, or shared by threads. An end belongs to the
 * latest begin of its own thread, or else to the latest of any.
 */
struct span {
	PyObject_VAR_HEAD	/* one value per keyword */
		PyObject *name; /* str */
	PyObject *category;	/* str or NULL */
	PyObject *keywords;	/* tuple of the keywords' names, or NULL */
	size_t open_count;
	size_t room; /* of `more`, which holds all but the first */
	struct open first;
	struct open *more;
	PyObject *values[]; /* of the keywords, including "name" and "category" */
};

static PyTypeObject *span_type;
static PyObject *name_key, *category_key;

/* --- name, category and arguments as Python passes them --- */

/* Arguments of span() and instant(); borrowed references. */
struct given {
	PyObject *name, *category;
	PyObject *keywords;	 /* tuple of names, or NULL */
	PyObject *const *values; /* one for each name */
};

static int is_key(PyObject *key, PyObject *expected)
{
	return key == expected || PyUnicode_Compare(key, expected) == 0;
}

static int is_argument(PyObject *key)
{
	return !is_key(key, name_key) && !is_key(key, category_key);
}

/* Sets one of the two named parameters. Raises if it was given before. */
static int take(PyObject **parameter, PyObject *key, PyObject *value)
{
	if (*parameter) {
		PyErr_Format(PyExc_TypeError, "got multiple values for argument '%U'", key);
		return -1;
	}
	if (!PyUnicode_Check(value)) {
		PyErr_Format(PyExc_TypeError, "%U must be a str, not %R", key, Py_TYPE(value));
		return -1;
	}
	*parameter = value;
	return 0;
}

static int take_all(struct given *given, PyObject *const *args, Py_ssize_t count,
		    PyObject *keywords)
{
	Py_ssize_t i, keyword_count = keywords ? PyTuple_Size(keywords) : 0;
	PyObject *key;

	*given = (struct given) { .keywords = keywords, .values = args + count };
	if (count > 2) {
		PyErr_SetString(PyExc_TypeError, "takes at most 2 positional arguments (name, "
						 "category); pass others by keyword");
		return -1;
	}
	if ((count > 0 && take(&given->name, name_key, args[0])) ||
	    (count > 1 && take(&given->category, category_key, args[1])))
		return -1;
	for (i = 0; i < keyword_count; i++) {
		key = PyTuple_GetItem(keywords, i);
		if (is_key(key, category_key) && take(&given->category, key, given->values[i]))
			return -1;
		if (is_key(key, name_key) && take(&given->name, key, given->values[i]))
			return -1;
	}
	if (!given->name) {
		PyErr_SetString(PyExc_TypeError, "missing required argument 'name'");
		return -1;
	}
	return 0;
}

/* The same, encoded for a probe. */
struct encoded {
	PyObject *name, *category; /* bytes, owned; NULL for none */
	struct args_pack args;
	unsigned char args_bytes[FAULTLINE_ARGS_BYTES];
};

static void encoded_free(struct encoded *encoded)
{
	Py_XDECREF(encoded->name);
	Py_XDECREF(encoded->category);
}

/* Fails only with MemoryError, or with exceptions of a value's repr that must not be swallowed. */
static int encode(struct encoded *encoded, const struct given *given)
{
	encoded->category = NULL;
	encoded->args = (struct args_pack) { .bytes = encoded->args_bytes,
					     .size = sizeof(encoded->args_bytes) };
	encoded->name = PyUnicode_AsEncodedString(given->name, "utf-8", "backslashreplace");
	if (!encoded->name)
		return -1;
	if (given->category) {
		encoded->category =
			PyUnicode_AsEncodedString(given->category, "utf-8", "backslashreplace");
		if (!encoded->category)
			goto fail;
	}
	if (given->keywords &&
	    values_pack(&encoded->args, given->keywords, given->values, is_argument))
		goto fail;
	return 0;
fail:
	encoded_free(encoded);
	return -1;
}

static const char *text_of(PyObject *bytes)
{
	return bytes ? PyBytes_AsString(bytes) : NULL;
}

/* --- begin and end --- */

static struct open *open_at(struct span *span, size_t i)
{
	return i == 0 ? &span->first : &span->more[i - 1];
}

/* Makes room for one more. Returns -1 if no more can be open. */
static int open_reserve(struct span *span)
{
	size_t room = span->room ? 2 * span->room : 4;
	struct open *more;

	if (span->open_count >= OPEN_MAX)
		return -1;
	if (span->open_count < 1 + span->room)
		return 0;
	more = PyMem_Realloc(span->more, room * sizeof(*more));
	if (!more)
		return -1;
	span->more = more;
	span->room = room;
	return 0;
}

/* Not inlined: the frame is large, and most calls return before they need it. */
static __attribute__((noinline)) int begin_listened(struct span *span)
{
	const struct given given = { span->name, span->category, span->keywords, span->values };
	struct encoded encoded;
	uint64_t id;

	if (open_reserve(span))
		return 0;
	if (encode(&encoded, &given))
		return -1;
	/* packing ran Python code, which may have opened this same object */
	if (open_reserve(span) == 0) {
		id = faultline_span_begin(text_of(encoded.name), text_of(encoded.category),
					  encoded.args_bytes, encoded.args.used);
		if (id)
			*open_at(span, span->open_count++) =
				(struct open) { id, PyThread_get_thread_ident() };
	}
	encoded_free(&encoded);
	return 0;
}

static PyObject *span_begin(PyObject *self, PyObject *unused)
{
	if (faultline_enabled() && begin_listened((struct span *)self))
		return NULL;
	Py_INCREF(self);
	return self;
}

static __attribute__((noinline)) void end_open(struct span *span)
{
	unsigned long thread = PyThread_get_thread_ident();
	size_t i = span->open_count, last = span->open_count - 1;
	uint64_t id;

	while (i > 0 && open_at(span, i - 1)->thread != thread)
		i--;
	i = i > 0 ? i - 1 : last;
	id = open_at(span, i)->id;
	for (; i < last; i++)
		*open_at(span, i) = *open_at(span, i + 1);
	span->open_count = last;
	faultline_span_end(id);
}

static PyObject *span_end(PyObject *self, PyObject *unused)
{
	if (((struct span *)self)->open_count)
		end_open((struct span *)self);
	Py_RETURN_NONE;
}

/* Returns None, which is false, so that an exception propagates. */
static PyObject *span_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	return span_end(self, NULL);
}

/* --- the type --- */

static PyObject *span_make(const struct given *given)
{
	Py_ssize_t i, count = given->keywords ? PyTuple_Size(given->keywords) : 0;
	struct span *span = PyObject_GC_NewVar(struct span, span_type, count);

	if (!span)
		return NULL;
	span->name = given->name;
	span->category = given->category;
	span->keywords = given->keywords;
	span->open_count = span->room = 0;
	span->more = NULL;
	Py_INCREF(span->name);
	Py_XINCREF(span->category);
	Py_XINCREF(span->keywords);
	for (i = 0; i < count; i++) {
		span->values[i] = given->values[i];
		Py_INCREF(span->values[i]);
	}
	if (count) /* strings are never part of a cycle */
		PyObject_GC_Track(span);
	return (PyObject *)span;
}

static PyObject *span_new(PyTypeObject *type, PyObject *positional, PyObject *keywords)
{
	PyErr_SetString(PyExc_TypeError, "Span cannot be created directly; use span()");
	return NULL;
}

static int span_clear(PyObject *self)
{
	struct span *span = (struct span *)self;
	Py_ssize_t i, count = span->keywords ? PyTuple_Size(span->keywords) : 0;

	Py_CLEAR(span->keywords); /* which determine the number of values */
	for (i = 0; i < count; i++)
		Py_CLEAR(span->values[i]);
	return 0;
}

static void span_free(PyObject *self)
{
	struct span *span = (struct span *)self;
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	span_clear(self);
	Py_XDECREF(span->name);
	Py_XDECREF(span->category);
	PyMem_Free(span->more);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static int span_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct span *span = (struct span *)self;
	Py_ssize_t i, count = span->keywords ? PyTuple_Size(span->keywords) : 0;

	Py_VISIT(Py_TYPE(self));
	for (i = 0; i < count; i++)
		Py_VISIT(span->values[i]);
	return 0;
}

static PyObject *span_repr(PyObject *self)
{
	struct span *span = (struct span *)self;

	if (span->category)
		return PyUnicode_FromFormat("span(%R, category=%R)", span->name, span->category);
	return PyUnicode_FromFormat("span(%R)", span->name);
}

static PyObject *span_copy(PyObject *self, PyObject *unused)
{
	struct span *span = (struct span *)self;
	const struct given given = { span->name, span->category, span->keywords, span->values };

	return span_make(&given);
}

/* span(...)(function): the decorator is implemented in Python. */
static PyObject *span_call(PyObject *self, PyObject *positional, PyObject *keywords)
{
	PyObject *module, *function = NULL, *decorated = NULL;

	if (PyTuple_Size(positional) != 1 || (keywords && PyDict_Size(keywords))) {
		PyErr_SetString(PyExc_TypeError,
				"a span takes exactly one argument, the function to decorate");
		return NULL;
	}
	module = PyImport_ImportModule("faultline._decorate");
	if (module)
		function = PyObject_GetAttrString(module, "decorate");
	if (function)
		decorated = PyObject_CallFunctionObjArgs(function, self,
							 PyTuple_GetItem(positional, 0), NULL);
	Py_XDECREF(function);
	Py_XDECREF(module);
	return decorated;
}

static PyObject *span_get_name(PyObject *self, void *unused)
{
	PyObject *name = ((struct span *)self)->name;

	Py_INCREF(name);
	return name;
}

static PyObject *span_get_category(PyObject *self, void *unused)
{
	PyObject *category = ((struct span *)self)->category;

	if (!category)
		return PyUnicode_FromString("");
	Py_INCREF(category);
	return category;
}

static PyMethodDef span_methods[] = {
	{ "__enter__", span_begin, METH_NOARGS, NULL },
	{ "__exit__", FAST(span_exit), METH_FASTCALL, NULL },
	{ "begin", span_begin, METH_NOARGS,
	  "Begins the span and returns this object. Calls nest." },
	{ "end", span_end, METH_NOARGS,
	  "Ends the latest begin() of this thread, or else of any thread. Does nothing if no span "
	  "is open." },
	{ "_copy", span_copy, METH_NOARGS,
	  "Returns a span with the same name, category and arguments." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef span_attributes[] = {
	{ "name", span_get_name, NULL, "The name, not truncated.", NULL },
	{ "category", span_get_category, NULL, "The category, or \"\" if there is none.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

#include "span_doc.h"

static PyType_Slot span_slots[] = {
	{ Py_tp_doc, "A span, as returned by span()." },
	{ Py_tp_new, span_new },
	{ Py_tp_dealloc, span_free },
	{ Py_tp_traverse, span_traverse },
	{ Py_tp_clear, span_clear },
	{ Py_tp_repr, span_repr },
	{ Py_tp_call, span_call },
	{ Py_tp_methods, span_methods },
	{ Py_tp_getset, span_attributes },
	{ 0, NULL },
};

static PyType_Spec span_spec = {
	.name = "faultline.Span",
	.basicsize = sizeof(struct span),
	.itemsize = sizeof(PyObject *),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = span_slots,
};

/* --- the module --- */

/* Not the type itself, which would first make a tuple and a dict of the parameters. */
static PyObject *make(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
	struct given given;

	return take_all(&given, args, count, keywords) ? NULL : span_make(&given);
}

/* Not inlined: see begin_listened(). */
static __attribute__((noinline)) int instant_listened(const struct given *given)
{
	struct encoded encoded;

	if (encode(&encoded, given))
		return -1;
	faultline_instant(text_of(encoded.name), text_of(encoded.category), encoded.args_bytes,
			  encoded.args.used);
	encoded_free(&encoded);
	return 0;
}

static PyObject *instant(PyObject *self, PyObject *const *args, Py_ssize_t count,
			 PyObject *keywords)
{
	struct given given;

	if (take_all(&given, args, count, keywords) ||
	    (faultline_enabled() && instant_listened(&given)))
		return NULL;
	Py_RETURN_NONE;
}

/* Converts ns of a clock, limited to its range. Returns -1 and raises for other types. */
static int take_time(PyObject *value, uint64_t *time_ns)
{
	int overflow;
	long long ns = PyLong_AsLongLongAndOverflow(value, &overflow);

	if (ns == -1 && PyErr_Occurred())
		return -1;
	if (overflow > 0)
		ns = INT64_MAX;
	*time_ns = overflow < 0 || ns < 0 ? 0 : ns;
	return 0;
}

/* Not inlined: see begin_listened(). */
static __attribute__((noinline)) int record_listened(const struct given *given, uint64_t start_ns,
						     uint64_t end_ns)
{
	struct encoded encoded;

	if (encode(&encoded, given))
		return -1;
	faultline_span_record(text_of(encoded.name), text_of(encoded.category), encoded.args_bytes,
			      encoded.args.used, start_ns, end_ns);
	encoded_free(&encoded);
	return 0;
}

static PyObject *record(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
	uint64_t start_ns, end_ns;
	struct given given;

	if (count != 4) {
		PyErr_SetString(PyExc_TypeError,
				"record() takes exactly 4 positional arguments (name, category, "
				"start_ns, end_ns); pass others by keyword");
		return NULL;
	}
	if (take_all(&given, args, 2, NULL) || take_time(args[2], &start_ns) ||
	    take_time(args[3], &end_ns))
		return NULL;
	given.keywords = keywords;
	given.values = args + count;
	if (faultline_enabled() && record_listened(&given, start_ns, end_ns))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *enabled(PyObject *self, PyObject *unused)
{
	return PyBool_FromLong(faultline_enabled());
}

static PyMethodDef functions[] = {
	{ "span", FAST(make), METH_FASTCALL | METH_KEYWORDS, SPAN_DOC },
	{ "instant", FAST(instant), METH_FASTCALL | METH_KEYWORDS, INSTANT_DOC },
	{ "record", FAST(record), METH_FASTCALL | METH_KEYWORDS, RECORD_DOC },
	{ "enabled", enabled, METH_NOARGS, ENABLED_DOC },
	{ NULL, NULL, 0, NULL },
};

static int module_fill(PyObject *module)
{
	if (!name_key)
		name_key = PyUnicode_InternFromString("name");
	if (!category_key)
		category_key = PyUnicode_InternFromString("category");
	if (!span_type)
		span_type = (PyTypeObject *)PyType_FromSpec(&span_spec);
	if (!name_key || !category_key || !span_type)
		return -1;
	Py_INCREF(span_type);
	if (PyModule_AddObject(module, "Span", (PyObject *)span_type)) {
		Py_DECREF(span_type);
		return -1;
	}
	return 0;
}

static PyModuleDef_Slot module_slots[] = {
	{ Py_mod_exec, module_fill },
	{ 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "faultline._core",
	.m_doc = "Spans and their USDT probes.",
	.m_methods = functions,
	.m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&module);
}
