/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same file twice, plain and compressed: counted once.
 *
 * Sizes of the content are known without reading (a gzip file ends with its length modulo 2^32),
 * and equal lengths are so rare among traces that only then contents are compared. */
#include "discover/discover.h"

#include "base/hash.h"
#include "read/reader.h"

#include <fcntl.h>
#include <unistd.h>

struct candidate {
    size_t index;
    uint32_t length; /* of the content, modulo 2^32 */
    bool known;
    uint64_t head; /* hash of its first bytes, where another file is as long */
    bool is_trace; /* by these bytes */
};

static struct candidate measure(const struct ta_source *source, size_t index)
{
    struct candidate c = {.index = index, .length = (uint32_t)source->size};
    if (!source->path || source->refusal || source->size == 0)
        return c;
    int fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return c;
    unsigned char magic[2] = {0}, tail[4] = {0};
    c.known = pread(fd, magic, 2, 0) == 2;
    if (c.known && magic[0] == 0x1f && magic[1] == 0x8b) {
        c.known = source->size > 18 && pread(fd, tail, 4, (off_t)source->size - 4) == 4;
        c.length = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
                   (uint32_t)tail[3] << 24;
    }
    close(fd);
    return c;
}

/* Whether two files have the same content, damage aside. */
static bool same_content(struct ta_ctx *ctx, const char *a, const char *b)
{
    enum { BLOCK = 65536 };
    struct ta_quality ignored[2];
    struct ta_reader *readers[2];
    char *blocks = malloc(2 * BLOCK);
    for (int i = 0; i < 2; i++) {
        ta_quality_init(&ignored[i]);
        readers[i] = blocks ? ta_reader_open(ctx, i ? b : a, -1, &ignored[i]) : NULL;
    }
    bool same = readers[0] && readers[1];
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
    for (int i = 0; i < 2; i++) {
        ta_reader_close(readers[i]);
        ta_quality_free(&ignored[i]);
    }
    free(blocks);
    return same;
}

static bool holds(struct ta_slice text, struct ta_slice word)
{
    return memmem(text.ptr, text.len, word.ptr, word.len) != NULL;
}

static void look_at_head(struct ta_ctx *ctx, const char *path, struct candidate *candidate)
{
    struct ta_quality ignored;
    ta_quality_init(&ignored);
    struct ta_reader *reader = ta_reader_open(ctx, path, -1, &ignored);
    if (reader) {
        const struct ta_slice head = ta_reader_probe(reader).head;
        candidate->head = ta_hash_bytes(head.ptr, head.len, 0);
        candidate->is_trace =
            holds(head, TA_LIT("\"traceEvents\"")) || holds(head, TA_LIT("\"ph\""));
    }
    ta_reader_close(reader);
    ta_quality_free(&ignored);
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
static bool are_of_two_ranks(const struct ta_source *a, const struct ta_source *b,
                             const char *pattern)
{
    const int64_t rank = ta_rank_in_path(a->shown, pattern);
    const int64_t other = ta_rank_in_path(b->shown, pattern);
    return rank != TA_MISSING && other != TA_MISSING && rank != other;
}

/* Compares the candidate behind `n` others that look alike with each of them that is no duplicate
 * itself. */
static void find_original(struct ta_ctx *ctx, const struct ta_sources *sources, const char *pattern,
                          const struct candidate *alike, size_t n, size_t *original)
{
    const struct ta_source *list = sources->list.at;
    const size_t index = alike[n].index;
    for (size_t i = 0; i < n && original[index] == index; i++) {
        const size_t other = alike[i].index;
        if (original[other] == other &&
            (alike[n].is_trace || !are_of_two_ranks(&list[other], &list[index], pattern)) &&
            same_content(ctx, list[other].path, list[index].path))
            original[index] = other;
    }
}

enum ta_status ta_find_duplicates(struct ta_ctx *ctx, const struct ta_sources *sources,
                                  const char *pattern, size_t *original)
{
    const size_t n = sources->list.n;
    for (size_t i = 0; i < n; i++)
        original[i] = i;
    if (n < 2)
        return TA_OK;
    struct candidate *candidates = reallocarray(NULL, n, sizeof *candidates);
    if (!candidates)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the input files: files=%zu", n);
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        struct candidate c = measure(&sources->list.at[i], i);
        if (c.known)
            candidates[known++] = c;
    }
    qsort(candidates, known, sizeof *candidates, by_look);
    for (size_t i = 0; i < known; i++) {
        const uint32_t length = candidates[i].length;
        if ((i > 0 && candidates[i - 1].length == length) ||
            (i + 1 < known && candidates[i + 1].length == length))
            look_at_head(ctx, sources->list.at[candidates[i].index].path, &candidates[i]);
    }
    qsort(candidates, known, sizeof *candidates, by_look);
    for (size_t i = 1, first = 0; i < known; i++) {
        if (candidates[i].length != candidates[first].length ||
            candidates[i].head != candidates[first].head)
            first = i;
        find_original(ctx, sources, pattern, candidates + first, i - first, original);
    }
    free(candidates);
    return TA_OK;
}
