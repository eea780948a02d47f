/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.host_time: what the time of a program goes to of which no device work was recorded: it
 * computes on the host.  Every instant of its window counts once, whatever thread works in it. */
#include "lib/work.h"
#include "model/program/window.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/model.h>

#include <stdlib.h>

/* In the order in which an instant is given out that several cover: operators below the loading of
 * data are part of it, and a collective counts only where nothing computes meanwhile. */
enum { LOADING, GEMM, CONV, ATTENTION, OPERATORS, COLLECTIVES, COMPILATION, REST, CLASSES };

static const char *const names[] = {
    [LOADING] = "data loading",    [GEMM] = "gemm",           [CONV] = "convolution",
    [ATTENTION] = "attention",     [OPERATORS] = "operators", [COLLECTIVES] = "collectives",
    [COMPILATION] = "compilation", [REST] = "rest",
};

enum { OF_RANK, OF_CLASS, OF_TIME, FIELDS };
static const struct ta_field fields[FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [OF_CLASS] = {"class", TA_FIELD_INT},
    [OF_TIME] = {"ns", TA_FIELD_SUM},
};
static const struct ta_partial_def partials[] = {{"times", fields, FIELDS}, {0}};
static const struct ta_bound bounds[] = {{0, OF_CLASS, CLASSES}, TA_BOUNDS_END};

/* ---- intervals ------------------------------------------------------------------------------- */

struct interval {
    int64_t start, end;
    int class;
};

/* Operators without a formula: of libraries for CPUs, and of collectives, whose work other threads
 * do. */
static const struct {
    const char *start;
    int class;
} others[] = {
    {"mkldnn::_linear", GEMM},
    {"mkl::_mkl_linear", GEMM},
    {"quantized::linear", GEMM},
    {"onednn::qlinear", GEMM},
    {"mkldnn::_convolution", CONV},
    {"quantized::conv", CONV},
    {"onednn::qconv", CONV},
    {"c10d::", COLLECTIVES},
    {"c10d_functional::", COLLECTIVES},
    {"_c10d_functional::", COLLECTIVES},
    {"record_param_comms", COLLECTIVES},
};

static int class_of_operator(struct ta_slice name)
{
    static const int products[] = {
        [WORK_GEMM] = GEMM, [WORK_CONV] = CONV, [WORK_ATTENTION] = ATTENTION};
    const struct formula *formula = formula_find(name);
    if (formula && work_is_product(formula->class))
        return products[formula->class];
    for (size_t i = 0; i < TA_LENGTH(others); i++)
        if (ta_slice_starts(name, others[i].start))
            return others[i].class;
    return OPERATORS;
}

/* Names repeat: what each means is looked up once. */
struct classes {
    const struct ta_trace *trace;
    struct ta_spans spans;
    uint8_t *of_names; /* 1 + class of the operator; 0: not yet known */
};

static int class_of_name(const struct classes *classes, ta_str name)
{
    uint8_t *known = &classes->of_names[name];
    if (*known == 0)
        *known = (uint8_t)(1 + class_of_operator(ta_trace_text(classes->trace, name)));
    return *known - 1;
}

/* REST for spans that say nothing of the kind. */
static int class_of(const struct classes *classes, size_t row)
{
    switch ((enum ta_host_work)classes->spans.work[row]) {
    case TA_HOST_OPERATOR:
        return class_of_name(classes, classes->spans.name[row]);
    case TA_HOST_COLLECTIVE:
        return COLLECTIVES;
    case TA_HOST_DATA:
        return LOADING;
    case TA_HOST_COMPILE:
        return COMPILATION;
    default:
        return REST;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Sorted; NULL without memory.  `computes`: any is of an operator or a collective. */
static struct interval *list_intervals(const struct ta_trace *trace, size_t *n, bool *computes)
{
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    struct classes classes = {trace, spans, calloc(ta_trace_string_count(trace) + 1, 1)};
    struct interval *at = classes.of_names ? calloc(spans.n + 1, sizeof *at) : NULL;
    *n = 0;
    *computes = false;
    for (size_t row = 0; at && row < spans.n; row++) {
        const bool is_host = ta_class_is_host(categories.at[spans.cat[row]].class);
        const int class = is_host ? class_of(&classes, row) : REST;
        if (class == REST)
            continue;
        *computes |= class != LOADING && class != COMPILATION;
        at[(*n)++] = (struct interval){spans.ts[row], spans.ts[row] + spans.dur[row], class};
    }
    if (at)
        qsort(at, *n, sizeof *at, by_start);
    free(classes.of_names);
    return at;
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct sweep {
    int64_t now, until[REST], times[CLASSES];
};

/* Goes on to `to`: before it nothing else begins. */
static void go_on(struct sweep *sweep, int64_t to)
{
    while (sweep->now < to) {
        int class = 0;
        while (class < REST && sweep->until[class] <= sweep->now)
            class ++;
        int64_t next = class < REST ? ta_min_i64(to, sweep->until[class]) : to;
        sweep->times[class] += next - sweep->now;
        sweep->now = next;
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_program_window *window = ta_program_window(trace);
    struct sweep sweep = {.now = window ? window->start : 0};
    size_t n;
    bool computes;
    if (window && (ta_trace_activities(trace).n > 0 || window->end <= window->start))
        return TA_OK;
    struct interval *at = window ? list_intervals(trace, &n, &computes) : NULL;
    if (!at)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot divide the time of a host");
    for (size_t i = 0; i < n; i++) {
        go_on(&sweep, ta_min_i64(at[i].start, window->end));
        ta_most(&sweep.until[at[i].class], at[i].end);
    }
    go_on(&sweep, window->end);
    for (int class = 0; computes && class < CLASSES; class ++)
        ta_sum(
            &TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_key_int(class))[OF_TIME],
            sweep.times[class]);
    free(at);
    return TA_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { RANK, CLASS, TIME, SHARE };
static const struct ta_column host_time_columns[] = {
    [RANK] = {"rank", "Rank", TA_INTEGER, .role = TA_KEY, .doc = "Rank"},
    [CLASS] = {"class", "Class", TA_TEXT, .role = TA_KEY,
               .doc = "`gemm`, `convolution`, `attention` and other `operators`; `collectives`: of "
                      "the host, such as gloo's, while nothing computes; `data loading`; "
                      "`compilation`; `rest`: none of these runs"},
    [TIME] = {"total_ns", "Time", TA_NS, .better = TA_LOWER,
              .doc = "Time of the window given to the class"},
    [SHARE] = {"share", "Share", TA_RATIO, .doc = "Share of the rank's window"},
};
static const struct ta_table_def host_time = {
    "run.host_time", "Where the time of the host goes", TA_COLUMNS(host_time_columns),
    .doc = "One row per rank and class, of traces without any device activity. Every instant of "
           "the window counts once, whatever thread works in it: loading data first, then "
           "operators, then collectives that no operator covers.",
    .order = {&host_time_columns[TIME], TA_DESCENDING, &host_time_columns[RANK]}};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *p = merged[0];
    for (size_t i = 0, end; i < ta_partial_rows(p); i = end) {
        int64_t all = 0;
        end = ta_partial_group_end(p, i, OF_RANK);
        for (size_t k = i; k < end; k++)
            all = ta_add_sat(all, ta_partial_at(p, k)[OF_TIME]);
        for (size_t k = i; k < end; k++) {
            const int64_t *row = ta_partial_at(p, k);
            if (row[OF_TIME] > 0)
                TA_ROW(out, host_time, [RANK] = ta_int(row[OF_RANK]),
                       [CLASS] = ta_string(names[row[OF_CLASS]]), [TIME] = ta_int(row[OF_TIME]),
                       [SHARE] = ta_share(row[OF_TIME], all));
        }
    }
    return TA_OK;
}

static const struct ta_table_def *const tables[] = {&host_time, NULL};

static const struct ta_analysis_ops ops = {.needs = TA_NEED_HOST_WORK,
                                           .section = "gpu_time",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .bounds = bounds,
                                           .tables = tables};

TA_PLUGIN(analysis, host_time, &ops, .title = "Time of the host",
          .summary = "Where the time goes of a program that computes on the host: run.host_time",
          .version = "1");
