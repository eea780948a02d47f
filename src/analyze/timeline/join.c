/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the parts that the files of a run yield into one timeline. */
#include "analyze/timeline/timeline.h"

#include "base/vec.h"
#include "model/kernel.h"
#include "traceanalyze/base.h"

struct whole {
    struct ta_timeline timeline; /* first: the timeline is the whole */
    struct ta_timeline_pool *pool;
    struct ta_timeline_file *files;
    struct ta_timeline_part **parts;
    size_t n_parts;
    struct ta_arena arena;
    TA_VEC(struct ta_timeline_label) labels;
};

struct joiner {
    struct whole *whole;
    struct ta_map tree; /* number of a list of texts, and one more → number of the longer list */
    struct ta_map at;   /* list of all texts of a label → label */
};

/* ---- the pool ------------------------------------------------------------------------------ */

struct ta_timeline_pool *ta_timeline_pool_new(void)
{
    struct ta_timeline_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    if (!ta_strings_init(&pool->texts, UINT32_MAX - 1)) {
        ta_strings_free(&pool->texts);
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

struct ta_timeline_pool *ta_timeline_pool_share(struct ta_timeline_pool *pool)
{
    pool->n_shares++;
    return pool;
}

void ta_timeline_pool_free(struct ta_timeline_pool *pool)
{
    if (!pool)
        return;
    if (pool->n_shares) {
        pool->n_shares--;
        return;
    }
    ta_strings_free(&pool->texts);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- labels: numbered in the order of the files, whatever thread came first ----------------- */

static struct ta_slice text_of(const struct joiner *joiner, ta_str id)
{
    return id == TA_STR_ABSENT ? (struct ta_slice){NULL, 0}
                               : ta_strings_text(&joiner->whole->pool->texts, id);
}

/* False without memory. */
static bool shorten(struct whole *whole, struct ta_timeline_label *label)
{
    if (!label->name.len)
        return true;
    char text[TA_TIMELINE_NAME_MAX];
    const size_t n = ta_kernel_brief(label->name, text, sizeof text);
    if (n == 0 || n >= label->name.len)
        return true;
    label->brief.ptr = ta_arena_copy(&whole->arena, (struct ta_slice){text, n});
    label->brief.len = n;
    return label->brief.ptr != NULL;
}

/* From a list of texts to the list with one more. */
static bool go_on(struct joiner *joiner, uint64_t *state, ta_str text)
{
    const uint64_t *next = ta_map_at(&joiner->tree, *state << 32 | text, joiner->tree.n + 1);
    *state = next ? *next : 0;
    return next != NULL;
}

static bool number_label(struct joiner *joiner, const struct ta_part_label *from, uint32_t *number)
{
    struct whole *whole = joiner->whole;
    const ta_str own[] = {from->name, from->category, from->shapes};
    uint64_t state = 0;
    bool done = true;
    for (size_t i = 0; done && i < sizeof own / sizeof *own; i++)
        done = go_on(joiner, &state, own[i]);
    for (int i = 0; done && i < TA_TIMELINE_ARGS; i++)
        done = go_on(joiner, &state, from->args[i]);
    const uint64_t *at = done ? ta_map_at(&joiner->at, state, whole->labels.n) : NULL;
    if (!at)
        return false;
    *number = (uint32_t)*at;
    if (*at < whole->labels.n)
        return true;
    struct ta_timeline_label label = {.name = text_of(joiner, from->name),
                                      .category = text_of(joiner, from->category),
                                      .shapes = text_of(joiner, from->shapes),
                                      .kind = from->kind};
    for (int i = 0; i < TA_TIMELINE_ARGS; i++)
        label.args[i] = text_of(joiner, from->args[i]);
    return (from->kind > TA_SLICE_COMM || shorten(whole, &label)) &&
           ta_vec_push(&whole->labels, label);
}

static bool number_labels(struct joiner *joiner, struct ta_timeline_part *part)
{
    uint32_t *numbers =
        ta_arena_alloc(&joiner->whole->arena, (part->n_labels + 1) * sizeof *numbers);
    for (size_t i = 0; numbers && i < part->n_labels; i++)
        if (!number_label(joiner, &part->labels[i], &numbers[i]))
            return false;
    part->file.labels = numbers;
    free(part->labels);
    part->labels = NULL;
    return numbers != NULL;
}

/* ---- clocks -------------------------------------------------------------------------------- */

/* The first time of all when all files are dumps with dates and there is a moment that all of them
 * hold: then the ranks ran together, and the clocks of their hosts agree as far as one can see.
 * Else TA_MISSING: traces have finer times than such clocks are set. */
static int64_t find_one_clock(const struct whole *whole)
{
    int64_t first = INT64_MAX, latest_start = INT64_MIN, earliest_end = INT64_MAX;
    for (size_t i = 0; i < whole->n_parts; i++) {
        const struct ta_timeline_part *part = whole->parts[i];
        if (!part->is_dump || part->origin_ns == TA_MISSING)
            return TA_MISSING;
        first = ta_min_i64(first, part->origin_ns);
        latest_start = ta_max_i64(latest_start, part->origin_ns);
        earliest_end = ta_min_i64(earliest_end, ta_add_sat(part->origin_ns, part->file.end_ns));
    }
    return latest_start <= earliest_end ? first : TA_MISSING;
}

/* Dated files of one rank share the axis of the first of them. */
static int64_t offset_of(const struct whole *whole, size_t at)
{
    const struct ta_timeline_part *part = whole->parts[at], *first = part;
    for (size_t i = at; i && whole->parts[i - 1]->file.rank == part->file.rank; i--)
        if (whole->parts[i - 1]->origin_ns != TA_MISSING)
            first = whole->parts[i - 1];
    return part->origin_ns == TA_MISSING ? 0 : part->origin_ns - first->origin_ns;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static bool join(struct whole *whole)
{
    struct joiner joiner = {.whole = whole};
    struct ta_timeline_file *files =
        ta_arena_alloc(&whole->arena, (whole->n_parts + 1) * sizeof *files);
    bool done = files != NULL;
    const int64_t clock = find_one_clock(whole);
    for (size_t i = 0; done && i < whole->n_parts; i++) {
        done = number_labels(&joiner, whole->parts[i]);
        files[i] = whole->parts[i]->file;
        if (whole->parts[i]->is_dump)
            files[i].clock_ns = TA_MISSING;
        files[i].offset_ns =
            clock == TA_MISSING ? offset_of(whole, i) : whole->parts[i]->origin_ns - clock;
    }
    ta_map_free(&joiner.tree);
    ta_map_free(&joiner.at);
    whole->timeline = (struct ta_timeline){.labels = whole->labels.at,
                                           .n_labels = whole->labels.n,
                                           .files = files,
                                           .n_files = whole->n_parts,
                                           .clock = clock == TA_MISSING ? TA_TIMELINE_APART
                                                                        : TA_TIMELINE_BY_DATES};
    whole->files = files;
    return done;
}

struct ta_timeline *ta_timeline_join(struct ta_ctx *ctx, struct ta_timeline_pool *pool,
                                     struct ta_timeline_part **parts, size_t n)
{
    struct whole *whole = calloc(1, sizeof *whole);
    if (whole) {
        *whole = (struct whole){.pool = pool, .parts = parts, .n_parts = n};
        if (join(whole))
            return &whole->timeline;
        ta_timeline_free(&whole->timeline);
    } else {
        for (size_t i = 0; i < n; i++)
            ta_timeline_part_free(parts[i]);
        free(parts);
        ta_timeline_pool_free(pool);
    }
    ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the timeline: files=%zu", n);
    return NULL;
}

struct ta_timeline_file *ta_timeline_files(struct ta_timeline *timeline)
{
    return ((struct whole *)timeline)->files;
}

void ta_timeline_free(struct ta_timeline *timeline)
{
    struct whole *whole = (struct whole *)timeline;
    if (!whole)
        return;
    for (size_t i = 0; i < whole->n_parts; i++)
        ta_timeline_part_free(whole->parts[i]);
    free(whole->parts);
    ta_timeline_pool_free(whole->pool);
    ta_arena_free(&whole->arena);
    free(whole->labels.at);
    free(whole);
}
