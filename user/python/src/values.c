/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs Python values as msgpack: numbers, strings, bytes, and lists and dicts of them. */
#include "values.h"

#define DEPTH_MAX 4	  /* nested lists and dicts; deeper values become their repr */
#define REPR_BYTES 200	  /* of a repr, at most */
#define ELEMENTS_MAX 1024 /* more cannot fit in an argument buffer */

static int pack_value(struct args_pack *pack, PyObject *value, int depth);

static int overflow(struct args_pack *pack)
{
	pack->used = pack->size + 1;
	return 0;
}

/* Clears what a value's own methods raised. Returns -1 if it must propagate to the program. */
static int forgive(void)
{
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
		return -1;
	PyErr_Clear();
	return 0;
}

/* Takes over the reference to `text`; NULL means that an exception is set. */
static int pack_new_text(struct args_pack *pack, PyObject *text, Py_ssize_t limit)
{
	PyObject *encoded = NULL;
	Py_ssize_t length;
	char *bytes;
	int status = 0;

	if (text)
		encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	Py_XDECREF(text);
	if (!encoded)
		return -1;
	status = PyBytes_AsStringAndSize(encoded, &bytes, &length);
	if (status == 0) {
		if (length > limit) {
			length = limit;
			while (length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
				length--;
		}
		pack_text(pack, bytes, length);
	}
	Py_DECREF(encoded);
	return status;
}

static int pack_repr(struct args_pack *pack, PyObject *value)
{
	if (pack_new_text(pack, PyObject_Repr(value), REPR_BYTES) == 0)
		return 0;
	if (forgive())
		return -1;
	if (pack_new_text(pack, PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__"),
			  REPR_BYTES) == 0)
		return 0;
	if (forgive())
		return -1;
	pack_nil(pack);
	return 0;
}

static int pack_integer(struct args_pack *pack, PyObject *value)
{
	unsigned long long large;
	long long number;
	int overflow;

	number = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (!overflow) {
		pack_int(pack, number);
		return 0;
	}
	large = PyLong_AsUnsignedLongLong(value);
	if (!PyErr_Occurred()) {
		pack_uint(pack, large);
		return 0;
	}
	PyErr_Clear();
	return pack_repr(pack, value);
}

static int pack_sequence(struct args_pack *pack, PyObject *value, int depth)
{
	Py_ssize_t count, i;
	PyObject *items;
	int status = 0;

	if (PySequence_Size(value) > ELEMENTS_MAX)
		return overflow(pack);
	/* A copy: the repr of an element may change the list. */
	items = PySequence_Tuple(value);
	if (!items)
		return -1;
	count = PyTuple_Size(items);
	pack_array(pack, count);
	for (i = 0; i < count && status == 0 && !pack_overflowed(pack); i++)
		status = pack_value(pack, PyTuple_GetItem(items, i), depth - 1);
	Py_DECREF(items);
	return status;
}

static int pack_key(struct args_pack *pack, PyObject *key)
{
	Py_INCREF(key);
	if (PyUnicode_Check(key))
		return pack_new_text(pack, key, ELEMENTS_MAX);
	Py_DECREF(key);
	return pack_repr(pack, key);
}

static int pack_mapping(struct args_pack *pack, PyObject *value, int depth)
{
	PyObject *items, *pair;
	Py_ssize_t count, i;
	int status = 0;

	if (PyDict_Size(value) > ELEMENTS_MAX)
		return overflow(pack);
	items = PyDict_Items(value); /* a copy, as above */
	if (!items)
		return -1;
	count = PyList_Size(items);
	pack_map(pack, count);
	for (i = 0; i < count && status == 0 && !pack_overflowed(pack); i++) {
		pair = PyList_GetItem(items, i);
		status = pack_key(pack, PyTuple_GetItem(pair, 0));
		if (status == 0)
			status = pack_value(pack, PyTuple_GetItem(pair, 1), depth - 1);
	}
	Py_DECREF(items);
	return status;
}

/* Packs numbers of other libraries (numpy's scalars) by the conversions they offer. */
static int pack_other(struct args_pack *pack, PyObject *value)
{
	PyObject *number = NULL;
	int status = -1;

	if (PyIndex_Check(value)) {
		number = PyNumber_Index(value);
		if (number)
			status = pack_integer(pack, number);
	} else if (PyObject_HasAttrString((PyObject *)Py_TYPE(value), "__float__")) {
		number = PyNumber_Float(value);
		if (number) {
			pack_double(pack, PyFloat_AsDouble(number));
			status = 0;
		}
	}
	Py_XDECREF(number);
	if (status == 0)
		return 0;
	return forgive() ? -1 : pack_repr(pack, value);
}

static int pack_value_as_it_is(struct args_pack *pack, PyObject *value, int depth)
{
	char *bytes;
	Py_ssize_t length;

	if (value == Py_None) {
		pack_nil(pack);
	} else if (PyBool_Check(value)) {
		pack_bool(pack, value == Py_True);
	} else if (PyLong_Check(value)) {
		return pack_integer(pack, value);
	} else if (PyFloat_Check(value)) {
		pack_double(pack, PyFloat_AsDouble(value));
	} else if (PyUnicode_Check(value)) {
		Py_INCREF(value);
		return pack_new_text(pack, value, PY_SSIZE_T_MAX);
	} else if (PyBytes_Check(value)) {
		if (PyBytes_AsStringAndSize(value, &bytes, &length))
			return -1;
		pack_binary(pack, bytes, length);
	} else if (PyByteArray_Check(value)) {
		pack_binary(pack, PyByteArray_AsString(value), PyByteArray_Size(value));
	} else if (depth > 0 && (PyList_Check(value) || PyTuple_Check(value))) {
		return pack_sequence(pack, value, depth);
	} else if (depth > 0 && PyDict_Check(value)) {
		return pack_mapping(pack, value, depth);
	} else {
		return pack_other(pack, value);
	}
	return 0;
}

static int pack_value(struct args_pack *pack, PyObject *value, int depth)
{
	size_t start = pack->used;

	if (pack_overflowed(pack))
		return 0;
	if (pack_value_as_it_is(pack, value, depth) == 0)
		return 0;
	if (forgive())
		return -1;
	pack->used = start;
	return pack_repr(pack, value);
}

int values_pack(struct args_pack *pack, PyObject *keywords, PyObject *const *values,
		int (*is_argument)(PyObject *key))
{
	Py_ssize_t i, count = PyTuple_Size(keywords), written = 0;
	size_t start;
	struct args_pack head = *pack;
	PyObject *key;

	pack_map(pack, 0);
	for (i = 0; i < count && !pack_overflowed(pack); i++) {
		key = PyTuple_GetItem(keywords, i);
		if (!is_argument(key))
			continue;
		start = pack->used;
		if (pack_key(pack, key)) {
			if (forgive())
				return -1;
			pack->used = start; /* without the argument, whose name cannot be packed */
			continue;
		}
		if (pack_value(pack, values[i], DEPTH_MAX))
			return -1;
		written++;
	}
	if (written == 0)
		*pack = head;
	else if (!pack_overflowed(pack))
		pack_map(&head, written);
	return 0;
}
