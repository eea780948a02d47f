/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that GitHub shows next to a change. */
#include "cli/annotate.h"

#include "base/visible.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static bool is_wanted(const struct ta_cli *cli)
{
    const char *github = getenv("GITHUB_ACTIONS");
    if (cli->args.annotate != TA_ANNOTATE_AUTO)
        return cli->args.annotate == TA_ANNOTATE_GITHUB;
    return github && strcmp(github, "true") == 0;
}

/* Standard output, which the service documents, unless a product goes there. */
static FILE *stream_of(const struct ta_cli *cli)
{
    const char *out = cli->args.out;
    return cli->args.json || (out && strcmp(out, "-") == 0) ? stderr : stdout;
}

enum ta_status ta_annotate_begin(struct ta_cli *cli)
{
    unsigned char random[sizeof cli->command_stop / 2];
    if (!is_wanted(cli))
        return TA_OK;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return ta_fail(cli->ctx, TA_ERR_INTERNAL, "No random bytes for --annotate");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(cli->command_stop + 2 * i, 3, "%02x", random[i]);
    FILE *stream = stream_of(cli);
    fprintf(stream, "::stop-commands::%s\n", cli->command_stop);
    return fflush(stream) == 0 ? TA_OK
                               : ta_fail(cli->ctx, TA_ERR_OUTPUT, "Cannot write annotations");
}

void ta_annotate_end(struct ta_cli *cli)
{
    if (!*cli->command_stop)
        return;
    FILE *stream = stream_of(cli);
    fprintf(stream, "::%s::\n", cli->command_stop);
    fflush(stream);
    *cli->command_stop = '\0';
}

void ta_put_github(struct ta_file *out, struct ta_slice text, bool is_property)
{
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const size_t n = ta_visible_step(&text, step);
        const char c = n == 1 ? step[0] : 'a';
        if (c == '%' || (is_property && (c == ':' || c == ',')))
            ta_puts(out, c == '%' ? "%25" : c == ':' ? "%3A" : "%2C");
        else
            ta_put(out, (struct ta_slice){step, n});
    }
}

/* ---- lines -------------------------------------------------------------------------------- */

/* "::error title=regression>5%25::Time of the run: 86.7 s → 113 s (+30.1 %25)" */
static void put_line(struct ta_file *out, const struct ta_table *gates, size_t row)
{
    static const struct {
        size_t column;
        const char *before, *after;
    } parts[] = {{TA_GATES_OUTCOME, "", ""},   {TA_GATES_WHAT, ". ", ":"},
                 {TA_GATES_BASE, " ", " →"},   {TA_GATES_NEW, " ", ""},
                 {TA_GATES_CHANGE, " (", ")"}, {TA_GATES_REASON, ". ", ""}};
    ta_puts(out,
            ta_gate_is(gates, row, "failed") ? "::error title=gate " : "::warning title=gate ");
    ta_put_github(out, ta_table_cell(gates, row, TA_GATES_TEXT)->text, true);
    ta_puts(out, "::");
    for (size_t i = 0; i < TA_LENGTH(parts); i++) {
        char buffer[TA_WORD_TEXT_MAX];
        const struct ta_slice text = ta_table_text(gates, row, parts[i].column, buffer);
        if (text.len) {
            ta_puts(out, parts[i].before);
            ta_put_github(out, text, false);
            ta_puts(out, parts[i].after);
        }
    }
    ta_putc(out, '\n');
}

bool ta_gate_is(const struct ta_table *gates, size_t row, const char *outcome)
{
    return ta_slice_equal(ta_table_cell(gates, row, TA_GATES_OUTCOME)->text, ta_slice_of(outcome));
}

enum ta_status ta_annotate(struct ta_cli *cli)
{
    const struct ta_table *gates = ta_run_gates(cli->run)->table;
    if (!*cli->command_stop)
        return TA_OK;
    const bool to_error = stream_of(cli) == stderr;
    ta_annotate_end(cli);
    if (!gates)
        return TA_OK;
    struct ta_sink *sink = ta_sink_new(cli->ctx, to_error ? TA_SINK_STDERR : TA_SINK_STDOUT, NULL);
    struct ta_file *out = sink ? ta_sink_open(cli->ctx, sink, "annotations", "") : NULL;
    enum ta_status status = ta_ctx_status(cli->ctx);
    if (out) {
        for (size_t i = 0; i < gates->n_rows; i++)
            if (!ta_gate_is(gates, i, "passed"))
                put_line(out, gates, i);
        status = ta_file_close(cli->ctx, out);
    }
    if (status == TA_OK)
        status = ta_sink_commit(cli->ctx, sink);
    ta_sink_free(sink);
    return status;
}
