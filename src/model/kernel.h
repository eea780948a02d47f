/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the name of a kernel says, and the words for it. */
#ifndef TA_MODEL_KERNEL_H
#define TA_MODEL_KERNEL_H

#include "traceanalyze/model.h"

enum ta_kernel_class ta_kernel_classify(struct ta_slice name);

/* "compute", "comm"; a constant. */
const char *ta_kernel_class_name(enum ta_kernel_class kernel_class);

/* Some microseconds: call it once per name, not per event. */
struct ta_kernel_facts ta_kernel_describe(struct ta_slice name);

/* The name as people say it: of a function of C++ without the type it returns, scopes and
 * parameters; other names as they are.  Writes at most `size` bytes, never more than the name has,
 * and gives their number; no zero after them. */
size_t ta_kernel_brief(struct ta_slice name, char *out, size_t size);

/* "fp32", "bf16", …, "unknown"; a constant. */
const char *ta_precision_name(enum ta_precision precision);

#endif
