/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the outputs of nvidia-smi have in common: dates, clocks and readings of a device. */
#ifndef TA_NVIDIA_SMI_H
#define TA_NVIDIA_SMI_H

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>
#include <traceanalyze/plugin.h>

#include <math.h>
#include <strings.h>

enum { SMI_DEVICES = 1024 };

/* Where a column goes, and the factor to the base unit. */
struct smi_signal {
    enum ta_signal signal;
    double factor;
    bool zero_is_none;
};

static inline bool smi_equals(struct ta_slice word, const char *text)
{
    return word.len == strlen(text) && strncasecmp(word.ptr, text, word.len) == 0;
}

/* The factor of a unit; 0 for what is none. */
static inline double smi_unit(struct ta_slice word)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"%", 0.01},      {"MHz", 1e6},        {"GHz", 1e9},       {"MB", 1048576},
                 {"MiB", 1048576}, {"GiB", 1073741824}, {"GB", 1073741824}, {"W", 1},
                 {"C", 1},         {"MB/s", 1e6},       {"MiB/s", 1048576}, {"bool", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (smi_equals(word, units[i].name))
            return units[i].factor;
    return 0;
}

/* Days from 1970 to a date of the Gregorian calendar, as seconds; TA_MISSING for no date. */
static inline int64_t smi_date(int64_t year, int64_t month, int64_t day)
{
    if (year < 1970 || year > 2199 || month < 1 || month > 12 || day < 1 || day > 31)
        return TA_MISSING;
    year -= month <= 2;
    const int64_t era = year / 400, of_era = year % 400;
    const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468) * 86400;
}

/* HH:MM:SS to seconds; TA_MISSING for no clock. */
static inline int64_t smi_clock(struct ta_slice word)
{
    static const int64_t most[3] = {23, 59, 60};
    int64_t seconds = 0;
    if (word.len != 8 || word.ptr[2] != ':' || word.ptr[5] != ':')
        return TA_MISSING;
    for (size_t i = 0; i < 3; i++) {
        const char *digits = ta_slice_at(word, 3 * i);
        const int64_t part = (digits[0] - '0') * 10 + digits[1] - '0';
        if (digits[0] < '0' || digits[0] > '9' || digits[1] < '0' || digits[1] > '9' ||
            part > most[i])
            return TA_MISSING;
        seconds = 60 * seconds + part;
    }
    return seconds;
}

/* A reading in the base unit; NAN is one that the device does not have.  False for no number. */
static inline bool smi_value(struct ta_slice word, const struct smi_signal *of, double *value)
{
    *value = NAN;
    if (smi_equals(word, "-") || smi_equals(word, "N/A"))
        return true;
    const double number = ta_text_double(word);
    if (!isfinite(number) || (number < 0 && of->signal != TA_SIGNAL_GPU_TEMPERATURE))
        return false;
    if (number == 0 && of->zero_is_none)
        return true;
    /* A percentage is divided: 0.01 has no exact double, and 7 % should be the nearest to 0.07. */
    *value = of->factor == 0.01 ? number / 100 : number * of->factor;
    return true;
}

/* Whose readings a row has, and when they were taken. */
struct smi_row {
    int64_t device;
    int64_t time_ns;   /* since the first row */
    int64_t origin_ns; /* of that one, as in struct ta_sample */
};

/* Stamps are of a local clock whose zone nobody wrote down, so they give the time between rows and
 * not the time of day. */
static inline struct ta_sample smi_sample(const struct smi_row *row, enum ta_signal signal,
                                          double value)
{
    const struct ta_sample sample = {.rank = TA_MISSING,
                                     .device = row->device,
                                     .signal = signal,
                                     .time_ns = row->time_ns,
                                     .value = value,
                                     .relative = true,
                                     .origin_ns = row->origin_ns};
    return sample;
}

/* Adds a reading, unless the device does not have it. */
static inline enum ta_status smi_add(struct ta_ctx *ctx, struct ta_builder *builder,
                                     const struct smi_row *row, enum ta_signal signal, double value)
{
    const struct ta_sample sample = smi_sample(row, signal, value);
    return isnan(value) ? TA_OK : ta_builder_add_sample(ctx, builder, &sample);
}

#endif
