/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts to read: traces that no writer would write, parts of real ones, and damaged ones. */
#ifndef TA_ORACLE_INPUTS_H
#define TA_ORACLE_INPUTS_H

#include "slow_reader.h"

/* How a synthetic trace is laid out; all of them are valid. */
enum form {
    FORM_KINETO, /* an object, four spaces and a break before each member */
    FORM_DENSE,  /* an object without any white space */
    FORM_INDENT, /* an object, indented by tabs, with CR LF */
    FORM_ARRAY,  /* a bare array */
    FORM_LINES,  /* one event per line, no array */
    FORM_RAGGED, /* an object, other white space at every place */
    FORM_MIXED,  /* an object, regular events with their keys in no order */
    FORM_COUNT
};

extern const char *const form_names[FORM_COUNT];

/* A trace of `n` events that hold everything JSON allows in places where it is not expected. */
void make_synthetic(struct text *out, uint64_t seed, enum form form, size_t n);

/* Parts of a trace as one trace: what stands before its first event, three runs of about `size`
 * bytes of events, and what stands behind the last one.  Empty when there is nothing to cut. */
void make_cutout(struct text *out, const char *text, size_t size, const struct slow_reading *slow,
                 size_t run);

/* Damages a text in one of a dozen ways; some of them leave it valid. */
void mutate(struct text *text, struct rng *rng);

#endif
