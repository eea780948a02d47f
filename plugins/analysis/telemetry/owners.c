/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose GPU a sampled device is: one process, such as nvidia-smi, samples the devices of all ranks
 * of a host, so its own rank says nothing about them. */
#include "telemetry.h"

#include <stdlib.h>

static bool is_of_device(const struct series *series)
{
    return series->device != TA_MISSING && telemetry_signals[series->signal].of_gpu;
}

/* Whether one rank sampled all devices, and more than one; how many it did. */
static bool one_sampled_all(const struct all *all, size_t *devices)
{
    int64_t rank = TA_MISSING;
    *devices = 0;
    for (size_t first = 0; first < all->n; first = telemetry_device_end(all, first)) {
        const struct series *series = &all->at[first];
        if (series->device == TA_MISSING)
            continue;
        if (*devices && series->rank != rank)
            return false;
        rank = series->rank;
        ++*devices;
    }
    return *devices > 1;
}

/* The rank whose trace has work of a device; TA_MISSING if none or several have. */
static int64_t rank_with(const struct ta_refs *in, int64_t device)
{
    int64_t rank = TA_MISSING;
    for (size_t row = 0; row < ta_ref_rows(in, TRACE_RANK); row++) {
        if (ta_ref_integer(in, TRACE_DEVICE, row) != device)
            continue;
        if (rank != TA_MISSING)
            return TA_MISSING;
        rank = ta_ref_integer(in, TRACE_RANK, row);
    }
    return rank;
}

/* Whether each process sees its GPU as the same number (CUDA_VISIBLE_DEVICES), and ranks 0…n-1 are
 * on devices 0…n-1 then. */
static bool is_numbered_by_rank(const struct ta_refs *in, size_t devices)
{
    const size_t n = ta_ref_rows(in, TRACE_RANK);
    for (size_t row = 0; row < n; row++)
        if (ta_ref_integer(in, TRACE_DEVICE, row) != ta_ref_integer(in, TRACE_DEVICE, 0) ||
            ta_ref_integer(in, TRACE_RANK, row) != (int64_t)row)
            return false;
    return n == devices;
}

static int by_rank(const void *left, const void *right)
{
    const struct series *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->signal > b->signal) - (a->signal < b->signal);
}

void telemetry_find_owners(struct all *all, const struct ta_refs *in)
{
    size_t devices;
    if (ta_ref_rows(in, TRACE_RANK) < 2 || !one_sampled_all(all, &devices))
        return;
    const bool is_by_number = is_numbered_by_rank(in, devices);
    for (size_t i = 0; i < all->n; i++) {
        struct series *series = &all->at[i];
        if (!is_of_device(series))
            continue;
        const int64_t owner = is_by_number ? series->device : rank_with(in, series->device);
        series->rank = owner != TA_MISSING ? owner : series->rank;
    }
    qsort(all->at, all->n, sizeof *all->at, by_rank);
}
