/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dumps of stages: the stages of each rank as a bar, by the shares that they have of its session.
 * Stages that enclose others have no share.
 *
 * What does the same under several names, on ranks whose files are of several programs, is one
 * stage here; and what a stage does has one color in all reports. */
#include "picture.h"

#include "lib/stage_roles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Two tables; ranks are looked at, each in all rows, for so many rows. */
enum { SOURCES = 2, CANDIDATES = 64, ROWS_MOST = 1024 };

/* More stages have no segment of their own, and more ranks no lane. */
enum { NAMES_MOST = 32 };

enum { STAGE_CLASSES = PICTURE_STAGE_REST - PICTURE_STAGE };
_Static_assert((int)STAGE_CLASSES > (int)STAGE_ROLES, "Stages without a role need a class, too");

/* The columns of the two tables of stages. */
static const struct {
    size_t rank, stage, time, share, share_of;
} sources[SOURCES] = {
    {STAGE_RANK, STAGE_NAME, STAGE_TIME, STAGE_SHARE, STAGE_SHARE_OF},
    {DERIVED_RANK, DERIVED_NAME, DERIVED_TIME, DERIVED_SHARE, DERIVED_SHARE_OF},
};

/* Shares of less are left to the rest. */
#define LEAST 0.005
/* Stages that together have less of a session are no picture of it. */
#define LEAST_TOGETHER 0.5
/* Shares that come to more count some time twice. */
#define MOST_TOGETHER 1.001

struct lane {
    int64_t rank, whole;
};

struct name {
    struct ta_slice text;
    enum stage_role role;
    int64_t time; /* on the lane where it is longest */
    enum picture_class class;
};

struct stages {
    const struct picture *picture;
    struct ta_slice share_of; /* of what the stages have shares; empty: of anything */
    struct lane lanes[CANDIDATES];
    size_t n_lanes;
    struct name names[NAMES_MOST]; /* in the order of all lanes */
    size_t n_names;
};

/* A row of one of the tables. */
struct place {
    size_t source, row;
};

static double share_at(const struct stages *s, struct place at)
{
    return ta_ref_number(s->picture->in, sources[at.source].share, at.row, 0);
}

static int64_t time_at(const struct stages *s, struct place at)
{
    return ta_ref_integer(s->picture->in, sources[at.source].time, at.row);
}

static struct ta_slice name_at(const struct stages *s, struct place at)
{
    return ta_ref_text(s->picture->in, sources[at.source].stage, at.row);
}

static struct ta_slice share_of_at(const struct stages *s, struct place at)
{
    return ta_ref_text(s->picture->in, sources[at.source].share_of, at.row);
}

/* Goes on to the next row of a rank that is drawn; false after the last one. */
static bool next(const struct stages *s, int64_t rank, struct place *at)
{
    for (; at->source < SOURCES; *at = (struct place){at->source + 1, 0})
        for (; at->row < ta_ref_rows(s->picture->in, sources[at->source].time); at->row++)
            if (ta_ref_integer(s->picture->in, sources[at->source].rank, at->row) == rank &&
                time_at(s, *at) > 0 && share_at(s, *at) >= LEAST &&
                (s->share_of.len == 0 || ta_slice_equal(share_of_at(s, *at), s->share_of)))
                return true;
    return false;
}

static double share_of_rank(const struct stages *s, int64_t rank)
{
    double share = 0;
    for (struct place at = {0, 0}; next(s, rank, &at); at.row++)
        share += share_at(s, at);
    return share;
}

/* The rank whose stages cover most of its session, without counting any of it twice. */
static int64_t choose_rank(const struct stages *s, double *share)
{
    int64_t best = TA_MISSING;
    *share = 0;
    for (size_t i = 0; i < CANDIDATES && i < ta_ref_rows(s->picture->in, STAGE_RANK); i++) {
        const int64_t rank = ta_ref_integer(s->picture->in, STAGE_RANK, i);
        const double here = rank == best ? 0 : share_of_rank(s, rank);
        if (here <= MOST_TOGETHER && (here > *share || (here == *share && rank < best))) {
            best = rank;
            *share = here;
        }
    }
    return best;
}

/* The stage of a rank that has most of its session. */
static struct place largest_of(const struct stages *s, int64_t rank)
{
    struct place largest = {0, 0}, at = {0, 0};
    double most = 0;
    for (; next(s, rank, &at); at.row++)
        if (share_at(s, at) > most) {
            most = share_at(s, at);
            largest = at;
        }
    return largest;
}

static bool has_lane(const struct stages *s, int64_t rank)
{
    for (size_t i = 0; i < s->n_lanes; i++)
        if (s->lanes[i].rank == rank)
            return true;
    return false;
}

static void add_lane(struct stages *s, int64_t rank)
{
    const struct place largest = largest_of(s, rank);
    s->lanes[s->n_lanes++] =
        (struct lane){rank, ta_whole((double)time_at(s, largest) / share_at(s, largest))};
}

static int by_rank(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Of many the first, and the one that takes longest. */
static void choose_lanes(struct stages *s)
{
    size_t longest = 0;
    qsort(s->lanes, s->n_lanes, sizeof *s->lanes, by_rank);
    for (size_t i = 1; i < s->n_lanes; i++)
        longest = s->lanes[i].whole > s->lanes[longest].whole ? i : longest;
    if (s->n_lanes <= TA_PICTURE_RANKS_MOST)
        return;
    if (longest >= TA_PICTURE_RANKS_MOST)
        s->lanes[TA_PICTURE_RANKS_MOST - 1] = s->lanes[longest];
    s->n_lanes = TA_PICTURE_RANKS_MOST;
}

/* The ranks whose stages have shares of the same as those of `first`, which alone is drawn where it
 * is no rank, or the only one. */
static void find_lanes(struct stages *s, int64_t first)
{
    const struct ta_slice share_of = share_of_at(s, largest_of(s, first));
    if (first != TA_MISSING)
        s->share_of = share_of;
    const size_t rows = first == TA_MISSING ? 0 : ta_ref_rows(s->picture->in, STAGE_RANK);
    for (size_t i = 0; i < rows && i < ROWS_MOST && s->n_lanes < CANDIDATES; i++) {
        const int64_t rank = ta_ref_integer(s->picture->in, STAGE_RANK, i);
        if (rank == TA_MISSING || has_lane(s, rank))
            continue;
        const double share = share_of_rank(s, rank);
        if (share >= LEAST_TOGETHER && share <= MOST_TOGETHER)
            add_lane(s, rank);
    }
    if (s->n_lanes < 2) {
        s->share_of = TA_LIT("");
        s->n_lanes = 0;
        add_lane(s, first);
    }
    choose_lanes(s);
}

static int longest_first(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    return a->time != b->time ? (a->time < b->time) - (a->time > b->time)
                              : ta_slice_compare(a->text, b->text);
}

/* The place of what a row is about among the names, which may be the one after the last. */
static size_t find_name(const struct stages *s, struct place at)
{
    const enum stage_role role = stage_role(name_at(s, at));
    size_t i = 0;
    while (i < s->n_names &&
           (role == STAGE_UNKNOWN ? !ta_slice_equal(s->names[i].text, name_at(s, at))
                                  : s->names[i].role != role))
        i++;
    return i;
}

/* Roles have classes of their own, the longest other stages what is left of these. */
static void choose_classes(struct stages *s)
{
    bool taken[STAGE_CLASSES] = {false};
    for (size_t i = 0; i < s->n_names; i++)
        if (s->names[i].role != STAGE_UNKNOWN)
            taken[s->names[i].role] = true;
    for (size_t i = 0, free = 0; i < s->n_names; i++) {
        struct name *name = &s->names[i];
        while (name->role == STAGE_UNKNOWN && free < STAGE_CLASSES && taken[free])
            free++;
        const size_t class = name->role != STAGE_UNKNOWN ? (size_t)name->role : free++;
        name->class = class < STAGE_CLASSES ? (enum picture_class)(PICTURE_STAGE + class)
                                            : PICTURE_STAGE_REST;
    }
}

static void find_names(struct stages *s)
{
    for (size_t k = 0; k < s->n_lanes; k++) {
        int64_t times[NAMES_MOST] = {0};
        for (struct place at = {0, 0}; next(s, s->lanes[k].rank, &at); at.row++) {
            const struct ta_slice text = name_at(s, at);
            const size_t i = find_name(s, at);
            if (i == NAMES_MOST)
                continue;
            if (i == s->n_names)
                s->names[s->n_names++] = (struct name){text, stage_role(text), 0, PICTURE_STAGE};
            if (!ta_slice_equal(s->names[i].text, text))
                s->names[i].text = ta_slice_of(stage_role_name(s->names[i].role));
            times[i] += time_at(s, at);
            s->names[i].time = ta_max_i64(s->names[i].time, times[i]);
        }
    }
    qsort(s->names, s->n_names, sizeof *s->names, longest_first);
    choose_classes(s);
}

/* Several lanes have one legend, which can have no share of one of them. */
static void add_segment(const struct stages *s, const char *lane, int64_t start, int64_t time,
                        enum picture_class class, struct ta_slice name, double part)
{
    char label[160], share[TA_UNIT_TEXT_MAX];
    const bool is_alone = s->n_lanes == 1;
    name = ta_slice_head(name, 96);
    snprintf(label, sizeof label, "%.*s%s%s", (int)name.len, name.len ? name.ptr : "",
             is_alone ? " " : "", is_alone ? ta_unit_format(share, part, TA_UNIT_RATIO) : "");
    picture_add(s->picture, lane, start, time, class, label);
}

static void draw_lane(const struct stages *s, const struct lane *lane)
{
    char name[40] = "stages";
    int64_t start = 0;
    if (lane->rank != TA_MISSING && ta_report_run(s->picture->in->report)->n_ranks > 1)
        snprintf(name, sizeof name, "rank %" PRId64, lane->rank);
    for (size_t i = 0; i < s->n_names; i++) {
        int64_t time = 0;
        double share = 0;
        for (struct place at = {0, 0}; next(s, lane->rank, &at); at.row++)
            if (find_name(s, at) == i) {
                time += time_at(s, at);
                share += share_at(s, at);
            }
        add_segment(s, name, start, time, s->names[i].class, s->names[i].text, share);
        start += time;
    }
    const double rest = (double)(lane->whole - start);
    if (rest > LEAST * (double)lane->whole)
        add_segment(s, name, start, lane->whole - start, PICTURE_OTHER, TA_LIT("other"),
                    rest / (double)lane->whole);
}

bool picture_of_stages(const struct picture *picture)
{
    struct stages s = {.picture = picture};
    double together;
    const int64_t rank = choose_rank(&s, &together);
    if (together < LEAST_TOGETHER)
        return false;
    find_lanes(&s, rank);
    find_names(&s);
    for (size_t i = 0; i < s.n_lanes; i++)
        draw_lane(&s, &s.lanes[i]);
    return true;
}
