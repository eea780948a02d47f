/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank a file belongs to, and every contradiction about it.
 *
 * Order of belief: --rank-regex, the rank in the content, the default pattern on the name, places
 * in groups that the name has, the rank of the dump that names the trace as its own; then the place
 * by name among the traces.  Dumps of other profilers instead share the rank of the files they are
 * copies of, and without that all are rank 0: a process writes many of them. */
#include "base/quality.h"
#include "base/regex.h"
#include "discover/discover.h"
#include "discover/rank_sets.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char default_pattern[] = "rank[-_/[]?([0-9]+)";

/* The number that the first group of an expression finds, or TA_MISSING. */
static int64_t rank_in_name(struct ta_regex *pattern, const char *name)
{
    struct ta_regex_part digits;
    if (!pattern || !ta_regex_search(pattern, name, &digits) || digits.start == SIZE_MAX)
        return TA_MISSING;
    int64_t rank = 0;
    for (size_t i = digits.start; i < digits.end; i++) {
        if (name[i] < '0' || name[i] > '9' || rank > INT32_MAX)
            return TA_MISSING;
        rank = rank * 10 + (name[i] - '0');
    }
    return digits.end > digits.start ? rank : TA_MISSING;
}

/* False without memory; an expression that is none finds nothing, and is refused elsewhere. */
static bool rank_by(const char *text, const char *shown, int64_t *rank)
{
    struct ta_regex_error error;
    struct ta_regex *pattern = ta_regex_new(text, &error);
    *rank = rank_in_name(pattern, shown);
    ta_regex_free(pattern);
    return pattern || error.text[0];
}

bool ta_rank_in_path(const char *shown, const char *pattern, int64_t *rank)
{
    *rank = TA_MISSING;
    if (pattern && !rank_by(pattern, shown, rank))
        return false;
    return *rank != TA_MISSING || rank_by(default_pattern, shown, rank);
}

/* ---- places in groups ---------------------------------------------------------------------- */

/* How SGLang numbers processes: by their places in the groups that share a layer (TP-3), the layers
 * (PP-1) and the requests (DP-0).  Ranks of a stage follow each other, then the stages. */
struct groups {
    int64_t tensor, pipeline; /* sizes */
    bool has_replicas;        /* data parallelism around the others, not of attention alone */
};

/* The number after a word such as "TP-" in a name, or TA_MISSING. */
static int64_t place_in_name(const char *name, const char *word)
{
    enum { PLACES_MOST = 1 << 20 };
    for (const char *at = name; (at = strstr(at, word)); at++) {
        if (at > name && isalnum((unsigned char)at[-1]))
            continue;
        char *end;
        const char *digits = at + strlen(word);
        const long place = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : -1;
        if (place >= 0 && place < PLACES_MOST)
            return place;
    }
    return TA_MISSING;
}

static struct groups find_groups(const struct ta_rank_claim *claims, size_t n)
{
    struct groups groups = {1, 1, false};
    for (size_t i = 0; i < n; i++) {
        const int64_t tensor = place_in_name(claims[i].shown, "TP-");
        if (tensor == TA_MISSING)
            continue;
        groups.tensor = ta_max_i64(groups.tensor, tensor + 1);
        groups.pipeline = ta_max_i64(groups.pipeline, place_in_name(claims[i].shown, "PP-") + 1);
        /* Of attention alone, the first of the tensor group is the first of data, too. */
        groups.has_replicas |= tensor == 0 && place_in_name(claims[i].shown, "DP-") > 0;
    }
    return groups;
}

static int64_t rank_in_groups(const struct groups *groups, const char *name)
{
    const int64_t tensor = place_in_name(name, "TP-");
    if (tensor == TA_MISSING)
        return TA_MISSING;
    const int64_t pipeline = ta_max_i64(place_in_name(name, "PP-"), 0);
    const int64_t data = groups->has_replicas ? ta_max_i64(place_in_name(name, "DP-"), 0) : 0;
    return (data * groups->pipeline + pipeline) * groups->tensor + tensor;
}

/* ---- one file ------------------------------------------------------------------------------ */

/* What the search of the names gave for a file. */
struct found {
    int64_t by_option, by_name;
    int64_t by_groups; /* of traces */
};

static bool decide_known(struct ta_quality *quality, struct ta_rank_claim *claim,
                         const struct found *found)
{
    if (found->by_option != TA_MISSING) {
        claim->rank = found->by_option;
        claim->source = TA_RANK_OPTION;
        return true;
    }
    if (claim->content == TA_MISSING)
        return false;
    claim->rank = claim->content;
    claim->source = TA_RANK_CONTENT;
    if (found->by_name != TA_MISSING && found->by_name != claim->content)
        ta_quality_add(quality, TA_Q_RANK_CONFLICT, TA_NO_OFFSET,
                       "\"%s\" says that it is rank %" PRId64
                       ", against its name; its content is believed",
                       claim->shown, claim->content);
    return true;
}

/* `owner` is the rank of the dump that names the trace as its own, or TA_MISSING. */
static void decide_trace(struct ta_quality *quality, struct ta_rank_claim *claim, size_t position,
                         int64_t owner, const struct found *found, size_t n_traces)
{
    if (claim->n_row_ranks) { /* the file says whose its events are */
        claim->rank = claim->n_row_ranks == 1 ? claim->row_ranks[0] : TA_MISSING;
        claim->source = TA_RANK_CONTENT;
        return;
    }
    if (decide_known(quality, claim, found))
        return;
    const int64_t named = found->by_name != TA_MISSING ? found->by_name : found->by_groups;
    const bool by_name = named != TA_MISSING;
    claim->rank = by_name ? named : owner != TA_MISSING ? owner : (int64_t)position;
    claim->source = by_name               ? TA_RANK_NAME
                    : owner != TA_MISSING ? TA_RANK_PRODUCT
                                          : TA_RANK_POSITION;
    if (claim->source == TA_RANK_PRODUCT)
        return;
    if (n_traces == 1)
        return;
    if (claim->source == TA_RANK_NAME)
        ta_quality_add(quality, TA_Q_RANK_FROM_NAME, TA_NO_OFFSET,
                       "\"%s\" does not say its rank; rank %" PRId64 " is taken from its name",
                       claim->shown, claim->rank);
    else
        ta_quality_add(quality, TA_Q_RANK_POSITION, TA_NO_OFFSET,
                       "\"%s\" does not say its rank; it counts as rank %" PRId64
                       ", its place by name",
                       claim->shown, claim->rank);
}

/* Where dumps have ranks is a matter of their writer, so nothing is said of names and defaults. */
static void decide_dump(struct ta_quality *quality, struct ta_rank_claim *claim,
                        const struct found *found)
{
    if (decide_known(quality, claim, found))
        return;
    claim->rank = 0;
    claim->source = TA_RANK_DEFAULT;
    if (claim->n_row_ranks && claim->all_rows) {
        claim->rank = claim->n_row_ranks == 1 ? claim->row_ranks[0] : TA_MISSING;
        claim->source = TA_RANK_CONTENT;
    } else if (found->by_name != TA_MISSING) {
        claim->rank = found->by_name;
        claim->source = TA_RANK_NAME;
    }
}

/* ---- all files ----------------------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const struct ta_rank_claim *const *a = left, *const *b = right;
    if ((*a)->rank != (*b)->rank)
        return (*a)->rank < (*b)->rank ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The ranks of all files and of the rows that name their own, ascending; the caller frees them. */
static int64_t *list_ranks(const struct ta_rank_claim *claims, size_t n, size_t *n_ranks)
{
    size_t most = n;
    for (size_t i = 0; i < n; i++)
        most += claims[i].n_row_ranks;
    int64_t *ranks = reallocarray(NULL, most + 1, sizeof *ranks);
    *n_ranks = 0;
    for (size_t i = 0; ranks && i < n; i++) {
        if (claims[i].rank != TA_MISSING)
            ranks[(*n_ranks)++] = claims[i].rank;
        for (size_t r = 0; r < claims[i].n_row_ranks; r++)
            ranks[(*n_ranks)++] = claims[i].row_ranks[r];
    }
    if (ranks)
        qsort(ranks, *n_ranks, sizeof *ranks, by_value);
    return ranks;
}

/* The size of the world, and files that do not agree on it.  What the user says is believed. */
static void check_world(struct ta_quality *quality, int64_t *world_size,
                        const struct ta_rank_claim *claims, size_t n)
{
    const struct ta_rank_claim *first = NULL;
    const bool given = *world_size != TA_MISSING;
    for (size_t i = 0; i < n; i++) {
        if (claims[i].world_size == TA_MISSING)
            continue;
        if (given && claims[i].world_size != *world_size)
            ta_quality_add(quality, TA_Q_WORLD_SIZE, TA_NO_OFFSET,
                           "World sizes differ: %" PRId64 " by --world-size, %" PRId64 " in \"%s\"",
                           *world_size, claims[i].world_size, claims[i].shown);
        if (given)
            continue;
        if (!first)
            first = &claims[i];
        else if (claims[i].world_size != first->world_size)
            ta_quality_add(quality, TA_Q_WORLD_SIZE, TA_NO_OFFSET,
                           "World sizes differ: %" PRId64 " in \"%s\", %" PRId64 " in \"%s\"",
                           first->world_size, first->shown, claims[i].world_size, claims[i].shown);
        if (*world_size == TA_MISSING || claims[i].world_size > *world_size)
            *world_size = claims[i].world_size;
    }
}

static void check_vendors(struct ta_quality *quality, const struct ta_rank_claim *claims, size_t n)
{
    const struct ta_rank_claim *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (claims[i].vendor && !first)
            first = &claims[i];
        else if (claims[i].vendor && strcmp(claims[i].vendor, first->vendor) != 0)
            ta_quality_add(quality, TA_Q_MIXED_VENDORS, TA_NO_OFFSET,
                           "Traces of several vendors in one run: %s in \"%s\", %s in \"%s\"",
                           first->vendor, first->shown, claims[i].vendor, claims[i].shown);
    }
}

void ta_check_missing_ranks(struct ta_quality *quality, int64_t world_size, const int64_t *ranks,
                            size_t n, bool on_purpose)
{
    char text[160] = "";
    size_t used = 0;
    int64_t next = 0;
    uint64_t missing = 0;
    for (size_t i = 0; i <= n; i++) {
        const int64_t rank = i < n ? ta_min_i64(ranks[i], world_size) : world_size;
        if (rank > next) {
            missing += (uint64_t)(rank - next);
            if (used < sizeof text - 48)
                used += (size_t)(rank - next > 1 ? snprintf(text + used, sizeof text - used,
                                                            "%s%" PRId64 "–%" PRId64,
                                                            used ? ", " : "", next, rank - 1)
                                                 : snprintf(text + used, sizeof text - used,
                                                            "%s%" PRId64, used ? ", " : "", next));
        }
        next = rank + 1 > next ? rank + 1 : next;
    }
    if (!missing)
        return;
    ta_quality_add_severity(quality, TA_Q_RANK_MISSING,
                            on_purpose ? TA_QUALITY_INFO : TA_QUALITY_NOTICE, TA_NO_OFFSET,
                            TA_NO_OFFSET, "%" PRIu64 " of %" PRId64 " ranks have no trace: rank %s",
                            missing, world_size, text);
}

static void check_claims(struct ta_quality *quality, int64_t world_size,
                         struct ta_rank_claim *const *ordered, size_t n)
{
    const struct ta_rank_claim *before = NULL; /* trace; dumps of one rank join it */
    for (size_t i = 0; i < n; i++) {
        const struct ta_rank_claim *claim = ordered[i];
        const bool is_other = before && !claim->is_dump && before->rank == claim->rank;
        if (is_other && (before->source != TA_RANK_PRODUCT || claim->source != TA_RANK_PRODUCT))
            ta_quality_add(quality, TA_Q_RANK_DUPLICATE, TA_NO_OFFSET,
                           "Two traces claim rank %" PRId64 ": \"%s\" and \"%s\"; both are used",
                           claim->rank, before->shown, claim->shown);
        if (!claim->is_dump)
            before = claim;
        if (world_size != TA_MISSING && claim->rank >= world_size)
            ta_quality_add(quality, TA_Q_RANK_BEYOND_WORLD, TA_NO_OFFSET,
                           "\"%s\" is rank %" PRId64 ", beyond the world size of %" PRId64,
                           claim->shown, claim->rank, world_size);
    }
}

static struct found look_up(struct ta_regex *by_option, struct ta_regex *by_default,
                            const struct ta_rank_claim *claim)
{
    return (struct found){.by_option = rank_in_name(by_option, claim->shown),
                          .by_name = rank_in_name(by_default, claim->shown),
                          .by_groups = TA_MISSING};
}

/* Dumps first, since some name the traces that are their own; returns how many the pattern of the
 * user found.  `list` is room for all of them. */
static size_t decide_each(struct ta_quality *quality, struct ta_regex *by_option,
                          struct ta_regex *by_default, struct ta_rank_claim *claims, size_t n,
                          struct ta_rank_claim **list)
{
    size_t n_matched = 0, n_traces = 0, position = 0;
    for (size_t i = 0; i < n; i++) {
        n_traces += !claims[i].is_dump;
        if (!claims[i].is_dump)
            continue;
        const struct found found = look_up(by_option, by_default, &claims[i]);
        n_matched += found.by_option != TA_MISSING;
        decide_dump(quality, &claims[i], &found);
    }
    ta_ranks_share(claims, n, list);
    const struct groups groups = find_groups(claims, n);
    for (size_t i = 0; i < n; i++) {
        if (claims[i].is_dump)
            continue;
        struct found found = look_up(by_option, by_default, &claims[i]);
        found.by_groups = rank_in_groups(&groups, claims[i].shown);
        n_matched += found.by_option != TA_MISSING;
        const int64_t owner = n_traces < n ? ta_rank_of_owner(&claims[i], claims, n) : TA_MISSING;
        decide_trace(quality, &claims[i], position++, owner, &found, n_traces);
    }
    return n_matched;
}

/* All together, when each has a rank.  One file is often given on purpose; of several one misses
 * the rest, unless the user says otherwise. */
static bool check(struct ta_quality *quality, bool partial, int64_t *world_size,
                  struct ta_rank_claim **ordered, const struct ta_rank_claim *claims, size_t n)
{
    size_t n_ranks;
    int64_t *ranks = list_ranks(claims, n, &n_ranks);
    if (!ranks)
        return false;
    qsort(ordered, n, sizeof *ordered, by_rank);
    check_world(quality, world_size, claims, n);
    check_vendors(quality, claims, n);
    check_claims(quality, *world_size, ordered, n);
    if (*world_size != TA_MISSING)
        ta_check_missing_ranks(quality, *world_size, ranks, n_ranks, partial || n == 1);
    free(ranks);
    return true;
}

/* Leaves NULL in *pattern without a text. */
static enum ta_status compile(struct ta_ctx *ctx, struct ta_regex **pattern, const char *text)
{
    enum { SHOWN_MOST = 120 };
    struct ta_regex_error error;
    *pattern = text ? ta_regex_new(text, &error) : NULL;
    if (!text || *pattern)
        return TA_OK;
    if (!error.text[0])
        return TA_ERR_NOMEM;
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable --rank-regex \"%.*s%s\": %s; expected a POSIX extended "
                   "expression with a group for the number, such as 'rank[-_]?([0-9]+)'",
                   SHOWN_MOST, text, strlen(text) > SHOWN_MOST ? "…" : "", error.text);
}

enum ta_status ta_check_rank_pattern(struct ta_ctx *ctx, const char *pattern)
{
    struct ta_regex *regex = NULL;
    const enum ta_status status = compile(ctx, &regex, pattern);
    ta_regex_free(regex);
    return status == TA_ERR_NOMEM ? ta_fail(ctx, status, "Cannot hold --rank-regex") : status;
}

enum ta_status ta_decide_ranks(struct ta_ctx *ctx, struct ta_quality *quality, const char *pattern,
                               bool partial, int64_t *world_size, struct ta_rank_claim *claims,
                               size_t n)
{
    struct ta_regex *by_option = NULL, *by_default = NULL;
    struct ta_rank_claim **list = reallocarray(NULL, n + 1, sizeof *list);
    enum ta_status status = list ? compile(ctx, &by_option, pattern) : TA_ERR_NOMEM;
    if (status == TA_OK)
        status = compile(ctx, &by_default, default_pattern);
    if (status == TA_OK) {
        const size_t n_matched = decide_each(quality, by_option, by_default, claims, n, list);
        if (pattern && n_matched == 0)
            ta_log(ctx, TA_LOG_WARNING,
                   "--rank-regex \"%s\" finds a rank in no path, such as \"%s\"; ranks come from "
                   "what the files say, their names and their order",
                   pattern, claims[0].shown);
        for (size_t i = 0; i < n; i++)
            list[i] = &claims[i];
        status = check(quality, partial, world_size, list, claims, n) ? TA_OK : TA_ERR_NOMEM;
    }
    ta_regex_free(by_option);
    ta_regex_free(by_default);
    free(list);
    return status == TA_ERR_NOMEM
               ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot decide the ranks: files=%zu", n)
               : status;
}
