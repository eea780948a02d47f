/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each rank takes for itself between two collectives, against the ranks that do the same
 * there.
 *
 * Peers are the records of all ranks that end the same stretch of the program: between collectives
 * of the same roles and places in the sequences of their groups, with as many transfers between two
 * in between.  They need not be of one group: replicas are peers too.  A stretch that only one rank
 * has, such as a pipeline stage without replicas, or one in which a record is lost, has no peers
 * and says nothing.  Only durations are compared, so clocks do not matter. */
#include "ranks/mix.h"
#include "ranks/stage.h"

enum { BUCKET_BITS = 16 };

struct stretches {
    struct ta_ranks *ranks;
    uint64_t *keys;     /* of each record, 0 for those without peers */
    uint64_t *roles;    /* of each shape */
    uint32_t *order;    /* records by key */
    uint32_t *ordinals; /* of each record in its comm, on its member */
    size_t n;
};

/* What a call is in the program, whichever group makes it. */
static uint64_t role_of(const struct ta_ranks *ranks, const struct ta_coll_shape *shape)
{
    const enum ta_coll_kind kind = ranks->shapes[shape->token].kind; /* the same on all ranks */
    const bool is_pair = ta_coll_is_between_two(kind);
    uint64_t role = mix(5, kind);
    role = mix_text(role, ranks->groups[shape->group].description);
    role = mix(mix_text(role, shape->dtype), (uint64_t)shape->size);
    if (!ta_coll_differs_by_rank(kind))
        role = mix(mix(role, (uint64_t)shape->in), (uint64_t)shape->out);
    return is_pair ? role : mix_text(role, shape->op);
}

/* A collective at its place: equal on all ranks that run the same program. */
static uint64_t mark_of(const struct stretches *s, uint32_t record)
{
    const struct ta_ranks *ranks = s->ranks;
    const struct ta_coll_record *of = &ranks->records[record];
    const int64_t place = of->collective == TA_COLL_NONE ? s->ordinals[record]
                                                         : ranks->collectives[of->collective].place;
    return mix(s->roles[of->shape], (uint64_t)place);
}

static bool is_pair(const struct stretches *s, size_t record)
{
    return ta_coll_is_between_two(s->ranks->shapes[s->ranks->records[record].shape].kind);
}

/* Keys of the records from one collective, exclusive, to the next, inclusive, or to the end. */
static void put_keys(struct stretches *s, uint64_t from, size_t first, size_t end, uint64_t to)
{
    const uint64_t whole = mix(mix(from, to), end - first);
    for (size_t i = first; i < end; i++)
        s->keys[i] = mix(mix(whole, i - first), s->roles[s->ranks->records[i].shape]) | 1;
}

/* The time before the first record began with the recording, so it is not compared. */
static void put_member(struct stretches *s, const struct ta_rank_member *member)
{
    const size_t end = member->first + member->n;
    uint64_t from = 1;
    for (size_t first = member->first, i = first; i < end; i++) {
        if (is_pair(s, i) && i + 1 < end)
            continue;
        const uint64_t mark = is_pair(s, i) ? 2 : mark_of(s, (uint32_t)i);
        put_keys(s, from, first, i + 1, mark);
        from = mark;
        first = i + 1;
    }
    if (member->n)
        s->keys[member->first] = 0;
}

static void number_records(struct stretches *s)
{
    const struct ta_ranks *ranks = s->ranks;
    for (size_t c = 0; c < ranks->n_communicators; c++) {
        const uint32_t *at = ranks->order + ranks->communicators[c].first;
        for (size_t i = 0; i < ranks->communicators[c].n; i++)
            s->ordinals[at[i]] =
                i > 0 && ranks->records[at[i - 1]].member == ranks->records[at[i]].member
                    ? s->ordinals[at[i - 1]] + 1
                    : 0;
    }
}

/* ---- by key --------------------------------------------------------------------------------- */

static int by_key(const void *left, const void *right, void *user)
{
    const struct stretches *s = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (s->keys[a] != s->keys[b])
        return s->keys[a] < s->keys[b] ? -1 : 1;
    const int64_t x = s->ranks->records[a].before, y = s->ranks->records[b].before;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

/* Into buckets by the upper bits first, as there are millions of records from thousands of
 * ranks. */
static bool sort_keys(struct stretches *s)
{
    const size_t buckets = (size_t)1 << BUCKET_BITS;
    size_t *starts = calloc(buckets + 1, sizeof *starts);
    if (!starts)
        return false;
    for (size_t i = 0; i < s->ranks->n_records; i++)
        if (s->keys[i])
            starts[(s->keys[i] >> (64 - BUCKET_BITS)) + 1]++;
    for (size_t i = 0; i < buckets; i++)
        starts[i + 1] += starts[i];
    s->n = starts[buckets];
    for (size_t i = 0; i < s->ranks->n_records; i++)
        if (s->keys[i])
            s->order[starts[s->keys[i] >> (64 - BUCKET_BITS)]++] = (uint32_t)i;
    for (size_t i = 0, from = 0; i < buckets; from = starts[i++]) /* starts are ends by now */
        if (starts[i] > from + 1)
            qsort_r(s->order + from, starts[i] - from, sizeof *s->order, by_key, s);
    free(starts);
    return true;
}

/* Compared with the median of the others; `at` are the records of a stretch, the shortest first. */
static void compare(const struct ta_ranks *ranks, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t others = n - 1, low = (others - 1) / 2, high = others / 2;
        const uint32_t a = at[low + (low >= i)], b = at[high + (high >= i)];
        const int64_t x = ranks->records[a].before, y = ranks->records[b].before;
        ranks->reference[at[i]] = a;
        ranks->excess[at[i]] = ranks->records[at[i]].before - x - (y - x) / 2;
    }
}

static bool list_stretches(struct stretches *s)
{
    struct ta_ranks *ranks = s->ranks;
    size_t max = 0;
    for (size_t from = 0, to; from < s->n; from = to) {
        for (to = from + 1; to < s->n && s->keys[s->order[to]] == s->keys[s->order[from]];)
            to++;
        if (to - from < 2)
            continue;
        if (!ta_vec_grow((void **)&ranks->stretches, &max, ranks->n_stretches,
                         sizeof *ranks->stretches))
            return false;
        ranks->stretches[ranks->n_stretches++] =
            (struct ta_coll_stretch){(uint32_t)from, (uint32_t)(to - from)};
        compare(ranks, s->order + from, to - from);
    }
    return true;
}

bool compare_stretches(struct ta_ranks *ranks)
{
    const size_t n = ranks->n_records;
    struct stretches s = {.ranks = ranks,
                          .keys = calloc(n + 1, sizeof *s.keys),
                          .roles = calloc(ranks->n_shapes + 1, sizeof *s.roles),
                          .order = calloc(n + 1, sizeof *s.order),
                          .ordinals = calloc(n + 1, sizeof *s.ordinals)};
    ranks->reference = reallocarray(NULL, n + 1, sizeof *ranks->reference);
    ranks->excess = reallocarray(NULL, n + 1, sizeof *ranks->excess);
    bool done = s.keys && s.roles && s.order && s.ordinals && ranks->reference && ranks->excess;
    for (size_t i = 0; done && i < n; i++) {
        ranks->reference[i] = TA_COLL_NONE;
        ranks->excess[i] = TA_MISSING;
    }
    for (size_t i = 0; done && i < ranks->n_shapes; i++)
        s.roles[i] = role_of(ranks, &ranks->shapes[i]);
    if (done)
        number_records(&s);
    for (size_t i = 0; done && i < ranks->n_members; i++)
        put_member(&s, &ranks->members[i]);
    done = done && sort_keys(&s);
    done = done && list_stretches(&s);
    ranks->by_stretch = s.order;
    free(s.keys);
    free(s.roles);
    free(s.ordinals);
    return done;
}
