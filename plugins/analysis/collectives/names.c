/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the names of collectives tell, whoever writes them: torch ("_allgather_base",
 * "nccl:all_to_all"), kernels of NCCL and RCCL ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), of
 * symmetric memory ("multimem_all_reduce_kernel"), HCCL ("hcom_allReduce__231_0"). */
#include "collectives.h"

#include <ctype.h>
#include <strings.h>

/* Letters alone, in lower case; the first that a name holds counts. */
static const struct {
    const char *text;
    enum coll_kind kind;
} patterns[] = {
    {"reducescatter", COLL_REDUCE_SCATTER},
    {"allreduce", COLL_ALLREDUCE},
    {"crossdevicereduce", COLL_ALLREDUCE},
    {"allgather", COLL_ALLGATHER},
    {"alltoallv", COLL_ALL_TO_ALLV},
    {"alltoall", COLL_ALL_TO_ALL},
    {"deepep", COLL_ALL_TO_ALLV},
    {"barrier", COLL_BARRIER},
    {"broadcast", COLL_BROADCAST},
    {"sendrecv", COLL_SENDRECV},
    {"send", COLL_SEND},
    {"recv", COLL_RECV},
    {"receive", COLL_RECV},
    {"gather", COLL_GATHER},
    {"scatter", COLL_SCATTER},
    {"reduce", COLL_REDUCE},
};

static const char *const kind_names[COLL_KINDS] = {
    [COLL_ALLREDUCE] = "allreduce",
    [COLL_ALLGATHER] = "allgather",
    [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_ALL_TO_ALL] = "all_to_all",
    [COLL_ALL_TO_ALLV] = "all_to_allv",
    [COLL_BARRIER] = "barrier",
    [COLL_BROADCAST] = "broadcast",
    [COLL_REDUCE] = "reduce",
    [COLL_GATHER] = "gather",
    [COLL_SCATTER] = "scatter",
    [COLL_SENDRECV] = "sendrecv",
    [COLL_SEND] = "send",
    [COLL_RECV] = "recv",
    [COLL_OTHER] = "collective",
};

const char *coll_kind_name(enum coll_kind kind)
{
    return kind_names[kind];
}

enum { LETTERS = 160 }; /* of a name; parameters of a template follow behind */

enum coll_kind coll_kind_of(struct ta_slice name)
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
    return COLL_OTHER;
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
    if (dtype.len > 5 && memcmp(dtype.ptr, "c10::", 5) == 0)
        dtype = ta_slice_from(dtype, 5);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == dtype.len &&
            strncasecmp(types[i].name, dtype.ptr, dtype.len) == 0)
            return types[i].bytes;
    return 0;
}

int64_t coll_bytes(enum coll_kind kind, int64_t in, int64_t out, struct ta_slice dtype)
{
    const int64_t elements = kind == COLL_REDUCE_SCATTER ? in
                             : kind == COLL_ALLGATHER    ? out
                                                         : ta_max_i64(in, out);
    const int bytes = type_bytes(dtype);
    int64_t product;
    if (bytes == 0 || elements < 0 || __builtin_mul_overflow(elements, bytes, &product))
        return TA_MISSING;
    return product;
}

double coll_bus_factor(enum coll_kind kind, int64_t n)
{
    const double ranks = (double)n;
    switch (kind) {
    case COLL_ALLREDUCE:
        return 2 * (ranks - 1) / ranks;
    case COLL_ALLGATHER:
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_TO_ALL:
    case COLL_ALL_TO_ALLV:
        return (ranks - 1) / ranks;
    default:
        return 1;
    }
}
