/* SPDX-License-Identifier: GPL-3.0-or-later */
/* telemetry.disks: when the host waits for its disks, or swaps, and how much they move then. */
#include "telemetry.h"

#include <math.h>
#include <stdlib.h>

enum { RANK_COLUMN, WHAT, SAMPLES_COLUMN, PART, DISKS_READ, DISKS_WRITTEN, TIME };
static const struct ta_column telemetry_disks_columns[] = {
    [RANK_COLUMN] = TA_DUMP_RANK_COLUMN,
    [WHAT] = {"what", "Resource", TA_WORD,
              .doc = "disk: a process waits for a disk, or a disk works, for at least 80 % of the "
                     "sample's time, and at least 1 MB is read per second; swap: that much is read "
                     "from and written to swap space"},
    [SAMPLES_COLUMN] = {"samples", "Samples", TA_COUNT, .better = TA_LOWER,
                        .doc = "Samples that show the wait"},
    [PART] = {"share", "Share", TA_RATIO, .better = TA_LOWER,
              .doc = "Samples with the wait divided by all samples"},
    [DISKS_READ] = {"read_rate", "Read", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                    .doc =
                        "Median bytes read per second in these samples, from disks or swap space"},
    [DISKS_WRITTEN] = {"write_rate", "Written", TA_TYPE_NUMBER, TA_UNIT_BYTES_PER_S,
                       .doc = "Median bytes written per second in these samples"},
    [TIME] = {"time_ns", "Time", TA_NS, .better = TA_LOWER,
              .doc = "Number of these samples times the median interval"},
};

const struct ta_table_def telemetry_disks = {
    "telemetry.disks",
    "Disk and swap waits",
    TA_COLUMNS(telemetry_disks_columns),
    .doc = "One row per rank and kind of wait that at least three host samples show.",
    .tier = TA_TIER_DETAIL,
    .rank_words = ""};

#define WAITS 0.8
#define MOVES 1e6

enum { LEAST_SAMPLES = 3 };

/* Samples of one moment are at the same time: they come from one row of a tool. */
struct moments {
    const struct reading *at, *other, *wait; /* read, written, share of waiting; NULL without */
    size_t n, n_other, n_wait;
};

/* The value of a series at a time; NAN where it has none there. */
static double value_at(const struct reading *at, size_t n, size_t *next, int64_t time)
{
    while (*next < n && at[*next].time < time)
        ++*next;
    return *next < n && at[*next].time == time ? at[*next].value : NAN;
}

static double median_of(double *values, size_t n)
{
    ta_sort_numbers(values, n);
    return n ? ta_quantile(values, n, 0.5) : NAN;
}

/* False without memory. */
static bool add_kind(struct ta_section_builder *out, int64_t rank, const char *what,
                     const struct moments *m, bool is_swap)
{
    double *read = calloc(m->n + 1, sizeof *read), *written = calloc(m->n + 1, sizeof *written);
    double *apart = calloc(m->n + 1, sizeof *apart);
    const bool done = read && written && apart;
    size_t n = 0, n_written = 0, at_other = 0, at_wait = 0;
    for (size_t i = 0; done && i < m->n; i++) {
        const int64_t time = m->at[i].time;
        const double other = value_at(m->other, m->n_other, &at_other, time);
        const double wait = value_at(m->wait, m->n_wait, &at_wait, time);
        if (i)
            apart[i - 1] = (double)(time - m->at[i - 1].time);
        const double moved = m->at[i].value + (is_swap && !isnan(other) ? other : 0);
        if (moved < MOVES || (!is_swap && !(wait >= WAITS)))
            continue;
        read[n++] = m->at[i].value;
        if (!isnan(other))
            written[n_written++] = other;
    }
    if (done && n >= LEAST_SAMPLES)
        TA_ROW(out, telemetry_disks, [RANK_COLUMN] = ta_int(rank),
               [WHAT] = ta_text(ta_slice_of(what)), [SAMPLES_COLUMN] = ta_int((int64_t)n),
               [PART] = ta_num((double)n / (double)m->n), [DISKS_READ] = ta_num(median_of(read, n)),
               [DISKS_WRITTEN] = ta_num(median_of(written, n_written)),
               [TIME] = ta_int(ta_whole((double)n * median_of(apart, m->n - 1))));
    free(read);
    free(written);
    free(apart);
    return done;
}

static void find(const struct all *all, size_t first, size_t end, enum ta_signal signal,
                 const struct reading **at, size_t *n)
{
    for (size_t i = first; i < end; i++)
        if (all->at[i].used && all->at[i].signal == signal) {
            *at = all->readings + all->at[i].first;
            *n = all->at[i].end_mean - all->at[i].first;
        }
}

bool telemetry_add_disks(struct ta_section_builder *out, const struct all *all)
{
    bool done = true;
    for (size_t first = 0, end; done && first < all->n; first = end) {
        end = telemetry_device_end(all, first);
        if (all->at[first].device != TA_MISSING)
            continue;
        struct moments disk = {.n = 0}, swap = {.n = 0};
        find(all, first, end, TA_SIGNAL_DISK_READ, &disk.at, &disk.n);
        find(all, first, end, TA_SIGNAL_DISK_WRITTEN, &disk.other, &disk.n_other);
        find(all, first, end, TA_SIGNAL_DISK_WAIT, &disk.wait, &disk.n_wait);
        find(all, first, end, TA_SIGNAL_SWAP_READ, &swap.at, &swap.n);
        find(all, first, end, TA_SIGNAL_SWAP_WRITTEN, &swap.other, &swap.n_other);
        done = add_kind(out, all->at[first].rank, "disk", &disk, false) &&
               add_kind(out, all->at[first].rank, "swap", &swap, true);
    }
    return done;
}
