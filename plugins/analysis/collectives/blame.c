/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stragglers.blame: what the last rank did that the others did not.
 *
 * The last one to enter a collective, or a transfer between two, is compared with the typical one
 * of its peers over the time since the collective before: where it spent more, on a kernel, a copy,
 * a gap of a cause, it lost the time.  It is to blame for no more than it is behind the rank that
 * came in the middle.  A rank that was late already when the collective before ended, since it
 * waited there for another one, hands the blame to who came last there; where the others of that
 * collective were not read, to what the rank itself did before. */
#include "tables.h"

enum { HOPS_MOST = 16 }; /* from a collective to those before that made the rank late */

struct entry {
    uint32_t rank;
    const struct coll_item *item; /* NULL for what no item explains */
    int64_t excess, collectives;
};

struct blaming {
    const struct coll_run *run;
    const struct coll_ranks *ranks;
    struct entry *at;
    size_t n, max;
    struct ta_map numbers;
    uint32_t *sorted; /* work: entries of an instance by start */
    bool failed;
};

/* ---- entries -------------------------------------------------------------------------------- */

static bool is_item(const struct coll_item *a, const struct coll_item *b)
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

static void add(struct blaming *b, uint32_t rank, const struct coll_item *item, int64_t excess)
{
    uint64_t hash = (uint64_t)rank * UINT64_C(0x9e3779b97f4a7c15);
    if (item)
        hash = hash_text(hash_text(hash + (uint64_t)item->kind + 1, item->name), item->within);
    uint64_t *slot;
    for (;; hash++) {
        slot = ta_map_at(&b->numbers, hash, UINT64_MAX);
        if (!slot || *slot == UINT64_MAX ||
            (b->at[*slot].rank == rank && is_item(b->at[*slot].item, item)))
            break;
    }
    if (!slot || (*slot == UINT64_MAX && !coll_grow(&b->at, &b->max, b->n, sizeof *b->at))) {
        b->failed = true;
        return;
    }
    if (*slot == UINT64_MAX) {
        *slot = b->n;
        b->at[b->n++] = (struct entry){.rank = rank, .item = item};
    }
    b->at[*slot].excess = ta_add_sat(b->at[*slot].excess, excess);
    b->at[*slot].collectives++;
}

/* ---- one collective ------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right, void *user)
{
    const struct coll_run *run = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int64_t x = run->records[a].start, y = run->records[b].start;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

/* The record that entered in the middle, the earlier of two. */
static const struct coll_record *typical(struct blaming *b, const struct coll_instance *instance)
{
    size_t n = 0;
    for (size_t i = 0; i < instance->n; i++) {
        const uint32_t entry = b->run->entries[instance->first + i];
        if (coll_waits(b->run, entry))
            b->sorted[n++] = entry;
    }
    qsort_r(b->sorted, n, sizeof *b->sorted, by_start, (void *)(uintptr_t)b->run);
    return &b->run->records[b->sorted[(n - 1) / 2]];
}

static int64_t time_of(const struct coll_detail *detail, const struct coll_item *item)
{
    for (size_t i = 0; i < detail->n; i++)
        if (is_item(detail->items[i].what, item))
            return detail->items[i].ns;
    return 0;
}

/* Divides `excess`, what `last` took more than `usual` for itself, between the items on which it
 * spent more; where they are more than that, since it was faster elsewhere, in proportion. */
static void blame_items(struct blaming *b, const struct coll_record *last,
                        const struct coll_record *usual, int64_t excess)
{
    const uint32_t rank = b->ranks->of[last->member];
    struct coll_detail mine, its;
    int64_t more[COLL_ITEMS_KEPT] = {0}, sum = 0;
    coll_detail_of(b->run, last, &mine);
    coll_detail_of(b->run, usual, &its);
    for (size_t i = 0; i < mine.n; i++) {
        more[i] = ta_max_i64(0, mine.items[i].ns - time_of(&its, mine.items[i].what));
        sum = ta_add_sat(sum, more[i]);
    }
    int64_t rest = excess;
    for (size_t i = 0; i < mine.n; i++) {
        const int64_t part = sum <= excess ? more[i] : (int64_t)((__int128)excess * more[i] / sum);
        if (part > 0)
            add(b, rank, mine.items[i].what, part);
        rest -= part;
    }
    if (rest > excess / 100)
        add(b, rank, NULL, rest);
}

/* Where lateness comes from: the last one to enter a collective, or, where others wait that were
 * not read, a rank by itself. */
struct link {
    const struct coll_record *last;
    const struct coll_instance *instance; /* NULL by itself */
};

static struct link link_of(const struct coll_run *run, uint32_t record)
{
    const struct coll_instance *instance = coll_waits(run, record);
    return (struct link){&run->records[instance ? instance->last : record], instance};
}

/* Goes on to what the time of the last one begins with; false where nothing was recorded. */
static bool go_back(const struct coll_run *run, struct link *link)
{
    const size_t index = (size_t)(link->last - run->records);
    if (index == run->members[link->last->member].first)
        return false;
    *link = link_of(run, (uint32_t)index - 1);
    return !link->instance || !link->instance->is_tie;
}

/* What the last one took more than its peers for itself, and who of these is the typical one; of
 * records without peers, than the one that came in the middle, if there is one. */
static int64_t own_excess(struct blaming *b, const struct coll_record *last,
                          const struct coll_record *middle, const struct coll_record **usual)
{
    const size_t index = (size_t)(last - b->run->records);
    const uint32_t peer = b->run->usual[index];
    *usual = peer == COLL_NONE ? middle : &b->run->records[peer];
    if (peer != COLL_NONE)
        return b->run->excess[index];
    return middle ? last->before - middle->before : 0;
}

/* Blames what made the last one late by, at most, `late`. */
static void blame(struct blaming *b, const struct coll_instance *instance)
{
    struct link link = {&b->run->records[instance->last], instance};
    int64_t late = INT64_MAX;
    for (int hop = 0; hop < HOPS_MOST; hop++) {
        const struct coll_record *middle = link.instance ? typical(b, link.instance) : NULL, *usual;
        const int64_t behind = middle ? ta_min_i64(late, link.last->start - middle->start) : late;
        const int64_t own =
            ta_min_i64(ta_max_i64(own_excess(b, link.last, middle, &usual), 0), behind);
        if (own > 0)
            blame_items(b, link.last, usual, own);
        late = behind - own;
        if (late <= instance->uncertainty || !go_back(b->run, &link))
            return;
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static const char *const kind_names[COLL_ITEM_KINDS] = {[COLL_ITEM_KERNEL] = "kernel",
                                                        [COLL_ITEM_COPY] = "copy",
                                                        [COLL_ITEM_GAP] = "gap",
                                                        [COLL_ITEM_HOST] = "host"};

enum { RANK, KIND, NAME, WITHIN, COLLECTIVES, EXCESS, SHARE };
static const struct ta_column coll_blame_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [KIND] = {"kind", "Kind", TA_WORD,
              .doc = "kernel, copy (memory sets too), gap (the device was idle), host (what the "
                     "busiest thread of a rank without devices did), or unexplained: none of the "
                     "longest six of its time"},
    [NAME] = {"name", "What", TA_TEXT,
              .doc = "Name of the kernel or copy, cause of the gap as in Idle time by cause"},
    [WITHIN] = {"within", "Within", TA_TEXT,
                .doc = "Operator that launched it, or where the host was"},
    [COLLECTIVES] = {"collectives", "Collectives", TA_COUNT,
                     .doc = "That the rank was late to for it"},
    [EXCESS] =
        {"excess_ns", "Excess", TA_NS, .better = TA_LOWER,
         .doc = "What the rank spent on it beyond the rank that came in the middle, in the time "
                "before the collectives that it entered last; in all never more than it was late"},
    [SHARE] = {"share", "Share", TA_RATIO, .better = TA_LOWER, .doc = "Of the excess of all ranks"},
};

const struct ta_table_def coll_blame = {"stragglers.blame",
                                        "What makes ranks late",
                                        TA_COLUMNS(coll_blame_columns),
                                        .order = {&coll_blame_columns[EXCESS], TA_DESCENDING},
                                        .joining = TA_JOIN_NOT,
                                        .not_of_ranks = true};

/* Rows of the table: of thousands of ranks what costs most. */
enum { ENTRIES_MOST = 5000 };

/* The largest first; a total order but for two kinds of one name. */
static int by_excess(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->excess != b->excess)
        return a->excess > b->excess ? -1 : 1;
    if (a->rank != b->rank || !a->item || !b->item)
        return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : !b->item - !a->item;
    const int order = ta_slice_compare(a->item->name, b->item->name);
    return order ? order : ta_slice_compare(a->item->within, b->item->within);
}

static int64_t excess_of(const struct entry *entries, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = ta_add_sat(sum, entries[i].excess);
    return sum;
}

static void list_entries(const struct entry *entries, size_t n, const struct coll_ranks *ranks,
                         struct ta_section_builder *out)
{
    const size_t kept = n < ENTRIES_MOST ? n : ENTRIES_MOST;
    const int64_t all = excess_of(entries, n);
    for (size_t i = 0; i < kept; i++) {
        const struct entry *e = &entries[i];
        const struct coll_item *item = e->item;
        TA_ROW(out, coll_blame, [RANK] = ta_int(ranks->at[e->rank].rank),
               [KIND] = ta_text(ta_slice_of(item ? kind_names[item->kind] : "unexplained")),
               [NAME] = item ? ta_text(item->name) : ta_null(),
               [WITHIN] = item && item->within.len ? ta_text(item->within) : ta_null(),
               [COLLECTIVES] = ta_int(e->collectives), [EXCESS] = ta_int(e->excess),
               [SHARE] = ta_share(e->excess, all));
    }
    if (kept < n)
        ta_add_missing(
            out,
            "Of what makes ranks late the %zu largest parts of %zu are listed; the others "
            "are %.1f %% of the excess.",
            kept, n, 100 * (double)excess_of(entries + kept, n - kept) / (double)all);
}

bool coll_add_blame(const struct coll_run *run, const struct coll_ranks *ranks,
                    struct ta_section_builder *out)
{
    struct blaming b = {.run = run, .ranks = ranks};
    b.sorted = calloc(run->n_members + 1, sizeof *b.sorted);
    for (size_t i = 0; b.sorted && i < run->n_instances; i++)
        if (run->instances[i].transfer != TA_MISSING && !run->instances[i].is_tie)
            blame(&b, &run->instances[i]);
    if (b.n)
        qsort(b.at, b.n, sizeof *b.at, by_excess);
    list_entries(b.at, b.n, ranks, out);
    const bool done = b.sorted && !b.failed && !b.numbers.failed;
    ta_map_free(&b.numbers);
    free(b.at);
    free(b.sorted);
    return done;
}
