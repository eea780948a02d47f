/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the sessions the samples cover.
 *
 * A profiler may keep the last samples only (max_data_points of Inferix): a long session's samples
 * are of its end, and their sums and means say nothing of the rest. */
#include "telemetry.h"

/* Less than this part of the sessions is not missing: sampling begins and ends when it can. */
#define MISSING 0.05
/* Nor are this many intervals. */
enum { INTERVALS = 4 };

/* ---- map ----------------------------------------------------------------------------------- */

const struct ta_field telemetry_session_fields[SESSION_FIELDS] = {
    [SESSION_RANK] = {"rank", TA_FIELD_RANK},
    [SESSION_NS] = {"dur_ns", TA_FIELD_SUM},
};

const struct ta_field telemetry_block_fields[BLOCK_FIELDS] = {
    [BLOCK_RANK] = {"rank", TA_FIELD_RANK},  [BLOCK_FILE] = {"file", TA_FIELD_FILE},
    [BLOCK_ORDER] = {"order", TA_FIELD_INT}, [BLOCK_END] = {"end_ns", TA_FIELD_MAX},
    [BLOCK_NS] = {"dur_ns", TA_FIELD_MAX},   [BLOCK_FRAMES] = {"frames", TA_FIELD_MAX},
};

void telemetry_map_sessions(const struct ta_trace *trace, struct ta_partial *sessions,
                            struct ta_partial *blocks)
{
    size_t n;
    const struct ta_session *session = ta_trace_session_rows(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (session[i].start_ns != TA_MISSING) /* as the samples are, by the clock */
            ta_sum(&TA_PARTIAL_ROW(sessions, ta_row_rank(trace, session[i].rank))[SESSION_NS],
                   session[i].dur_ns);
    const struct ta_diffusion_block *block = ta_trace_diffusion_block_rows(trace, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *row = TA_PARTIAL_ROW(blocks, ta_row_rank(trace, block[i].rank), ta_row_file(trace),
                                      ta_key_int((int64_t)i));
        row[BLOCK_END] = block[i].end_ns;
        row[BLOCK_NS] = block[i].dur_ns;
        row[BLOCK_FRAMES] = block[i].frames;
    }
}

/* ---- finish -------------------------------------------------------------------------------- */

double telemetry_covered_share(const struct all *all, const struct series *series,
                               const struct summary *sums)
{
    if (sums->n < 2 || sums->covered_ns <= 0)
        return NAN;
    for (size_t i = 0; i < ta_partial_rows(all->sessions); i++) {
        const int64_t *row = ta_partial_at(all->sessions, i);
        if (row[SESSION_RANK] != series->rank || row[SESSION_NS] == TA_MISSING)
            continue;
        const double session = (double)row[SESSION_NS], covered = (double)sums->covered_ns;
        const double interval = covered / (double)(sums->n - 1), missing = session - covered;
        const bool is_part = missing > MISSING * session && missing > INTERVALS * interval;
        return is_part ? covered / session : NAN;
    }
    return NAN;
}

double telemetry_frames_between(const struct all *all, int64_t rank, int64_t from, int64_t to)
{
    double frames = 0;
    for (size_t i = 0; i < ta_partial_rows(all->blocks); i++) {
        const int64_t *row = ta_partial_at(all->blocks, i);
        if (row[BLOCK_RANK] != rank)
            continue;
        if (row[BLOCK_END] == TA_MISSING || row[BLOCK_NS] == TA_MISSING || row[BLOCK_NS] <= 0 ||
            row[BLOCK_FRAMES] == TA_MISSING || row[BLOCK_FRAMES] < 0)
            return NAN;
        const int64_t begin = ta_max_i64(ta_add_sat(row[BLOCK_END], -row[BLOCK_NS]), from);
        const int64_t inside = ta_add_sat(ta_min_i64(row[BLOCK_END], to), -begin);
        if (inside > 0)
            frames += (double)row[BLOCK_FRAMES] * (double)inside / (double)row[BLOCK_NS];
    }
    return frames;
}
