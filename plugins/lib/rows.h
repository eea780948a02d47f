/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of dumps that several input plugins add alike. */
#ifndef TA_LIB_ROWS_H
#define TA_LIB_ROWS_H

#include <traceanalyze/dump.h>
#include <traceanalyze/report.h>

/* Something that the file says of itself, of no rank. */
static inline enum ta_status ta_rows_tag(struct ta_ctx *ctx, struct ta_builder *builder, ta_str key,
                                         struct ta_slice value)
{
    const struct ta_tag tag = {
        .rank = TA_MISSING, .key = key, .value = ta_builder_string(builder, value)};
    return ta_builder_add_tag(ctx, builder, &tag);
}

/* A figure that the file has worked out. */
static inline enum ta_status ta_rows_figure(struct ta_ctx *ctx, struct ta_builder *builder,
                                            int64_t rank, ta_str name, const char *group,
                                            double value, enum ta_unit unit)
{
    const struct ta_figure figure = {.rank = rank,
                                     .name = name,
                                     .group = ta_builder_string(builder, ta_slice_of(group)),
                                     .value = value,
                                     .unit = (int)unit};
    return ta_builder_add_figure(ctx, builder, &figure);
}

#endif
