/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Caches that skip denoising steps (TeaCache, EasyCache …), where the log says of how many:
 *
 *     Teacache Skipped Steps:12/30
 *     EasyCache - skipped 9/20 steps (1.82x speedup).
 *
 *     TeaCache skipped:
 *     6 cond steps
 *     5 uncond step
 *     out of 20 steps
 *
 * A step that is skipped is a hit, each other one a miss. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <stdio.h>

enum { NAME_MOST = 60, BRANCHES = 2 };

/* The list below "TeaCache skipped:". */
struct state {
    bool is_open;
    char name[NAME_MOST];
    int64_t rank, skipped[BRANCHES], n_branches;
};

static void add(struct ta_log_reading *log, int64_t rank, const char *name, const char *branch,
                int64_t skipped, int64_t steps)
{
    char text[2 * NAME_MOST];
    snprintf(text, sizeof text, branch ? "%s (%s)" : "%s", name, branch);
    const struct ta_cache_count row = {.rank = rank,
                                       .cache = ta_log_string(log, ta_slice_of(text)),
                                       .hits = skipped,
                                       .misses = steps - skipped,
                                       .evictions = TA_MISSING};
    ta_log_add_cache(log, &row);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct ta_slice skip(struct ta_slice text, const char *some)
{
    while (text.len && strchr(some, text.ptr[0]))
        text = ta_slice_from(text, 1);
    return text;
}

/* "TeaCache" of "… TeaCache skipped": the word before, which ends in "cache"; empty without. */
static struct ta_slice name_before(struct ta_slice text, size_t end)
{
    while (end > 0 && strchr(" -:", text.ptr[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && !strchr(" ]:-", text.ptr[from - 1]))
        from--;
    const struct ta_slice name = ta_slice_part(text, from, end);
    const bool is_cache = name.len >= 5 && strncasecmp(ta_slice_end(name) - 5, "cache", 5) == 0;
    return is_cache ? name : (struct ta_slice){0};
}

/* What follows the cache and "skipped" in the line; NULL without. */
static struct ta_slice after_skipped(struct ta_slice text, struct ta_slice *name)
{
    for (size_t i = 0; i + strlen("skipped") <= text.len; i++)
        if (strncasecmp(ta_slice_at(text, i), "skipped", strlen("skipped")) == 0) {
            *name = name_before(text, i);
            return name->len ? ta_slice_from(text, i + strlen("skipped"))
                             : (struct ta_slice){NULL, 0};
        }
    return (struct ta_slice){NULL, 0};
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* "12/30", "Steps: 12 / 30", "9/20 steps".  A number at the end of the line may be cut unless the
 * line has ended. */
static bool take_ratio(struct ta_log_reading *log, const struct ta_log_line *line, const char *name,
                       struct ta_slice rest)
{
    if (rest.len > 5 && strncasecmp(rest.ptr, "steps", 5) == 0)
        rest = skip(ta_slice_from(rest, 5), " :");
    const int64_t skipped = ta_log_integer(&rest);
    rest = skip(rest, " ");
    if (skipped == TA_MISSING || skipped < 0 || !ta_slice_starts(rest, "/"))
        return false;
    rest = ta_slice_from(rest, 1);
    const int64_t steps = ta_log_integer(&rest);
    if (steps == TA_MISSING || steps < skipped)
        return false;
    add(log, line->rank, name, NULL, skipped, steps);
    return true;
}

/* A line of the list. */
static enum ta_log_taken take_list(struct ta_log_reading *log, struct state *st,
                                   const struct ta_log_line *line)
{
    static const char *const branches[BRANCHES] = {"cond", "uncond"};
    struct ta_slice rest = ta_log_after(line->text, "out of ");
    if (rest.ptr) {
        const int64_t steps = ta_log_integer(&rest);
        const bool is_whole = steps > 0 && ta_slice_starts(rest, " step") && st->n_branches > 0;
        for (int64_t i = 0; is_whole && i < st->n_branches; i++)
            if (st->skipped[i] <= steps)
                add(log, st->rank, st->name, branches[i], st->skipped[i], steps);
        st->is_open = false;
        return is_whole ? TA_LOG_TAKEN : TA_LOG_BAD;
    }
    rest = line->text;
    const int64_t skipped = ta_log_integer(&rest);
    rest = skip(rest, " ");
    if (skipped == TA_MISSING || skipped < 0 || st->n_branches == BRANCHES ||
        !ta_slice_starts(rest, branches[st->n_branches])) {
        st->is_open = false;
        return TA_LOG_NOT_MINE;
    }
    st->skipped[st->n_branches++] = skipped;
    return TA_LOG_MORE;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct ta_slice word;
    /* "EasyCache - " looks like the name of a logger. */
    struct ta_slice rest = after_skipped(line->whole, &word);
    if (!rest.ptr)
        return st->is_open ? take_list(log, st, line) : TA_LOG_NOT_MINE;
    char name[NAME_MOST];
    snprintf(name, sizeof name, "%.*s", (int)ta_min_i64((int64_t)word.len, NAME_MOST), word.ptr);
    rest = skip(rest, " :");
    if (rest.len == 0) {
        memcpy(st->name, name, sizeof name);
        st->rank = line->rank;
        st->is_open = true;
        st->n_branches = 0;
        return TA_LOG_MORE;
    }
    return take_ratio(log, line, name, rest) ? TA_LOG_TAKEN : TA_LOG_NOT_MINE;
}

static const char *const marks[] = {"ache skipped", "ache Skipped", "ache - skipped", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take};

TA_PLUGIN(log, step_caches, &ops, .title = "Step caches",
          .summary = "TeaCache and similar caches: how many denoising steps were skipped",
          .version = "1");
