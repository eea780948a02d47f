/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history is gone through twice: to find who holds most, then for what these hold. */
#include "levels.h"

#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>

/* What a site holds now, and at most at the moments. */
struct holder {
    struct ta_slice name;
    int64_t now, most;
    int level; /* its place among the levels */
};

struct walk {
    const struct replay *replay;
    level_site *site;
    void *user;
    TA_VEC(struct holder) holders; /* the first: from before the history */
    struct ta_map by_name;         /* index + 1, by the hash of the name */
    size_t *moments;               /* of each stretch: entries up to its highest level */
    struct levels *out;
};

static int64_t bytes_of(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* The first moment of each stretch with its highest level; a stretch begins with the level before
 * its first entry. */
static void find_moments(struct walk *w)
{
    const struct replay *r = w->replay;
    struct ta_levels now = r->start;
    for (size_t s = 0; s < w->out->n; s++) {
        const size_t first = s * w->out->step;
        int64_t most = now.allocated;
        w->moments[s] = first;
        for (size_t i = first; i < r->n && i < first + w->out->step; i++) {
            ta_levels_step(&r->events[i], &now);
            if (now.allocated > most) {
                most = now.allocated;
                w->moments[s] = i + 1;
            }
        }
    }
}

/* ---- holders --------------------------------------------------------------------------------- */

/* NULL without memory. */
static struct holder *holder_of(struct walk *w, const struct live_block *block)
{
    if (!block->known)
        return &w->holders.at[0];
    const struct ta_slice name = w->site(w->user, block->frames, true);
    for (uint64_t key = ta_hash_bytes(name.ptr, name.len, 0);; key++) {
        uint64_t *at = ta_map_at(&w->by_name, key, 0);
        if (!at)
            return NULL;
        if (*at && !ta_slice_equal(w->holders.at[*at - 1].name, name))
            continue;
        if (!*at) {
            if (!ta_vec_push(&w->holders, (struct holder){.name = name, .level = LEVELS_REST}))
                return NULL;
            *at = w->holders.n;
        }
        return &w->holders.at[*at - 1];
    }
}

/* Adds a block to what its site holds, or takes it away. */
static void move(struct walk *w, const struct live_block *block, int sign)
{
    struct holder *holder = holder_of(w, block);
    if (holder)
        holder->now = ta_add_sat(holder->now, sign * bytes_of(block->size));
    else
        w->out->failed = true;
}

static void apply(struct walk *w, struct live_set *live, const struct ta_alloc_event *event)
{
    const bool begins = event->action == TA_ALLOC_ALLOC;
    if (!begins && event->action != TA_ALLOC_FREE_REQUESTED)
        return;
    const struct live_block *before = live_find(live, event->address);
    if (before)
        move(w, before, -1);
    if (begins) {
        const struct live_block block = {.address = event->address,
                                         .requested = event->size,
                                         .size = event->block_bytes,
                                         .frames = event->frames,
                                         .known = true};
        move(w, &block, 1);
        live_add(live, &block);
    } else {
        live_remove(live, event->address);
    }
}

/* Goes through the history, and stops at the moments. */
static void walk(struct walk *w, void (*look)(struct walk *, size_t stretch, int64_t level))
{
    const struct replay *r = w->replay;
    struct ta_levels now = r->start;
    struct live_set live;
    for (size_t i = 0; i < w->holders.n; i++)
        w->holders.at[i].now = 0;
    replay_live_at(r, 0, &live);
    for (size_t i = 0; i < live.n && !live.failed; i++)
        if (!live.at[i].gone)
            move(w, &live.at[i], 1);
    for (size_t s = 0, i = 0; s < w->out->n && !live.failed && !w->out->failed; s++) {
        for (; i < w->moments[s]; i++) {
            ta_levels_step(&r->events[i], &now);
            apply(w, &live, &r->events[i]);
        }
        look(w, s, now.allocated);
    }
    w->out->failed |= live.failed;
    live_free(&live);
}

static void note_most(struct walk *w, size_t stretch, int64_t level)
{
    (void)stretch;
    (void)level;
    for (size_t i = 1; i < w->holders.n; i++)
        w->holders.at[i].most = ta_max_i64(w->holders.at[i].most, w->holders.at[i].now);
}

/* The largest get levels of their own, in this order; of equal ones the first. */
static void choose(struct walk *w)
{
    for (int level = LEVELS_BEFORE + 1; level < LEVELS_REST; level++) {
        struct holder *best = NULL;
        for (size_t i = 1; i < w->holders.n; i++) {
            struct holder *holder = &w->holders.at[i];
            if (holder->level == LEVELS_REST && holder->most > (best ? best->most : 0))
                best = holder;
        }
        if (!best)
            return;
        best->level = level;
        w->out->names[level] = best->name;
    }
}

/* Together they are the level of the device, whatever a damaged history says of its blocks. */
static void note_levels(struct walk *w, size_t stretch, int64_t level)
{
    int64_t *bytes = w->out->bytes[stretch];
    for (size_t i = 0; i < w->holders.n; i++)
        if (w->holders.at[i].level != LEVELS_REST)
            bytes[w->holders.at[i].level] = w->holders.at[i].now;
    for (int i = 0; i < LEVELS_REST; i++) {
        bytes[i] = ta_max_i64(0, ta_min_i64(bytes[i], level));
        level -= bytes[i];
    }
    bytes[LEVELS_REST] = ta_max_i64(0, level);
}

struct levels levels_of(const struct replay *replay, size_t step, level_site *site, void *user)
{
    struct levels out = {.step = step, .n = (replay->n + step - 1) / step};
    struct walk w = {.replay = replay, .site = site, .user = user, .out = &out};
    w.moments = calloc(out.n + 1, sizeof *w.moments);
    out.bytes = calloc(out.n + 1, sizeof *out.bytes);
    out.failed = !w.moments || !out.bytes ||
                 !ta_vec_push(&w.holders, (struct holder){.level = LEVELS_BEFORE});
    if (!out.failed) {
        find_moments(&w);
        walk(&w, note_most);
        choose(&w);
        walk(&w, note_levels);
    }
    free(w.moments);
    free(w.holders.at);
    ta_map_free(&w.by_name);
    return out;
}

void levels_free(struct levels *levels)
{
    free(levels->bytes);
    levels->bytes = NULL;
}
