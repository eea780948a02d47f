/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call of an operator as the profiler records it: shapes, types and values of its arguments. */
#ifndef TA_LIB_CALL_H
#define TA_LIB_CALL_H

#include <traceanalyze/base.h>
#include <traceanalyze/model.h>

enum { OPERANDS_MAX = 32, DIMS_MAX = 8 };

/* Why the work of a call is not known. */
enum lack {
    LACK_NOTHING,
    LACK_OPERATOR,  /* the launch is not known, or is below no operator */
    LACK_GRAPH,     /* a graph launch: which operators it replays is not recorded */
    LACK_MODEL,     /* no formula for this operator */
    LACK_SHAPES,    /* none recorded */
    LACK_TYPES,     /* none recorded, or unknown ones */
    LACK_ARGUMENTS, /* strides and the like are needed and not recorded */
    LACK_LENGTHS,   /* of sequences that differ in length */
    LACK_SENSE,     /* shapes or arguments do not fit the operator: symbolic, negative, ragged */
    LACK_SIZE,      /* beyond 2^63 */
    LACK_INSIDE,    /* an operator inside it does the work and has a row */
    LACK_COUNT
};

const char *lack_name(enum lack lack);

/* ---- counts ------------------------------------------------------------------------------- */

/* Products and sums of shapes.  What does not fit is TOO_MUCH, and so is all that is made of it. */
#define TOO_MUCH INT64_C(-1)

static inline int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? TOO_MUCH : product;
}

static inline int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? TOO_MUCH : sum;
}

/* ---- types -------------------------------------------------------------------------------- */

struct type {
    const char *word;            /* as the profiler writes it */
    const char *name;            /* as the table shows it */
    int bytes;                   /* of an element; of two where `packed` is 2 */
    int packed;                  /* values in an element */
    enum ta_precision precision; /* TA_PRECISION_ANY for integers, truths and complex numbers */
    int order;                   /* of two types the higher one is the type of the result */
};

/* A type by the name of the table: "bf16". */
const struct type *type_named(const char *name);
/* The number of a type of PyTorch's ScalarType, as arguments have it. */
const struct type *type_numbered(int64_t number);
/* The type of the result of both; either may be NULL. */
const struct type *type_result(const struct type *a, const struct type *b);

/* ---- calls -------------------------------------------------------------------------------- */

enum operand_kind {
    NO_TENSOR,
    TENSOR,
    TENSOR_LIST, /* whose types are not recorded */
    NO_SENSE     /* neither numbers nor lists of them */
};

struct operand {
    enum operand_kind kind;
    size_t rank;
    int64_t dims[DIMS_MAX];
    int64_t elements;        /* of a tensor; may be TOO_MUCH */
    const struct type *type; /* NULL: not known */
};

struct call {
    size_t n;
    struct operand at[OPERANDS_MAX]; /* those beyond n are no tensors */
    bool has_values;
    struct ta_slice values[OPERANDS_MAX]; /* as written, without quotes; empty for tensors */
};

/* Takes the texts of "Input Dims", "Input type" and "Concrete Inputs"; the last may be empty.  The
 * texts may contain anything. */
enum lack call_read(struct ta_slice dims, struct ta_slice types, struct ta_slice values,
                    struct call *call);

/* Whether an operand is a tensor with at least one element. */
static inline bool has_tensor(const struct call *call, int at)
{
    return at >= 0 && call->at[at].kind == TENSOR && call->at[at].elements != 0;
}

/* Values of arguments; false when the text says something else, or nothing. */
bool value_integer(const struct call *call, int at, int64_t *value);
/* True, False; anything else is `otherwise`. */
bool value_truth(const struct call *call, int at, bool otherwise);
/* "[1, 1]" or "1": `n` numbers, a single one is used for all. */
bool value_list(const struct call *call, int at, size_t n, int64_t *numbers);

#endif
