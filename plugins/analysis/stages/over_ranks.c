/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stages.over_ranks: families of stages over all ranks, in the order of the run. */
#include "stages.h"

#include <stdlib.h>

enum {
    OVER_RANKS_STAGE,
    OVER_RANKS_SOURCE,
    OVER_RANKS_MEMBERS,
    OVER_RANKS_INSIDE,
    OVER_RANKS_RANKS,
    OVER_RANKS_CALLS,
    OVER_RANKS_MEAN_TOTAL,
    OVER_RANKS_MIN_TOTAL,
    OVER_RANKS_MAX_TOTAL,
    OVER_RANKS_MAX_RANK,
    OVER_RANKS_SHARE,
    OVER_RANKS_SHARE_OF
};
static const struct ta_column stages_over_ranks_columns[] = {
    [OVER_RANKS_STAGE] = {"stage", "Stage", TA_TEXT,
                          .doc = "Name of the stage; N replaces the number if several numbered "
                                 "stages are parts of one"},
    [OVER_RANKS_SOURCE] = {"source", "Source", TA_TEXT,
                           .doc = "Where the stage comes from: scope of the stage table, or kind "
                                  "of record; blocks or steps if it is the sum of these"},
    [OVER_RANKS_MEMBERS] =
        {"members", "Members", TA_COUNT,
         .doc = "Number of stage names that the row sums up; Stages by total time lists each"},
    [OVER_RANKS_INSIDE] = {"inside", "Inside", TA_TEXT,
                           .doc = "Stage that contains it, as far as names and figures show"},
    [OVER_RANKS_RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that ran it"},
    [OVER_RANKS_CALLS] = {"calls", "Calls", TA_COUNT, .doc = "Calls on all ranks"},
    [OVER_RANKS_MEAN_TOTAL] = {"mean_total_ns", "Total per rank", TA_NS_MEAN, .better = TA_LOWER,
                               .doc = "Total time of the stage, mean over the ranks"},
    [OVER_RANKS_MIN_TOTAL] = {"min_total_ns", "Min", TA_NS, .better = TA_LOWER,
                              .doc = "Smallest total of a rank; empty if only one rank ran it"},
    [OVER_RANKS_MAX_TOTAL] = {"max_total_ns", "Max", TA_NS, .better = TA_LOWER,
                              .doc = "Largest total of a rank; empty if only one rank ran it"},
    [OVER_RANKS_MAX_RANK] = {"max_rank", "Rank of the most", TA_INTEGER,
                             .doc = "Rank with the largest total; the first if several are equal"},
    [OVER_RANKS_SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
                          .doc = "Share of the stage, mean over the ranks; for a stage that "
                                 "encloses others, what these leave"},
    [OVER_RANKS_SHARE_OF] = {"share_of", "Share of", TA_TEXT,
                             .doc = "Time that the share is of; see Stages by total time"},
};

#define CHART_BY(column)                                                                           \
    {                                                                                              \
        .id = "stage-waterfall", .title = "Stages, in run order",                                  \
        .caption = "Total time of each stage with what runs inside it, mean over all ranks; "      \
                   "stages that only enclose others are left out.",                                \
        .kind = TA_CHART_BARS, .label = {&stages_over_ranks_columns[OVER_RANKS_STAGE]},            \
        .y = {{&stages_over_ranks_columns[OVER_RANKS_MEAN_TOTAL], "Total per rank",                \
               TA_INK_COMPUTE}},                                                                   \
        .group = (column), .with = &stages_over_ranks_columns[OVER_RANKS_SHARE]                    \
    }
static const struct ta_chart_def chart = CHART_BY(NULL);
/* Scopes of a stage table run at the same time, each in an order of its own. */
static const struct ta_chart_def chart_of_scopes =
    CHART_BY(&stages_over_ranks_columns[OVER_RANKS_SOURCE]);

const struct ta_ref stages_derived_read[1] = {{.table = "stages.derived"}};

bool are_over_ranks(const struct ta_refs *in)
{
    return ta_report_run(in->report)->n_ranks > 1 || ta_ref_exists(in, 0);
}

const struct ta_table_def stages_over_ranks = {
    "stages.over_ranks",
    "Stages across ranks",
    TA_COLUMNS(stages_over_ranks_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per stage and source, in the order of the run: of the first call, or of the "
           "dump. The source is the scope of a stage table, or the kind of record. Stages whose "
           "names differ only in a number become one in parts (`sampling_chunk_N`) if there are "
           "three of them, or two that count chunks, batches, blocks and the like; such a stage "
           "that encloses another has a share of what that one leaves. Chart `stage-waterfall`, "
           "unless the stages are of programs that have nothing to do with each other.",
    .brief = &(const struct ta_brief){.place = 230,
                                      .rows = 12,
                                      .largest = &stages_over_ranks_columns[OVER_RANKS_MEAN_TOTAL],
                                      .applies = are_over_ranks,
                                      TA_READS(stages_derived_read)}};

/* A family over all ranks. */
struct family {
    const struct stage *at; /* the first of its stages, which are by rank, then name */
    size_t n;
    int64_t place; /* in the order of the run: where the first rank met it */
    int64_t source_place;
};

/* Stages of one family stand together, in the order in which ranks follow each other. */
static int by_family(const void *left, const void *right)
{
    const struct stage *a = left, *b = right;
    int order = ta_slice_compare(a->source, b->source);
    if (!order)
        order = ta_slice_compare(a->family, b->family);
    if (!order)
        order = (a->row[RANK] > b->row[RANK]) - (a->row[RANK] < b->row[RANK]);
    return order ? order : ta_slice_compare(a->name, b->name);
}

static int by_place(const void *left, const void *right)
{
    const struct family *a = left, *b = right;
    if (a->source_place != b->source_place)
        return a->source_place < b->source_place ? -1 : 1;
    const int order = ta_slice_compare(a->at->beside, b->at->beside);
    if (order)
        return order;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return ta_slice_compare(a->at->family, b->at->family);
}

static int by_text(const void *left, const void *right)
{
    return ta_slice_compare(*(const struct ta_slice *)left, *(const struct ta_slice *)right);
}

/* What the stages of a family amount to, rank by rank. */
struct sums {
    int64_t ranks, calls, sum, least, most, most_rank;
    double share; /* summed; NAN when one rank has none */
};

static void add_rank(struct sums *sums, const struct stage *stages, size_t n)
{
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        ta_sum(&sums->calls, stages[i].row[CALLS]);
        total = ta_add_sat(total, total_of(&stages[i]));
        sums->share += stages[i].own_share;
    }
    if (sums->ranks == 0 || total > sums->most) {
        sums->most = total;
        sums->most_rank = stages->row[RANK];
    }
    sums->least = sums->ranks == 0 ? total : ta_min_i64(sums->least, total);
    sums->sum = ta_add_sat(sums->sum, total);
    sums->ranks++;
}

static bool add_row(struct ta_section_builder *out, const struct family *family)
{
    struct sums sums = {.ranks = 0};
    const struct stage *stages = family->at;
    for (size_t first = 0, end; first < family->n; first = end) {
        for (end = first + 1; end < family->n && stages[end].row[RANK] == stages[first].row[RANK];)
            end++;
        add_rank(&sums, stages + first, end - first);
    }
    /* How many names the family has. */
    struct ta_slice *names = calloc(family->n + 1, sizeof *names);
    size_t members = 0;
    for (size_t i = 0; names && i < family->n; i++)
        names[i] = family->at[i].name;
    if (names)
        qsort(names, family->n, sizeof *names, by_text);
    for (size_t i = 0; names && i < family->n; i++)
        members += i == 0 || !ta_slice_equal(names[i], names[i - 1]);
    free(names);
    const bool several = sums.ranks > 1;
    TA_ROW(out, stages_over_ranks, [OVER_RANKS_STAGE] = ta_text(stages->family),
           [OVER_RANKS_SOURCE] = ta_text(stages->source),
           [OVER_RANKS_MEMBERS] = ta_int((int64_t)members),
           [OVER_RANKS_INSIDE] = ta_text_or_null(stages->inside),
           [OVER_RANKS_RANKS] = ta_int(sums.ranks), [OVER_RANKS_CALLS] = ta_int(sums.calls),
           [OVER_RANKS_MEAN_TOTAL] = ta_num((double)sums.sum / (double)sums.ranks),
           [OVER_RANKS_MIN_TOTAL] = several ? ta_int(sums.least) : ta_null(),
           [OVER_RANKS_MAX_TOTAL] = several ? ta_int(sums.most) : ta_null(),
           [OVER_RANKS_MAX_RANK] = several ? ta_int(sums.most_rank) : ta_null(),
           [OVER_RANKS_SHARE] = ta_num(sums.share / (double)sums.ranks),
           [OVER_RANKS_SHARE_OF] =
               stages->own_share_of ? ta_text(ta_slice_of(stages->own_share_of)) : ta_null());
    return members > 0;
}

/* Stages of several programs have no common order, and no time of which they are parts. */
static bool are_of_one_program(const struct stages *stages)
{
    for (size_t i = 1; i < stages->n; i++)
        if (!ta_slice_equal(stages->at[i].program, stages->at[0].program))
            return false;
    return true;
}

static bool have_scopes(const struct stages *stages)
{
    for (size_t i = 0; i < stages->n; i++)
        if (stages->at[i].scope.len)
            return true;
    return false;
}

bool add_stages_over_ranks(struct ta_section_builder *out, struct stages *stages)
{
    struct family *families = calloc(stages->n + 1, sizeof *families);
    if (!families)
        return false;
    qsort(stages->at, stages->n, sizeof *stages->at, by_family);
    size_t n = 0;
    for (size_t i = 0; i < stages->n; i++) {
        const struct stage *stage = &stages->at[i];
        struct family *last = &families[n - (n > 0)];
        const bool same_source = n > 0 && ta_slice_equal(last->at->source, stage->source);
        if (!same_source || !ta_slice_equal(last->at->family, stage->family)) {
            last = &families[n++];
            *last = (struct family){stage, 0, stage->place, 0};
        }
        last->n++;
        last->place = ta_min_i64(last->place, stage->place);
    }
    for (size_t i = 0; i < n; i++) {
        families[i].source_place = families[i].place;
        for (size_t k = 0; k < n; k++)
            if (ta_slice_equal(families[i].at->beside, families[k].at->beside))
                families[i].source_place = ta_min_i64(families[i].source_place, families[k].place);
    }
    qsort(families, n, sizeof *families, by_place);
    if (are_of_one_program(stages))
        ta_draw(out, &stages_over_ranks, have_scopes(stages) ? &chart_of_scopes : &chart);
    bool done = true;
    for (size_t i = 0; done && i < n; i++)
        done = add_row(out, &families[i]);
    free(families);
    return done;
}
