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

/* The two tables. */
enum { SOURCES = 2 };

/* More stages have no segment of their own. */
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

/* A row of one of the tables. */
struct place {
    int64_t rank;
    size_t source, row;
};

struct stages {
    const struct picture *picture;
    struct place *places; /* of stages that have a share, by rank */
    size_t n_places;
    struct ta_slice share_of; /* of what the stages have shares; empty: of anything */
    struct lane lanes[TA_PICTURE_RANKS_MOST];
    size_t n_lanes;
    struct name names[NAMES_MOST]; /* in the order of all lanes */
    size_t n_names;
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

static int by_rank(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->rank != b->rank)
        return (a->rank > b->rank) - (a->rank < b->rank);
    if (a->source != b->source)
        return (a->source > b->source) - (a->source < b->source);
    return (a->row > b->row) - (a->row < b->row);
}

/* False without memory. */
static bool find_places(struct stages *s)
{
    const struct ta_refs *in = s->picture->in;
    size_t rows = 0;
    for (size_t source = 0; source < SOURCES; source++)
        rows += ta_ref_rows(in, sources[source].time);
    s->places = calloc(rows + 1, sizeof *s->places);
    for (size_t source = 0; s->places && source < SOURCES; source++)
        for (size_t row = 0; row < ta_ref_rows(in, sources[source].time); row++) {
            const struct place at = {ta_ref_integer(in, sources[source].rank, row), source, row};
            if (time_at(s, at) > 0 && share_at(s, at) >= LEAST)
                s->places[s->n_places++] = at;
        }
    if (s->places)
        qsort(s->places, s->n_places, sizeof *s->places, by_rank);
    return s->places != NULL;
}

/* The first place of a rank from there on that is drawn; NULL for none. */
static const struct place *drawn_from(const struct stages *s, int64_t rank, const struct place *at)
{
    for (; at < s->places + s->n_places && at->rank == rank; at++)
        if (s->share_of.len == 0 || ta_slice_equal(share_of_at(s, *at), s->share_of))
            return at;
    return NULL;
}

static const struct place *first_of(const struct stages *s, int64_t rank)
{
    size_t low = 0, high = s->n_places;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->places[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return drawn_from(s, rank, s->places + low);
}

static const struct place *next_of(const struct stages *s, const struct place *at)
{
    return drawn_from(s, at->rank, at + 1);
}

static double share_of_rank(const struct stages *s, int64_t rank)
{
    double share = 0;
    for (const struct place *at = first_of(s, rank); at; at = next_of(s, at))
        share += share_at(s, *at);
    return share;
}

/* Whether the place is the first one of its rank. */
static bool begins_rank(const struct stages *s, size_t i)
{
    return i == 0 || s->places[i].rank != s->places[i - 1].rank;
}

/* The rank whose stages cover most of its session, without counting any of it twice. */
static int64_t choose_rank(const struct stages *s, double *share)
{
    int64_t best = TA_MISSING;
    *share = 0;
    for (size_t i = 0; i < s->n_places; i++) {
        const double here = begins_rank(s, i) ? share_of_rank(s, s->places[i].rank) : 0;
        if (here <= MOST_TOGETHER && here > *share) {
            best = s->places[i].rank;
            *share = here;
        }
    }
    return best;
}

/* The stage of a rank that has most of its session; a rank with stages has one. */
static struct place largest_of(const struct stages *s, int64_t rank)
{
    struct place largest = {0};
    double most = 0;
    for (const struct place *at = first_of(s, rank); at; at = next_of(s, at))
        if (share_at(s, *at) > most) {
            most = share_at(s, *at);
            largest = *at;
        }
    return largest;
}

static struct lane lane_of(const struct stages *s, int64_t rank)
{
    const struct place largest = largest_of(s, rank);
    return (struct lane){rank, ta_whole((double)time_at(s, largest) / share_at(s, largest))};
}

/* The ranks whose stages have shares of the same time as the stages of `first`: of many the first,
 * and the one that takes longest.  `first` alone is drawn where it is no rank, or the only one. */
static void find_lanes(struct stages *s, int64_t first)
{
    struct lane longest = {first, 0};
    if (first != TA_MISSING)
        s->share_of = share_of_at(s, largest_of(s, first));
    for (size_t i = 0; i < s->n_places && first != TA_MISSING; i++) {
        const int64_t rank = s->places[i].rank;
        const double share = begins_rank(s, i) ? share_of_rank(s, rank) : 0;
        if (rank == TA_MISSING || share < LEAST_TOGETHER || share > MOST_TOGETHER)
            continue;
        const struct lane lane = lane_of(s, rank);
        if (lane.whole > longest.whole)
            longest = lane;
        if (s->n_lanes < TA_PICTURE_RANKS_MOST)
            s->lanes[s->n_lanes++] = lane;
    }
    if (s->n_lanes < 2) {
        s->share_of = TA_LIT("");
        s->lanes[0] = lane_of(s, first);
        s->n_lanes = 1;
    } else if (longest.rank > s->lanes[s->n_lanes - 1].rank) {
        s->lanes[s->n_lanes - 1] = longest;
    }
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
        for (const struct place *at = first_of(s, s->lanes[k].rank); at; at = next_of(s, at)) {
            const struct ta_slice text = name_at(s, *at);
            const size_t i = find_name(s, *at);
            if (i == NAMES_MOST)
                continue;
            if (i == s->n_names)
                s->names[s->n_names++] = (struct name){text, stage_role(text), 0, PICTURE_STAGE};
            if (!ta_slice_equal(s->names[i].text, text))
                s->names[i].text = ta_slice_of(stage_role_name(s->names[i].role));
            times[i] += time_at(s, *at);
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
        for (const struct place *at = first_of(s, lane->rank); at; at = next_of(s, at))
            if (find_name(s, *at) == i) {
                time += time_at(s, *at);
                share += share_at(s, *at);
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
    double together = 0;
    *picture->failed |= !find_places(&s);
    const int64_t rank = choose_rank(&s, &together);
    const bool is_drawn = together >= LEAST_TOGETHER;
    if (is_drawn) {
        find_lanes(&s, rank);
        find_names(&s);
    }
    for (size_t i = 0; i < s.n_lanes; i++)
        draw_lane(&s, &s.lanes[i]);
    free(s.places);
    return is_drawn;
}
