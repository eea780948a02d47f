/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages that are one in several parts, told apart by a number: sampling_chunk_0, sampling_chunk_1
 * … are the family sampling_chunk_N. */
#include "stages.h"

#include <stdlib.h>

/* Words before a number that counts parts of one thing; other names need more members, because
 * text_encoder_1 and text_encoder_2 are two models. */
static const char *const counted[] = {"batch",   "block",     "chunk",  "clip",   "frame",
                                      "iter",    "iteration", "prompt", "sample", "section",
                                      "segment", "step",      "tile",   "video",  "window"};
enum { LEAST_MEMBERS = 3 };

struct pattern {
    struct ta_slice text; /* the name with N for its number; empty when it has none */
    struct ta_slice name, source;
    bool counts; /* the word before the number is one of `counted` */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool ends_in_counted_word(struct ta_slice text)
{
    size_t start = text.len;
    while (start > 0 && is_letter(text.ptr[start - 1]))
        start--;
    const struct ta_slice word = ta_slice_from(text, start);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (word.len == strlen(counted[i]) && strncasecmp(word.ptr, counted[i], word.len) == 0)
            return true;
    return false;
}

/* The last number in the name that follows a separator. */
static struct pattern pattern_of(struct stages *stages, const struct stage *stage)
{
    struct pattern pattern = {.name = stage->name, .source = stage->source};
    const struct ta_slice name = stage->name;
    size_t end = name.len;
    while (end > 0) {
        while (end > 0 && !is_digit(name.ptr[end - 1]))
            end--;
        size_t start = end;
        while (start > 0 && is_digit(name.ptr[start - 1]))
            start--;
        if (start > 1 && start < end && strchr("_- #/:", name.ptr[start - 1])) {
            const char *text = ta_arena_printf(&stages->arena, "%.*sN%.*s", (int)start, name.ptr,
                                               (int)(name.len - end), ta_slice_at(name, end));
            pattern.text = ta_slice_of(text);
            pattern.counts = ends_in_counted_word((struct ta_slice){name.ptr, start - 1});
            return pattern;
        }
        end = start;
    }
    return pattern;
}

static int by_pattern(const void *left, const void *right)
{
    const struct pattern *a = left, *b = right;
    int order = ta_slice_compare(a->source, b->source);
    if (!order)
        order = ta_slice_compare(a->text, b->text);
    return order ? order : ta_slice_compare(a->name, b->name);
}

/* The patterns that several stages share, in order; returns how many. */
static size_t keep_shared(struct pattern *patterns, size_t n)
{
    size_t kept = 0;
    qsort(patterns, n, sizeof *patterns, by_pattern);
    for (size_t first = 0, end; first < n; first = end) {
        size_t members = 1;
        for (end = first + 1;
             end < n && ta_slice_equal(patterns[end].source, patterns[first].source) &&
             ta_slice_equal(patterns[end].text, patterns[first].text);
             end++)
            members += !ta_slice_equal(patterns[end].name, patterns[end - 1].name);
        const size_t least = patterns[first].counts ? 2 : LEAST_MEMBERS;
        if (patterns[first].text.len && members >= least)
            for (size_t i = first; i < end; i++)
                patterns[kept++] = patterns[i];
    }
    return kept;
}

bool find_families(struct stages *stages)
{
    struct pattern *patterns = calloc(stages->n + 1, sizeof *patterns);
    if (!patterns)
        return false;
    for (size_t i = 0; i < stages->n; i++)
        patterns[i] = pattern_of(stages, &stages->at[i]);
    const size_t n = keep_shared(patterns, stages->n);
    for (size_t i = 0; i < stages->n; i++) {
        struct stage *stage = &stages->at[i];
        const struct pattern wanted = pattern_of(stages, stage);
        stage->family = stage->name;
        if (wanted.text.len && bsearch(&wanted, patterns, n, sizeof *patterns, by_pattern))
            stage->family = wanted.text;
    }
    free(patterns);
    return !stages->arena.failed;
}
