/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.by_backend: which implementation of attention ran.  Fused kernels are recognized by
 * their names.  Attention by separate kernels ("math") is what runs in the operator of that
 * name, or a GEMM, a softmax and a GEMM that follow each other on one stream with only light
 * kernels in between.
 *
 * attention.calls: the same by data type, head size and mask, which decide what implementations
 * a device could use, with the kernels before it that only prepare its inputs. */
#include "model/kernel.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { BACKEND, SOURCE, CALLS, KERNELS, TOTAL, FIELDS };
enum { ALL_KEY, ALL_NS, ALL_FIELDS };

static const struct ta_field fields[FIELDS] = {
    [BACKEND] = {"backend", TA_FIELD_TEXT}, [SOURCE] = {"source", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},      [KERNELS] = {"kernels", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},
};

static const struct ta_field all_fields[ALL_FIELDS] = {
    [ALL_KEY] = {"all", TA_FIELD_INT}, [ALL_NS] = {"total_ns", TA_FIELD_SUM}};

enum {
    CALL_BACKEND,
    CALL_TYPE,
    CALL_HEAD,
    CALL_MASK,
    CALL_KERNELS,
    CALL_TOTAL,
    CALL_PREP_KERNELS,
    CALL_PREP,
    CALL_FIELDS
};
enum { PART_BACKENDS, PART_KERNELS, PART_CALLS };
enum { MASK_UNKNOWN, MASK_NO, MASK_YES, MASKS };

static const struct ta_field call_fields[CALL_FIELDS] = {
    [CALL_BACKEND] = {"backend", TA_FIELD_TEXT},
    [CALL_TYPE] = {"type", TA_FIELD_TEXT},
    [CALL_HEAD] = {"head_size", TA_FIELD_INT},
    [CALL_MASK] = {"mask", TA_FIELD_INT},
    [CALL_KERNELS] = {"kernels", TA_FIELD_SUM},
    [CALL_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [CALL_PREP_KERNELS] = {"preparing_kernels", TA_FIELD_SUM},
    [CALL_PREP] = {"preparing_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {
    [PART_BACKENDS] = {"backends", fields, FIELDS},
    [PART_KERNELS] = {"kernels", all_fields, ALL_FIELDS},
    [PART_CALLS] = {"calls", call_fields, CALL_FIELDS},
    {0}};

/* The first columns are the fields of the partial; two more follow. */
enum { SHARE = FIELDS, KERNEL_SHARE };
static const struct ta_column by_backend_columns[] = {
    [BACKEND] =
        {"backend", "Backend", TA_TEXT, .read_as = TA_AS_ATTENTION,
         .doc = "Implementation, recognized by the names of its kernels; math: separate GEMM and "
                "softmax kernels; other: a fused kernel whose name does not show the library"},
    [SOURCE] = {"source", "Source", TA_TEXT,
                .doc = "How the implementation was recognized: name, of the kernel; operator, the "
                       "kernels ran in aten::_scaled_dot_product_attention_math; sequence, GEMM, "
                       "softmax and GEMM follow each other on one stream"},
    [CALLS] = {"calls", "Calls", TA_COUNT,
               .doc = "Calls of attention: kernels of a fused implementation; operators or "
                      "sequences of math"},
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .better = TA_LOWER, .doc = "Number of kernels"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER, .read_as = TA_AS_ATTENTION_TIME,
               .doc = "Sum of the kernel durations, all ranks"},
    [SHARE] = {"share", "Share", TA_RATIO, .doc = "Total as a share of all attention time"},
    [KERNEL_SHARE] = {"kernel_share", "Share of kernel time", TA_RATIO,
                      .doc = "Total as a share of the time of all kernels"},
};

static const struct ta_chart_def chart = {
    .id = "attention-backends",
    .title = "Attention by implementation",
    .caption =
        "Device time of attention by implementation, and what shows it: the name of the kernel, "
        "the operator, or the sequence of kernels. Summed over all ranks; percentages are "
        "cumulative.",
    .kind = TA_CHART_PARETO,
    .label = {&by_backend_columns[BACKEND], &by_backend_columns[SOURCE]},
    .y = {{&by_backend_columns[TOTAL], "Total", TA_INK_ATTENTION}},
};

static const struct ta_table_def by_backend = {
    "attention.by_backend",
    "Attention by implementation",
    TA_COLUMNS(by_backend_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per implementation of attention and way of recognizing it. A kernel that was "
           "written for one program and whose name does not show a library is `other`, not "
           "guessed. Chart `attention-backends`.",
    .chart = {&chart},
    .order = {&by_backend_columns[TOTAL], TA_DESCENDING}};

/* The columns are the fields of the partial. */
static const struct ta_column calls_table_columns[] = {
    [CALL_BACKEND] = {"backend", "Backend", TA_TEXT, .role = TA_KEY,
                      .doc = "Implementation of attention, by the names of its kernels"},
    [CALL_TYPE] = {"type", "Data type", TA_TEXT, .role = TA_KEY,
                   .doc = "Data type of the inputs, from the operator or else from the kernel "
                          "name; empty if neither shows it"},
    [CALL_HEAD] =
        {"head_size", "Head size", TA_COUNT, .role = TA_KEY,
         .doc = "Head size: last dimension of the first input; empty if shapes were not recorded"},
    [CALL_MASK] = {"mask", "Mask", TA_TEXT, .role = TA_KEY,
                   .doc = "yes: scaled_dot_product_attention gets a mask; no: it gets none; empty "
                          "if not recorded"},
    [CALL_KERNELS] = {"kernels", "Kernels", TA_COUNT, .better = TA_LOWER,
                      .doc = "Number of attention kernels"},
    [CALL_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Sum of the kernel durations, all ranks"},
    [CALL_PREP_KERNELS] = {"preparing_kernels", "Preparation kernels", TA_COUNT, .better = TA_LOWER,
                           .doc = "Kernels right before attention that quantize its inputs; with "
                                  "SageAttention also kernels that smooth, pad and transpose them"},
    [CALL_PREP] = {"preparing_ns", "Preparation time", TA_NS, .better = TA_LOWER,
                   .doc = "Sum of the durations of the preparation kernels"},
};

static const struct ta_table_def calls_table = {
    "attention.calls",
    "Attention by type and head size",
    TA_COLUMNS(calls_table_columns),
    .doc = "One row per implementation, data type, head size and presence of a mask, which decide "
           "what implementations a device could use.",
    .tier = TA_TIER_DETAIL,
    .order = {&calls_table_columns[CALL_TOTAL], TA_DESCENDING}};

/* ---- operators ----------------------------------------------------------------------------- */

static ta_str find_text(const struct ta_trace *trace, struct ta_slice text)
{
    const size_t n = ta_trace_string_count(trace);
    for (size_t id = 1; id < n; id++)
        if (ta_slice_equal(ta_trace_text(trace, (ta_str)id), text))
            return (ta_str)id;
    return TA_STR_ABSENT;
}

/* Marks the spans with the given name and all spans inside them; NULL if there are none, or
 * without memory (*failed). Parents come before their children. */
static bool *mark_below(const struct ta_trace *trace, ta_str name, int64_t *calls, bool *failed)
{
    const struct ta_spans s = ta_trace_spans(trace);
    bool *marks = calloc(s.n + 1, sizeof *marks);
    *failed = !marks;
    for (size_t row = 0; marks && row < s.n; row++) {
        const ta_row parent = s.parent[row];
        const bool inside = parent != TA_NO_ROW && parent < row && marks[parent];
        marks[row] = inside || s.name[row] == name;
        *calls += !inside && s.name[row] == name;
    }
    return marks;
}

/* ---- sequences ----------------------------------------------------------------------------- */

enum role { ENDS, LIGHT, PRODUCT, SOFTMAX };

/* Scaling, masks, dropout, casts: only few kernels lie between a GEMM and a softmax. */
enum { LIGHT_MAX = 4 };

struct stream {
    enum { NOTHING, AFTER_PRODUCT, AFTER_SOFTMAX } state;
    int light;
    int64_t kernels, total_ns;
    ta_row op; /* of the first GEMM */
};

/* Kernels since the last compute kernel: candidates for preparing the inputs of attention. */
struct preparing {
    int64_t quant, quant_ns, copies, copies_ns;
};

static enum role role_of(const struct ta_kernel_facts *facts, struct ta_slice name)
{
    switch (facts->kind) {
    case TA_KERNEL_GEMM:
        return strcmp(facts->family, "split-k sum") == 0 ? LIGHT : PRODUCT;
    case TA_KERNEL_SOFTMAX:
        return SOFTMAX;
    case TA_KERNEL_TRITON:
        return memmem(name.ptr, name.len, "softmax", 7) ? SOFTMAX : LIGHT;
    case TA_KERNEL_ELEMENTWISE:
    case TA_KERNEL_COPY:
    case TA_KERNEL_RANDOM:
        return LIGHT;
    default:
        return ENDS;
    }
}

/* Whether an operator of this name may launch a GEMM of attention: those are batched. */
static bool is_batched(struct ta_slice name)
{
    return memmem(name.ptr, name.len, "bmm", 3) || memmem(name.ptr, name.len, "matmul", 6) ||
           memmem(name.ptr, name.len, "einsum", 6) || memmem(name.ptr, name.len, "Compiled", 8);
}

/* Follows a stream by one kernel; true when a sequence is complete. */
static bool follow(struct stream *stream, enum role role, int64_t dur)
{
    if (role == PRODUCT && stream->state == AFTER_SOFTMAX) {
        stream->kernels++;
        stream->total_ns += dur;
        stream->state = NOTHING;
        return true;
    }
    if (role == PRODUCT) {
        *stream = (struct stream){AFTER_PRODUCT, 0, 1, dur, stream->op};
        return false;
    }
    const bool fits = (role == SOFTMAX && stream->state == AFTER_PRODUCT) ||
                      (role == LIGHT && stream->state != NOTHING && stream->light < LIGHT_MAX);
    if (!fits) {
        stream->state = NOTHING;
        return false;
    }
    stream->light = role == LIGHT ? stream->light + 1 : 0;
    stream->state = role == SOFTMAX ? AFTER_SOFTMAX : stream->state;
    stream->kernels++;
    stream->total_ns += dur;
    return false;
}

/* ---- map ----------------------------------------------------------------------------------- */

static void add(struct ta_partial *out, const char *backend, const char *source, int64_t calls,
                int64_t kernels, int64_t total_ns)
{
    if (kernels == 0)
        return;
    int64_t *row =
        TA_PARTIAL_ROW(out, ta_key_text(ta_slice_of(backend)), ta_key_text(ta_slice_of(source)));
    ta_sum(&row[CALLS], calls);
    ta_sum(&row[KERNELS], kernels);
    ta_sum(&row[TOTAL], total_ns);
}

/* What the operator's recorded inputs show. */
struct inputs {
    const char *type;
    int64_t head;
    int mask;
};

struct work {
    const struct ta_trace *trace;
    struct ta_args dims, types;
    struct ta_map call_rows; /* by a hash of their keys */
    struct ta_partial *calls_out;
    struct preparing *preparing; /* by track */
    struct ta_spans spans;
    struct ta_categories categories;
    struct ta_kernels kernels;
    struct ta_partial *out;
    bool *below_math;
    int64_t math_calls, math_kernels, math_ns;
    int64_t sequences, sequence_kernels, sequence_ns, all_ns;
    struct stream *streams;    /* by track */
    int64_t *calls, *total_ns; /* by kernel, of fused ones */
    enum role *roles;          /* by kernel */
    uint8_t *batched;          /* by string: 1 + is_batched(), 0 when not looked at */
};

/* Whether a GEMM may belong to attention: it must be batched if its operator is known. */
static bool may_be_attention(struct work *w, ta_row op)
{
    if (op == TA_NO_ROW || !ta_class_is_op(w->categories.at[w->spans.cat[op]].class))
        return true;
    const ta_str name = w->spans.name[op];
    if (!w->batched[name])
        w->batched[name] = (uint8_t)(1 + is_batched(ta_trace_text(w->trace, name)));
    return w->batched[name] > 1;
}

/* ---- inputs --------------------------------------------------------------------------------- */

/* The input type, from the types as the profiler writes them. */
static const char *type_in(struct ta_slice types)
{
    static const struct {
        const char *word;
        enum ta_precision precision;
    } words[] = {{"float", TA_PRECISION_FP32},       {"c10::BFloat16", TA_PRECISION_BF16},
                 {"c10::Half", TA_PRECISION_FP16},   {"double", TA_PRECISION_FP64},
                 {"c10::Float8_", TA_PRECISION_FP8}, {"signed char", TA_PRECISION_INT8}};
    const char *quote = memchr(types.ptr, '"', types.len);
    const struct ta_slice first =
        quote ? (struct ta_slice){quote + 1, (size_t)(ta_slice_end(types) - quote - 1)} : types;
    for (size_t i = 0; i < TA_LENGTH(words); i++)
        if (ta_slice_starts(first, words[i].word))
            return ta_precision_name(words[i].precision);
    return "";
}

/* The last number of the first list of "[[2, 24, 4096, 64], [2, …"; TA_MISSING without one of three
 * sizes or more. */
static int64_t head_in(struct ta_slice dims)
{
    int64_t number = TA_MISSING, sizes = 0;
    bool digits = false;
    for (size_t i = 0; i < dims.len; i++) {
        const char c = dims.ptr[i];
        if (c >= '0' && c <= '9') {
            number = digits ? ta_min_i64(number * 10 + (c - '0'), 1 << 20) : c - '0';
            sizes += !digits;
        }
        digits = c >= '0' && c <= '9';
        if (c == ']')
            break;
    }
    return sizes >= 3 ? number : TA_MISSING;
}

/* Whether the fourth argument is a tensor: "[[..], [..], [..], [..], …". */
static int mask_in(struct ta_slice dims)
{
    int depth = 0, arguments = 0;
    for (size_t i = 0; i < dims.len; i++) {
        depth += dims.ptr[i] == '[';
        arguments += dims.ptr[i] == '[' && depth == 2;
        if (arguments == 4)
            return i + 1 < dims.len && dims.ptr[i + 1] != ']' ? MASK_YES : MASK_NO;
        depth -= dims.ptr[i] == ']';
    }
    return MASK_UNKNOWN;
}

/* No head is larger, while a row of scores is as long as the sequence. */
#define HEAD_MOST 256

/* The inputs of the operator of attention: the launching operator or one that encloses it. */
static struct inputs inputs_of(const struct work *w, ta_row op, const struct ta_kernel_facts *facts)
{
    struct inputs inputs = {.type = "", .head = TA_MISSING, .mask = MASK_UNKNOWN};
    bool is_told = false; /* only operators of attention: softmax and GEMMs have scores as inputs */
    for (int up = 0; up < 5 && op != TA_NO_ROW; up++, op = w->spans.parent[op]) {
        const struct ta_slice name = ta_trace_text(w->trace, w->spans.name[op]);
        const ta_str dims = ta_args_text(&w->dims, op), types = ta_args_text(&w->types, op);
        const bool is_attention =
            memmem(name.ptr, name.len, "attention", 9) || memmem(name.ptr, name.len, "attn", 4);
        if (up && !is_attention)
            continue;
        if (!*inputs.type && types != TA_STR_ABSENT)
            inputs.type = type_in(ta_trace_text(w->trace, types));
        if (dims != TA_STR_ABSENT && (inputs.head == TA_MISSING || (is_attention && !is_told))) {
            inputs.head = head_in(ta_trace_text(w->trace, dims));
            is_told = is_attention;
        }
        if (dims != TA_STR_ABSENT &&
            ta_slice_equal(name, TA_LIT("aten::scaled_dot_product_attention")))
            inputs.mask = mask_in(ta_trace_text(w->trace, dims));
    }
    if (!is_told && inputs.head > HEAD_MOST)
        inputs.head = TA_MISSING;
    if (!*inputs.type && facts && facts->precision != TA_PRECISION_ANY)
        inputs.type = ta_precision_name(facts->precision);
    return inputs;
}

static int64_t *call_row(struct work *w, const char *backend, ta_row op,
                         const struct ta_kernel_facts *facts)
{
    const struct inputs inputs = inputs_of(w, op, facts);
    const uint64_t id = ((uint64_t)(uintptr_t)backend * UINT64_C(0x9E3779B97F4A7C15) ^
                         (uint64_t)(uintptr_t)inputs.type) *
                            8 +
                        ((uint64_t)(inputs.head + 1) << 3 ^ (uint64_t)inputs.mask);
    return ta_partial_cached(w->calls_out, &w->call_rows, id,
                             (const struct ta_key[]){ta_key_text(ta_slice_of(backend)),
                                                     ta_key_text(ta_slice_of(inputs.type)),
                                                     ta_key_int(inputs.head),
                                                     ta_key_int(inputs.mask)});
}

/* Remembers kernels that may prepare inputs; a fused kernel's row gets what was remembered. */
static void follow_preparing(struct work *w, const struct ta_activity *a,
                             const struct ta_kernel_facts *facts)
{
    struct preparing *preparing = &w->preparing[w->spans.track[a->span]];
    const int64_t dur = w->spans.dur[a->span];
    if (facts->kind == TA_KERNEL_QUANT) {
        preparing->quant++;
        preparing->quant_ns = ta_add_sat(preparing->quant_ns, dur);
        return;
    }
    if (facts->kind == TA_KERNEL_COPY) {
        preparing->copies++;
        preparing->copies_ns = ta_add_sat(preparing->copies_ns, dur);
        return;
    }
    if (facts->kind == TA_KERNEL_ATTENTION) {
        const char *backend = *facts->family ? facts->family : "other";
        int64_t *row = call_row(w, backend, a->op, facts);
        const bool copies = strstr(backend, "sage") && preparing->quant;
        ta_sum(&row[CALL_KERNELS], 1);
        ta_sum(&row[CALL_TOTAL], dur);
        ta_sum(&row[CALL_PREP_KERNELS], preparing->quant + (copies ? preparing->copies : 0));
        ta_sum(&row[CALL_PREP], preparing->quant_ns + (copies ? preparing->copies_ns : 0));
    }
    if (facts->kind != TA_KERNEL_ELEMENTWISE && facts->kind != TA_KERNEL_REDUCE)
        *preparing = (struct preparing){0};
}

static void add_math(struct work *w, ta_row op, int64_t kernels, int64_t ns)
{
    int64_t *row = call_row(w, "math", op, NULL);
    ta_sum(&row[CALL_KERNELS], kernels);
    ta_sum(&row[CALL_TOTAL], ns);
}

static void look_at(struct work *w, const struct ta_activity *a)
{
    struct stream *stream = &w->streams[w->spans.track[a->span]];
    const int64_t dur = w->spans.dur[a->span];
    w->all_ns = ta_add_sat(w->all_ns, dur);
    follow_preparing(w, a, &w->kernels.at[a->kernel].facts);
    if (w->below_math && a->op != TA_NO_ROW && w->below_math[a->op]) {
        w->math_kernels++;
        w->math_ns = ta_add_sat(w->math_ns, dur);
        add_math(w, a->op, 1, dur);
        stream->state = NOTHING;
        return;
    }
    if (w->kernels.at[a->kernel].facts.kind == TA_KERNEL_ATTENTION) {
        w->calls[a->kernel]++;
        w->total_ns[a->kernel] = ta_add_sat(w->total_ns[a->kernel], dur);
    }
    enum role role = w->roles[a->kernel];
    if (role == PRODUCT && !may_be_attention(w, a->op))
        role = ENDS;
    if (role == PRODUCT && stream->state != AFTER_SOFTMAX)
        stream->op = a->op;
    if (!follow(stream, role, dur))
        return;
    w->sequences++;
    add_math(w, stream->op, stream->kernels, stream->total_ns);
    w->sequence_kernels += stream->kernels;
    w->sequence_ns = ta_add_sat(w->sequence_ns, stream->total_ns);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_kernels kernels = ta_trace_kernels(trace);
    bool failed = false;
    if (kernels.n == 0)
        return TA_OK;
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .categories = ta_trace_categories(trace),
                     .kernels = kernels,
                     .dims = ta_trace_args(trace, "Input Dims"),
                     .types = ta_trace_args(trace, "Input type"),
                     .calls_out = out[PART_CALLS],
                     .out = out[0]};
    const ta_str math = find_text(trace, TA_LIT("aten::_scaled_dot_product_attention_math"));
    if (math != TA_STR_ABSENT)
        w.below_math = mark_below(trace, math, &w.math_calls, &failed);
    w.streams = calloc(ta_trace_tracks(trace).n + 1, sizeof *w.streams);
    w.preparing = calloc(ta_trace_tracks(trace).n + 1, sizeof *w.preparing);
    w.calls = calloc(kernels.n, sizeof *w.calls);
    w.total_ns = calloc(kernels.n, sizeof *w.total_ns);
    w.roles = calloc(kernels.n, sizeof *w.roles);
    w.batched = calloc(ta_trace_string_count(trace) + 1, sizeof *w.batched);
    failed |= !w.streams || !w.preparing || !w.calls || !w.total_ns || !w.roles || !w.batched;
    for (size_t k = 0; !failed && k < kernels.n; k++)
        w.roles[k] = role_of(&kernels.at[k].facts, ta_trace_text(trace, kernels.at[k].name));
    for (size_t i = 0; !failed && i < activities.n; i++)
        if (activities.at[i].kernel != TA_NO_KERNEL)
            look_at(&w, &activities.at[i]);
    if (!failed) {
        for (size_t k = 0; k < w.kernels.n; k++) {
            const char *family = w.kernels.at[k].facts.family;
            add(w.out, *family ? family : "other", "name", w.calls[k], w.calls[k], w.total_ns[k]);
        }
        add(w.out, "math", "operator", w.math_calls, w.math_kernels, w.math_ns);
        add(w.out, "math", "sequence", w.sequences, w.sequence_kernels, w.sequence_ns);
        ta_sum(&TA_PARTIAL_ROW(out[1], ta_key_int(0))[ALL_NS], w.all_ns);
    }
    failed |= w.call_rows.failed;
    ta_map_free(&w.call_rows);
    free(w.preparing);
    free(w.below_math);
    free(w.streams);
    free(w.calls);
    free(w.total_ns);
    free(w.roles);
    free(w.batched);
    return failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow streams") : TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *backends = merged[0];
    int64_t attention = 0, all = 0;
    for (size_t i = 0; i < ta_partial_rows(backends); i++)
        attention = ta_add_sat(attention, ta_partial_at(backends, i)[TOTAL]);
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[1], i)[ALL_NS]);

    for (size_t i = 0; i < ta_partial_rows(backends); i++) {
        const int64_t *row = ta_partial_at(backends, i);
        TA_ROW(out, by_backend, [BACKEND] = ta_text(ta_partial_text(backends, row, BACKEND)),
               [SOURCE] = ta_text(ta_partial_text(backends, row, SOURCE)),
               [CALLS] = ta_int(row[CALLS]), [KERNELS] = ta_int(row[KERNELS]),
               [TOTAL] = ta_int(row[TOTAL]), [SHARE] = ta_share(row[TOTAL], attention),
               [KERNEL_SHARE] = ta_share(row[TOTAL], all));
    }
    static const char *const masks[MASKS] = {[MASK_NO] = "no", [MASK_YES] = "yes"};
    for (size_t i = 0; i < ta_partial_rows(merged[PART_CALLS]); i++) {
        const int64_t *row = ta_partial_at(merged[PART_CALLS], i);
        TA_ROW(out, calls_table,
               [CALL_BACKEND] = ta_text(ta_partial_text(merged[PART_CALLS], row, CALL_BACKEND)),
               [CALL_TYPE] = ta_text(ta_partial_text(merged[PART_CALLS], row, CALL_TYPE)),
               [CALL_HEAD] = ta_int(row[CALL_HEAD]), [CALL_MASK] = ta_string(masks[row[CALL_MASK]]),
               [CALL_KERNELS] = ta_int(row[CALL_KERNELS]), [CALL_TOTAL] = ta_int(row[CALL_TOTAL]),
               [CALL_PREP_KERNELS] = ta_int(row[CALL_PREP_KERNELS]),
               [CALL_PREP] = ta_int(row[CALL_PREP]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", "Input type", NULL};
static const struct ta_table_def *const tables[] = {&by_backend, &calls_table, NULL};

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{PART_CALLS, CALL_MASK, MASKS}, TA_BOUNDS_END};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 4,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, attention, &ops, .title = "Attention",
          .summary = "Which implementation of attention ran: attention.by_backend, attention.calls",
          .version = "2");
