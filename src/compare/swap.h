/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of a kind that were exchanged for others, with the work that this brought or took. */
#ifndef TA_COMPARE_SWAP_H
#define TA_COMPARE_SWAP_H

#include "compare/compare.h"

struct diff_swap {
    struct ta_slice kind;                /* "attention" */
    struct ta_slice name[TA_DIFF_SIDES]; /* its longest kernel */
    double ns[TA_DIFF_SIDES];            /* of all its kernels, per unit of work */
    int64_t calls[TA_DIFF_SIDES];
    struct ta_slice company; /* the kind that changed most with it; empty: none */
    double company_ns;       /* by which */
};

/* The exchange that changed most of the time, in either direction; false without any. */
bool diff_find_swap(const struct diff *diff, struct diff_swap *swap);

/* "qk_int8_sv_f16 instead of flash_fwd: its kernels take 5.00 µs more a call, and quantization
 * kernels take 19.0 ms more", of its kind. */
const char *diff_swap_text(struct diff *diff, const struct diff_swap *swap);

#endif
