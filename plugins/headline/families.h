/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of kernels in a sentence. */
#ifndef TA_HEADLINE_FAMILIES_H
#define TA_HEADLINE_FAMILIES_H

#include <traceanalyze/headline.h>

struct family {
    const char *class, *name;
};

static const struct family families[] = {
    {"gemm", "GEMMs"},          {"attention", "attention"},
    {"conv", "convolutions"},   {"triton", "compiled kernels"},
    {"norm", "norms"},          {"elementwise", "element-wise kernels"},
    {"reduce", "reductions"},   {"copy", "kernels that copy"},
    {"moe", "MoE kernels"},     {"quant", "quantization"},
    {"softmax", "softmax"},     {"index", "indexing"},
    {"embedding", "embeddings"}};

/* The family of a row of a table by class; NULL of a class that has no name. */
static inline const struct family *family_of(const struct ta_refs *in, size_t ref, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(families); i++)
        if (ta_ref_reads(in, ref, row, families[i].class))
            return &families[i];
    return NULL;
}

#endif
