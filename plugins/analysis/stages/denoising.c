/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denoising as a stage.
 *
 * Blocks and denoising steps are recorded one by one and not as a stage, although they take most of
 * a run.  Their sum is a stage like the recorded ones, unless one of these is about it:
 *
 *   1. One whose name says so (diffusion, denoising, sampling) and that is as long: then there is
 *      no other.  The sum that a console prints is only where no rank has the parts alone.
 *   2. One that holds it, because its name says so (inference, generation, pipeline) and it is as
 *      long: denoising is in there.
 *   3. The shortest that is as long and may hold it, where all of them and denoising, one after
 *      the other, would take longer than the run.
 *
 * Blocks hold the steps and what comes between these, so they count unless some are missing. */
#include "stages.h"

#include <stdlib.h>

#define DENOISING "denoising"
static const char *const hold_it[] = {"infer", "generat", "pipeline", "forward", "total", NULL};
/* Parts of a run that have no denoising in them. */
static const char *const come_beside[] = {"load",  "init",   "checkpoint", "vae",    "decod",
                                          "encod", "text",   "save",       "export", "write",
                                          "warm",  "compil", NULL};
/* Parts of them that follow denoising. */
static const char *const come_behind[] = {"decod", "save", "export", "write", "post", NULL};

/* ---- what it is made of ---------------------------------------------------------------------- */

/* Sums up a column of the rows of a rank; `values` has room for them. */
static struct made sum_up(const struct ta_refs *in, size_t of_rank, size_t column, int64_t rank,
                          double *values)
{
    struct made made = {.least_ns = TA_MISSING, .most_ns = TA_MISSING};
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(in, column); i++) {
        const int64_t ns = ta_ref_integer(in, column, i);
        if (ta_ref_integer(in, of_rank, i) != rank || ns == TA_MISSING || ns < 0)
            continue;
        values[n++] = (double)ns;
        made.total_ns = ta_add_sat(made.total_ns, ns);
        ta_least(&made.least_ns, ns);
        ta_most(&made.most_ns, ns);
    }
    ta_sort_numbers(values, n);
    made.calls = (int64_t)n;
    made.p50_ns = ta_quantile(values, n, 0.5);
    made.p95_ns = ta_quantile(values, n, 0.95);
    return made;
}

/* ---- the stage ------------------------------------------------------------------------------- */

static bool is_in_group(const struct stage *stage, int64_t rank)
{
    return stage->row[RANK] == rank && ta_slice_equal(stage->group, TA_LIT(INFERIX_GROUP));
}

/* Whether the stage is the denoising of its rank, or longer. */
static bool is_denoising(const struct stage *stage, int64_t rank, const struct made *made)
{
    return is_in_group(stage, rank) && stage_role(stage->name) == STAGE_DENOISE &&
           ROUNDING * (double)total_of(stage) >= (double)made->total_ns;
}

/* Whether a console prints the sum of the parts, which are known each. */
static bool is_sum(const struct stage *stage, const struct made *made)
{
    return is_printed(stage) && is_as_printed(total_of(stage), made->total_ns, made->calls + 1);
}

/* `but_printed`: by a stage that is not the sum of the parts, as a console prints it. */
static bool is_recorded(const struct stages *stages, int64_t rank, const struct made *made,
                        bool but_printed)
{
    for (size_t i = 0; i < stages->n; i++)
        if (is_denoising(&stages->at[i], rank, made) &&
            !(but_printed && is_sum(&stages->at[i], made)))
            return true;
    return false;
}

static bool has_stages(const struct stages *stages, int64_t rank)
{
    for (size_t i = 0; i < stages->n; i++)
        if (is_in_group(&stages->at[i], rank))
            return true;
    return false;
}

/* Before the first stage that follows denoising, else at the end. */
static void find_place(const struct stages *stages, struct stage *made)
{
    made->place = INT64_MAX;
    made->beside = made->source;
    for (size_t i = 0; i < stages->n; i++) {
        const struct stage *stage = &stages->at[i];
        if (!is_in_group(stage, made->row[RANK]))
            continue;
        const bool is_behind = ta_slice_has_any(stage->name, come_behind);
        if (made->place == INT64_MAX || (is_behind && stage->place <= made->place))
            made->beside = stage->source;
        if (is_behind)
            made->place = ta_min_i64(made->place, stage->place - 1);
    }
}

static bool add(struct stages *stages, int64_t rank, const struct made *made)
{
    int64_t *row = ta_arena_alloc(&stages->arena, STAGE_FIELDS * sizeof *row);
    struct made *copy = ta_arena_alloc(&stages->arena, sizeof *copy);
    if (!row || !copy)
        return false;
    for (size_t i = 0; i < STAGE_FIELDS; i++)
        row[i] = TA_MISSING;
    row[RANK] = rank;
    row[FIRST] = INT64_MAX;
    row[CALLS] = made->calls;
    row[TOTAL] = made->total_ns;
    *copy = *made;
    struct stage *stage = &stages->at[stages->n];
    *stage = (struct stage){.row = row,
                            .name = TA_LIT(DENOISING),
                            .source = ta_slice_of(made->of),
                            .group = TA_LIT(INFERIX_GROUP),
                            .program = TA_LIT(INFERIX_GROUP),
                            .made = copy};
    find_place(stages, stage);
    stages->n++;
    return true;
}

/* The denoising of a rank that no stage is about.  Without a session and without another stage it
 * would be all of nothing known; what takes longer than the session did not run one after the
 * other. */
static bool find_made(const struct stages *stages, const struct ta_refs *in, int64_t rank,
                      bool but_printed, double *values, struct made *made)
{
    struct made steps = sum_up(in, STEPS_RANK, STEPS_TIME, rank, values);
    struct made blocks = sum_up(in, BLOCKS_RANK, BLOCKS_TIME, rank, values);
    steps.of = "steps";
    blocks.of = "blocks";
    *made = ROUNDING * (double)blocks.total_ns >= (double)steps.total_ns ? blocks : steps;
    const int64_t run_ns = sessions_of(stages, rank, TA_LIT(INFERIX_GROUP));
    const bool fits = run_ns == TA_MISSING
                          ? has_stages(stages, rank)
                          : (double)made->total_ns <= ROUNDING_OF_SUM * (double)run_ns;
    return made->total_ns > 0 && fits && !is_cut(stages, rank) &&
           !is_recorded(stages, rank, made, but_printed);
}

/* What a console prints of the rank is the stage that was added, under another name. */
static void join_printed(struct stages *stages, int64_t rank, const struct made *made)
{
    for (size_t i = 0; i < stages->n; i++) {
        struct stage *stage = &stages->at[i];
        if (!stage->made && is_denoising(stage, rank, made) && is_sum(stage, made)) {
            stage->inside = TA_LIT(DENOISING);
            stage->encloses = true; /* no share next to it */
        }
    }
}

/* A console, which mostly one rank has, prints the sum as a stage.  Where other ranks have the
 * parts alone, it is the sum of all of them. */
bool add_denoising(struct stages *stages, const struct ta_refs *in)
{
    const size_t most = ta_ref_rows(in, STEPS_TIME) + ta_ref_rows(in, BLOCKS_TIME);
    const size_t n = ta_ref_rows(in, DIFFUSION_RANK);
    double *values = calloc(most + 1, sizeof *values);
    bool done = values != NULL, is_made = false;
    struct made made;
    for (size_t i = 0; done && !is_made && i < n; i++)
        is_made =
            find_made(stages, in, ta_ref_integer(in, DIFFUSION_RANK, i), false, values, &made);
    for (size_t i = 0; done && is_made && i < n; i++) {
        const int64_t rank = ta_ref_integer(in, DIFFUSION_RANK, i);
        if (!find_made(stages, in, rank, true, values, &made))
            continue;
        join_printed(stages, rank, &made);
        done = add(stages, rank, &made);
    }
    free(values);
    return done;
}

/* ---- what holds it --------------------------------------------------------------------------- */

/* The shortest stage that is as long; `by_name`: whose name says so, else of those that may. */
static struct stage *find_holder(struct stage *at, size_t n, const struct stage *inner,
                                 bool by_name)
{
    struct stage *found = NULL;
    for (size_t i = 0; i < n; i++) {
        const bool may = by_name ? ta_slice_has_any(at[i].name, hold_it)
                                 : !ta_slice_has_any(at[i].name, come_beside);
        const struct stage *stage = &at[i];
        if ((!stage->made && !stage->inside.len &&
             ROUNDING * (double)total_of(stage) >= (double)total_of(inner)) &&
            may && (!found || total_of(&at[i]) < total_of(found)))
            found = &at[i];
    }
    return found;
}

void nest_denoising(struct stage *at, size_t n, int64_t run_ns)
{
    struct stage *inner = NULL, *holder = NULL;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        inner = at[i].made ? &at[i] : inner;
        sum = ta_add_sat(sum, at[i].inside.len ? 0 : ta_max_i64(0, total_of(&at[i])));
    }
    if (!inner)
        return;
    holder = find_holder(at, n, inner, true);
    if (!holder && run_ns != TA_MISSING && (double)sum > ROUNDING_OF_SUM * (double)run_ns)
        holder = find_holder(at, n, inner, false);
    if (!holder)
        return;
    inner->inside = holder->family;
    if (is_named_parent(holder))
        return; /* it holds all others, too */
    holder->encloses = true;
    holder->inner_ns = ta_min_i64(total_of(inner), total_of(holder));
}

/* ---- stages.derived -------------------------------------------------------------------------- */

enum {
    DERIVED_RANK,
    DERIVED_STAGE,
    DERIVED_MADE_OF,
    DERIVED_CALLS,
    DERIVED_TOTAL,
    DERIVED_SHARE,
    DERIVED_SHARE_OF,
    DERIVED_INSIDE,
    DERIVED_MEAN,
    DERIVED_MIN,
    DERIVED_MAX,
    DERIVED_P50,
    DERIVED_P95
};
static const struct ta_column stages_derived_columns[] = {
    [DERIVED_RANK] = TA_DUMP_RANK_COLUMN,
    [DERIVED_STAGE] = {"stage", "Stage", TA_TEXT, .read_as = TA_AS_DERIVED_STAGE,
                       .doc = "Name of the stage"},
    [DERIVED_MADE_OF] = {"made_of", "Summed from", TA_WORD,
                         .doc = "What the stage is the sum of: diffusion blocks or steps"},
    [DERIVED_CALLS] = {"calls", "Calls", TA_COUNT, .read_as = TA_AS_DERIVED_CALLS,
                       .doc = "Number of these blocks or steps"},
    [DERIVED_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                       .read_as = TA_AS_DERIVED_TIME, .doc = "Sum of their durations"},
    [DERIVED_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                       .read_as = TA_AS_DERIVED_SHARE,
                       .doc = "Total divided by the time named in the next column"},
    [DERIVED_SHARE_OF] = {"share_of", "Share of", TA_TEXT, .role = TA_NOTE,
                          .doc = "Time that the share is of; see Stages by total time"},
    [DERIVED_INSIDE] = {"inside", "Inside", TA_TEXT, .role = TA_NOTE,
                        .doc = "Recorded stage that contains it, as far as names and figures show"},
    [DERIVED_MEAN] = {"mean_ns", "Mean", TA_NS_MEAN, .better = TA_LOWER,
                      .doc = "Total divided by calls"},
    [DERIVED_MIN] = {"min_ns", "Min", TA_NS, .better = TA_LOWER, .doc = "Shortest block or step"},
    [DERIVED_MAX] = {"max_ns", "Max", TA_NS, .better = TA_LOWER, .doc = "Longest block or step"},
    [DERIVED_P50] = {"p50_ns", "p50", TA_NS_MEAN, .better = TA_LOWER, .doc = "Median duration"},
    [DERIVED_P95] = {"p95_ns", "p95", TA_NS_MEAN, .better = TA_LOWER,
                     .doc = "95th percentile (type 7)"},
};

const struct ta_table_def stages_derived = {
    "stages.derived", "Stages derived from other records", TA_COLUMNS(stages_derived_columns),
    .tier = TA_TIER_DETAIL,
    .doc =
        "One row per rank and stage that was not recorded itself but is the sum of other records: "
        "`denoising`, from the diffusion blocks, or from the steps if there are no blocks. Without "
        "it the stages of a session would not show where most of its time goes. There is none if a "
        "recorded stage covers it (its name has `diffusion`, `denois` or `sampling`, and it is as "
        "long) other than the sum that the console of one of several ranks prints, if the sum is "
        "longer than the session, or if the report is truncated. `inside` "
        "names the recorded stage that contains it: the shortest one that is as long and whose "
        "name says so (`inference`, `generation`, `pipeline`), or that could contain it if all "
        "stages one after the other would take longer than the session."};

void add_derived(struct ta_section_builder *out, const struct stages *stages)
{
    for (size_t i = 0; i < stages->n; i++) {
        const struct stage *stage = &stages->at[i];
        const struct made *made = stage->made;
        if (!made)
            continue;
        TA_ROW(out, stages_derived, [DERIVED_RANK] = ta_int(stage->row[RANK]),
               [DERIVED_STAGE] = ta_text(stage->name),
               [DERIVED_MADE_OF] = ta_text(ta_slice_of(made->of)),
               [DERIVED_CALLS] = ta_int(made->calls), [DERIVED_TOTAL] = ta_int(made->total_ns),
               [DERIVED_SHARE] = ta_num(stage->share),
               [DERIVED_SHARE_OF] =
                   stage->share_of ? ta_text(ta_slice_of(stage->share_of)) : ta_null(),
               [DERIVED_INSIDE] = ta_text_or_null(stage->inside),
               [DERIVED_MEAN] = ta_num((double)made->total_ns / (double)made->calls),
               [DERIVED_MIN] = ta_int(made->least_ns), [DERIVED_MAX] = ta_int(made->most_ns),
               [DERIVED_P50] = ta_num(made->p50_ns), [DERIVED_P95] = ta_num(made->p95_ns));
    }
}
