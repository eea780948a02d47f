/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How alike two names are. */
#include "compare/likeness.h"

#include "traceanalyze/model.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- taking out ------------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Bytes of a hash at the start of a word: eight hexadecimal digits or more, letters and decimal
 * ones among them. */
static size_t hash_length(struct ta_slice name, size_t at)
{
    enum { LEAST = 8 };
    bool letter = false, digit = false;
    size_t n = at;
    for (; n < name.len && isxdigit((unsigned char)name.ptr[n]); n++) {
        digit |= is_digit(name.ptr[n]);
        letter |= !is_digit(name.ptr[n]);
    }
    const bool ends = n == name.len || !is_word(name.ptr[n]);
    return ends && letter && digit && n - at >= LEAST ? n - at : 0;
}

/* Bytes at `at` that stand for nothing but a number. */
static size_t number_length(struct ta_slice name, size_t at)
{
    size_t n = at;
    if (at == 0 || !is_word(name.ptr[at - 1])) {
        const size_t hash = hash_length(name, at);
        if (hash)
            return hash;
        if (at + 2 < name.len && name.ptr[at] == '0' && (name.ptr[at + 1] | 32) == 'x')
            n = at + 2;
        while (n > at && n < name.len && isxdigit((unsigned char)name.ptr[n]))
            n++;
    }
    while (n < name.len && is_digit(name.ptr[n]))
        n++;
    return n - at;
}

static bool opens(struct ta_slice name, size_t at)
{
    if (name.ptr[at] == '(')
        return !ta_slice_starts(ta_slice_from(name, at),
                                "(anonymous namespace)"); /* part of the name */
    return name.ptr[at] == '<' && at > 0 && name.ptr[at - 1] != ' ';
}

/* Bytes from a bracket of arguments or of a template at `at` to after the one that closes it, all
 * that is left where none does; 0 when none opens there. */
static size_t bracket_length(struct ta_slice name, size_t at)
{
    size_t depth = 0, n = at;
    if (!opens(name, at))
        return 0;
    for (; n < name.len; n++) {
        depth += name.ptr[n] == '<' || name.ptr[n] == '(';
        depth -= name.ptr[n] == '>' || name.ptr[n] == ')';
        if (depth == 0)
            return n + 1 - at;
    }
    return n - at;
}

/* Bytes of the name of a vendor that a call of a runtime begins with: hipMemcpyAsync is
 * cudaMemcpyAsync. */
static size_t vendor_length(struct ta_slice name)
{
    static const char *const vendors[] = {"cuda", "hip", "musa"};
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        const size_t n = strlen(vendors[i]);
        if (name.len > n && ta_slice_starts(name, vendors[i]) &&
            isupper((unsigned char)name.ptr[n]))
            return n;
    }
    return 0;
}

struct ta_slice diff_normalize(struct ta_arena *arena, struct ta_slice name, enum diff_level level)
{
    char *text = ta_arena_alloc(arena, name.len + 1);
    size_t n = 0;
    for (size_t i = vendor_length(name); text && i < name.len;) {
        const size_t bracket = level == DIFF_ARGUMENTS ? bracket_length(name, i) : 0;
        const size_t number = bracket ? 0 : number_length(name, i);
        if (number && (n == 0 || text[n - 1] != '#'))
            text[n++] = '#';
        if (!bracket && !number)
            text[n++] = name.ptr[i++];
        i += bracket + number;
    }
    return (struct ta_slice){text, n};
}

/* ---- words ----------------------------------------------------------------------------------- */

/* More words than this a name has not. */
enum { WORDS_MOST = 128 };

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Within "cudaLaunchKernel" the capital letters begin words. */
static bool begins_word(struct ta_slice name, size_t i)
{
    return isupper((unsigned char)name.ptr[i]) && islower((unsigned char)name.ptr[i - 1]);
}

/* Hashes (FNV-1a) of the words of a name, each once and in order. */
static size_t hash_words(struct ta_slice name, uint64_t words[WORDS_MOST])
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < name.len && n < WORDS_MOST;) {
        if (!is_word(name.ptr[i])) {
            i++;
            continue;
        }
        const bool digits = is_digit(name.ptr[i]);
        uint64_t hash = UINT64_C(14695981039346656037);
        do {
            hash = (hash ^ (uint64_t)tolower((unsigned char)name.ptr[i])) * UINT64_C(1099511628211);
            i++;
        } while (i < name.len && is_word(name.ptr[i]) && is_digit(name.ptr[i]) == digits &&
                 !begins_word(name, i));
        const bool is_scope = i + 1 < name.len && name.ptr[i] == ':' && name.ptr[i + 1] == ':';
        if (!is_scope)
            words[n++] = hash;
    }
    qsort(words, n, sizeof *words, by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || words[kept - 1] != words[i])
            words[kept++] = words[i];
    return kept;
}

struct diff_words diff_words_of(struct ta_arena *arena, struct ta_slice name)
{
    uint64_t words[WORDS_MOST];
    const size_t n = hash_words(name, words);
    uint64_t *at = ta_arena_alloc(arena, (n + 1) * sizeof *at);
    if (at)
        memcpy(at, words, n * sizeof *at);
    return (struct diff_words){at, at ? n : 0};
}

double diff_likeness(struct diff_words a, struct diff_words b)
{
    size_t both = 0;
    for (size_t i = 0, k = 0; i < a.n && k < b.n;) {
        both += a.at[i] == b.at[k];
        const bool first = a.at[i] <= b.at[k], second = b.at[k] <= a.at[i];
        i += first;
        k += second;
    }
    return a.n + b.n ? (double)both / (double)(a.n + b.n - both) : 0;
}
