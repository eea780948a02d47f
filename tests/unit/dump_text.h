/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a dump as text, one per line, so that a test can say what it expects. */
#ifndef TA_TEST_DUMP_TEXT_H
#define TA_TEST_DUMP_TEXT_H

#include "trace_fixture.h"

#include "traceanalyze/dump.h"

#include <inttypes.h>
#include <stdio.h>

static inline void show_numbers(struct text *out, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] == TA_MISSING)
            text_add(out, " ?");
        else if (values[i] == TA_NO_RANK)
            text_add(out, " none");
        else
            text_add(out, " %" PRId64, values[i]);
}

#define SHOW_NUMBERS(out, ...)                                                                     \
    show_numbers((out), (const int64_t[]){__VA_ARGS__},                                            \
                 sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline void show_text(struct text *out, const struct ta_trace *trace, const char *label,
                             ta_str id)
{
    const struct ta_slice text = id == TA_STR_ABSENT ? TA_LIT("?") : ta_trace_text(trace, id);
    text_add(out, "%s[%.*s]", label, (int)text.len, text.ptr);
}

static inline void show_stages(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_timed_stage *row = ta_trace_stage_rows(trace, &n);
    for (; n; n--, row++) {
        assert_int_equal(row->min_ns, row->total_ns);
        assert_int_equal(row->max_ns, row->total_ns);
        assert_int_equal(row->is_call, row->total_ns != TA_MISSING);
        show_text(out, trace, "stage ", row->name);
        SHOW_NUMBERS(out, row->rank, row->calls, row->total_ns, row->device_ns, row->step);
        if (row->exception != TA_STR_ABSENT)
            show_text(out, trace, " ", row->exception);
        text_add(out, "\n");
    }
}

static inline void show_sections(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_section_tokens *tokens = ta_trace_section_tokens_rows(trace, &n);
    for (; n; n--, tokens++) {
        show_text(out, trace, "tokens ", tokens->section);
        SHOW_NUMBERS(out, tokens->rank, tokens->tokens, tokens->dur_ns);
        text_add(out, "\n");
    }
    const struct ta_figure *figure = ta_trace_figure_rows(trace, &n);
    for (; n; n--, figure++) {
        show_text(out, trace, "figure ", figure->name);
        show_text(out, trace, " ", figure->group);
        text_add(out, " %.10g %s\n", figure->value, ta_unit_name((enum ta_unit)figure->unit));
    }
    const struct ta_tag *tag = ta_trace_tag_rows(trace, &n);
    for (; n; n--, tag++) {
        show_text(out, trace, "tag ", tag->key);
        show_text(out, trace, " ", tag->value);
        text_add(out, "\n");
    }
}

static inline void show_operators(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_operator_sum *row = ta_trace_operator_sum_rows(trace, &n);
    for (; n; n--, row++) {
        show_text(out, trace, row->is_total ? "total " : "operator ", row->name);
        if (row->is_total) {
            SHOW_NUMBERS(out, row->self_cpu_ns, row->self_device_ns);
            text_add(out, "\n");
            continue;
        }
        SHOW_NUMBERS(out, row->rank, row->calls, row->self_cpu_ns, row->cpu_ns, row->self_device_ns,
                     row->device_ns, row->self_cpu_bytes, row->self_device_bytes);
        if (row->shapes != TA_STR_ABSENT)
            show_text(out, trace, " ", row->shapes);
        if (row->flops != TA_MISSING)
            text_add(out, " %" PRId64 " FLOPs", row->flops);
        text_add(out, "\n");
    }
    const struct ta_stack_weight *stack = ta_trace_stack_rows(trace, &n);
    for (; n; n--, stack++) {
        show_text(out, trace, "stack ", stack->stack);
        SHOW_NUMBERS(out, stack->rank, stack->weight_ns);
        if (stack->samples != TA_MISSING)
            text_add(out, " %" PRId64 " samples", stack->samples);
        text_add(out, "\n");
    }
}

static inline void show_others(struct text *out, const struct ta_trace *trace)
{
    size_t n;
    const struct ta_memory_mark *mark = ta_trace_memory_mark_rows(trace, &n);
    for (; n; n--, mark++) {
        show_text(out, trace, "memory ", mark->label);
        SHOW_NUMBERS(out, mark->rank, mark->device, mark->allocated_bytes, mark->reserved_bytes,
                     mark->max_allocated_bytes, mark->max_reserved_bytes, mark->ooms,
                     mark->retries);
        text_add(out, "\n");
    }
    const struct ta_request *request = ta_trace_request_rows(trace, &n);
    for (; n; n--, request++) {
        show_text(out, trace, "request ", request->id);
        SHOW_NUMBERS(out, request->steps, request->tokens, request->first_token_ns, request->dur_ns,
                     request->decode_steps, request->decode_tokens, request->decode_ns);
        text_add(out, "\n");
    }
}

/* All rows of the kinds above that a text gives when this plugin reads it. */
static inline void assert_dump(struct fixture *f, const char *input, const char *text,
                               const char *expected, struct reading *r)
{
    struct text out = {0};
    fixture_read_as(f, input, text, strlen(text), r);
    assert_int_equal(r->status, TA_OK);
    show_stages(&out, r->trace);
    show_sections(&out, r->trace);
    show_operators(&out, r->trace);
    show_others(&out, r->trace);
    assert_string_equal(out.n ? out.at : "", expected);
    text_free(&out);
}

/* The plugin refuses the text. */
static inline void assert_refused(struct fixture *f, const char *input, const char *text)
{
    struct reading r;
    fixture_read_as(f, input, text, strlen(text), &r);
    assert_int_equal(r.status, TA_ERR_INPUT);
    reading_free(&r);
}

/* Any beginning of a text is read without harm. */
static inline void read_all_beginnings(struct fixture *f, const char *input, const char *text)
{
    for (size_t n = 0; n <= strlen(text); n++) {
        struct reading r;
        fixture_read_as(f, input, text, n, &r);
        fixture_sniff(f, input, text, n);
        assert_true(r.status == TA_OK || r.status == TA_ERR_INPUT);
        reading_free(&r);
    }
}

#endif
