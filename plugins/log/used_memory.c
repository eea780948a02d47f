/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device memory that programs print themselves, mostly from torch.cuda.memory_allocated() and its
 * like, and the summary of torch.distributed._tools.MemoryTracker:
 *
 *     Max memory allocated: 14.21 GB
 *     [Sampling] Max reserved memory: max_reserved=21.719 GB
 *     [MemoryTracker] decode: used=12.30MB, peak=4511.25MB
 *
 *     The number of cuda retries are: 0
 *     Top 20 ops that generates memory are:
 *     root.blocks.0.forward.mm.default_12: 96.0MB
 *
 * An amount is read where the words before it say which one it is.  Lines of one label that follow
 * each other are one moment. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <ctype.h>
#include <stdio.h>

enum { LABEL_MOST = 60, LINE_MOST = 400 };

struct state {
    struct ta_memory_mark mark; /* of the lines before */
    char label[LABEL_MOST];
    bool is_open, is_list; /* the operators of a MemoryTracker follow */
};

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const of_device[] = {"gpu", "cuda", "vram", "memory", "mem", "alloc", NULL};
static const char *const of_host[] = {"cpu", "host", "system", " ram", "disk", "swap", NULL};
static const char *const no_amount[] = {"free",   "avail", "remain",   "budget", "limit",  "need",
                                        "requir", "tried", "avg",      "mean",   "averag", "delta",
                                        "saved",  "diff",  "increase", NULL};
static const char *const most[] = {"max", "peak", "highest", NULL};

/* Which amount of a mark the words are about; NULL where they do not say. */
static int64_t *amount_of(struct ta_memory_mark *mark, struct ta_slice words)
{
    const bool is_most = ta_slice_has_any(words, most);
    if (ta_slice_has_any(words, no_amount) || ta_slice_has_any(words, of_host))
        return NULL;
    if (ta_slice_has_word(words, "reserved") || ta_slice_has_word(words, "cached"))
        return is_most ? &mark->max_reserved_bytes : &mark->reserved_bytes;
    if (is_most)
        return &mark->max_allocated_bytes;
    return ta_slice_has_word(words, "allocated") || ta_slice_has_word(words, "initial")
               ? &mark->allocated_bytes
               : NULL;
}

/* ---- moments --------------------------------------------------------------------------------- */

static void close_mark(struct ta_log_reading *log, struct state *st)
{
    if (!st->is_open)
        return;
    st->mark.label = ta_log_string(log, ta_slice_of(st->label));
    ta_log_add_memory_mark(log, &st->mark);
    st->is_open = false;
}

static void open_mark(struct state *st, const struct ta_log_line *line, const char *label)
{
    st->mark = ta_unknown_memory_mark();
    st->mark.rank = line->rank;
    st->mark.time_ns = line->time_ns;
    snprintf(st->label, sizeof st->label, "%s", label);
    st->is_open = true;
}

static void add_amount(struct ta_log_reading *log, struct state *st, const struct ta_log_line *line,
                       const char *label, struct ta_slice words, int64_t bytes)
{
    struct ta_memory_mark probe;
    if (!amount_of(&probe, words))
        return;
    const bool is_same =
        st->is_open && strcmp(st->label, label) == 0 && st->mark.rank == line->rank;
    if (!is_same || *amount_of(&st->mark, words) != TA_MISSING) {
        close_mark(log, st);
        open_mark(st, line, label);
    }
    *amount_of(&st->mark, words) = bytes;
}

/* "Telemetry sampling" of "[Sampling] Max …", "decode" of "[MemoryTracker] decode: used=…"; "log"
 * without. */
static void label_of(char label[LABEL_MOST], struct ta_slice *text)
{
    struct ta_slice name = TA_LIT("log");
    const char *end = text->len && text->ptr[0] == '[' ? memchr(text->ptr, ']', text->len) : NULL;
    if (end) {
        name = ta_slice_part(*text, 1, (size_t)(end - text->ptr));
        *text = ta_text_trim(ta_slice_from(*text, name.len + 2));
    }
    const char *colon = text->len ? memchr(text->ptr, ':', text->len) : NULL;
    if (colon && ta_slice_equal(name, TA_LIT("MemoryTracker"))) {
        name = ta_slice_part(*text, 0, (size_t)(colon - text->ptr));
        if (ta_slice_equal(name, TA_LIT("Started"))) {
            /* "Started: decode, initial=…" */
            const struct ta_slice rest = ta_text_trim(ta_slice_from(*text, name.len + 1));
            const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
            name = ta_slice_part(rest, 0, comma ? (size_t)(comma - rest.ptr) : rest.len);
        }
        *text = ta_slice_from(*text, (size_t)(ta_slice_end(name) - text->ptr));
    }
    snprintf(label, LABEL_MOST, "%.*s", (int)ta_min_i64((int64_t)name.len, LABEL_MOST), name.ptr);
}

/* Whether the words before an amount announce it, "Max memory allocated: ", "peak=", "(GPU used ",
 * rather than tell of it. */
static bool announces(struct ta_slice words)
{
    static const char *const last[] = {"allocated", "reserved", "cached", "peak",
                                       "usage",     "used",     "memory", "is"};
    words = ta_text_trim(words);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (words.len >= strlen(last[i]) &&
            strncasecmp(ta_slice_end(words) - strlen(last[i]), last[i], strlen(last[i])) == 0)
            return true;
    return words.len && strchr(":=([|", words.ptr[words.len - 1]);
}

/* Whether an amount has a unit of bytes that is more than one letter ("12M" counts anything). */
static bool has_unit(struct ta_slice number, size_t n)
{
    return n >= 2 && isalpha((unsigned char)number.ptr[n - 1]) &&
           isalpha((unsigned char)number.ptr[n - 2]);
}

static bool take_amounts(struct ta_log_reading *log, struct state *st,
                         const struct ta_log_line *line)
{
    struct ta_slice text = line->text;
    if (text.len > LINE_MOST || ta_log_after(text, "%|").ptr || ta_log_after(text, "memory: m").ptr)
        return false; /* a bar, or a line of WanVideoWrapper */
    const bool is_tracker = ta_slice_starts(text, "[MemoryTracker]");
    char label[LABEL_MOST];
    label_of(label, &text);
    struct ta_memory_mark probe;
    bool is_any = false;
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.ptr[i]) ||
            (i > 0 && (isalnum((unsigned char)text.ptr[i - 1]) || strchr("._", text.ptr[i - 1]))))
            continue;
        struct ta_slice rest = ta_slice_from(text, i);
        const int64_t bytes = ta_log_bytes(&rest);
        const size_t n = text.len - i - rest.len;
        if (bytes == TA_MISSING || !has_unit(ta_slice_from(text, i), n))
            continue;
        if (from == 0 && (!ta_slice_has_any(line->text, of_device) ||
                          !announces(ta_slice_part(text, 0, i)) || ta_log_is_prose(line->text)))
            return false;
        /* What the words between the amounts do not say, those before all of them may. */
        const struct ta_slice words = ta_slice_part(text, from, i);
        if (announces(words) &&
            (from == 0 || is_tracker || ta_slice_has_any(words, of_device) ||
             ta_slice_has_any(words, most) || ta_slice_has_word(words, "reserved"))) {
            is_any |= amount_of(&probe, words) != NULL;
            add_amount(log, st, line, label, words, bytes);
        }
        i += n - 1;
        from = i + 1;
    }
    return is_any;
}

/* ---- torch.distributed._tools.MemoryTracker -------------------------------------------------- */

/* "root.blocks.0.forward.mm.default_12: 96.0MB". */
static bool take_operator(struct ta_log_reading *log, const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    const char *colon = text.len ? memrchr(text.ptr, ':', text.len) : NULL;
    if (!colon || memchr(text.ptr, ' ', (size_t)(colon - text.ptr)))
        return false;
    struct ta_slice rest = ta_slice_from(text, (size_t)(colon - text.ptr) + 1);
    const bool is_negative = ta_slice_starts(ta_text_trim(rest), "-");
    const int64_t bytes = is_negative ? 0 : ta_log_bytes(&rest);
    if (bytes == TA_MISSING)
        return false;
    struct ta_operator_sum row = ta_unknown_operator_sum();
    row.rank = line->rank;
    row.name = ta_log_string(log, ta_slice_part(text, 0, (size_t)(colon - text.ptr)));
    row.calls = 1;
    row.self_device_bytes = bytes;
    if (!is_negative)
        ta_log_add_operator_sum(log, &row);
    return true;
}

static bool take_retries(struct ta_log_reading *log, struct state *st,
                         const struct ta_log_line *line, struct ta_slice rest)
{
    const int64_t retries = ta_log_integer(&rest);
    if (retries == TA_MISSING || retries < 0)
        return false;
    close_mark(log, st);
    open_mark(st, line, "MemoryTracker");
    st->mark.retries = retries;
    close_mark(log, st);
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const struct ta_slice retries = ta_log_after(line->text, "The number of cuda retries are: ");
    if (retries.ptr)
        return take_retries(log, st, line, retries) ? TA_LOG_TAKEN : TA_LOG_BAD;
    if (ta_log_after(line->text, " ops that generates memory are:").ptr) {
        st->is_list = true;
        return TA_LOG_MORE;
    }
    if (st->is_list) {
        st->is_list = take_operator(log, line);
        return st->is_list ? TA_LOG_MORE : TA_LOG_NOT_MINE;
    }
    return take_amounts(log, st, line) ? TA_LOG_TAKEN : TA_LOG_NOT_MINE;
}

static void end(struct ta_log_reading *log, void *state)
{
    close_mark(log, state);
}

static const char *const marks[] = {"emory", "VRAM", "vram", "llocated",     "eserved",
                                    "EMORY", "peak", "Peak", "cuda retries", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, used_memory, &ops, .title = "Memory",
          .summary = "Memory that programs print: allocated, reserved and their peaks, and "
                     "MemoryTracker of torch",
          .version = "1");
