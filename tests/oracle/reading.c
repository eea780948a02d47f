/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files through the program's reader. */
#include "reading.h"

#include "normalize/normalize.h"
#include "read/reader.h"
#include "traceanalyze/analysis.h"

#include <stdio.h>
#include <unistd.h>

const struct ta_slice oracle_keys[ORACLE_KEYS] = {
    {"correlation", 11},
    {"device", 6},
    {"bytes", 5},
    {"stream", 6},
    {"External id", 11},
    {"Python id", 9},
    {"grid", 4},
    {"kernel", 6},
    {"Input Dims", 10},
    {"Call stack", 10},
    {"name", 4},
    {"tab\tkey", 7},
    {"", 0},
    {"schl\xc3\xbcssel", 10},
};

static void take_facts(const struct ta_builder *builder, struct outcome *out)
{
    struct text devices = {0};
    out->truncated = builder->truncated;
    out->kept = builder->kept;
    out->repaired = builder->repaired;
    out->dropped = builder->dropped;
    out->skipped = builder->bytes_skipped;
    out->first_ts = builder->first_ts;
    out->last_ts = builder->last_ts;
    out->rank = builder->rank;
    out->world_size = builder->world_size;
    out->vendor = builder->vendor;
    text_put(&devices, "", 0);
    for (size_t i = 0; i < builder->devices.n; i++) {
        text_put(&devices, builder->devices.at[i], strlen(builder->devices.at[i]));
        text_put(&devices, "\n", 1);
    }
    out->devices = devices.at;
}

void outcome_take(struct ta_ctx *ctx, struct ta_builder *builder, enum ta_status status,
                  struct outcome *out)
{
    struct ta_trace *trace = NULL;
    out->status = status;
    out->causes = strdup(status == TA_OK ? "" : ta_ctx_causes(ctx));
    assert_non_null(out->causes);
    if (status != TA_OK && status != TA_ERR_INPUT)
        fail_msg("reading failed: %s", out->causes);
    if (status == TA_OK)
        assert_int_equal(ta_normalize(ctx, builder, &trace), TA_OK);
    take_facts(builder, out);
    out->trace = trace;
}

void outcome_read(struct fixture *f, const char *path, const struct config *config,
                  struct outcome *out)
{
    struct ta_ctx ctx;
    struct ta_builder builder;
    *out = (struct outcome){.trace = NULL};
    f->shared.cpu = config->cpu;
    f->shared.block = config->block;
    f->shared.inflater = config->inflater;
    fixture_chunk = config->block; /* whatever the reader makes of the wish */
    ta_ctx_init(&ctx, &f->shared);
    ta_quality_init(&out->quality);
    struct ta_reader *reader = ta_reader_open(&ctx, path, -1, &out->quality);
    if (!reader)
        fail_msg("cannot open %s: %s", path, ta_ctx_causes(&ctx));
    if (config->ahead)
        ta_reader_read_ahead(reader);
    assert_true(ta_builder_init(&builder, &out->quality, f->plan.needs, f->plan.keys,
                                f->plan.n_keys, (size_t)ta_ctx_limit(&ctx, TA_LIMIT_NAMES)));
    const struct ta_entry *input = ta_registry_find(f->registry, TA_KIND_input, "chrome_json");
    assert_non_null(input);
    const enum ta_status status = input->plugin.input->read(&ctx, reader, &builder);
    out->early = ta_reader_ended_early(reader);
    outcome_take(&ctx, &builder, status, out);
    ta_builder_free(&builder);
    ta_reader_close(reader);
    fixture_chunk = 0;
    f->shared.cpu = f->shared.inflater = NULL;
    f->shared.block = 0;
}

void outcome_free(struct outcome *out)
{
    ta_trace_free(out->trace);
    ta_quality_free(&out->quality);
    free(out->devices);
    free(out->causes);
    *out = (struct outcome){.trace = NULL};
}

bool config_exists(struct fixture *f, const char *cpu)
{
    static const char text[] = "[{\"ph\": \"X\", \"ts\": 1, \"dur\": 1}]";
    struct ta_ctx ctx;
    struct ta_quality quality;
    struct ta_builder builder;
    ta_quality_init(&quality);
    f->shared.cpu = cpu;
    ta_ctx_init(&ctx, &f->shared);
    struct ta_reader *reader =
        ta_reader_open(&ctx, NULL, fixture_memory(text, sizeof text - 1), &quality);
    assert_true(ta_builder_init(&builder, &quality, 0, NULL, 0, 100));
    const struct ta_entry *input = ta_registry_find(f->registry, TA_KIND_input, "chrome_json");
    const bool exists = reader && input->plugin.input->read(&ctx, reader, &builder) == TA_OK;
    ta_builder_free(&builder);
    ta_reader_close(reader);
    ta_quality_free(&quality);
    f->shared.cpu = NULL;
    return exists;
}

const char *config_text(const struct config *config, char *text, size_t max)
{
    snprintf(text, max, "cpu=%s block=%zu inflater=%s%s", config->cpu, config->block,
             config->inflater ? config->inflater : "default", config->ahead ? " ahead" : "");
    return text;
}
