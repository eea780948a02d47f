/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.memory and diff.memory_levels: what changed the peak of memory, and memory at each label.
 *
 * The peak of a device is the sum of what call sites hold at that moment, or of how the level
 * changed from label to label until then.  Either way the differences
 * add up to the difference of the peaks, to the byte. */
#include "compare/compare.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- the device with the largest peak ------------------------------------------------------- */

/* A table whose rows say what is in memory. */
struct source {
    enum ta_reading label, name, bytes;
    bool by_file; /* a device has a state in each of several files, which the label distinguishes */
    bool levels;  /* bytes in use at the time, not bytes of a part */
};

static const struct source sources[] = {
    {TA_AS_SITE_LABEL, TA_AS_SITE, TA_AS_SITE_BLOCKS, true, false},
    /* All that earlier versions wrote. */
    {TA_AS_SITE_LABEL, TA_AS_SITE, TA_AS_SITE_BYTES, true, false},
    {TA_AS_LEVEL_LABEL, TA_AS_LEVEL_LABEL, TA_AS_LEVEL_BYTES, false, true},
};

/* Rows of one device, in the order of the table. */
struct device {
    const struct ta_refs *in;
    const struct source *source;
    size_t *rows;
    size_t n, peak_row; /* peak_row: place in `rows` of the highest level */
    int64_t peak;
};

static int by_device(const void *left, const void *right, void *user)
{
    const struct device *all = user;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct source *source = all->source;
    const int64_t x[] = {ta_ref_rank(all->in, source->name, a),
                         ta_ref_device(all->in, source->name, a)};
    const int64_t y[] = {ta_ref_rank(all->in, source->name, b),
                         ta_ref_device(all->in, source->name, b)};
    for (int i = 0; i < 2; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return source->by_file ? ta_slice_compare(ta_ref_text(all->in, source->label, a),
                                              ta_ref_text(all->in, source->label, b))
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
    *device = (struct device){.in = all->in,
                              .source = all->source,
                              .rows = all->rows + from,
                              .n = end - from,
                              .peak = all->source->levels ? TA_MISSING : 0};
    for (size_t i = 0; i < device->n; i++) {
        const int64_t bytes = diff_amount(all->in, all->source->bytes, device->rows[i]);
        if (!all->source->levels)
            device->peak = ta_add_sat(device->peak, bytes);
        else if (bytes > device->peak) {
            device->peak = bytes;
            device->peak_row = i;
        }
    }
}

/* False without memory; `found` has no rows when the report has no such table. */
static bool find_highest(struct diff *diff, const struct ta_refs *in, const struct source *source,
                         struct device *found)
{
    struct device all = {.in = in, .source = source};
    const size_t rows = ta_ref_rows(in, source->name);
    *found = (struct device){.peak = TA_MISSING};
    if (!ta_ref_table(in, source->name))
        return true;
    all.rows = ta_arena_alloc(&diff->arena, rows * sizeof *all.rows);
    if (!all.rows)
        return false;
    for (; all.n < rows; all.n++)
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

enum { TERM, KIND, PEAK_BASE, PEAK_NEW, PEAK_DELTA };

static const struct ta_column peak_columns[] = {
    [TERM] = {"term", "Where", TA_TEXT,
              .doc = "Call site whose blocks are in use at the peak; or the snapshot label before "
                     "which memory grew or shrank"},
    [KIND] = {"kind", "Kind", TA_WORD,
              .doc = "site: bytes that a call site holds at the peak; label: growth since the "
                     "previous label"},
    [PEAK_BASE] = {"base_bytes", "Before", TA_BYTES, .better = TA_LOWER,
                   .doc = "Bytes in the baseline"},
    [PEAK_NEW] = {"new_bytes", "After", TA_BYTES, .better = TA_LOWER,
                  .doc = "Bytes in the other run"},
    [PEAK_DELTA] = {"delta_bytes", "Change", TA_TYPE_INTEGER, TA_UNIT_BYTES_CHANGE,
                    .better = TA_LOWER,
                    .doc = "After minus before; the rows add up to the change of the peak exactly"},
};

static const struct ta_table_def peak = {
    "diff.memory", "What changed the memory peak", TA_COLUMNS(peak_columns),
    .brief = &(const struct ta_brief){.place = 90, .rows = 6, .unless = "diff.memory_levels"}};

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
        const int64_t bytes = diff_amount(device->in, device->source->bytes, device->rows[i]);
        if (device->source->levels && i > device->peak_row)
            break;
        terms[n] =
            (struct term){.name = ta_ref_text(device->in, device->source->name, device->rows[i])};
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

/* A call site without the folders and the line: another checkout, or an edit above it, makes no
 * other site of it. */
static struct ta_slice stable_name(struct ta_arena *arena, struct ta_slice name)
{
    char *text = ta_arena_alloc(arena, name.len + 1);
    size_t n = 0, part = 0; /* where the part of a path begins */
    for (size_t i = 0; text && i < name.len; i++) {
        const char c = name.ptr[i];
        if (c == ':' && i + 1 < name.len && isdigit((unsigned char)name.ptr[i + 1])) {
            while (i + 1 < name.len && isdigit((unsigned char)name.ptr[i + 1]))
                i++;
            continue;
        }
        if (c == '/') {
            n = part;
            continue;
        }
        text[n++] = c;
        if (c == ' ' || c == '(')
            part = n;
    }
    return (struct ta_slice){text, n};
}

/* A term of one side alone whose stable name no other of the side has that is alone; TERMS when
 * there are several, or none. */
static size_t only_alone(const struct term *terms, const struct ta_slice *stable, size_t n,
                         struct ta_slice name, int side)
{
    size_t found = n;
    for (size_t i = 0; i < n; i++) {
        if (terms[i].bytes[!side] != 0 || terms[i].bytes[side] == 0 ||
            !ta_slice_equal(stable[i], name))
            continue;
        if (found != n)
            return n;
        found = i;
    }
    return found;
}

enum { SITES_MOST = 2000 }; /* beyond, comparing each with each takes too long */

/* Sites that only moved become one, by the name of the new side; returns how many terms are left.
 */
static size_t unite_moved(struct diff *diff, struct term *terms, size_t n)
{
    struct ta_slice *stable = ta_arena_alloc(&diff->arena, (n + 1) * sizeof *stable);
    if (!stable || n > SITES_MOST)
        return n;
    for (size_t i = 0; i < n; i++)
        stable[i] = stable_name(&diff->arena, terms[i].name);
    for (size_t i = 0; i < n; i++) {
        const size_t base = only_alone(terms, stable, n, stable[i], TA_DIFF_BASE);
        const size_t new = only_alone(terms, stable, n, stable[i], TA_DIFF_NEW);
        if (base == n || new == n)
            continue;
        terms[new].bytes[TA_DIFF_BASE] = terms[base].bytes[TA_DIFF_BASE];
        terms[base].bytes[TA_DIFF_BASE] = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (terms[i].bytes[TA_DIFF_BASE] || terms[i].bytes[TA_DIFF_NEW])
            terms[kept++] = terms[i];
    qsort(terms, kept, sizeof *terms, by_change);
    return kept;
}

/* What changed most in the direction of the whole, and what did half as much or more. */
static void note_most(struct diff *diff, const struct term *terms, size_t n,
                      const struct device devices[TA_DIFF_SIDES])
{
    const bool is_more = devices[TA_DIFF_NEW].peak > devices[TA_DIFF_BASE].peak;
    struct diff_part_of_peak *most = &diff->peak;
    for (size_t i = 0; i < n && most->next.len == 0; i++) {
        const int64_t base = terms[i].bytes[TA_DIFF_BASE], new = terms[i].bytes[TA_DIFF_NEW];
        if (!terms[i].name.ptr || terms[i].name.ptr[0] == '(' || (new > base) != is_more)
            continue;
        if (most->site.len == 0) {
            *most = (struct diff_part_of_peak){.site = terms[i].name, .bytes = {base, new}};
            continue;
        }
        if (2 * llabs(new - base) < llabs(most->bytes[TA_DIFF_NEW] - most->bytes[TA_DIFF_BASE]))
            return;
        most->next = terms[i].name;
        most->next_bytes[TA_DIFF_BASE] = base;
        most->next_bytes[TA_DIFF_NEW] = new;
    }
}

static bool add_peak(struct diff *diff, struct ta_section_builder *out,
                     const struct device devices[TA_DIFF_SIDES])
{
    struct term *terms =
        ta_arena_alloc(&diff->arena, (devices[0].n + devices[1].n) * sizeof *terms);
    if (!terms)
        return false;
    size_t n = take_terms(&devices[TA_DIFF_BASE], TA_DIFF_BASE, terms);
    n += take_terms(&devices[TA_DIFF_NEW], TA_DIFF_NEW, terms + n);
    n = unite_terms(terms, n);
    if (!devices[TA_DIFF_BASE].source->levels) {
        n = unite_moved(diff, terms, n);
        note_most(diff, terms, n, devices);
    }
    const char *kind = devices[TA_DIFF_BASE].source->levels ? "label" : "site";
    for (size_t i = 0; i < n; i++)
        TA_ROW(out, peak, [TERM] = ta_text(terms[i].name), [KIND] = ta_text(ta_slice_of(kind)),
               [PEAK_BASE] = ta_int(terms[i].bytes[0]), [PEAK_NEW] = ta_int(terms[i].bytes[1]),
               [PEAK_DELTA] = ta_int(terms[i].bytes[1] - terms[i].bytes[0]));
    return true;
}

/* ---- levels -----------------------------------------------------------------------------------
 */

enum { LABEL, BASE, NEW, DELTA, CHANGE };

static const struct ta_column levels_columns[] = {
    [LABEL] = {"label", "Label", TA_TEXT, .doc = "Label of the snapshot"},
    [BASE] = {"base_bytes", "Before", TA_BYTES, .better = TA_LOWER,
              .doc = "Bytes allocated at that label in the baseline"},
    [NEW] = {"new_bytes", "After", TA_BYTES, .better = TA_LOWER,
             .doc = "Bytes allocated at that label in the other run"},
    [DELTA] = {"delta_bytes", "Change", TA_TYPE_INTEGER, TA_UNIT_BYTES_CHANGE, .better = TA_LOWER,
               .doc = "After minus before"},
    [CHANGE] = {"change", "Change %", TA_TYPE_NUMBER, TA_UNIT_RATIO_CHANGE, .better = TA_LOWER,
                .doc = "Change divided by the value before"},
};

static const struct ta_table_def levels = {
    "diff.memory_levels", "Memory at labels", TA_COLUMNS(levels_columns),
    .brief = &(const struct ta_brief){.place = 100,
                                      .rows = 6,
                                      .largest = &levels_columns[DELTA],
                                      .first = {&levels_columns[BASE], &levels_columns[NEW],
                                                &levels_columns[DELTA], &levels_columns[CHANGE]}}};

static size_t row_of(const struct device *device, struct ta_slice label)
{
    for (size_t i = 0; i < device->n; i++)
        if (ta_slice_equal(ta_ref_text(device->in, TA_AS_LEVEL_LABEL, device->rows[i]), label))
            return device->rows[i];
    return SIZE_MAX;
}

static void add_levels(struct diff *diff, struct ta_section_builder *out,
                       const struct device devices[TA_DIFF_SIDES])
{
    const struct device *base = &devices[TA_DIFF_BASE], *new = &devices[TA_DIFF_NEW];
    for (size_t i = 0; i < base->n; i++) {
        const struct ta_slice label = ta_ref_text(base->in, TA_AS_LEVEL_LABEL, base->rows[i]);
        const size_t row = row_of(new, label);
        if (row == SIZE_MAX || row_of(base, label) != base->rows[i])
            continue;
        const int64_t before = ta_ref_integer(base->in, TA_AS_LEVEL_BYTES, base->rows[i]);
        const int64_t after = ta_ref_integer(new->in, TA_AS_LEVEL_BYTES, row);
        if (before == TA_MISSING || after == TA_MISSING)
            continue;
        TA_ROW(out,
               levels, [LABEL] = ta_text(label), [BASE] = ta_int(before), [NEW] = ta_int(after),
               [DELTA] = ta_int(after - before), [CHANGE] = ta_share(after - before, before));
        if (llabs(after - before) >
            llabs(diff->level.bytes[TA_DIFF_NEW] - diff->level.bytes[TA_DIFF_BASE]))
            diff->level = (struct diff_level_change){label, {before, after}};
    }
}

static bool add(struct diff *diff, struct ta_section_builder *out)
{
    bool explained = false;
    for (size_t i = 0; i < TA_LENGTH(sources); i++) {
        struct device devices[TA_DIFF_SIDES];
        for (int side = 0; side < TA_DIFF_SIDES; side++)
            if (!find_highest(diff, &diff->in[side], &sources[i], &devices[side]))
                return false;
        if (devices[0].peak <= 0 || devices[1].peak <= 0)
            continue;
        if (!explained && !add_peak(diff, out, devices))
            return false;
        explained = true;
        if (sources[i].levels)
            add_levels(diff, out, devices);
    }
    return true;
}

static const struct ta_table_def *const tables[] = {&peak, &levels, NULL};

const struct diff_part diff_of_memory = {
    .declares = {.name = "diff.memory", .tables = tables}, .section = "diff_memory", .add = add};
