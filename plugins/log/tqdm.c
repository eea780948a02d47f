/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of progress as tqdm draws them:
 *
 *     Denoising:  35%|███▌      | 7/20 [00:16<00:31,  2.41s/it, loss=1]
 *     7it [00:16, 2.41s/it]
 *
 * Elapsed time has whole seconds, and the rate is smoothed over the last iterations: the mean of a
 * bar is elapsed time over iterations.  A bar that counts again from the start is another bar of
 * the same name.  Bars of loading ("Loading checkpoint shards", downloads in bytes) are stages and
 * no loops. */
#include "parse/log/pieces.h"
#include "parse/log/prefix.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <math.h>
#include <stdlib.h>

/* What the bar is: its name and total. */
struct bar {
    int64_t rank, total, done, elapsed_ns;
    ta_str name;
    ta_str model;         /* that its present turn runs, where the log says it */
    int64_t load;         /* of that */
    int64_t number;       /* of its present turn, as in struct ta_bar_state */
    int64_t iteration_ns; /* as the last state has it */
    uint64_t line;        /* the last one; states that overwrite each other share theirs */
    int64_t after_ns;     /* what a clock says after the last state; TA_MISSING without */
    bool spans_lines;     /* states of the turn are on lines of their own */
    bool is_loading;
};

struct state {
    struct bar *bars;
    size_t n, max;
};

/* ---- a line ---------------------------------------------------------------------------------- */

struct drawn {
    struct ta_slice name;
    int64_t done, total, elapsed_ns, iteration_ns;
    bool is_bytes;
    int64_t after_ns; /* as in struct bar */
};

static bool is_at(struct ta_slice text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

/* A count, "7" or "1.2k", "3.1M", "2.0G", as tqdm shortens them. */
static bool take_count(struct ta_slice *text, int64_t *count, bool *is_short)
{
    const double value = ta_log_number(text);
    double times = 1;
    if (isnan(value) || value < 0)
        return false;
    const char unit = text->len ? text->ptr[0] : 0;
    if (unit == 'k' || unit == 'M' || unit == 'G' || unit == 'T') {
        times = unit == 'k' ? 1e3 : unit == 'M' ? 1e6 : unit == 'G' ? 1e9 : 1e12;
        *text = ta_slice_from(*text, 1);
        *is_short = true;
    }
    *count = ta_whole(round(value * times));
    return true;
}

/* "2.41s/it", "3.10it/s", "1.2MB/s", "?it/s" after a comma; TA_MISSING where it is not known.
 * False when it is no rate. */
static bool take_rate(struct ta_slice text, struct drawn *bar)
{
    text = ta_text_trim(text);
    bar->iteration_ns = TA_MISSING;
    if (is_at(text, 0, '?'))
        return true;
    const double value = ta_log_number(&text);
    if (isnan(value) || value < 0)
        return false;
    const char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
    if (!slash)
        return false;
    const struct ta_slice unit = ta_slice_part(text, 0, (size_t)(slash - text.ptr));
    const struct ta_slice per = ta_slice_from(text, unit.len + 1);
    if (ta_slice_equal(unit, TA_LIT("s"))) {
        bar->iteration_ns = ta_whole(round(value * 1e9));
        return true;
    }
    bar->is_bytes = unit.len && unit.ptr[unit.len - 1] == 'B';
    if (value > 0 && !bar->is_bytes)
        bar->iteration_ns = ta_whole(round(1e9 / value));
    return is_at(per, 0, 's');
}

/* "[00:16<00:31,  2.41s/it, k=v]" or "[00:16, 2.41s/it]". */
static bool take_times(struct ta_slice text, struct drawn *bar)
{
    if (!is_at(text, 0, '['))
        return false;
    text = ta_slice_from(text, 1);
    bar->elapsed_ns = ta_log_clock(&text);
    if (bar->elapsed_ns == TA_MISSING || text.len == 0)
        return false;
    const char *comma = memchr(text.ptr, ',', text.len);
    if (!comma || !strchr("<,", text.ptr[0]))
        return false;
    return take_rate(ta_slice_from(text, (size_t)(comma - text.ptr) + 1), bar);
}

/* What is left of a percentage: "Denoising: " of "Denoising:  35%|". */
static struct ta_slice name_before(struct ta_slice text, size_t end)
{
    while (end > 0 && text.ptr[end - 1] >= '0' && text.ptr[end - 1] <= '9')
        end--;
    struct ta_slice name = ta_text_trim(ta_slice_part(text, 0, end));
    while (name.len && name.ptr[name.len - 1] == ':')
        name = ta_text_trim(ta_slice_part(name, 0, name.len - 1));
    return name;
}

static bool take_bar(struct ta_slice line, struct drawn *bar)
{
    const struct ta_slice after = ta_log_after(line, "%|");
    if (!after.ptr)
        return false;
    const char *pipe = after.len ? memchr(after.ptr, '|', after.len) : NULL;
    if (!pipe)
        return false;
    bool is_short = false;
    struct ta_slice rest = ta_slice_from(after, (size_t)(pipe - after.ptr) + 1);
    bar->name = name_before(line, (size_t)(after.ptr - line.ptr) - 2);
    if (!take_count(&rest, &bar->done, &is_short) || !is_at(rest, 0, '/'))
        return false;
    rest = ta_slice_from(rest, 1);
    if (!take_count(&rest, &bar->total, &is_short))
        return false;
    bar->is_bytes = is_short;
    return take_times(ta_text_trim(rest), bar) && bar->done <= bar->total;
}

/* "name: 7it [00:16, 2.41s/it]". */
static bool take_count_alone(struct ta_slice line, struct drawn *bar)
{
    const struct ta_slice after = ta_log_after(line, "it [");
    if (!after.ptr)
        return false;
    const size_t unit = (size_t)(after.ptr - line.ptr) - 4;
    bar->name = name_before(line, unit);
    const size_t from = bar->name.len ? (size_t)(ta_slice_end(bar->name) - line.ptr) : 0;
    struct ta_slice count = ta_slice_part(line, from, unit);
    if (is_at(count, 0, ':'))
        count = ta_slice_from(count, 1);
    bool is_short = false;
    bar->total = TA_MISSING;
    return take_count(&count, &bar->done, &is_short) && count.len == 0 &&
           take_times(ta_slice_from(line, unit + 3), bar);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static const char *const loading[] = {"loading",    "fetching",   "downloading",  "download",
                                      "quantizing", "converting", "initializing", NULL};

/* The clock that ComfyUI's log has after a bar, "…,  2.41s/it]2026-05-17T20:12:03.858168 - ". */
static int64_t clock_after(struct ta_slice text)
{
    const char *bracket = text.len ? memrchr(text.ptr, ']', text.len) : NULL;
    if (!bracket)
        return TA_MISSING;
    struct ta_log_line rest = {.whole = ta_slice_from(text, (size_t)(bracket - text.ptr) + 1)};
    ta_log_strip_prefix(&rest);
    return rest.time_ns;
}

/* The bar of a line; NULL without memory. */
static struct bar *find_bar(struct ta_log_reading *log, struct state *st, const struct drawn *drawn,
                            int64_t rank)
{
    const ta_str name = drawn->name.len ? ta_log_string(log, drawn->name) : TA_STR_ABSENT;
    for (size_t i = st->n; i-- > 0;)
        if (st->bars[i].name == name && st->bars[i].rank == rank &&
            st->bars[i].total == drawn->total)
            return &st->bars[i];
    if (st->n == st->max) {
        const size_t max = st->max ? 2 * st->max : 16;
        struct bar *grown = reallocarray(st->bars, max, sizeof *grown);
        if (!grown)
            return NULL;
        st->bars = grown;
        st->max = max;
    }
    st->bars[st->n] =
        (struct bar){.rank = rank,
                     .name = name,
                     .total = drawn->total,
                     .done = TA_MISSING,
                     .is_loading = drawn->is_bytes || ta_slice_has_any(drawn->name, loading)};
    return &st->bars[st->n++];
}

/* The sum of a turn of a bar, when it has ended. */
static void add_sum(struct ta_log_reading *log, const struct bar *bar)
{
    if (bar->done == TA_MISSING || bar->done <= 0)
        return;
    if (bar->is_loading) {
        struct ta_timed_stage stage = ta_single_call(bar->name, bar->elapsed_ns);
        stage.rank = bar->rank;
        if (bar->name)
            ta_log_add_stage(log, &stage);
        return;
    }
    struct ta_iterations sum = ta_unknown_iterations();
    sum.rank = bar->rank;
    sum.name = bar->name ? bar->name : bar->model;
    sum.count = bar->done;
    sum.total_ns = bar->elapsed_ns;
    ta_log_add_iterations(log, &sum);
}

/* Whether the rate is the mean of all iterations: tqdm smooths it over the last ones until it
 * closes the bar. */
static bool is_overall(int64_t iteration_ns, int64_t done, int64_t elapsed_ns)
{
    const double beyond = (double)iteration_ns * (double)done - (double)elapsed_ns;
    return iteration_ns != TA_MISSING && beyond >= 0 && beyond < 1e9;
}

/* Whether a complete bar is drawn once more on a later line, to close it, and is no other turn that
 * was as fast. */
static bool closes(const struct bar *bar, const struct drawn *drawn, uint64_t line)
{
    const int64_t later = drawn->elapsed_ns - bar->elapsed_ns;
    const bool has_clock = bar->after_ns != TA_MISSING && drawn->after_ns != TA_MISSING;
    const bool is_soon = has_clock && drawn->after_ns - bar->after_ns < drawn->elapsed_ns;
    return line <= bar->line + 2 && later >= 0 && later <= INT64_C(1000000000) &&
           (bar->spans_lines || is_soon ||
            !is_overall(bar->iteration_ns, bar->done, bar->elapsed_ns));
}

/* Whether a state is of another turn of the bar: it counts from the start again, or, in logs that
 * have few states of each turn, is complete once more. */
static bool begins_again(const struct bar *bar, const struct drawn *drawn, uint64_t line)
{
    if (bar->done == TA_MISSING || drawn->done < bar->done || drawn->elapsed_ns < bar->elapsed_ns)
        return true;
    return bar->done == bar->total && line != bar->line && !closes(bar, drawn, line);
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    struct drawn drawn = {.done = TA_MISSING, .after_ns = clock_after(line->text)};
    if (!take_bar(line->text, &drawn) && !take_count_alone(line->text, &drawn))
        return TA_LOG_NOT_MINE;
    struct bar *bar = find_bar(log, st, &drawn, line->rank);
    if (!bar) {
        log->status = ta_fail(log->ctx, TA_ERR_NOMEM, "Cannot hold the bars of a log");
        return TA_LOG_TAKEN;
    }
    const bool is_new = begins_again(bar, &drawn, line->number);
    if (is_new) {
        add_sum(log, bar);
        bar->number = log->bars++;
        bar->model = log->model;
        bar->load = log->load;
        bar->spans_lines = false;
        if (!bar->is_loading && log->load) {
            const bool is_other = log->ran_load && log->ran_load != log->load;
            log->ran_load = is_other ? -1 : log->load;
            log->ran_model = log->model;
        }
    } else if (bar->done == drawn.done && bar->elapsed_ns == drawn.elapsed_ns) {
        return TA_LOG_TAKEN; /* drawn again */
    } else {
        bar->spans_lines |= bar->line != line->number;
    }
    const int64_t passed_ns = drawn.elapsed_ns - (is_new ? 0 : bar->elapsed_ns);
    log->timed_ns = ta_add_sat(log->timed_ns, passed_ns);
    bar->line = line->number;
    bar->iteration_ns = drawn.iteration_ns;
    bar->after_ns = drawn.after_ns;
    bar->done = drawn.done;
    bar->elapsed_ns = drawn.elapsed_ns;
    if (!bar->is_loading) {
        const struct ta_bar_state row = {.rank = line->rank,
                                         .name = bar->name,
                                         .bar = bar->number,
                                         .done = drawn.done,
                                         .total = drawn.total,
                                         .elapsed_ns = drawn.elapsed_ns,
                                         .iteration_ns = drawn.iteration_ns,
                                         .time_ns = line->time_ns,
                                         .load = bar->load};
        ta_log_add_bar_state(log, &row);
    }
    return TA_LOG_TAKEN;
}

static void end(struct ta_log_reading *log, void *state)
{
    struct state *st = state;
    for (size_t i = 0; i < st->n; i++)
        add_sum(log, &st->bars[i]);
    free(st->bars);
}

static const char *const marks[] = {"%|", "it/s", "s/it", NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, tqdm, &ops, .title = "tqdm", .summary = "Progress bars: loops and their rates",
          .version = "1");
