/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which rank a trace belongs to, and every contradiction about it.
 *
 * Order of belief: --rank-regex, distributedInfo.rank, the default pattern on the name, the place
 * by name among the traces. */
#include "discover/discover.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>

static const char default_pattern[] = "rank[-_/[]?([0-9]+)";

/* The number that the first group of the pattern finds, or TA_MISSING. */
static int64_t rank_in_name(const regex_t *pattern, const char *name)
{
    regmatch_t match[2];
    if (regexec(pattern, name, 2, match, 0) != 0 || match[1].rm_so < 0)
        return TA_MISSING;
    int64_t rank = 0;
    for (regoff_t i = match[1].rm_so; i < match[1].rm_eo; i++) {
        if (name[i] < '0' || name[i] > '9' || rank > INT32_MAX)
            return TA_MISSING;
        rank = rank * 10 + (name[i] - '0');
    }
    return match[1].rm_eo > match[1].rm_so ? rank : TA_MISSING;
}

static void decide(struct ta_quality *quality, struct ta_rank_claim *claim, size_t position,
                   int64_t by_option, int64_t by_name, size_t n)
{
    if (by_option != TA_MISSING) {
        claim->rank = by_option;
        claim->source = TA_RANK_OPTION;
        return;
    }
    if (claim->content != TA_MISSING) {
        claim->rank = claim->content;
        claim->source = TA_RANK_CONTENT;
        if (by_name != TA_MISSING && by_name != claim->content)
            ta_quality_add(quality, TA_Q_RANK_CONFLICT, TA_NO_OFFSET,
                           "\"%s\" says that it is rank %" PRId64
                           ", against its name; its content is believed",
                           claim->shown, claim->content);
        return;
    }
    claim->rank = by_name != TA_MISSING ? by_name : (int64_t)position;
    claim->source = by_name != TA_MISSING ? TA_RANK_NAME : TA_RANK_POSITION;
    if (n == 1)
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

static int by_rank(const void *left, const void *right)
{
    const struct ta_rank_claim *const *a = left, *const *b = right;
    if ((*a)->rank != (*b)->rank)
        return (*a)->rank < (*b)->rank ? -1 : 1;
    return (*a > *b) - (*a < *b);
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

/* Names the ranks nobody has, as ranges: "2, 5–7". */
static void check_missing(struct ta_quality *quality, int64_t world_size,
                          struct ta_rank_claim *const *ordered, size_t n)
{
    char text[160] = "";
    size_t used = 0;
    int64_t next = 0;
    uint64_t missing = 0;
    for (size_t i = 0; i <= n; i++) {
        const int64_t rank = i < n ? ta_min_i64(ordered[i]->rank, world_size) : world_size;
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
    /* One file is often given on purpose; of several one misses the rest. */
    ta_quality_add_severity(quality, TA_Q_RANK_MISSING,
                            n == 1 ? TA_QUALITY_INFO : TA_QUALITY_NOTICE, TA_NO_OFFSET,
                            TA_NO_OFFSET, "%" PRIu64 " of %" PRId64 " ranks have no trace: rank %s",
                            missing, world_size, text);
}

static void check_claims(struct ta_quality *quality, int64_t world_size,
                         struct ta_rank_claim *const *ordered, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct ta_rank_claim *claim = ordered[i];
        if (i && ordered[i - 1]->rank == claim->rank)
            ta_quality_add(quality, TA_Q_RANK_DUPLICATE, TA_NO_OFFSET,
                           "Two traces claim rank %" PRId64 ": \"%s\" and \"%s\"; both are used",
                           claim->rank, ordered[i - 1]->shown, claim->shown);
        if (world_size != TA_MISSING && claim->rank >= world_size)
            ta_quality_add(quality, TA_Q_RANK_BEYOND_WORLD, TA_NO_OFFSET,
                           "\"%s\" is rank %" PRId64 ", beyond the world size of %" PRId64,
                           claim->shown, claim->rank, world_size);
    }
}

enum ta_status ta_decide_ranks(struct ta_ctx *ctx, struct ta_quality *quality, const char *pattern,
                               int64_t *world_size, struct ta_rank_claim *claims, size_t n)
{
    regex_t by_default, by_option;
    const bool compiled = pattern && regcomp(&by_option, pattern, REG_EXTENDED) == 0;
    const bool usable = compiled && by_option.re_nsub > 0;
    if (compiled && !usable)
        regfree(&by_option);
    if (pattern && !usable)
        return ta_fail(ctx, TA_ERR_USAGE,
                       "Unusable --rank-regex \"%s\": expected a POSIX extended expression with a "
                       "group for the number, such as 'rank[-_]?([0-9]+)'",
                       pattern);
    struct ta_rank_claim **ordered = reallocarray(NULL, n + 1, sizeof *ordered);
    if (!ordered || regcomp(&by_default, default_pattern, REG_EXTENDED) != 0) {
        free(ordered);
        if (usable)
            regfree(&by_option);
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot decide the ranks: files=%zu", n);
    }
    size_t n_matched = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t by_user = pattern ? rank_in_name(&by_option, claims[i].shown) : TA_MISSING;
        n_matched += by_user != TA_MISSING;
        decide(quality, &claims[i], i, by_user, rank_in_name(&by_default, claims[i].shown), n);
        ordered[i] = &claims[i];
    }
    if (pattern && n_matched == 0)
        ta_log(ctx, TA_LOG_WARNING,
               "--rank-regex \"%s\" finds a rank in no path, such as \"%s\"; ranks come from what "
               "the files say, their names and their order",
               pattern, claims[0].shown);
    qsort(ordered, n, sizeof *ordered, by_rank);
    check_world(quality, world_size, claims, n);
    check_vendors(quality, claims, n);
    check_claims(quality, *world_size, ordered, n);
    if (*world_size != TA_MISSING)
        check_missing(quality, *world_size, ordered, n);
    regfree(&by_default);
    if (usable)
        regfree(&by_option);
    free(ordered);
    return TA_OK;
}
