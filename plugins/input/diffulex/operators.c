/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operator rows of torch's profiler as Diffulex saves and merges them. */
#include "base/vec.h"
#include "diffulex.h"
#include "parse/text/operator_table.h"

#include <stdlib.h>

void dx_operators_begin(struct operators *o, struct reading *r)
{
    *o = (struct operators){.r = r, .all_markers = true};
}

static bool is_some(int64_t value)
{
    return value != TA_MISSING && value != 0;
}

void dx_operators_add(struct operators *o, const struct operator_row *row)
{
    struct reading *r = o->r;
    const struct ta_operator_sum *sum = &row->sum;
    if (!ta_vec_grow((void **)&o->at, &o->max, o->n, sizeof *o->at)) {
        r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
        return;
    }
    o->any_device |=
        is_some(sum->device_ns) || is_some(sum->self_device_ns) || is_some(sum->self_device_bytes);
    o->all_markers &= row->is_marker;
    o->at[o->n++] = *row;
}

/* Where no operator has device time there was no device: that is not recorded, not 0. */
static void add_rows(struct operators *o)
{
    struct reading *r = o->r;
    for (size_t i = 0; i < o->n && r->status == TA_OK; i++) {
        struct ta_operator_sum *row = &o->at[i].sum;
        if (!o->any_device)
            row->device_ns = row->self_device_ns = row->self_device_bytes = TA_MISSING;
        r->status = ta_builder_add_operator_sum(r->ctx, r->builder, row);
    }
    free(o->at);
    o->at = NULL;
}

/* The operators of a profile are saved as JSON, CSV and text, which find each other by the sum of
 * their times: the text has it below the table. */
void dx_operators_end(struct operators *o, enum ta_exactness exactness)
{
    char set[TA_OPERATOR_SET_SIZE];
    int64_t sum_ns = 0;
    for (size_t i = 0; i < o->n; i++)
        if (o->at[i].sum.self_cpu_ns > 0)
            sum_ns = ta_add_sat(sum_ns, o->at[i].sum.self_cpu_ns);
    add_rows(o);
    if (sum_ns > 0)
        ta_builder_set_copy(o->r->builder, ta_operator_set(set, sum_ns), exactness);
}

/* Merged tables repeat what the files of the profiles have, whatever those are called. */
void dx_operators_merged(struct operators *o, bool are_all)
{
    add_rows(o);
    ta_builder_set_copy(o->r->builder, TA_LIT(""), are_all ? TA_EXACT_TEXT : TA_EXACT_CONSOLE);
}

int64_t dx_rank_of_profile(struct ta_slice profile)
{
    const struct ta_slice mark = TA_LIT(".rank");
    int64_t rank = TA_MISSING;
    for (const char *at; (at = memmem(profile.ptr, profile.len, mark.ptr, mark.len));) {
        profile.len -= (size_t)(at - profile.ptr) + mark.len;
        profile.ptr = at + mark.len;
        size_t digits = 0;
        while (digits < profile.len && profile.ptr[digits] >= '0' && profile.ptr[digits] <= '9')
            digits++;
        const bool ends = digits == profile.len || profile.ptr[digits] == '.';
        const int64_t number = ta_text_integer((struct ta_slice){profile.ptr, digits});
        if (digits && ends && number != TA_MISSING)
            rank = number;
    }
    return rank;
}
