/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.levels: what each call site held over time, of the device that had most allocated. */
#include "tables.h"

enum { LEVEL_WHAT = OF_OWNER, LEVEL_ENTRY, LEVEL_ENTRIES, LEVEL_TIME, LEVEL_LENGTH, LEVEL_BYTES };
static const struct ta_column memory_levels_columns[] = {
    OWNER_COLUMNS,
    [LEVEL_WHAT] = {"site", "Site", TA_TEXT,
                    .doc = "Call site as in `memory.sites`, one of the five that hold most at any "
                           "of these moments; what was allocated before the history, and all "
                           "other sites, have a row each"},
    [LEVEL_ENTRY] = {"entry", "History entry", TA_COUNT, .role = TA_IN_SERIES,
                     .doc = "First history entry that the interval covers, starting at 0"},
    [LEVEL_ENTRIES] = {"entries", "Entries", TA_COUNT,
                       .doc = "History entries that the interval covers"},
    [LEVEL_TIME] = {"time_ns", "Time", TA_NS, .role = TA_IN_SERIES,
                    .doc = "Time of its first entry since the device's first entry; empty in the "
                           "oldest files, which record no times"},
    [LEVEL_LENGTH] = {"dur_ns", "Length", TA_NS, .role = TA_NOTE,
                      .doc = "Time until the next interval begins, or the history ends"},
    [LEVEL_BYTES] = {"block_bytes", "Allocated", TA_BYTES,
                     .doc =
                         "Bytes of the site's blocks at the moment of the interval at which most "
                         "was allocated"},
};

/* What is no site. */
static const char before[] = "(allocated before the history)", rest[] = "(other sites)";

static const struct ta_kind kinds[] = {
    {before, "before the history began", TA_INK_MUTED},
    {"(no Python frame)", "stacks without a Python frame", TA_INK_SERIES_6},
    {rest, "other call sites", TA_INK_SERIES_5},
    {NULL, NULL, TA_INK_NONE},
};

#define LEVELS_CHART(from, length)                                                                 \
    {                                                                                              \
        .id = "memory-levels", .title = "Memory in use by call site",                              \
        .caption = "What each call site held when most was allocated in each interval of the "     \
                   "allocator's history.",                                                         \
        .kind = TA_CHART_AREAS, .x = &memory_levels_columns[from],                                 \
        .size = &memory_levels_columns[length],                                                    \
        .y = {{&memory_levels_columns[LEVEL_BYTES], "Allocated", TA_INK_SERIES_1}},                \
        .group = &memory_levels_columns[LEVEL_WHAT], .kinds = kinds                                \
    }
static const struct ta_chart_def over_time = LEVELS_CHART(LEVEL_TIME, LEVEL_LENGTH);
static const struct ta_chart_def over_entries = LEVELS_CHART(LEVEL_ENTRY, LEVEL_ENTRIES);

const struct ta_table_def memory_levels = {
    "memory.levels", "Memory in use by call site over time", TA_COLUMNS(memory_levels_columns),
    .tier = TA_TIER_POINTS,
    .doc = "Of the device that had most allocated, in one snapshot: one row per interval of "
           "`memory.timeline` and call site. The rows of an interval add up to its `block_bytes`, "
           "and at the peak to `peak_block_bytes` of `memory.peaks`. Chart `memory-levels`."};

/* The history with the highest peak, the first of equal ones; NULL without any. */
static const int64_t *find_highest(const struct ta_partial *churn)
{
    const int64_t *best = NULL;
    for (size_t i = 0; i < ta_partial_rows(churn); i++) {
        const int64_t *row = ta_partial_at(churn, i);
        if (row[ENTRIES] > 0 && (!best || row[PEAK_ALLOCATED] > best[PEAK_ALLOCATED]))
            best = row;
    }
    return best;
}

static void find_names(const struct ta_partial *sites, const int64_t *owner,
                       struct ta_slice names[LEVELS])
{
    names[LEVELS_BEFORE] = ta_slice_of(before);
    names[LEVELS_REST] = ta_slice_of(rest);
    for (size_t i = 0; i < ta_partial_rows(sites); i++) {
        const int64_t *row = ta_partial_at(sites, i);
        if (same_owner(row, owner))
            names[row[LEVEL_INDEX]] = ta_partial_text(sites, row, LEVEL_SITE);
    }
}

void memory_add_levels(struct ta_section_builder *out, const struct ta_partial *p,
                       const struct ta_partial *sites, const struct ta_partial *churn)
{
    const int64_t *history = find_highest(churn);
    struct ta_slice names[LEVELS] = {{0}};
    bool is_used[LEVELS] = {false}, is_timed = true;
    size_t first = 0, end = 0;
    if (!history)
        return;
    find_names(sites, history, names);
    while (first < ta_partial_rows(p) && !same_owner(ta_partial_at(p, first), history))
        first++;
    for (end = first; end < ta_partial_rows(p) && same_owner(ta_partial_at(p, end), history); end++)
        for (int i = 0; i < LEVELS; i++)
            is_used[i] |= ta_partial_at(p, end)[FIRST_LEVEL + i] > 0;
    for (size_t k = first; k < end; k++) {
        const int64_t *row = ta_partial_at(p, k);
        const int64_t *next = k + 1 < end ? ta_partial_at(p, k + 1) : NULL;
        const int64_t until = next ? next[TIME] : history[DURATION];
        is_timed &= row[TIME] != TA_MISSING && until != TA_MISSING;
        for (int i = 0; i < LEVELS; i++)
            if (is_used[i])
                TA_ROW(out, memory_levels, OWNER_CELLS(p, row), [LEVEL_WHAT] = ta_text(names[i]),
                       [LEVEL_ENTRY] = ta_int(row[ENTRY]),
                       [LEVEL_ENTRIES] =
                           ta_int((next ? next[ENTRY] : history[ENTRIES]) - row[ENTRY]),
                       [LEVEL_TIME] = ta_int(row[TIME]),
                       [LEVEL_LENGTH] =
                           is_timed ? ta_int(ta_max_i64(0, until - row[TIME])) : ta_null(),
                       [LEVEL_BYTES] = ta_int(row[FIRST_LEVEL + i]));
    }
    if (end > first)
        ta_draw(out, &memory_levels, is_timed ? &over_time : &over_entries);
}
