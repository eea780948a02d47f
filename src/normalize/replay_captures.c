/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which capture the graph of a replay was captured in.
 *
 * It is the one with as many nodes of the same kinds and, where calls name their kernels, of the
 * same names.  Of several the nearest counts: of the same process, then of the same folder, then of
 * the same rank.  Graphs for several batch sizes are alike in all that: ranges with numbers
 * distinguish them ("capture_8", "step[DECODE bs=8]"), and else their order by size, which is the
 * same in captures and replays.  Captures that are left and tell the same are as good as one. */
#include "normalize/replays.h"

#include "model/trace.h"

#include <stdlib.h>

/* Elements of all tensors that the operators of a capture are given. */
static double size_of(const struct capture *capture)
{
    double size = 0;
    for (size_t i = 0; i < capture->rows.n; i++)
        for (size_t k = 0; k < capture->rows.at[i].n_args; k++) {
            const struct capture_arg *arg =
                &capture->of->args.at[capture->rows.at[i].first_arg + k];
            if (!ta_slice_equal(capture->of->keys.at[arg->key], TA_LIT("Input Dims")))
                continue;
            size_t open = 0;
            for (size_t at = 0; at < arg->text.len; at++) {
                if (arg->text.ptr[at] == '[')
                    open = at + 1;
                if (arg->text.ptr[at] == ']' && open && at > open)
                    size += product_of_numbers(ta_slice_part(arg->text, open, at));
                open = arg->text.ptr[at] == ']' ? 0 : open;
            }
        }
    return size;
}

enum { NUMBERS_MOST = 32 };

/* The numbers in a text; returns how many of them fit. */
static size_t numbers_of(struct ta_slice text, int64_t *numbers, size_t n)
{
    for (size_t i = 0; i < text.len && n < NUMBERS_MOST;) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            i++;
            continue;
        }
        int64_t number = 0;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
            number = number < INT64_C(1) << 40 ? number * 10 + (text.ptr[i] - '0') : number;
        numbers[n++] = number;
    }
    return n;
}

static bool has_number(const int64_t *numbers, size_t n, int64_t number)
{
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

void narrow_by_numbers(const struct mapping *m, const struct replay_kind *kind,
                       struct choice *choice)
{
    int64_t around[NUMBERS_MOST], own[NUMBERS_MOST], other[NUMBERS_MOST];
    size_t n_around = 0;
    const struct span_columns *c = &m->trace->spans;
    for (ta_row row = activity_at(m, kind->first)->launch; row != TA_NO_ROW; row = c->parent[row])
        if (c->cat[row] == m->annotation)
            n_around = numbers_of(ta_trace_text(m->trace, c->name[row]), around, n_around);
    struct choice left = {.n = 0};
    for (size_t i = 0; i < choice->n; i++) {
        const size_t n = numbers_of(choice->of[i]->name, own, 0);
        bool matches = false;
        for (size_t k = 0; k < n; k++) {
            bool shared = true;
            for (size_t j = 0; j < choice->n; j++)
                shared &= has_number(other, numbers_of(choice->of[j]->name, other, 0), own[k]);
            matches |= !shared && has_number(around, n_around, own[k]);
        }
        if (matches)
            left.of[left.n++] = choice->of[i];
    }
    if (left.n)
        *choice = left;
}

/* As many kinds of replays as captures fit each other: the largest is the largest. */
static const struct capture *choose_by_size(const struct mapping *m, const struct replay_kind *kind,
                                            const struct choice *choice, const size_t *fitting)
{
    size_t alike = 0, smaller = 0;
    for (size_t k = 0; k < m->kinds.n; k++) {
        if (fitting[k] != choice->n || m->kinds.at[k].n != kind->n)
            continue;
        alike++;
        smaller += m->kinds.at[k].size < kind->size;
        if (&m->kinds.at[k] != kind && m->kinds.at[k].size == kind->size)
            return NULL;
    }
    if (alike != choice->n)
        return NULL;
    for (size_t i = 0; i < choice->n; i++) {
        size_t below = 0, same = 0;
        const double size = size_of(choice->of[i]);
        for (size_t j = 0; j < choice->n; j++) {
            const double than = size_of(choice->of[j]);
            below += than < size;
            same += than == size;
        }
        if (below == smaller && same == 1)
            return choice->of[i];
    }
    return NULL;
}

/* How much a capture holds. */
static size_t richness(const struct capture *capture)
{
    size_t told = capture->rows.n;
    for (size_t i = 0; i < capture->rows.n; i++)
        told += capture->rows.at[i].n_args;
    return told;
}

/* Of captures with one name that tell the same the richest is kept. */
static void add_choice(struct choice *choice, const struct capture *capture)
{
    for (size_t i = 0; i < choice->n; i++) {
        if (!ta_slice_equal(choice->of[i]->name, capture->name) ||
            compare_captures(choice->of[i], capture) != ALIKE)
            continue;
        if (richness(capture) > richness(choice->of[i]))
            choice->of[i] = capture;
        return;
    }
    if (choice->n < CHOICES_MOST)
        choice->of[choice->n++] = capture;
}

/* The captures that fit a replay, of the nearest run that has any. */
static void find_choice(struct mapping *m, const struct replay_kind *kind, uint32_t *nodes,
                        struct choice *choice)
{
    uint64_t nearest = 0;
    choice->n = 0;
    for (size_t g = 0; g < m->graphs.n; g++) {
        const struct near_graph *graph = &m->graphs.at[g];
        if (choice->n && graph->nearness < nearest)
            return;
        if (!pair_whole(m, kind, graph->graph, nodes))
            continue;
        nearest = graph->nearness;
        add_choice(choice, graph->graph);
    }
}

/* Why none fits. */
static const char *reason_of(const struct mapping *m, const struct replay_kind *kind)
{
    bool as_many = false;
    for (size_t g = 0; g < m->graphs.n; g++)
        as_many |= m->graphs.at[g].graph->nodes.n == kind->n;
    return !as_many             ? "no capture has as many nodes"
           : has_no_order(kind) ? "its branches run at the same time, in an order that is not "
                                  "recorded"
                                : "no capture has the same kernels";
}

/* `fitting` is, by kind, how many captures fit. */
static void choose(const struct mapping *m, struct replay_kind *kind, struct choice *choice,
                   const size_t *fitting)
{
    const size_t n = choice->n;
    if (n == 0) {
        kind->reason = reason_of(m, kind);
        return;
    }
    if (n > 1)
        narrow_by_numbers(m, kind, choice);
    const struct capture *by_size =
        n > 1 && choice->n == n ? choose_by_size(m, kind, choice, fitting) : NULL;
    if (by_size)
        *choice = (struct choice){{by_size}, 1};
    const struct capture *richest = choice->of[0];
    kind->shapes = true;
    for (size_t i = 1; i < choice->n; i++) {
        const enum likeness likeness = compare_captures(choice->of[0], choice->of[i]);
        if (likeness == UNLIKE) {
            kind->reason = "several captures have the same kernels, but other operators";
            return;
        }
        kind->shapes &= likeness == ALIKE;
        if (richness(choice->of[i]) > richness(richest))
            richest = choice->of[i];
    }
    kind->capture = richest;
    kind->reason = kind->shapes ? NULL : "shapes are left out: several captures fit";
}

bool find_captures_of_replays(struct mapping *m)
{
    size_t *fitting = calloc(m->kinds.n + 1, sizeof *fitting);
    bool done = fitting;
    struct choice choice;
    for (size_t k = 0; done && k < m->kinds.n; k++) {
        struct replay_kind *kind = &m->kinds.at[k];
        kind->nodes = reallocarray(NULL, kind->n, sizeof *kind->nodes);
        done = kind->nodes;
        if (done)
            find_choice(m, kind, kind->nodes, &choice);
        fitting[k] = done ? choice.n : 0;
    }
    for (size_t k = 0; done && k < m->kinds.n; k++) {
        struct replay_kind *kind = &m->kinds.at[k];
        find_choice(m, kind, kind->nodes, &choice);
        choose(m, kind, &choice, fitting);
        if (!kind->capture)
            continue;
        done = pair_whole(m, kind, kind->capture, kind->nodes);
        if (done && has_no_order(kind))
            done = settle_names(m, kind);
    }
    free(fitting);
    return done && !m->failed;
}
