/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offloading that came or went: models that wait in the memory of the host while others are used
 * leave the device less to hold. */
#include "compare/compare.h"
#include "report/sections.h"
#include "report/report.h"
#include "report/unit.h"

/* Models are of this size at least; smaller changes are of tensors. */
#define LEAST_BYTES (INT64_C(1) << 30)
/* Memory without over with. */
#define LEAST_RATIO 1.5

static bool is_more(int64_t less, int64_t more)
{
    return more - less >= LEAST_BYTES && (double)more >= LEAST_RATIO * (double)less;
}

/* −1 when it grew, 1 when it shrank by what models take, else 0. */
static int fell(const int64_t bytes[TA_DIFF_SIDES])
{
    if (is_more(bytes[TA_DIFF_BASE], bytes[TA_DIFF_NEW]))
        return -1;
    return is_more(bytes[TA_DIFF_NEW], bytes[TA_DIFF_BASE]) ? 1 : 0;
}

static void add_finding(struct diff *diff, struct ta_section_builder *out,
                        const struct ta_evidence *evidence)
{
    const struct diff_offload *offload = &diff->offload;
    char pair[TA_UNIT_PAIR_MAX], times[TA_UNIT_PAIR_MAX];
    const bool lost = offload->sign < 0;
    const bool slower = diff->cause.ns[TA_DIFF_NEW] > diff->cause.ns[TA_DIFF_BASE];
    const bool coincides = diff->cause.name.len && lost == slower;
    ta_unit_format_pair(pair, (double)offload->bytes[0], (double)offload->bytes[1], TA_UNIT_BYTES);
    ta_unit_format_pair(times, diff->cause.ns[TA_DIFF_BASE], diff->cause.ns[TA_DIFF_NEW],
                        TA_UNIT_NS);
    const char *title = ta_arena_printf(
        &diff->arena, "Offloading %s: %s %s%s%.*s%s%s", lost ? "lost" : "gained", offload->what,
        pair, coincides ? ", coincides with " : "", coincides ? (int)diff->cause.name.len : 0,
        coincides ? diff->cause.name.ptr : "", coincides ? " " : "", coincides ? times : "");
    const struct ta_finding finding = {
        .id = lost ? "offloading-lost" : "offloading-gained",
        .rule = "diff",
        .title = title ? title : "",
        .advice = lost ? "Models that were moved to the host between their uses stay on the device "
                         "now. Where that leaves too little memory for other stages they spill or "
                         "fall back to slow paths: offload again, or make room."
                       : "Models are moved to the host between their uses now: the device holds "
                         "less, and waits for copies. Keep them resident where they fit.",
        .severity = lost && slower ? TA_HIGH : TA_MEDIUM,
        .evidence = evidence,
        .n_evidence = 1,
        .saving_low_ns = TA_MISSING,
        .saving_high_ns = TA_MISSING,
        .confidence = coincides ? 0.7 : 0.5,
        .threshold = "at least 1 GiB and 1.5 times as much in one run as in the other",
    };
    ta_add_finding(out, &finding);
}

/* The label where memory changed most shows which stage holds it; else the peak shows that it is
 * held. */
static bool add(struct diff *diff, struct ta_section_builder *out)
{
    const struct ta_slice label = diff->level.label;
    const bool known = label.len > 0;
    const int64_t bytes[] = {known ? diff->level.bytes[TA_DIFF_BASE]
                                   : diff_amount(&diff->in[TA_DIFF_BASE], TA_AS_PEAK_ALLOCATED, 0),
                             known ? diff->level.bytes[TA_DIFF_NEW]
                                   : diff_amount(&diff->in[TA_DIFF_NEW], TA_AS_PEAK_ALLOCATED, 0)};
    const int sign = bytes[TA_DIFF_BASE] && bytes[TA_DIFF_NEW] ? fell(bytes) : 0;
    /* Another model or other inputs need other memory, and of snapshots the call sites say what
     * changed. */
    const bool is_other = diff->is_other_work || (!known && diff->has_other_shapes);
    if (!sign || is_other || (!known && !diff->is_timed))
        return true;
    const char *what =
        known ? ta_arena_printf(&diff->arena, "memory at %.*s", (int)label.len, label.ptr)
              : "peak memory";
    diff->offload = (struct diff_offload){sign, what ? what : "memory", {bytes[0], bytes[1]}};
    const struct ta_evidence evidence = {
        .table = known ? "diff.memory_levels" : "diff.metrics",
        .column = known ? "delta_bytes" : "delta",
        .row = known
                   ? ta_text(label)
                   : ta_text(ta_slice_of(diff->in[TA_DIFF_NEW].list[TA_AS_PEAK_ALLOCATED].scalar)),
        .value = ta_int(bytes[TA_DIFF_NEW] - bytes[TA_DIFF_BASE]),
        .unit = TA_UNIT_BYTES_CHANGE};
    add_finding(diff, out, &evidence);
    return true;
}

const struct diff_part diff_of_offloading = {
    .declares = {.name = "diff.offloading"}, .section = TA_SECTION_FINDINGS, .add = add};
