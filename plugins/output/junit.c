/* SPDX-License-Identifier: GPL-3.0-or-later */
/* junit.xml: a test case per gate, for services that show the results of tests. */
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

#define SIGNATURE "<testsuites name=\"traceanalyze\""

static void put_attribute(struct ta_file *out, const char *name, struct ta_slice value)
{
    ta_putf(out, " %s=\"", name);
    ta_put_xml(out, value);
    ta_putc(out, '"');
}

static size_t count(const struct ta_table *gates, const char *outcome)
{
    size_t n = 0;
    for (size_t i = 0; gates && i < gates->n_rows; i++)
        n += ta_row_reads(gates, i, "outcome", outcome);
    return n;
}

static void put_text(struct ta_file *out, const struct ta_table *gates, size_t row,
                     const char *lead, const char *column, const char *end)
{
    char buffer[TA_WORD_TEXT_MAX];
    const struct ta_slice text = ta_table_text(gates, row, ta_table_column(gates, column), buffer);
    if (text.len == 0)
        return;
    ta_puts(out, lead);
    ta_put_xml(out, text);
    ta_puts(out, end);
}

/* "Failed. Time of the run: 86.7 s → 113 s (+30.1 %)", and why. */
static void put_message(struct ta_file *out, const struct ta_table *gates, size_t row)
{
    put_text(out, gates, row, "", "outcome", "");
    put_text(out, gates, row, ". ", "what", ":");
    put_text(out, gates, row, " ", "base", " →");
    put_text(out, gates, row, " ", "new", "");
    put_text(out, gates, row, " (", "change", ")");
    put_text(out, gates, row, ". ", "reason", "");
}

static void put_case(struct ta_file *out, const struct ta_table *gates, size_t row)
{
    const bool failed = ta_row_reads(gates, row, "outcome", "failed");
    ta_puts(out, "    <testcase classname=\"traceanalyze.gates\"");
    put_attribute(out, "name", ta_row_text(gates, row, "gate"));
    if (ta_row_reads(gates, row, "outcome", "passed")) {
        ta_puts(out, "/>\n");
        return;
    }
    ta_puts(out, failed ? ">\n      <failure" : ">\n      <skipped");
    if (failed)
        put_attribute(out, "type", TA_LIT("gate"));
    ta_puts(out, " message=\"");
    put_message(out, gates, row);
    ta_puts(out, "\"/>\n    </testcase>\n");
}

static void put_counts(struct ta_file *out, const struct ta_table *gates)
{
    ta_putf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\"", gates ? gates->n_rows : 0,
            count(gates, "failed"));
}

/* Which schemas know of a suite alone. */
static void put_skipped(struct ta_file *out, const struct ta_table *gates)
{
    const size_t n = gates ? gates->n_rows : 0;
    ta_putf(out, " skipped=\"%zu\"", n - count(gates, "failed") - count(gates, "passed"));
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options;
    const struct ta_table *gates = ta_report_table(report, "gates.results");
    struct ta_file *out = ta_sink_open(ctx, sink, "junit.xml", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the results of the gates");
    ta_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" SIGNATURE);
    put_counts(out, gates);
    ta_puts(out, ">\n  <testsuite");
    put_attribute(out, "name", ta_slice_of(ta_report_run(report)->title));
    put_counts(out, gates);
    put_skipped(out, gates);
    ta_puts(out, ">\n");
    for (size_t i = 0; gates && i < gates->n_rows; i++)
        put_case(out, gates, i);
    ta_puts(out, "  </testsuite>\n</testsuites>\n");
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {.extension = "xml", .write = write};

TA_PLUGIN(output, junit, &ops, .title = "JUnit XML", .version = "1",
          .summary = "junit.xml: a test case per gate of --fail-on");
