/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collectives.layout: how the ranks are divided, and what for: tensor, sequence, ring, pipeline,
 * expert, guidance and data parallel groups, classified by what the program calls them, else by
 * what they do.
 *
 *     all-to-all of equal parts           sequence (Ulysses: heads against tokens around attention)
 *     all-to-all of unequal parts         expert
 *     send and receive, closed            ring; not closed: pipeline
 *     all-gather and reduce-scatter       data, sharded
 *     all-reduce, many in a step          tensor; few: data
 *     all-gather, few, of two ranks       guidance
 *
 * A diffusion trains nothing: what is exchanged once a step between two is guidance, all-gathers of
 * each layer are keys and values (context), and stages of a pipeline close a ring as well, by far
 * fewer transfers than there are layers.  What is exchanged while the VAE decodes are the edges of
 * its patches.
 */
#include "model/program/generation.h"
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <ctype.h>
#include <stdlib.h>

enum { RANKS_MOST = 16384, MANY_IN_A_STEP = 4 };

enum dimension {
    DIM_TENSOR,
    DIM_SEQUENCE,
    DIM_CONTEXT,
    DIM_RING,
    DIM_PIPELINE,
    DIM_EXPERT,
    DIM_GUIDANCE,
    DIM_DATA,
    DIM_PATCHES,
    DIM_WORLD,
    DIM_UNKNOWN
};

static const char *const dimension_names[] = {
    [DIM_TENSOR] = "tensor",     [DIM_SEQUENCE] = "sequence", [DIM_CONTEXT] = "context",
    [DIM_RING] = "ring",         [DIM_PIPELINE] = "pipeline", [DIM_EXPERT] = "expert",
    [DIM_GUIDANCE] = "guidance", [DIM_DATA] = "data",         [DIM_PATCHES] = "patches",
    [DIM_WORLD] = "world",       [DIM_UNKNOWN] = "unknown",
};

/* Words of a description; the first that it has counts.  Short ones must be whole words. */
static const struct {
    const char *word;
    enum dimension dimension;
} words[] = {
    {"tensor", DIM_TENSOR},    {"ulysses", DIM_SEQUENCE}, {"sequence", DIM_SEQUENCE},
    {"ring", DIM_RING},        {"context", DIM_CONTEXT},  {"pipeline", DIM_PIPELINE},
    {"expert", DIM_EXPERT},    {"moe", DIM_EXPERT},       {"guidance", DIM_GUIDANCE},
    {"cfg", DIM_GUIDANCE},     {"fsdp", DIM_DATA},        {"replicate", DIM_DATA},
    {"shard", DIM_DATA},       {"data", DIM_DATA},        {"tp", DIM_TENSOR},
    {"sp", DIM_SEQUENCE},      {"cp", DIM_CONTEXT},       {"pp", DIM_PIPELINE},
    {"ep", DIM_EXPERT},        {"dp", DIM_DATA},          {"ddp", DIM_DATA},
    {"default_pg", DIM_WORLD}, {"world", DIM_WORLD},
};

/* ---- what each rank says of a diffusion ------------------------------------------------------ */

enum { PARTIAL_RANKS, PARTIAL_DECODES };

enum { OF_RANK, OF_DENOISES, OF_STEPS, OF_LAYERS, OF_FIELDS };
static const struct ta_field fields[OF_FIELDS] = {
    [OF_RANK] = {"rank", TA_FIELD_RANK},
    [OF_DENOISES] = {"denoises", TA_FIELD_MAX},
    [OF_STEPS] = {"steps", TA_FIELD_MAX},
    [OF_LAYERS] = {"layers", TA_FIELD_MAX},
};

/* When the VAE decodes, on the device. */
enum { DECODE_RANK, DECODE_START, DECODE_END, DECODE_FIELDS };
static const struct ta_field decode_fields[DECODE_FIELDS] = {
    [DECODE_RANK] = {"rank", TA_FIELD_RANK},
    [DECODE_START] = {"start_ns", TA_FIELD_INT},
    [DECODE_END] = {"end_ns", TA_FIELD_INT},
};

static const struct ta_partial_def partials[] = {
    [PARTIAL_RANKS] = {"diffusion", fields, OF_FIELDS},
    [PARTIAL_DECODES] = {"decodes", decode_fields, DECODE_FIELDS},
    {0},
};

/* On the clock of the machine, where the trace says it. */
static int64_t dated(const struct ta_trace *trace, int64_t time)
{
    const int64_t zero = ta_trace_base_ns(trace);
    return zero == TA_MISSING ? time : ta_add_sat(zero, time);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_generation *found = ta_program_generation(trace);
    if (!found)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the phases of a trace");
    const struct ta_generation *shown =
        found->by == TA_GENERATION_BY_NOTHING && found->aside ? found->aside : found;
    if (shown->n_calls == 0)
        return TA_OK;
    int64_t *row = TA_PARTIAL_ROW(out[PARTIAL_RANKS], ta_key_int(ta_trace_rank(trace)));
    ta_most(&row[OF_DENOISES], found->by != TA_GENERATION_BY_NOTHING);
    ta_most(&row[OF_LAYERS], (int64_t)found->layers);
    ta_most(&row[OF_STEPS], (int64_t)found->n_steps);
    for (size_t i = 0; i < shown->n_stages; i++) {
        const struct ta_generation_time *time = &shown->stages[i].time;
        if (shown->stages[i].phase == TA_GENERATION_VAE_DECODE && time->gpu_start != TA_MISSING)
            TA_PARTIAL_ROW(out[PARTIAL_DECODES], ta_key_int(ta_trace_rank(trace)),
                           ta_key_int(dated(trace, time->gpu_start)),
                           ta_key_int(dated(trace, time->gpu_end)));
    }
    return TA_OK;
}

/* Whether a record lies in a decode of its rank; on the clock of the run. */
static bool is_in_decode(const struct ta_ranks *ranks, const struct ta_coll_record *record,
                         const struct ta_partial *decodes)
{
    const struct ta_rank_member *member = &ranks->members[record->member];
    size_t first = 0, end = ta_partial_rows(decodes); /* by rank */
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (ta_partial_at(decodes, middle)[DECODE_RANK] < member->rank)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t i = first; i < ta_partial_rows(decodes); i++) {
        const int64_t *row = ta_partial_at(decodes, i);
        if (row[DECODE_RANK] != member->rank)
            break;
        if (record->start >= ta_rank_clock_time(&member->clock, row[DECODE_START]) &&
            record->start < ta_rank_clock_time(&member->clock, row[DECODE_END]))
            return true;
    }
    return false;
}

/* ---- one group ------------------------------------------------------------------------------ */

struct group {
    uint32_t number;
    int64_t kinds[TA_COLL_KINDS], count, bytes, total;
    int64_t steps;               /* in which the rank with most has records */
    uint32_t kinds_of;           /* the member whose records are added, plus 1: */
    int64_t steps_now;           /* its steps */
    int32_t step;                /* the last of them */
    int64_t size, stride, first; /* TA_MISSING where not known */
    int64_t in_decode;           /* records while the VAE decodes */
    bool forward, back;          /* ranks send to the next one; the last one to the first */
    enum dimension dimension;
    const char *basis;
    double confidence;
};

/* The numbers of "[0, 4, 8]"; returns how many, and whether the list is whole. */
static size_t read_ranks(struct ta_slice text, int64_t *numbers, bool *is_whole)
{
    size_t n = 0;
    *is_whole = text.len > 0;
    for (size_t i = 0; i < text.len && n < RANKS_MOST;) {
        if (text.ptr[i] == '.')
            *is_whole = false;
        if (!isdigit((unsigned char)text.ptr[i])) {
            i++;
            continue;
        }
        int64_t value = 0;
        for (; i < text.len && isdigit((unsigned char)text.ptr[i]) && value < INT32_MAX; i++)
            value = value * 10 + text.ptr[i] - '0';
        numbers[n++] = value;
    }
    *is_whole &= n < RANKS_MOST;
    return n;
}

/* Ranks apart, if all neighbors are as far; 1 of two neighbors. */
static int64_t stride_of(const int64_t *numbers, size_t n)
{
    for (size_t i = 2; i < n; i++)
        if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0])
            return TA_MISSING;
    return n > 1 ? numbers[1] - numbers[0] : TA_MISSING;
}

static size_t place_of(const int64_t *numbers, size_t n, int64_t rank)
{
    size_t i = 0;
    while (i < n && numbers[i] != rank)
        i++;
    return i;
}

/* Who sends to whom. */
static void note_way(const struct ta_coll_shape *shape, const int64_t *numbers, size_t n,
                     int64_t rank, struct group *g)
{
    const bool receives = shape->kind == TA_COLL_RECV;
    const size_t from = place_of(numbers, n, receives ? shape->peer : rank);
    const size_t to = place_of(numbers, n, receives ? rank : shape->peer);
    if (shape->peer == TA_MISSING || from == n || to == n)
        return;
    g->forward |= to == from + 1;
    g->back |= from == n - 1 && to == 0 && n > 2;
}

/* Records come by member. */
static void add_record(const struct ta_ranks *ranks, const struct ta_coll_record *record,
                       struct group *g)
{
    const enum ta_coll_kind kind = ranks->shapes[record->shape].kind;
    if (g->kinds_of != record->member + 1) {
        g->kinds_of = record->member + 1;
        g->steps_now = 0;
        g->step = -1;
    }
    g->kinds[kind]++;
    ta_sum(&g->total, record->end - record->start);
    g->steps_now += record->step >= 0 && record->step != g->step;
    g->step = record->step;
    g->steps = ta_max_i64(g->steps, g->steps_now);
    if (g->size == TA_MISSING)
        g->size = ranks->shapes[record->shape].size;
}

/* ---- what a group is for -------------------------------------------------------------------- */

static bool has_word(struct ta_slice text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++) {
        size_t same = 0;
        while (same < n && tolower((unsigned char)text.ptr[i + same]) == word[same])
            same++;
        const bool begins = i == 0 || !isalpha((unsigned char)text.ptr[i - 1]);
        const bool ends = i + n == text.len || !isalpha((unsigned char)text.ptr[i + n]);
        if (same == n && (n > 3 || (begins && ends)))
            return true;
    }
    return false;
}

static bool classify_by_name(const struct ta_ranks *ranks, struct group *g)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!has_word(ranks->groups[g->number].description, words[i].word))
            continue;
        g->dimension = words[i].dimension;
        g->basis = "description";
        g->confidence = 0.95;
        return true;
    }
    return false;
}

static void guess(struct group *g, enum dimension dimension, double confidence)
{
    g->dimension = dimension;
    g->confidence = confidence;
    g->basis = "operations";
}

/* By what most of its operations are. */
static void classify_by_operations(struct group *g, int64_t world)
{
    const int64_t *k = g->kinds;
    const int64_t pairs = k[TA_COLL_SENDRECV] + k[TA_COLL_SEND] + k[TA_COLL_RECV];
    const int64_t sharded = k[TA_COLL_ALLGATHER] + k[TA_COLL_REDUCE_SCATTER];
    const int64_t per_step = g->steps ? g->count / g->steps : g->count;
    int64_t all = 0;
    for (int kind = 0; kind < TA_COLL_KINDS; kind++)
        all += k[kind];
    g->dimension = DIM_UNKNOWN;
    g->basis = "none";
    if (all == 0)
        return;
    if (pairs * 2 > all)
        g->back || !g->forward ? guess(g, DIM_RING, g->back ? 0.8 : 0.4)
                               : guess(g, DIM_PIPELINE, 0.6);
    else if (k[TA_COLL_ALL_TO_ALL] * 2 > all)
        guess(g, DIM_SEQUENCE, 0.7);
    else if (k[TA_COLL_ALL_TO_ALLV] * 2 > all)
        guess(g, DIM_EXPERT, 0.6);
    else if (g->size == world && world > 2 && per_step <= MANY_IN_A_STEP && g->steps > 0)
        guess(g, DIM_WORLD, 0.5);
    else if (k[TA_COLL_REDUCE_SCATTER] > 0 && sharded * 2 > all)
        guess(g, DIM_DATA, 0.5);
    else if (k[TA_COLL_ALLREDUCE] * 2 > all)
        per_step > MANY_IN_A_STEP ? guess(g, DIM_TENSOR, 0.6) : guess(g, DIM_DATA, 0.5);
    else if (k[TA_COLL_ALLGATHER] * 2 > all)
        g->size == 2 ? guess(g, DIM_GUIDANCE, 0.5) : guess(g, DIM_DATA, 0.4);
}

/* What the ranks of a diffusion do, as far as it says what groups are for. */
struct diffusion {
    bool denoises;
    int64_t layers; /* of the denoiser; 0: not known */
    int64_t steps;  /* of the rank with most */
    const struct ta_partial *decodes;
};

enum { LAYERS_LEAST = 8 }; /* where they are not known */

/* By what most of its operations are in a diffusion; false where that says nothing more. */
static bool classify_in_diffusion(struct group *g, const struct diffusion *diffusion)
{
    const int64_t *k = g->kinds;
    const int64_t pairs = k[TA_COLL_SENDRECV] + k[TA_COLL_SEND] + k[TA_COLL_RECV];
    const int64_t layers = diffusion->layers ? diffusion->layers : LAYERS_LEAST;
    int64_t all = 0;
    for (int kind = 0; kind < TA_COLL_KINDS; kind++)
        all += k[kind];
    const int64_t ranks = g->size != TA_MISSING && g->size > 0 ? g->size : 1;
    const double a_step =
        diffusion->steps ? (double)all / ((double)diffusion->steps * (double)ranks) : 0;
    const bool is_pairs = pairs * 2 > all, gathers = k[TA_COLL_ALLGATHER] * 2 > all;
    if ((is_pairs || gathers) && g->in_decode * 2 > all)
        guess(g, DIM_PATCHES, 0.6);
    else if (is_pairs && diffusion->steps)
        2 * a_step >= (double)layers ? guess(g, DIM_RING, 0.7) : guess(g, DIM_PIPELINE, 0.6);
    else if (gathers && a_step > MANY_IN_A_STEP)
        guess(g, DIM_CONTEXT, 0.5);
    else if ((gathers || k[TA_COLL_ALLREDUCE] * 2 > all) && g->size == 2 && a_step > 0 &&
             a_step <= MANY_IN_A_STEP)
        guess(g, DIM_GUIDANCE, 0.6);
    else
        return false;
    g->basis = "operations";
    return true;
}

/* The group of all ranks is called so whatever it is used for: then operations say more. */
static void classify(const struct ta_ranks *ranks, struct group *g, int64_t world,
                     const struct diffusion *diffusion)
{
    const bool is_named = classify_by_name(ranks, g);
    const struct group named = *g;
    if (is_named && g->dimension != DIM_WORLD)
        return;
    if (!(diffusion->denoises && classify_in_diffusion(g, diffusion)))
        classify_by_operations(g, world);
    if (is_named && (g->dimension == DIM_UNKNOWN || g->dimension == DIM_WORLD))
        *g = named;
}

/* ---- all groups ----------------------------------------------------------------------------- */

/* Its ranks, as recorded. */
static void describe(const struct ta_ranks *ranks, struct group *g, int64_t *numbers)
{
    bool is_whole;
    const size_t n = read_ranks(ranks->groups[g->number].ranks, numbers, &is_whole);
    g->size = is_whole ? (int64_t)n : TA_MISSING;
    g->stride = stride_of(numbers, n);
    g->first = n ? numbers[0] : TA_MISSING;
}

/* Transfers of a group follow each other as a rule, so its ranks are read once. */
static void note_ways(const struct ta_ranks *ranks, struct group *groups, int64_t *numbers)
{
    uint32_t read = TA_COLL_NONE;
    bool is_whole;
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_records; i++) {
        const struct ta_coll_shape *shape = &ranks->shapes[ranks->records[i].shape];
        if (!ta_coll_is_between_two(shape->kind) || shape->peer == TA_MISSING)
            continue;
        if (shape->group != read)
            n = read_ranks(ranks->groups[read = shape->group].ranks, numbers, &is_whole);
        note_way(shape, numbers, n, ranks->members[ranks->records[i].member].rank,
                 &groups[shape->group]);
    }
}

static void collect(const struct ta_ranks *ranks, const struct diffusion *diffusion,
                    struct group *groups, int64_t *numbers)
{
    int64_t world = 0;
    for (size_t i = 0; i < ranks->n_groups; i++) {
        groups[i].number = (uint32_t)i;
        groups[i].bytes = groups[i].total = TA_MISSING;
        describe(ranks, &groups[i], numbers);
    }
    for (size_t i = 0; i < ranks->n_records; i++) {
        struct group *g = &groups[ranks->shapes[ranks->records[i].shape].group];
        add_record(ranks, &ranks->records[i], g);
        g->in_decode += is_in_decode(ranks, &ranks->records[i], diffusion->decodes);
    }
    note_ways(ranks, groups, numbers);
    for (size_t i = 0; i < ranks->n_groups; i++)
        if (groups[i].size != TA_MISSING)
            world = ta_max_i64(world, groups[i].size);
    for (size_t i = 0; i < ranks->n_collectives; i++) {
        const struct ta_coll_shape *shape = &ranks->shapes[ranks->collectives[i].shape];
        groups[shape->group].count++;
        ta_sum(&groups[shape->group].bytes, shape->bytes);
    }
    for (size_t i = 0; i < ranks->n_groups; i++)
        classify(ranks, &groups[i], world, diffusion);
}

/* Groups of one kind are one row. */
static int by_kind(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const struct group *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension < b->dimension ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->stride != b->stride)
        return a->stride < b->stride ? -1 : 1;
    const int order = ta_slice_compare(ranks->groups[a->number].description,
                                       ranks->groups[b->number].description);
    return order ? order : (a->basis > b->basis) - (a->basis < b->basis);
}

static int in_order(const void *left, const void *right, void *user)
{
    const struct group *a = left, *b = right;
    const int order = by_kind(left, right, user);
    if (order)
        return order;
    return a->first != b->first ? (a->first < b->first ? -1 : 1)
                                : (a->number > b->number) - (a->number < b->number);
}

/* ---- table ---------------------------------------------------------------------------------- */

enum {
    DIMENSION,
    GROUPS,
    SIZE,
    STRIDE,
    RANKS,
    DESCRIPTION,
    OP,
    COUNT,
    BYTES,
    TOTAL,
    BASIS,
    CONFIDENCE
};
static const struct ta_column layout_columns[] = {
    [DIMENSION] = {"dimension", "Parallelism", TA_WORD,
                   .doc = "Kind of parallelism: tensor, sequence, context, ring, pipeline, expert, "
                          "guidance, data, patches (of the VAE), world (all ranks), or unknown"},
    [GROUPS] = {"groups", "Groups", TA_COUNT, .doc = "Process groups that this row sums up"},
    [SIZE] = {"size", "Group size", TA_COUNT, .doc = "Ranks per group"},
    [STRIDE] = {"stride", "Stride", TA_COUNT,
                .doc = "Distance between the rank numbers of a group; empty if it varies or the "
                       "ranks are not recorded"},
    [RANKS] = {"ranks", "First group", TA_TEXT, .doc = "Ranks of the first group, as recorded"},
    [DESCRIPTION] = {"description", "Description", TA_TEXT,
                     .doc = "Name that the program gives to the groups"},
    [OP] = {"op", "Main operation", TA_WORD, .doc = "Operation recorded most often"},
    [COUNT] = {"count", "Count", TA_COUNT,
               .doc = "Collectives and matched transfers of all groups of the row"},
    [BYTES] = {"bytes", "Data", TA_BYTES, .better = TA_LOWER,
               .doc = "Sum of their full buffer sizes"},
    [TOTAL] = {"total_ns", "Total", TA_NS, .better = TA_LOWER,
               .doc = "Sum of durations over all ranks, waiting included"},
    [BASIS] = {"basis", "Basis", TA_WORD,
               .doc = "How the kind is known: description (the program's name), operations (what "
                      "most of them are), or none"},
    [CONFIDENCE] = {"confidence", "Confidence", TA_RATIO,
                    .doc = "Confidence in the kind of parallelism; empty if unknown"},
};

static const struct ta_table_def layout = {
    "collectives.layout",
    "Parallel layout",
    TA_COLUMNS(layout_columns),
    .tier = TA_TIER_DETAIL,
    .doc =
        "One row per kind of process group: how the work is divided over ranks. The program's name "
        "for a group (`Process Group Description`) decides. Without a name, or for the group of "
        "all ranks, the operations decide: all-to-all of equal parts is sequence (Ulysses), of "
        "unequal parts expert; transfers between two ranks that close a ring are ring attention, "
        "otherwise pipeline; more than four all-reduces per step are tensor, fewer are data; "
        "reduce-scatter is data (sharded); all-gathers of two ranks are guidance. In a diffusion "
        "program, transfers between two ranks are a ring only if there are about as many as "
        "layers, otherwise a pipeline; what is sent or gathered during VAE decoding is patches of "
        "the VAE; all-gathers in each layer are keys and values (context); and what two ranks "
        "exchange a few times per step is guidance. Groups that no record names are one.",
    .joining = TA_JOIN_NOT};

static enum ta_coll_kind most_often(const struct group *g, size_t n)
{
    int64_t sums[TA_COLL_KINDS] = {0};
    int best = TA_COLL_OTHER;
    for (size_t i = 0; i < n; i++)
        for (int kind = 0; kind < TA_COLL_KINDS; kind++)
            sums[kind] += g[i].kinds[kind];
    for (int kind = 0; kind < TA_COLL_KINDS; kind++)
        if (sums[kind] > sums[best])
            best = kind;
    return (enum ta_coll_kind)best;
}

static void add_row(const struct ta_ranks *ranks, const struct group *g, size_t n,
                    struct ta_section_builder *out)
{
    const struct ta_coll_group *of = &ranks->groups[g->number];
    int64_t count = 0, bytes = TA_MISSING, total = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        count += g[i].count;
        ta_sum(&bytes, g[i].bytes);
        ta_sum(&total, g[i].total);
    }
    const bool known = g->dimension != DIM_UNKNOWN;
    TA_ROW(
        out, layout, [DIMENSION] = ta_text(ta_slice_of(dimension_names[g->dimension])),
        [GROUPS] = ta_int((int64_t)n), [SIZE] = ta_int(g->size), [STRIDE] = ta_int(g->stride),
        [RANKS] = of->ranks.len ? ta_text(of->ranks) : ta_null(),
        [DESCRIPTION] = of->description.len ? ta_text(of->description) : ta_null(),
        [OP] = ta_text(ta_slice_of(ta_coll_kind_name(most_often(g, n)))), [COUNT] = ta_int(count),
        [BYTES] = ta_int(bytes), [TOTAL] = ta_int(total), [BASIS] = ta_text(ta_slice_of(g->basis)),
        [CONFIDENCE] = known ? ta_num(g->confidence) : ta_null());
}

static bool is_any_known(const struct group *groups, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (groups[i].dimension != DIM_UNKNOWN)
            return true;
    return false;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    const struct ta_ranks *ranks = in->ranks;
    struct diffusion diffusion = {.decodes = merged[PARTIAL_DECODES]};
    for (size_t i = 0; i < ta_partial_rows(merged[PARTIAL_RANKS]); i++) {
        const int64_t *row = ta_partial_at(merged[PARTIAL_RANKS], i);
        diffusion.denoises |= row[OF_DENOISES] > 0;
        diffusion.steps = ta_max_i64(diffusion.steps, row[OF_STEPS]);
        diffusion.layers = ta_max_i64(diffusion.layers, row[OF_LAYERS]);
    }
    if (ranks->n_records == 0)
        return TA_OK;
    struct group *groups = calloc(ranks->n_groups + 1, sizeof *groups);
    int64_t *numbers = calloc(RANKS_MOST, sizeof *numbers);
    const bool done = groups && numbers;
    size_t n = 0;
    if (done) {
        collect(ranks, &diffusion, groups, numbers);
        for (size_t i = 0; i < ranks->n_groups; i++)
            if (groups[i].total !=
                TA_MISSING) /* others are only the common form of shapes that are alike */
                groups[n++] = groups[i];
        qsort_r(groups, n, sizeof *groups, in_order, (void *)(uintptr_t)ranks);
    }
    if (ranks->n_members < 2 && !is_any_known(groups, n))
        n = 0; /* of one rank it would say no more than collectives.by_kind */
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1;
             to < n && by_kind(&groups[from], &groups[to], (void *)(uintptr_t)ranks) == 0;)
            to++;
        add_row(ranks, &groups[from], to - from, out);
    }
    free(groups);
    free(numbers);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the process groups");
}

static const struct ta_table_def *const tables[] = {&layout, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 6,
    .partials = partials,
    .map = map,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, parallel_layout, &ops, .title = "Parallel layout",
          .summary = "How ranks are divided, and what for: collectives.layout", .version = "1");
