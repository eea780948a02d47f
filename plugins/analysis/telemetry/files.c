/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that several tools wrote of one device at one time, such as `nvidia-smi dmon` and a query.
 *
 * Their moments differ, so equal samples cannot be told by their times.  They are of one device
 * where its temperature and its memory are the same throughout; of each signal the file with more
 * samples counts then.  Devices of one number on several hosts differ. */
#include "telemetry.h"

enum { LEAST_PAIRS = 3, FILES = 32 };

/* Longest time between two samples of one moment, and how many of ten have to agree. */
#define APART_NS INT64_C(1500000000)
enum { AGREE = 8, OF = 10 };

static int64_t apart(int64_t a, int64_t b)
{
    if (a == TA_MISSING || b == TA_MISSING)
        return INT64_MAX;
    return a < b ? ta_add_sat(b, -a) : ta_add_sat(a, -b);
}

static bool is_near(enum ta_signal signal, double a, double b)
{
    if (signal == TA_SIGNAL_GPU_TEMPERATURE)
        return fabs(a - b) <= 2;
    /* Some tools count what the driver keeps for itself, too. */
    return fabs(a - b) <= 0.02 * fmax(a, b) + 512 * 1048576.0;
}

/* The row of a signal and file among [first, end); end without one. */
static size_t find_row(const struct all *all, size_t first, size_t end, int64_t signal,
                       int64_t file)
{
    for (size_t i = first; i < end; i++) {
        const int64_t *row = ta_partial_at(all->partial, i);
        if (row[SIGNAL] == signal && row[FILE_KEY] == file)
            return i;
    }
    return end;
}

/* The time from the readings of one row to the readings of the other, where both have a date. */
static int64_t shift_of(const int64_t *from, const int64_t *to)
{
    const bool dated = from[ORIGIN] != TA_MISSING && to[ORIGIN] != TA_MISSING;
    return dated ? ta_add_sat(from[ORIGIN], -to[ORIGIN]) : 0;
}

enum likeness { UNKNOWN, LIKE, UNLIKE };

static enum likeness compare(const struct all *all, size_t a, size_t b, enum ta_signal signal)
{
    size_t n_a, n_b, pairs = 0, near = 0;
    const struct reading *at_a = telemetry_row_readings(all, a, &n_a);
    const struct reading *at_b = telemetry_row_readings(all, b, &n_b);
    const int64_t shift = shift_of(ta_partial_at(all->partial, a), ta_partial_at(all->partial, b));
    for (size_t i = 0, k = 0; i < n_a && n_b; i++) {
        const int64_t time = ta_add_sat(at_a[i].time, shift);
        while (k + 1 < n_b && at_b[k + 1].time <= time)
            k++;
        const bool is_later =
            k + 1 < n_b && apart(at_b[k + 1].time, time) < apart(at_b[k].time, time);
        if (apart(at_b[k + is_later].time, time) > APART_NS)
            continue;
        pairs++;
        near += is_near(signal, at_a[i].value, at_b[k + is_later].value);
    }
    if (pairs < LEAST_PAIRS)
        return UNKNOWN;
    return near * OF >= pairs * AGREE ? LIKE : UNLIKE;
}

/* Whether rows [first, end), of one device, of the two files are of the same moments. */
static bool are_twins(const struct all *all, size_t first, size_t end, int64_t a, int64_t b)
{
    enum likeness all_of_them = UNKNOWN;
    bool same_signals = true, dated = true;
    for (int64_t signal = 0; signal < TA_SIGNAL_COUNT; signal++) {
        const size_t of_a = find_row(all, first, end, signal, a);
        const size_t of_b = find_row(all, first, end, signal, b);
        same_signals &= (of_a == end) == (of_b == end);
        if (of_a == end || of_b == end)
            continue;
        dated &= ta_partial_at(all->partial, of_a)[ORIGIN] != TA_MISSING &&
                 ta_partial_at(all->partial, of_b)[ORIGIN] != TA_MISSING;
        if (signal != TA_SIGNAL_GPU_TEMPERATURE && signal != TA_SIGNAL_GPU_MEMORY_USED)
            continue;
        const enum likeness like = compare(all, of_a, of_b, (enum ta_signal)signal);
        if (like == UNLIKE)
            return false;
        all_of_them = like == LIKE ? LIKE : all_of_them;
    }
    /* Without dates, files of the same tool are of several runs. */
    return all_of_them == LIKE && (dated || !same_signals);
}

/* Of the signals that both have, drops the rows with fewer samples. */
static void drop_fewer(struct all *all, size_t first, size_t end, int64_t a, int64_t b)
{
    for (int64_t signal = 0; signal < TA_SIGNAL_COUNT; signal++) {
        const size_t of_a = find_row(all, first, end, signal, a);
        const size_t of_b = find_row(all, first, end, signal, b);
        size_t n_a, n_b;
        if (of_a == end || of_b == end)
            continue;
        telemetry_row_readings(all, of_a, &n_a);
        telemetry_row_readings(all, of_b, &n_b);
        all->dropped[n_a >= n_b ? of_b : of_a] = true;
    }
}

static bool is_of_device(const struct all *all, size_t first, size_t i)
{
    const int64_t *a = ta_partial_at(all->partial, first), *b = ta_partial_at(all->partial, i);
    return a[RANK] == b[RANK] && a[DEVICE] == b[DEVICE];
}

/* The files of rows [first, end) whose samples are since their first one; not more than fit. */
static size_t list_files(const struct all *all, size_t first, size_t end, int64_t files[FILES])
{
    size_t n = 0;
    for (size_t i = first; i < end && n < FILES; i++) {
        const int64_t file = ta_partial_at(all->partial, i)[FILE_KEY];
        size_t k = 0;
        while (k < n && files[k] != file)
            k++;
        if (k == n && file != TA_MISSING)
            files[n++] = file;
    }
    return n;
}

void telemetry_drop_twins(struct all *all)
{
    const size_t n = ta_partial_rows(all->partial);
    int64_t files[FILES];
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && is_of_device(all, first, end); end++)
            ;
        const size_t n_files = list_files(all, first, end, files);
        for (size_t a = 0; a < n_files; a++)
            for (size_t b = a + 1; b < n_files; b++)
                if (are_twins(all, first, end, files[a], files[b]))
                    drop_fewer(all, first, end, files[a], files[b]);
    }
}
