/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the packs of all ranks to a run: what is the same on several ranks gets one number. */
#include "ranks/mix.h"
#include "ranks/stage.h"

#include "model/idle/idle.h"

#include <stdio.h>

struct reading {
    struct ta_ranks *ranks;
    struct ta_map shape_numbers, group_numbers, communicator_numbers;
    size_t max_groups, max_shapes, max_communicators, max_items, max_packs, max_members,
        max_records;
    struct pack_shape {
        uint32_t number;
        bool is_numbered; /* its records have their place in the sequence of the group */
        int32_t seq;      /* of the last one */
    } * shapes;           /* of the pack, by their number in it */
    size_t n_shapes, max_pack_shapes;
    bool failed;
};

/* ---- numbers for what is equal -------------------------------------------------------------- */

typedef bool is_it_fn(const struct ta_ranks *ranks, size_t number, const void *key);

/* The slot of the number that `is_it` takes for a key, or a free one (UINT64_MAX); NULL without
 * memory. */
static uint64_t *find(struct ta_map *map, uint64_t hash, is_it_fn *is_it,
                      const struct ta_ranks *ranks, const void *key)
{
    for (;; hash++) {
        uint64_t *slot = ta_map_at(map, hash, UINT64_MAX);
        if (!slot || *slot == UINT64_MAX || is_it(ranks, (size_t)*slot, key))
            return slot;
    }
}

/* Gives a free slot the next of `n` elements; false without memory. */
static bool add(struct reading *in, uint64_t *slot, void *array, size_t *max, size_t *n,
                size_t size)
{
    if (!slot || *n >= TA_COLL_NONE || !ta_vec_grow(array, max, *n, size)) {
        in->failed = true;
        return false;
    }
    *slot = (*n)++;
    return true;
}

static bool is_group(const struct ta_ranks *ranks, size_t number, const void *key)
{
    const struct ta_coll_group *a = &ranks->groups[number], *b = key;
    return ta_slice_equal(a->name, b->name) && ta_slice_equal(a->ranks, b->ranks);
}

static uint32_t group_number(struct reading *in, const struct ta_coll_group *group)
{
    struct ta_ranks *ranks = in->ranks;
    const uint64_t hash = mix_text(mix_text(1, group->name), group->ranks);
    uint64_t *slot = find(&in->group_numbers, hash, is_group, ranks, group);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &ranks->groups, &in->max_groups, &ranks->n_groups, sizeof *ranks->groups))
        return 0;
    ranks->groups[*slot] = *group;
    return (uint32_t)*slot;
}

static bool is_named(const struct ta_coll_group *group)
{
    return group->name.len > 0 || group->ranks.len > 0;
}

static bool is_communicator(const struct ta_ranks *ranks, size_t number, const void *key)
{
    const struct ta_communicator *a = &ranks->communicators[number], *b = key;
    return a->group == b->group && a->kind == b->kind && a->between_two == b->between_two;
}

/* A group that nobody names may be several, whose calls are mixed: only calls of one kind are sure
 * to come in the same order. */
static uint32_t communicator_number(struct reading *in, const struct ta_coll_shape *shape)
{
    struct ta_ranks *ranks = in->ranks;
    const struct ta_communicator communicator = {
        .group = shape->group,
        .between_two = ta_coll_is_between_two(shape->kind),
        .kind = is_named(&ranks->groups[shape->group]) ? TA_COLL_OTHER : shape->kind,
    };
    const uint64_t hash =
        mix(mix(mix(2, communicator.group), communicator.between_two), communicator.kind);
    uint64_t *slot = find(&in->communicator_numbers, hash, is_communicator, ranks, &communicator);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &ranks->communicators, &in->max_communicators, &ranks->n_communicators,
             sizeof *ranks->communicators))
        return 0;
    ranks->communicators[*slot] = communicator;
    return (uint32_t)*slot;
}

static bool is_shape(const struct ta_ranks *ranks, size_t number, const void *key)
{
    const struct ta_coll_shape *a = &ranks->shapes[number], *b = key;
    return a->group == b->group && a->kind == b->kind && a->in == b->in && a->out == b->out &&
           a->size == b->size && a->peer == b->peer && ta_slice_equal(a->op, b->op) &&
           ta_slice_equal(a->dtype, b->dtype);
}

static uint32_t shape_number(struct reading *in, struct ta_coll_shape *shape)
{
    struct ta_ranks *ranks = in->ranks;
    const uint64_t hash =
        mix(mix(mix(mix_text(mix_text(mix(3, shape->group), shape->op), shape->dtype), shape->kind),
                (uint64_t)shape->in),
            mix(mix((uint64_t)shape->out, (uint64_t)shape->size), (uint64_t)shape->peer));
    uint64_t *slot = find(&in->shape_numbers, hash, is_shape, ranks, shape);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &ranks->shapes, &in->max_shapes, &ranks->n_shapes, sizeof *ranks->shapes))
        return 0;
    const uint32_t number = (uint32_t)*slot;
    shape->communicator = communicator_number(in, shape);
    shape->bytes = ta_coll_bytes(shape->kind, shape->in, shape->out, shape->dtype);
    shape->token = number;
    ranks->shapes[number] = *shape;
    struct ta_coll_shape alike = *shape;
    /* One rank may divide its data evenly while others do not. */
    if (shape->kind == TA_COLL_ALL_TO_ALL && ta_coll_kind_of(shape->op) == TA_COLL_ALL_TO_ALLV)
        alike.kind = TA_COLL_ALL_TO_ALLV;
    if (ta_coll_differs_by_rank(alike.kind))
        alike.in = alike.out = TA_MISSING;
    if (ta_coll_is_between_two(shape->kind)) { /* both ends are one transfer */
        alike.op = ta_slice_of(ta_coll_kind_name(alike.kind = TA_COLL_SENDRECV));
        alike.peer = TA_MISSING;
    }
    if (!is_shape(ranks, number, &alike)) {
        const uint32_t token = shape_number(in, &alike); /* may move the shapes */
        ranks->shapes[number].token = token;
    }
    return number;
}

/* ---- a pack --------------------------------------------------------------------------------- */

static void read_shape(struct reading *in, struct ta_unpack *pack)
{
    struct ta_coll_shape shape = {.kind = (enum ta_coll_kind)ta_unpack_index(pack, TA_COLL_KINDS)};
    struct ta_coll_group group = {0};
    shape.op = ta_unpack_text(pack);
    group.name = ta_unpack_text(pack);
    group.description = ta_unpack_text(pack);
    group.ranks = ta_unpack_text(pack);
    shape.dtype = ta_unpack_text(pack);
    shape.in = ta_unpack_int(pack);
    shape.out = ta_unpack_int(pack);
    shape.size = ta_unpack_int(pack);
    shape.peer = ta_unpack_int(pack);
    const bool is_numbered = ta_unpack_index(pack, 2);
    if (shape.op.len == 0)
        shape.op = ta_slice_of(ta_coll_kind_name(shape.kind));
    shape.group = group_number(in, &group);
    if (in->failed || !ta_vec_grow((void **)&in->shapes, &in->max_pack_shapes, in->n_shapes,
                                   sizeof *in->shapes)) {
        in->failed = true;
        return;
    }
    in->shapes[in->n_shapes++] = (struct pack_shape){shape_number(in, &shape), is_numbered, 0};
}

static void read_item(struct reading *in, struct ta_unpack *pack)
{
    struct ta_ranks *ranks = in->ranks;
    struct ta_coll_item item = {
        .kind = (enum ta_coll_item_kind)ta_unpack_index(pack, TA_COLL_ITEM_KINDS)};
    if (item.kind == TA_COLL_ITEM_GAP)
        item.name = ta_slice_of(ta_idle_causes[ta_unpack_index(pack, TA_IDLE_CAUSES)].name);
    else
        item.name = ta_unpack_text(pack);
    item.within = ta_unpack_text(pack);
    if (!ta_vec_grow((void **)&ranks->items, &in->max_items, ranks->n_items, sizeof *ranks->items))
        in->failed = true;
    else
        ranks->items[ranks->n_items++] = item;
}

/* Passes over what ta_coll_parts() and ta_coll_detail() read. */
static void skip_detail(struct ta_unpack *pack, size_t n_items)
{
    ta_unpack_int(pack);
    ta_unpack_int(pack);
    for (size_t n = ta_unpack_index(pack, TA_COLL_ITEMS_KEPT + 1); n > 0; n--) {
        ta_unpack_index(pack, n_items);
        ta_unpack_int(pack);
    }
}

/* Times of a trace are far smaller; times of a damaged pack may be anything. */
#define TIME_MOST (INT64_MAX / 2)

static int64_t time_of(struct ta_unpack *pack, int64_t from, int64_t least)
{
    const int64_t delta = ta_unpack_int(pack), time = ta_add_sat(from, delta);
    if (delta >= least && time >= -TIME_MOST && time <= TIME_MOST)
        return time;
    pack->bad = true;
    return 0;
}

static int32_t read_seq(struct ta_unpack *pack, struct pack_shape *shape)
{
    if (!shape || !shape->is_numbered)
        return -1;
    const int64_t seq = ta_add_sat(shape->seq, ta_unpack_int(pack));
    if (seq >= 0 && seq < INT32_MAX)
        return shape->seq = (int32_t)seq;
    pack->bad = true;
    return -1;
}

/* Reads what follows `before`, the record before it in the pack. */
static void read_record(struct reading *in, struct ta_unpack *pack, struct ta_coll_record *now)
{
    struct ta_ranks *ranks = in->ranks;
    const size_t shape = ta_unpack_index(pack, in->n_shapes);
    now->seq = read_seq(pack, pack->bad ? NULL : &in->shapes[shape]);
    now->step = (int32_t)time_of(pack, now->step, INT32_MIN);
    now->start = time_of(pack, now->start, 0);
    now->end = time_of(pack, now->start, 0);
    now->before = time_of(pack, 0, 0);
    now->detail = pack->at;
    now->shape = pack->bad ? 0 : in->shapes[shape].number;
    skip_detail(pack, ranks->packs[now->pack].n_items);
    if (!ta_vec_grow((void **)&ranks->records, &in->max_records, ranks->n_records,
                     sizeof *ranks->records))
        in->failed = true;
    else
        ranks->records[ranks->n_records++] = *now;
}

/* Adds the records of a pack to the last member. */
static void read_pack(struct reading *in, struct ta_slice text)
{
    struct ta_ranks *ranks = in->ranks;
    struct ta_unpack pack = ta_unpack_from(text);
    const size_t before = ranks->n_records;
    if (!ta_vec_grow((void **)&ranks->packs, &in->max_packs, ranks->n_packs,
                     sizeof *ranks->packs)) {
        in->failed = true;
        return;
    }
    struct ta_coll_pack *head = &ranks->packs[ranks->n_packs];
    *head = (struct ta_coll_pack){.first_item = ranks->n_items, .end = pack.end};
    head->member = (uint32_t)ranks->n_members - 1;
    pack.bad = ta_unpack_int(&pack) != PACK_VERSION;
    struct ta_coll_record now = {.collective = TA_COLL_NONE,
                                 .member = head->member,
                                 .pack = (uint32_t)ranks->n_packs++,
                                 .start = time_of(&pack, 0, -TIME_MOST)};
    in->n_shapes = 0;
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_shape(in, &pack);
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_item(in, &pack);
    head->n_items = ranks->n_items - head->first_item;
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_record(in, &pack, &now);
    if (pack.bad || ranks->n_records >= TA_COLL_NONE) {
        ranks->n_records = before;
        ranks->damaged = true;
    }
}

/* ---- a run ---------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct ta_coll_record *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end != b->end ? (a->end < b->end ? -1 : 1)
                            : (a->pack > b->pack) - (a->pack < b->pack);
}

static bool add_member(struct reading *in, const int64_t *row)
{
    struct ta_ranks *ranks = in->ranks;
    if (!ta_vec_grow((void **)&ranks->members, &in->max_members, ranks->n_members,
                     sizeof *ranks->members))
        return false;
    ranks->members[ranks->n_members++] = (struct ta_rank_member){.rank = row[RECORDS_RANK],
                                                                 .device = row[RECORDS_DEVICE],
                                                                 .began = TA_MISSING,
                                                                 .first = ranks->n_records};
    return true;
}

/* Collectives of the host are the device's collectives seen from outside, where a rank has both;
 * rows without a device come first. */
static bool is_seen_on_device(const struct ta_partial *records, size_t row)
{
    const int64_t *at = ta_partial_at(records, row);
    size_t next = row + 1;
    while (next < ta_partial_rows(records) &&
           ta_partial_at(records, next)[RECORDS_DEVICE] == TA_MISSING)
        next++;
    return at[RECORDS_DEVICE] == TA_MISSING && next < ta_partial_rows(records) &&
           ta_partial_at(records, next)[RECORDS_RANK] == at[RECORDS_RANK];
}

/* Rows that follow each other belong to one member as long as rank and device are the same. */
static void read_members(struct reading *in, const struct ta_partial *records)
{
    struct ta_ranks *ranks = in->ranks;
    size_t packs = 0;
    for (size_t i = 0; i < ta_partial_rows(records) && !in->failed; i++) {
        const int64_t *row = ta_partial_at(records, i);
        if (is_seen_on_device(records, i))
            continue;
        const struct ta_rank_member *last =
            ranks->n_members ? &ranks->members[ranks->n_members - 1] : NULL;
        if (!last || last->rank != row[RECORDS_RANK] || last->device != row[RECORDS_DEVICE]) {
            packs = 0;
            in->failed |= !add_member(in, row);
        }
        if (in->failed)
            return;
        if (row[RECORDS_LEFT_OUT] > 0)
            ranks->left_out = ta_add_sat(ranks->left_out, row[RECORDS_LEFT_OUT]);
        read_pack(in, ta_partial_text(records, row, RECORDS_PACK));
        struct ta_rank_member *member = &ranks->members[ranks->n_members - 1];
        ta_least(&member->began, row[RECORDS_BEGAN]);
        member->n = ranks->n_records - member->first;
        if (++packs > 1)
            qsort(ranks->records + member->first, member->n, sizeof *ranks->records, by_start);
    }
}

/* Counts, and then places, the records of each communicator. */
static bool sort_communicators(struct ta_ranks *ranks)
{
    ranks->order = reallocarray(NULL, ranks->n_records + 1, sizeof *ranks->order);
    if (!ranks->order)
        return false;
    for (size_t i = 0; i < ranks->n_records; i++)
        ranks->communicators[ranks->shapes[ranks->records[i].shape].communicator].n++;
    size_t first = 0;
    for (size_t i = 0; i < ranks->n_communicators; i++) {
        ranks->communicators[i].first = first;
        first += ranks->communicators[i].n;
        ranks->communicators[i].n = 0;
    }
    for (size_t i = 0; i < ranks->n_records; i++) {
        struct ta_communicator *comm =
            &ranks->communicators[ranks->shapes[ranks->records[i].shape].communicator];
        ranks->order[comm->first + comm->n++] = (uint32_t)i;
    }
    return true;
}

static bool is_namesake(const struct ta_ranks *ranks, size_t number, const void *key)
{
    return ta_slice_equal(ranks->groups[number].name, ((const struct ta_coll_group *)key)->name);
}

static bool mark_shared_names(struct ta_ranks *ranks)
{
    struct ta_map names = {0};
    for (size_t i = 0; i < ranks->n_groups; i++) {
        uint64_t *slot =
            find(&names, mix_text(4, ranks->groups[i].name), is_namesake, ranks, &ranks->groups[i]);
        if (slot && *slot == UINT64_MAX)
            *slot = i;
        else if (slot)
            ranks->groups[*slot].shares_name = ranks->groups[i].shares_name = true;
    }
    const bool done = !names.failed;
    ta_map_free(&names);
    return done;
}

bool read_records(const struct ta_partial *records, struct ta_ranks *ranks)
{
    struct reading in = {.ranks = ranks};
    read_members(&in, records);
    ta_map_free(&in.shape_numbers);
    ta_map_free(&in.group_numbers);
    ta_map_free(&in.communicator_numbers);
    free(in.shapes);
    return !in.failed && sort_communicators(ranks) && mark_shared_names(ranks);
}

static struct ta_coll_parts read_parts(struct ta_unpack *pack)
{
    const int64_t hidden = ta_unpack_int(pack), host_late = ta_unpack_int(pack);
    return (struct ta_coll_parts){ta_max_i64(hidden, 0), ta_max_i64(host_late, 0)};
}

struct ta_coll_parts ta_coll_parts(const struct ta_ranks *ranks,
                                   const struct ta_coll_record *record)
{
    struct ta_unpack pack = {record->detail, ranks->packs[record->pack].end, false};
    return read_parts(&pack);
}

void ta_coll_detail(const struct ta_ranks *ranks, const struct ta_coll_record *record,
                    struct ta_coll_detail *detail)
{
    const struct ta_coll_pack *of = &ranks->packs[record->pack];
    struct ta_unpack pack = {record->detail, of->end, false};
    read_parts(&pack);
    detail->n = ta_unpack_index(&pack, TA_COLL_ITEMS_KEPT + 1);
    for (size_t i = 0; i < detail->n; i++) {
        detail->items[i].what = &ranks->items[of->first_item + ta_unpack_index(&pack, of->n_items)];
        detail->items[i].ns = ta_max_i64(ta_unpack_int(&pack), 0);
    }
}

struct ta_slice ta_coll_label(const struct ta_ranks *ranks, uint32_t group,
                              char text[TA_COLL_LABEL])
{
    const struct ta_coll_group *of = &ranks->groups[group];
    if (!of->shares_name || of->ranks.len == 0)
        return of->name;
    snprintf(text, TA_COLL_LABEL, "%.*s %.*s", (int)ta_min_i64((int64_t)of->name.len, 64),
             of->name.ptr, (int)ta_min_i64((int64_t)of->ranks.len, 128), of->ranks.ptr);
    return ta_slice_of(text);
}
