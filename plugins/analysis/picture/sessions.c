/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summaries over ranks: the session of each rank as a bar. */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    int64_t rank, ns;
};

static int longest_first(const void *left, const void *right)
{
    const struct session *a = left, *b = right;
    return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns)
                          : (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_rank(const void *left, const void *right)
{
    const struct session *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t read_sessions(const struct picture *picture, struct session *sessions)
{
    size_t n = 0;
    for (size_t i = 0; i < ta_ref_rows(picture->in, FIGURE_VALUE); i++) {
        const int64_t rank = ta_ref_integer(picture->in, FIGURE_RANK, i);
        const double ns = ta_ref_number(picture->in, FIGURE_VALUE, i, 0);
        if (rank != TA_MISSING && ns > 0 &&
            ta_ref_reads(picture->in, FIGURE_GROUP, i, "aggregate") &&
            ta_ref_reads(picture->in, FIGURE_NAME, i, "duration_ns"))
            sessions[n++] = (struct session){rank, ta_whole(ns)};
    }
    qsort(sessions, n, sizeof *sessions, longest_first);
    return n;
}

bool picture_of_sessions(const struct picture *picture)
{
    const size_t rows = ta_ref_rows(picture->in, FIGURE_VALUE);
    struct session *sessions = rows ? calloc(rows, sizeof *sessions) : NULL;
    const size_t n = sessions ? read_sessions(picture, sessions) : 0;
    const size_t shown = n < TA_PICTURE_RANKS_MOST ? n : TA_PICTURE_RANKS_MOST;
    if (shown > 1)
        qsort(sessions, shown, sizeof *sessions, by_rank);
    for (size_t i = 0; shown > 1 && i < shown; i++) {
        char lane[40], label[TA_UNIT_TEXT_MAX];
        snprintf(lane, sizeof lane, "rank %" PRId64, sessions[i].rank);
        ta_unit_format(label, (double)sessions[i].ns, TA_UNIT_NS);
        picture_add(picture, lane, 0, sessions[i].ns, PICTURE_SESSION, label);
    }
    *picture->failed |= rows && !sessions;
    free(sessions);
    return shown > 1;
}
