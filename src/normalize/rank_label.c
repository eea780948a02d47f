/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "normalize/file_ranks.h"

#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number of at most six digits from `*at` on, which moves past it. */
static bool take_number(struct ta_slice text, size_t *at, int64_t *number)
{
    enum { DIGITS = 6 };
    size_t i = *at;
    for (*number = 0; i < text.len && is_digit(text.ptr[i]) && i - *at <= DIGITS; i++)
        *number = 10 * *number + (text.ptr[i] - '0');
    if (i == *at || i - *at > DIGITS)
        return false;
    *at = i;
    return true;
}

static bool has_word(struct ta_slice text, size_t at, const char *word)
{
    const size_t n = strlen(word);
    return text.len - at >= n && strncasecmp(ta_slice_at(text, at), word, n) == 0;
}

/* "rank 3" from `at` on. */
static bool take_rank(struct ta_slice text, size_t at, struct ta_rank_label *label)
{
    const size_t word = sizeof "rank" - 1;
    if (!has_word(text, at, "rank") || (at > 0 && is_letter(text.ptr[at - 1])))
        return false;
    /* The rank of a machine is no rank of a process. */
    if (at >= 5 && has_word(text, at - 5, "node"))
        return false;
    label->end = at + word;
    if (label->end < text.len && memchr(" _-=:#", text.ptr[label->end], 6))
        label->end++;
    return take_number(text, &label->end, &label->rank);
}

/* "[TP00-DP01]" at the start. */
static bool take_places(struct ta_slice text, struct ta_rank_label *label)
{
    static const char *const groups[] = {"DP", "EP", "PP", "TP"};
    size_t at = 1, found = 0;
    if (text.len == 0 || text.ptr[0] != '[')
        return false;
    while (at < text.len && text.ptr[at] != ']') {
        size_t g = 0;
        while (g < 4 && !has_word(text, at, groups[g]))
            g++;
        at += 2;
        if (g == 4 || !take_number(text, &at, &label->places[g]))
            return false;
        found++;
        at += at < text.len && text.ptr[at] == '-';
    }
    label->end = at + 1;
    return found && at < text.len;
}

bool ta_rank_label(struct ta_slice text, struct ta_rank_label *label)
{
    static const struct ta_rank_label none = {
        TA_MISSING, {TA_MISSING, TA_MISSING, TA_MISSING, TA_MISSING}, 0};
    *label = none;
    if (take_places(text, label))
        return true;
    *label = none;
    for (size_t at = 0; at < text.len; at++)
        if ((text.ptr[at] == 'r' || text.ptr[at] == 'R') && take_rank(text, at, label))
            return true;
    return false;
}

int ta_rank_label_compare(const struct ta_rank_label *a, const struct ta_rank_label *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    for (size_t g = 0; g < 4; g++)
        if (a->places[g] != b->places[g])
            return a->places[g] < b->places[g] ? -1 : 1;
    return 0;
}
