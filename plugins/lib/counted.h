/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of calls by the texts of their arguments: what was counted once is looked up. */
#ifndef TA_LIB_COUNTED_H
#define TA_LIB_COUNTED_H

#include "lib/work.h"

#include <traceanalyze/analysis.h>
#include <traceanalyze/base.h>

/* The arguments that the shapes, types and values of calls are read from. */
enum counted_arg { ARG_DIMS, ARG_TYPES, ARG_VALUES, ARG_OLD_DIMS, ARGS };
extern const char *const counting_args[];

/* Same name, shapes, types and values: the same work. */
struct texts {
    ta_str name, dims, types, values;
};

struct counted {
    struct texts texts;
    enum lack lack; /* LACK_NOTHING: `work` is known */
    struct work work;
};

enum { RECENT = 1024 };

struct counting {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_args args[ARGS];
    const struct formula **formulas; /* by name; NULL: not yet looked up */
    struct counted *at;
    size_t n, max;
    struct ta_map known[3];  /* texts → index, step by step */
    uint32_t recent[RECENT]; /* index + 1 by hash */
    bool failed;
};

/* `c` is zeroed; `failed` is set without memory. */
void counting_begin(struct counting *c, const struct ta_trace *trace);
void counting_end(struct counting *c);
bool counting_failed(const struct counting *c);

extern const struct formula no_formula;
const struct formula *counting_look_up(struct counting *c, ta_str name);

/* &no_formula without one. */
static inline const struct formula *counting_formula(struct counting *c, ta_str name)
{
    return c->formulas[name] ? c->formulas[name] : counting_look_up(c, name);
}

static inline struct ta_slice text_or_empty(const struct ta_trace *trace, ta_str text)
{
    return text == TA_STR_ABSENT ? (struct ta_slice){"", 0} : ta_trace_text(trace, text);
}

/* The index in `at` of the work of a call; SIZE_MAX without memory. */
size_t counting_of(struct counting *c, ta_row op);

/* When all calls are there: convolutions whose strides are not recorded are counted by what their
 * gradients show. */
void counting_settle(struct counting *c);

#endif
