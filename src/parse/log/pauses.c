/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parse/log/pauses.h"

#include "traceanalyze/document.h"

#include <stdlib.h>

enum { KEPT = 32, SHOWN = 160 }; /* pauses; bytes of a line */

#define SECOND INT64_C(1000000000)

struct pause {
    int64_t start_ns, dur_ns, timed_ns;
    ta_str before, after;
    const char *work;
};

struct ta_log_pauses {
    enum ta_log_clock_kind kind; /* of the clock; lines with another one are passed over */
    int64_t first_ns, last_ns;
    char before[SHOWN]; /* the last line with a clock */
    size_t n_before;
    struct pause kept[KEPT];
    size_t n;
};

/* ---- what the program did -------------------------------------------------------------------- */

/* Words of lines that a program prints before it loads or compiles something, and of those before
 * which it had nothing to do: a request comes in, or its work is done. */
static const char *const loading[] = {"loading ",   "load ",           "creating ", "initializing",
                                      "instantiat", "fetching",        "download",  "building",
                                      "got prompt", "from_pretrained", "moving ",   "shard",
                                      NULL};
static const char *const compiling[] = {"compil",  "autotun", "captur",   "warmup", "warm up",
                                        "warming", "dynamo",  "inductor", NULL};
static const char *const done[] = {"prompt executed", "finished", "saved",    "saving",
                                   "completed",       "done",     "shutting", "uvicorn",
                                   "listening",       "waiting",  "exiting",  NULL};
static const char *const request[] = {"got prompt", "received", "http", "request",
                                      "post /",     "get /",    NULL};

/* NULL where the lines say neither. */
static const char *work_of(struct ta_slice before, struct ta_slice after)
{
    if (ta_slice_has_any(before, done) || ta_slice_has_any(after, request))
        return NULL;
    if (ta_slice_has_any(before, compiling))
        return "compiling";
    return ta_slice_has_any(before, loading) ? "loading" : NULL;
}

/* ---- the longest ones -------------------------------------------------------------------------
 */

struct ta_log_pauses *ta_log_pauses_new(void)
{
    return calloc(1, sizeof(struct ta_log_pauses));
}

void ta_log_pauses_free(struct ta_log_pauses *pauses)
{
    free(pauses);
}

/* As much of the first state of a line as is shown, without a cut character. */
static struct ta_slice shown(struct ta_slice text)
{
    const char *end = text.len ? memchr(text.ptr, '\r', text.len) : NULL;
    size_t n = end ? (size_t)(end - text.ptr) : text.len;
    if (n > SHOWN)
        for (n = SHOWN; n > 0 && ((unsigned char)text.ptr[n] & 0xc0) == 0x80;)
            n--;
    return ta_text_trim(ta_slice_part(text, 0, n));
}

static int64_t pause_ns(const struct pause *pause)
{
    return pause->dur_ns - pause->timed_ns;
}

/* Where the pause goes: a new place, or the place of the shortest one when it is longer. */
static struct pause *place_for(struct ta_log_pauses *pauses, int64_t ns)
{
    if (pauses->n < KEPT)
        return &pauses->kept[pauses->n++];
    struct pause *shortest = &pauses->kept[0];
    for (size_t i = 1; i < KEPT; i++)
        if (pause_ns(&pauses->kept[i]) < pause_ns(shortest))
            shortest = &pauses->kept[i];
    return pause_ns(shortest) < ns ? shortest : NULL;
}

static void end_pause(struct ta_log_pauses *pauses, struct ta_log_reading *log,
                      struct ta_slice after, int64_t now_ns)
{
    const int64_t dur_ns = now_ns - pauses->last_ns;
    const int64_t timed_ns = ta_min_i64(log->timed_ns, dur_ns);
    const struct ta_slice before = {pauses->before, pauses->n_before};
    struct pause *place = dur_ns - timed_ns >= SECOND ? place_for(pauses, dur_ns - timed_ns) : NULL;
    if (place)
        *place = (struct pause){.start_ns = pauses->last_ns - pauses->first_ns,
                                .dur_ns = dur_ns,
                                .timed_ns = timed_ns,
                                .work = work_of(before, after),
                                .before = ta_log_string(log, before),
                                .after = ta_log_string(log, after)};
}

void ta_log_pauses_take(struct ta_log_pauses *pauses, struct ta_log_reading *log,
                        struct ta_slice whole)
{
    struct ta_log_line line = {.whole = whole};
    int64_t now_ns;
    const enum ta_log_clock_kind kind = ta_log_clock_of(&line, &now_ns);
    const struct ta_slice text = shown(line.text);
    /* The clock of a line without a text may be cut. */
    if (kind == TA_CLOCK_NONE || (pauses->kind && kind != pauses->kind) || text.len == 0)
        return;
    if (!pauses->kind) {
        pauses->kind = kind;
        pauses->first_ns = pauses->last_ns = now_ns;
    }
    /* Midnight has passed, though not thousands of times. */
    if (kind == TA_CLOCK_DAILY && now_ns < pauses->last_ns - 43200 * SECOND &&
        pauses->first_ns > -10000 * 86400 * SECOND)
        pauses->first_ns -= 86400 * SECOND, pauses->last_ns -= 86400 * SECOND;
    /* Lines of several ranks are not quite in order. */
    if (now_ns > pauses->last_ns) {
        end_pause(pauses, log, text, now_ns);
        pauses->last_ns = now_ns;
    }
    log->timed_ns = 0;
    pauses->n_before = text.len;
    memcpy(pauses->before, text.ptr, text.len);
}

static int by_start(const void *a, const void *b)
{
    const int64_t x = ((const struct pause *)a)->start_ns, y = ((const struct pause *)b)->start_ns;
    return (x > y) - (x < y);
}

void ta_log_pauses_add(struct ta_log_pauses *pauses, struct ta_log_reading *log)
{
    const int64_t log_ns = pauses->last_ns - pauses->first_ns;
    qsort(pauses->kept, pauses->n, sizeof *pauses->kept, by_start);
    const uint64_t kept = log->kept;
    bool is_figure = false;
    for (size_t i = 0; i < pauses->n; i++) {
        const struct pause *pause = &pauses->kept[i];
        const struct ta_log_pause row = {
            .rank = TA_MISSING,
            .start_ns = pause->start_ns,
            .dur_ns = pause->dur_ns,
            .timed_ns = pause->timed_ns,
            .log_ns = log_ns,
            .work = pause->work ? ta_log_string(log, ta_slice_of(pause->work)) : TA_STR_ABSENT,
            .before = pause->before,
            .after = pause->after};
        ta_log_add_pause(log, &row);
        is_figure |=
            pause->work && pause_ns(pause) >= 10 * SECOND && pause_ns(pause) >= log_ns / 10;
    }
    log->kept = kept + is_figure;
}
