/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports on traces in memory and on files, and what their tables hold. */
#include "report_fixture.h"

#include "pipeline.h"
#include "ranks/ranks.h"
#include "ranks/steps.h"
#include "recommend/recommend.h"
#include "report/sections.h"
#include "traceanalyze/output.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct ta_report *fixture_finish(struct fixture *f, struct ta_partial_set *set, size_t n_ranks)
{
    struct ta_report *report = ta_report_new();
    assert_non_null(report);
    int64_t *ranks = ta_arena_alloc(ta_report_arena(report), (n_ranks + 1) * sizeof *ranks);
    assert_non_null(ranks);
    for (size_t i = 0; i < n_ranks; i++)
        ranks[i] = (int64_t)i;
    ta_sections_prepare(report);
    struct ta_steps steps = {0};
    struct ta_ranks *compared = NULL;
    if (ta_steps_run(&f->ctx, &f->plan, set, ranks, n_ranks, &steps) != TA_OK ||
        ta_ranks_run(&f->ctx, &f->plan, set, ranks, n_ranks, &compared) != TA_OK ||
        ta_finish(&f->ctx, set, ranks, n_ranks, &(struct ta_across){&steps, compared}, report) !=
            TA_OK ||
        ta_recommend(&f->ctx, f->registry, report) != TA_OK)
        fail_msg("no report: %s", ta_ctx_causes(&f->ctx));
    ta_ranks_free(compared);
    ta_steps_free(&steps);
    ta_report_set_run(report, &(struct ta_run_info){.title = "test",
                                                    .ranks = ranks,
                                                    .n_ranks = n_ranks,
                                                    .world_size = (int64_t)n_ranks,
                                                    .devices = ""});
    assert_int_equal(ta_report_freeze(report), TA_OK);
    ta_partial_set_free(set);
    return report;
}

/* Partials of one trace, as those of one thread. */
static struct ta_partial_set *map_one(struct fixture *f, struct ta_trace *trace)
{
    struct ta_partial_set *set = ta_partial_set_new(&f->plan);
    assert_non_null(set);
    if (ta_partial_set_map(&f->ctx, trace, set, NULL) != TA_OK)
        fail_msg("cannot map: %s", ta_ctx_causes(&f->ctx));
    return set;
}

struct ta_report *fixture_report(struct fixture *f, struct reading *readings, size_t n)
{
    struct ta_partial_set *all = ta_partial_set_new(&f->plan);
    assert_non_null(all);
    for (size_t i = 0; i < n; i++) {
        readings[i].trace->view.rank = (int64_t)i;
        readings[i].trace->view.file.number = (int64_t)i;
        struct ta_partial_set *set = map_one(f, readings[i].trace);
        ta_partial_set_drain(all, set);
    }
    return fixture_finish(f, all, n);
}

/* Standard output is a file in memory while the output writes. */
char *fixture_render(struct fixture *f, const struct ta_report *report, const char *output,
                     size_t *size)
{
    static const struct ta_render_options options = {
        .top = 10, .columns = 80, .theme = "auto", .version = "1.2.3"};
    const struct ta_entry *entry = ta_registry_find(f->registry, TA_KIND_output, output);
    assert_non_null(entry);
    fflush(stdout);
    const int memory = memfd_create("product", MFD_CLOEXEC), before = dup(STDOUT_FILENO);
    assert_true(memory >= 0 && before >= 0 && dup2(memory, STDOUT_FILENO) >= 0);
    struct ta_sink *sink = ta_sink_new(&f->ctx, TA_SINK_STDOUT, NULL);
    f->ctx.option_values = entry->option_values;
    enum ta_status status = entry->plugin.output->write(&f->ctx, report, &options, sink);
    if (status == TA_OK)
        status = ta_sink_commit(&f->ctx, sink);
    ta_sink_free(sink);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    if (status != TA_OK)
        fail_msg("%s: %s", output, ta_ctx_causes(&f->ctx));
    const off_t end = lseek(memory, 0, SEEK_END);
    char *bytes = malloc((size_t)end + 1);
    assert_non_null(bytes);
    assert_int_equal(pread(memory, bytes, (size_t)end, 0), end);
    bytes[end] = '\0';
    close(memory);
    *size = (size_t)end;
    return bytes;
}

struct ta_report *report_on_text(const char *json)
{
    struct reading r;
    fixture_read_text(&fixture, json, &r);
    assert_int_equal(r.status, TA_OK);
    struct ta_report *report = fixture_report(&fixture, &r, 1);
    reading_free(&r);
    return report;
}

struct ta_report *report_on_events(const char *events)
{
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    text_put(&json, events, strlen(events));
    text_add(&json, "{}]}");
    for (char *c = json.at; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct ta_report *report = report_on_text(json.at);
    text_free(&json);
    return report;
}

struct ta_report *report_of_run(const char *const *inputs, size_t n, unsigned jobs)
{
    const struct ta_run_options options = {.inputs = inputs,
                                           .n_inputs = n,
                                           .jobs = jobs,
                                           .world_size = TA_MISSING,
                                           .title = "a title"};
    struct ta_report *report = NULL;
    if (ta_pipeline_run(&fixture.ctx, fixture.registry, &options, &report) != TA_OK)
        fail_msg("%s", ta_ctx_causes(&fixture.ctx));
    return report;
}

char *report_bytes(const char *const *inputs, size_t n, unsigned jobs, size_t *size)
{
    struct ta_report *report = report_of_run(inputs, n, jobs);
    char *bytes = fixture_render(&fixture, report, "json", size);
    ta_report_free(report);
    return bytes;
}

void assert_same_bytes(const char *expected, size_t n, char *bytes, size_t m)
{
    size_t at = 0;
    while (at < n && at < m && expected[at] == bytes[at])
        at++;
    const size_t from = at < 50 ? 0 : at - 50;
    if (at < n || at < m)
        fail_msg("…%.100s… is not …%.100s…", bytes + from, expected + from);
    free(bytes);
}

void assert_same_for_all_jobs(void (*fill)(const char *root, size_t turn))
{
    static const unsigned jobs[] = {1, 2, 8};
    size_t size = 0, again;
    char *expected = NULL;
    for (size_t turn = 0; turn < 3; turn++) {
        char root[64];
        fixture_folder(root);
        fill(root, turn);
        const char *const inputs[] = {root};
        if (!expected)
            expected = report_bytes(inputs, 1, 1, &size);
        for (size_t j = 0; j < 3; j++) {
            char *bytes = report_bytes(inputs, 1, jobs[j], &again);
            assert_same_bytes(expected, size, bytes, again);
        }
        fixture_remove(root);
    }
    free(expected);
}

/* ---- tables --------------------------------------------------------------------------- */

int64_t report_number(const struct ta_report *report, const char *id, const char *key,
                      const char *text, const char *column)
{
    const struct ta_table *table = ta_report_table(report, id);
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const struct ta_cell *cell = ta_table_cell(table, i, ta_table_column(table, key));
        if (cell->kind == TA_CELL_TEXT && ta_slice_equal(cell->text, ta_slice_of(text)))
            return ta_table_cell(table, i, ta_table_column(table, column))->i;
    }
    return TA_MISSING;
}

int64_t report_sum(const struct ta_report *report, const char *id, const char *column)
{
    const struct ta_table *table = ta_report_table(report, id);
    int64_t sum = 0;
    for (size_t i = 0; table && i < table->n_rows; i++)
        sum += ta_table_cell(table, i, ta_table_column(table, column))->i;
    return sum;
}
