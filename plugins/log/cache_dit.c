/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cache_dit.summary() prints of the cache of a transformer: how many denoising steps it
 * answered, and how much consecutive steps differed.
 *
 *     ⚡️Cache Steps and Residual Diffs Statistics: FluxTransformer2DModel, Executed Steps: 28,
 * …
 *
 *     | Cache Steps | Diffs P00 | Diffs P25 | …
 *     |-------------|-----------|-----------|…
 *     | 13          | 0.031     | 0.047     | …
 *
 *     'Cache Steps: 13, [9, 11, …]'
 *     ("Residual Diffs: 20, {'8': 0.21, …}")
 *
 * The branch with classifier-free guidance has the same once more, with "CFG " before it, and block
 * pruning counts blocks instead of steps.  The settings come before, as a Python dictionary or as
 * the arguments of a configuration.  Only some versions say how many steps there were; without that
 * the steps whose difference was looked at are those that could have been answered.
 *
 * Python's pprint breaks both lists into strings, one a line. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <math.h>
#include <stdio.h>

enum { NAME_MOST = 120, HEADING_MOST = 240, STEPS_MOST = 1024, LIST_MOST = 32 << 10 };

/* What is known of a step. */
struct step {
    bool is_cached, is_measured;
    double difference;
};

struct state {
    enum { NOTHING, SETTINGS, STATISTICS, ROW, LIST } next; /* what the lines that follow may be */
    char model[NAME_MOST];                                  /* of these statistics */
    char settings_of[NAME_MOST];
    char heading[HEADING_MOST]; /* of the table */
    bool is_cfg, is_pruning;
    int64_t rank, executed,
        executed_all; /* steps; TA_MISSING where the version does not say them */

    /* A cache whose misses may still be told. */
    bool is_open;
    int64_t hits, misses;

    struct step steps[STEPS_MOST]; /* of that cache */
    size_t n_steps;                /* up to the last that a list has */

    /* The list that is being read, of pieces of a Python string. */
    bool is_of_differences;
    size_t n_list;
    char list[LIST_MOST];
};

/* ---- records --------------------------------------------------------------------------------- */

/* "FluxTransformer2DModel (CFG)", "…, pruned blocks". */
static ta_str name_of_cache(struct ta_log_reading *log, const struct state *st)
{
    char name[NAME_MOST + 32];
    snprintf(name, sizeof name, "%s%s%s", st->model[0] ? st->model : "step cache",
             st->is_cfg ? " (CFG)" : "", st->is_pruning ? ", pruned blocks" : "");
    return ta_log_string(log, ta_slice_of(name));
}

/* Steps of the branch.  With guidance on its own both branches are counted together, too.  0 where
 * the counts do not fit each other. */
static int64_t steps_of_branch(const struct state *st)
{
    const int64_t plain = st->executed, all = st->executed_all;
    if (plain == TA_MISSING || all == TA_MISSING || plain < 0 || all < plain)
        return 0;
    const int64_t guided = all - plain;
    if (st->is_cfg)
        return guided;
    return guided == 0 || guided == plain || guided == plain - 1 ? plain : 0;
}

/* Steps that no list has were computed: the cache looks at none before its warm-up is over. */
static void add_steps(struct ta_log_reading *log, struct state *st)
{
    const int64_t executed = steps_of_branch(st);
    const bool is_known = executed <= STEPS_MOST && executed > (int64_t)st->n_steps;
    const size_t n = st->n_steps && is_known ? (size_t)executed : st->n_steps;
    for (size_t i = 0; i < n; i++) {
        const struct ta_cache_step row = {
            .rank = st->rank,
            .cache = name_of_cache(log, st),
            .step = (int64_t)i,
            .is_cached = st->steps[i].is_cached,
            .difference = st->steps[i].is_measured ? st->steps[i].difference : (double)NAN};
        ta_log_add_cache_step(log, &row);
    }
    memset(st->steps, 0, st->n_steps * sizeof *st->steps);
    st->n_steps = 0;
}

static void close_cache(struct ta_log_reading *log, struct state *st)
{
    if (!st->is_open)
        return;
    add_steps(log, st);
    const struct ta_cache_count row = {.rank = st->rank,
                                       .cache = name_of_cache(log, st),
                                       .hits = st->hits,
                                       .misses = st->misses,
                                       .evictions = TA_MISSING};
    ta_log_add_cache(log, &row);
    st->is_open = false;
}

static void add_figure(struct ta_log_reading *log, int64_t rank, ta_str group, const char *name,
                       double value)
{
    const struct ta_figure row = {.rank = rank,
                                  .name = ta_log_string(log, ta_slice_of(name)),
                                  .group = group,
                                  .value = value,
                                  .unit = TA_UNIT_NONE};
    ta_log_add_figure(log, &row);
}

static void open_cache(struct ta_log_reading *log, struct state *st, int64_t hits)
{
    close_cache(log, st);
    const int64_t steps = st->is_pruning ? 0 : steps_of_branch(st);
    st->is_open = true;
    st->hits = hits;
    st->misses = steps >= hits && steps > 0 ? steps - hits : TA_MISSING;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* "'residual_diff_threshold': 0.08" or "residual_diff_threshold=0.08"; NAN without a number. */
static double setting(struct ta_slice text, const char *key)
{
    for (struct ta_slice rest = text; (rest = ta_log_after(rest, key)).ptr;) {
        const size_t at = text.len - rest.len - strlen(key);
        if (at == 0 || !strchr("'\"(, ", text.ptr[at - 1]))
            continue; /* the end of a longer key */
        while (rest.len && strchr("'\":= ", rest.ptr[0]))
            rest = ta_slice_from(rest, 1);
        const double value = ta_log_number(&rest);
        /* Cut in the number is no setting. */
        return rest.len ? value : (double)NAN;
    }
    return NAN;
}

/* What decides whether a step is answered; what is -1 or None has no limit. */
static void take_settings(struct ta_log_reading *log, const struct state *st, int64_t rank,
                          struct ta_slice text)
{
    static const char *const keys[] = {"residual_diff_threshold", "max_warmup_steps",
                                       "max_cached_steps",        "max_continuous_cached_steps",
                                       "Fn_compute_blocks",       "Bn_compute_blocks"};
    const ta_str group =
        ta_log_string(log, ta_slice_of(st->settings_of[0] ? st->settings_of : "step cache"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const double value = setting(text, keys[i]);
        if (value >= 0)
            add_figure(log, rank, group, keys[i], value);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The next cell of "| 5   | 0.044 |"; false after the last. */
static bool next_cell(struct ta_slice *row, struct ta_slice *cell)
{
    const char *end = row->len ? memchr(row->ptr, '|', row->len) : NULL;
    if (!end)
        return false;
    const size_t n = (size_t)(end - row->ptr);
    *cell = ta_text_trim(ta_slice_part(*row, 0, n));
    *row = ta_slice_from(*row, n + 1);
    return true;
}

/* "Diffs P50" → "residual_diff_p50". */
static void name_of_diff(char name[40], struct ta_slice heading)
{
    const struct ta_slice which = ta_slice_from(heading, strlen("Diffs "));
    snprintf(name, 40, "residual_diff_%.*s", (int)ta_min_i64((int64_t)which.len, 20), which.ptr);
    for (char *c = name; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
}

/* "| 5           | 0.044     | 0.064     |" below its heading.  False for another line. */
static bool take_row(struct ta_log_reading *log, struct state *st, struct ta_slice row)
{
    struct ta_slice heads = ta_slice_of(st->heading), head, cell;
    if (!next_cell(&heads, &head) || !next_cell(&row, &cell) || !next_cell(&heads, &head) ||
        !next_cell(&row, &cell))
        return false;
    const int64_t hits = ta_log_integer(&cell);
    if (hits == TA_MISSING || hits < 0)
        return false;
    open_cache(log, st, hits);
    const ta_str group = name_of_cache(log, st);
    while (next_cell(&heads, &head) && next_cell(&row, &cell)) {
        const double value = ta_log_number(&cell);
        char name[40];
        if (!ta_slice_starts(head, "Diffs ") || !(value >= 0))
            continue;
        name_of_diff(name, head);
        add_figure(log, st->rank, group, name, value);
    }
    return true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The step of a list; NULL for a number that no list of steps has. */
static struct step *step_at(struct state *st, int64_t step)
{
    if (step < 0 || step >= STEPS_MOST)
        return NULL;
    st->n_steps = (size_t)step >= st->n_steps ? (size_t)step + 1 : st->n_steps;
    return &st->steps[step];
}

/* "13, [9, 11]". */
static void take_cached_steps(struct state *st, struct ta_slice list)
{
    for (struct ta_slice rest = ta_log_after(ta_log_after(list, "Steps: "), "["); rest.len;) {
        const int64_t number = ta_log_integer(&rest);
        struct step *step = number == TA_MISSING ? NULL : step_at(st, number);
        if (!step)
            return;
        step->is_cached = true;
        while (rest.len && strchr(", ", rest.ptr[0]))
            rest = ta_slice_from(rest, 1);
    }
}

/* "20, {'8': 0.21, '9': 0.19}"; of several differences of a step, "'8': [0.21, 0.2]", the first. */
static void take_differences(struct state *st, struct ta_slice list)
{
    for (struct ta_slice rest = list; (rest = ta_log_after(rest, "'")).len;) {
        const int64_t number = ta_log_integer(&rest);
        if (number == TA_MISSING || !ta_slice_starts(rest, "': "))
            return;
        rest = ta_slice_from(rest, strlen("': "));
        if (ta_slice_starts(rest, "["))
            rest = ta_slice_from(rest, 1);
        const double difference = ta_log_number(&rest);
        struct step *step = difference >= 0 ? step_at(st, number) : NULL;
        if (!step)
            return;
        step->is_measured = true;
        step->difference = difference;
    }
}

/* A piece of the list: "('Cache Steps: 3, [9, '", "'11]')", or all of it without quotes.  Whether
 * more pieces follow. */
static bool take_piece(struct state *st, struct ta_slice piece)
{
    piece = ta_text_trim(piece);
    if (ta_slice_starts(piece, "("))
        piece = ta_slice_from(piece, 1);
    const char quote = piece.len ? piece.ptr[0] : '\0';
    const bool is_quoted = quote == '\'' || quote == '"';
    if (is_quoted) {
        const char *end = memrchr(piece.ptr, quote, piece.len);
        const size_t n = (size_t)(end - piece.ptr);
        piece = n ? ta_slice_part(piece, 1, n) : TA_LIT("");
    }
    if (piece.len == 0 || piece.len > LIST_MOST - st->n_list || (st->n_list && !is_quoted))
        return false;
    memcpy(st->list + st->n_list, piece.ptr, piece.len);
    st->n_list += piece.len;
    const struct ta_slice list = {st->list, st->n_list};
    const char last = list.ptr[list.len - 1];
    const bool is_whole = st->is_of_differences ? last == '}' : last == ']';
    if (is_whole && st->is_of_differences)
        take_differences(st, list);
    else if (is_whole)
        take_cached_steps(st, list);
    return !is_whole && is_quoted;
}

/* The list that begins in this line, which other lines may go on with. */
static void open_list(struct state *st, struct ta_slice line, bool is_of_differences)
{
    st->n_list = 0;
    st->is_of_differences = is_of_differences;
    st->next = take_piece(st, line) ? LIST : NOTHING;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, struct ta_slice text)
{
    const struct ta_slice word = ta_text_trim(text);
    snprintf(to, size, "%.*s", (int)ta_min_i64((int64_t)word.len, (int64_t)size), word.ptr);
}

/* "MODEL", or "MODEL, Executed Steps: 28, Transformer Executed Steps: 56". */
static void open_statistics(struct ta_log_reading *log, struct state *st,
                            const struct ta_log_line *line, struct ta_slice rest)
{
    close_cache(log, st);
    const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
    copy(st->model, sizeof st->model,
         ta_slice_part(rest, 0, comma ? (size_t)(comma - rest.ptr) : rest.len));
    struct ta_slice plain = ta_log_after(rest, ", Executed Steps: ");
    struct ta_slice all = ta_log_after(rest, "Transformer Executed Steps: ");
    if (!ta_log_after(line->text, "CFG ").ptr) { /* that branch has no counts of its own */
        st->executed = plain.ptr ? ta_log_integer(&plain) : TA_MISSING;
        st->executed_all = all.ptr ? ta_log_integer(&all) : TA_MISSING;
    }
    st->is_cfg = ta_log_after(line->text, "CFG ").ptr != NULL;
    st->is_pruning = ta_log_after(line->text, "Pruned Blocks and ").ptr != NULL;
    st->rank = line->rank;
    st->next = STATISTICS;
}

/* "Cache Steps: 5, [6, 8, 10]", "Residual Diffs: 13, {…}", with quotes around or not. */
static bool take_details(struct ta_log_reading *log, struct state *st,
                         const struct ta_log_line *line)
{
    const bool is_cfg = ta_log_after(line->text, "CFG ").ptr != NULL;
    struct ta_slice n = ta_log_after(line->text, "Residual Diffs: ");
    if (n.ptr) {
        const int64_t looked_at = ta_log_integer(&n);
        if (looked_at != TA_MISSING && ta_slice_starts(n, ", {") && st->is_open &&
            st->is_cfg == is_cfg && st->misses == TA_MISSING && !st->is_pruning &&
            looked_at >= st->hits)
            st->misses = looked_at - st->hits;
        if (st->is_open && st->is_cfg == is_cfg && !st->is_pruning)
            open_list(st, line->text, true);
        return true;
    }
    n = ta_log_after(line->text, "Cache Steps: ");
    n = n.ptr ? n : ta_log_after(line->text, "Cached Steps: ");
    const int64_t hits = n.ptr ? ta_log_integer(&n) : TA_MISSING;
    if (hits == TA_MISSING || hits < 0 || !ta_slice_starts(n, ", ["))
        return false;
    if (st->is_open && st->is_cfg == is_cfg) {
        if (!st->is_pruning) /* its table has said how many there are */
            open_list(st, line->text, false);
        return true;
    }
    if (is_cfg != st->is_cfg || !st->is_open)
        st->is_pruning = false;
    st->rank = line->rank;
    if (st->is_cfg != is_cfg) {
        close_cache(log, st);
        st->is_cfg = is_cfg;
    }
    open_cache(log, st, hits);
    open_list(st, line->text, false);
    return true;
}

/* "Dynamic Block Prune Ratio: 23.44% (120/512)". */
static bool take_prune_ratio(struct state *st, struct ta_slice rest)
{
    struct ta_slice counts = ta_log_after(rest, "% (");
    const int64_t pruned = counts.ptr ? ta_log_integer(&counts) : TA_MISSING;
    if (pruned == TA_MISSING || !ta_slice_starts(counts, "/"))
        return false;
    counts = ta_slice_from(counts, 1);
    const int64_t blocks = ta_log_integer(&counts);
    if (blocks == TA_MISSING || !ta_slice_starts(counts, ")"))
        return false;
    if (st->is_open && st->is_pruning && pruned == st->hits && blocks >= pruned)
        st->misses = blocks - pruned;
    return true;
}

/* A line that has no mark and follows one of ours. */
static enum ta_log_taken take_next(struct ta_log_reading *log, struct state *st,
                                   const struct ta_log_line *line)
{
    const struct ta_slice text = line->text;
    if (text.len == 0 && st->next != NOTHING)
        return TA_LOG_MORE;
    if (st->next == LIST) {
        st->next = take_piece(st, text) ? LIST : NOTHING;
        return st->next == LIST ? TA_LOG_MORE : TA_LOG_TAKEN;
    }
    if (st->next == SETTINGS && memchr(text.ptr, '{', text.len)) {
        st->next = NOTHING;
        take_settings(log, st, line->rank, text);
        return TA_LOG_TAKEN;
    }
    if (st->next == ROW && ta_slice_starts(text, "|-"))
        return TA_LOG_MORE;
    const bool is_row = st->next == ROW && ta_slice_starts(text, "|");
    st->next = NOTHING;
    if (!is_row)
        return TA_LOG_NOT_MINE;
    return take_row(log, st, text) ? TA_LOG_TAKEN : TA_LOG_BAD;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    const struct ta_slice text = line->text;
    struct ta_slice rest = ta_log_after(text, "Residual Diffs Statistics: ");
    if (rest.ptr) {
        open_statistics(log, st, line, rest);
        return TA_LOG_MORE;
    }
    if (ta_slice_starts(text, "|") && ta_log_after(text, "| Diffs ").ptr) {
        copy(st->heading, sizeof st->heading, text);
        st->next = ROW;
        return TA_LOG_MORE;
    }
    rest = ta_log_after(text, "Cache Options: ");
    rest = rest.ptr ? rest : ta_log_after(text, "Context Options: ");
    rest = rest.ptr ? rest : ta_log_after(text, "Cached Options: ");
    if (rest.ptr && !ta_log_after(text, "Can't find ").ptr) {
        if (ta_slice_starts(rest, "{")) {
            st->settings_of[0] = '\0';
            take_settings(log, st, line->rank, rest);
            return TA_LOG_TAKEN;
        }
        copy(st->settings_of, sizeof st->settings_of, rest);
        st->next = SETTINGS;
        return TA_LOG_MORE;
    }
    rest = ta_log_after(text, "Block Prune Ratio: ");
    if (rest.ptr)
        return take_prune_ratio(st, rest) ? TA_LOG_TAKEN : TA_LOG_BAD;
    if (take_details(log, st, line))
        return st->next == LIST ? TA_LOG_MORE : TA_LOG_TAKEN;
    return take_next(log, st, line);
}

static void end(struct ta_log_reading *log, void *state)
{
    close_cache(log, state);
}

static const char *const marks[] = {"Residual Diffs Statistics: ",
                                    " Diffs P",
                                    " Diffs Min",
                                    "Cache Options: ",
                                    "Cached Options: ",
                                    "Context Options: ",
                                    "Block Prune Ratio: ",
                                    "Cache Steps: ",
                                    "Cached Steps: ",
                                    "Residual Diffs: ",
                                    NULL};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, cache_dit, &ops, .title = "cache-dit",
          .summary = "cache-dit's summary: steps that the cache answered, and how they differ",
          .version = "1");
