/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The raw sampling dump of Inferix: every reading of every device, and of the host.
 *
 * It grows with the run time, by some 10 kB per second with eight devices, so it is read one sample
 * at a time.  It names its session but not when that began: samples of earlier sessions of the
 * process are found out by the core, which knows the report. */
#include "base/convert.h"
#include "lib/inferix.h"
#include "parse/json/values.h"

#include <traceanalyze/document.h>

#include <inttypes.h>

enum { SESSION_ID, GPU_DATA, CPU_DATA, SAVED_AT };

static const char *const keys[] = {[SESSION_ID] = "session_id",
                                   [GPU_DATA] = "gpu_data",
                                   [CPU_DATA] = "cpu_data",
                                   [SAVED_AT] = "saved_at",
                                   NULL};

/* The samples may fill what one sees. */
static int sniff(const struct ta_probe *probe)
{
    const unsigned found = ta_outer_keys(probe, keys);
    if (!(found & (1u << GPU_DATA | 1u << CPU_DATA)))
        return 0;
    return found & (found - 1) ? 95 : 60;
}

/* ---- readings -------------------------------------------------------------------------------- */

enum scale { PLAIN, PERCENT, MIB, MHZ };

/* A key of a sample, or of a device in it, and what it measures.  A total of all devices is used
 * where no device is named. */
struct reading {
    struct ta_slice key;
    enum ta_signal signal;
    enum scale scale;
    bool known; /* 0 says that it could not be read */
};

enum { DEVICES, CPU_USAGE, CPU_USED, CPU_TOTAL, N_CPU, GPU_USED = N_CPU, GPU_TOTAL, N_SAMPLE = 9 };

static const struct reading of_sample[N_SAMPLE] = {
    [DEVICES] = {TA_LIT("gpu_devices"), TA_SIGNAL_COUNT, PLAIN, false},
    [CPU_USAGE] = {TA_LIT("cpu_usage_percent"), TA_SIGNAL_CPU_UTILIZATION, PERCENT, false},
    [CPU_USED] = {TA_LIT("memory_used_mb"), TA_SIGNAL_CPU_MEMORY_USED, MIB, false},
    [CPU_TOTAL] = {TA_LIT("memory_total_mb"), TA_SIGNAL_CPU_MEMORY_TOTAL, MIB, true},
    [GPU_USED] = {TA_LIT("total_gpu_memory_used_mb"), TA_SIGNAL_GPU_MEMORY_USED, MIB, false},
    [GPU_TOTAL] = {TA_LIT("total_gpu_memory_total_mb"), TA_SIGNAL_GPU_MEMORY_TOTAL, MIB, true},
    {TA_LIT("max_gpu_utilization"), TA_SIGNAL_GPU_UTILIZATION, PERCENT, false},
    {TA_LIT("max_gpu_temperature"), TA_SIGNAL_GPU_TEMPERATURE, PLAIN, true},
    {TA_LIT("total_gpu_power_watts"), TA_SIGNAL_GPU_POWER, PLAIN, true},
};

enum { N_DEVICE = 10 };

static const struct reading of_device[N_DEVICE] = {
    {TA_LIT("utilization_percent"), TA_SIGNAL_GPU_UTILIZATION, PERCENT, false},
    {TA_LIT("memory_util_percent"), TA_SIGNAL_GPU_MEMORY_ACTIVITY, PERCENT, false},
    {TA_LIT("memory_used_mb"), TA_SIGNAL_GPU_MEMORY_USED, MIB, false},
    {TA_LIT("memory_total_mb"), TA_SIGNAL_GPU_MEMORY_TOTAL, MIB, true},
    {TA_LIT("temperature_celsius"), TA_SIGNAL_GPU_TEMPERATURE, PLAIN, false},
    {TA_LIT("power_watts"), TA_SIGNAL_GPU_POWER, PLAIN, true},
    {TA_LIT("graphics_clock_mhz"), TA_SIGNAL_GPU_CLOCK, MHZ, true},
    {TA_LIT("memory_clock_mhz"), TA_SIGNAL_GPU_MEMORY_CLOCK, MHZ, true},
    {TA_LIT("torch_memory_allocated_mb"), TA_SIGNAL_TORCH_ALLOCATED, MIB, false},
    {TA_LIT("torch_memory_reserved_mb"), TA_SIGNAL_TORCH_RESERVED, MIB, false},
};

enum { TIMESTAMP, METRICS };

/* Devices whose name was noted. */
enum { DEVICES_MAX = 64 };

struct dump {
    struct inferix in;
    struct ta_json *json;
    int64_t time;
    uint64_t named;
    bool saw_cpu, saw_device;
    /* The device that is being read. */
    int64_t device;
    double values[N_DEVICE];
    struct ta_slice name;
};

/* The text of a number, or of a string that may be one; NULL for all else. */
static struct ta_slice number_text(struct dump *d, const struct ta_token *token)
{
    if (token->type != TA_TOKEN_NUMBER && token->type != TA_TOKEN_STRING)
        return (struct ta_slice){NULL, 0};
    if (token->type == TA_TOKEN_STRING)
        ta_quality_add(d->in.quality, TA_Q_STRING_NUMBER, d->json->record.offset,
                       "A reading is written as a string, at byte offset %" PRIu64,
                       d->json->record.offset);
    return ta_json_text(d->json, token);
}

static double value_of(struct dump *d, const struct reading *reading, const struct ta_token *token)
{
    const struct ta_slice text = number_text(d, token);
    if (!text.ptr)
        return NAN;
    const double value = reading->scale == MIB       ? inferix_bytes(ta_text_mib(text))
                         : reading->scale == PERCENT ? inferix_percent(ta_text_double(text))
                         : reading->scale == MHZ     ? ta_text_double(text) * 1e6
                                                     : ta_text_double(text);
    if (!isfinite(value))
        ta_quality_add(d->in.quality, TA_Q_BAD_NUMBER, d->json->record.offset,
                       "A reading is not a number, at byte offset %" PRIu64,
                       d->json->record.offset);
    return reading->known ? inferix_known(value) : value;
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool each_member(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct dump *d = user;
    const struct ta_slice name = {key->ptr, key->len};
    for (size_t i = 0; i < N_DEVICE; i++)
        if (ta_slice_equal(name, of_device[i].key))
            d->values[i] = value_of(d, &of_device[i], value);
    if (ta_slice_equal(name, TA_LIT("device_id"))) {
        const struct ta_slice text = number_text(d, value);
        d->device = text.ptr ? ta_text_integer(text) : TA_MISSING;
    } else if (ta_slice_equal(name, TA_LIT("device_name")) && value->type == TA_TOKEN_STRING) {
        d->name = (struct ta_slice){value->ptr, value->len}; /* of devices, free of escapes */
    }
    return true;
}

static bool each_device(void *user, const struct ta_token *key, const struct ta_token *value)
{
    struct dump *d = user;
    if (value->type != TA_TOKEN_OBJECT)
        return true;
    d->device = TA_MISSING;
    d->name = (struct ta_slice){NULL, 0};
    for (size_t i = 0; i < N_DEVICE; i++)
        d->values[i] = NAN;
    ta_json_members(d->json, value, each_member, d);
    if (d->device < 0) { /* or missing: "gpu_3" says it as well */
        const bool is_numbered = key->len > 4 && memcmp(key->ptr, "gpu_", 4) == 0;
        d->device = is_numbered ? ta_text_integer((struct ta_slice){key->ptr + 4, key->len - 4})
                                : TA_MISSING;
    }
    d->saw_device = true;
    for (size_t i = 0; i < N_DEVICE; i++)
        inferix_sample(&d->in, of_device[i].signal, d->device, d->time, d->values[i]);
    if (d->name.len && d->device >= 0 && d->device < DEVICES_MAX &&
        !(d->named & UINT64_C(1) << d->device)) {
        d->named |= UINT64_C(1) << d->device;
        ta_builder_add_device(d->in.builder, d->name);
    }
    return d->in.status == TA_OK;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void add_reading(struct dump *d, size_t at, double value)
{
    inferix_sample(&d->in, of_sample[at].signal, TA_MISSING, d->time, value);
}

static void drop(struct dump *d, enum ta_quality_code code, const char *what)
{
    ta_quality_add(d->in.quality, code, d->json->record.offset, "%s, at byte offset %" PRIu64, what,
                   d->json->record.offset);
    d->in.dropped++;
}

static void take_record(struct dump *d)
{
    const struct ta_record *record = &d->json->record;
    const int64_t largest = INT64_C(1) << 61;
    const struct ta_slice time = number_text(d, &record->field[TIMESTAMP]);
    d->time = time.ptr ? ta_text_decimal(time, 9) : TA_MISSING;
    if (d->time <= -largest || d->time >= largest) {
        drop(d, TA_Q_BAD_TS, "A sample has no usable time stamp");
        return;
    }
    if (record->field[METRICS].type != TA_TOKEN_OBJECT) {
        drop(d, TA_Q_NOT_AN_EVENT, "A sample has no metrics");
        return;
    }
    d->saw_device = false;
    ta_json_members(d->json, &record->nested[DEVICES], each_device, d);
    if (!d->saw_device) {
        /* Totals, of a sample that names no device; where all are 0 there was none. */
        double values[N_SAMPLE];
        bool has_device = false;
        for (size_t i = GPU_USED; i < N_SAMPLE; i++) {
            values[i] = value_of(d, &of_sample[i], &record->nested[i]);
            has_device |= values[i] > 0;
        }
        for (size_t i = GPU_USED; i < N_SAMPLE && has_device; i++)
            add_reading(d, i, values[i]);
    }
    /* The first reading of a process counts from nothing and says 0. */
    const struct ta_token *usage = &record->nested[CPU_USAGE];
    const double value = value_of(d, &of_sample[CPU_USAGE], usage);
    add_reading(d, CPU_USAGE, d->saw_cpu ? value : inferix_known(value));
    d->saw_cpu |= usage->type != TA_TOKEN_ABSENT;
    for (size_t i = CPU_USED; i < N_CPU; i++)
        add_reading(d, i, value_of(d, &of_sample[i], &record->nested[i]));
    d->in.kept++;
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum ta_status read_items(struct dump *d)
{
    enum { CANCEL_EVERY = 4096 };
    const struct ta_member *member = &d->json->member;
    for (uint64_t i = 1; d->in.status == TA_OK; i++) {
        enum ta_json_item item;
        const enum ta_status status = ta_json_next(d->in.ctx, d->json, &item);
        if (status != TA_OK || item == TA_JSON_END)
            return status;
        if (item == TA_JSON_RECORD)
            take_record(d);
        else if (item == TA_JSON_DROPPED)
            d->in.dropped++;
        else if (ta_slice_equal(ta_json_text(d->json, &member->key), TA_LIT("session_id")) &&
                 member->value.type == TA_TOKEN_STRING)
            ta_builder_set_copy(d->in.builder, ta_json_text(d->json, &member->value),
                                TA_EXACT_FULL);
        if (i % CANCEL_EVERY == 0 && ta_ctx_canceled(d->in.ctx))
            return ta_fail(d->in.ctx, TA_ERR_CANCELED, "Interrupted");
    }
    return d->in.status;
}

static enum ta_status judge(struct dump *d)
{
    struct inferix *in = &d->in;
    ta_builder_skipped(in->builder, d->json->bytes_skipped);
    if (d->json->truncated)
        ta_builder_set(in->builder, TA_SAYS_CUT, 1);
    if (in->kept + in->dropped == 0 && d->json->saw_array && !d->json->truncated) {
        ta_quality_add(in->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "Nothing was sampled");
        return TA_OK;
    }
    return inferix_end(in, "sample of a device or of the host");
}

static enum ta_status read_raw(struct ta_ctx *ctx, struct ta_reader *reader,
                               struct ta_builder *builder)
{
    struct ta_slice nested[N_SAMPLE];
    for (size_t i = 0; i < N_SAMPLE; i++)
        nested[i] = of_sample[i].key;
    const struct ta_record_schema schema = {
        .array = keys[GPU_DATA],
        .other_array = keys[CPU_DATA],
        .mark = TIMESTAMP,
        .field = {[TIMESTAMP] = "timestamp", [METRICS] = "metrics"},
        .nested = METRICS,
        .nested_keys = nested,
        .n_nested_keys = N_SAMPLE,
    };
    struct dump d = {.in = inferix_begin(ctx, reader, builder)};
    d.json = ta_json_new(ctx, reader, &schema);
    if (!d.json)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the window of a file");
    enum ta_status status = read_items(&d);
    if (status == TA_OK)
        status = judge(&d);
    ta_json_free(d.json);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_raw};

TA_PLUGIN(input, inferix_raw, &ops, .title = "Inferix raw samples",
          .summary = "Every reading of every device that Inferix took, one sample at a time",
          .version = "1");
