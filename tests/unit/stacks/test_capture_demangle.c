// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names of functions, from symbols that a compiler made, and from hostile ones. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "capture/native/demangle.h"

#define NAME_BYTES 512

static const struct {
	const char *symbol, *name; /* "": it stays as it is */
} names[] = {
	{ "_ZN4data6LoaderIiE4nextEv", "data::Loader<int>::next" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	  "std::vector<int, std::allocator<int> >::push_back" },
	{ "_ZN2at12_GLOBAL__N_15writeEPKvm", "at::(anonymous namespace)::write" },
	{ "_ZN10tokenizers9tokenizer6encode17h0123456789abcdefE", "tokenizers::tokenizer::encode" },
	{ "_RNvC11safetensors4open", "safetensors::open" },
	{ "main", "" },
	{ "_PyEval_EvalFrameDefault", "" },
	{ "_Z", "" },
	{ "_R", "" },
	{ "_ZN", "" },
	{ "_ZN4data", "" },
	{ "_ZN9999999999999999999999999999data", "" },
	{ "", "" },
};

TEST(test_names)
{
	char name[NAME_BYTES];

	if (!demangle(names[0].symbol, name, sizeof(name)))
		skip();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t bytes = demangle(names[i].symbol, name, sizeof(name));

		assert_int_equal(bytes, strlen(names[i].name));
		assert_memory_equal(name, names[i].name, bytes);
	}
}

TEST(test_cut)
{
	char name[10];

	if (!demangle(names[0].symbol, name, sizeof(name)))
		skip();
	assert_int_equal(demangle(names[0].symbol, name, sizeof(name)), sizeof(name));
	assert_memory_equal(name, "data::Load", sizeof(name));
}

/* Each template argument is a pair of the one before: the name would have 2^30 parts. */
TEST(test_endless)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fISt4pairIiiE", name[NAME_BYTES];
	size_t at = strlen(symbol);

	if (!demangle(names[0].symbol, name, sizeof(name)))
		skip();
	for (int i = 0; i < 30; i++)
		at += snprintf(symbol + at, sizeof(symbol) - at, "S_IS%c_S%c_E", digits[i],
			       digits[i]);
	snprintf(symbol + at, sizeof(symbol) - at, "Evv");
	assert_int_equal(demangle(symbol, name, sizeof(name)), sizeof(name));
	assert_memory_equal(name, "f<std::pair<int, int>", 21);
}
