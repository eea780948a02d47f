/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of Inferix's files share: rows that are added until one fails,
 * figures with their units.
 *
 * The report, the flat summary, the aggregated report and the extract are read whole, which bounds
 * them at the 256 MiB of ta_document_read(): a report grows by some 1.5 kB per denoising step.  The
 * raw dump alone grows with the run time, and is read as a stream. */
#ifndef TA_LIB_INFERIX_H
#define TA_LIB_INFERIX_H

#include "base/convert.h"
#include "lib/outer_keys.h"
#include "lib/rows.h"

#include <traceanalyze/document.h>
#include <traceanalyze/input.h>
#include <traceanalyze/plugin.h>

#include <math.h>
#include <stdio.h>

/* ---- recognizing ------------------------------------------------------------------------- */

static inline bool inferix_holds(struct ta_slice text, const char *what)
{
    return text.len && memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* One file.  The first failure is remembered, and nothing is added after it. */
struct inferix {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    enum ta_status status;
    uint64_t kept, dropped;
    int64_t rank; /* of the rows that are added; TA_MISSING: the file's */
};

static inline struct inferix inferix_begin(struct ta_ctx *ctx, struct ta_reader *reader,
                                           struct ta_builder *builder)
{
    return (struct inferix){
        .ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader), .rank = TA_MISSING};
}

static inline enum ta_status inferix_end(struct inferix *in, const char *what)
{
    ta_builder_count(in->builder, in->kept, 0, in->dropped);
    if (in->status == TA_OK && in->kept == 0)
        return ta_fail(in->ctx, TA_ERR_INPUT, "Nothing in it can be used: no %s", what);
    return in->status;
}

/* Adds a row and counts no record. */
#define INFERIX_ADD(in, kind, ...)                                                                 \
    do {                                                                                           \
        if ((in)->status == TA_OK)                                                                 \
            (in)->status = ta_builder_add_##kind((in)->ctx, (in)->builder, __VA_ARGS__);           \
    } while (0)

static inline void inferix_drop(struct inferix *in, const char *what)
{
    in->dropped++;
    ta_quality_add(in->quality, TA_Q_NOT_AN_EVENT, TA_NO_OFFSET, "%s", what);
}

static inline ta_str inferix_intern(struct inferix *in, struct ta_slice text)
{
    return text.ptr ? ta_builder_string(in->builder, text) : TA_STR_ABSENT;
}

static inline ta_str inferix_text(struct inferix *in, const json_t *value)
{
    return inferix_intern(in, ta_document_text(value));
}

/* A member that is an object, or an array; NULL and an account when it is something else. */
static inline json_t *inferix_member(struct inferix *in, const json_t *parent, const char *key,
                                     bool array)
{
    json_t *value = json_object_get(parent, key);
    if (!value || json_is_null(value))
        return NULL;
    if (array ? json_is_array(value) : json_is_object(value))
        return value;
    ta_quality_add(in->quality, TA_Q_NOT_AN_EVENT, TA_NO_OFFSET, "\"%s\" is not %s", key,
                   array ? "an array" : "an object");
    return NULL;
}

static inline json_t *inferix_object(struct inferix *in, const json_t *parent, const char *key)
{
    return inferix_member(in, parent, key, false);
}

static inline json_t *inferix_array(struct inferix *in, const json_t *parent, const char *key)
{
    return inferix_member(in, parent, key, true);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Accounts for a value that is no number, and for one that is a text: Python writes values of NumPy
 * and of tensors as text. */
static inline void inferix_check(struct inferix *in, const json_t *value, const char *key,
                                 bool is_number)
{
    if (!value || json_is_null(value))
        return;
    if (!is_number)
        ta_quality_add(in->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "\"%s\" is not a number within range", key);
    else if (ta_document_is_text(value))
        ta_quality_add(in->quality, TA_Q_STRING_NUMBER, TA_NO_OFFSET,
                       "\"%s\" is written as a string", key);
}

/* A member times 10^shift: with 9, seconds become ns.  Sums and differences of a few such numbers
 * fit. */
static inline int64_t inferix_decimal(struct inferix *in, const json_t *object, const char *key,
                                      int shift)
{
    const int64_t largest = INT64_C(1) << 61;
    const json_t *value = json_object_get(object, key);
    const int64_t number = ta_document_decimal(value, shift);
    const bool is_number = number > -largest && number < largest;
    inferix_check(in, value, key, is_number);
    return is_number ? number : TA_MISSING;
}

static inline int64_t inferix_mib(struct inferix *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const int64_t bytes = ta_document_mib(value);
    inferix_check(in, value, key, bytes != TA_MISSING);
    return bytes;
}

static inline int64_t inferix_integer(struct inferix *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const int64_t number = ta_document_integer(value);
    inferix_check(in, value, key, number != TA_MISSING);
    return number;
}

/* How many; less than none is no number of them. */
static inline int64_t inferix_count(struct inferix *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const int64_t number = ta_document_integer(value);
    inferix_check(in, value, key, number >= 0);
    return number < 0 ? TA_MISSING : number;
}

static inline double inferix_real(struct inferix *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const double number = ta_document_double(value);
    inferix_check(in, value, key, isfinite(number));
    return number;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Adds a sample unless the value is missing. */
static inline void inferix_sample(struct inferix *in, enum ta_signal signal, int64_t device,
                                  int64_t time_ns, double value)
{
    const struct ta_sample sample = {
        .rank = in->rank, .device = device, .signal = signal, .time_ns = time_ns, .value = value};
    if (isfinite(value))
        INFERIX_ADD(in, sample, &sample);
}

static inline double inferix_percent(double percent)
{
    return percent / 100;
}

/* MiB that are missing are NAN. */
static inline double inferix_bytes(int64_t bytes)
{
    return bytes == TA_MISSING ? (double)NAN : (double)bytes;
}

/* A reading that failed leaves 0. */
static inline double inferix_known(double value)
{
    return value > 0 || value < 0 ? value : (double)NAN;
}

/* Readings of all devices together.  Where there is none, Inferix writes zeros. */
struct inferix_gpu {
    double used, total, utilization, temperature, power;
};

/* False without a device. */
static inline bool inferix_gpu_sample(struct inferix *in, int64_t time_ns,
                                      const struct inferix_gpu *gpu)
{
    if (!(gpu->total > 0 || gpu->used > 0 || gpu->utilization > 0 || gpu->temperature > 0 ||
          gpu->power > 0))
        return false;
    inferix_sample(in, TA_SIGNAL_GPU_UTILIZATION, TA_MISSING, time_ns,
                   inferix_percent(gpu->utilization));
    inferix_sample(in, TA_SIGNAL_GPU_MEMORY_USED, TA_MISSING, time_ns, gpu->used);
    inferix_sample(in, TA_SIGNAL_GPU_MEMORY_TOTAL, TA_MISSING, time_ns, inferix_known(gpu->total));
    inferix_sample(in, TA_SIGNAL_GPU_TEMPERATURE, TA_MISSING, time_ns,
                   inferix_known(gpu->temperature));
    inferix_sample(in, TA_SIGNAL_GPU_POWER, TA_MISSING, time_ns, inferix_known(gpu->power));
    return true;
}

/* Readings of the host; memory as bytes or TA_MISSING. */
static inline void inferix_cpu_sample(struct inferix *in, int64_t time_ns, double usage,
                                      int64_t used, int64_t total)
{
    inferix_sample(in, TA_SIGNAL_CPU_UTILIZATION, TA_MISSING, time_ns, inferix_percent(usage));
    inferix_sample(in, TA_SIGNAL_CPU_MEMORY_USED, TA_MISSING, time_ns, inferix_bytes(used));
    inferix_sample(in, TA_SIGNAL_CPU_MEMORY_TOTAL, TA_MISSING, time_ns,
                   inferix_known(inferix_bytes(total)));
}

/* ---- what a session says about itself ------------------------------------------------------- */

static inline void inferix_tags(struct inferix *in, json_t *tags)
{
    const int64_t rank = ta_document_integer(json_object_get(tags, "rank"));
    const int64_t world_size = ta_document_integer(json_object_get(tags, "world_size"));
    if (rank >= 0)
        ta_builder_set(in->builder, TA_SAYS_RANK, rank);
    if (world_size > 0)
        ta_builder_set(in->builder, TA_SAYS_WORLD_SIZE, world_size);
    const char *key;
    json_t *value;
    json_object_foreach(tags, key, value)
    {
        char buffer[256];
        if (json_is_null(value))
            continue;
        const struct ta_tag tag = {
            .rank = TA_MISSING,
            .key = inferix_intern(in, ta_slice_of(key)),
            .value = inferix_intern(in, ta_document_show(value, buffer, sizeof buffer))};
        INFERIX_ADD(in, tag, &tag);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The ending of a key that shows its unit, and what replaces it in our name. */
struct inferix_unit {
    const char *ending, *instead;
    enum ta_unit unit;
    enum { INFERIX_PLAIN, INFERIX_HUNDREDTH, INFERIX_MS, INFERIX_S, INFERIX_MIB, INFERIX_WH } scale;
};

static inline const struct inferix_unit *inferix_unit_of(struct ta_slice key)
{
    static const struct inferix_unit units[] = {
        {"_ms", "_ns", TA_UNIT_NS, INFERIX_MS},
        {"_mb", "_bytes", TA_UNIT_BYTES, INFERIX_MIB},
        {"_bytes", "_bytes", TA_UNIT_BYTES, INFERIX_PLAIN},
        {"_percent", "_ratio", TA_UNIT_RATIO, INFERIX_HUNDREDTH},
        {"percentage_of_total", "share_ratio", TA_UNIT_RATIO, INFERIX_HUNDREDTH},
        {"_celsius", "_celsius", TA_UNIT_CELSIUS, INFERIX_PLAIN},
        {"_temperature", "_temperature", TA_UNIT_CELSIUS, INFERIX_PLAIN},
        {"_temperature_c", "_temperature", TA_UNIT_CELSIUS, INFERIX_PLAIN},
        {"_watts", "_watts", TA_UNIT_WATT, INFERIX_PLAIN},
        {"_energy_wh", "_energy_joules", TA_UNIT_JOULE, INFERIX_WH},
        {"_ratio", "_ratio", TA_UNIT_RATIO, INFERIX_PLAIN},
        {"_rate", "_rate", TA_UNIT_RATIO, INFERIX_PLAIN},
        {"_usage", "_usage_ratio", TA_UNIT_RATIO, INFERIX_HUNDREDTH},
        {"_utilization", "_utilization_ratio", TA_UNIT_RATIO, INFERIX_HUNDREDTH},
        {"fps", "fps", TA_UNIT_PER_S, INFERIX_PLAIN},
        {"bps", "bps", TA_UNIT_PER_S, INFERIX_PLAIN},
        {"_time", "_time_ns", TA_UNIT_NS, INFERIX_S},
        {"duration", "duration_ns", TA_UNIT_NS, INFERIX_S},
        {"_block_size", "_block_size", TA_UNIT_COUNT, INFERIX_PLAIN},
        {"timestep", "timestep", TA_UNIT_NONE, INFERIX_PLAIN},
        {"_efficiency", "_efficiency", TA_UNIT_NONE, INFERIX_PLAIN},
        {"", "", TA_UNIT_COUNT, INFERIX_PLAIN},
    };
    const struct inferix_unit *unit = units;
    while (strlen(unit->ending) > key.len || memcmp(ta_slice_end(key) - strlen(unit->ending),
                                                    unit->ending, strlen(unit->ending)) != 0)
        unit++;
    return unit;
}

/* The number of a text in our unit; NAN when it is none. */
static inline double inferix_scaled(const struct inferix_unit *unit, struct ta_slice text)
{
    switch (unit->scale) {
    case INFERIX_HUNDREDTH:
        return inferix_percent(ta_text_double(text));
    case INFERIX_MS:
        return inferix_bytes(ta_text_decimal(text, 6));
    case INFERIX_S:
        return inferix_bytes(ta_text_decimal(text, 9));
    case INFERIX_MIB:
        return inferix_bytes(ta_text_mib(text));
    case INFERIX_WH:
        return ta_text_double(text) * 3600;
    default:
        return ta_text_double(text);
    }
}

static inline void inferix_add_figure(struct inferix *in, int64_t rank, const char *group,
                                      struct ta_slice name, double value, enum ta_unit unit)
{
    if (in->status == TA_OK)
        in->status = ta_rows_figure(in->ctx, in->builder, rank, inferix_intern(in, name), group,
                                    value, unit);
}

enum { INFERIX_PREFIX_MAX = 256, INFERIX_KEY_MAX = 64 };

/* Adds a figure called "prefix/key" or "key", its unit spelled as ours, and what was made of it
 * over all ranks, if that is its meaning: "gpu/memory_used_bytes_max".  False when the text is no
 * number. */
static inline bool inferix_figure_of(struct inferix *in, int64_t rank, const char *group,
                                     struct ta_slice prefix, struct ta_slice key,
                                     struct ta_slice made, struct ta_slice text)
{
    char name[INFERIX_PREFIX_MAX + 3 * INFERIX_KEY_MAX];
    const struct inferix_unit *unit = inferix_unit_of(key);
    const double value = text.len ? inferix_scaled(unit, text) : (double)NAN;
    if (!isfinite(value) || key.len > INFERIX_KEY_MAX || made.len > INFERIX_KEY_MAX)
        return false;
    size_t cut = prefix.len < INFERIX_PREFIX_MAX ? prefix.len : INFERIX_PREFIX_MAX;
    while (cut < prefix.len && cut > 0 && (prefix.ptr[cut] & 0xc0) == 0x80)
        cut--; /* to the start of a character */
    const int stem = (int)(key.len - strlen(unit->ending));
    const int length =
        snprintf(name, sizeof name, "%.*s%s%.*s%s%.*s", (int)cut, cut ? prefix.ptr : "",
                 cut ? "/" : "", stem, key.ptr, unit->instead, (int)made.len, made.ptr);
    inferix_add_figure(in, rank, group, (struct ta_slice){name, (size_t)length}, value, unit->unit);
    return true;
}

/* The same of the rank of the rows. */
static inline bool inferix_figure(struct inferix *in, const char *group, struct ta_slice prefix,
                                  struct ta_slice key, struct ta_slice text)
{
    return inferix_figure_of(in, in->rank, group, prefix, key, TA_LIT(""), text);
}

/* Every number of an object.  `known` leaves out zeros. */
static inline void inferix_figures(struct inferix *in, const char *group, json_t *object,
                                   bool known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const struct ta_slice name = ta_slice_of(key);
        const bool is_text = inferix_holds(name, "readable");
        if (is_text || json_is_boolean(value) || (known && !(ta_document_double(value) > 0)))
            continue;
        inferix_figure(in, group, TA_LIT(""), name, ta_document_text(value));
    }
}

#endif
