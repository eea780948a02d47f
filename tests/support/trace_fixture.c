/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces from texts in memory. */
#include "trace_fixture.h"

#include "normalize/normalize.h"
#include "ranks/ranks.h"
#include "read/reader.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- a run ---------------------------------------------------------------------------- */

void fixture_open(struct fixture *f)
{
    *f = (struct fixture){.registry = NULL};
    ta_shared_init(&f->shared);
    ta_ctx_init(&f->ctx, &f->shared);
    f->registry = ta_registry_new(&f->ctx);
    assert_non_null(f->registry);
    assert_true(ta_log_formats_init(&f->log_formats, f->registry));
    f->shared.log_formats = &f->log_formats;
    assert_int_equal(ta_plan_make(&f->ctx, f->registry, true, &ta_stages, &f->plan), TA_OK);
}

void fixture_close(struct fixture *f)
{
    ta_plan_free(&f->plan);
    ta_log_formats_free(&f->log_formats);
    ta_registry_free(f->registry);
}

struct fixture fixture;

int fixture_set_up(void **state)
{
    (void)state;
    fixture_open(&fixture);
    return 0;
}

int fixture_tear_down(void **state)
{
    (void)state;
    fixture_close(&fixture);
    return 0;
}

size_t fixture_chunk;

/* Tests are linked with --wrap=ta_reader_read, so that a reader can be made to stutter. */
size_t __real_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max);
size_t __wrap_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max);

size_t __wrap_ta_reader_read(struct ta_reader *reader, char *buffer, size_t max)
{
    return __real_ta_reader_read(reader, buffer,
                                 fixture_chunk && fixture_chunk < max ? fixture_chunk : max);
}

/* ---- traces --------------------------------------------------------------------------- */

static void read_bytes(struct fixture *f, const char *id, const void *bytes, size_t size,
                       bool normalize, struct reading *r)
{
    *r = (struct reading){.trace = NULL};
    ta_quality_init(&r->quality);
    struct ta_reader *reader =
        ta_reader_open(&f->ctx, NULL, fixture_memory(bytes, size), &r->quality);
    assert_non_null(reader);
    struct ta_builder builder;
    assert_true(ta_builder_init(&builder, &r->quality, f->plan.needs, f->plan.keys, f->plan.n_keys,
                                (size_t)ta_ctx_limit(&f->ctx, TA_LIMIT_NAMES)));
    builder.n_passing = f->drops_args ? f->plan.n_passing : 0;
    builder.sampled = f->drops_args ? f->plan.sampled : 0;
    const struct ta_entry *input = ta_registry_find(f->registry, TA_KIND_input, id);
    assert_non_null(input);
    r->status = input->plugin.input->read(&f->ctx, reader, &builder);
    if (r->status != TA_OK && r->status != TA_ERR_INPUT)
        fail_msg("reading failed: %s", ta_ctx_causes(&f->ctx));
    if (r->status == TA_OK && normalize)
        assert_int_equal(ta_normalize(&f->ctx, &builder, &r->trace), TA_OK);
    r->early = ta_reader_ended_early(reader);
    r->truncated = builder.truncated;
    r->kept = builder.kept;
    r->repaired = builder.repaired;
    r->dropped = builder.dropped;
    r->skipped = builder.bytes_skipped;
    r->rank = builder.rank;
    r->world_size = builder.world_size;
    r->vendor = builder.vendor;
    if (r->trace) {
        r->trace->view.file.path = "memory.json";
        r->trace->view.file.format = id;
        r->trace->view.file.bytes = ta_reader_bytes(reader);
        r->trace->view.file.raw_bytes = ta_reader_raw_bytes(reader);
    }
    ta_builder_free(&builder);
    ta_reader_close(reader);
}

void fixture_read(struct fixture *f, const void *bytes, size_t size, struct reading *r)
{
    read_bytes(f, "chrome_json", bytes, size, true, r);
}

void fixture_scan(struct fixture *f, const void *bytes, size_t size, struct reading *r)
{
    read_bytes(f, "chrome_json", bytes, size, false, r);
}

void fixture_read_events(struct fixture *f, const char *events, struct reading *r)
{
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    text_put(&json, events, strlen(events));
    text_add(&json, "{}]}");
    for (char *c = json.at; *c; c++)
        if (*c == '\'')
            *c = '"';
    fixture_read_text(f, json.at, r);
    assert_int_equal(r->status, TA_OK);
    text_free(&json);
}

void fixture_read_as(struct fixture *f, const char *input, const void *bytes, size_t size,
                     struct reading *r)
{
    read_bytes(f, input, bytes, size, true, r);
}

int fixture_sniff(struct fixture *f, const char *input, const void *bytes, size_t size)
{
    const struct ta_entry *entry = ta_registry_find(f->registry, TA_KIND_input, input);
    assert_non_null(entry);
    const bool whole = size <= TA_PROBE_SIZE;
    const struct ta_probe probe = {{bytes, whole ? size : TA_PROBE_SIZE}, whole, &f->log_formats};
    return entry->plugin.input->sniff(&probe);
}

void fixture_read_text(struct fixture *f, const char *text, struct reading *r)
{
    fixture_read(f, text, strlen(text), r);
}

void reading_free(struct reading *r)
{
    ta_trace_free(r->trace);
    ta_quality_free(&r->quality);
}

/* ---- findings ------------------------------------------------------------------------- */

void check_finding(const struct ta_quality *quality, enum ta_quality_code code, uint64_t count,
                   uint64_t offset, const char *file, int line)
{
    const struct ta_quality_slot *slot = &quality->slots[code];
    if (slot->count == count && (count == 0 || slot->first == offset))
        return;
    print_error("%s:%d: %s is %" PRIu64 " times first at %" PRIu64 ", expected %" PRIu64
                " times at %" PRIu64 "\n",
                file, line, ta_quality_name(code), slot->count, slot->count ? slot->first : 0,
                count, offset);
    fail();
}

void check_no_finding_but(const struct ta_quality *quality, const enum ta_quality_code *codes,
                          const char *file, int line)
{
    for (int code = 0; code < TA_Q_COUNT; code++) {
        bool expected = quality->slots[code].count == 0;
        for (size_t i = 0; codes[i] != TA_Q_COUNT; i++)
            expected |= (int)codes[i] == code;
        if (expected)
            continue;
        print_error("%s:%d: unexpected finding %s at %" PRIu64 ": %s\n", file, line,
                    ta_quality_name((enum ta_quality_code)code), quality->slots[code].first,
                    quality->slots[code].text ? quality->slots[code].text : "");
        fail();
    }
}

/* ---- texts and numbers ---------------------------------------------------------------- */

void text_put(struct text *text, const void *bytes, size_t size)
{
    if (text->n + size + 1 > text->max) {
        text->max = (text->n + size + 1) * 2;
        text->at = realloc(text->at, text->max);
        assert_non_null(text->at);
    }
    memcpy(text->at + text->n, bytes, size);
    text->n += size;
    text->at[text->n] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    char piece[4096];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof piece);
    text_put(text, piece, (size_t)n);
}

void text_free(struct text *text)
{
    free(text->at);
    *text = (struct text){0};
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t x = rng->state ? rng->state : UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return (rng_next(rng) >> 11) % n;
}

size_t rng_damage(struct rng *rng, char *bytes, size_t n)
{
    for (uint64_t k = n ? rng_below(rng, 4) : 0; k; k--)
        bytes[rng_below(rng, n)] = (char)rng_below(rng, 256);
    return rng_below(rng, 2) ? (size_t)rng_below(rng, n + 1) : n;
}
