/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thousands of calls have the same arguments: their texts are read once. */
#include "lib/counted.h"

#include "base/vec.h"
#include "lib/call.h"

#include <stdlib.h>

/* ---- the arguments of an operator ---------------------------------------------------------- */

const char *const counting_args[] = {[ARG_DIMS] = "Input Dims",
                                     [ARG_TYPES] = "Input type",
                                     [ARG_VALUES] = "Concrete Inputs",
                                     [ARG_OLD_DIMS] = "Input dims", /* of older profilers */
                                     [ARGS] = NULL};

/* ---- work by the texts of a call ------------------------------------------------------------ */

const struct formula no_formula;

const struct formula *counting_look_up(struct counting *c, ta_str name)
{
    const struct formula *found = formula_find(ta_trace_text(c->trace, name));
    c->formulas[name] = found ? found : &no_formula;
    return c->formulas[name];
}

static enum lack read_texts(const struct counting *c, const struct counted *counted,
                            struct call *call)
{
    return call_read(text_or_empty(c->trace, counted->texts.dims),
                     text_or_empty(c->trace, counted->texts.types),
                     text_or_empty(c->trace, counted->texts.values), call);
}

static void count(struct counting *c, struct counted *counted)
{
    const struct formula *formula = counting_formula(c, counted->texts.name);
    struct call call;
    counted->lack = formula == &no_formula ? LACK_MODEL : read_texts(c, counted, &call);
    if (counted->lack == LACK_NOTHING)
        counted->lack = work_count(formula, &call, &counted->work);
}

static uint64_t step(struct counting *c, int level, uint64_t left, ta_str right)
{
    uint64_t *known = ta_map_at(&c->known[level], left << 32 | right, c->known[level].n);
    return known ? *known : 0;
}

/* The place of these texts among those counted; made when they are new. */
static size_t find_counted(struct counting *c, const struct texts *t)
{
    const uint64_t shape = step(c, 0, t->dims, t->types), call = step(c, 1, shape, t->values);
    const uint64_t index = step(c, 2, call, t->name);
    if (index < c->n)
        return index;
    if (!ta_vec_grow((void **)&c->at, &c->max, c->n, sizeof *c->at)) {
        c->failed = true;
        return SIZE_MAX;
    }
    c->at[c->n] = (struct counted){.texts = *t};
    count(c, &c->at[c->n]);
    return c->n++;
}

static bool same_texts(const struct texts *a, const struct texts *b)
{
    return a->name == b->name && a->dims == b->dims && a->types == b->types &&
           a->values == b->values;
}

/* The operator whose arguments count; TA_NO_ROW when it is not there. */
static ta_row arguments_of(struct counting *c, ta_row op)
{
    const char *around = counting_formula(c, c->spans.name[op])->around;
    const ta_row parent = c->spans.parent[op];
    if (!around)
        return op;
    return parent != TA_NO_ROW && ta_slice_equal(ta_trace_text(c->trace, c->spans.name[parent]),
                                                 ta_slice_of(around))
               ? parent
               : TA_NO_ROW;
}

size_t counting_of(struct counting *c, ta_row op)
{
    ta_str text[ARGS];
    size_t place = 0;
    const ta_row from = arguments_of(c, op);
    for (int i = 0; i < ARGS; i++) {
        const struct ta_args *args = &c->args[i];
        if (i == 0 || args->row != args[-1].row) /* mostly an operator has all or none */
            place = from == TA_NO_ROW ? SIZE_MAX : ta_args_place(args, from);
        text[i] = place < args->n && ta_args_is_text(args, place)
                      ? (ta_str)ta_args_value(args, place)
                      : TA_STR_ABSENT;
    }
    const struct texts t = (struct texts){
        .name = c->spans.name[op],
        .dims = text[ARG_DIMS] == TA_STR_ABSENT ? text[ARG_OLD_DIMS] : text[ARG_DIMS],
        .types = text[ARG_TYPES],
        .values = text[ARG_VALUES]};
    const uint32_t hash = (t.name * 31 + t.dims) * 31 + t.types * 7 + t.values;
    uint32_t *recent = &c->recent[hash % RECENT];
    if (*recent && same_texts(&c->at[*recent - 1].texts, &t))
        return *recent - 1;
    const size_t index = find_counted(c, &t);
    if (index != SIZE_MAX)
        *recent = (uint32_t)index + 1;
    return index;
}

/* ---- convolutions without strides ------------------------------------------------------------ */

/* What comes out of a call by the gradients of the same convolution; NULL when there are none, or
 * when it is used with several strides. */
static const struct operand *out_of(const struct formula *formula, const struct call *call,
                                    const struct conv_sizes *sizes, size_t n)
{
    const struct operand *out = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!conv_fits(formula, call, &sizes[i]))
            continue;
        if (out && out->elements != sizes[i].out.elements)
            return NULL;
        out = &sizes[i].out;
    }
    return out;
}

void counting_settle(struct counting *c)
{
    struct conv_sizes *sizes = NULL, one;
    struct call call;
    size_t n = 0, max = 0;
    for (size_t i = 0; i < c->n && !c->failed; i++) {
        const struct formula *formula = counting_formula(c, c->at[i].texts.name);
        if (!formula->around || c->at[i].lack != LACK_NOTHING ||
            read_texts(c, &c->at[i], &call) != LACK_NOTHING || !conv_sizes_of(formula, &call, &one))
            continue;
        c->failed = !ta_vec_grow((void **)&sizes, &max, n, sizeof *sizes);
        if (!c->failed)
            sizes[n++] = one;
    }
    for (size_t i = 0; n && i < c->n && !c->failed; i++) {
        struct counted *counted = &c->at[i];
        const struct formula *formula = counting_formula(c, counted->texts.name);
        if (counted->lack != LACK_ARGUMENTS || formula->class != WORK_CONV ||
            read_texts(c, counted, &call) != LACK_NOTHING)
            continue;
        const struct operand *out = out_of(formula, &call, sizes, n);
        if (out)
            counted->lack = conv_count_as(formula, &call, out, &counted->work);
    }
    free(sizes);
}

/* ---- begin and end --------------------------------------------------------------------------- */

void counting_begin(struct counting *c, const struct ta_trace *trace)
{
    c->trace = trace;
    c->spans = ta_trace_spans(trace);
    for (int i = 0; i < ARGS; i++)
        c->args[i] = ta_trace_args(trace, counting_args[i]);
    c->formulas = calloc(ta_trace_string_count(trace) + 1, sizeof *c->formulas);
    c->failed = !c->formulas;
}

bool counting_failed(const struct counting *c)
{
    return c->failed || c->known[0].failed || c->known[1].failed || c->known[2].failed;
}

void counting_end(struct counting *c)
{
    free(c->formulas);
    free(c->at);
    for (int i = 0; i < 3; i++)
        ta_map_free(&c->known[i]);
}
