/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of collectives by their names, whoever writes them: torch ("_allgather_base",
 * "nccl:all_to_all"), kernels of NCCL and RCCL ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), of
 * symmetric memory ("multimem_all_reduce_kernel"), HCCL ("hcom_allReduce__231_0"). */
#include "ranks/stage.h"

#include <ctype.h>
#include <strings.h>

/* Letters alone, in lower case; the first that a name holds counts. */
static const struct {
    const char *text;
    enum ta_coll_kind kind;
} patterns[] = {
    {"reducescatter", TA_COLL_REDUCE_SCATTER},
    {"allreduce", TA_COLL_ALLREDUCE},
    {"crossdevicereduce", TA_COLL_ALLREDUCE},
    {"allgather", TA_COLL_ALLGATHER},
    {"alltoallv", TA_COLL_ALL_TO_ALLV},
    {"alltoall", TA_COLL_ALL_TO_ALL},
    {"deepep", TA_COLL_ALL_TO_ALLV},
    {"barrier", TA_COLL_BARRIER},
    {"broadcast", TA_COLL_BROADCAST},
    {"sendrecv", TA_COLL_SENDRECV},
    {"send", TA_COLL_SEND},
    {"recv", TA_COLL_RECV},
    {"receive", TA_COLL_RECV},
    {"gather", TA_COLL_GATHER},
    {"scatter", TA_COLL_SCATTER},
    {"reduce", TA_COLL_REDUCE},
};

static const char *const kind_names[TA_COLL_KINDS] = {
    [TA_COLL_ALLREDUCE] = "allreduce",
    [TA_COLL_ALLGATHER] = "allgather",
    [TA_COLL_REDUCE_SCATTER] = "reduce_scatter",
    [TA_COLL_ALL_TO_ALL] = "all_to_all",
    [TA_COLL_ALL_TO_ALLV] = "all_to_allv",
    [TA_COLL_BARRIER] = "barrier",
    [TA_COLL_BROADCAST] = "broadcast",
    [TA_COLL_REDUCE] = "reduce",
    [TA_COLL_GATHER] = "gather",
    [TA_COLL_SCATTER] = "scatter",
    [TA_COLL_SENDRECV] = "sendrecv",
    [TA_COLL_SEND] = "send",
    [TA_COLL_RECV] = "recv",
    [TA_COLL_OTHER] = "collective",
};

const char *ta_coll_kind_name(enum ta_coll_kind kind)
{
    return kind_names[kind];
}

enum { LETTERS = 160 }; /* of a name; parameters of a template follow */

enum ta_coll_kind ta_coll_kind_of(struct ta_slice name)
{
    char letters[LETTERS];
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < LETTERS - 1; i++)
        if (isalpha((unsigned char)name.ptr[i]))
            letters[n++] = (char)tolower((unsigned char)name.ptr[i]);
    letters[n] = '\0';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strstr(letters, patterns[i].text))
            return patterns[i].kind;
    return TA_COLL_OTHER;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Names of torch's types, in records ("BFloat16") and in shapes ("c10::BFloat16", "float"). */
static const struct {
    const char *name;
    int bytes;
} types[] = {
    {"float", 4},        {"bfloat16", 2},
    {"half", 2},         {"float16", 2},
    {"float32", 4},      {"float64", 8},
    {"double", 8},       {"int", 4},
    {"int32", 4},        {"long", 8},
    {"int64", 8},        {"long int", 8},
    {"short", 2},        {"int16", 2},
    {"char", 1},         {"int8", 1},
    {"signed char", 1},  {"byte", 1},
    {"uint8", 1},        {"unsigned char", 1},
    {"bool", 1},         {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},  {"float8_e4m3fnuz", 1},
    {"complexfloat", 8}, {"float8_e5m2fnuz", 1},
};

static int type_bytes(struct ta_slice dtype)
{
    if (dtype.len > 5 && ta_slice_starts(dtype, "c10::"))
        dtype = ta_slice_from(dtype, 5);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == dtype.len &&
            strncasecmp(types[i].name, dtype.ptr, dtype.len) == 0)
            return types[i].bytes;
    return 0;
}

int64_t ta_coll_bytes(enum ta_coll_kind kind, int64_t in, int64_t out, struct ta_slice dtype)
{
    const int64_t elements = kind == TA_COLL_REDUCE_SCATTER ? in
                             : kind == TA_COLL_ALLGATHER    ? out
                                                            : ta_max_i64(in, out);
    const int bytes = type_bytes(dtype);
    int64_t product;
    if (bytes == 0 || elements < 0 || __builtin_mul_overflow(elements, bytes, &product))
        return TA_MISSING;
    return product;
}

double ta_coll_bus_factor(enum ta_coll_kind kind, int64_t n)
{
    const double ranks = (double)n;
    switch (kind) {
    case TA_COLL_ALLREDUCE:
        return 2 * (ranks - 1) / ranks;
    case TA_COLL_ALLGATHER:
    case TA_COLL_REDUCE_SCATTER:
    case TA_COLL_ALL_TO_ALL:
    case TA_COLL_ALL_TO_ALLV:
        return (ranks - 1) / ranks;
    default:
        return 1;
    }
}
