/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stragglers.blame: what the last rank did that the others did not.
 *
 * The last one to enter a collective, or a transfer between two, is compared with the typical one
 * of its peers over the time since the collective before: where it spent more, on a kernel, a copy,
 * a gap of a cause, it lost the time.  What it lost is never more than it is later than the rank
 * that came in the middle.  A rank that was late already when the collective before ended, since it
 * waited there for another one, passes the cause on to who came last there; where the others of
 * that collective were not read, to what the rank itself did before. */
#include "base/vec.h"
#include "ranks/ranks.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum { HOPS_MOST = 16 }; /* from a collective to those before that made the rank late */

struct entry {
    uint32_t rank;
    const struct ta_coll_item *item; /* NULL for what no item explains */
    int64_t excess, collectives;
};

struct search {
    const struct ta_ranks *ranks;
    const struct ta_lateness *lateness;
    TA_VEC(struct entry) entries;
    struct ta_map numbers;
    uint32_t *sorted; /* work: entries of a collective by start */
    bool failed;
};

/* ---- entries -------------------------------------------------------------------------------- */

static bool is_item(const struct ta_coll_item *a, const struct ta_coll_item *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && ta_slice_equal(a->name, b->name) &&
           ta_slice_equal(a->within, b->within);
}

static uint64_t hash_text(uint64_t hash, struct ta_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static void add(struct search *s, uint32_t rank, const struct ta_coll_item *item, int64_t excess)
{
    uint64_t hash = (uint64_t)rank * UINT64_C(0x9e3779b97f4a7c15);
    if (item)
        hash = hash_text(hash_text(hash + (uint64_t)item->kind + 1, item->name), item->within);
    uint64_t *slot;
    for (;; hash++) {
        slot = ta_map_at(&s->numbers, hash, UINT64_MAX);
        if (!slot || *slot == UINT64_MAX ||
            (s->entries.at[*slot].rank == rank && is_item(s->entries.at[*slot].item, item)))
            break;
    }
    const bool is_new = slot && *slot == UINT64_MAX;
    if (is_new)
        *slot = s->entries.n;
    if (!slot ||
        (is_new && !ta_vec_push(&s->entries, (struct entry){.rank = rank, .item = item}))) {
        s->failed = true;
        return;
    }
    struct entry *entry = &s->entries.at[*slot];
    entry->excess = ta_add_sat(entry->excess, excess);
    entry->collectives++;
}

/* ---- one collective ------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right, void *user)
{
    const struct ta_ranks *ranks = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int64_t x = ranks->records[a].start, y = ranks->records[b].start;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

/* The record that entered in the middle, the earlier of two. */
static const struct ta_coll_record *typical(struct search *s,
                                            const struct ta_collective *collective)
{
    size_t n = 0;
    for (size_t i = 0; i < collective->n; i++) {
        const uint32_t entry = s->ranks->entries[collective->first + i];
        if (ta_coll_with_waits(s->ranks, entry))
            s->sorted[n++] = entry;
    }
    qsort_r(s->sorted, n, sizeof *s->sorted, by_start, (void *)(uintptr_t)s->ranks);
    return &s->ranks->records[s->sorted[(n - 1) / 2]];
}

static int64_t time_of(const struct ta_coll_detail *detail, const struct ta_coll_item *item)
{
    for (size_t i = 0; i < detail->n; i++)
        if (is_item(detail->items[i].what, item))
            return detail->items[i].ns;
    return 0;
}

/* Divides `excess`, what `last` took more than `reference` for itself, between the items on which
 * it spent more; where they are more than that, since it was faster elsewhere, in proportion. */
static void divide_excess(struct search *s, const struct ta_coll_record *last,
                          const struct ta_coll_record *reference, int64_t excess)
{
    const uint32_t rank = s->lateness->of[last->member];
    struct ta_coll_detail mine, its;
    int64_t more[TA_COLL_ITEMS_KEPT] = {0}, sum = 0;
    ta_coll_detail(s->ranks, last, &mine);
    ta_coll_detail(s->ranks, reference, &its);
    for (size_t i = 0; i < mine.n; i++) {
        more[i] = ta_max_i64(0, mine.items[i].ns - time_of(&its, mine.items[i].what));
        sum = ta_add_sat(sum, more[i]);
    }
    int64_t rest = excess;
    for (size_t i = 0; i < mine.n; i++) {
        const int64_t part = sum <= excess ? more[i] : (int64_t)((__int128)excess * more[i] / sum);
        if (part > 0)
            add(s, rank, mine.items[i].what, part);
        rest -= part;
    }
    if (rest > excess / 100)
        add(s, rank, NULL, rest);
}

/* Where lateness comes from: the last one to enter a collective, or, where others wait that were
 * not read, a rank by itself. */
struct link {
    const struct ta_coll_record *last;
    const struct ta_collective *collective; /* NULL by itself */
};

static struct link link_of(const struct ta_ranks *ranks, uint32_t record)
{
    const struct ta_collective *collective = ta_coll_with_waits(ranks, record);
    return (struct link){&ranks->records[collective ? collective->last : record], collective};
}

/* Goes on to what the time of the last one begins with; false where nothing was recorded. */
static bool go_back(const struct ta_ranks *ranks, struct link *link)
{
    const size_t index = (size_t)(link->last - ranks->records);
    if (index == ranks->members[link->last->member].first)
        return false;
    *link = link_of(ranks, (uint32_t)index - 1);
    return !link->collective || !link->collective->is_simultaneous;
}

/* What the last one took more than its peers for itself, and who of these is the typical one; of
 * records without peers, than the one that came in the middle, if there is one. */
static int64_t own_excess(struct search *s, const struct ta_coll_record *last,
                          const struct ta_coll_record *middle,
                          const struct ta_coll_record **reference)
{
    const size_t index = (size_t)(last - s->ranks->records);
    const uint32_t peer = s->ranks->reference[index];
    *reference = peer == TA_COLL_NONE ? middle : &s->ranks->records[peer];
    if (peer != TA_COLL_NONE)
        return s->ranks->excess[index];
    return middle ? last->before - middle->before : 0;
}

/* Blames what made the last one late by, at most, `late`. */
static void find_causes(struct search *s, const struct ta_collective *collective)
{
    struct link link = {&s->ranks->records[collective->last], collective};
    int64_t late = INT64_MAX;
    for (int hop = 0; hop < HOPS_MOST; hop++) {
        const struct ta_coll_record *middle = link.collective ? typical(s, link.collective) : NULL,
                                    *reference;
        const int64_t later = middle ? ta_min_i64(late, link.last->start - middle->start) : late;
        const int64_t own =
            ta_min_i64(ta_max_i64(own_excess(s, link.last, middle, &reference), 0), later);
        if (own > 0)
            divide_excess(s, link.last, reference, own);
        late = later - own;
        if (late <= collective->uncertainty || !go_back(s->ranks, &link))
            return;
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static const char *const kind_names[TA_COLL_ITEM_KINDS] = {[TA_COLL_ITEM_KERNEL] = "kernel",
                                                           [TA_COLL_ITEM_COPY] = "copy",
                                                           [TA_COLL_ITEM_GAP] = "gap",
                                                           [TA_COLL_ITEM_HOST] = "host"};

enum { RANK, KIND, NAME, WITHIN, COLLECTIVES, EXCESS, SHARE };
static const struct ta_column root_causes_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [KIND] = {"kind", "Kind", TA_WORD,
              .doc = "What made the rank late: kernel, copy (or memory set), gap (the device was "
                     "idle), host (what the busiest thread of a rank without devices did), or "
                     "unexplained (not among the six longest causes)"},
    [NAME] = {"name", "Cause", TA_TEXT,
              .doc = "Name of the kernel or copy, or cause of the gap as for idle time"},
    [WITHIN] = {"within", "Called from", TA_TEXT,
                .doc = "Operator that launched it, or where the host was"},
    [COLLECTIVES] = {"collectives", "Collectives", TA_COUNT,
                     .doc = "Collectives that the rank entered late because of it"},
    [EXCESS] =
        {"excess_ns", "Extra time", TA_NS, .better = TA_LOWER,
         .doc =
             "Time that the rank spent on this beyond the rank that entered in the middle, before "
             "the collectives that it entered last; all rows together at most the rank's lateness"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
               .doc = "Extra time divided by the extra time of all ranks"},
};

static const struct ta_table_def root_causes = {
    "stragglers.blame",
    "Causes of lateness",
    TA_COLUMNS(root_causes_columns),
    .doc = "One row per rank and cause of lateness, the 5,000 that cost most. The last rank to "
           "enter a collective, or a transfer between two ranks, is compared over the time since "
           "the previous collective with the typical rank of its peers (`excess` of "
           "`stragglers.by_rank`), or without peers with the rank that entered in the middle. If "
           "it was already late then because it had waited for another rank, the cause is assigned "
           "to that rank.",
    .order = {&root_causes_columns[EXCESS], TA_DESCENDING},
    .joining = TA_JOIN_NOT,
    .not_of_ranks = true};

/* Rows of the table: of thousands of ranks what costs most. */
enum { ENTRIES_MOST = 5000 };

/* The largest first; a total order: where rows are left out, the same ones always are. */
static int by_excess(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->excess != b->excess)
        return a->excess > b->excess ? -1 : 1;
    if (a->rank != b->rank || !a->item || !b->item)
        return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : !b->item - !a->item;
    int order = ta_slice_compare(a->item->name, b->item->name);
    order = order ? order : ta_slice_compare(a->item->within, b->item->within);
    return order ? order : (int)a->item->kind - (int)b->item->kind;
}

static int64_t excess_of(const struct entry *entries, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = ta_add_sat(sum, entries[i].excess);
    return sum;
}

static void list_entries(const struct entry *entries, size_t n, const struct ta_lateness *lateness,
                         struct ta_section_builder *out)
{
    const size_t kept = n < ENTRIES_MOST ? n : ENTRIES_MOST;
    const int64_t all = excess_of(entries, n);
    for (size_t i = 0; i < kept; i++) {
        const struct entry *e = &entries[i];
        const struct ta_coll_item *item = e->item;
        TA_ROW(out, root_causes, [RANK] = ta_int(lateness->at[e->rank].rank),
               [KIND] = ta_text(ta_slice_of(item ? kind_names[item->kind] : "unexplained")),
               [NAME] = item ? ta_text(item->name) : ta_null(),
               [WITHIN] = item && item->within.len ? ta_text(item->within) : ta_null(),
               [COLLECTIVES] = ta_int(e->collectives), [EXCESS] = ta_int(e->excess),
               [SHARE] = ta_share(e->excess, all));
    }
    if (kept < n)
        ta_add_missing(out,
                       "The %zu largest of %zu causes of lateness are listed; the others make up "
                       "%.1f %% of the extra time.",
                       kept, n, 100 * (double)excess_of(entries + kept, n - kept) / (double)all);
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    const struct ta_ranks *ranks = in->ranks;
    struct search s = {.ranks = ranks, .lateness = &ranks->lateness};
    s.sorted = calloc(ranks->n_members + 1, sizeof *s.sorted);
    for (size_t i = 0; s.sorted && i < ranks->n_collectives; i++)
        if (ranks->collectives[i].transfer != TA_MISSING && !ranks->collectives[i].is_simultaneous)
            find_causes(&s, &ranks->collectives[i]);
    if (s.entries.n)
        qsort(s.entries.at, s.entries.n, sizeof *s.entries.at, by_excess);
    list_entries(s.entries.at, s.entries.n, s.lateness, out);
    const bool done = s.sorted && !s.failed && !s.numbers.failed;
    ta_map_free(&s.numbers);
    free(s.entries.at);
    free(s.sorted);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold what makes ranks late");
}

static const struct ta_table_def *const tables[] = {&root_causes, NULL};

static const struct ta_analysis_ops ops = {
    .section = "collectives",
    .place = 2,
    .finish = finish,
    .needs_ranks = true,
    .tables = tables,
};

TA_PLUGIN(analysis, root_causes, &ops, .title = "Root causes of lateness",
          .summary = "What the last rank did that its peers did not: stragglers.blame",
          .version = "1");
