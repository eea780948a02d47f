/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.weights: parameters of the models of a diffusion program, by the shapes of what its calls
 * multiply with, and the FLOPs of a call.
 *
 * A forward uses each weight of a product once, so the weights of all products in one call are the
 * parameters of the model, but for embeddings, norms and biases.  Which operand is the weight says
 * the formula of the operator; a batched product has none. */
#include "base/vec.h"
#include "lib/counted.h"
#include "lib/modules.h"
#include "lib/outward.h"
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { RANK, PHASE, MODEL, TYPE, CALLS, PARAMETERS, BYTES, MFLOP, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},   [PHASE] = {"phase", TA_FIELD_INT},
    [MODEL] = {"model", TA_FIELD_TEXT}, [TYPE] = {"type", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},  [PARAMETERS] = {"parameters", TA_FIELD_MAX},
    [BYTES] = {"bytes", TA_FIELD_MAX},  [MFLOP] = {"mflop", TA_FIELD_MAX},
};

static const struct ta_partial_def partials[] = {{"models", fields, FIELDS}, {0}};

static const struct ta_column weights_columns[FIELDS] = {
    [RANK] = TA_RANK_COLUMN,
    [PHASE] = {"phase", "Phase", TA_TEXT, .doc = "Phase of the program in which the model runs"},
    [MODEL] = {"model", "Model", TA_TEXT, .doc = "Module, range or function that is called"},
    [TYPE] = {"type", "Type", TA_TEXT, .doc = "Data type of the weights, as multiplied"},
    [CALLS] = {"calls", "Calls", TA_COUNT,
               .doc = "Calls of the model that multiply weights of this type"},
    [PARAMETERS] = {"parameters", "Parameters", TA_COUNT,
                    .doc = "Weight elements that a call multiplies or convolves with, in the call "
                           "with the most; without embeddings, norms and biases. For a model split "
                           "over ranks, the part of this rank"},
    [BYTES] = {"bytes", "Weights", TA_BYTES, .better = TA_LOWER,
               .doc = "Bytes of these weight elements"},
    [MFLOP] = {"mflop", "MFLOP per call", TA_NUMBER, .better = TA_LOWER,
               .doc =
                   "Millions of floating-point operations of a call's matmuls, convolutions and "
                   "attention, as far as their arguments are recorded, in the call with the most"},
};

static const struct ta_table_def weights = {
    "models.weights",
    "Model weights",
    TA_COLUMNS(weights_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per rank, model of a diffusion program and data type, if shapes are recorded.",
    .rank_words = "Model"};

/* What a kind of call multiplies with. */
struct weight {
    int64_t elements, bytes;
};

/* Sums of one call of a model, of one type. */
struct sum {
    const struct type *type;
    int64_t elements, bytes, flop;
};

enum { TYPES_MOST = 8 };

struct walk {
    const struct ta_trace *trace;
    const struct ta_generation *found;
    struct ta_spans spans;
    struct ta_activities activities;
    struct counting counting;
    struct ta_outward outward;
    TA_VEC(struct weight) known;    /* of each kind of call */
    uint8_t *seen;                  /* a bit per span */
    struct sum (*sums)[TYPES_MOST]; /* of each call of a model */
    bool failed;
};

static bool is_product(void *user, ta_row row)
{
    struct walk *w = user;
    const struct formula *formula = counting_formula(&w->counting, w->spans.name[row]);
    return formula != &no_formula && work_is_product(formula->class);
}

/* ---- weights --------------------------------------------------------------------------------- */

static struct weight weight_of(const struct walk *w, size_t index)
{
    const struct counted *counted = &w->counting.at[index];
    const struct formula *formula = formula_find(ta_trace_text(w->trace, counted->texts.name));
    struct call call;
    if (!formula || counted->lack != LACK_NOTHING ||
        call_read(text_or_empty(w->trace, counted->texts.dims),
                  text_or_empty(w->trace, counted->texts.types),
                  text_or_empty(w->trace, counted->texts.values), &call) != LACK_NOTHING)
        return (struct weight){0};
    const int at = formula->class == WORK_GEMM   ? formula->gemm.b
                   : formula->class == WORK_CONV ? formula->conv.weight
                                                 : -1;
    if (!has_tensor(&call, at) || !call.at[at].type || call.at[at].elements < 0 ||
        (formula->class == WORK_GEMM && call.at[at].rank != 2))
        return (struct weight){0};
    const struct operand *operand = &call.at[at];
    return (struct weight){operand->elements, times(operand->elements, operand->type->bytes)};
}

/* NULL without memory. */
static const struct weight *find_weight(struct walk *w, size_t index)
{
    while (w->known.n <= index)
        if (!ta_vec_push(&w->known, weight_of(w, w->known.n)))
            return NULL;
    return &w->known.at[index];
}

static struct sum *sum_of(struct walk *w, uint32_t call, const struct type *type)
{
    for (size_t i = 0; i < TYPES_MOST; i++) {
        struct sum *sum = &w->sums[call][i];
        if (!sum->type)
            sum->type = type;
        if (sum->type == type)
            return sum;
    }
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The nearest operator whose work is known, from a row outwards; TA_NO_ROW without one. */
static ta_row owner_of(struct walk *w, ta_row row, size_t *index)
{
    for (;; row = w->spans.parent[row]) {
        row = ta_outward_find(&w->outward, row, is_product, w);
        if (row == TA_NO_ROW)
            return row;
        *index = counting_of(&w->counting, row);
        w->failed |= *index == SIZE_MAX;
        if (w->failed || w->counting.at[*index].lack == LACK_NOTHING)
            return w->failed ? TA_NO_ROW : row;
    }
}

static void add_activity(struct walk *w, size_t i)
{
    const struct ta_activity *a = &w->activities.at[i];
    const uint32_t call = w->found->call_of[i];
    if (call == UINT32_MAX || a->kernel == TA_NO_KERNEL || a->op == TA_NO_ROW)
        return;
    size_t index;
    const ta_row op = owner_of(w, a->op, &index);
    if (op == TA_NO_ROW || w->seen[op / 8] >> op % 8 & 1)
        return;
    w->seen[op / 8] |= (uint8_t)(1U << op % 8);
    const struct weight *weight = find_weight(w, index);
    const struct work *work = &w->counting.at[index].work;
    struct sum *sum = weight && work->type ? sum_of(w, call, work->type) : NULL;
    w->failed |= !weight;
    if (!sum)
        return;
    sum->elements = ta_add_sat(sum->elements, weight->elements);
    sum->bytes = ta_add_sat(sum->bytes, weight->bytes > 0 ? weight->bytes : 0);
    sum->flop = ta_add_sat(sum->flop, work->flop > 0 ? work->flop : 0);
}

static struct ta_slice name_of(const struct walk *w, const struct ta_generation_call *call)
{
    if (call->mark == TA_NO_ROW)
        return TA_LIT("");
    const struct ta_slice name = ta_trace_text(w->trace, w->spans.name[call->mark]);
    return ta_is_module(name) ? ta_module_name(name) : name;
}

static void add_calls(const struct walk *w, struct ta_partial *out)
{
    for (size_t i = 0; i < w->found->n_calls; i++) {
        const struct ta_generation_call *call = &w->found->calls[i];
        for (size_t k = 0; k < TYPES_MOST && w->sums[i][k].type; k++) {
            const struct sum *sum = &w->sums[i][k];
            int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)),
                                          ta_key_int(call->phase), ta_key_text(name_of(w, call)),
                                          ta_key_text(ta_slice_of(sum->type->name)));
            ta_sum(&row[CALLS], 1);
            ta_most(&row[PARAMETERS], sum->elements);
            ta_most(&row[BYTES], sum->bytes);
            ta_most(&row[MFLOP], sum->flop / 1000000);
        }
    }
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    if (found && (found->n_calls == 0 || !found->call_of))
        return TA_OK;
    struct walk *w = found ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot count weights");
    *w = (struct walk){.trace = trace,
                       .found = found,
                       .spans = ta_trace_spans(trace),
                       .activities = ta_trace_activities(trace),
                       .seen = calloc(ta_trace_spans(trace).n / 8 + 1, 1),
                       .sums = calloc(found->n_calls, sizeof *w->sums)};
    w->outward.parent = w->spans.parent;
    counting_begin(&w->counting, trace);
    w->failed = !w->seen || !w->sums || w->counting.failed;
    for (size_t i = 0; i < w->activities.n && !w->failed; i++)
        add_activity(w, i);
    w->failed |= counting_failed(&w->counting);
    if (!w->failed)
        add_calls(w, out[0]);
    const bool done = !w->failed;
    counting_end(&w->counting);
    ta_outward_free(&w->outward);
    free(w->known.at);
    free(w->seen);
    free(w->sums);
    free(w);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot count weights");
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        struct ta_cell cells[FIELDS];
        for (size_t c = 0; c < FIELDS; c++)
            cells[c] = ta_int(row[c]);
        cells[PHASE] = ta_string(ta_generation_phase_names[row[PHASE]]);
        cells[MODEL] = ta_text_or_null(ta_partial_text(merged[0], row, MODEL));
        cells[TYPE] = ta_text(ta_partial_text(merged[0], row, TYPE));
        cells[MFLOP] = ta_num((double)row[MFLOP]);
        ta_add_row(ta_rows(out, &weights), cells);
    }
    return TA_OK;
}

/* Indices in the rows of saved summaries. */
static const struct ta_bound bounds[] = {{0, PHASE, TA_GENERATION_PHASES}, TA_BOUNDS_END};

static const struct ta_table_def *const tables[] = {&weights, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs_args = counting_args,
                                           .section = "models",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, model_weights, &ops, .title = "Weights of models",
          .summary = "Parameters of the models of a diffusion program, by shapes: models.weights",
          .version = "1");
