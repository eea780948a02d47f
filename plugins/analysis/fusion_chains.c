/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fusion.chains: runs of elementwise, normalization and copy kernels over equally many elements on
 * one stream. Fused into one kernel, what one writes for the next need not go through memory.
 * fusion.kinds: what they are, by the operators in them, and in which module.
 *
 * Such kernels are bound by memory, so time stands for traffic. Each of k kernels moves two or
 * three tensors, of which k - 1 are written and read again: between 2(k - 1) of 3k parts of the
 * time (two inputs each) and k - 1 of k (one input each), plus the gaps between them. */
#include "lib/modules.h"
#include "lib/outward.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum {
    FIELD_CHAIN,
    FIELD_CHAINS,
    FIELD_KERNELS,
    FIELD_TOTAL,
    FIELD_GAP_NS,
    FIELD_LOW_NS,
    FIELD_HIGH_NS,
    FIELDS
};
enum { RANK, ALL_NS, RANK_FIELDS };
enum {
    KIND_WORD,
    KIND_PLACE,
    KIND_CHAINS,
    KIND_KERNELS,
    KIND_TOTAL,
    KIND_COPY,
    KIND_LOW,
    KIND_HIGH,
    KIND_FIELDS
};
enum { PART_CHAINS, PART_RANKS, PART_KINDS };

static const struct ta_field fields[FIELDS] = {
    [FIELD_CHAIN] = {"chain", TA_FIELD_TEXT},    [FIELD_CHAINS] = {"chains", TA_FIELD_SUM},
    [FIELD_KERNELS] = {"kernels", TA_FIELD_SUM}, [FIELD_TOTAL] = {"total_ns", TA_FIELD_SUM},
    [FIELD_GAP_NS] = {"gap_ns", TA_FIELD_SUM},   [FIELD_LOW_NS] = {"low_ns", TA_FIELD_SUM},
    [FIELD_HIGH_NS] = {"high_ns", TA_FIELD_SUM},
};

static const struct ta_field rank_fields[RANK_FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK}, [ALL_NS] = {"total_ns", TA_FIELD_SUM}};

static const struct ta_field kind_fields[KIND_FIELDS] = {
    [KIND_WORD] = {"kind", TA_FIELD_TEXT},        [KIND_PLACE] = {"place", TA_FIELD_TEXT},
    [KIND_CHAINS] = {"chains", TA_FIELD_SUM},     [KIND_KERNELS] = {"kernels", TA_FIELD_SUM},
    [KIND_TOTAL] = {"total_ns", TA_FIELD_SUM},    [KIND_COPY] = {"copy_ns", TA_FIELD_SUM},
    [KIND_LOW] = {"saving_low_ns", TA_FIELD_SUM}, [KIND_HIGH] = {"saving_high_ns", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {[PART_CHAINS] = {"chains", fields, FIELDS},
                                                 [PART_RANKS] = {"ranks", rank_fields, RANK_FIELDS},
                                                 [PART_KINDS] = {"kinds", kind_fields, KIND_FIELDS},
                                                 {0}};

enum { CHAIN, CHAINS, KERNELS, TOTAL, SHARE, GAP, SAVING_LOW, SAVING_HIGH };
static const struct ta_column by_chain_columns[] = {
    [CHAIN] = {"chain", "Chain", TA_TEXT,
               .doc = "The operators that launched the kernels, or the kernels, in order"},
    [CHAINS] = {"chains", "Chains", TA_COUNT, .better = TA_LOWER, .doc = "How often it ran"},
    [KERNELS] = {"kernels", "Kernels", TA_COUNT, .better = TA_LOWER,
                 .doc = "Kernels in all of them"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of durations, all ranks"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Total over the total of all kernels"},
    [GAP] = {"gap_ns", "Gaps", TA_NS, .better = TA_LOWER,
             .doc = "Time between kernels of a chain on their stream"},
    [SAVING_LOW] = {"saving_low_ns", "Saving from", TA_NS,
                    .doc =
                        "Time for what is written and read again, when each kernel has two inputs"},
    [SAVING_HIGH] = {"saving_high_ns", "Saving to", TA_NS,
                     .doc = "The same when each has one input, and the gaps"},
};

static const struct ta_table_def by_chain = {
    "fusion.chains",
    "Fusible kernel chains",
    TA_COLUMNS(by_chain_columns),
    .doc = "One row per sequence of operators: three or more elementwise, normalization or copy "
           "kernels over equally many elements, one after the other on a stream, with gaps "
           "below 100 µs; kernels of one call are one member. Elements are of the largest "
           "input of the operator; where no shapes were recorded any count, and without "
           "operators of one shape of launch. Kernels made by Inductor, batch and group "
           "norms, and what "
           "convolutions and GEMMs launch for themselves are no part of a chain, and calls of one "
           "operator over and over are none: they are a loop "
           "over tensors. The scalar `fusion_share` is their share of the kernel time; as a "
           "hint at what could be done it is not among the figures of a comparison.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_chain_columns[SAVING_HIGH], TA_DESCENDING}};

/* The columns are the fields of the partial. */
static const struct ta_column by_kind_columns[] = {
    [KIND_WORD] =
        {"kind", "Kind", TA_TEXT, .role = TA_KEY,
         .doc = "optimizer steps, RMSNorm or LayerNorm in pieces, norm and modulation, rotary "
                "embedding, GELU in pieces, SiLU and gate, GELU and gate, ReLU and "
                "addition, casts, or element-wise operators, by the operators of a chain"},
    [KIND_PLACE] = {"place", "Where", TA_TEXT, .role = TA_KEY,
                    .doc = "Class of the module around the chain, else the function of Python; "
                           "empty when neither was recorded"},
    [KIND_CHAINS] = {"chains", "Chains", TA_COUNT, .better = TA_LOWER, .doc = "How many ran"},
    [KIND_KERNELS] = {"kernels", "Kernels", TA_COUNT, .better = TA_LOWER,
                      .doc = "Kernels in all of them"},
    [KIND_TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
                    .doc = "Sum of durations, all ranks"},
    [KIND_COPY] = {"copy_ns", "Copy kernels", TA_NS, .better = TA_LOWER,
                   .doc = "Of that, kernels that only cast, copy or reorder"},
    [KIND_LOW] = {"saving_low_ns", "Saving from", TA_NS,
                  .doc = "The least that fusing saves, as for single chains"},
    [KIND_HIGH] = {"saving_high_ns", "Saving to", TA_NS,
                   .doc = "The most that fusing saves, as for single chains"},
};

static const struct ta_table_def by_kind = {
    "fusion.kinds",
    "Fusible chains by kind",
    TA_COLUMNS(by_kind_columns),
    .doc = "One row per kind of chain and place in the program.",
    .tier = TA_TIER_DETAIL,
    .order = {&by_kind_columns[KIND_TOTAL], TA_DESCENDING}};

/* ---- kinds --------------------------------------------------------------------------------- */

/* What names of operators, or of kernels without one, show. */
enum sign {
    SIGN_ADD = 1 << 0,
    SIGN_MUL = 1 << 1,
    SIGN_NORM = 1 << 2,
    SIGN_RSQRT = 1 << 3,
    SIGN_MEAN = 1 << 4,
    SIGN_POW = 1 << 5,
    SIGN_TANH = 1 << 6,
    SIGN_ERF = 1 << 7,
    SIGN_SILU = 1 << 8,
    SIGN_GELU = 1 << 9,
    SIGN_RELU = 1 << 10,
    SIGN_CAT = 1 << 11,
    SIGN_NEG = 1 << 12,
    SIGN_OPTIMIZER = 1 << 13,
    SIGN_COPY = 1 << 14,
    SIGN_COMPLEX = 1 << 15,
    SIGN_ENDS = 1 << 16, /* it is no member of a chain */
    SIGN_KNOWN = 1 << 17,
    SIGN_BITS = 1 << 18,
    SIGN_SHIFT = 1 << 19,
    SIGN_VARIANCE = 1 << 20
};

static unsigned signs_in(struct ta_slice name)
{
    static const struct {
        const char *part;
        unsigned sign;
    } parts[] = {
        {"add", SIGN_ADD},
        {"mul", SIGN_MUL},
        {"layer_norm", SIGN_NORM},
        {"rms_norm", SIGN_NORM},
        {"LayerNorm", SIGN_NORM},
        {"layernorm", SIGN_NORM},
        {"rsqrt", SIGN_RSQRT},
        {"mean", SIGN_MEAN},
        {"aten::var", SIGN_VARIANCE},
        {"Welford", SIGN_VARIANCE},
        {"pow", SIGN_POW},
        {"tanh", SIGN_TANH},
        {"erf", SIGN_ERF},
        {"silu", SIGN_SILU},
        {"sigmoid", SIGN_SILU},
        {"gelu", SIGN_GELU},
        {"GeluCUDA", SIGN_GELU},
        {"relu", SIGN_RELU},
        {"clamp_min", SIGN_RELU},
        {"threshold", SIGN_RELU},
        {"cat", SIGN_CAT},
        {"Cat", SIGN_CAT},
        {"neg", SIGN_NEG},
        {"addcdiv", SIGN_OPTIMIZER},
        {"addcmul_", SIGN_OPTIMIZER},
        {"lerp", SIGN_OPTIMIZER},
        {"copy", SIGN_COPY},
        {"contiguous", SIGN_COPY},
        {"aten::to", SIGN_COPY},
        {"clone", SIGN_COPY},
        {"complex", SIGN_COMPLEX},
        {"polar", SIGN_COMPLEX},
        {"batch_norm", SIGN_ENDS},
        {"batchnorm", SIGN_ENDS},
        {"group_norm", SIGN_ENDS},
        {"groupnorm", SIGN_ENDS},
        {"conv", SIGN_ENDS},
        {"addmm", SIGN_ENDS},
        {"::mm", SIGN_ENDS},
        {"bmm", SIGN_ENDS},
        {"linear", SIGN_ENDS},
        {"matmul", SIGN_ENDS},
        {"attention", SIGN_ENDS},
        {"softmax", SIGN_ENDS},
        {"BatchNorm", SIGN_ENDS},
        {"GroupNorm", SIGN_ENDS},
        {"bitwise", SIGN_BITS},
        {"rshift", SIGN_SHIFT},
        {"right_shift", SIGN_SHIFT},
    };
    unsigned signs = SIGN_KNOWN;
    for (size_t i = 0; i < TA_LENGTH(parts); i++)
        if (memmem(name.ptr, name.len, parts[i].part, strlen(parts[i].part)))
            signs |= parts[i].sign;
    return signs;
}

/* What a chain is. `all`: signs of any member; `common`: of each of them. */
static const char *kind_of(unsigned all, unsigned common)
{
    static const struct {
        unsigned with, and_one_of;
        const char *kind;
    } kinds[] = {
        {SIGN_OPTIMIZER, 0, "optimizer steps"},
        {SIGN_VARIANCE, SIGN_RSQRT | SIGN_MUL, "LayerNorm in pieces"},
        {SIGN_RSQRT, SIGN_MEAN | SIGN_POW, "RMSNorm in pieces"},
        {SIGN_POW | SIGN_MEAN, 0, "RMSNorm in pieces"},
        {SIGN_TANH | SIGN_POW, 0, "GELU in pieces"},
        {SIGN_ERF | SIGN_MUL, 0, "GELU in pieces"},
        {SIGN_NORM, SIGN_MUL | SIGN_ADD, "norm and modulation"},
        {SIGN_SILU | SIGN_MUL, 0, "SiLU and gate"},
        {SIGN_GELU | SIGN_MUL, 0, "GELU and gate"},
        {SIGN_COMPLEX, 0, "rotary embedding"},
        {SIGN_MUL | SIGN_ADD, SIGN_CAT | SIGN_NEG, "rotary embedding"},
        {SIGN_RELU, 0, "ReLU and addition"},
    };
    if (common & SIGN_COPY)
        return "casts";
    for (size_t i = 0; i < TA_LENGTH(kinds); i++)
        if ((all & kinds[i].with) == kinds[i].with &&
            (!kinds[i].and_one_of || all & kinds[i].and_one_of))
            return kinds[i].kind;
    return "element-wise operators";
}

/* ---- elements ------------------------------------------------------------------------------ */

/* Elements of the largest tensor in "[[8, 4096, 2048], [2048], []]"; 0 without one. */
static int64_t largest_tensor(struct ta_slice dims)
{
    int64_t most = 0, elements = 1;
    bool any = false;
    for (size_t i = 0; i < dims.len; i++) {
        int64_t number = 0;
        bool digits = false;
        for (; i < dims.len && dims.ptr[i] >= '0' && dims.ptr[i] <= '9'; i++, digits = true)
            number = ta_min_i64(number * 10 + (dims.ptr[i] - '0'), INT64_C(1) << 40);
        if (digits) {
            elements =
                ta_min_i64(elements, INT64_C(1) << 20) == elements || number < (INT64_C(1) << 20)
                    ? elements * number
                    : INT64_MAX;
            elements = ta_min_i64(ta_max_i64(elements, 0), INT64_C(1) << 42);
            any = true;
        }
        if (i < dims.len && dims.ptr[i] == ']') {
            most = any ? ta_max_i64(most, elements) : most;
            elements = 1;
            any = false;
        }
    }
    return most;
}

struct work {
    const struct ta_trace *trace;
    struct ta_args dims, grid, block;
    struct ta_map elements; /* by id of the text */
    struct ta_map rows;     /* row of a chain by the hash of its names */
    struct ta_map signs;    /* by id of a name */
    struct ta_outward outward;
    struct ta_partial *out, *kinds;
    struct chain *chains; /* by track */
    bool failed;
};

/* What kernels of a chain have in common: the elements of the operator; where no shapes were
 * recorded, that operators follow each other; without operators the shape of the launch.  0 when
 * nothing is known. */
static uint64_t size_of(struct work *w, const struct ta_activity *a)
{
    ta_str text = a->op == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(&w->dims, a->op);
    if (text != TA_STR_ABSENT) {
        uint64_t *known = ta_map_at(&w->elements, text, UINT64_MAX);
        if (!known)
            return 0;
        if (*known == UINT64_MAX)
            *known = (uint64_t)largest_tensor(ta_trace_text(w->trace, text));
        return *known;
    }
    if (w->dims.n == 0 && a->op != TA_NO_ROW && a->op != a->launch)
        return 1;
    text = ta_args_text(&w->grid, a->span);
    const ta_str block = ta_args_text(&w->block, a->span);
    if (text == TA_STR_ABSENT || block == TA_STR_ABSENT)
        return 0;
    return UINT64_C(1) << 63 | (uint64_t)text << 31 | (uint64_t)block;
}

/* ---- chains -------------------------------------------------------------------------------- */

enum { UP_MAX = 16, CHAIN_MIN = 3, NAMES_MAX = 12, GAP_MAX_NS = 100000 };

struct chain {
    uint64_t size, hash;
    unsigned all_signs, common_signs;
    int64_t members, copy_ns;
    ta_row op;   /* that launched the last kernel */
    ta_str last; /* its name */
    bool varies; /* not one operator, called over and over: that is a loop over tensors */
    int64_t kernels, total_ns, gap_ns, end;
    ta_str names[NAMES_MAX]; /* the first ones */
};

static bool is_fusable(const struct ta_kernel_facts *facts)
{
    if (strcmp(facts->family, "optimizer") == 0 || strcmp(facts->family, "foreach") == 0)
        return false;
    return facts->kind == TA_KERNEL_ELEMENTWISE || facts->kind == TA_KERNEL_NORM ||
           facts->kind == TA_KERNEL_COPY || facts->kind == TA_KERNEL_REDUCE;
}

static unsigned signs_of(struct work *w, ta_str name)
{
    uint64_t *known = ta_map_at(&w->signs, name, 0);
    if (!known)
        return SIGN_ENDS;
    if (!*known)
        *known = signs_in(ta_trace_text(w->trace, name));
    return (unsigned)*known;
}

static bool is_place(void *user, ta_row row)
{
    const struct work *w = user;
    return ta_is_own_place(ta_trace_text(w->trace, ta_trace_spans(w->trace).name[row]));
}

/* Optimizers loop over parameters; PyTorch names the range around their step. */
static bool is_of_optimizer(const struct work *w, ta_row row)
{
    const struct ta_spans s = ta_trace_spans(w->trace);
    for (int up = 0; up < UP_MAX && row != TA_NO_ROW; up++, row = s.parent[row]) {
        const struct ta_slice name = ta_trace_text(w->trace, s.name[row]);
        if (memmem(name.ptr, name.len, "ptimizer", 8))
            return true;
    }
    return false;
}

static int64_t *kind_row(struct work *w, const struct chain *chain)
{
    const struct ta_spans s = ta_trace_spans(w->trace);
    const char *kind = is_of_optimizer(w, chain->op)
                           ? "optimizer steps"
                           : kind_of(chain->all_signs, chain->common_signs);
    const ta_row row = chain->op == TA_NO_ROW
                           ? TA_NO_ROW
                           : ta_outward_find(&w->outward, s.parent[chain->op], is_place, w);
    struct ta_slice place = row == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, s.name[row]);
    if (ta_is_module(place))
        place = ta_module_class(place);
    return TA_PARTIAL_ROW(w->kinds, ta_key_text(ta_slice_of(kind)), ta_key_text(place));
}

static int64_t *row_of(struct work *w, const struct chain *chain)
{
    const uint64_t *known = ta_map_find(&w->rows, chain->hash);
    if (known)
        return (int64_t *)(uintptr_t)*known;
    char text[NAMES_MAX * 64 + 128];
    /* "aten::mul + aten::add + … (15)": the first names, and how many there are. */
    const size_t max = sizeof text;
    const int64_t shown = ta_min_i64(chain->kernels, NAMES_MAX);
    size_t n = 0;
    for (int64_t i = 0; i < shown; i++) {
        struct ta_slice name = ta_trace_text(w->trace, chain->names[i]);
        const size_t room = max - n - 4 - 32, len = name.len < 60 ? name.len : 60;
        if (max < n + 100 || room < len)
            break;
        if (i) {
            memcpy(text + n, " + ", 3);
            n += 3;
        }
        memcpy(text + n, name.ptr, len);
        n += len;
    }
    if (chain->kernels > shown) {
        static const char more[] = " + more";
        memcpy(text + n, more, sizeof more - 1);
        n += sizeof more - 1;
    }
    return ta_partial_cached(w->out, &w->rows, chain->hash,
                             (const struct ta_key[]){ta_key_text((struct ta_slice){text, n})});
}

static void end_chain(struct work *w, struct chain *chain)
{
    /* Shifts unpack quantized weights: kernels.weight_casts has them.  What mostly casts and copies
     * is no chain to be fused, but copies to be left out: kernels.copies_by_op has them. */
    if (chain->members >= CHAIN_MIN && chain->varies && !(chain->all_signs & SIGN_SHIFT) &&
        2 * chain->copy_ns <= chain->total_ns) {
        int64_t *row = row_of(w, chain);
        const double parts = (double)(chain->kernels - 1) / (double)chain->kernels;
        ta_sum(&row[FIELD_CHAINS], 1);
        ta_sum(&row[FIELD_KERNELS], chain->kernels);
        ta_sum(&row[FIELD_TOTAL], chain->total_ns);
        ta_sum(&row[FIELD_GAP_NS], chain->gap_ns);
        const int64_t low = ta_whole((double)chain->total_ns * parts * 2 / 3);
        const int64_t high = ta_add_sat(ta_whole((double)chain->total_ns * parts), chain->gap_ns);
        ta_sum(&row[FIELD_LOW_NS], low);
        ta_sum(&row[FIELD_HIGH_NS], high);
        int64_t *kind = kind_row(w, chain);
        ta_sum(&kind[KIND_CHAINS], 1);
        ta_sum(&kind[KIND_KERNELS], chain->kernels);
        ta_sum(&kind[KIND_TOTAL], chain->total_ns);
        ta_sum(&kind[KIND_COPY], chain->copy_ns);
        ta_sum(&kind[KIND_LOW], low);
        ta_sum(&kind[KIND_HIGH], ta_min_i64(high, chain->total_ns));
    }
    chain->kernels = chain->members = 0;
}

static void add_kernel(struct work *w, const struct ta_activity *a)
{
    const struct ta_spans s = ta_trace_spans(w->trace);
    struct chain *chain = &w->chains[s.track[a->span]];
    const struct ta_kernel *kernel =
        a->kernel == TA_NO_KERNEL ? NULL : &ta_trace_kernels(w->trace).at[a->kernel];
    const ta_str name = s.name[a->op == TA_NO_ROW ? a->span : a->op];
    const unsigned signs = kernel && is_fusable(&kernel->facts) ? signs_of(w, name) : SIGN_ENDS;
    const bool reduces = kernel && kernel->facts.kind == TA_KERNEL_REDUCE;
    uint64_t size = signs & SIGN_ENDS || (reduces && !(signs & (SIGN_MEAN | SIGN_VARIANCE)))
                        ? 0
                        : size_of(w, a);
    const int64_t start = s.ts[a->span], gap = start - chain->end;
    /* What works on a smaller tensor in between, such as the means of rows or the scale of a
     * modulation, and what joins tensors, whose shapes are not recorded. */
    const bool joins = kernel && kernel->facts.kind == TA_KERNEL_COPY && !(signs & SIGN_ENDS);
    if (chain->kernels && (size ? size < chain->size && chain->size % size == 0 : joins))
        size = chain->size;
    const bool unpacks =
        signs & (SIGN_BITS | SIGN_SHIFT) && !(chain->all_signs & (SIGN_BITS | SIGN_SHIFT));
    if (chain->kernels && (size == 0 || size != chain->size || gap > GAP_MAX_NS || unpacks))
        end_chain(w, chain);
    if (size == 0)
        return;
    if (chain->kernels == 0)
        *chain = (struct chain){.size = size, .hash = 0, .common_signs = ~0U};
    else
        chain->gap_ns += ta_max_i64(gap, 0);
    chain->varies |= chain->kernels && name != chain->last;
    chain->members += chain->kernels == 0 || a->op == TA_NO_ROW || a->op != chain->op;
    chain->last = name;
    chain->op = a->op;
    chain->all_signs |= signs;
    chain->common_signs &= signs;
    chain->copy_ns += kernel->facts.kind == TA_KERNEL_COPY ? s.dur[a->span] : 0;
    if (chain->kernels < NAMES_MAX)
        chain->names[chain->kernels] = name;
    chain->hash = (chain->hash ^ name) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    chain->kernels++;
    chain->total_ns = ta_add_sat(chain->total_ns, s.dur[a->span]);
    chain->end = start + s.dur[a->span];
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    const struct ta_spans s = ta_trace_spans(trace);
    const size_t tracks = ta_trace_tracks(trace).n;
    if (ta_trace_kernels(trace).n == 0)
        return TA_OK;
    int64_t *rank = TA_PARTIAL_ROW(out[PART_RANKS], ta_key_int(ta_trace_rank(trace)));
    struct work w = {.trace = trace,
                     .dims = ta_trace_args(trace, "Input Dims"),
                     .grid = ta_trace_args(trace, "grid"),
                     .block = ta_trace_args(trace, "block"),
                     .out = out[PART_CHAINS],
                     .kinds = out[PART_KINDS],
                     .outward.parent = s.parent,
                     .chains = calloc(tracks + 1, sizeof *w.chains)};
    bool done = w.chains != NULL;
    for (size_t i = 0; done && i < activities.n; i++) {
        add_kernel(&w, &activities.at[i]);
        ta_sum(&rank[ALL_NS],
               activities.at[i].kernel == TA_NO_KERNEL ? 0 : s.dur[activities.at[i].span]);
    }
    for (size_t t = 0; done && t < tracks; t++)
        end_chain(&w, &w.chains[t]);
    done &= !w.elements.failed && !w.rows.failed && !w.signs.failed;
    free(w.chains);
    ta_map_free(&w.elements);
    ta_map_free(&w.rows);
    ta_map_free(&w.signs);
    ta_outward_free(&w.outward);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow streams: tracks=%zu", tracks);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* To know it takes two arguments of every kernel: a comparison does not ask for that. */
static const struct ta_scalar_def share = {
    "fusion_share",
    "Fusible chains",
    TA_UNIT_RATIO,
    TA_LOWER,
    .doc = "Time of the kernels of these chains over the time of all kernels",
    .not_compared = true};

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    int64_t all = 0, total = 0;
    for (size_t i = 0; i < ta_partial_rows(merged[1]); i++)
        all = ta_add_sat(all, ta_partial_at(merged[1], i)[ALL_NS]);

    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        total = ta_add_sat(total, row[FIELD_TOTAL]);
        TA_ROW(out, by_chain, [CHAIN] = ta_text(ta_partial_text(merged[0], row, FIELD_CHAIN)),
               [CHAINS] = ta_int(row[FIELD_CHAINS]), [KERNELS] = ta_int(row[FIELD_KERNELS]),
               [TOTAL] = ta_int(row[FIELD_TOTAL]), [SHARE] = ta_share(row[FIELD_TOTAL], all),
               [GAP] = ta_int(row[FIELD_GAP_NS]), [SAVING_LOW] = ta_int(row[FIELD_LOW_NS]),
               [SAVING_HIGH] = ta_int(row[FIELD_HIGH_NS]));
    }
    for (size_t i = 0; i < ta_partial_rows(merged[PART_KINDS]); i++) {
        const int64_t *row = ta_partial_at(merged[PART_KINDS], i);
        TA_ROW(out,
               by_kind, [KIND_WORD] = ta_text(ta_partial_text(merged[PART_KINDS], row, KIND_WORD)),
               [KIND_PLACE] = ta_text(ta_partial_text(merged[PART_KINDS], row, KIND_PLACE)),
               [KIND_CHAINS] = ta_int(row[KIND_CHAINS]), [KIND_KERNELS] = ta_int(row[KIND_KERNELS]),
               [KIND_TOTAL] = ta_int(row[KIND_TOTAL]), [KIND_COPY] = ta_int(row[KIND_COPY]),
               [KIND_LOW] = ta_int(row[KIND_LOW]), [KIND_HIGH] = ta_int(row[KIND_HIGH]));
    }
    if (ta_partial_rows(merged[0]))
        ta_set_scalar(out, &share, ta_share(total, all));
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", "grid", "block", NULL};
static const struct ta_table_def *const tables[] = {&by_chain, &by_kind, NULL};

static const struct ta_analysis_ops ops = {.needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 9,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .scalars = &share,
                                           .n_scalars = 1,
                                           .tables = tables};

TA_PLUGIN(analysis, fusion_chains, &ops, .title = "Fusion chains",
          .summary = "Runs of small kernels over the same elements: fusion.chains, fusion.kinds",
          .version = "2");
