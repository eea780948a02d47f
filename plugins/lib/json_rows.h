/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a small JSON document into rows of dumps: numbers with their units, each unusable one
 * accounted for; rows until one fails; counts of what was kept. */
#ifndef TA_LIB_JSON_ROWS_H
#define TA_LIB_JSON_ROWS_H

#include "base/convert.h"
#include "lib/rows.h"

#include <traceanalyze/document.h>
#include <traceanalyze/dump.h>

/* One file.  The first failure is kept, and nothing is added after it. */
struct ta_json_rows {
    struct ta_ctx *ctx;
    struct ta_builder *builder;
    struct ta_quality *quality;
    enum ta_status status;
    uint64_t kept, dropped;
};

/* Adds a row of a kind of dump.h and counts it. */
#define TA_JSON_ROWS_ADD(rows, kind, row)                                                          \
    do {                                                                                           \
        if ((rows)->status == TA_OK)                                                               \
            (rows)->status = ta_builder_add_##kind((rows)->ctx, (rows)->builder, row);             \
        (rows)->kept++;                                                                            \
    } while (0)

/* A value as a number that is not negative, times 10^shift (9: seconds become ns).  TA_MISSING
 * without one; what is there, not null and no such number is accounted for.  Sums of a few such
 * numbers fit. */
static inline int64_t ta_json_rows_value(struct ta_json_rows *rows, const json_t *value,
                                         const char *key, int shift)
{
    const int64_t number = ta_document_decimal(value, shift);
    if (number >= 0 && number < INT64_C(1) << 60)
        return number;
    if (value && !json_is_null(value))
        ta_quality_add(rows->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "\"%.80s\" is not a number within range", key);
    return TA_MISSING;
}

/* A member, likewise. */
static inline int64_t ta_json_rows_decimal(struct ta_json_rows *rows, const json_t *object,
                                           const char *key, int shift)
{
    return ta_json_rows_value(rows, json_object_get(object, key), key, shift);
}

/* A member in MiB as bytes, likewise. */
static inline int64_t ta_json_rows_mib(struct ta_json_rows *rows, const json_t *object,
                                       const char *key)
{
    const json_t *value = json_object_get(object, key);
    const int64_t bytes = ta_document_mib(value);
    if (bytes >= 0)
        return bytes;
    if (value && !json_is_null(value))
        ta_quality_add(rows->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "\"%.80s\" is not a number within range", key);
    return TA_MISSING;
}

/* Counts a record of which nothing can be used. */
static inline void ta_json_rows_drop(struct ta_json_rows *rows, const char *what)
{
    rows->dropped++;
    ta_quality_add(rows->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET, "%s", what);
}

/* A member of the type; NULL without one, accounted for when it is there and is something else. */
static inline json_t *ta_json_rows_part(struct ta_json_rows *rows, const json_t *object,
                                        const char *key, json_type type)
{
    json_t *part = json_object_get(object, key);
    if (!part || json_is_null(part))
        return NULL;
    if (json_typeof(part) == type)
        return part;
    rows->dropped++;
    ta_quality_add(rows->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET,
                   "\"%s\" is not of the expected type", key);
    return NULL;
}

/* A member of any type as a tag; none where it is missing or null. */
static inline void ta_json_rows_tag(struct ta_json_rows *rows, const char *key, const json_t *value)
{
    char buffer[256];
    if (rows->status == TA_OK && value && !json_is_null(value))
        rows->status = ta_rows_tag(rows->ctx, rows->builder,
                                   ta_builder_string(rows->builder, ta_slice_of(key)),
                                   ta_document_show(value, buffer, sizeof buffer));
}

static inline void ta_json_rows_figure(struct ta_json_rows *rows, const char *name,
                                       const char *group, double value, enum ta_unit unit)
{
    if (rows->status == TA_OK)
        rows->status =
            ta_rows_figure(rows->ctx, rows->builder, TA_MISSING,
                           ta_builder_string(rows->builder, ta_slice_of(name)), group, value, unit);
    rows->kept++;
}

/* Counts the records; `what` is what a file of this kind has, for the refusal of one without. */
static inline enum ta_status ta_json_rows_end(struct ta_json_rows *rows, const char *what)
{
    ta_builder_count(rows->builder, rows->kept, 0, rows->dropped);
    if (rows->status == TA_OK && rows->kept == 0)
        return ta_fail(rows->ctx, TA_ERR_INPUT, "Nothing in it can be used: no %s", what);
    return rows->status;
}

#endif
