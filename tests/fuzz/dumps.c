/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes read as a dump, for the targets that do so. */
#include "dumps.h"

#include "analyze/analyze.h"
#include "base/quality.h"
#include "normalize/normalize.h"
#include "ranks/ranks.h"

#include <math.h>

const struct ta_input_ops *fuzz_choose(struct fuzz_run *run, const uint8_t *data, size_t size)
{
    const struct ta_probe probe = {
        {(const char *)data, size < TA_PROBE_SIZE ? size : TA_PROBE_SIZE},
        size <= TA_PROBE_SIZE,
        run->shared.log_formats};
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

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void check_rows(const struct ta_trace *trace, struct fuzz_outcome *out)
{
    size_t n;
    const struct ta_timed_stage *stage = ta_trace_stage_rows(trace, &n);
    for (; n; n--, stage++) {
        check_text(trace, stage->name);
        FUZZ_CHECK(stage->calls == TA_MISSING || stage->calls >= 0);
        out->stages_ns = add(out->stages_ns, stage->total_ns);
    }
    const struct ta_memory_mark *mark = ta_trace_memory_mark_rows(trace, &n);
    for (; n; n--, mark++) {
        check_text(trace, mark->label);
        FUZZ_CHECK(mark->allocated_bytes == TA_MISSING || mark->allocated_bytes >= 0);
        out->memory_bytes = add(out->memory_bytes, mark->allocated_bytes);
    }
    struct ta_samples samples = ta_trace_samples(trace);
    out->rows[TA_DUMP_sample] = samples.left;
    while (ta_samples_next(&samples)) {
        FUZZ_CHECK(isfinite(samples.sample.value) && samples.sample.signal < TA_SIGNAL_COUNT);
        out->samples += samples.sample.value;
    }
    const struct ta_figure *figure = ta_trace_figure_rows(trace, &n);
    for (; n; n--, figure++) {
        check_text(trace, figure->name);
        FUZZ_CHECK(!isinf(figure->value));
        out->figures += isnan(figure->value) ? 0 : figure->value;
    }
    for (int table = 0; table < TA_DUMP_sample; table++)
        ta_trace_rows(trace, (enum ta_dump_table)table, &out->rows[table]);
}

static void analyze(struct fuzz_run *run, struct ta_builder *builder, const struct ta_plan *plan,
                    struct fuzz_outcome *out)
{
    struct ta_trace *trace = NULL;
    FUZZ_CHECK(ta_normalize(&run->ctx, builder, &trace) == TA_OK);
    check_rows(trace, out);
    trace->view.file.path = "fuzz";
    trace->view.file.format = "fuzz";
    struct ta_partial_set *set = ta_partial_set_new(plan);
    FUZZ_CHECK(set && ta_partial_set_map(&run->ctx, trace, set, NULL) == TA_OK);
    ta_partial_set_free(set);
    ta_trace_free(trace);
}

struct fuzz_outcome fuzz_read_dump(struct fuzz_run *run, const struct ta_input_ops *input,
                                   const uint8_t *data, size_t size)
{
    static struct ta_plan plan;
    if (!plan.n)
        FUZZ_CHECK(ta_plan_make(&run->ctx, run->registry, true, &ta_stages, &plan) == TA_OK);
    struct ta_quality quality;
    struct ta_builder builder;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&run->ctx, NULL, fuzz_file(data, size), &quality);
    FUZZ_CHECK(reader);
    FUZZ_CHECK(ta_builder_init(&builder, &quality, plan.needs, plan.keys, plan.n_keys,
                               (size_t)ta_ctx_limit(&run->ctx, TA_LIMIT_NAMES)));
    struct fuzz_outcome out = {.status = input->read(&run->ctx, reader, &builder)};
    FUZZ_CHECK(out.status == TA_OK || out.status == TA_ERR_INPUT);
    out.kept = builder.kept;
    out.dropped = builder.dropped;
    for (enum ta_quality_code code = 0; code < TA_Q_COUNT; code++)
        out.findings = out.findings * 31 + ta_quality_count(&quality, code);
    if (out.status == TA_OK)
        analyze(run, &builder, &plan, &out);
    ta_builder_free(&builder);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    return out;
}
