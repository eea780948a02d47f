/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists and ranges of the options. */
#include "run/merge.h"

#include "plugin/registry.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- numbers ------------------------------------------------------------------------------- */

/* A whole number that is not negative; `*text` moves past it. */
static bool read_whole(const char **text, int64_t *value)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    *value = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* "3" or "3-7". */
static bool read_span(const char **text, struct ta_span *span)
{
    if (!read_whole(text, &span->first))
        return false;
    span->last = span->first;
    if (**text != '-')
        return true;
    ++*text;
    return read_whole(text, &span->last) && span->last >= span->first;
}

static enum ta_status read_ranks(struct ta_ctx *ctx, const char *list,
                                 struct ta_merge_choice *choice)
{
    size_t n = 1;
    for (const char *p = list; *p; p++)
        n += *p == ',';
    choice->ranks = calloc(n, sizeof *choice->ranks);
    if (!choice->ranks)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: ranks");
    for (const char *p = list; choice->n_ranks < n; p++)
        if (!read_span(&p, &choice->ranks[choice->n_ranks++]) || (*p != ',' && *p))
            return ta_fail(ctx, TA_ERR_USAGE,
                           "Unusable list: --rank=%s, expected ranks such as 0,2,8-15", list);
    return TA_OK;
}

static enum ta_status read_steps(struct ta_ctx *ctx, const char *text, struct ta_span *steps)
{
    const char *p = text;
    if (read_span(&p, steps) && !*p)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable steps: --steps=%s, expected the numbers of marked steps such as 3-7",
                   text);
}

/* ---- times --------------------------------------------------------------------------------- */

/* An end of a range; an empty one keeps what *ns is. */
static bool read_end(const char *text, size_t length, int64_t *ns)
{
    char copy[64];
    double value;
    enum ta_option_unit unit;
    if (length == 0)
        return true;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (!ta_option_number(copy, &value, &unit) || (unit != TA_OPTION_NS && unit != TA_OPTION_PLAIN))
        return false;
    *ns = ta_whole(round(value));
    return value >= 0 && value < 9e18;
}

static enum ta_status read_range(struct ta_ctx *ctx, const char *text,
                                 struct ta_merge_choice *choice)
{
    const char *comma = strchr(text, ',');
    choice->from_ns = 0;
    choice->to_ns = INT64_MAX;
    if (comma && read_end(text, (size_t)(comma - text), &choice->from_ns) &&
        read_end(comma + 1, strlen(comma + 1), &choice->to_ns) && choice->from_ns < choice->to_ns)
        return TA_OK;
    return ta_fail(ctx, TA_ERR_USAGE,
                   "Unusable range: --time-range=%s, expected start and end since the start of the "
                   "run, such as 1.5s,2s or 200ms,",
                   text);
}

/* ---- categories ---------------------------------------------------------------------------- */

static enum ta_status read_categories(struct ta_ctx *ctx, const char *list,
                                      struct ta_merge_choice *choice)
{
    size_t n = 2, at = 0;
    for (const char *p = list; *p; p++)
        n += *p == ',';
    choice->names = strdup(list);
    choice->categories = calloc(n, sizeof *choice->categories);
    if (!choice->names || !choice->categories)
        return ta_fail(ctx, TA_ERR_NOMEM, "Out of memory: categories");
    for (char *rest = choice->names, *name; (name = strsep(&rest, ","));)
        choice->categories[at++] = name;
    return TA_OK;
}

/* ---- all ----------------------------------------------------------------------------------- */

enum ta_status ta_merge_choose(struct ta_run *run, struct ta_merge_choice *choice)
{
    const struct ta_run_settings *set = &run->set;
    *choice = (struct ta_merge_choice){
        .steps = {TA_MISSING, TA_MISSING}, .from_ns = TA_MISSING, .to_ns = TA_MISSING};
    enum ta_status status = TA_OK;
    if (set->rank)
        status = read_ranks(&run->ctx, set->rank, choice);
    if (status == TA_OK && set->steps)
        status = read_steps(&run->ctx, set->steps, &choice->steps);
    if (status == TA_OK && set->time_range)
        status = read_range(&run->ctx, set->time_range, choice);
    if (status == TA_OK && set->drop_category)
        status = read_categories(&run->ctx, set->drop_category, choice);
    return status;
}

void ta_merge_choice_free(struct ta_merge_choice *choice)
{
    if (!choice)
        return;
    free(choice->ranks);
    free(choice->names);
    free(choice->categories);
    free(choice);
}

bool ta_merge_takes_rank(const struct ta_merge_choice *choice, int64_t rank)
{
    for (size_t i = 0; i < choice->n_ranks; i++)
        if (rank >= choice->ranks[i].first && rank <= choice->ranks[i].last)
            return true;
    return choice->n_ranks == 0;
}
