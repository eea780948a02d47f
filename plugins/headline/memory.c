/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The peak of memory and which places of the program hold it, what was there before the history
 * began among them. */
#include "lib/sites.h"

#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANK,
    DEVICE,
    PEAK_ALLOCATED,
    PEAK_RESERVED,
    PEAK_SOURCE,
    PEAKS_RANK,
    PEAKS_DEVICE,
    PEAKS_LABEL,
    PEAKS_BLOCK,
    STATES_RANK,
    STATES_DEVICE,
    STATES_LABEL,
    STATES_ALLOCATED,
    SITE_RANK,
    SITE_DEVICE,
    SITE_LABEL,
    SITE,
    SITE_PEAK,
    SITE_HELD,
    LEVEL_RANK,
    LEVEL_DEVICE,
    LEVEL_LABEL,
    LEVEL
};
static const struct ta_ref reads[] = {
    [RANK] = {"memory.by_rank", "rank"},
    [DEVICE] = {"memory.by_rank", "device"},
    [PEAK_ALLOCATED] = {"memory.by_rank", "peak_allocated_bytes"},
    [PEAK_RESERVED] = {"memory.by_rank", "peak_reserved_bytes"},
    [PEAK_SOURCE] = {"memory.by_rank", "peak_source"},
    [PEAKS_RANK] = {"memory.peaks", "rank"},
    [PEAKS_DEVICE] = {"memory.peaks", "device"},
    [PEAKS_LABEL] = {"memory.peaks", "label"},
    [PEAKS_BLOCK] = {"memory.peaks", "peak_block_bytes"},
    [STATES_RANK] = {"memory.fragmentation", "rank"},
    [STATES_DEVICE] = {"memory.fragmentation", "device"},
    [STATES_LABEL] = {"memory.fragmentation", "label"},
    [STATES_ALLOCATED] = {"memory.fragmentation", "allocated_bytes"},
    [SITE_RANK] = {"memory.sites", "rank"},
    [SITE_DEVICE] = {"memory.sites", "device"},
    [SITE_LABEL] = {"memory.sites", "label"},
    [SITE] = {"memory.sites", "site"},
    [SITE_PEAK] = {"memory.sites", "peak_block_bytes"},
    [SITE_HELD] = {"memory.sites", "held_bytes"},
    [LEVEL_RANK] = {"memory.timeline", "rank"},
    [LEVEL_DEVICE] = {"memory.timeline", "device"},
    [LEVEL_LABEL] = {"memory.timeline", "label"},
    [LEVEL] = {"memory.timeline", "block_bytes"},
};

/* Places that are named, and the least share of the peak that is worth a name. */
enum { PLACES = 4 };
#define LEAST_SHARE 0.05

enum { LINES = 4 }; /* of one place */

/* Rows of all places that are named, and of those without frames, which are not. */
enum { TAKEN_MOST = (PLACES + 2) * LINES };

/* The sites of one device of a snapshot. */
struct sites {
    const struct ta_refs *in;
    size_t bytes; /* what they hold: a reference */
    double rank, device;
    struct ta_slice label;
    size_t taken[TAKEN_MOST], n_taken; /* rows that are named already */
};

static bool is_free(const struct sites *sites, size_t row)
{
    const double device = ta_ref_number(sites->in, SITE_DEVICE, row, NAN);
    for (size_t i = 0; i < sites->n_taken; i++)
        if (sites->taken[i] == row)
            return false;
    return ta_ref_number(sites->in, SITE_RANK, row, NAN) == sites->rank &&
           (device == sites->device || (isnan(device) && isnan(sites->device))) &&
           ta_slice_equal(ta_ref_text(sites->in, SITE_LABEL, row), sites->label);
}

/* One place, or several lines of it. */
struct place {
    struct ta_site site; /* of the line that holds most */
    long lines[LINES];
    size_t n_lines;
    double bytes;
};

/* The place that holds most of what is not named yet; false without any. */
static bool take_place(struct sites *sites, struct place *place)
{
    const struct ta_refs *in = sites->in;
    const size_t n_rows = ta_ref_rows(in, SITE);
    size_t lead = SIZE_MAX;
    for (size_t row = 0; row < n_rows; row++)
        if (is_free(sites, row) &&
            (lead == SIZE_MAX || ta_ref_number(in, sites->bytes, row, NAN) >
                                     ta_ref_number(in, sites->bytes, lead, NAN)))
            lead = row;
    if (lead == SIZE_MAX || sites->n_taken + LINES > TAKEN_MOST)
        return false;
    *place = (struct place){.site = ta_site_parse(ta_ref_text(in, SITE, lead))};
    for (size_t row = lead; row < n_rows && place->n_lines < LINES; row++) {
        const struct ta_site site = ta_site_parse(ta_ref_text(in, SITE, row));
        if (!is_free(sites, row) || (row != lead && !ta_site_is_near(&place->site, &site)))
            continue;
        sites->taken[sites->n_taken++] = row;
        place->lines[place->n_lines++] = site.line;
        place->bytes += fmax(ta_ref_number(in, sites->bytes, row, NAN), 0);
    }
    return true;
}

static int by_line(const void *left, const void *right)
{
    const long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

static int by_bytes(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* What a place allocates, before its name. */
static const char *const kinds[] = {[TA_SITE_OTHER] = "",
                                    [TA_SITE_OPTIMIZER] = "optimizer state ",
                                    [TA_SITE_KV_CACHE] = "KV cache "};

/* "from optimizers.py:82 and :84 (step)", or what else is known of a place. */
static void add_place(struct ta_line *line, struct place *place)
{
    const struct ta_slice name = place->site.function;
    if (ta_slice_equal(name, TA_LIT("(allocated before the history)"))) {
        ta_say_on(line, "from before the history began");
    } else if (ta_slice_equal(name, TA_LIT("(no Python frame)"))) {
        ta_say_on(line, "from stacks without a Python frame");
    } else if (place->site.path.len == 0) {
        ta_say_on(line, "from %.*s", (int)(name.len < 80 ? name.len : 80), name.ptr);
    } else {
        qsort(place->lines, place->n_lines, sizeof *place->lines, by_line);
        const struct ta_slice path = ta_site_short_path(place->site.path);
        ta_say_on(line, "%sfrom %.*s", kinds[ta_site_kind(path)], (int)path.len, path.ptr);
        for (size_t k = 0; k < place->n_lines; k++)
            ta_say_on(line, "%s:%ld",
                      k == 0                   ? ""
                      : k + 1 < place->n_lines ? ", "
                                               : " and ",
                      place->lines[k]);
        ta_say_on(line, " (%.*s)", (int)(name.len < 60 ? name.len : 60), name.ptr);
    }
}

/* The places that hold a peak, the largest first; how many there are. */
static size_t find_places(struct sites *sites, double peak, struct place places[PLACES])
{
    size_t n = 0;
    while (n < PLACES && take_place(sites, &places[n]) && places[n].bytes >= LEAST_SHARE * peak)
        n += !ta_slice_equal(places[n].site.function, TA_LIT("(no frames)"));
    qsort(places, n, sizeof *places, by_bytes);
    return n;
}

/* ", 25.4 GiB are optimizer state from optimizers.py:82 and :84 (step) and 12.8 GiB …" */
static void add_places(struct ta_line *line, struct place *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char bytes[TA_UNIT_TEXT_MAX];
        ta_say_on(line, "%s%s %s", i == 0 || i + 1 < n ? ", " : " and ",
                  ta_unit_format(bytes, places[i].bytes, TA_UNIT_BYTES), i == 0 ? "are " : "");
        add_place(line, &places[i]);
    }
}

/* The references of a table by device, and what they hold at most. */
struct owners {
    size_t rank, device, bytes;
};
static const struct owners of_peaks = {PEAKS_RANK, PEAKS_DEVICE, PEAKS_BLOCK};
static const struct owners of_states = {STATES_RANK, STATES_DEVICE, STATES_ALLOCATED};

/* The row of the device of a row of memory.by_rank; SIZE_MAX without any. */
static size_t row_of_device(const struct ta_refs *in, const struct owners *owners, size_t device)
{
    size_t found = SIZE_MAX;
    for (size_t row = 0; row < ta_ref_rows(in, owners->rank); row++)
        if (ta_ref_number(in, owners->rank, row, NAN) == ta_ref_number(in, RANK, device, NAN) &&
            ta_ref_number(in, owners->device, row, NAN) == ta_ref_number(in, DEVICE, device, NAN) &&
            (found == SIZE_MAX ||
             ta_ref_number(in, PEAKS_BLOCK, row, NAN) > ta_ref_number(in, PEAKS_BLOCK, found, NAN)))
            found = row;
    return found;
}

/* The sites of a device, whose peak or state they hold; false without any. */
static bool open_sites(const struct ta_refs *in, size_t device, bool is_state, struct sites *sites,
                       double *peak)
{
    const struct owners *own = is_state ? &of_states : &of_peaks;
    const size_t row = row_of_device(in, own, device);
    if (row == SIZE_MAX || ta_ref_rows(in, SITE) == 0)
        return false;
    *sites = (struct sites){.in = in,
                            .bytes = is_state ? SITE_HELD : SITE_PEAK,
                            .rank = ta_ref_number(in, own->rank, row, NAN),
                            .device = ta_ref_number(in, own->device, row, NAN),
                            .label = ta_ref_text(in, is_state ? STATES_LABEL : PEAKS_LABEL, row)};
    *peak = ta_ref_number(in, own->bytes, row, NAN);
    return true;
}

/* Of a history that grows to its end: the part of it, at its end, in which it grew, and by how much
 * of its peak at least. */
#define LAST_PART 0.05
#define LEAST_GROWTH 0.01

/* Whether memory was still growing when the history of these sites ended: then its peak is only
 * what was reached so far. */
static bool ends_growing(const struct sites *sites, double peak)
{
    const struct ta_refs *in = sites->in;
    size_t first = 0, n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, LEVEL); row++)
        if (ta_ref_number(in, LEVEL_RANK, row, NAN) == sites->rank &&
            ta_ref_number(in, LEVEL_DEVICE, row, NAN) == sites->device &&
            ta_slice_equal(ta_ref_text(in, LEVEL_LABEL, row), sites->label)) {
            first = n ? first : row;
            n = row + 1 - first; /* the rows of a history are next to each other */
        }
    const size_t part = ta_whole_size(ceil(LAST_PART * (double)n));
    return n > 2 && ta_ref_number(in, LEVEL, first + n - 1, 0) >= peak &&
           ta_ref_number(in, LEVEL, first + n - 1 - part, peak) < (1 - LEAST_GROWTH) * peak;
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    /* What the places say of it already. */
    if (worst &&
        (strcmp(worst->id, "memory-history") == 0 || strcmp(worst->id, "memory-sites") == 0))
        ta_line_covers_finding(line);
    const size_t device = ta_ref_largest(in, PEAK_ALLOCATED);
    if (device == SIZE_MAX || isnan(ta_ref_number(in, PEAK_RESERVED, device, NAN)))
        return;
    const bool has_history = row_of_device(in, &of_peaks, device) != SIZE_MAX;
    const bool is_state = ta_ref_rows(in, STATES_RANK) && !has_history &&
                          ta_ref_reads(in, PEAK_SOURCE, device, "snapshot");
    /* Both figures are of one device. Of some profilers what is held is known at snapshots only,
     * and the peak may have been between two of them. */
    char in_use[TA_UNIT_TEXT_MAX], held[TA_UNIT_TEXT_MAX], owner[40] = "";
    const double reserved = ta_ref_number(in, PEAK_RESERVED, device, NAN);
    const double allocated = ta_ref_number(in, PEAK_ALLOCATED, device, NAN);
    ta_unit_format(in_use, allocated, TA_UNIT_BYTES);
    ta_unit_format(held, reserved, TA_UNIT_BYTES);
    if (ta_report_run(in->report)->n_ranks > 1)
        snprintf(owner, sizeof owner, " on rank %.0f", ta_ref_number(in, RANK, device, NAN));
    else if (ta_ref_rows(in, PEAK_RESERVED) > 1 && !isnan(ta_ref_number(in, DEVICE, device, NAN)))
        snprintf(owner, sizeof owner, " on device %.0f", ta_ref_number(in, DEVICE, device, NAN));
    struct sites sites;
    struct place places[PLACES];
    double peak = NAN;
    size_t n = 0;
    if ((is_state || has_history) && open_sites(in, device, is_state, &sites, &peak))
        n = find_places(&sites, peak, places);
    if (n == 0 && is_state) {
        ta_say(line, "The snapshot has %s in use and %s held by the allocator%s.", in_use, held,
               owner);
        return;
    }
    if (n == 0 && reserved < allocated && strcmp(in_use, held) != 0) {
        ta_say(
            line,
            "Memory peaks at %s in use%s; what the allocator held was recorded at snapshots only "
            "(%s at most).",
            in_use, owner, held);
        return;
    }
    if (n == 0) {
        ta_say(line, "Memory peaks at %s in use and %s held by the allocator%s.", in_use, held,
               owner);
        return;
    }
    /* torch's own count goes further back than the history. */
    const bool is_less = peak < allocated * 0.99;
    if (is_less) {
        ta_say(line, "Memory peaks at %s in use%s.", in_use, owner);
        ta_say(line, "Of the peak of %s in the history",
               ta_unit_format(in_use, peak, TA_UNIT_BYTES));
    } else {
        ta_say(line, is_state ? "Of the %s in use%s" : "Of the peak of %s%s", in_use, owner);
    }
    add_places(line, places, n);
    ta_say_on(line, "; the allocator holds %s.", held);
    if (!is_state && !is_less && ends_growing(&sites, peak))
        ta_say(line, "The history ends at the peak, while memory still grows: the real peak may be "
                     "higher.");
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_WORK, .place = 6, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, memory, &ops, .title = "Memory",
          .summary = "The peak of memory and who holds it", .version = "2");
