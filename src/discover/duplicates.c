/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same file twice, plain and compressed: counted once.
 *
 * Sizes of the content are known without reading (a gzip file ends with its length modulo 2^32),
 * and equal lengths are so rare among traces that only then contents are compared. */
#include "discover/discover.h"

#include "base/hash.h"
#include "discover/look.h"

/* What all comparisons share. */
struct search {
    struct ta_ctx *ctx;
    const struct ta_source *list;
    const char *pattern; /* --rank-regex or NULL */
    size_t *original;
    bool failed; /* without memory */
};

struct candidate {
    size_t index;
    uint32_t length; /* of the content, modulo 2^32 */
    uint64_t head;   /* hash of its first bytes, where another file is as long */
    bool is_trace;   /* by these bytes */
};

/* Compares what two files hold, damage aside; sets *early when one was not read to its end. */
static bool compare_once(struct search *search, const char *a, const char *b, bool *early)
{
    enum { BLOCK = 65536 };
    struct ta_quality ignored[2];
    struct ta_reader *readers[2];
    char *blocks = malloc(2 * BLOCK);
    search->failed |= !blocks;
    for (int i = 0; i < 2; i++)
        readers[i] = ta_look_open(search->ctx, i ? b : a, &ignored[i], &search->failed);
    bool same = blocks && readers[0] && readers[1];
    for (bool more = same; same && more;) {
        size_t filled[2] = {0};
        for (int i = 0; i < 2; i++) {
            size_t got;
            while (filled[i] < BLOCK &&
                   (got = ta_reader_read(readers[i], blocks + i * BLOCK + filled[i],
                                         BLOCK - filled[i])))
                filled[i] += got;
        }
        same = filled[0] == filled[1] && memcmp(blocks, blocks + BLOCK, filled[0]) == 0;
        more = filled[0] == BLOCK;
    }
    *early = ta_look_ended_early(&ignored[0]) || ta_look_ended_early(&ignored[1]);
    for (int i = 0; i < 2; i++)
        ta_look_close(readers[i], &ignored[i]);
    free(blocks);
    return same;
}

static bool same_content(struct search *search, const char *a, const char *b)
{
    bool same = false, early = true;
    for (int tries = 0; !same && early && !search->failed && tries < TA_LOOK_TRIES; tries++)
        same = compare_once(search, a, b, &early);
    return same;
}

static bool holds(struct ta_slice text, struct ta_slice word)
{
    return memmem(text.ptr, text.len, word.ptr, word.len) != NULL;
}

/* False when it is to be tried again. */
static bool try_head(struct search *search, struct candidate *candidate)
{
    struct ta_quality ignored;
    struct ta_reader *reader =
        ta_look_open(search->ctx, search->list[candidate->index].path, &ignored, &search->failed);
    if (reader) {
        const struct ta_slice head = ta_reader_probe(reader).head;
        candidate->head = ta_hash_bytes(head.ptr, head.len, 0);
        candidate->is_trace =
            holds(head, TA_LIT("\"traceEvents\"")) || holds(head, TA_LIT("\"ph\""));
    }
    const bool early = ta_look_ended_early(&ignored);
    ta_look_close(reader, &ignored);
    return !early;
}

static int by_look(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Whether two files with the same content are of two ranks. */
static bool are_of_two_ranks(struct search *search, const struct ta_source *a,
                             const struct ta_source *b)
{
    int64_t rank, other;
    if (!ta_rank_in_path(a->shown, search->pattern, &rank) ||
        !ta_rank_in_path(b->shown, search->pattern, &other)) {
        search->failed = true;
        return false;
    }
    return rank != TA_MISSING && other != TA_MISSING && rank != other;
}

/* Compares the candidate after `n` others that look alike with each of them that is no duplicate
 * itself. */
static void find_original(struct search *search, const struct candidate *alike, size_t n)
{
    const struct ta_source *list = search->list;
    size_t *original = search->original;
    const size_t index = alike[n].index;
    for (size_t i = 0; i < n && original[index] == index; i++) {
        const size_t other = alike[i].index;
        if (original[other] == other &&
            (alike[n].is_trace || !are_of_two_ranks(search, &list[other], &list[index])) &&
            same_content(search, list[other].path, list[index].path))
            original[index] = other;
    }
}

/* Looks at the heads of those that are as long as another, and compares those that look alike. */
static void compare(struct search *search, struct candidate *candidates, size_t n)
{
    qsort(candidates, n, sizeof *candidates, by_look);
    for (size_t i = 0; i < n; i++) {
        const uint32_t length = candidates[i].length;
        if ((i > 0 && candidates[i - 1].length == length) ||
            (i + 1 < n && candidates[i + 1].length == length)) {
            for (int tries = 0; tries < TA_LOOK_TRIES && !try_head(search, &candidates[i]); tries++)
                ;
        }
    }
    qsort(candidates, n, sizeof *candidates, by_look);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (candidates[i].length != candidates[first].length ||
            candidates[i].head != candidates[first].head)
            first = i;
        find_original(search, candidates + first, i - first);
    }
}

enum ta_status ta_find_duplicates(struct ta_ctx *ctx, const struct ta_sources *sources,
                                  const char *pattern, size_t *original)
{
    const size_t n = sources->list.n;
    struct search search = {ctx, sources->list.at, pattern, original, false};
    for (size_t i = 0; i < n; i++)
        original[i] = i;
    if (n < 2)
        return TA_OK;
    struct candidate *candidates = reallocarray(NULL, n, sizeof *candidates);
    search.failed = !candidates;
    size_t known = 0;
    for (size_t i = 0; candidates && i < n; i++) {
        candidates[known] = (struct candidate){.index = i};
        known += ta_look_length(&sources->list.at[i], &candidates[known].length);
    }
    if (candidates)
        compare(&search, candidates, known);
    free(candidates);
    return search.failed
               ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the input files: files=%zu", n)
               : TA_OK;
}
