/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of Diffulex's profiler as rows, from whichever file they were read. */
#include "diffulex.h"
#include "model/says.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

ta_str dx_join(struct reading *r, struct ta_slice section, struct ta_slice key)
{
    char *text = malloc(section.len + key.len + 1);
    if (!text) {
        r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold the name of a metric");
        return TA_STR_ABSENT;
    }
    if (section.len)
        memcpy(text, section.ptr, section.len);
    text[section.len] = '/';
    if (key.len)
        memcpy(text + section.len + 1, key.ptr, key.len);
    const ta_str name =
        ta_builder_string(r->builder, (struct ta_slice){text, section.len + key.len + 1});
    free(text);
    return name;
}

void dx_add_figure(struct reading *r, ta_str name, const char *group, double value,
                   enum ta_unit unit)
{
    if (r->status != TA_OK || !isfinite(value))
        return;
    r->status = ta_rows_figure(r->ctx, r->builder, TA_MISSING, name, group, value, unit);
}

void dx_sections_begin(struct sections *s, struct reading *r)
{
    *s = (struct sections){.r = r, .fingerprint = FNV_START};
}

void dx_sections_add(struct sections *s, const struct section *section)
{
    struct reading *r = s->r;
    if (r->status != TA_OK)
        return;
    /* Digits alone, since the decimal point depends on the locale. */
    char text[400] = "";
    if (isfinite(section->seconds))
        snprintf(text, sizeof text, "%.4f", section->seconds);
    s->fingerprint = (s->fingerprint ^ '/') * FNV_PRIME;
    for (const char *c = text; *c; c++)
        if (*c >= '0' && *c <= '9')
            s->fingerprint = (s->fingerprint ^ (unsigned char)*c) * FNV_PRIME;
    const ta_str name = ta_builder_string(r->builder, section->name);
    const struct ta_timed_stage stage = ta_single_call(name, section->dur_ns);
    r->status = ta_builder_add_stage(r->ctx, r->builder, &stage);
    if (r->status == TA_OK && section->tokens >= 0) {
        /* The time that the tokens were counted over is not in the file, but its rate is. */
        const double ns = (double)section->tokens / section->tokens_per_s * 1e9;
        const bool has_rate = section->tokens && isfinite(ns) && ns > 0 && ns < 0x1p62;
        const struct ta_section_tokens tokens = {
            .rank = TA_MISSING,
            .section = name,
            .tokens = section->tokens,
            .dur_ns = has_rate ? ta_whole(round(ns)) : section->dur_ns,
        };
        r->status = ta_builder_add_section_tokens(r->ctx, r->builder, &tokens);
        if (section->tokens_per_s > 0)
            dx_add_figure(r, dx_join(r, section->name, TA_LIT("tokens_per_s")), "sections",
                          section->tokens_per_s, TA_UNIT_PER_S);
    }
    dx_add_figure(r, dx_join(r, section->name, TA_LIT("gpu_utilization_change")), "sections",
                  section->gpu_change, TA_UNIT_RATIO);
    if (section->memory_change != TA_MISSING)
        dx_add_figure(r, dx_join(r, section->name, TA_LIT("host_memory_change_bytes")), "sections",
                      (double)section->memory_change, TA_UNIT_BYTES);
}

/* What the torch and VizTracer backends write in addition. */
static bool names_product(struct ta_slice key)
{
    static const char *const keys[] = {"trace_file", "output_file", "stacks_file",
                                       "top_table_file"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ta_slice_equal(key, ta_slice_of(keys[i])))
            return true;
    return false;
}

void dx_sections_tag(struct sections *s, struct ta_slice name, struct ta_slice key,
                     struct ta_slice value)
{
    struct reading *r = s->r;
    if (r->status != TA_OK)
        return;
    if (names_product(key)) {
        /* The file name after all folders, as Linux and Windows write them. */
        size_t start = value.len;
        while (start > 0 && value.ptr[start - 1] != '/' && value.ptr[start - 1] != '\\')
            start--;
        ta_builder_add_product(r->builder, ta_slice_from(value, start));
    }
    const ta_str whole = dx_join(r, name, key);
    if (r->status == TA_OK)
        r->status = ta_rows_tag(r->ctx, r->builder, whole, value);
}

/* How Python writes numbers that are none. */
static bool is_not_finite(struct ta_slice text)
{
    static const char *const words[] = {"nan", "inf", "-inf", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ta_slice_equal(text, ta_slice_of(words[i])))
            return true;
    return false;
}

void dx_sections_metric(struct sections *s, struct ta_slice name, struct ta_slice key,
                        struct ta_slice value)
{
    const double number = ta_text_double(value);
    if (is_not_finite(value))
        ta_quality_add(s->r->quality, TA_Q_BAD_NUMBER, TA_NO_OFFSET,
                       "The metric \"%.*s\" is not a finite number",
                       (int)(key.len < 80 ? key.len : 80), key.ptr);
    else if (!isnan(number))
        dx_add_figure(s->r, dx_join(s->r, name, key), "custom", number, TA_UNIT_NONE);
    else if (value.len)
        dx_sections_tag(s, name, key, value);
}

void dx_sections_total(struct sections *s, double tokens_per_s)
{
    if (tokens_per_s > 0)
        dx_add_figure(s->r, ta_builder_string(s->r->builder, TA_LIT("tokens_per_s")), "sections",
                      tokens_per_s, TA_UNIT_PER_S);
}

void dx_sections_end(struct sections *s, enum ta_exactness exactness)
{
    char set[40];
    snprintf(set, sizeof set, "sections %016" PRIx64, s->fingerprint);
    ta_builder_set_copy(s->r->builder, ta_slice_of(set), exactness);
    ta_builder_set_growing(s->r->builder); /* until its clear() is called */
}
