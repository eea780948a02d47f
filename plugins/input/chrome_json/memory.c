/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What torch says of the allocator of a device whenever it hands out or takes back memory. */
#include "chrome_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const memory_keys[MEMORY_KEYS] = {
    [ALLOCATED] = "Total Allocated",
    [RESERVED] = "Total Reserved",
    [DEVICE_TYPE] = "Device Type",
    [DEVICE] = "Device Id",
};

static const struct ta_token *memory_token(const struct reading *r, enum memory_key key)
{
    const size_t at = r->memory_at[key];
    const bool is_there = at < TA_RECORD_ARGS && r->json->record.has_nested >> at & 1;
    return is_there ? &r->json->record.nested[at] : NULL;
}

static int64_t memory_number(const struct reading *r, enum memory_key key)
{
    const struct ta_token *token = memory_token(r, key);
    int64_t number;
    return token && ta_token_integer(token, &number) ? number : TA_MISSING;
}

static int64_t memory_device(const struct reading *r)
{
    return ta_builder_number(r->builder, TA_RANGE_DEVICE, memory_number(r, DEVICE),
                             r->json->record.offset);
}

static void add_memory(struct reading *r, enum memory_key key)
{
    const struct ta_token *token = memory_token(r, key);
    struct ta_event event = r->event;
    double bytes;
    if (r->status != TA_OK || !token || !ta_token_double(token, &bytes))
        return;
    bytes = ta_builder_real(r->builder, TA_RANGE_BYTES, bytes, r->json->record.offset);
    if (isnan(bytes))
        return;
    event.name = r->memory_name;
    r->status = ta_builder_counter(r->ctx, r->builder, &event, r->memory_series[key], bytes);
}

/* Instants named [memory] are samples of two counters of the device; type 0 is the host, whose
 * totals torch does not count. */
void chrome_take_memory(struct reading *r)
{
    const int64_t device = memory_device(r);
    char name[48];
    if (memory_number(r, DEVICE_TYPE) == 0 || device < 0)
        return;
    if (r->memory_name == TA_STR_ABSENT || device != r->memory_device) {
        r->memory_series[ALLOCATED] = ta_builder_string(r->builder, TA_LIT("allocated bytes"));
        r->memory_series[RESERVED] = ta_builder_string(r->builder, TA_LIT("reserved bytes"));
        const int n = snprintf(name, sizeof name, TA_MEMORY_COUNTER "%" PRId64, device);
        r->memory_name = ta_builder_string(r->builder, (struct ta_slice){name, (size_t)n});
        r->memory_device = device;
    }
    add_memory(r, ALLOCATED);
    add_memory(r, RESERVED);
}

/* What CANN, and JAX, call the number that a call and its activities have in common. */
static const char *const correlations[] = {"connection_id", "correlation_id"};

static size_t list_correlations(struct reading *r, size_t n, struct ta_slice *keys)
{
    r->correlation_at = 0;
    while (r->correlation_at < n && !ta_slice_equal(keys[r->correlation_at], TA_LIT("correlation")))
        r->correlation_at++;
    for (size_t i = 0; i < 2 && r->correlation_at < r->n_keys && n < TA_RECORD_ARGS; i++) {
        r->is_correlation |= UINT64_C(1) << n;
        keys[n++] = ta_slice_of(correlations[i]);
    }
    return n;
}

size_t chrome_list_keys(struct reading *r, const struct ta_slice *asked, struct ta_slice *keys)
{
    size_t n = r->n_keys;
    if (n > 0)
        memcpy(keys, asked, n * sizeof *keys);
    n = list_correlations(r, n, keys);
    for (size_t i = 0; i < MEMORY_KEYS; i++) {
        size_t at = 0;
        while (at < n && !ta_slice_equal(keys[at], ta_slice_of(memory_keys[i])))
            at++;
        r->memory_at[i] = at;
        if (at == n && n < TA_RECORD_ARGS)
            keys[n++] = ta_slice_of(memory_keys[i]);
    }
    return n;
}
