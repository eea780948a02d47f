/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vocabulary shared by every other header: linkage, slices, missing values, safe arithmetic. */
#ifndef TRACEANALYZE_BASE_H
#define TRACEANALYZE_BASE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* C++ from C++17 on reads the headers, too; what initializers in them leave out is zero there as it
 * is in C, which compilers warn of. */
#ifdef __cplusplus
#define TA_BEGIN_DECLS                                                                             \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpedantic\"")                \
        _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") extern "C" {
#define TA_END_DECLS                                                                               \
    }                                                                                              \
    _Pragma("GCC diagnostic pop")
#else
#define TA_BEGIN_DECLS
#define TA_END_DECLS
#endif

/* Everything the shared library exports carries TA_API; all else is hidden. */
#define TA_API __attribute__((visibility("default")))
#define TA_MUST_CHECK __attribute__((warn_unused_result))
#define TA_PRINTF(string, first) __attribute__((format(printf, string, first)))

/* A run of bytes that the holder does not own; not terminated, may hold NUL. */
struct ta_slice {
    const char *ptr;
    size_t len;
};

/* A slice of a string literal. */
#define TA_LIT(literal) ((struct ta_slice){"" literal, sizeof(literal) - 1})

static inline struct ta_slice ta_slice_of(const char *text)
{
    return (struct ta_slice){text, text ? strlen(text) : 0};
}

/* The address of byte i, or of the end.  No other code adds to the address of a slice
 * (tests/lint/undefined.py): an empty slice may start at NULL, to which not even 0 may be added. */
static inline const char *ta_slice_at(struct ta_slice text, size_t i)
{
    return i ? text.ptr + i : text.ptr;
}

static inline const char *ta_slice_end(struct ta_slice text)
{
    return ta_slice_at(text, text.len);
}

/* Bytes [from, to) of a slice, and what follows the first ones. */
static inline struct ta_slice ta_slice_part(struct ta_slice text, size_t from, size_t to)
{
    return (struct ta_slice){ta_slice_at(text, from), to - from};
}

static inline struct ta_slice ta_slice_from(struct ta_slice text, size_t from)
{
    return ta_slice_part(text, from, text.len);
}

static inline bool ta_slice_equal(struct ta_slice a, struct ta_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Byte order first, then length: the total order behind every sorted product. */
static inline int ta_slice_compare(struct ta_slice a, struct ta_slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Interned string of one trace: 0 is "absent", which is not the empty string. */
typedef uint32_t ta_str;
#define TA_STR_ABSENT ((ta_str)0)

/* Index of a row in a table of the model. */
typedef uint32_t ta_row;
#define TA_NO_ROW UINT32_MAX

/* A value that was not recorded.  It is not zero: sums skip it, products show it as missing. */
#define TA_MISSING INT64_MIN

/* Time stamps that no clock but one with a date gives: those since 2001, in ns since 1970. */
#define TA_DATED_FROM_NS (INT64_C(1000000000) * 1000000000)

/* Sums of hostile durations stay at the ends of the range instead of wrapping. */
static inline int64_t ta_add_sat(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN + 1 : INT64_MAX;
}

static inline int64_t ta_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t ta_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- words in names ------------------------------------------------------------------------ */

/* Whether the word is in the text, in upper or lower case. */
static inline bool ta_slice_has_word(struct ta_slice text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (strncasecmp(ta_slice_at(text, i), word, n) == 0)
            return true;
    return false;
}

/* Whether one of the words is, which end with NULL. */
static inline bool ta_slice_has_any(struct ta_slice text, const char *const *words)
{
    for (; *words; words++)
        if (ta_slice_has_word(text, *words))
            return true;
    return false;
}

/* ---- numbers with a fraction ------------------------------------------------------------- */

/* Toward zero.  The one place where a double becomes an integer (tests/lint/undefined.py): a cast
 * by itself is undefined for what does not fit.  Here that ends at ±INT64_MAX, so that no number
 * passes for TA_MISSING, and NaN, which is no number, is TA_MISSING. */
static inline int64_t ta_whole(double value)
{
    if (value > -0x1p63 && value < 0x1p63)
        return (int64_t)value;
    return value != value ? TA_MISSING : value < 0 ? -INT64_MAX : INT64_MAX;
}

/* The same for lengths and places: ends at 0, which NaN is too, and at PTRDIFF_MAX. */
static inline size_t ta_whole_size(double value)
{
    return value > 0 ? (size_t)ta_min_i64(ta_whole(value), PTRDIFF_MAX) : 0;
}

/* The same for pixels and digits: ends at ±INT_MAX; NaN is 0. */
static inline int ta_whole_int(double value)
{
    if (value >= INT_MAX)
        return INT_MAX;
    return value > -INT_MAX ? (int)ta_whole(value) : value != value ? 0 : -INT_MAX;
}

#endif
