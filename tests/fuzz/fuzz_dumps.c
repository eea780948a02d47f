/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a dump: the input plugin that is surest of them reads them, and what it makes of
 * them fits together, is the same when read again, and suits the analyses. */
#include "support.h"

#include "analyze/analyze.h"
#include "base/quality.h"
#include "normalize/normalize.h"
#include "traceanalyze/dump.h"

#include <math.h>

/* The surest plugin, but for that of traces, which has targets of its own; NULL without one. */
static const struct ta_input_ops *choose(struct fuzz_run *run, const uint8_t *data, size_t size)
{
    const struct ta_probe probe = {
        {(const char *)data, size < TA_PROBE_SIZE ? size : TA_PROBE_SIZE}, size <= TA_PROBE_SIZE};
    const struct ta_input_ops *best = NULL;
    int most = 0;
    for (size_t i = 0; i < ta_registry_count(run->registry, TA_KIND_input); i++) {
        const struct ta_plugin *plugin = &ta_registry_at(run->registry, TA_KIND_input, i)->plugin;
        const int sure = plugin->input->sniff(&probe);
        FUZZ_CHECK(sure >= 0 && sure <= 100);
        if (sure > most && strcmp(plugin->id, "chrome_json") != 0) {
            most = sure;
            best = plugin->input;
        }
    }
    return best;
}

static void check_text(const struct ta_trace *trace, ta_str text)
{
    FUZZ_CHECK(text < ta_trace_string_count(trace) || text == TA_STR_ABSENT);
}

static void check_rows(const struct ta_trace *trace)
{
    size_t n;
    const struct ta_timed_stage *stage = ta_trace_stage_rows(trace, &n);
    for (; n; n--, stage++) {
        check_text(trace, stage->name);
        FUZZ_CHECK(stage->calls == TA_MISSING || stage->calls >= 0);
    }
    const struct ta_memory_mark *mark = ta_trace_memory_mark_rows(trace, &n);
    for (; n; n--, mark++) {
        check_text(trace, mark->label);
        FUZZ_CHECK(mark->allocated_bytes == TA_MISSING || mark->allocated_bytes >= 0);
    }
    const struct ta_sample *sample = ta_trace_sample_rows(trace, &n);
    for (; n; n--, sample++)
        FUZZ_CHECK(isfinite(sample->value) && sample->signal < TA_SIGNAL_COUNT);
    const struct ta_figure *figure = ta_trace_figure_rows(trace, &n);
    for (; n; n--, figure++) {
        check_text(trace, figure->name);
        FUZZ_CHECK(!isinf(figure->value));
    }
}

static void analyze(struct fuzz_run *run, struct ta_builder *builder, const struct ta_plan *plan)
{
    struct ta_trace *trace = NULL;
    FUZZ_CHECK(ta_normalize(&run->ctx, builder, &trace) == TA_OK);
    check_rows(trace);
    trace->file.path = "fuzz";
    trace->file.format = "fuzz";
    struct ta_partial_set *set = ta_partial_set_new(plan);
    FUZZ_CHECK(set && ta_partial_set_map(&run->ctx, trace, set) == TA_OK);
    ta_partial_set_free(set);
    ta_trace_free(trace);
}

/* What became of an input, as one number. */
static uint64_t read_dump(struct fuzz_run *run, const struct ta_input_ops *input,
                          const struct ta_plan *plan, const uint8_t *data, size_t size)
{
    struct ta_quality quality;
    struct ta_builder builder;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&run->ctx, NULL, fuzz_file(data, size), &quality);
    FUZZ_CHECK(reader);
    FUZZ_CHECK(ta_builder_init(&builder, &quality, plan->needs, plan->keys, plan->n_keys,
                               (size_t)ta_ctx_limit(&run->ctx, TA_LIMIT_NAMES)));
    const enum ta_status status = input->read(&run->ctx, reader, &builder);
    FUZZ_CHECK(status == TA_OK || status == TA_ERR_INPUT);
    uint64_t outcome = (builder.kept * 31 + builder.dropped) * 31 + (uint64_t)status;
    for (enum ta_quality_code code = 0; code < TA_Q_COUNT; code++)
        outcome = outcome * 31 + ta_quality_count(&quality, code);
    if (status == TA_OK)
        analyze(run, &builder, plan);
    ta_builder_free(&builder);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ta_plan plan;
    struct fuzz_run *run = fuzz_begin();
    const struct ta_input_ops *input = choose(run, data, size);
    if (!input)
        return -1;
    if (!plan.n)
        FUZZ_CHECK(ta_plan_make(&run->ctx, run->registry, &plan) == TA_OK);
    const uint64_t first = read_dump(run, input, &plan, data, size);
    FUZZ_CHECK(read_dump(run, input, &plan, data, size) == first);
    return 0;
}
