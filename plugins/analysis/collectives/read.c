/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the packs of all ranks to a run: what is the same on several ranks gets one number. */
#include "collectives.h"
#include "mix.h"
#include "model/idle/idle.h"

struct reading {
    struct coll_run *run;
    struct ta_map shape_numbers, group_numbers, lane_numbers;
    size_t max_groups, max_shapes, max_lanes, max_items, max_packs, max_members, max_records;
    struct pack_shape {
        uint32_t number;
        bool is_numbered; /* its records have their place in the sequence of the group */
        int32_t seq;      /* of the last one */
    } * shapes;           /* of the pack, by their number in it */
    size_t n_shapes, max_pack_shapes;
    bool failed;
};

/* ---- numbers for what is equal -------------------------------------------------------------- */

typedef bool is_it_fn(const struct coll_run *run, size_t number, const void *key);

/* The slot of the number that `is_it` takes for a key, or a free one (UINT64_MAX); NULL without
 * memory. */
static uint64_t *find(struct ta_map *map, uint64_t hash, is_it_fn *is_it,
                      const struct coll_run *run, const void *key)
{
    for (;; hash++) {
        uint64_t *slot = ta_map_at(map, hash, UINT64_MAX);
        if (!slot || *slot == UINT64_MAX || is_it(run, (size_t)*slot, key))
            return slot;
    }
}

/* Makes the next of `n` elements that of a free slot; false without memory. */
static bool add(struct reading *in, uint64_t *slot, void *array, size_t *max, size_t *n,
                size_t size)
{
    if (!slot || *n >= COLL_NONE || !coll_grow(array, max, *n, size)) {
        in->failed = true;
        return false;
    }
    *slot = (*n)++;
    return true;
}

static bool is_group(const struct coll_run *run, size_t number, const void *key)
{
    const struct coll_group *a = &run->groups[number], *b = key;
    return ta_slice_equal(a->name, b->name) && ta_slice_equal(a->ranks, b->ranks);
}

static uint32_t group_number(struct reading *in, const struct coll_group *group)
{
    struct coll_run *run = in->run;
    const uint64_t hash = coll_mix_text(coll_mix_text(1, group->name), group->ranks);
    uint64_t *slot = find(&in->group_numbers, hash, is_group, run, group);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &run->groups, &in->max_groups, &run->n_groups, sizeof *run->groups))
        return 0;
    run->groups[*slot] = *group;
    return (uint32_t)*slot;
}

static bool is_named(const struct coll_group *group)
{
    return group->name.len > 0 || group->ranks.len > 0;
}

static bool is_lane(const struct coll_run *run, size_t number, const void *key)
{
    const struct coll_lane *a = &run->lanes[number], *b = key;
    return a->group == b->group && a->kind == b->kind && a->between_two == b->between_two;
}

/* A group that nobody names may be several, whose calls are mixed: only those of a kind are sure to
 * come in the same order. */
static uint32_t lane_number(struct reading *in, const struct coll_shape *shape)
{
    struct coll_run *run = in->run;
    const struct coll_lane lane = {
        .group = shape->group,
        .between_two = coll_is_between_two(shape->kind),
        .kind = is_named(&run->groups[shape->group]) ? COLL_OTHER : shape->kind,
    };
    const uint64_t hash = coll_mix(coll_mix(coll_mix(2, lane.group), lane.between_two), lane.kind);
    uint64_t *slot = find(&in->lane_numbers, hash, is_lane, run, &lane);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &run->lanes, &in->max_lanes, &run->n_lanes, sizeof *run->lanes))
        return 0;
    run->lanes[*slot] = lane;
    return (uint32_t)*slot;
}

static bool is_shape(const struct coll_run *run, size_t number, const void *key)
{
    const struct coll_shape *a = &run->shapes[number], *b = key;
    return a->group == b->group && a->kind == b->kind && a->in == b->in && a->out == b->out &&
           a->size == b->size && a->peer == b->peer && ta_slice_equal(a->op, b->op) &&
           ta_slice_equal(a->dtype, b->dtype);
}

static uint32_t shape_number(struct reading *in, struct coll_shape *shape)
{
    struct coll_run *run = in->run;
    const uint64_t hash = coll_mix(
        coll_mix(coll_mix(coll_mix_text(coll_mix_text(coll_mix(3, shape->group), shape->op),
                                        shape->dtype),
                          shape->kind),
                 (uint64_t)shape->in),
        coll_mix(coll_mix((uint64_t)shape->out, (uint64_t)shape->size), (uint64_t)shape->peer));
    uint64_t *slot = find(&in->shape_numbers, hash, is_shape, run, shape);
    if (slot && *slot != UINT64_MAX)
        return (uint32_t)*slot;
    if (!add(in, slot, &run->shapes, &in->max_shapes, &run->n_shapes, sizeof *run->shapes))
        return 0;
    const uint32_t number = (uint32_t)*slot;
    shape->lane = lane_number(in, shape);
    shape->bytes = coll_bytes(shape->kind, shape->in, shape->out, shape->dtype);
    shape->token = number;
    run->shapes[number] = *shape;
    struct coll_shape alike = *shape;
    if (coll_is_uneven(shape->kind))
        alike.in = alike.out = TA_MISSING;
    if (coll_is_between_two(shape->kind)) { /* both ends are one transfer */
        alike.op = ta_slice_of(coll_kind_name(alike.kind = COLL_SENDRECV));
        alike.peer = TA_MISSING;
    }
    if (!is_shape(run, number, &alike)) {
        const uint32_t token = shape_number(in, &alike); /* may move the shapes */
        run->shapes[number].token = token;
    }
    return number;
}

/* ---- a pack --------------------------------------------------------------------------------- */

static void read_shape(struct reading *in, struct ta_unpack *pack)
{
    struct coll_shape shape = {.kind = (enum coll_kind)ta_unpack_index(pack, COLL_KINDS)};
    struct coll_group group = {0};
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
        shape.op = ta_slice_of(coll_kind_name(shape.kind));
    shape.group = group_number(in, &group);
    if (in->failed ||
        !coll_grow(&in->shapes, &in->max_pack_shapes, in->n_shapes, sizeof *in->shapes)) {
        in->failed = true;
        return;
    }
    in->shapes[in->n_shapes++] = (struct pack_shape){shape_number(in, &shape), is_numbered, 0};
}

static void read_item(struct reading *in, struct ta_unpack *pack)
{
    struct coll_run *run = in->run;
    struct coll_item item = {.kind = (enum coll_item_kind)ta_unpack_index(pack, COLL_ITEM_KINDS)};
    if (item.kind == COLL_ITEM_GAP)
        item.name = ta_slice_of(ta_idle_causes[ta_unpack_index(pack, TA_IDLE_CAUSES)].name);
    else
        item.name = ta_unpack_text(pack);
    item.within = ta_unpack_text(pack);
    if (!coll_grow(&run->items, &in->max_items, run->n_items, sizeof *run->items))
        in->failed = true;
    else
        run->items[run->n_items++] = item;
}

/* Passes over what coll_parts_of() and coll_detail_of() read. */
static void skip_detail(struct ta_unpack *pack, size_t n_items)
{
    ta_unpack_int(pack);
    ta_unpack_int(pack);
    for (size_t n = ta_unpack_index(pack, COLL_ITEMS_KEPT + 1); n > 0; n--) {
        ta_unpack_index(pack, n_items);
        ta_unpack_int(pack);
    }
}

/* Times of a trace are far smaller; those of a damaged pack may be anything. */
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
static void read_record(struct reading *in, struct ta_unpack *pack, struct coll_record *now)
{
    struct coll_run *run = in->run;
    const size_t shape = ta_unpack_index(pack, in->n_shapes);
    now->seq = read_seq(pack, pack->bad ? NULL : &in->shapes[shape]);
    now->step = (int32_t)time_of(pack, now->step, INT32_MIN);
    now->start = time_of(pack, now->start, 0);
    now->end = time_of(pack, now->start, 0);
    now->before = time_of(pack, 0, 0);
    now->detail = pack->at;
    now->shape = pack->bad ? 0 : in->shapes[shape].number;
    skip_detail(pack, run->packs[now->pack].n_items);
    if (!coll_grow(&run->records, &in->max_records, run->n_records, sizeof *run->records))
        in->failed = true;
    else
        run->records[run->n_records++] = *now;
}

/* Adds the records of a pack to the last member. */
static void read_pack(struct reading *in, struct ta_slice text)
{
    struct coll_run *run = in->run;
    struct ta_unpack pack = ta_unpack_from(text);
    const size_t before = run->n_records;
    if (!coll_grow(&run->packs, &in->max_packs, run->n_packs, sizeof *run->packs)) {
        in->failed = true;
        return;
    }
    struct coll_pack *head = &run->packs[run->n_packs];
    *head = (struct coll_pack){.first_item = run->n_items, .end = pack.end};
    head->member = (uint32_t)run->n_members - 1;
    pack.bad = ta_unpack_int(&pack) != COLL_PACK_VERSION;
    struct coll_record now = {.instance = COLL_NONE,
                              .member = head->member,
                              .pack = (uint32_t)run->n_packs++,
                              .start = time_of(&pack, 0, -TIME_MOST)};
    in->n_shapes = 0;
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_shape(in, &pack);
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_item(in, &pack);
    head->n_items = run->n_items - head->first_item;
    for (size_t n = ta_unpack_index(&pack, SIZE_MAX); n > 0 && !pack.bad && !in->failed; n--)
        read_record(in, &pack, &now);
    if (pack.bad || run->n_records >= COLL_NONE) {
        run->n_records = before;
        run->damaged = true;
    }
}

/* ---- a run ---------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct coll_record *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end != b->end ? (a->end < b->end ? -1 : 1)
                            : (a->pack > b->pack) - (a->pack < b->pack);
}

static bool add_member(struct reading *in, const int64_t *row)
{
    struct coll_run *run = in->run;
    if (!coll_grow(&run->members, &in->max_members, run->n_members, sizeof *run->members))
        return false;
    run->members[run->n_members++] = (struct coll_member){
        .rank = row[RECORDS_RANK], .device = row[RECORDS_DEVICE], .first = run->n_records};
    return true;
}

/* Collectives of the host are those of the device seen from outside, where a rank has both; rows
 * without a device come first. */
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
    struct coll_run *run = in->run;
    size_t packs = 0;
    for (size_t i = 0; i < ta_partial_rows(records) && !in->failed; i++) {
        const int64_t *row = ta_partial_at(records, i);
        if (is_seen_on_device(records, i))
            continue;
        const struct coll_member *last = run->n_members ? &run->members[run->n_members - 1] : NULL;
        if (!last || last->rank != row[RECORDS_RANK] || last->device != row[RECORDS_DEVICE]) {
            packs = 0;
            in->failed |= !add_member(in, row);
        }
        if (in->failed)
            return;
        if (row[RECORDS_LEFT_OUT] > 0)
            run->left_out = ta_add_sat(run->left_out, row[RECORDS_LEFT_OUT]);
        read_pack(in, ta_partial_text(records, row, RECORDS_PACK));
        struct coll_member *member = &run->members[run->n_members - 1];
        member->n = run->n_records - member->first;
        if (++packs > 1)
            qsort(run->records + member->first, member->n, sizeof *run->records, by_start);
    }
}

/* Counts, and then places, the records of each lane. */
static bool sort_lanes(struct coll_run *run)
{
    run->order = reallocarray(NULL, run->n_records + 1, sizeof *run->order);
    if (!run->order)
        return false;
    for (size_t i = 0; i < run->n_records; i++)
        run->lanes[run->shapes[run->records[i].shape].lane].n++;
    size_t first = 0;
    for (size_t i = 0; i < run->n_lanes; i++) {
        run->lanes[i].first = first;
        first += run->lanes[i].n;
        run->lanes[i].n = 0;
    }
    for (size_t i = 0; i < run->n_records; i++) {
        struct coll_lane *lane = &run->lanes[run->shapes[run->records[i].shape].lane];
        run->order[lane->first + lane->n++] = (uint32_t)i;
    }
    return true;
}

static bool is_namesake(const struct coll_run *run, size_t number, const void *key)
{
    return ta_slice_equal(run->groups[number].name, ((const struct coll_group *)key)->name);
}

static bool mark_shared_names(struct coll_run *run)
{
    struct ta_map names = {0};
    for (size_t i = 0; i < run->n_groups; i++) {
        uint64_t *slot =
            find(&names, coll_mix_text(4, run->groups[i].name), is_namesake, run, &run->groups[i]);
        if (slot && *slot == UINT64_MAX)
            *slot = i;
        else if (slot)
            run->groups[*slot].shares_name = run->groups[i].shares_name = true;
    }
    const bool done = !names.failed;
    ta_map_free(&names);
    return done;
}

bool coll_read(const struct ta_partial *records, struct coll_run *run)
{
    struct reading in = {.run = run};
    *run = (struct coll_run){0};
    read_members(&in, records);
    ta_map_free(&in.shape_numbers);
    ta_map_free(&in.group_numbers);
    ta_map_free(&in.lane_numbers);
    free(in.shapes);
    return !in.failed && sort_lanes(run) && mark_shared_names(run);
}

void coll_run_free(struct coll_run *run)
{
    free(run->groups);
    free(run->shapes);
    free(run->lanes);
    free(run->members);
    free(run->records);
    free(run->instances);
    free(run->order);
    free(run->entries);
    free(run->stretches);
    free(run->by_stretch);
    free(run->usual);
    free(run->excess);
    free(run->items);
    free(run->packs);
}

static struct coll_parts read_parts(struct ta_unpack *pack)
{
    const int64_t hidden = ta_unpack_int(pack), host_late = ta_unpack_int(pack);
    return (struct coll_parts){ta_max_i64(hidden, 0), ta_max_i64(host_late, 0)};
}

struct coll_parts coll_parts_of(const struct coll_run *run, const struct coll_record *record)
{
    struct ta_unpack pack = {record->detail, run->packs[record->pack].end, false};
    return read_parts(&pack);
}

void coll_detail_of(const struct coll_run *run, const struct coll_record *record,
                    struct coll_detail *detail)
{
    const struct coll_pack *of = &run->packs[record->pack];
    struct ta_unpack pack = {record->detail, of->end, false};
    read_parts(&pack);
    detail->n = ta_unpack_index(&pack, COLL_ITEMS_KEPT + 1);
    for (size_t i = 0; i < detail->n; i++) {
        detail->items[i].what = &run->items[of->first_item + ta_unpack_index(&pack, of->n_items)];
        detail->items[i].ns = ta_max_i64(ta_unpack_int(&pack), 0);
    }
}
