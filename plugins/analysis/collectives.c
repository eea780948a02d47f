/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.by_kind: one row per operation and process group. */
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdlib.h>

enum {
    OP,
    GROUP,
    DESCRIPTION,
    RANKS,
    SIZE,
    COUNT,
    BYTES,
    TOTAL,
    WAIT,
    TRANSFER,
    WAIT_SHARE,
    SKEW_MEAN,
    TRANSFER_MEAN,
    BUS_BANDWIDTH
};
static const struct ta_column by_kind_columns[] = {
    [OP] = {"op", "Operation", TA_TEXT,
            .doc = "Operation as the trace names it, otherwise the name of the kernel"},
    [GROUP] = {"group", "Group", TA_TEXT,
               .doc = "Name of the process group, with its ranks if several groups have the name; "
                      "empty if no record names it"},
    [DESCRIPTION] = {"description", "Description", TA_TEXT,
                     .doc = "Description of the process group, as set by the program"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks that recorded collectives of this kind"},
    [SIZE] = {"size", "Group size", TA_COUNT,
              .doc = "Number of ranks in the process group, as recorded"},
    [COUNT] = {"count", "Count", TA_COUNT,
               .doc = "Number of collectives; one that runs on all ranks of its group counts once"},
    [BYTES] =
        {"bytes", "Data", TA_BYTES, .better = TA_LOWER,
         .doc = "Sum of the full buffers: number of elements times their size, of the output for "
                "all-gather and of the input for reduce-scatter. Empty if no record says it"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the durations over all ranks, waiting plus transfer"},
    [WAIT] = {"wait_ns", "Wait", TA_NS, .better = TA_LOWER,
              .doc = "Part of the total before the last rank had begun, on a common clock. Empty "
                     "for operations that need not wait for all ranks, and if fewer than half of "
                     "the ranks of the group were read; too small if some were not read"},
    [TRANSFER] = {"transfer_ns", "Transfer", TA_NS, .better = TA_LOWER,
                  .doc = "Part of the total after the last rank had begun"},
    [WAIT_SHARE] = {"wait_share", "Wait %", TA_RATIO, .better = TA_LOWER,
                    .doc = "Wait divided by wait plus transfer"},
    [SKEW_MEAN] = {"skew_mean_ns", "Mean skew", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Mean time from the start of the first rank to the start of the last"},
    [TRANSFER_MEAN] = {"transfer_mean_ns", "Mean transfer", TA_NS_MEAN, .better = TA_LOWER,
                       .doc = "Mean time of a collective from the start of the last rank to the "
                              "median end over the ranks"},
    [BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc = "Data times 2(n−1)/n for all-reduce, (n−1)/n for all-gather, reduce-scatter and "
                "all-to-all, 1 for others, divided by the transfer time; waiting does not count"},
};

static const struct ta_table_def by_kind = {
    "collectives.by_kind",
    "Collectives",
    TA_COLUMNS(by_kind_columns),
    .doc =
        "Collectives of several ranks are matched by process group and order. Their calls have to "
        "agree in operation, type and number of elements; if they do not, or if one rank recorded "
        "more, the longest common sequence is used, or the shift that keeps the ends of both at an "
        "equal distance. Times are on one clock: offset and drift of each rank come from the ends "
        "of collectives that no rank can leave before all have entered (all-reduce, all-gather, "
        "reduce-scatter, even all-to-all, barrier). Ranks in groups that nothing connects have "
        "time axes of their own. Collectives on the host (gloo, HCCL) count if no device kernel is "
        "one. For each file and device, 32 768 collectives are compared.\n\nOne row per operation "
        "and process group. `wait_ns` and `transfer_ns` are sums over ranks that add up to "
        "`total_ns`, except for collectives that have no counterpart or whose clocks are unknown.",
    .order = {&by_kind_columns[TOTAL], TA_DESCENDING},
    .joining = TA_JOIN_NOT,
    .brief = &(const struct ta_brief){.place = 200,
                                      .rows = 6,
                                      .largest = &by_kind_columns[TOTAL],
                                      .first = {&by_kind_columns[OP], &by_kind_columns[COUNT],
                                                &by_kind_columns[BYTES], &by_kind_columns[WAIT],
                                                &by_kind_columns[TRANSFER],
                                                &by_kind_columns[BUS_BANDWIDTH]}}};

struct sums {
    uint32_t shape; /* any shape of the operation and group */
    int64_t ranks, last_rank;
    int64_t count, bytes, total, wait, transfer;
    double skew, moved, moving,
        transfers; /* means and their counts are over collectives that have these */
    int64_t n_skew, n_transfer;
};

static int by_op(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct ta_coll_shape *a = &ranks->shapes[*(const uint32_t *)left];
    const struct ta_coll_shape *b = &ranks->shapes[*(const uint32_t *)right];
    const int order = ta_slice_compare(a->op, b->op);
    return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* For each shape the number of its row; returns how many rows there are, SIZE_MAX without
 * memory. */
static size_t number_rows(const struct ta_ranks *ranks, uint32_t *rows)
{
    uint32_t *order = calloc(ranks->n_shapes + 1, sizeof *order);
    if (!order)
        return SIZE_MAX;
    for (size_t i = 0; i < ranks->n_shapes; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, ranks->n_shapes, sizeof *order, by_op, (void *)(uintptr_t)ranks);
    uint32_t n = 0;
    for (size_t i = 0; i < ranks->n_shapes; i++) {
        n += i > 0 && by_op(&order[i - 1], &order[i], (void *)(uintptr_t)ranks) != 0;
        rows[order[i]] = n;
    }
    free(order);
    return ranks->n_shapes ? n + 1 : 0;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add_record(const struct ta_ranks *ranks, const struct ta_coll_record *record,
                       struct sums *to)
{
    const int64_t rank = ranks->members[record->member].rank;
    const int64_t dur = record->end - record->start;
    to->shape = record->shape;
    to->ranks += to->ranks == 0 || to->last_rank != rank; /* records are by rank */
    to->last_rank = rank;
    ta_sum(&to->total, dur);
    if (record->collective == TA_COLL_NONE ||
        ranks->collectives[record->collective].transfer == TA_MISSING)
        return;
    const int64_t wait = ta_coll_wait(&ranks->collectives[record->collective], record);
    ta_sum(&to->wait, wait);
    ta_sum(&to->transfer, dur - wait);
}

/* Adds the data and time of transfers of collectives, or of sends; a receive would add the same
 * again. */
static void add_transfer(const struct ta_ranks *ranks, const struct ta_collective *collective,
                         struct sums *to)
{
    const struct ta_coll_shape *shape = &ranks->shapes[collective->shape];
    if (collective->n_placed > 1) {
        to->skew += (double)(collective->last_start - collective->first_start);
        to->n_skew++;
    }
    if (collective->transfer == TA_MISSING)
        return;
    to->transfers += (double)collective->transfer;
    to->n_transfer++;
    if (shape->bytes == TA_MISSING || collective->transfer == 0)
        return;
    const int64_t size = ta_coll_is_between_two(shape->kind) ? 2
                         : shape->size == TA_MISSING         ? (int64_t)collective->n
                                                             : shape->size;
    to->moved += (double)shape->bytes * ta_coll_bus_factor(shape->kind, size);
    to->moving += (double)collective->transfer / 1e9;
}

static void add_collective(const struct ta_ranks *ranks, const struct ta_collective *collective,
                           const uint32_t *rows, struct sums *sums)
{
    const struct ta_coll_shape *shape = &ranks->shapes[collective->shape];
    struct sums *to = &sums[rows[collective->shape]];
    add_transfer(ranks, collective, to);
    if (!ta_coll_is_between_two(shape->kind)) {
        to->count++;
        ta_sum(&to->bytes, shape->bytes);
        return;
    }
    for (size_t i = 0; i < collective->n; i++) {
        const uint32_t row = rows[ranks->records[ranks->entries[collective->first + i]].shape];
        if (&sums[row] != to)
            add_transfer(ranks, collective, &sums[row]);
    }
}

/* Not all point-to-point transfers are matched: the count is the largest of any rank. */
static void count_pairs(const struct ta_ranks *ranks, const uint32_t *rows, struct sums *sums,
                        int64_t *counts, size_t n)
{
    for (size_t i = 0; i < ranks->n_members; i++) {
        const struct ta_rank_member *member = &ranks->members[i];
        memset(counts, 0, n * sizeof *counts);
        for (size_t r = member->first; r < member->first + member->n; r++) {
            const uint32_t shape = ranks->records[r].shape;
            if (ta_coll_is_between_two(ranks->shapes[shape].kind)) {
                counts[rows[shape]]++;
                sums[rows[shape]].count = ta_max_i64(sums[rows[shape]].count, counts[rows[shape]]);
            }
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct ta_cell mean(double sum, int64_t n)
{
    return n ? ta_num(sum / (double)n) : ta_null();
}

static void add_row(const struct ta_ranks *ranks, const struct sums *s,
                    struct ta_section_builder *out)
{
    const struct ta_coll_shape *shape = &ranks->shapes[s->shape];
    const struct ta_coll_group *group = &ranks->groups[shape->group];
    char label[TA_COLL_LABEL];
    TA_ROW(
        out, by_kind, [OP] = ta_text(shape->op),
        [GROUP] = ta_text(ta_coll_label(ranks, shape->group, label)),
        [DESCRIPTION] = group->description.len ? ta_text(group->description) : ta_null(),
        [RANKS] = ta_int(s->ranks), [SIZE] = ta_int(shape->size), [COUNT] = ta_int(s->count),
        [BYTES] = ta_int(s->bytes), [TOTAL] = ta_int(s->total), [WAIT] = ta_int(s->wait),
        [TRANSFER] = ta_int(s->transfer),
        [WAIT_SHARE] =
            s->wait == TA_MISSING ? ta_null() : ta_share(s->wait, ta_add_sat(s->wait, s->transfer)),
        [SKEW_MEAN] = mean(s->skew, s->n_skew), [TRANSFER_MEAN] = mean(s->transfers, s->n_transfer),
        [BUS_BANDWIDTH] = s->moving > 0 ? ta_num(s->moved / s->moving) : ta_null());
}

/* Reports what is missing, and why. */
static void add_lacks(const struct ta_ranks *ranks, struct ta_section_builder *out)
{
    if (ranks->damaged)
        ta_add_missing(out, "Some records of collectives could not be read; the others are shown.");
    else if (ranks->left_out)
        ta_add_missing(out,
                       "For each device the first %d collectives were compared one by one; %lld "
                       "later ones were not.",
                       TA_COLL_RECORDS_MOST, (long long)ranks->left_out);
    else if (ranks->n_unmatched)
        ta_add_missing(
            out,
            "%zu of %zu records of collectives have no counterpart on the other ranks, which lost "
            "theirs or did something else at that time: they are not compared.",
            ranks->n_unmatched, ranks->n_records);
    else if (ranks->n_records && ranks->n_members < 2)
        ta_add_missing(out, "Only one rank recorded collectives: who waits for whom, and for how "
                            "long, needs the traces of the other ranks.");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_ranks *ranks = in->ranks;
    uint32_t *rows = calloc(ranks->n_shapes + 1, sizeof *rows);
    const size_t n = rows ? number_rows(ranks, rows) : SIZE_MAX;
    struct sums *sums = n == SIZE_MAX ? NULL : calloc(n + 1, sizeof *sums);
    int64_t *counts = n == SIZE_MAX ? NULL : calloc(n + 1, sizeof *counts);
    const bool done = sums && counts;
    for (size_t i = 0; done && i < n; i++)
        sums[i] = (struct sums){
            .bytes = TA_MISSING, .total = TA_MISSING, .wait = TA_MISSING, .transfer = TA_MISSING};
    for (size_t i = 0; done && i < ranks->n_records; i++)
        add_record(ranks, &ranks->records[i], &sums[rows[ranks->records[i].shape]]);
    for (size_t i = 0; done && i < ranks->n_collectives; i++)
        add_collective(ranks, &ranks->collectives[i], rows, sums);
    if (done)
        count_pairs(ranks, rows, sums, counts, n);
    for (size_t i = 0; done && i < n; i++)
        if (sums[i].total !=
            TA_MISSING) /* shapes that only serve as the common form of others have no records */
            add_row(ranks, &sums[i], out);
    free(rows);
    free(sums);
    free(counts);
    add_lacks(ranks, out);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot add up the collectives of all ranks");
}

static const struct ta_table_def *const tables[] = {&by_kind, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, collectives, &ops, .title = "Collectives",
          .summary = "Collectives by operation and process group: collectives.by_kind",
          .version = "2");
