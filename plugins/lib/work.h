/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLOPs and bytes of a call of an operator, by formulas on its shapes.
 *
 * A multiplication and an addition are one FLOP each. Bytes count each tensor read or
 * written once, as with a perfect cache: no implementation can need fewer. */
#ifndef TA_LIB_WORK_H
#define TA_LIB_WORK_H

#include "lib/call.h"

enum work_class {
    WORK_GEMM,
    WORK_CONV,
    WORK_ATTENTION,
    WORK_NORM,
    WORK_SOFTMAX,
    WORK_ELEMENTWISE,
    WORK_REDUCE,
    WORK_COPY,
    WORK_TRITON,
    WORK_CLASSES
};

/* Words of the table. */
const char *work_class_name(enum work_class class);

/* Whether it is a product, which matrix units can do. */
static inline bool work_is_product(enum work_class class)
{
    return class <= WORK_ATTENTION;
}

enum { SHAPE_TEXT_MAX = 192 };

struct work {
    enum work_class class;
    int64_t flop; /* TA_MISSING: not known; 0: it computes nothing in floating point */
    int64_t bytes;
    const struct type *type; /* of what is computed on */
    char shape[SHAPE_TEXT_MAX];
};

struct formula;

typedef enum lack work_formula(const struct formula *formula, const struct call *call,
                               struct work *work);

/* Positions of arguments; -1: it has none. */
struct gemm_arguments {
    signed char a, b, bias, beta;
    signed char out_type, out; /* what gives the type of the result; else the type of a and b */
    bool b_is_transposed;      /* weights of a linear layer: N by K */
    bool is_grouped;           /* rows of a belong to matrices of b */
};

enum conv_kind {
    CONV_ANY,
    CONV_TRANSPOSED, /* without an argument that says so */
    CONV_DEPTHWISE,  /* likewise: as many groups as channels */
    CONV_INPUT_GRADIENT,
    CONV_WEIGHT_GRADIENT
};

struct conv_arguments {
    enum conv_kind kind;
    signed char input, weight, bias, stride, padding, dilation, transposed, output_padding, groups;
    signed char gradient, mask; /* backward: of the output, and which gradients are asked for */
};

/* Which keys a query may attend to when the lengths differ. */
enum causal_corner { CORNER_TOP_LEFT, CORNER_BOTTOM_RIGHT };

struct attention_arguments {
    signed char q;                                              /* k and v follow */
    signed char causal, mask_type, bias, window, queries, keys; /* the last two: lengths of each */
    bool heads_first; /* sizes are batch, heads, length, depth instead of batch, length, heads */
    enum causal_corner corner;
    bool is_backward;
};

/* What one pass over tensors does. */
struct pass_arguments {
    unsigned reads, writes; /* a bit per position; those that are no tensors count nothing */
    enum { RESULT_NONE, RESULT_FIRST, RESULT_BROADCAST, RESULT_REDUCED } result;
    enum { TYPE_SAME, TYPE_BOOL, TYPE_FLOAT } result_type;
    signed char dims; /* of a reduction */
    int flop;         /* per element of the largest tensor */
};

/* Positions of a mixture of experts. */
struct experts_arguments {
    signed char rows, first, second, choices; /* weights of both products; experts of each row */
};

struct formula {
    const char *name;
    enum work_class class;
    work_formula *count;
    union {
        struct gemm_arguments gemm;
        struct conv_arguments conv;
        struct attention_arguments attention;
        struct pass_arguments pass;
        struct experts_arguments experts;
    };
    const char *around; /* the operator right around it, whose arguments count; NULL: its own */
};

/* End with a NULL name. */
extern const struct formula gemm_formulas[], conv_formulas[], attention_formulas[], pass_formulas[];
/* Templates of the compiler ("triton_tem_…"). */
extern const struct formula template_gemm, template_conv;

/* The formula of an operator, NULL without one.  In-place forms ("aten::add_") have the
 * formula of the form that makes a new tensor. */
const struct formula *formula_find(struct ta_slice name);

enum lack work_count(const struct formula *formula, const struct call *call, struct work *work);

/* ---- convolutions without strides ----------------------------------------------------------- */

/* Older profilers record no strides; gradients show what comes out. */
struct conv_sizes {
    struct operand input, weight, out;
};

/* Those that a gradient shows; false for other calls. */
bool conv_sizes_of(const struct formula *formula, const struct call *call,
                   struct conv_sizes *sizes);
/* Whether a call is one with this input and weight, and lacks nothing but what comes out. */
bool conv_fits(const struct formula *formula, const struct call *call,
               const struct conv_sizes *sizes);
enum lack conv_count_as(const struct formula *formula, const struct call *call,
                        const struct operand *out, struct work *work);

/* ---- sizes --------------------------------------------------------------------------------- */

/* Of a call of attention: the longest sequences, whatever a mask leaves of them. */
struct attention_sizes {
    int64_t batch, heads, queries, keys, depth;
};

/* False for calls of other formulas, and where shapes do not say it. */
bool attention_sizes_of(const struct formula *formula, const struct call *call,
                        struct attention_sizes *sizes);
/* Of an operator without formula that is named after attention: its first three tensors. */
bool attention_sizes_guess(const struct call *call, struct attention_sizes *sizes);

enum { SPACE_MAX = 3 };

/* Of a convolution: sizes in time, where it has three, and in space. */
struct conv_shape {
    size_t n;
    int64_t batch, in_channels, out_channels, in[SPACE_MAX], out[SPACE_MAX];
    bool is_told; /* the values of its arguments were recorded, else `out` is `in` */
};

/* False for other calls, gradients among them. */
bool conv_shape_of(const struct formula *formula, const struct call *call,
                   struct conv_shape *shape);

/* ---- for formulas -------------------------------------------------------------------------- */

/* Bytes of several operands; `lack` says the first that is missing. */
struct traffic {
    int64_t bytes;
    enum lack lack;
};

void traffic_add(struct traffic *traffic, int64_t elements, const struct type *type);
void traffic_operand(struct traffic *traffic, const struct operand *operand);

/* Ends a formula: refuses what does not fit into 64 bits. */
enum lack work_done(struct work *work, int64_t flop, const struct traffic *traffic);

/* printf after the text that is there. */
void shape_add(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "8x1024x32x32". */
void shape_dims(struct work *work, const struct operand *operand);

#endif
