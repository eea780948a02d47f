/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays of which only a part of the kernels was recorded: the recording began inside, or its
 * buffer was full.
 *
 * Numbers of nodes say which part it is.  Without them it is a run of kernels in the order of a
 * replay that was recorded whole, or of a capture whose calls name their kernels.  Where there are
 * several such runs, kernels get what all of them say, if they say the same. */
#include "normalize/replays.h"

#include "model/trace.h"

#include <stdlib.h>

/* Kinds beyond these, and places beyond those, are not looked at. */
enum { PARTS_MOST = 64, PLACES_MOST = 64 };

static const char only_a_part[] = "only a part of its kernels was recorded";

/* Nodes that the kernels of a part may be. */
struct place {
    const struct capture *capture; /* NULL: the whole has none */
    uint32_t *nodes;
};

struct places {
    struct place at[PLACES_MOST];
    size_t n;
    bool failed, is_numbered;
};

static void clear_places(struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        free(places->at[i].nodes);
    *places = (struct places){.n = 0};
}

/* Adds a place of as many nodes as the part has, which are to be filled; NULL without memory, or
 * when there are enough. */
static uint32_t *add_place(struct places *places, const struct capture *capture, size_t n)
{
    if (places->n == PLACES_MOST)
        return NULL;
    uint32_t *nodes = reallocarray(NULL, n + 1, sizeof *nodes);
    places->failed |= !nodes;
    if (nodes)
        places->at[places->n++] = (struct place){capture, nodes};
    return nodes;
}

static uint32_t node_of(const struct replay_kind *whole, size_t i)
{
    return whole->capture ? whole->nodes[i] : NO_NODE;
}

/* ---- where a part may lie -------------------------------------------------------------------- */

static int64_t number_at(const struct mapping *m, size_t place)
{
    return replay_arg(m->node_id, activity_at(m, place)->span);
}

/* Numbers of both ascend. */
static void find_by_number(const struct mapping *m, const struct replay_kind *part,
                           const struct replay_kind *whole, struct places *places)
{
    uint32_t *nodes = add_place(places, whole->capture, part->n);
    size_t k = 0;
    for (size_t i = 0; nodes && i < part->n; i++) {
        const size_t at = part->first + i;
        while (k < whole->n && number_at(m, whole->first + k) < number_at(m, at))
            k++;
        if (k == whole->n || number_at(m, whole->first + k) != number_at(m, at) ||
            !is_same_launch(m, whole->first + k, at)) {
            free(nodes);
            places->n--;
            return;
        }
        nodes[i] = node_of(whole, k);
    }
    places->is_numbered = true;
}

static bool is_run_of(const struct mapping *m, const struct replay_kind *part,
                      const struct replay_kind *whole, size_t from)
{
    for (size_t i = 0; i < part->n; i++)
        if (!is_same_launch(m, part->first + i, whole->first + from + i))
            return false;
    return true;
}

/* What no capture fits, and ran only where the recording begins or ends, may be a part itself. */
static void find_in_replay(const struct mapping *m, const struct replay_kind *part,
                           const struct replay_kind *whole, struct places *places)
{
    if (whole->n <= part->n || whole->is_part ||
        (!whole->capture && whole->at_edges == whole->replays))
        return;
    if (part->numbered && whole->numbered) {
        find_by_number(m, part, whole, places);
        return;
    }
    for (size_t from = 0; from <= whole->n - part->n; from++) {
        if (part->branches || whole->branches || !is_run_of(m, part, whole, from))
            continue;
        uint32_t *nodes = add_place(places, whole->capture, part->n);
        for (size_t i = 0; nodes && i < part->n; i++)
            nodes[i] = node_of(whole, from + i);
    }
}

static void find_in_capture(const struct mapping *m, const struct replay_kind *part,
                            const struct capture *capture, struct places *places)
{
    if (capture->nodes.n <= part->n || part->branches || !names_all_kernels(capture))
        return;
    for (size_t from = 0; from <= capture->nodes.n - part->n; from++) {
        size_t i = 0;
        while (i < part->n && node_fits(m, part->first + i, &capture->nodes.at[from + i]))
            i++;
        uint32_t *nodes = i == part->n ? add_place(places, capture, part->n) : NULL;
        for (i = 0; nodes && i < part->n; i++)
            nodes[i] = (uint32_t)(from + i);
    }
}

/* In replays first, which tell more of their launches than captures do; else in the nearest
 * captures in which it can be. */
static void find_places(const struct mapping *m, const struct replay_kind *part,
                        struct places *places)
{
    for (size_t k = 0; k < m->kinds.n; k++)
        if (&m->kinds.at[k] != part)
            find_in_replay(m, part, &m->kinds.at[k], places);
    if (places->n)
        return;
    for (size_t g = 0; g < m->graphs.n; g++) {
        if (places->n && m->graphs.at[g].nearness < m->graphs.at[g - 1].nearness)
            return;
        find_in_capture(m, part, m->graphs.at[g].graph, places);
    }
}

/* ---- what is true of all of them --------------------------------------------------------------
 */

/* Leaves those in captures that are of the ranges around the launch. */
static void narrow_places(const struct mapping *m, const struct replay_kind *part,
                          struct places *places)
{
    struct choice choice = {.n = 0};
    for (size_t i = 0; i < places->n; i++) {
        bool known = false;
        for (size_t k = 0; k < choice.n; k++)
            known |= choice.of[k] == places->at[i].capture;
        if (!places->at[i].capture)
            return;
        if (!known)
            choice.of[choice.n++] = places->at[i].capture;
    }
    narrow_by_numbers(m, part, &choice);
    size_t kept = 0;
    for (size_t i = 0; i < places->n; i++) {
        bool stays = false;
        for (size_t k = 0; k < choice.n; k++)
            stays |= choice.of[k] == places->at[i].capture;
        if (stays)
            places->at[kept++] = places->at[i];
        else
            free(places->at[i].nodes);
    }
    places->n = kept;
}

/* Gives the kernels of the part what all places say of them; returns of how many. */
static size_t take_common(struct replay_kind *part, const struct places *places)
{
    const struct place *first = &places->at[0];
    size_t n = 0;
    for (size_t i = 0; i < part->n; i++) {
        bool same = first->capture && first->nodes[i] != NO_NODE;
        for (size_t k = 1; same && k < places->n; k++) {
            const struct place *place = &places->at[k];
            same = place->capture && place->nodes[i] != NO_NODE &&
                   compare_nodes(first->capture, first->nodes[i], place->capture,
                                 place->nodes[i]) == ALIKE;
        }
        part->nodes[i] = same ? first->nodes[i] : NO_NODE;
        n += same;
    }
    return n;
}

/* Whether a kind that a capture fits may rather be a part of a larger graph: it is known by
 * the number of its kernels alone, and it ran only where the recording begins or ends. */
static bool may_be_part(const struct mapping *m, const struct replay_kind *kind,
                        struct places *places)
{
    if (kind->at_edges < kind->replays || names_all_kernels(kind->capture))
        return false;
    for (size_t k = 0; k < m->kinds.n; k++)
        if (&m->kinds.at[k] != kind)
            find_in_replay(m, kind, &m->kinds.at[k], places);
    return places->n > 0;
}

/* A part of a graph whose branches run at the same time: kernels are known by their names. */
static bool map_by_names(struct mapping *m, struct replay_kind *part)
{
    struct choice choice = {.n = 0};
    for (size_t g = 0; g < m->graphs.n && choice.n < CHOICES_MOST; g++) {
        const struct capture *capture = m->graphs.at[g].graph;
        if (choice.n && m->graphs.at[g].nearness < m->graphs.at[g - 1].nearness)
            break;
        if (capture->nodes.n > part->n && names_all_kernels(capture) &&
            pair_by_name(m, part, capture, part->nodes))
            choice.of[choice.n++] = capture;
    }
    narrow_by_numbers(m, part, &choice);
    if (choice.n != 1 || !pair_by_name(m, part, choice.of[0], part->nodes))
        return !m->failed;
    part->is_part = part->shapes = true;
    part->capture = choice.of[0];
    part->reason = NULL;
    const bool done = settle_names(m, part);
    part->reason = part->reason ? part->reason : only_a_part;
    return done;
}

/* Whether a part is of a graph whose branches run at the same time, or may be. */
static bool may_lack_order(const struct mapping *m, const struct replay_kind *part)
{
    for (size_t k = 0; k < m->kinds.n && !part->numbered; k++)
        if (m->kinds.at[k].branches && m->kinds.at[k].n >= part->n)
            return true;
    return false;
}

/* What runs again and again with the same kernels is whole, and a graph of its own. */
static bool is_own_graph(const struct replay_kind *kind)
{
    return !kind->numbered && kind->replays > kind->at_edges + 1;
}

static bool map_part(struct mapping *m, struct replay_kind *part, struct places *places)
{
    if (is_own_graph(part))
        return true;
    if (may_lack_order(m, part))
        return map_by_names(m, part);
    find_places(m, part, places);
    if (places->n == 0 || places->n == PLACES_MOST)
        return true;
    part->is_part = true;
    narrow_places(m, part, places);
    const size_t n = take_common(part, places);
    if (!places->at[0].capture)
        return true; /* the reason of the whole is its reason */
    part->capture = n ? places->at[0].capture : NULL;
    part->shapes = true;
    part->reason = n == part->n ? only_a_part
                   : n ? "only a part of its kernels was recorded, and not of all of these "
                         "it is certain which they are"
                       : "only a part of its kernels was recorded, and it is not certain "
                         "which one";
    return true;
}

bool find_parts(struct mapping *m)
{
    struct places places = {.n = 0};
    size_t n_parts = 0;
    bool done = true;
    for (size_t k = 0; k < m->kinds.n && n_parts < PARTS_MOST && done; k++) {
        struct replay_kind *kind = &m->kinds.at[k];
        const bool is_unsure = kind->capture && may_be_part(m, kind, &places);
        const bool is_mapped = kind->capture && !is_unsure;
        if (is_unsure) {
            kind->capture = NULL;
            kind->reason = "its kernels may be all of a small graph or a part of a larger one";
        }
        const bool is_part = !is_unsure || places.is_numbered;
        clear_places(&places);
        if (is_mapped)
            continue;
        if (is_part)
            done = map_part(m, kind, &places);
        n_parts++;
        done &= !places.failed;
        clear_places(&places);
    }
    return done;
}
