/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.weight_casts: weights that are dequantized, or cast to the type of the computation, at
 * each call, right before the GEMM that multiplies by them.
 *
 * A kernel that is written to dequantize counts when a GEMM follows it closely on its stream, and
 * so do operators that unpack integers with shifts or scale blocks of them; a cast when its two
 * sizes are the ones of the matrix that the GEMM multiplies by, with the scaling of what was cast.
 */
#include "lib/modules.h"
#include "lib/outward.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { WHAT, TYPE, ROWS, COLUMNS, PLACE, CALLS, KERNELS, TOTAL, GAP, FIELDS };
enum { WHAT_CAST, WHAT_DEQUANTIZE, WHATS };

static const struct ta_field fields[FIELDS] = {
    [WHAT] = {"what", TA_FIELD_INT},       [TYPE] = {"type", TA_FIELD_TEXT},
    [ROWS] = {"rows", TA_FIELD_INT},       [COLUMNS] = {"columns", TA_FIELD_INT},
    [PLACE] = {"place", TA_FIELD_TEXT},    [CALLS] = {"calls", TA_FIELD_SUM},
    [KERNELS] = {"kernels", TA_FIELD_SUM}, [TOTAL] = {"total_ns", TA_FIELD_SUM},
    [GAP] = {"gap_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"casts", fields, FIELDS}, {0}};

/* The columns are the fields of the partial. */
static const struct ta_column casts_columns[] = {
    [WHAT] =
        {"what", "Kind", TA_TEXT, .role = TA_KEY,
         .doc = "dequantize (by a dedicated kernel, or by operators that unpack integers) or cast"},
    [TYPE] = {"type", "Stored as", TA_TEXT, .role = TA_KEY,
              .doc = "Data type of the stored weights, or the library whose kernel converts them"},
    [ROWS] = {"rows", "Rows", TA_COUNT, .role = TA_KEY,
              .doc = "First dimension of the weights; empty if shapes were not recorded"},
    [COLUMNS] = {"columns", "Columns", TA_COUNT, .role = TA_KEY,
                 .doc = "Second dimension of the weights; empty if shapes were not recorded"},
    [PLACE] = {"place", "Where", TA_TEXT, .role = TA_KEY,
               .doc = "Class of the module around the conversion, otherwise the Python function; "
                      "empty if neither was recorded"},
    [CALLS] = {"calls", "Calls", TA_COUNT, .better = TA_LOWER, .doc = "Number of conversions"},
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .better = TA_LOWER,
                 .doc = "Conversion kernels executed"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the durations of these kernels, over all ranks"},
    [GAP] = {"gap_ns", "Gaps", TA_NS, .better = TA_LOWER,
             .doc =
                 "Idle time between these kernels and until the GEMM starts, at most 20 µs each"},
};

static const struct ta_table_def casts = {
    "kernels.weight_casts",
    "Weights cast or dequantized at each call",
    TA_COLUMNS(casts_columns),
    .doc = "One row per data type, size and place: kernels that cast or dequantize weights right "
           "before the GEMM that uses them.",
    .tier = TA_TIER_DETAIL,
    .order = {&casts_columns[TOTAL], TA_DESCENDING}};

/* ---- sizes and types ------------------------------------------------------------------------ */

struct matrix {
    int64_t rows, columns; /* 0: no matrix */
};

/* The `nth` matrix, a list of two numbers, of "[[4096, 2048], [], [2048, 512]]"; the last one for
 * -1. */
static struct matrix matrix_in(struct ta_slice dims, int nth)
{
    struct matrix found = {0, 0};
    int64_t sizes[3] = {0};
    int n = 0, matrices = 0;
    bool digits = false;
    for (size_t i = 0; i < dims.len; i++) {
        const char c = dims.ptr[i];
        const bool is_digit = c >= '0' && c <= '9';
        if (is_digit && !digits && n < 3)
            sizes[n++] = 0;
        if (is_digit && n <= 3)
            sizes[n - 1] = ta_min_i64(sizes[n - 1] * 10 + (c - '0'), INT64_C(1) << 40);
        digits = is_digit;
        if (c == '[')
            n = 0;
        if (c != ']' || n == 0)
            continue;
        if (n == 2) {
            if (nth < 0 || matrices == nth)
                found = (struct matrix){sizes[0], sizes[1]};
            matrices++;
        }
        if (nth >= 0 && matrices == 0)
            return found; /* the first tensor is no matrix */
        n = 0;
    }
    return found;
}

/* Smaller ones are no weights worth a word. */
enum { LEAST_SIZE = 256 };

static bool is_weight(struct matrix m)
{
    return m.rows >= LEAST_SIZE && m.columns >= LEAST_SIZE;
}

static bool is_same(struct matrix a, struct matrix b)
{
    return (a.rows == b.rows && a.columns == b.columns) ||
           (a.rows == b.columns && a.columns == b.rows);
}

/* Type of the first input that is written `nth` in a list of types. */
static const char *type_in(struct ta_slice types, int nth)
{
    static const struct {
        const char *word, *type;
    } words[] = {{"float\"", "fp32"},
                 {"c10::Float8_e4m3", "fp8 (e4m3)"},
                 {"c10::Float8_e5m2", "fp8 (e5m2)"},
                 {"signed char", "int8"},
                 {"unsigned char", "uint8"},
                 {"c10::BFloat16", "bf16"},
                 {"c10::Half", "fp16"},
                 {"double", "fp64"}};
    for (size_t i = 0; i < types.len; i++) {
        if (types.ptr[i] != '"')
            continue;
        const struct ta_slice at = ta_slice_from(types, i + 1);
        if (nth-- == 0) {
            for (size_t w = 0; w < TA_LENGTH(words); w++)
                if (ta_slice_starts(at, words[w].word))
                    return words[w].type;
            return "";
        }
        const char *end = memchr(at.ptr, '"', at.len);
        if (!end)
            return "";
        i = (size_t)(end - types.ptr);
    }
    return "";
}

/* What a dequantizing kernel is known as.  The last argument of bitsandbytes' template is the type:
 * "kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>". */
static const char *library_of(struct ta_slice name)
{
    static const char *const blockwise[] = {"int8 (bitsandbytes)", "fp4 (bitsandbytes)",
                                            "nf4 (bitsandbytes)"};
    const char *at = memmem(name.ptr, name.len, "kDequantizeBlockwise<", 21);
    const char *end = at ? memchr(at, '>', (size_t)(ta_slice_end(name) - at)) : NULL;
    if (end && end[-1] >= '0' && end[-1] <= '2')
        return blockwise[end[-1] - '0'];
    static const struct {
        const char *part, *library;
    } libraries[] = {{"kDequantizeBlockwise", "4 or 8 bit (bitsandbytes)"},
                     {"kdequant", "int8 (bitsandbytes)"},
                     {"dequantize_block", "GGUF"},
                     {"gguf", "GGUF"},
                     {"awq", "AWQ"},
                     {"gptq", "GPTQ"},
                     {"nf4", "nf4"},
                     {"fp4", "fp4"},
                     {"int4", "int4"},
                     {"fp8", "fp8"},
                     {"int8", "int8"}};
    for (size_t i = 0; i < TA_LENGTH(libraries); i++)
        if (memmem(name.ptr, name.len, libraries[i].part, strlen(libraries[i].part)))
            return libraries[i].library;
    return "quantized";
}

/* ---- map ----------------------------------------------------------------------------------- */

/* What was cast and waits for its GEMM, of a stream. */
struct pending {
    int what;
    const char *type;
    struct matrix matrix;
    ta_row op;
    int64_t kernels, total_ns, gap_ns, end, age;
    int64_t elements;     /* of integers that are scaled; 0: not so */
    bool unpacks, shifts; /* by operators on integers; one of them shifts */
};

/* Kernels between the cast and its GEMM: scaling, adding zero points, transposing. */
enum { AGE_MAX = 4, GAP_MAX_NS = 20000, UNPACK_MAX = 64 };

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_kernels kernels;
    struct ta_args dims, types;
    struct ta_outward outward;
    struct pending *pending; /* by track */
    struct ta_partial *out;
};

static struct ta_slice text_of(const struct work *w, const struct ta_args *args, ta_row row)
{
    const ta_str text = row == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(args, row);
    return text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(w->trace, text);
}

static bool is_place(void *user, ta_row row)
{
    const struct work *w = user;
    return ta_is_own_place(ta_trace_text(w->trace, w->spans.name[row]));
}

static void add_up(struct work *w, struct pending *pending)
{
    const ta_row at = pending->op == TA_NO_ROW
                          ? TA_NO_ROW
                          : ta_outward_find(&w->outward, pending->op, is_place, w);
    struct ta_slice place =
        at == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[at]);
    if (ta_is_module(place))
        place = ta_module_class(place);
    int64_t *row = TA_PARTIAL_ROW(
        w->out, ta_key_int(pending->what), ta_key_text(ta_slice_of(pending->type)),
        ta_key_int(pending->matrix.rows), ta_key_int(pending->matrix.columns), ta_key_text(place));
    ta_sum(&row[CALLS], 1);
    ta_sum(&row[KERNELS], pending->kernels);
    ta_sum(&row[TOTAL], pending->total_ns);
    ta_sum(&row[GAP], pending->gap_ns);
    pending->kernels = 0;
}

/* Types that nothing but weights is stored in and cast from; kernels are templates on them. */
static const char *narrow_type_in(struct ta_slice kernel)
{
    static const struct {
        const char *word, *type;
    } words[] = {{"Float8_e4m3", "fp8 (e4m3)"}, {"Float8_e5m2", "fp8 (e5m2)"}};
    for (size_t i = 0; i < TA_LENGTH(words); i++)
        if (memmem(kernel.ptr, kernel.len, words[i].word, strlen(words[i].word)))
            return words[i].type;
    return "";
}

/* A cast of a matrix to another type, by the outermost operator that does nothing else. */
static bool begin_cast(const struct work *w, const struct ta_activity *a, struct pending *pending)
{
    ta_row op = a->op;
    struct pending made = {.what = WHAT_CAST, .op = op, .type = ""};
    for (int up = 0; up < 4 && op != TA_NO_ROW; up++, op = w->spans.parent[op]) {
        const struct ta_slice name = ta_trace_text(w->trace, w->spans.name[op]);
        const bool copies = ta_slice_equal(name, TA_LIT("aten::copy_"));
        if (!copies && !ta_slice_equal(name, TA_LIT("aten::to")) &&
            !ta_slice_equal(name, TA_LIT("aten::_to_copy")))
            break;
        const struct ta_slice types = text_of(w, &w->types, op);
        const char *type = type_in(types, copies ? 1 : 0);
        const struct matrix matrix = matrix_in(text_of(w, &w->dims, op), 0);
        if (*type && is_weight(matrix)) {
            made.type = type;
            made.matrix = matrix;
        }
    }
    if (!*made.type && w->dims.n == 0) /* without shapes the name of the kernel may tell */
        made.type = narrow_type_in(ta_trace_text(w->trace, w->kernels.at[a->kernel].name));
    if (!*made.type)
        return false;
    *pending = made;
    return true;
}

static bool has(struct ta_slice text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* What unpacks weights of which several share a byte or a word, as ComfyUI-GGUF does: masks and
 * shifts of integers, then what scales them. Masks alone are attention's. */
static bool unpack(const struct work *w, const struct ta_activity *a, struct pending *pending)
{
    const struct ta_slice op =
        a->op == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[a->op]);
    const struct ta_slice types = text_of(w, &w->types, a->op);
    const bool shifts = has(op, "rshift") || has(op, "right_shift");
    if (!shifts && !has(op, "bitwise_and"))
        return pending->kernels && pending->unpacks && pending->kernels < UNPACK_MAX;
    if (ta_slice_starts(types, "[\"bool\"") || ta_slice_starts(types, "[\"long"))
        return false;
    if (!pending->kernels || !pending->unpacks)
        *pending = (struct pending){.what = WHAT_DEQUANTIZE,
                                    .type = "packed integers (such as GGUF)",
                                    .op = a->op,
                                    .unpacks = true};
    pending->shifts |= shifts;
    return true;
}

static int64_t elements_in(struct ta_slice dims, int nth)
{
    int64_t elements = 0;
    for (size_t i = 1; i < dims.len && nth >= 0; i++) { /* after the bracket around all */
        int64_t number = 0;
        bool digits = false;
        for (; i < dims.len && dims.ptr[i] >= '0' && dims.ptr[i] <= '9'; i++, digits = true)
            number = ta_min_i64(number * 10 + (dims.ptr[i] - '0'), INT64_C(1) << 20);
        if (digits && nth == 0)
            elements = ta_min_i64(ta_max_i64(elements, 1) * number, INT64_C(1) << 40);
        nth -= i < dims.len && dims.ptr[i] == ']';
    }
    return elements;
}

/* Whether blocks of 8-bit integers are multiplied by their scales, as ComfyUI-GGUF does with Q8_0;
 * the product has to be a whole weight of the GEMM after it. */
static bool scale(const struct work *w, const struct ta_activity *a, struct pending *pending)
{
    const struct ta_slice op =
        a->op == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[a->op]);
    if (!ta_slice_equal(op, TA_LIT("aten::mul")))
        return false;
    const struct ta_slice types = text_of(w, &w->types, a->op), dims = text_of(w, &w->dims, a->op);
    for (int nth = 0; nth < 2; nth++) {
        const char *type = type_in(types, nth);
        const int64_t elements = strcmp(type, "int8") == 0 ? elements_in(dims, nth) : 0;
        if (elements < (int64_t)LEAST_SIZE * LEAST_SIZE)
            continue;
        *pending = (struct pending){
            .what = WHAT_DEQUANTIZE, .type = type, .op = a->op, .elements = elements};
        return true;
    }
    return false;
}

/* Whether a kernel works on all that was scaled. */
static bool goes_on(const struct work *w, const struct ta_activity *a,
                    const struct pending *pending)
{
    return pending->kernels && pending->elements > 0 &&
           elements_in(text_of(w, &w->dims, a->op), 0) == pending->elements;
}

static void look_at(struct work *w, const struct ta_activity *a)
{
    const struct ta_kernel *kernel = &w->kernels.at[a->kernel];
    struct pending *pending = &w->pending[w->spans.track[a->span]];
    const int64_t start = w->spans.ts[a->span], dur = w->spans.dur[a->span];
    if (pending->kernels)
        pending->gap_ns += ta_min_i64(ta_max_i64(start - pending->end, 0), GAP_MAX_NS);
    pending->end = start + dur;
    if (kernel->facts.kind == TA_KERNEL_GEMM) {
        const struct matrix by = matrix_in(text_of(w, &w->dims, a->op), -1);
        if (pending->kernels && pending->unpacks == pending->shifts &&
            (!pending->elements || by.rows * by.columns == pending->elements) &&
            (!by.rows || !pending->matrix.rows || is_same(by, pending->matrix)))
            add_up(w, pending);
        pending->kernels = 0;
        return;
    }
    const bool dequantizes =
        kernel->facts.kind == TA_KERNEL_QUANT && strcmp(kernel->facts.family, "dequantize") == 0;
    if (dequantizes) {
        *pending = (struct pending){.what = WHAT_DEQUANTIZE,
                                    .type = library_of(ta_trace_text(w->trace, kernel->name)),
                                    .op = a->op};
    } else if (((kernel->facts.kind == TA_KERNEL_ELEMENTWISE ||
                 kernel->facts.kind == TA_KERNEL_COPY) &&
                (unpack(w, a, pending) || scale(w, a, pending) || goes_on(w, a, pending))) ||
               (kernel->facts.kind == TA_KERNEL_COPY && begin_cast(w, a, pending))) {
        /* counted below */
    } else {
        const bool scales = pending->kernels && kernel->facts.kind == TA_KERNEL_ELEMENTWISE &&
                            pending->matrix.rows &&
                            is_same(matrix_in(text_of(w, &w->dims, a->op), 0), pending->matrix);
        if (pending->kernels && ++pending->age > AGE_MAX)
            pending->kernels = 0;
        if (!scales)
            return;
    }
    pending->kernels++;
    pending->end = start + dur;
    pending->total_ns = ta_add_sat(pending->total_ns, dur);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .kernels = ta_trace_kernels(trace),
                     .dims = ta_trace_args(trace, "Input Dims"),
                     .types = ta_trace_args(trace, "Input type"),
                     .out = out[0]};
    w.outward.parent = w.spans.parent;
    if (w.kernels.n == 0)
        return TA_OK;
    w.pending = calloc(ta_trace_tracks(trace).n + 1, sizeof *w.pending);
    if (!w.pending)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow streams");
    for (size_t i = 0; i < activities.n; i++)
        if (activities.at[i].kernel != TA_NO_KERNEL)
            look_at(&w, &activities.at[i]);
    free(w.pending);
    ta_outward_free(&w.outward);
    return TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    static const char *const whats[WHATS] = {"cast", "dequantize"};
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, casts, [WHAT] = ta_string(whats[row[WHAT]]),
               [TYPE] = ta_text(ta_partial_text(merged[0], row, TYPE)),
               [ROWS] = row[ROWS] ? ta_int(row[ROWS]) : ta_null(),
               [COLUMNS] = row[COLUMNS] ? ta_int(row[COLUMNS]) : ta_null(),
               [PLACE] = ta_text(ta_partial_text(merged[0], row, PLACE)),
               [CALLS] = ta_int(row[CALLS]), [KERNELS] = ta_int(row[KERNELS]),
               [TOTAL] = ta_int(row[TOTAL]), [GAP] = ta_int(row[GAP]));
    }
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", "Input type", NULL};
static const struct ta_bound bounds[] = {{0, WHAT, WHATS}, TA_BOUNDS_END};
static const struct ta_table_def *const tables[] = {&casts, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 11,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, weight_casts, &ops, .title = "Weights cast at each call",
          .summary = "Weights that are cast or dequantized before each GEMM: kernels.weight_casts",
          .version = "1");
