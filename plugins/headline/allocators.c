/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocator that serves most memory. */
#include <traceanalyze/headline.h>

#include <math.h>

enum { ALLOCATIONS, BYTES, MAX, ALLOCATOR };
static const struct ta_ref reads[] = {
    [ALLOCATIONS] = {"allocations.by_allocator", "allocations"},
    [BYTES] = {"allocations.by_allocator", "bytes"},
    [MAX] = {"allocations.by_allocator", "max_bytes"},
    [ALLOCATOR] = {"allocations.by_allocator", "allocator"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    const size_t row = ta_ref_largest(in, BYTES);
    char n[TA_UNIT_TEXT_MAX], bytes[TA_UNIT_TEXT_MAX], largest[TA_UNIT_TEXT_MAX];
    if (row == SIZE_MAX)
        return;
    const struct ta_slice name = ta_line_name(line, ta_ref_text(in, ALLOCATOR, row), NAME_MOST);
    ta_say(line, "The allocator %.*s serves %s requests of %s in all, the largest of %s.",
           (int)name.len, name.ptr,
           ta_unit_format(n, ta_ref_number(in, ALLOCATIONS, row, NAN), TA_UNIT_COUNT),
           ta_unit_format(bytes, ta_ref_number(in, BYTES, row, NAN), TA_UNIT_BYTES),
           ta_unit_format(largest, ta_ref_number(in, MAX, row, NAN), TA_UNIT_BYTES));
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 5, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, allocators, &ops, .title = "Allocators",
          .summary = "The allocator that serves most memory", .version = "1");
