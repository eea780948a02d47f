/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each rank takes for itself between two collectives, beside the ranks that do the same there.
 *
 * Peers are the records of all ranks that end the same stretch of the program: between collectives
 * of the same roles and places in the sequences of their groups, with as many transfers between two
 * in between.  They need not be of one group: replicas are peers too.  A stretch that only one rank
 * has, such as a pipeline stage without replicas, or one in which a record is lost, has no peers
 * and says nothing.  Only durations are compared, so clocks do not matter. */
#include "collectives.h"
#include "mix.h"

enum { BUCKET_BITS = 16 };

struct stretches {
    struct coll_run *run;
    uint64_t *keys;     /* of each record, 0 for those without peers */
    uint64_t *roles;    /* of each shape */
    uint32_t *order;    /* records by key */
    uint32_t *ordinals; /* of each record in its lane, on its member */
    size_t n;
};

/* What a call is in the program, whichever group makes it. */
static uint64_t role_of(const struct coll_run *run, const struct coll_shape *shape)
{
    const bool is_pair = coll_is_between_two(shape->kind);
    uint64_t role = coll_mix(5, is_pair ? COLL_SENDRECV : shape->kind);
    role = coll_mix_text(role, run->groups[shape->group].description);
    role = coll_mix(coll_mix_text(role, shape->dtype), (uint64_t)shape->size);
    if (!coll_is_uneven(shape->kind))
        role = coll_mix(coll_mix(role, (uint64_t)shape->in), (uint64_t)shape->out);
    return is_pair ? role : coll_mix_text(role, shape->op);
}

/* A collective at its place: equal on all ranks that run the same program. */
static uint64_t mark_of(const struct stretches *s, uint32_t record)
{
    const struct coll_run *run = s->run;
    const struct coll_record *of = &run->records[record];
    const int64_t place =
        of->instance == COLL_NONE ? s->ordinals[record] : run->instances[of->instance].place;
    return coll_mix(s->roles[of->shape], (uint64_t)place);
}

static bool is_pair(const struct stretches *s, size_t record)
{
    return coll_is_between_two(s->run->shapes[s->run->records[record].shape].kind);
}

/* Keys of the records from one collective, exclusive, to the next, inclusive, or to the end. */
static void put_keys(struct stretches *s, uint64_t from, size_t first, size_t end, uint64_t to)
{
    const uint64_t whole = coll_mix(coll_mix(from, to), end - first);
    for (size_t i = first; i < end; i++)
        s->keys[i] = coll_mix(coll_mix(whole, i - first), s->roles[s->run->records[i].shape]) | 1;
}

/* The time before the first record began with the recording, so it is not compared. */
static void put_member(struct stretches *s, const struct coll_member *member)
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
    const struct coll_run *run = s->run;
    for (size_t lane = 0; lane < run->n_lanes; lane++) {
        const uint32_t *at = run->order + run->lanes[lane].first;
        for (size_t i = 0; i < run->lanes[lane].n; i++)
            s->ordinals[at[i]] =
                i > 0 && run->records[at[i - 1]].member == run->records[at[i]].member
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
    const int64_t x = s->run->records[a].before, y = s->run->records[b].before;
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
    for (size_t i = 0; i < s->run->n_records; i++)
        if (s->keys[i])
            starts[(s->keys[i] >> (64 - BUCKET_BITS)) + 1]++;
    for (size_t i = 0; i < buckets; i++)
        starts[i + 1] += starts[i];
    s->n = starts[buckets];
    for (size_t i = 0; i < s->run->n_records; i++)
        if (s->keys[i])
            s->order[starts[s->keys[i] >> (64 - BUCKET_BITS)]++] = (uint32_t)i;
    for (size_t i = 0, from = 0; i < buckets; from = starts[i++]) /* starts are ends by now */
        if (starts[i] > from + 1)
            qsort_r(s->order + from, starts[i] - from, sizeof *s->order, by_key, s);
    free(starts);
    return true;
}

/* Beside the median of the others; `at` are the records of a stretch, the shortest first. */
static void compare(const struct coll_run *run, const uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t others = n - 1, low = (others - 1) / 2, high = others / 2;
        const uint32_t a = at[low + (low >= i)], b = at[high + (high >= i)];
        const int64_t x = run->records[a].before, y = run->records[b].before;
        run->usual[at[i]] = a;
        run->excess[at[i]] = run->records[at[i]].before - x - (y - x) / 2;
    }
}

static bool list_stretches(struct stretches *s)
{
    struct coll_run *run = s->run;
    size_t max = 0;
    for (size_t from = 0, to; from < s->n; from = to) {
        for (to = from + 1; to < s->n && s->keys[s->order[to]] == s->keys[s->order[from]];)
            to++;
        if (to - from < 2)
            continue;
        if (!coll_grow(&run->stretches, &max, run->n_stretches, sizeof *run->stretches))
            return false;
        run->stretches[run->n_stretches++] =
            (struct coll_stretch){(uint32_t)from, (uint32_t)(to - from)};
        compare(run, s->order + from, to - from);
    }
    return true;
}

bool coll_compare(struct coll_run *run)
{
    const size_t n = run->n_records;
    struct stretches s = {.run = run,
                          .keys = calloc(n + 1, sizeof *s.keys),
                          .roles = calloc(run->n_shapes + 1, sizeof *s.roles),
                          .order = calloc(n + 1, sizeof *s.order),
                          .ordinals = calloc(n + 1, sizeof *s.ordinals)};
    run->usual = reallocarray(NULL, n + 1, sizeof *run->usual);
    run->excess = reallocarray(NULL, n + 1, sizeof *run->excess);
    bool done = s.keys && s.roles && s.order && s.ordinals && run->usual && run->excess;
    for (size_t i = 0; done && i < n; i++) {
        run->usual[i] = COLL_NONE;
        run->excess[i] = TA_MISSING;
    }
    for (size_t i = 0; done && i < run->n_shapes; i++)
        s.roles[i] = role_of(run, &run->shapes[i]);
    if (done)
        number_records(&s);
    for (size_t i = 0; done && i < run->n_members; i++)
        put_member(&s, &run->members[i]);
    done = done && sort_keys(&s);
    done = done && list_stretches(&s);
    run->by_stretch = s.order;
    free(s.keys);
    free(s.roles);
    free(s.ordinals);
    return done;
}
