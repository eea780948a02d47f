/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a thread of the host computes what a device could. */
#include "model/idle/computing.h"

#include "base/vec.h"
#include "stat/interval.h"
#include "traceanalyze/table.h"

#include <stdlib.h>

enum { NAME_UNKNOWN, NAME_OTHER, NAME_COMPUTES };

/* Operators of these namespaces have an implementation for the CPU. */
static const char *const namespaces[] = {"aten::",   "torchvision::", "torchaudio::", "mkldnn::",
                                         "onednn::", "mkl::",         "quantized::",  "fbgemm::"};

/* Without the namespace, whole: they allocate, look at a tensor in another way, or read what a
 * device has computed. */
static const char *const idle_operators[] = {"empty",
                                             "empty_strided",
                                             "empty_like",
                                             "new_empty",
                                             "new_empty_strided",
                                             "resize_",
                                             "set_",
                                             "view",
                                             "as_strided",
                                             "reshape",
                                             "_reshape_alias",
                                             "alias",
                                             "detach",
                                             "detach_",
                                             "slice",
                                             "select",
                                             "narrow",
                                             "expand",
                                             "transpose",
                                             "t",
                                             "permute",
                                             "squeeze",
                                             "unsqueeze",
                                             "flatten",
                                             "unflatten",
                                             "split",
                                             "chunk",
                                             "unbind",
                                             "unfold",
                                             "lift_fresh",
                                             "resolve_conj",
                                             "resolve_neg",
                                             "result_type",
                                             "item",
                                             "_local_scalar_dense",
                                             "is_nonzero",
                                             "is_pinned",
                                             "_pin_memory",
                                             "pin_memory",
                                             "record_stream",
                                             "unflatten_dense_tensors",
                                             "flatten_dense_tensors",
                                             "arange",
                                             "linspace",
                                             "scalar_tensor"};

static bool operator_computes(struct ta_slice name)
{
    size_t from = 0;
    for (size_t i = 0; i < TA_LENGTH(namespaces) && !from; i++)
        from = ta_slice_starts(name, namespaces[i]) ? strlen(namespaces[i]) : 0;
    const struct ta_slice rest = ta_slice_from(name, from);
    for (size_t i = 0; i < TA_LENGTH(idle_operators); i++)
        if (ta_slice_equal(rest, ta_slice_of(idle_operators[i])))
            return false;
    return from > 0;
}

static bool holds(struct ta_slice name, const char *text)
{
    return memmem(name.ptr, name.len, text, strlen(text)) != NULL;
}

/* "numpy/core/fromnumeric.py(69): …", "<built-in method resize of ImagingCore object …>" */
static bool function_computes(struct ta_slice name)
{
    static const char *const libraries[] = {
        "numpy/",      "numpy.",         "scipy/",         "PIL/",
        "cv2/",        "skimage/",       "imageio/",       "librosa/",
        "ImagingCore", "ImagingEncoder", "ImagingDecoder", "torchvision/transforms/"};
    for (size_t i = 0; i < TA_LENGTH(libraries); i++)
        if (holds(name, libraries[i]))
            return true;
    return false;
}

static bool name_computes(struct computing *c, ta_row row, enum ta_host_work work)
{
    uint8_t *known = &c->names[c->spans.name[row]];
    if (*known == NAME_UNKNOWN) {
        const struct ta_slice name = ta_trace_text(c->trace, c->spans.name[row]);
        const bool computes =
            work == TA_HOST_OPERATOR ? operator_computes(name) : function_computes(name);
        *known = computes ? NAME_COMPUTES : NAME_OTHER;
    }
    return *known == NAME_COMPUTES;
}

/* Whether a call of the runtime begins in the rows from `row` on and before `time`. */
static bool has_call(const struct computing *c, ta_row row, uint32_t track, int64_t time)
{
    for (; row < c->spans.n && c->spans.track[row] == track && c->spans.ts[row] < time; row++)
        if (c->categories.at[c->spans.cat[row]].class == TA_CLASS_RUNTIME)
            return true;
    return false;
}

/* A device may begin with something unknown until a launch would have arrived. */
static bool may_launch(const struct computing *c, ta_row row, int64_t end)
{
    enum { WAY_NS = 20000 };
    return has_call(c, row + 1, c->spans.track[row], end) ||
           ta_intervals_within(&c->unknown, c->spans.ts[row], end + WAY_NS) > 0;
}

static bool computes(struct computing *c, ta_row row)
{
    const enum ta_host_work work = (enum ta_host_work)c->spans.work[row];
    return (work == TA_HOST_OPERATOR || work == TA_HOST_PYTHON) &&
           c->categories.at[c->spans.cat[row]].class <= TA_CLASS_OP &&
           name_computes(c, row, work) &&
           (work == TA_HOST_PYTHON || !may_launch(c, row, c->spans.ts[row] + c->spans.dur[row]));
}

/* Adds a span that computes, and the time between it and the one before: `last` is its row. */
static void add(struct computing *c, ta_row row, ta_row last)
{
    const uint32_t track = c->spans.track[row];
    const int64_t start = c->spans.ts[row], end = start + c->spans.dur[row];
    struct computing_time *before = c->n ? &c->at[c->n - 1] : NULL;
    if (before && before->track == track && start - before->to <= TA_IDLE_BETWEEN_NS &&
        (start <= before->to || !has_call(c, last + 1, track, start))) {
        before->to = ta_max_i64(before->to, end);
        return;
    }
    if (!ta_vec_grow((void **)&c->at, &c->max, c->n, sizeof *c->at))
        c->failed = true;
    else
        c->at[c->n++] = (struct computing_time){track, start, end};
}

/* Linear in the spans, of which few take long by themselves. */
static void find(struct computing *c)
{
    ta_row last = 0;
    for (ta_row row = 0; row < c->spans.n && !c->failed; row++)
        if (c->spans.self[row] >= TA_IDLE_COMPUTE_NS && computes(c, row)) {
            add(c, row, last);
            last = row;
        }
}

static bool make(struct computing *c)
{
    c->is_made = true;
    c->names = calloc(ta_trace_string_count(c->trace) + 1, sizeof *c->names);
    const struct ta_activities activities = ta_trace_activities(c->trace);
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].launch == TA_NO_ROW) {
            const int64_t start = c->spans.ts[activities.at[i].span];
            ta_intervals_add(&c->unknown, start, start + 1);
        }
    ta_intervals_unite(&c->unknown);
    if (c->names && !c->unknown.failed)
        find(c);
    return c->names && !c->unknown.failed && !c->failed;
}

void computing_open(struct computing *c, const struct ta_trace *trace)
{
    *c = (struct computing){
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .categories = ta_trace_categories(trace),
    };
}

bool computing_close(struct computing *c)
{
    free(c->names);
    free(c->at);
    ta_intervals_free(&c->unknown);
    return !c->failed;
}

static bool ends_by(const struct computing_time *at, uint32_t track, int64_t time)
{
    return at->track < track || (at->track == track && at->to <= time);
}

/* The first that ends later than `time`, of a thread of that number or a higher one. */
static size_t find_at(struct computing *c, uint32_t track, int64_t time)
{
    const size_t near = c->near;
    if ((near == 0 || ends_by(&c->at[near - 1], track, time)) &&
        (near == c->n || !ends_by(&c->at[near], track, time)))
        return near;
    size_t from = 0, to = c->n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (ends_by(&c->at[middle], track, time))
            from = middle + 1;
        else
            to = middle;
    }
    return c->near = from;
}

bool computing_at(struct computing *c, uint32_t track, int64_t time)
{
    if (!c->is_made)
        c->failed = !make(c);
    if (c->failed || c->n == 0)
        return false;
    const size_t at = find_at(c, track, time);
    return at < c->n && c->at[at].track == track && c->at[at].from <= time;
}
