/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of kernels in a sentence. */
#ifndef TA_LIB_KERNEL_WORDS_H
#define TA_LIB_KERNEL_WORDS_H

#include <traceanalyze/headline.h>

struct ta_kernel_word {
    const char *class, *name;
};

static const struct ta_kernel_word ta_kernel_words[] = {
    {"gemm", "GEMMs"},          {"attention", "attention"},
    {"conv", "convolutions"},   {"triton", "compiled kernels"},
    {"norm", "norms"},          {"elementwise", "element-wise kernels"},
    {"reduce", "reductions"},   {"copy", "kernels that copy"},
    {"moe", "MoE kernels"},     {"quant", "quantization"},
    {"softmax", "softmax"},     {"index", "indexing"},
    {"embedding", "embeddings"}};

/* The family of a row of a table by class; NULL of a class that has no name. */
static inline const struct ta_kernel_word *ta_kernel_word_of(const struct ta_refs *in, size_t ref,
                                                             size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(ta_kernel_words); i++)
        if (ta_ref_reads(in, ref, row, ta_kernel_words[i].class))
            return &ta_kernel_words[i];
    return NULL;
}

#endif
