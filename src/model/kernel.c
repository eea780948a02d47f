/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What names of kernels tell, by the table kernel_names.def.
 *
 * A name is folded to lower case once and its runs of three and four bytes are put into a small set
 * of bits.  A pattern whose first letters are not in the set cannot match, which settles nearly all
 * of the table without looking at the name again. */
#include "model/kernel.h"
#include "traceanalyze/model.h"

#include <pthread.h>
#include <stdlib.h>

enum { SET_BITS = 32768, RUN = 4, SHORT_RUN = 3, FOLDED_MAX = 4096 };

/* A name as patterns see it. */
struct name {
    const char *text; /* lower case */
    size_t n;
    uint64_t runs[SET_BITS / 64];
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static uint32_t hash(uint32_t run)
{
    return (run * UINT32_C(2654435761)) >> 17;
}

/* Of four bytes, and of three. */
static uint32_t run_hash(const char *text)
{
    uint32_t run;
    memcpy(&run, text, RUN);
    return hash(run);
}

static uint32_t short_hash(const char *text)
{
    uint32_t run = 0;
    memcpy(&run, text, SHORT_RUN);
    return hash(run);
}

static void index_run(struct name *name, uint32_t h)
{
    name->runs[h / 64] |= UINT64_C(1) << (h % 64);
}

/* ---- patterns ------------------------------------------------------------------------------ */

static bool is_mark(char c)
{
    return c == '*' || c == '~' || c == '$' || c == '\0';
}

static size_t literal_length(const char *pattern)
{
    size_t n = 0;
    while (!is_mark(pattern[n]))
        n++;
    return n;
}

/* Place of `what` in the name within [from, end), or SIZE_MAX. */
static size_t find(const struct name *name, size_t from, size_t end, const char *what, size_t n)
{
    const char *at = from + n <= end ? memmem(name->text + from, end - from, what, n) : NULL;
    return at ? (size_t)(at - name->text) : SIZE_MAX;
}

static size_t word_end(const struct name *name, size_t at)
{
    while (at < name->n && is_word(name->text[at]))
        at++;
    return at;
}

/* Matches what follows the first literal, which ends at `at`: the leftmost place of each further
 * literal is as good as any other. */
static bool rest_matches(const struct name *name, const char *pattern, size_t at)
{
    while (*pattern == '*' || *pattern == '~') {
        const size_t end = *pattern == '*' ? name->n : word_end(name, at);
        const size_t n = literal_length(++pattern);
        at = find(name, at, end, pattern, n);
        if (at == SIZE_MAX)
            return false;
        at += n;
        pattern += n;
    }
    return *pattern != '$' || at == name->n;
}

static bool matches_one(const struct name *name, const char *pattern)
{
    const bool first = *pattern == '^', apart = *pattern == '@';
    pattern += first || apart;
    const size_t n = literal_length(pattern);
    if (first)
        return n <= name->n && memcmp(name->text, pattern, n) == 0 &&
               rest_matches(name, pattern + n, n);
    for (size_t at = find(name, 0, name->n, pattern, n); at != SIZE_MAX;) {
        if ((!apart || at == 0 || !is_letter(name->text[at - 1])) &&
            rest_matches(name, pattern + n, at + n))
            return true;
        if (pattern[n] == '*') /* what is not found after this place is not after a later one */
            return false;
        const size_t next = pattern[n] == '~' ? word_end(name, at + n) : at + 1;
        at = find(name, next, name->n, pattern, n);
    }
    return false;
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Each table takes its own rows of the file. */

#define COMM(...) __VA_ARGS__,
#define KERNEL(...)
#define EVIDENCE(...)
static const char *const collectives[] = {
#include "model/kernel_names.def"
    NULL};
#undef COMM
#undef KERNEL
#undef EVIDENCE

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

#define KIND_GEMM TA_KERNEL_GEMM
#define KIND_ATTENTION TA_KERNEL_ATTENTION
#define KIND_CONV TA_KERNEL_CONV
#define KIND_NORM TA_KERNEL_NORM
#define KIND_SOFTMAX TA_KERNEL_SOFTMAX
#define KIND_ELEMENTWISE TA_KERNEL_ELEMENTWISE
#define KIND_COPY TA_KERNEL_COPY
#define KIND_REDUCE TA_KERNEL_REDUCE
#define KIND_INDEX TA_KERNEL_INDEX
#define KIND_RANDOM TA_KERNEL_RANDOM
#define KIND_QUANT TA_KERNEL_QUANT
#define KIND_TRITON TA_KERNEL_TRITON
#define KIND_COMM TA_KERNEL_COLLECTIVE
#define KIND_OTHER TA_KERNEL_OTHER

#define COMM(...)
#define KERNEL(kind, family, matrix, precision, ...)                                               \
    {KIND_##kind, TA_MATRIX_##matrix, TA_PRECISION_##precision, family, LIST(__VA_ARGS__)},
#define EVIDENCE(...)
static const struct row {
    enum ta_kernel_kind kind;
    enum ta_matrix_unit matrix;
    enum ta_precision precision;
    const char *family;
    const char *const *patterns;
} kernels[] = {
#include "model/kernel_names.def"
};
#undef KERNEL
#undef EVIDENCE

#define TA_PRECISION_UNTOLD TA_PRECISION_COUNT /* settles that the name does not tell */
#define KERNEL(...)
#define EVIDENCE(matrix, precision, ...)                                                           \
    {TA_MATRIX_##matrix, TA_PRECISION_##precision, LIST(__VA_ARGS__)},
static const struct {
    enum ta_matrix_unit matrix;
    enum ta_precision precision;
    const char *const *patterns;
} evidence[] = {
#include "model/kernel_names.def"
};

#undef COMM
#undef KERNEL
#undef EVIDENCE

/* ---- looking it up ------------------------------------------------------------------------- */

#define COUNT(...) +sizeof LIST(__VA_ARGS__) / sizeof(char *) - 1
#define COMM(...) COUNT(__VA_ARGS__)
#define KERNEL(kind, family, matrix, precision, ...) COUNT(__VA_ARGS__)
#define EVIDENCE(matrix, precision, ...) COUNT(__VA_ARGS__)
enum {
    N_PATTERNS = 0
#include "model/kernel_names.def"
};
#undef COMM
#undef KERNEL
#undef EVIDENCE

enum {
    N_KERNELS = sizeof kernels / sizeof *kernels,
    N_EVIDENCE = sizeof evidence / sizeof *evidence,
    N_ROWS = 1 + N_KERNELS + N_EVIDENCE,
    ANY_RUN = SET_BITS, /* of a pattern that begins with fewer letters */
};

/* The first letters of all patterns, hashed: the collectives, and row after row after them. */
static struct {
    pthread_once_t once;
    uint16_t first[N_ROWS]; /* pattern of each row */
    uint16_t run[N_PATTERNS];
    size_t n;
} begins = {.once = PTHREAD_ONCE_INIT};

static void hash_row(size_t row, const char *const *patterns)
{
    begins.first[row] = (uint16_t)begins.n;
    for (; *patterns; patterns++) {
        const char *pattern = *patterns + (**patterns == '^' || **patterns == '@');
        const size_t n = literal_length(pattern);
        begins.run[begins.n++] = (uint16_t)(n >= RUN         ? run_hash(pattern)
                                            : n == SHORT_RUN ? short_hash(pattern)
                                                             : ANY_RUN);
    }
}

static void hash_begins(void)
{
    hash_row(0, collectives);
    for (size_t i = 0; i < N_KERNELS; i++)
        hash_row(1 + i, kernels[i].patterns);
    for (size_t i = 0; i < N_EVIDENCE; i++)
        hash_row(1 + N_KERNELS + i, evidence[i].patterns);
}

/* Whether one of the patterns of a row matches; those that the name has no first letters of are not
 * looked at. */
static bool matches(const struct name *name, size_t row, const char *const *patterns)
{
    const uint16_t *run = begins.run + begins.first[row];
    for (size_t i = 0; patterns[i]; i++)
        if ((run[i] == ANY_RUN || (name->runs[run[i] / 64] >> (run[i] % 64) & 1)) &&
            matches_one(name, patterns[i]))
            return true;
    return false;
}

static bool is_collective(const struct name *name)
{
    return matches(name, 0, collectives);
}

static struct ta_kernel_facts describe(const struct name *name)
{
    struct ta_kernel_facts facts = {.kind = TA_KERNEL_OTHER, .family = ""};
    if (is_collective(name))
        return (struct ta_kernel_facts){TA_KERNEL_COMM, TA_KERNEL_COLLECTIVE, "",
                                        true,           TA_MATRIX_ANY,        TA_PRECISION_ANY};
    for (size_t i = 0; i < N_KERNELS; i++) {
        const struct row *row = &kernels[i];
        if (!matches(name, 1 + i, row->patterns))
            continue;
        facts = (struct ta_kernel_facts){TA_KERNEL_COMPUTE, row->kind,     row->family, true,
                                         row->matrix,       row->precision};
        break;
    }
    if (facts.kind == TA_KERNEL_GEMM || facts.kind == TA_KERNEL_CONV ||
        facts.kind == TA_KERNEL_ATTENTION) {
        for (size_t i = 0; i < N_EVIDENCE; i++) {
            const bool tells = (facts.matrix == TA_MATRIX_ANY && evidence[i].matrix) ||
                               (facts.precision == TA_PRECISION_ANY && evidence[i].precision);
            if (!tells || !matches(name, 1 + N_KERNELS + i, evidence[i].patterns))
                continue;
            if (facts.matrix == TA_MATRIX_ANY)
                facts.matrix = evidence[i].matrix;
            if (facts.precision == TA_PRECISION_ANY)
                facts.precision = evidence[i].precision;
        }
        if (facts.precision == TA_PRECISION_UNTOLD)
            facts.precision = TA_PRECISION_ANY;
    }
    return facts;
}

/* ---- public -------------------------------------------------------------------------------- */

/* Folds the name into `buffer`, or into memory of its own that is returned to be freed; a name for
 * which there is none is looked at as far as the buffer goes. */
static char *fold(struct ta_slice text, char buffer[FOLDED_MAX], struct name *name)
{
    char *own = text.len > FOLDED_MAX ? malloc(text.len) : NULL;
    char *folded = own ? own : buffer;
    name->n = own || text.len <= FOLDED_MAX ? text.len : FOLDED_MAX;
    for (size_t i = 0; i < name->n; i++) {
        const char c = text.ptr[i];
        folded[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    name->text = folded;
    memset(name->runs, 0, sizeof name->runs);
    for (size_t i = 0; i + SHORT_RUN <= name->n; i++) {
        index_run(name, short_hash(name->text + i));
        if (i + RUN <= name->n)
            index_run(name, run_hash(name->text + i));
    }
    pthread_once(&begins.once, hash_begins);
    return own;
}

enum ta_kernel_class ta_kernel_classify(struct ta_slice text)
{
    char buffer[FOLDED_MAX];
    struct name name;
    char *own = fold(text, buffer, &name);
    const bool comm = is_collective(&name);
    free(own);
    return comm ? TA_KERNEL_COMM : TA_KERNEL_COMPUTE;
}

struct ta_kernel_facts ta_kernel_describe(struct ta_slice text)
{
    char buffer[FOLDED_MAX];
    struct name name;
    char *own = fold(text, buffer, &name);
    const struct ta_kernel_facts facts = describe(&name);
    free(own);
    return facts;
}

const char *ta_kernel_class_name(enum ta_kernel_class kernel_class)
{
    static const char *const class_names[TA_KERNEL_CLASS_COUNT] = {
        [TA_KERNEL_COMPUTE] = "compute",
        [TA_KERNEL_COMM] = "comm",
    };
    return class_names[kernel_class];
}

const char *ta_kernel_kind_name(enum ta_kernel_kind kind)
{
    static const char *const names[TA_KERNEL_KIND_COUNT] = {
        [TA_KERNEL_GEMM] = "gemm",       [TA_KERNEL_ATTENTION] = "attention",
        [TA_KERNEL_CONV] = "conv",       [TA_KERNEL_NORM] = "norm",
        [TA_KERNEL_SOFTMAX] = "softmax", [TA_KERNEL_ELEMENTWISE] = "elementwise",
        [TA_KERNEL_COPY] = "copy",       [TA_KERNEL_REDUCE] = "reduce",
        [TA_KERNEL_INDEX] = "index",     [TA_KERNEL_RANDOM] = "random",
        [TA_KERNEL_QUANT] = "quant",     [TA_KERNEL_TRITON] = "triton",
        [TA_KERNEL_COLLECTIVE] = "comm", [TA_KERNEL_OTHER] = "other",
    };
    return names[kind];
}

const char *ta_precision_name(enum ta_precision precision)
{
    static const char *const names[TA_PRECISION_COUNT] = {
        [TA_PRECISION_ANY] = "unknown", [TA_PRECISION_FP64] = "fp64", [TA_PRECISION_FP32] = "fp32",
        [TA_PRECISION_TF32] = "tf32",   [TA_PRECISION_FP16] = "fp16", [TA_PRECISION_BF16] = "bf16",
        [TA_PRECISION_FP8] = "fp8",     [TA_PRECISION_INT8] = "int8", [TA_PRECISION_FP4] = "fp4",
    };
    return names[precision];
}
