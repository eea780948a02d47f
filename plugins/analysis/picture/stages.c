/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dumps of stages: the stages of one rank as one bar, by the shares that they have of its session.
 * Stages that enclose others have no share. */
#include "picture.h"

#include <stdio.h>

/* Two tables; of so many rows the ranks are looked at, each in all rows. */
enum { SOURCES = 2, CANDIDATES = 64 };

/* The columns of the two tables of stages. */
static const struct {
    size_t rank, stage, time, share;
} sources[SOURCES] = {{STAGE_RANK, STAGE_NAME, STAGE_TIME, STAGE_SHARE},
                      {DERIVED_RANK, DERIVED_NAME, DERIVED_TIME, DERIVED_SHARE}};

/* Shares of less are left to the rest. */
#define LEAST 0.005
/* Stages that together have less of a session are no picture of it. */
#define LEAST_TOGETHER 0.5

static bool is_drawn(const struct picture *picture, size_t source, size_t row, int64_t rank)
{
    return ta_ref_integer(picture->in, sources[source].rank, row) == rank &&
           ta_ref_integer(picture->in, sources[source].time, row) > 0 &&
           ta_ref_number(picture->in, sources[source].share, row, 0) >= LEAST;
}

static double share_of_rank(const struct picture *picture, int64_t rank)
{
    double share = 0;
    for (size_t s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < ta_ref_rows(picture->in, sources[s].time); i++)
            if (is_drawn(picture, s, i, rank))
                share += ta_ref_number(picture->in, sources[s].share, i, 0);
    return share;
}

/* The rank whose stages cover most of its session, without counting any of it twice. */
static int64_t choose_rank(const struct picture *picture, double *share)
{
    int64_t best = TA_MISSING;
    *share = 0;
    for (size_t i = 0; i < CANDIDATES && i < ta_ref_rows(picture->in, STAGE_RANK); i++) {
        const int64_t rank = ta_ref_integer(picture->in, STAGE_RANK, i);
        const double here = rank == best ? 0 : share_of_rank(picture, rank);
        if (here <= 1.001 && (here > *share || (here == *share && rank < best))) {
            best = rank;
            *share = here;
        }
    }
    return best;
}

/* Stages are numbered by what they have of the session, over both tables. */
static enum picture_class class_of(const struct picture *picture, size_t source, size_t row,
                                   int64_t rank)
{
    const double share = ta_ref_number(picture->in, sources[source].share, row, 0);
    int larger = 0;
    for (size_t s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < ta_ref_rows(picture->in, sources[s].time); i++) {
            const double other = ta_ref_number(picture->in, sources[s].share, i, 0);
            const bool is_earlier = s < source || (s == source && i < row);
            larger +=
                is_drawn(picture, s, i, rank) && (other > share || (other == share && is_earlier));
        }
    return PICTURE_STAGE + larger < PICTURE_STAGE_REST
               ? (enum picture_class)(PICTURE_STAGE + larger)
               : PICTURE_STAGE_REST;
}

static void add_stage(const struct picture *picture, const char *lane, size_t source, size_t row,
                      int64_t rank, int64_t start)
{
    char label[160], share[TA_UNIT_TEXT_MAX];
    const struct ta_slice name = ta_ref_text(picture->in, sources[source].stage, row);
    snprintf(label, sizeof label, "%.*s %s", name.len < 96 ? (int)name.len : 96,
             name.len ? name.ptr : "",
             ta_unit_format(share, ta_ref_number(picture->in, sources[source].share, row, 0),
                            TA_UNIT_RATIO));
    picture_add(picture, lane, start, ta_ref_integer(picture->in, sources[source].time, row),
                class_of(picture, source, row, rank), label);
}

bool picture_of_stages(const struct picture *picture)
{
    double together, first = 0;
    const int64_t rank = choose_rank(picture, &together);
    int64_t start = 0, whole = 0;
    if (together < LEAST_TOGETHER)
        return false;
    char lane[40] = "stages", rest[64], share[TA_UNIT_TEXT_MAX];
    if (rank != TA_MISSING && ta_report_run(picture->in->report)->n_ranks > 1)
        snprintf(lane, sizeof lane, "rank %lld", (long long)rank);
    for (size_t s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < ta_ref_rows(picture->in, sources[s].time); i++)
            if (is_drawn(picture, s, i, rank)) {
                const int64_t time = ta_ref_integer(picture->in, sources[s].time, i);
                const double part = ta_ref_number(picture->in, sources[s].share, i, 0);
                add_stage(picture, lane, s, i, rank, start);
                start += time;
                if (part > first) {
                    first = part;
                    whole = ta_whole((double)time / part);
                }
            }
    snprintf(rest, sizeof rest, "other %s",
             ta_unit_format(share, (double)(whole - start) / (double)whole, TA_UNIT_RATIO));
    if ((double)(whole - start) > LEAST * (double)whole)
        picture_add(picture, lane, start, whole - start, PICTURE_OTHER, rest);
    return true;
}
