/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that holds the events of several others: their events count once.
 *
 * VizTracer combines the traces of processes into one document, event by event; clocks may be
 * shifted then, names and durations stay. What a file holds is taken from its bytes: how often each
 * process is named, and a sum of hashes over all names, durations and processes, which does not
 * depend on their order. A key is never inside a text, where its quotes are escaped.
 *
 * Files are scanned only when they begin like a trace of VizTracer, and large ones only when one is
 * about as long as two others. */
#include "discover/look.h"

#include "base/hash.h"

#include <stdlib.h>

enum {
    PROCESSES_MOST = 1024, /* a trace with more is no combination that anybody made */
    VALUE_MOST = 2048,     /* bytes of a value that count */
    KEPT = 2 * VALUE_MOST, /* of a block, for what lies across two */
    BLOCK = 1 << 18
};

struct process {
    uint64_t id; /* hash of its text in the file */
    uint64_t events;
};

struct content {
    size_t index; /* of the source */
    uint32_t length;
    bool is_scanned, is_usable;
    uint64_t sum; /* of the hashes of names, durations and processes */
    size_t n;
    struct process *at; /* by id */
};

struct search {
    struct ta_ctx *ctx;
    struct ta_sources *sources;
    bool failed; /* without memory */
};

/* ---- what a file holds ---------------------------------------------------------------------- */

static bool count_process(struct content *content, uint64_t id)
{
    size_t at = 0;
    while (at < content->n && content->at[at].id < id)
        at++;
    if (at < content->n && content->at[at].id == id) {
        content->at[at].events++;
        return true;
    }
    if (content->n == PROCESSES_MOST)
        return false;
    memmove(&content->at[at + 1], &content->at[at], (content->n++ - at) * sizeof *content->at);
    content->at[at] = (struct process){id, 1};
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The end of the value at `at`: after a text, or after what is neither blank nor a mark. */
static const char *end_of_value(const char *at, const char *end)
{
    const bool is_text = at < end && *at == '"';
    for (at += is_text; at < end; at++) {
        if (is_text && *at == '\\' && at + 1 < end)
            at++;
        else if (is_text ? *at == '"' : is_blank(*at) || memchr(",}]", *at, 3))
            return at + is_text;
    }
    return end;
}

/* Hash of a value, the same whether letters beyond ASCII are escaped or not: without them, and
 * without all that is escaped. */
static uint64_t hash_of(const char *at, const char *end, uint64_t seed)
{
    char plain[VALUE_MOST];
    size_t n = 0;
    for (; at < end; at++) {
        if (*at == '\\')
            at += end - at > 1 && at[1] == 'u' ? 5 : 1;
        else if ((signed char)*at >= 0)
            plain[n++] = *at;
    }
    return ta_hash_bytes(plain, n, seed);
}

/* Takes the value of a key in; false when the file cannot be one that is looked for. */
static bool take(struct content *content, struct ta_slice key, const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    if (at == end || *at++ != ':')
        return true;
    while (at < end && is_blank(*at))
        at++;
    if (end - at > VALUE_MOST)
        end = at + VALUE_MOST;
    const uint64_t hash = hash_of(at, end_of_value(at, end), key.len);
    content->sum += ta_hash_mix(hash);
    return *key.ptr != 'p' || count_process(content, hash);
}

static bool scan(struct content *content, const char *bytes, size_t n, size_t n_new)
{
    static const struct ta_slice keys[] = {{"pid\"", 4}, {"name\"", 5}, {"dur\"", 4}};
    const char *const end = bytes + n, *const last = bytes + n_new;
    for (const char *at = bytes; at < last && (at = memchr(at, '"', (size_t)(last - at))); at++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if ((size_t)(end - at) > keys[i].len && memcmp(at + 1, keys[i].ptr, keys[i].len) == 0 &&
                !take(content, keys[i], at + 1 + keys[i].len, end))
                return false;
    return true;
}

/* Scans block by block; a key and its value may lie across two. */
static bool scan_all(struct content *content, struct ta_reader *reader, char *buffer)
{
    size_t n = 0, got;
    do {
        got = ta_reader_read(reader, buffer + n, BLOCK - n);
        n += got;
        if (got && n < BLOCK)
            continue;
        const size_t n_new = got ? n - KEPT : n;
        if (!scan(content, buffer, n, n_new))
            return false;
        memmove(buffer, buffer + n_new, n - n_new);
        n -= n_new;
    } while (got);
    return true;
}

static bool begins_like_viztracer(struct ta_reader *reader)
{
    const struct ta_slice head = ta_reader_probe(reader).head;
    static const char *const words[] = {"\"FEE\"", "\"fee\"", "\"viztracer_metadata\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(head.ptr, head.len, words[i], strlen(words[i])))
            return true;
    return false;
}

static void look_at(struct search *search, struct content *content)
{
    if (content->is_scanned || search->failed)
        return;
    content->is_scanned = true;
    struct ta_quality ignored;
    struct ta_reader *reader = ta_look_open(
        search->ctx, search->sources->list.at[content->index].path, &ignored, &search->failed);
    if (reader && begins_like_viztracer(reader)) {
        char *buffer = malloc(BLOCK);
        content->at = calloc(PROCESSES_MOST, sizeof *content->at);
        search->failed |= !buffer || !content->at;
        content->is_usable = !search->failed && scan_all(content, reader, buffer) &&
                             content->n > 0 && !ta_look_ended_early(&ignored);
        free(buffer);
    }
    ta_look_close(reader, &ignored);
    struct process *shrunk =
        content->is_usable ? reallocarray(content->at, content->n, sizeof *shrunk) : NULL;
    if (!content->is_usable)
        free(content->at);
    content->at = shrunk ? shrunk : content->is_usable ? content->at : NULL;
}

/* ---- which hold what others hold ------------------------------------------------------------ */

static const struct process *find_process(const struct content *content, uint64_t id)
{
    for (size_t i = 0; i < content->n; i++)
        if (content->at[i].id == id)
            return &content->at[i];
    return NULL;
}

/* Whether all processes of a part are also in the whole. */
static bool is_part(const struct content *part, const struct content *whole)
{
    for (size_t i = 0; i < part->n; i++)
        if (!find_process(whole, part->at[i].id))
            return false;
    return true;
}

static uint64_t events_of(const struct content *content)
{
    uint64_t events = 0;
    for (size_t i = 0; i < content->n; i++)
        events += content->at[i].events;
    return events;
}

/* Whether all other files of the same processes add up to the whole; notes which. */
static bool adds_up(struct search *search, struct content *all, size_t n, size_t whole,
                    size_t *parts, size_t *n_parts)
{
    const struct content *const sum = &all[whole];
    const uint64_t events = events_of(sum);
    uint64_t of_parts = 0, hashes = 0;
    *n_parts = 0;
    for (size_t i = 0; i < n && of_parts <= events; i++) {
        if (i == whole || search->sources->list.at[all[i].index].combines)
            continue;
        look_at(search, &all[i]);
        if (!all[i].is_usable || !is_part(&all[i], sum))
            continue;
        hashes += all[i].sum;
        of_parts += events_of(&all[i]);
        parts[(*n_parts)++] = all[i].index;
    }
    return *n_parts > 1 && hashes == sum->sum && of_parts == events;
}

/* "a.json" and 3 more files, the first by name. */
static bool say(struct ta_sources *sources, size_t whole, const size_t *parts, size_t n)
{
    size_t first = parts[0];
    for (size_t i = 1; i < n; i++)
        first = parts[i] < first ? parts[i] : first;
    const char *text = ta_arena_printf(&sources->arena, "\"%s\" and %zu other%s",
                                       sources->list.at[first].shown, n - 1, n == 2 ? "" : "s");
    sources->list.at[whole].combines = text;
    return text != NULL;
}

static int by_length(const void *left, const void *right)
{
    const struct content *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Whether the length does not speak against it.  What was written without blanks is up to a fifth
 * shorter; small files, which may be indented too, cost little to scan. */
static bool may_be_whole(const struct content *all, size_t whole)
{
    enum { SMALL = 1 << 20 };
    const uint64_t length = all[whole].length;
    return length < SMALL || length + length / 4 >= (uint64_t)all[0].length + all[1].length;
}

enum ta_status ta_find_combined(struct ta_ctx *ctx, struct ta_sources *sources)
{
    const size_t n = sources->list.n;
    struct search search = {ctx, sources, false};
    if (n < 3)
        return TA_OK;
    struct content *all = calloc(n, sizeof *all);
    size_t *parts = reallocarray(NULL, n, sizeof *parts);
    size_t known = 0;
    search.failed = !all || !parts;
    for (size_t i = 0; !search.failed && i < n; i++) {
        all[known].index = i;
        known += !sources->list.at[i].copy_of &&
                 ta_look_length(&sources->list.at[i], &all[known].length);
    }
    if (!search.failed) {
        /* Each file with all others, the longer ones first as parts; what is a combination itself
         * is no part of another. */
        qsort(all, known, sizeof *all, by_length);
        for (size_t i = 0; i < known && !search.failed; i++) {
            size_t n_parts;
            if (!may_be_whole(all, i))
                continue;
            look_at(&search, &all[i]);
            if (all[i].is_usable && adds_up(&search, all, known, i, parts, &n_parts) &&
                !search.failed)
                search.failed |= !say(sources, all[i].index, parts, n_parts);
        }
    }
    for (size_t i = 0; all && i < known; i++)
        free(all[i].at);
    free(all);
    free(parts);
    return search.failed
               ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot compare the input files: files=%zu", n)
               : TA_OK;
}
