/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a summary says of its files. */
#include "analyze/summary/facts.h"

#include "base/quality.h"
#include "model/trace.h"

#include <stddef.h>

/* Ranks that rows of one file may name, and devices that it may have. */
enum { LIST_MOST = 1 << 20 };

/* ---- plain facts --------------------------------------------------------------------------- */

enum type { TEXT, COUNT, TALLY, TIME, NUMBER, FLAG };

static const struct fact {
    const char *name;
    enum type type;
    size_t offset;
} facts[] = {
#define FACT(type, field)                                                                          \
    {                                                                                              \
#field, type, offsetof(struct ta_ingested, field)                                          \
    }
    FACT(TEXT, format),       FACT(TEXT, refusal),
    FACT(FLAG, truncated),    FACT(COUNT, bytes),
    FACT(COUNT, raw_bytes),   FACT(COUNT, events),
    FACT(COUNT, kept),        FACT(COUNT, repaired),
    FACT(COUNT, dropped),     FACT(COUNT, bytes_skipped),
    FACT(TIME, first_ts),     FACT(TIME, last_ts),
    FACT(NUMBER, rank),       FACT(NUMBER, world_size),
    FACT(NUMBER, base_ns),    FACT(FLAG, is_dump),
    FACT(FLAG, is_console),   FACT(FLAG, is_mapped),
    FACT(TEXT, set),          FACT(FLAG, all_rows),
    FACT(TEXT, vendor),
#undef FACT
#define TRAIT(type, field)                                                                         \
    {                                                                                              \
#field, type, offsetof(struct ta_ingested, traits.field)                                   \
    }
    TRAIT(TALLY, captures),   TRAIT(TALLY, instantiations),
    TRAIT(TALLY, launches),   TRAIT(TALLY, graph_launches),
    TRAIT(TALLY, activities), TRAIT(NUMBER, process),
#undef TRAIT
};

enum { N_FACTS = sizeof facts / sizeof *facts };

static void put_fact(struct ta_text *text, const struct ta_ingested *file, const struct fact *fact)
{
    const void *at = (const char *)file + fact->offset;
    ta_text_key(text, fact->name);
    switch (fact->type) {
    case TEXT:
        ta_text_string_or_null(text, *(const char *const *)at);
        break;
    case COUNT:
        ta_text_uint(text, *(const uint64_t *)at);
        break;
    case TALLY:
    case TIME:
    case NUMBER:
        ta_text_int(text, *(const int64_t *)at);
        break;
    case FLAG:
        ta_text_bool(text, *(const bool *)at);
    }
}

static void take_fact(struct ta_pull *pull, struct ta_ingested *file, const struct fact *fact)
{
    void *at = (char *)file + fact->offset;
    switch (fact->type) {
    case TEXT:
        *(const char **)at = ta_pull_copy(pull);
        break;
    case COUNT: /* so that totals of all files do not wrap */
        *(uint64_t *)at = (uint64_t)ta_pull_within(pull, 0, INT64_C(1) << 56, false);
        break;
    case TALLY:
        *(int64_t *)at = ta_pull_within(pull, 0, INT64_C(1) << 56, false);
        break;
    case TIME:
        *(int64_t *)at = ta_pull_within(pull, -TA_TS_LARGEST, INT64_MAX / 2, true);
        break;
    case NUMBER:
        *(int64_t *)at = ta_pull_int(pull);
        break;
    case FLAG:
        *(bool *)at = ta_pull_bool(pull);
    }
}

/* ---- findings ------------------------------------------------------------------------------ */

static void put_finding(struct ta_text *text, enum ta_quality_code code,
                        const struct ta_quality_slot *slot)
{
    ta_text_comma(text);
    ta_text_puts(text, "{\"code\":");
    ta_text_string(text, ta_slice_of(ta_quality_name(code)));
    ta_text_key(text, "severity");
    ta_text_string(text, ta_slice_of(ta_quality_severity_name(slot->severity)));
    ta_text_key(text, "count");
    ta_text_uint(text, slot->count);
    ta_text_key(text, "byte_offset");
    ta_text_uint(text, slot->first);
    ta_text_key(text, "last_offset");
    ta_text_uint(text, slot->last);
    ta_text_key(text, "file_offset");
    ta_text_uint(text, slot->file_offset);
    ta_text_key(text, "text_offset");
    ta_text_uint(text, slot->text_offset);
    ta_text_key(text, "text");
    ta_text_string_or_null(text, slot->text);
    ta_text_putc(text, '}');
}

void ta_summary_put_findings(struct ta_text *text, const struct ta_quality *quality)
{
    ta_text_putc(text, '[');
    for (int code = 0; quality && code < TA_Q_COUNT; code++)
        if (quality->slots[code].count)
            put_finding(text, (enum ta_quality_code)code, &quality->slots[code]);
    ta_text_putc(text, ']');
}

/* The enumerator of a word, or `n` after a failure. */
static int take_word(struct ta_pull *pull, int n, const char *(*name)(int value))
{
    const struct ta_slice word = ta_pull_string(pull);
    int value = 0;
    while (value < n && !ta_slice_equal(word, ta_slice_of(name(value))))
        value++;
    if (value == n)
        ta_pull_fail(pull, "a word that this version does not know");
    return value;
}

static const char *code_name(int code)
{
    return ta_quality_name((enum ta_quality_code)code);
}

static const char *severity_name(int severity)
{
    return ta_quality_severity_name((enum ta_quality_severity)severity);
}

static void take_finding(struct ta_pull *pull, struct ta_quality *quality)
{
    struct ta_quality_slot slot = {.first = TA_NO_OFFSET,
                                   .last = TA_NO_OFFSET,
                                   .file_offset = TA_NO_OFFSET,
                                   .text_offset = TA_NO_OFFSET};
    struct ta_slice key;
    const char *example = NULL;
    int code = TA_Q_COUNT;
    if (!ta_pull_open(pull, '{'))
        return;
    while (ta_pull_member(pull, &key)) {
        if (ta_slice_equal(key, TA_LIT("code")))
            code = take_word(pull, TA_Q_COUNT, code_name);
        else if (ta_slice_equal(key, TA_LIT("severity")))
            slot.severity =
                (enum ta_quality_severity)take_word(pull, TA_QUALITY_ERROR + 1, severity_name);
        else if (ta_slice_equal(key, TA_LIT("count")))
            slot.count = (uint64_t)ta_pull_within(pull, 1, INT64_C(1) << 56, false);
        else if (ta_slice_equal(key, TA_LIT("byte_offset")))
            slot.first = ta_pull_uint(pull);
        else if (ta_slice_equal(key, TA_LIT("last_offset")))
            slot.last = ta_pull_uint(pull);
        else if (ta_slice_equal(key, TA_LIT("file_offset")))
            slot.file_offset = ta_pull_uint(pull);
        else if (ta_slice_equal(key, TA_LIT("text_offset")))
            slot.text_offset = ta_pull_uint(pull);
        else if (ta_slice_equal(key, TA_LIT("text")))
            example = ta_pull_copy(pull);
        else
            ta_pull_skip(pull);
    }
    if (code == TA_Q_COUNT || !slot.count)
        ta_pull_fail(pull, "a finding without code or count");
    if (!pull->problem)
        ta_quality_restore(quality, (enum ta_quality_code)code, &slot, example);
}

void ta_summary_take_findings(struct ta_pull *pull, struct ta_quality *quality)
{
    if (!ta_pull_open(pull, '['))
        return;
    while (ta_pull_item(pull, ']'))
        take_finding(pull, quality);
    if (quality->failed)
        ta_pull_fail(pull, "no memory for it");
}

/* ---- lists --------------------------------------------------------------------------------- */

static void put_names(struct ta_text *text, const char *key, const char *const *names)
{
    ta_text_key(text, key);
    ta_text_putc(text, '[');
    for (; names && *names; names++) {
        ta_text_comma(text);
        ta_text_string(text, ta_slice_of(*names));
    }
    ta_text_putc(text, ']');
}

static void put_lists(struct ta_text *text, const struct ta_ingested *file)
{
    ta_text_key(text, "row_ranks");
    ta_text_putc(text, '[');
    for (size_t i = 0; i < file->n_row_ranks; i++) {
        ta_text_comma(text);
        ta_text_int(text, file->row_ranks[i]);
    }
    ta_text_putc(text, ']');
    put_names(text, "devices", file->devices);
    put_names(text, "products", file->products);
}

static void take_row_ranks(struct ta_pull *pull, struct ta_ingested *file)
{
    TA_VEC(int64_t) found = {0};
    int64_t least = 0;
    bool done = ta_pull_open(pull, '[');
    while (done && ta_pull_item(pull, ']')) {
        const int64_t rank = ta_pull_within(pull, least, INT32_MAX, false);
        least = rank + 1;
        done = found.n < LIST_MOST && ta_vec_push(&found, rank);
    }
    int64_t *ranks = ta_arena_alloc(pull->arena, (found.n + 1) * sizeof *ranks);
    if (!done || !ranks)
        ta_pull_fail(pull, "too many ranks");
    else if (found.n)
        memcpy(ranks, found.at, found.n * sizeof *ranks);
    file->row_ranks = ranks;
    file->n_row_ranks = ranks ? found.n : 0;
    free(found.at);
}

/* A list that ends with NULL. */
static const char **take_names(struct ta_pull *pull)
{
    TA_VEC(const char *) found = {0};
    bool done = ta_pull_open(pull, '[');
    while (done && ta_pull_item(pull, ']')) {
        const char *name = ta_pull_copy(pull);
        done = name && found.n < LIST_MOST && ta_vec_push(&found, name);
    }
    const char **names = ta_arena_alloc(pull->arena, (found.n + 1) * sizeof *names);
    if (!done || !names)
        ta_pull_fail(pull, "too many names");
    else if (found.n)
        memcpy(names, found.at, found.n * sizeof *names);
    free(found.at);
    return names;
}

/* ---- the whole ----------------------------------------------------------------------------- */

void ta_summary_put_facts(struct ta_text *text, const struct ta_ingested *file)
{
    ta_text_puts(text, "{\"path\":");
    ta_text_string(text, ta_slice_of(file->source->shown));
    ta_text_key(text, "expected");
    ta_text_bool(text, ta_ingested_is_missed(file));
    ta_text_key(text, "mtime_s");
    ta_text_int(text, file->source->mtime_s);
    for (size_t i = 0; i < N_FACTS; i++)
        put_fact(text, file, &facts[i]);
    put_lists(text, file);
    ta_text_key(text, "findings");
    ta_summary_put_findings(text, &file->quality);
    ta_text_putc(text, '}');
}

static void take_member(struct ta_pull *pull, struct ta_slice key, struct ta_ingested *file,
                        struct ta_source *source)
{
    for (size_t i = 0; i < N_FACTS; i++) {
        if (ta_slice_equal(key, ta_slice_of(facts[i].name))) {
            take_fact(pull, file, &facts[i]);
            return;
        }
    }
    if (ta_slice_equal(key, TA_LIT("path")))
        source->shown = ta_pull_copy(pull);
    else if (ta_slice_equal(key, TA_LIT("expected")))
        source->expected = ta_pull_bool(pull);
    else if (ta_slice_equal(key, TA_LIT("mtime_s")))
        source->mtime_s = ta_pull_within(pull, INT64_MIN / 2, INT64_MAX / 2, false);
    else if (ta_slice_equal(key, TA_LIT("row_ranks")))
        take_row_ranks(pull, file);
    else if (ta_slice_equal(key, TA_LIT("devices")))
        file->devices = take_names(pull);
    else if (ta_slice_equal(key, TA_LIT("products")))
        file->products = take_names(pull);
    else if (ta_slice_equal(key, TA_LIT("findings")))
        ta_summary_take_findings(pull, &file->quality);
    else
        ta_pull_skip(pull);
}

void ta_summary_take_facts(struct ta_pull *pull, struct ta_ingested *file, struct ta_source *source)
{
    struct ta_slice key;
    if (!ta_pull_open(pull, '{'))
        return;
    while (ta_pull_member(pull, &key))
        take_member(pull, key, file, source);
    if (!source->shown || (!file->format && !file->refusal))
        ta_pull_fail(pull, "a file without path, format or refusal");
}
