/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace says of its collectives.  Torch writes the facts of a call to the kernel, or, where
 * the profiler does not know the kernel's origin, only to the operator record_param_comms around
 * the launch.  Without either, the range or operator around the launch has a name
 * ("nccl:all_to_all", "c10d::allreduce_"), and the kernel itself nearly always. */
#include "ranks/map.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const char *const collective_args[] = {"Collective name",
                                       "Process Group Name",
                                       "Process Group Description",
                                       "Process Group Ranks",
                                       "dtype",
                                       "In msg nelems",
                                       "Out msg nelems",
                                       "Group size",
                                       "Seq",
                                       "Src Rank",
                                       "Dst Rank",
                                       "In split size",
                                       "Out split size",
                                       NULL};

enum { ANCESTORS = 16 }; /* of a launch that are asked */

#define NO_CALL UINT64_MAX

void calls_open(struct calls *calls, const struct ta_trace *trace)
{
    *calls = (struct calls){
        .trace = trace,
        .spans = ta_trace_spans(trace),
        .op = ta_trace_args(trace, "Collective name"),
        .group = ta_trace_args(trace, "Process Group Name"),
        .description = ta_trace_args(trace, "Process Group Description"),
        .ranks = ta_trace_args(trace, "Process Group Ranks"),
        .dtype = ta_trace_args(trace, "dtype"),
        .in = ta_trace_args(trace, "In msg nelems"),
        .out = ta_trace_args(trace, "Out msg nelems"),
        .size = ta_trace_args(trace, "Group size"),
        .seq = ta_trace_args(trace, "Seq"),
        .source = ta_trace_args(trace, "Src Rank"),
        .target = ta_trace_args(trace, "Dst Rank"),
        .in_splits = ta_trace_args(trace, "In split size"),
        .out_splits = ta_trace_args(trace, "Out split size"),
    };
}

void calls_free(struct calls *calls)
{
    free(calls->at);
    ta_map_free(&calls->latest);
}

static struct ta_slice name_of(const struct calls *calls, ta_row row)
{
    return ta_trace_text(calls->trace, calls->spans.name[row]);
}

static bool starts(struct ta_slice text, const char *with)
{
    const size_t n = strlen(with);
    return text.len >= n && strncasecmp(text.ptr, with, n) == 0;
}

bool calls_is_of_host(struct ta_slice name)
{
    static const char *const prefixes[] = {"gloo:", "hcom_", "mpi:", "ucc:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (starts(name, prefixes[i]))
            return true;
    return false;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* A span with the facts of a call, and the place of the first of its arguments. */
struct facts {
    ta_row row;
    const ta_row *rows; /* of the arguments that are at `place` */
    size_t place;
};

/* The profiler mostly writes all arguments or none, which then share their rows. */
static size_t place_of(const struct ta_args *args, const struct facts *facts)
{
    return args->row == facts->rows ? facts->place : ta_args_place(args, facts->row);
}

static int64_t number_at(const struct ta_args *args, const struct facts *facts)
{
    const size_t place = place_of(args, facts);
    return place < args->n && !ta_args_is_text(args, place) ? ta_args_value(args, place)
                                                            : TA_MISSING;
}

static ta_str text_at(const struct ta_args *args, const struct facts *facts)
{
    const size_t place = place_of(args, facts);
    return place < args->n && ta_args_is_text(args, place) ? (ta_str)ta_args_value(args, place)
                                                           : TA_STR_ABSENT;
}

/* The span nearest around the launch, itself included, that has the facts; TA_NO_ROW for none. */
static ta_row facts_of(const struct calls *calls, ta_row span, ta_row launch)
{
    if (ta_args_text(&calls->op, span) != TA_STR_ABSENT)
        return span;
    for (int i = 0; i < ANCESTORS && launch != TA_NO_ROW; i++) {
        if (ta_args_text(&calls->op, launch) != TA_STR_ABSENT)
            return launch;
        launch = calls->spans.parent[launch];
    }
    return TA_NO_ROW;
}

/* What the ranges and operators around a launch are called. */
static enum ta_coll_kind kind_around(const struct calls *calls, ta_row launch)
{
    for (int i = 0; i < ANCESTORS && launch != TA_NO_ROW; i++) {
        const struct ta_slice name = name_of(calls, launch);
        if (starts(name, "nccl:") || starts(name, "rccl:") || starts(name, "c10d::"))
            return ta_coll_kind_of(name);
        launch = calls->spans.parent[launch];
    }
    return TA_COLL_OTHER;
}

/* Whether all numbers of a list are equal ("[3413, 3413]"): of an empty one torch divides the
 * tensor evenly itself.  A long list is recorded with "..." in the middle. */
static bool is_even_list(struct ta_slice list)
{
    struct ta_slice first = {0};
    for (size_t i = 0, end; i < list.len; i = end) {
        for (end = i; end < list.len && isdigit((unsigned char)list.ptr[end]);)
            end++;
        const struct ta_slice number = {ta_slice_at(list, i), end - i};
        if (number.len == 0) {
            end = i + 1;
            continue;
        }
        if (first.len && !ta_slice_equal(first, number))
            return false;
        first = number;
    }
    return true;
}

/* Functional all-to-all (_c10d_functional::all_to_all_single) always passes sizes, and so is
 * recorded as one with a size for each pair even where all are the same. */
static bool has_even_splits(const struct calls *calls, const struct facts *facts)
{
    const ta_str in = text_at(&calls->in_splits, facts), out = text_at(&calls->out_splits, facts);
    return in != TA_STR_ABSENT && out != TA_STR_ABSENT &&
           is_even_list(ta_trace_text(calls->trace, in)) &&
           is_even_list(ta_trace_text(calls->trace, out));
}

static struct call describe(const struct calls *calls, ta_row span, ta_row launch, int64_t *seq)
{
    struct call call = {.group_number = TA_MISSING,
                        .in = TA_MISSING,
                        .out = TA_MISSING,
                        .size = TA_MISSING,
                        .peer = TA_MISSING};
    const ta_row row = facts_of(calls, span, launch);
    *seq = TA_MISSING;
    if (row == TA_NO_ROW) {
        call.kind = kind_around(calls, launch);
        if (call.kind == TA_COLL_OTHER)
            call.kind = ta_coll_kind_of(name_of(calls, span));
        return call;
    }
    const struct facts of = {row, calls->op.row, ta_args_place(&calls->op, row)}, *facts = &of;
    call.op = text_at(&calls->op, facts);
    call.kind = ta_coll_kind_of(ta_trace_text(calls->trace, call.op));
    call.group = text_at(&calls->group, facts);
    call.group_number = number_at(&calls->group, facts);
    call.description = text_at(&calls->description, facts);
    call.ranks = text_at(&calls->ranks, facts);
    call.dtype = text_at(&calls->dtype, facts);
    call.in = number_at(&calls->in, facts);
    call.out = number_at(&calls->out, facts);
    call.size = number_at(&calls->size, facts);
    if (call.kind == TA_COLL_ALL_TO_ALLV && call.in == call.out && has_even_splits(calls, facts))
        call.kind = TA_COLL_ALL_TO_ALL;
    if (ta_coll_is_between_two(call.kind))
        call.peer = number_at(call.kind == TA_COLL_RECV ? &calls->source : &calls->target, facts);
    *seq = number_at(&calls->seq, facts);
    call.is_numbered = *seq >= 0 && *seq < INT32_MAX;
    return call;
}

static bool is_same(const struct call *a, const struct call *b)
{
    return a->kind == b->kind && a->op == b->op && a->group == b->group && a->ranks == b->ranks &&
           a->description == b->description && a->dtype == b->dtype &&
           a->group_number == b->group_number && a->in == b->in && a->out == b->out &&
           a->size == b->size && a->peer == b->peer && a->is_numbered == b->is_numbered;
}

/* Equal for equal calls, and rarely for others. */
static uint64_t key_of(const struct call *call)
{
    const uint64_t parts[] = {(uint64_t)call->kind << 32 | call->op,
                              (uint64_t)call->group << 32 | call->ranks,
                              (uint64_t)call->description << 32 | call->dtype,
                              (uint64_t)call->group_number,
                              (uint64_t)call->in,
                              (uint64_t)call->out,
                              (uint64_t)call->size,
                              (uint64_t)call->peer};
    uint64_t key = call->is_numbered;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        key = (key ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15); /* odd: no two become one */
        key ^= key >> 32;
    }
    return key;
}

enum { RECENT = 8 }; /* calls that are looked at before the map: most come again at once */

/* The number of a call that was met before, or NO_CALL; `latest` is where the map has its key,
 * NULL when it was not asked. */
static uint64_t known_call(struct calls *calls, const struct call *call, uint64_t **latest)
{
    const size_t recent = calls->n < RECENT ? calls->n : RECENT;
    *latest = NULL;
    for (size_t i = calls->n; i-- > calls->n - recent;)
        if (is_same(&calls->at[i], call))
            return i;
    *latest = ta_map_at(&calls->latest, key_of(call), NO_CALL);
    uint64_t at = *latest ? **latest : NO_CALL;
    while (at != NO_CALL && !is_same(&calls->at[at], call))
        at = calls->at[at].before;
    return at;
}

size_t calls_of(struct calls *calls, ta_row span, ta_row launch, int64_t *seq)
{
    struct call call = describe(calls, span, launch, seq);
    uint64_t *latest;
    if (!call.is_numbered)
        *seq = TA_MISSING;
    const uint64_t known = known_call(calls, &call, &latest);
    if (known != NO_CALL)
        return (size_t)known;
    if (!latest || !ta_vec_grow((void **)&calls->at, &calls->max, calls->n, sizeof *calls->at)) {
        calls->failed = true;
        return 0;
    }
    call.before = *latest;
    *latest = calls->n;
    calls->at[calls->n] = call;
    return calls->n++;
}

/* ---- into a pack ----------------------------------------------------------------------------- */

static void put_text(const struct calls *calls, struct ta_pack *pack, ta_str text)
{
    ta_pack_text(pack, text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(calls->trace, text));
}

/* Files may space the list in their own ways. */
static void put_ranks(const struct calls *calls, struct ta_pack *pack, ta_str ranks)
{
    const struct ta_slice text =
        ranks == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(calls->trace, ranks);
    char *copy = reallocarray(NULL, text.len + 1, 2);
    pack->failed |= !copy;
    if (copy)
        ta_pack_text(pack, ta_list_tidy(text, copy));
    free(copy);
}

/* Names of groups are numbers as a rule, and are read as such. */
static void put_group(const struct calls *calls, struct ta_pack *pack, const struct call *call)
{
    char text[24];
    if (call->group_number == TA_MISSING) {
        put_text(calls, pack, call->group);
        return;
    }
    snprintf(text, sizeof text, "%lld", (long long)call->group_number);
    ta_pack_text(pack, ta_slice_of(text));
}

void calls_put(const struct calls *calls, struct ta_pack *pack)
{
    ta_pack_int(pack, (int64_t)calls->n);
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->at[i];
        ta_pack_int(pack, call->kind);
        put_text(calls, pack, call->op);
        put_group(calls, pack, call);
        put_text(calls, pack, call->description);
        put_ranks(calls, pack, call->ranks);
        put_text(calls, pack, call->dtype);
        ta_pack_int(pack, call->in);
        ta_pack_int(pack, call->out);
        ta_pack_int(pack, call->size);
        ta_pack_int(pack, call->peer);
        ta_pack_int(pack, call->is_numbered);
    }
}
