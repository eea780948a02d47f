/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of earlier sessions.  Files are sorted by folder, set and rank, so that those of one
 * session stand side by side. */
#include "run/sessions.h"

#include "discover/discover.h"

#include <stdlib.h>

int64_t ta_session_start(const struct ta_dump *dump)
{
    int64_t start = TA_MISSING;
    for (size_t i = 0; i < dump->rows[TA_DUMP_session].n; i++) {
        const struct ta_session *session = ta_dump_row(dump, TA_DUMP_session, i);
        if (session->start_ns != TA_MISSING && (start == TA_MISSING || session->start_ns < start))
            start = session->start_ns;
    }
    return start;
}

static int by_session(const void *left, const void *right)
{
    const struct ta_kept *a = *(struct ta_kept *const *)left, *b = *(struct ta_kept *const *)right;
    int order = ta_slice_compare(ta_copy_folder(a->shown), ta_copy_folder(b->shown));
    if (!order)
        order = strcmp(a->trace->dump.set, b->trace->dump.set);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_since(void *user, const void *row)
{
    const struct ta_sample *sample = row;
    return sample->relative || sample->time_ns == TA_MISSING ||
           sample->time_ns >= *(const int64_t *)user;
}

/* The files of one session.  Each of several sessions of that name began at or after `start`. */
static void drop_before(struct ta_kept *const *files, size_t n, struct ta_quality *quality)
{
    int64_t start = TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        const int64_t own = ta_session_start(&files[i]->trace->dump);
        if (own != TA_MISSING && (start == TA_MISSING || own < start))
            start = own;
    }
    for (size_t i = 0; start != TA_MISSING && i < n; i++) {
        struct ta_dump *dump = &files[i]->trace->dump;
        if (dump->rows[TA_DUMP_session].n)
            continue;
        const size_t dropped = ta_dump_filter(dump, TA_DUMP_sample, is_since, &start);
        if (dropped)
            ta_quality_add(quality, TA_Q_OTHER_SESSION, TA_NO_OFFSET,
                           "\"%s\" begins with samples of an earlier session: values=%zu",
                           files[i]->shown, dropped);
    }
}

bool ta_drop_earlier_samples(struct ta_kept *files, size_t n, struct ta_quality *quality)
{
    struct ta_kept **list = reallocarray(NULL, n + 1, sizeof *list);
    size_t used = 0;
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++)
        if (files[i].trace->dump.set)
            list[used++] = &files[i];
    qsort(list, used, sizeof *list, by_session);
    for (size_t first = 0, end; first < used; first = end) {
        for (end = first; end < used && by_session(&list[first], &list[end]) == 0; end++)
            ;
        drop_before(&list[first], end - first, quality);
    }
    free(list);
    return true;
}
