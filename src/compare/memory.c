/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.memory and diff.memory_levels: what changed the peak of memory, and memory at each label.
 *
 * The peak of a device is the sum of what call sites hold at that moment (memory.sites), or of how
 * the level changed from label to label until then (memory.snapshots).  Either way the differences
 * add up to the difference of the peaks, to the byte. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/columns.h"

#include <stdlib.h>

/* ---- the device with the largest peak ------------------------------------------------------- */

/* A table whose rows say what is in memory. */
struct source {
    const char *table, *name, *bytes;
    bool by_file; /* a device has a state in each of several files, which `label` tells apart */
    bool levels;  /* bytes are those in use at the time, not those of a part */
};

static const struct source sources[] = {
    {"memory.sites", "site", "peak_block_bytes", true, false},
    {"memory.sites", "site", "peak_bytes", true, false}, /* all that earlier versions wrote */
    {"memory.snapshots", "label", "allocated_bytes", false, true},
};

/* Rows of one device, in the order of the table. */
struct device {
    const struct ta_table *table;
    const struct source *source;
    size_t *rows;
    size_t n, peak_row; /* peak_row: place in `rows` of the highest level */
    int64_t peak;
};

static int by_device(const void *left, const void *right, void *user)
{
    const struct device *all = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const int64_t x[] = {ta_row_integer(all->table, a, "rank"),
                         ta_row_integer(all->table, a, "device")};
    const int64_t y[] = {ta_row_integer(all->table, b, "rank"),
                         ta_row_integer(all->table, b, "device")};
    for (int i = 0; i < 2; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return all->source->by_file ? ta_slice_compare(ta_row_text(all->table, a, "label"),
                                                   ta_row_text(all->table, b, "label"))
                                : 0;
}

static int by_device_and_row(const void *left, const void *right, void *user)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const int order = by_device(left, right, user);
    return order ? order : (a > b) - (a < b);
}

/* Peak of rows [from, end): the highest level, or the sum of the parts. */
static void measure(const struct device *all, size_t from, size_t end, struct device *device)
{
    *device = (struct device){.table = all->table,
                              .source = all->source,
                              .rows = all->rows + from,
                              .n = end - from,
                              .peak = all->source->levels ? TA_MISSING : 0};
    for (size_t i = 0; i < device->n; i++) {
        const int64_t bytes = diff_amount(all->table, device->rows[i], all->source->bytes);
        if (!all->source->levels)
            device->peak = ta_add_sat(device->peak, bytes);
        else if (bytes > device->peak) {
            device->peak = bytes;
            device->peak_row = i;
        }
    }
}

/* False without memory; `found` has no rows when the report has no such table. */
static bool find_highest(struct diff *diff, int side, const struct source *source,
                         struct device *found)
{
    struct device all = {.table = ta_report_table(diff->shown[side], source->table),
                         .source = source};
    *found = (struct device){.peak = TA_MISSING};
    if (!all.table)
        return true;
    all.rows = ta_arena_alloc(&diff->arena, all.table->n_rows * sizeof *all.rows);
    if (!all.rows)
        return false;
    for (; all.n < all.table->n_rows; all.n++)
        all.rows[all.n] = all.n;
    qsort_r(all.rows, all.n, sizeof *all.rows, by_device_and_row, &all);
    for (size_t i = 0, end; i < all.n; i = end) {
        struct device device;
        for (end = i + 1; end < all.n && by_device(&all.rows[i], &all.rows[end], &all) == 0;)
            end++;
        measure(&all, i, end, &device);
        if (device.peak > found->peak)
            *found = device;
    }
    return true;
}

/* ---- the peak as a sum ------------------------------------------------------------------------
 */

static const struct ta_column peak_columns[] = {
    {"term", "Where", TA_TEXT,
     .doc = "Call site whose blocks are alive at the peak; or the label at "
            "which memory had grown or shrunk"},
    {"kind", "Kind", TA_WORD,
     .doc = "site: bytes that a call site holds at the peak; label: growth since the label before"},
    {"base_bytes", "Before", TA_BYTES, .better = TA_LOWER, .doc = "Bytes in the baseline"},
    {"new_bytes", "After", TA_BYTES, .better = TA_LOWER, .doc = "Bytes in the other run"},
    {"delta_bytes", "Change", TA_TYPE_INTEGER, TA_UNIT_BYTES_CHANGE, .better = TA_LOWER,
     .doc = "After minus before; the rows add up to the change of the peak exactly"},
};

struct term {
    struct ta_slice name;
    int64_t bytes[TA_DIFF_SIDES];
};

static int by_name(const void *left, const void *right)
{
    return ta_slice_compare(((const struct term *)left)->name, ((const struct term *)right)->name);
}

static int by_change(const void *left, const void *right)
{
    const struct term *a = left, *b = right;
    const int64_t x = llabs(a->bytes[1] - a->bytes[0]), y = llabs(b->bytes[1] - b->bytes[0]);
    return x != y ? (x < y) - (x > y) : by_name(left, right);
}

/* Parts of a peak, or steps up to it. */
static size_t take_terms(const struct device *device, int side, struct term *terms)
{
    int64_t before = 0;
    size_t n = 0;
    for (size_t i = 0; i < device->n; i++) {
        const int64_t bytes = diff_amount(device->table, device->rows[i], device->source->bytes);
        if (device->source->levels && i > device->peak_row)
            break;
        terms[n] = (struct term){
            .name = ta_row_text(device->table, device->rows[i], device->source->name)};
        terms[n++].bytes[side] = bytes - before;
        before = device->source->levels ? bytes : 0;
    }
    return n;
}

static size_t unite_terms(struct term *terms, size_t n)
{
    size_t kept = 0;
    qsort(terms, n, sizeof *terms, by_name);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_name(&terms[kept - 1], &terms[i]) == 0) {
            for (int side = 0; side < TA_DIFF_SIDES; side++)
                terms[kept - 1].bytes[side] += terms[i].bytes[side];
        } else {
            terms[kept++] = terms[i];
        }
    }
    qsort(terms, kept, sizeof *terms, by_change);
    return kept;
}

static bool add_peak(struct diff *diff, struct ta_section_builder *section,
                     const struct device devices[TA_DIFF_SIDES])
{
    struct term *terms =
        ta_arena_alloc(&diff->arena, (devices[0].n + devices[1].n) * sizeof *terms);
    if (!terms)
        return false;
    size_t n = take_terms(&devices[TA_DIFF_BASE], TA_DIFF_BASE, terms);
    n += take_terms(&devices[TA_DIFF_NEW], TA_DIFF_NEW, terms + n);
    n = unite_terms(terms, n);
    const char *kind = devices[TA_DIFF_BASE].source->levels ? "label" : "site";
    struct ta_table_builder *table =
        ta_add_table(section, "diff.memory", "What changed the peak of memory", peak_columns,
                     sizeof peak_columns / sizeof *peak_columns);
    for (size_t i = 0; i < n; i++)
        TA_CELLS(table, ta_text(terms[i].name), ta_text(ta_slice_of(kind)),
                 ta_int(terms[i].bytes[0]), ta_int(terms[i].bytes[1]),
                 ta_int(terms[i].bytes[1] - terms[i].bytes[0]));
    return true;
}

/* ---- levels -----------------------------------------------------------------------------------
 */

static const struct ta_column level_columns[] = {
    {"label", "Label", TA_TEXT, .doc = "Label of the snapshot"},
    {"base_bytes", "Before", TA_BYTES, .better = TA_LOWER, .doc = "Allocated then in the baseline"},
    {"new_bytes", "After", TA_BYTES, .better = TA_LOWER, .doc = "Allocated then in the other run"},
    {"delta_bytes", "Change", TA_TYPE_INTEGER, TA_UNIT_BYTES_CHANGE, .better = TA_LOWER,
     .doc = "After minus before"},
    {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
     .doc = "Change over before"},
};

static size_t row_of(const struct device *device, struct ta_slice label)
{
    for (size_t i = 0; i < device->n; i++)
        if (ta_slice_equal(ta_row_text(device->table, device->rows[i], "label"), label))
            return device->rows[i];
    return SIZE_MAX;
}

static void add_levels(struct diff *diff, struct ta_section_builder *section,
                       const struct device devices[TA_DIFF_SIDES])
{
    const struct device *base = &devices[TA_DIFF_BASE], *new = &devices[TA_DIFF_NEW];
    struct ta_table_builder *table =
        ta_add_table(section, "diff.memory_levels", "Memory at labels", level_columns,
                     sizeof level_columns / sizeof *level_columns);
    for (size_t i = 0; i < base->n; i++) {
        const struct ta_slice label = ta_row_text(base->table, base->rows[i], "label");
        const size_t row = row_of(new, label);
        if (row == SIZE_MAX || row_of(base, label) != base->rows[i])
            continue;
        const int64_t before = ta_row_integer(base->table, base->rows[i], "allocated_bytes");
        const int64_t after = ta_row_integer(new->table, row, "allocated_bytes");
        if (before == TA_MISSING || after == TA_MISSING)
            continue;
        TA_CELLS(table, ta_text(label), ta_int(before), ta_int(after), ta_int(after - before),
                 ta_share(after - before, before));
        if (llabs(after - before) >
            llabs(diff->level.bytes[TA_DIFF_NEW] - diff->level.bytes[TA_DIFF_BASE]))
            diff->level = (struct diff_level_change){label, {before, after}};
    }
}

bool diff_add_memory(struct diff *diff)
{
    struct ta_section_builder *section =
        ta_report_open_section(diff->out, "diff_memory", "Memory compared");
    bool explained = false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct device devices[TA_DIFF_SIDES];
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            if (!find_highest(diff, side, &sources[i], &devices[side]))
                return false;
        if (devices[0].peak <= 0 || devices[1].peak <= 0)
            continue;
        if (!explained && !add_peak(diff, section, devices))
            return false;
        explained = true;
        if (sources[i].levels)
            add_levels(diff, section, devices);
    }
    return true;
}
