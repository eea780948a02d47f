/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.by_kind: one row per operation and process group. */
#include "tables.h"

#include <math.h>
#include <stdio.h>

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
static const struct ta_column coll_by_kind_columns[] = {
    [OP] = {"op", "Operation", TA_TEXT,
            .doc = "As the trace names it, or what the kernel is called"},
    [GROUP] = {"group", "Group", TA_TEXT,
               .doc = "Process group by its name, with its ranks where several have the name; "
                      "empty when no record names it"},
    [DESCRIPTION] = {"description", "Description", TA_TEXT,
                     .doc = "What the program calls the group"},
    [RANKS] = {"ranks", "Ranks", TA_COUNT, .doc = "Ranks with such a collective"},
    [SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks of the group, as recorded"},
    [COUNT] = {"count", "Count", TA_COUNT, .doc = "Collectives: one on all its ranks counts once"},
    [BYTES] = {"bytes", "Data", TA_BYTES, .better = TA_LOWER,
               .doc = "Sum of the full buffers: elements times their size; all-gather by its "
                      "output, reduce-scatter by its input. None when no record says"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of durations, all ranks: waiting and transfer"},
    [WAIT] = {"wait_ns", "Wait", TA_NS, .better = TA_LOWER,
              .doc = "Part of it before the last rank has begun, on one clock. None for operations "
                     "whose ranks need not wait for all, and where fewer than half of the ranks of "
                     "the group were read; too small where some were not"},
    [TRANSFER] = {"transfer_ns", "Transfer", TA_NS, .better = TA_LOWER, .doc = "The other part"},
    [WAIT_SHARE] = {"wait_share", "Wait %", TA_RATIO, .better = TA_LOWER,
                    .doc = "Waiting over waiting and transfer"},
    [SKEW_MEAN] = {"skew_mean_ns", "Mean skew", TA_NS_MEAN, .better = TA_LOWER,
                   .doc = "Mean time from the first rank's start to that of the last"},
    [TRANSFER_MEAN] =
        {"transfer_mean_ns", "Mean transfer", TA_NS_MEAN, .better = TA_LOWER,
         .doc =
             "Mean time of a collective from the start of the last rank to the median of the ends"},
    [BUS_BANDWIDTH] =
        {"bus_bandwidth", "Bus bandwidth", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S, .better = TA_HIGHER,
         .doc = "Data times 2(n−1)/n for all-reduce, (n−1)/n for all-gather, reduce-scatter and "
                "all-to-all, 1 for others, over the time of transfer: waiting does not count"},
};

const struct ta_table_def coll_by_kind = {
    "collectives.by_kind", "Collectives", TA_COLUMNS(coll_by_kind_columns),
    .order = {&coll_by_kind_columns[TOTAL], TA_DESCENDING}, .joining = TA_JOIN_NOT};

struct sums {
    uint32_t shape; /* any of the operation and group */
    int64_t ranks, last_rank;
    int64_t count, bytes, total, wait, transfer;
    double skew, moved, moving, transfers; /* of collectives with these */
    int64_t n_skew, n_transfer;
};

static int by_kind(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const struct coll_shape *a = &run->shapes[*(const uint32_t *)left];
    const struct coll_shape *b = &run->shapes[*(const uint32_t *)right];
    const int order = ta_slice_compare(a->op, b->op);
    return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* For each shape the number of its row; returns how many rows there are, SIZE_MAX without
 * memory. */
static size_t number_rows(const struct coll_run *run, uint32_t *rows)
{
    uint32_t *order = calloc(run->n_shapes + 1, sizeof *order);
    if (!order)
        return SIZE_MAX;
    for (size_t i = 0; i < run->n_shapes; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, run->n_shapes, sizeof *order, by_kind, (void *)(uintptr_t)run);
    uint32_t n = 0;
    for (size_t i = 0; i < run->n_shapes; i++) {
        n += i > 0 && by_kind(&order[i - 1], &order[i], (void *)(uintptr_t)run) != 0;
        rows[order[i]] = n;
    }
    free(order);
    return run->n_shapes ? n + 1 : 0;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add_record(const struct coll_run *run, const struct coll_record *record,
                       struct sums *to)
{
    const int64_t rank = run->members[record->member].rank;
    const int64_t dur = record->end - record->start;
    to->shape = record->shape;
    to->ranks += to->ranks == 0 || to->last_rank != rank; /* records are by rank */
    to->last_rank = rank;
    ta_sum(&to->total, dur);
    if (record->instance == COLL_NONE || run->instances[record->instance].transfer == TA_MISSING)
        return;
    const int64_t wait = coll_wait_of(&run->instances[record->instance], record);
    ta_sum(&to->wait, wait);
    ta_sum(&to->transfer, dur - wait);
}

/* What its collectives take, or the transfers of a send; those of receives are the same. */
static void add_transfer(const struct coll_run *run, const struct coll_instance *instance,
                         struct sums *to)
{
    const struct coll_shape *shape = &run->shapes[instance->shape];
    if (instance->n_placed > 1) {
        to->skew += (double)(instance->last_start - instance->first_start);
        to->n_skew++;
    }
    if (instance->transfer == TA_MISSING)
        return;
    to->transfers += (double)instance->transfer;
    to->n_transfer++;
    if (shape->bytes == TA_MISSING || instance->transfer == 0)
        return;
    const int64_t size = coll_is_between_two(shape->kind) ? 2
                         : shape->size == TA_MISSING      ? (int64_t)instance->n
                                                          : shape->size;
    to->moved += (double)shape->bytes * coll_bus_factor(shape->kind, size);
    to->moving += (double)instance->transfer / 1e9;
}

static void add_instance(const struct coll_run *run, const struct coll_instance *instance,
                         const uint32_t *rows, struct sums *sums)
{
    const struct coll_shape *shape = &run->shapes[instance->shape];
    struct sums *to = &sums[rows[instance->shape]];
    add_transfer(run, instance, to);
    if (!coll_is_between_two(shape->kind)) {
        to->count++;
        ta_sum(&to->bytes, shape->bytes);
        return;
    }
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t row = rows[run->records[run->entries[instance->first + i]].shape];
        if (&sums[row] != to)
            add_transfer(run, instance, &sums[row]);
    }
}

/* Transfers between two are not all matched: as many as the rank has that has most. */
static void count_pairs(const struct coll_run *run, const uint32_t *rows, struct sums *sums,
                        int64_t *counts, size_t n)
{
    for (size_t i = 0; i < run->n_members; i++) {
        const struct coll_member *member = &run->members[i];
        memset(counts, 0, n * sizeof *counts);
        for (size_t r = member->first; r < member->first + member->n; r++) {
            const uint32_t shape = run->records[r].shape;
            if (coll_is_between_two(run->shapes[shape].kind)) {
                counts[rows[shape]]++;
                sums[rows[shape]].count = ta_max_i64(sums[rows[shape]].count, counts[rows[shape]]);
            }
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

struct ta_cell coll_group_cell(const struct coll_run *run, uint32_t group, char text[COLL_LABEL])
{
    const struct coll_group *of = &run->groups[group];
    if (!of->shares_name || of->ranks.len == 0)
        return ta_text(of->name);
    snprintf(text, COLL_LABEL, "%.*s %.*s", (int)ta_min_i64((int64_t)of->name.len, 64),
             of->name.ptr, (int)ta_min_i64((int64_t)of->ranks.len, 128), of->ranks.ptr);
    return ta_text(ta_slice_of(text));
}

static struct ta_cell mean(double sum, int64_t n)
{
    return n ? ta_num(sum / (double)n) : ta_null();
}

static void add_row(const struct coll_run *run, const struct sums *s,
                    struct ta_section_builder *out)
{
    const struct coll_shape *shape = &run->shapes[s->shape];
    const struct coll_group *group = &run->groups[shape->group];
    char label[COLL_LABEL];
    TA_ROW(
        out, coll_by_kind, [OP] = ta_text(shape->op),
        [GROUP] = coll_group_cell(run, shape->group, label),
        [DESCRIPTION] = group->description.len ? ta_text(group->description) : ta_null(),
        [RANKS] = ta_int(s->ranks), [SIZE] = ta_int(shape->size), [COUNT] = ta_int(s->count),
        [BYTES] = ta_int(s->bytes), [TOTAL] = ta_int(s->total), [WAIT] = ta_int(s->wait),
        [TRANSFER] = ta_int(s->transfer),
        [WAIT_SHARE] =
            s->wait == TA_MISSING ? ta_null() : ta_share(s->wait, ta_add_sat(s->wait, s->transfer)),
        [SKEW_MEAN] = mean(s->skew, s->n_skew), [TRANSFER_MEAN] = mean(s->transfers, s->n_transfer),
        [BUS_BANDWIDTH] = s->moving > 0 ? ta_num(s->moved / s->moving) : ta_null());
}

bool coll_add_kinds(const struct coll_run *run, struct ta_section_builder *out)
{
    uint32_t *rows = calloc(run->n_shapes + 1, sizeof *rows);
    const size_t n = rows ? number_rows(run, rows) : SIZE_MAX;
    struct sums *sums = n == SIZE_MAX ? NULL : calloc(n + 1, sizeof *sums);
    int64_t *counts = n == SIZE_MAX ? NULL : calloc(n + 1, sizeof *counts);
    const bool done = sums && counts;
    for (size_t i = 0; done && i < n; i++)
        sums[i] = (struct sums){
            .bytes = TA_MISSING, .total = TA_MISSING, .wait = TA_MISSING, .transfer = TA_MISSING};
    for (size_t i = 0; done && i < run->n_records; i++)
        add_record(run, &run->records[i], &sums[rows[run->records[i].shape]]);
    for (size_t i = 0; done && i < run->n_instances; i++)
        add_instance(run, &run->instances[i], rows, sums);
    if (done)
        count_pairs(run, rows, sums, counts, n);
    for (size_t i = 0; done && i < n; i++)
        if (sums[i].total != TA_MISSING) /* shapes that only stand for others have no records */
            add_row(run, &sums[i], out);
    free(rows);
    free(sums);
    free(counts);
    return done;
}
