/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.retries: allocations that found no room, for which the allocator waited for the device,
 * gave its cache back to the driver and tried again.
 *
 * An operator frees no driver memory otherwise, so cudaFree next to cudaMalloc within an
 * operator is such a retry.  torch.cuda.empty_cache() is not an operator. */
#include "lib/outward.h"
#include "model/busy.h"
#include "stat/interval.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

enum { RANK, SITE, COUNT, FREES, HOST, IDLE, FIELDS };

struct walk {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_outward sites;
    const struct ta_intervals *busy;
    struct ta_partial *out;
};

static struct ta_slice name_of(const struct walk *w, ta_row row)
{
    return ta_trace_text(w->trace, w->spans.name[row]);
}

/* A driver call that frees memory; all other allocator calls take some. */
static bool is_free(struct ta_slice name)
{
    return ta_slice_has_word(name, "Free") || ta_slice_has_word(name, "Unmap");
}

static bool is_op(const struct walk *w, ta_row row)
{
    return row != TA_NO_ROW && w->categories.at[w->spans.cat[row]].class == TA_CLASS_OP;
}

/* A Python function of the program: not a built-in and not torch's own. */
static bool is_site(void *user, ta_row row)
{
    const struct walk *w = user;
    const struct ta_slice name = name_of(w, row);
    return w->spans.work[row] == TA_HOST_PYTHON && !ta_host_is_builtin(name) &&
           !ta_slice_starts(name, "torch/") && !ta_slice_has_word(name, "site-packages/torch/") &&
           ta_slice_has_word(name, ".py(");
}

/* The allocating calls of one operator. */
struct retry {
    ta_row op;
    int64_t from, to;
    int64_t frees;
    bool begins, ends; /* whether the first and the last call take memory */
};

/* Searching for a convolution algorithm also frees workspaces, which is not a retry. */
static bool is_search(struct ta_slice op)
{
    return ta_slice_has_word(op, "conv");
}

/* The devices are idle from the first of the calls until they work again. */
static void add_retry(struct walk *w, const struct retry *retry)
{
    if (retry->op == TA_NO_ROW || retry->frees == 0 || !retry->begins || !retry->ends ||
        is_search(name_of(w, retry->op)))
        return;
    const ta_row caller = ta_outward_find(&w->sites, retry->op, is_site, w);
    const size_t next = ta_intervals_behind(w->busy, retry->to);
    const int64_t works =
        next < w->busy->n ? ta_max_i64(retry->to, w->busy->at[next].start) : retry->to;
    int64_t *row =
        TA_PARTIAL_ROW(w->out, ta_key_int(ta_trace_rank(w->trace)),
                       ta_key_text(name_of(w, caller == TA_NO_ROW ? retry->op : caller)));
    ta_sum(&row[COUNT], 1);
    ta_sum(&row[FREES], retry->frees);
    ta_sum(&row[HOST], retry->to - retry->from);
    ta_sum(&row[IDLE], ta_intervals_gaps(w->busy, retry->from, works));
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    struct walk w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .busy = ta_trace_busy(trace),
                     .out = out[0]};
    w.sites.parent = w.spans.parent;
    if (!w.busy)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the work of devices");
    struct retry retry = {.op = TA_NO_ROW};
    for (ta_row row = 0; (row = ta_host_next(&w.spans, row, TA_HOST_ALLOCATE)) < w.spans.n; row++) {
        const ta_row op = is_op(&w, w.spans.parent[row]) ? w.spans.parent[row] : TA_NO_ROW;
        const bool gives = is_free(name_of(&w, row));
        if (op != retry.op) {
            add_retry(&w, &retry);
            retry = (struct retry){.op = op, .from = w.spans.ts[row], .begins = !gives};
        }
        retry.to = w.spans.ts[row] + w.spans.dur[row];
        retry.frees += gives;
        retry.ends = !gives;
    }
    add_retry(&w, &retry);
    ta_outward_free(&w.sites);
    return TA_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},   [SITE] = {"site", TA_FIELD_TEXT},
    [COUNT] = {"count", TA_FIELD_SUM},  [FREES] = {"frees", TA_FIELD_SUM},
    [HOST] = {"host_ns", TA_FIELD_SUM}, [IDLE] = {"idle_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"retries", fields, FIELDS}, {0}};

static const struct ta_column table_columns[FIELDS] = {
    [RANK] = TA_RANK_COLUMN,
    [SITE] = {"site", "Call site", TA_TEXT,
              .doc = "Innermost Python function around the operator that is not torch's own; "
                     "without one, the operator"},
    [COUNT] = {"count", "Retries", TA_COUNT, .better = TA_LOWER,
               .doc = "Operators in which the allocator called cudaMalloc, cudaFree and cudaMalloc "
                      "again (or the HIP or virtual-memory equivalents)"},
    [FREES] = {"frees", "Freed segments", TA_COUNT, .better = TA_LOWER,
               .doc = "Cached segments that these operators gave back to the driver"},
    [HOST] = {"host_ns", "Host time", TA_NS, .better = TA_LOWER,
              .doc = "Time from the first to the last of these driver calls in each operator, "
                     "including waits for the device in between"},
    [IDLE] = {"idle_ns", "GPU idle", TA_NS, .better = TA_LOWER,
              .doc = "Time in which no device of the rank works, from the first of these driver "
                     "calls until a device works again"},
};

static const struct ta_table_def table = {
    "memory.retries",
    "Allocation retries",
    TA_COLUMNS(table_columns),
    .doc = "One row per rank and call site at which the allocator ran out of memory: it waits for "
           "the device, gives its cache back to the driver and allocates again, which shows as "
           "cudaMalloc, cudaFree and cudaMalloc within one operator.",
    .tier = TA_TIER_DETAIL,
    .order = {&table_columns[IDLE], TA_DESCENDING}};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, table, [RANK] = ta_int(row[RANK]),
               [SITE] = ta_text_or_null(ta_partial_text(merged[0], row, SITE)),
               [COUNT] = ta_int(row[COUNT]), [FREES] = ta_int(row[FREES]),
               [HOST] = ta_int(row[HOST]), [IDLE] = ta_int(row[IDLE]));
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&table, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "memory",
                                           .place = 9,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, allocator_retries, &ops, .title = "Allocation retries",
          .summary = "Allocations for which the allocator gave its cache back: memory.retries",
          .version = "1");
