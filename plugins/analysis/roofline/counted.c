/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thousands of calls have the same arguments: their texts are read once. */
#include "counted.h"

#include "call.h"

#include <stdlib.h>

/* ---- the arguments of an operator ---------------------------------------------------------- */

const char *const counting_args[] = {"Input Dims", "Input dims", "Input type", "Concrete Inputs",
                                     NULL};

static ta_str text_near(struct finger *f, ta_row row)
{
    const struct ta_args *args = &f->args;
    size_t low = 0, high = args->n; /* the row is in [low, high) if it is there */
    if (args->n == 0)
        return TA_STR_ABSENT;
    size_t step = 1;
    if (args->row[f->at] <= row) {
        for (low = f->at; low + step < args->n && args->row[low + step] <= row; step *= 2)
            low += step;
        high = low + step < args->n ? low + step : args->n;
    } else {
        for (high = f->at; high > step && args->row[high - step] > row; step *= 2)
            high -= step;
        low = high > step ? high - step : 0;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(args->row[middle] <= row ? &low : &high) = middle;
    }
    f->at = low;
    return args->row[low] == row && ta_args_is_text(args, low) ? (ta_str)ta_args_value(args, low)
                                                               : TA_STR_ABSENT;
}

/* ---- work by the texts of a call ------------------------------------------------------------ */

const struct formula no_formula;

const struct formula *counting_look_up(struct counting *c, ta_str name)
{
    const struct formula *found = formula_find(ta_trace_text(c->trace, name));
    c->formulas[name] = found ? found : &no_formula;
    return c->formulas[name];
}

static void count(struct counting *c, struct counted *counted)
{
    struct call call;
    counted->lack = call_read(text_or_empty(c->trace, counted->texts.dims),
                              text_or_empty(c->trace, counted->texts.types),
                              text_or_empty(c->trace, counted->texts.values), &call);
    if (counted->lack == LACK_NOTHING)
        counted->lack = work_count(counting_formula(c, counted->texts.name), &call, &counted->work);
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
    if (c->n == c->max) {
        const size_t more = c->max ? 2 * c->max : 64;
        struct counted *grown = reallocarray(c->at, more, sizeof *grown);
        if (!grown) {
            c->failed = true;
            return SIZE_MAX;
        }
        c->at = grown;
        c->max = more;
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

size_t counting_of(struct counting *c, ta_row op)
{
    struct texts t = {c->spans.name[op], text_near(&c->dims, op), text_near(&c->types, op),
                      text_near(&c->values, op)};
    if (t.dims == TA_STR_ABSENT)
        t.dims = text_near(&c->old_dims, op);
    const uint32_t hash = (t.name * 31 + t.dims) * 31 + t.types * 7 + t.values;
    uint32_t *recent = &c->recent[hash % RECENT];
    if (*recent && same_texts(&c->at[*recent - 1].texts, &t))
        return *recent - 1;
    const size_t index = find_counted(c, &t);
    if (index != SIZE_MAX)
        *recent = (uint32_t)index + 1;
    return index;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void counting_begin(struct counting *c, const struct ta_trace *trace)
{
    c->trace = trace;
    c->spans = ta_trace_spans(trace);
    c->dims.args = ta_trace_args(trace, counting_args[0]);
    c->old_dims.args = ta_trace_args(trace, counting_args[1]);
    c->types.args = ta_trace_args(trace, counting_args[2]);
    c->values.args = ta_trace_args(trace, counting_args[3]);
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
