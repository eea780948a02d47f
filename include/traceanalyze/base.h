/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all other headers use: linkage, slices, missing values and safe arithmetic; failures,
 * the context of a call, memory that is freed as a whole, and a hash map. */
#ifndef TRACEANALYZE_BASE_H
#define TRACEANALYZE_BASE_H

#include <limits.h>
#include <stdarg.h>
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
        _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") extern "C"              \
    {
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

/* As many of its whole characters as have room in so many bytes. */
static inline struct ta_slice ta_slice_head(struct ta_slice text, size_t most)
{
    if (text.len <= most)
        return text;
    while (most && ((unsigned char)text.ptr[most] & 0xc0) == 0x80)
        most--;
    return ta_slice_part(text, 0, most);
}

static inline bool ta_slice_equal(struct ta_slice a, struct ta_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Whether the text starts, or ends, with another one, which ends with a NUL. */
static inline bool ta_slice_starts(struct ta_slice text, const char *with)
{
    const size_t n = strlen(with);
    return text.len >= n && memcmp(text.len ? text.ptr : "", with, n) == 0;
}

static inline bool ta_slice_ends(struct ta_slice text, const char *with)
{
    const size_t n = strlen(with);
    return text.len >= n && memcmp(n ? ta_slice_at(text, text.len - n) : "", with, n) == 0;
}

/* Byte order first, then length: the total order after every sorted product. */
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

TA_BEGIN_DECLS

/* ==== failures ================================================================================ */

/* Results of calls that can fail, and the chain of causes that explains a failure.
 *
 * A failure is made where it is seen (ta_fail) and each caller adds what it was doing
 * (ta_cause).  The chain lives in the context of the calling thread, never in a global.
 * Messages have the form "Sentence: name=value, ...".  Out-parameters come last and are
 * untouched on failure. */

enum ta_status {
    TA_OK = 0,
    TA_ERR_USAGE,    /* wrong option, argument or configuration */
    TA_ERR_INPUT,    /* no usable input: missing, unreadable, corrupt, of unknown format */
    TA_ERR_OUTPUT,   /* a product could not be written */
    TA_ERR_PLUGIN,   /* a plugin was refused or broke its contract */
    TA_ERR_NOMEM,    /* out of memory, or --memory-limit reached */
    TA_ERR_INTERNAL, /* a broken invariant of our own */
    TA_ERR_CANCELED, /* a signal asked the run to stop */
    TA_STATUS_COUNT
};

struct ta_ctx;

/* Starts a new chain of causes with this message and returns `status`. */
TA_API enum ta_status ta_fail(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
    TA_PRINTF(3, 4);

#ifdef __clang_analyzer__ /* shows it that a failure is no success */
#define ta_fail(ctx, status, ...) (ta_fail((ctx), (status), __VA_ARGS__), (status))
#endif

/* Adds what the caller was doing to the present chain and returns `status`. */
TA_API enum ta_status ta_cause(struct ta_ctx *ctx, enum ta_status status, const char *format, ...)
    TA_PRINTF(3, 4);

/* The stable code shown to users, such as "TA-E003"; a constant. */
TA_API const char *ta_status_code(enum ta_status status);

/* ==== context ================================================================================= */

/* What a call needs to know about the run it belongs to: limits, log, cancellation, and the
 * chain of causes of the present failure.  One context per thread; contexts of one run share
 * their settings.  Nothing in the library keeps such state in a global. */

enum ta_log_level { TA_LOG_ERROR, TA_LOG_WARNING, TA_LOG_INFO, TA_LOG_DEBUG };

/* Takes a message, from any thread, several at a time.  `code` is the constant name of what it is
 * about, such as "truncated", or NULL; control characters in `text` are shown as escapes. */
typedef void ta_message(void *user, enum ta_log_level level, const char *code, const char *text);

/* One line for the user; control characters in it are shown as escapes. */
TA_API void ta_log(struct ta_ctx *ctx, enum ta_log_level level, const char *format, ...)
    TA_PRINTF(3, 4);

/* True once a signal asked the run to stop; long loops look here and return TA_ERR_CANCELED. */
TA_API bool ta_ctx_canceled(const struct ta_ctx *ctx);

/* Bounds on input, --limit NAME=VALUE; the table with names and defaults is base/limits.c. */
enum ta_limit {
    TA_LIMIT_RATIO,          /* expanded : compressed, looked at after 64 MiB */
    TA_LIMIT_EXPANDED,       /* bytes of one file after decompression */
    TA_LIMIT_DEPTH,          /* nesting of JSON values */
    TA_LIMIT_STRING,         /* bytes of one string */
    TA_LIMIT_NUMBER,         /* bytes of one number */
    TA_LIMIT_EVENT,          /* bytes of one event */
    TA_LIMIT_FILES,          /* files of one run */
    TA_LIMIT_NAMES,          /* distinct strings of one trace */
    TA_LIMIT_PICKLE_OBJECTS, /* objects of one pickle */
    TA_LIMIT_PICKLE_DEPTH,   /* nesting of them */
    TA_LIMIT_CONFIG_SIZE,    /* bytes of one configuration file */
    TA_LIMIT_CONFIG_DEPTH,   /* nesting of its values */
    TA_LIMIT_COUNT
};

/* The limit of this run, its default or what the user gave. */
TA_API uint64_t ta_ctx_limit(const struct ta_ctx *ctx, enum ta_limit limit);

/* Status of the present chain of causes, for calls that return NULL after ta_fail(). */
TA_API enum ta_status ta_ctx_status(const struct ta_ctx *ctx);

/* Value of an option of the plugin that is running, by its row in the plugin's table. */
TA_API double ta_ctx_option(const struct ta_ctx *ctx, size_t index);

/* ==== arena =================================================================================== */

/* Memory that is freed as a whole: many small objects with one lifetime. */

struct ta_arena_block;

/* Zero-initialize to start; ta_arena_free() to end.  Addresses never move. */
struct ta_arena {
    struct ta_arena_block *blocks;
    bool failed; /* an allocation has failed; stays set */
};

/* `size` zeroed bytes aligned for any type, or NULL. */
TA_API void *ta_arena_alloc(struct ta_arena *arena, size_t size);
/* A copy with a terminating NUL, or NULL. */
TA_API char *ta_arena_copy(struct ta_arena *arena, struct ta_slice text);
/* printf into the arena, or NULL. */
TA_API char *ta_arena_printf(struct ta_arena *arena, const char *format, ...) TA_PRINTF(2, 3);
TA_API char *ta_arena_vprintf(struct ta_arena *arena, const char *format, va_list args)
    TA_PRINTF(2, 0);
TA_API void ta_arena_free(struct ta_arena *arena);

/* ==== map ===================================================================================== */

/* Hash map from 64-bit keys to 64-bit values: correlation ids, pairs of ids, row caches. */

/* Zero-initialize, free with ta_map_free().  Iteration order is not offered on purpose: it would
 * leak hash order into products. */
struct ta_map {
    struct ta_map_slot *slots;
    size_t n, mask;
    bool failed; /* out of memory: entries are missing */
};

/* The value of a key, or NULL.  Valid until the next insertion. */
TA_API uint64_t *ta_map_find(const struct ta_map *map, uint64_t key);

/* The value of a key, inserted as `preset` when new; NULL when out of memory (map->failed). */
TA_API uint64_t *ta_map_at(struct ta_map *map, uint64_t key, uint64_t preset);

/* Empties the map, which can be used again. */
TA_API void ta_map_free(struct ta_map *map);

TA_END_DECLS

#endif
