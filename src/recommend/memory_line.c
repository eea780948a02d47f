/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of memory in its first line: the peak, which places of the program hold it,
 * and what was there before the recording began. */
#include "recommend/memory_line.h"

#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Places that are named, and the least share of the peak that is worth a name. */
enum { PLACES = 3 };
#define LEAST_SHARE 0.05

/* Lines of one function so close to each other are one place. */
enum { NEAR_LINES = 5, LINES = 4 };

struct text {
    char *at;
    size_t n, size;
};

static void add(struct text *text, const char *format, ...) TA_PRINTF(2, 3);

/* What does not fit is cut. */
static void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text->at + text->n, text->size - text->n, format, args);
    va_end(args);
    if (n > 0)
        text->n = text->n + (size_t)n < text->size ? text->n + (size_t)n : text->size - 1;
}

static double number(const struct ta_table *table, size_t row, const char *column)
{
    return ta_row_number(table, row, column, NAN);
}

/* ---- sites --------------------------------------------------------------------------------- */

/* "function (path:line)"; without a path where a site has none. */
struct site {
    struct ta_slice function, path;
    long line;
};

static struct site parse_site(struct ta_slice text)
{
    struct site site = {.function = text};
    size_t colon = text.len, open = text.len;
    for (size_t i = text.len; i-- > 1 && open == text.len;) {
        if (text.ptr[i] == ':' && colon == text.len)
            colon = i;
        if (text.ptr[i] == '(' && text.ptr[i - 1] == ' ')
            open = i;
    }
    if (open == text.len || colon == text.len || text.ptr[text.len - 1] != ')')
        return site;
    for (size_t i = colon + 1; i + 1 < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        site.line = site.line < 1000000 ? site.line * 10 + (text.ptr[i] - '0') : site.line;
    site.function = (struct ta_slice){text.ptr, open - 1};
    site.path = ta_slice_part(text, open + 1, colon);
    return site;
}

/* The file and its folder. */
static struct ta_slice short_path(struct ta_slice path)
{
    int slashes = 0;
    for (size_t i = path.len; i-- > 0;)
        if ((path.ptr[i] == '/' || path.ptr[i] == '\\') && ++slashes == 2)
            return ta_slice_from(path, i + 1);
    return path;
}

static bool is_one_place(const struct site *a, const struct site *b)
{
    return a->path.len && ta_slice_equal(a->path, b->path) &&
           ta_slice_equal(a->function, b->function) && labs(a->line - b->line) <= NEAR_LINES;
}

/* One place, or several lines of it. */
struct place {
    struct site site; /* of the line that holds most */
    long lines[LINES];
    size_t n_lines;
    double bytes;
};

/* The sites of one device of a snapshot. */
struct sites {
    const struct ta_table *table;
    const char *bytes; /* column */
    double rank, device;
    struct ta_slice label;
    bool *taken; /* rows that are named already */
};

static bool is_free(const struct sites *sites, size_t row)
{
    const double device = number(sites->table, row, "device");
    return !sites->taken[row] && number(sites->table, row, "rank") == sites->rank &&
           (device == sites->device || (isnan(device) && isnan(sites->device))) &&
           ta_slice_equal(ta_row_text(sites->table, row, "label"), sites->label) &&
           !ta_row_reads(sites->table, row, "site", "(allocated before the history)");
}

/* The place that holds most of what is not named yet; false without any. */
static bool take_place(struct sites *sites, struct place *place)
{
    const struct ta_table *table = sites->table;
    size_t lead = SIZE_MAX;
    for (size_t row = 0; row < table->n_rows; row++)
        if (is_free(sites, row) && (lead == SIZE_MAX || number(table, row, sites->bytes) >
                                                            number(table, lead, sites->bytes)))
            lead = row;
    if (lead == SIZE_MAX)
        return false;
    *place = (struct place){.site = parse_site(ta_row_text(table, lead, "site"))};
    for (size_t row = lead; row < table->n_rows && place->n_lines < LINES; row++) {
        const struct site site = parse_site(ta_row_text(table, row, "site"));
        if (!is_free(sites, row) || (row != lead && !is_one_place(&place->site, &site)))
            continue;
        sites->taken[row] = true;
        place->lines[place->n_lines++] = site.line;
        place->bytes += fmax(number(table, row, sites->bytes), 0);
    }
    return true;
}

static int by_line(const void *left, const void *right)
{
    const long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

static void add_place(struct text *text, struct place *place)
{
    char bytes[TA_UNIT_TEXT_MAX];
    ta_unit_format(bytes, place->bytes, TA_UNIT_BYTES);
    const struct ta_slice name = place->site.function;
    if (ta_slice_equal(name, TA_LIT("(no Python frame)"))) {
        add(text, "%s whose stacks have no Python frame", bytes);
        return;
    }
    if (place->site.path.len == 0) {
        add(text, "%s from %.*s", bytes, (int)(name.len < 80 ? name.len : 80), name.ptr);
        return;
    }
    qsort(place->lines, place->n_lines, sizeof *place->lines, by_line);
    const struct ta_slice path = short_path(place->site.path);
    add(text, "%s from %.*s", bytes, (int)path.len, path.ptr);
    for (size_t i = 0; i < place->n_lines; i++)
        add(text, "%s:%ld", i == 0 ? "" : i + 1 < place->n_lines ? ", " : " and ", place->lines[i]);
    add(text, " (%.*s)", (int)(name.len < 60 ? name.len : 60), name.ptr);
}

static int by_bytes(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* ": 25.4 GiB from optimizers.py:82 and :84 (step), …" */
static void add_places(struct text *text, struct sites *sites, double peak)
{
    struct place places[PLACES];
    size_t n = 0;
    while (n < PLACES && take_place(sites, &places[n]) && places[n].bytes >= LEAST_SHARE * peak)
        n += !ta_slice_equal(places[n].site.function, TA_LIT("(no frames)"));
    qsort(places, n, sizeof *places, by_bytes);
    for (size_t i = 0; i < n; i++) {
        add(text, "%s", i == 0 ? ": " : i + 1 < n ? ", " : " and ");
        add_place(text, &places[i]);
    }
}

/* ---- the line ------------------------------------------------------------------------------ */

static size_t row_of_largest(const struct ta_table *table, const char *column)
{
    size_t most = SIZE_MAX;
    for (size_t row = 0; table && row < table->n_rows; row++)
        if (!isnan(number(table, row, column)) &&
            (most == SIZE_MAX || number(table, row, column) > number(table, most, column)))
            most = row;
    return most;
}

/* Both figures are of one device.  Of some profilers what is held is known at snapshots only, and
 * the peak may have been between two of them. */
static void add_peak(struct text *text, const struct ta_report *report,
                     const struct ta_table *ranks, size_t row, bool is_state)
{
    char in_use[TA_UNIT_TEXT_MAX], held[TA_UNIT_TEXT_MAX], owner[40] = "";
    const double reserved = number(ranks, row, "peak_reserved_bytes");
    const double allocated = number(ranks, row, "peak_allocated_bytes");
    ta_unit_format(in_use, allocated, TA_UNIT_BYTES);
    ta_unit_format(held, reserved, TA_UNIT_BYTES);
    if (ta_report_run(report)->n_ranks > 1)
        snprintf(owner, sizeof owner, " on rank %.0f", number(ranks, row, "rank"));
    else if (ranks->n_rows > 1 && !isnan(number(ranks, row, "device")))
        snprintf(owner, sizeof owner, " on device %.0f", number(ranks, row, "device"));
    if (is_state)
        add(text, "The snapshot has %s in use and %s held by the allocator%s", in_use, held, owner);
    else if (reserved < allocated && strcmp(in_use, held) != 0)
        add(text,
            "Memory peaks at %s in use%s; what the allocator held was recorded at snapshots only "
            "(%s at most)",
            in_use, owner, held);
    else
        add(text, "Memory peaks at %s in use and %s held by the allocator%s", in_use, held, owner);
}

/* The history of the device whose peak is said, if it has one. */
static size_t history_of(const struct ta_table *peaks, const struct ta_table *ranks, size_t device)
{
    size_t found = SIZE_MAX;
    for (size_t row = 0; peaks && row < peaks->n_rows; row++)
        if (number(peaks, row, "rank") == number(ranks, device, "rank") &&
            number(peaks, row, "device") == number(ranks, device, "device") &&
            (found == SIZE_MAX ||
             number(peaks, row, "peak_block_bytes") > number(peaks, found, "peak_block_bytes")))
            found = row;
    return found;
}

static void add_holders(struct text *text, struct sites *sites, double allocated, double peak)
{
    char bytes[TA_UNIT_TEXT_MAX];
    if (peak < allocated * 0.99) /* torch's own count goes further back than the history */
        add(text, "; in the history %s", ta_unit_format(bytes, peak, TA_UNIT_BYTES));
    sites->taken = calloc(sites->table->n_rows + 1, sizeof *sites->taken);
    if (sites->taken)
        add_places(text, sites, peak);
    free(sites->taken);
}

void ta_memory_line(const struct ta_report *report, char *line, size_t size)
{
    struct text text = {.at = line, .size = size};
    const struct ta_table *ranks = ta_report_table(report, "memory.by_rank");
    const struct ta_table *peaks = ta_report_table(report, "memory.peaks");
    const struct ta_table *states = ta_report_table(report, "memory.fragmentation");
    const size_t device = row_of_largest(ranks, "peak_allocated_bytes");
    line[0] = '\0';
    if (device == SIZE_MAX || isnan(number(ranks, device, "peak_reserved_bytes")))
        return;
    const size_t history = history_of(peaks, ranks, device);
    const bool is_state =
        states && history == SIZE_MAX && ta_row_reads(ranks, device, "peak_source", "snapshot");
    add_peak(&text, report, ranks, device, is_state);
    const struct ta_table *own = history == SIZE_MAX ? states : peaks;
    const size_t row = history == SIZE_MAX ? history_of(states, ranks, device) : history;
    struct sites sites = {.table = ta_report_table(report, "memory.sites"),
                          .bytes = history == SIZE_MAX ? "held_bytes" : "peak_block_bytes"};
    if (sites.table && row != SIZE_MAX && (is_state || history != SIZE_MAX)) {
        sites.rank = number(own, row, "rank");
        sites.device = number(own, row, "device");
        sites.label = ta_row_text(own, row, "label");
        add_holders(&text, &sites, number(ranks, device, "peak_allocated_bytes"),
                    number(own, row, is_state ? "allocated_bytes" : "peak_block_bytes"));
    }
    add(&text, ".");
    if (history == SIZE_MAX)
        return;
    const double before = number(peaks, history, "start_block_bytes");
    char bytes[TA_UNIT_TEXT_MAX];
    if (before > LEAST_SHARE * number(peaks, history, "peak_block_bytes"))
        add(&text, " %s were alive before the history began.",
            ta_unit_format(bytes, before, TA_UNIT_BYTES));
}
