/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nesting of spans and operators of calls, slow, and plain to see that they are right. */
#include "trace_fixture.h"

static bool is_host(const struct ta_trace *trace, ta_row row)
{
    return ta_class_is_host(ta_trace_categories(trace).at[ta_trace_spans(trace).cat[row]].class);
}

static bool is_open(const struct ta_spans *s, ta_row row, int64_t t)
{
    return s->ts[row] <= t && t < s->ts[row] + s->dur[row];
}

/* The last host span of a track in nesting order, below row `end`, that is open at `t`. */
static ta_row last_open(const struct ta_trace *trace, const struct ta_track *track, ta_row end,
                        int64_t t)
{
    const struct ta_spans s = ta_trace_spans(trace);
    for (ta_row row = end; row-- > track->first;)
        if (is_host(trace, row) && is_open(&s, row, t))
            return row;
    return TA_NO_ROW;
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Between two neighboring starts or ends nothing changes, so one look per piece is enough. */
static void oracle_track(const struct ta_trace *trace, const struct ta_track *track,
                         struct oracle_span *out)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const ta_row end = track->first + track->n;
    int64_t *cuts = malloc(2 * (track->n + 1) * sizeof *cuts);
    assert_non_null(cuts);
    size_t n = 0;
    for (ta_row row = track->first; row < end; row++) {
        cuts[n++] = s.ts[row];
        cuts[n++] = s.ts[row] + s.dur[row];
        if (!is_host(trace, row))
            continue;
        const ta_row parent = last_open(trace, track, row, s.ts[row]);
        out[row].parent = parent;
        out[row].depth = parent == TA_NO_ROW ? 0 : (uint16_t)(out[parent].depth + 1);
    }
    qsort(cuts, n, sizeof *cuts, by_value);
    for (size_t i = 1; i < n; i++) {
        const ta_row row = last_open(trace, track, end, cuts[i - 1]);
        if (row != TA_NO_ROW)
            out[row].self += cuts[i] - cuts[i - 1];
    }
    free(cuts);
}

struct oracle_span *oracle_nesting(const struct ta_trace *trace)
{
    const size_t n = ta_trace_spans(trace).n;
    struct oracle_span *out = calloc(n + 1, sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i].parent = TA_NO_ROW;
    const struct ta_tracks tracks = ta_trace_tracks(trace);
    for (size_t t = 0; t < tracks.n; t++)
        oracle_track(trace, &tracks.at[t], out);
    return out;
}

ta_row oracle_operator(const struct ta_trace *trace, ta_row call)
{
    const struct ta_spans s = ta_trace_spans(trace);
    const struct ta_track *track = &ta_trace_tracks(trace).at[s.track[call]];
    for (ta_row row = track->first + track->n; row-- > track->first;) {
        const struct ta_slice name = ta_trace_text(trace, s.name[row]);
        const bool step = name.len > 13 && memcmp(name.ptr, "ProfilerStep#", 13) == 0;
        if (ta_trace_categories(trace).at[s.cat[row]].class == TA_CLASS_OP && !step &&
            is_open(&s, row, s.ts[call]))
            return row;
    }
    return call;
}
