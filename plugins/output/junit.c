/* SPDX-License-Identifier: GPL-3.0-or-later */
/* junit.xml: a test case per gate, for services that show the results of tests. */
#include <traceanalyze/output.h>
#include <traceanalyze/plugin.h>

#define SIGNATURE "<testsuites name=\"traceanalyze\""

enum { GATE, OUTCOME, WHAT, BASE, NEW, CHANGE, REASON };
static const struct ta_ref reads[] = {
    [GATE] = {"gates.results", "gate"},     [OUTCOME] = {"gates.results", "outcome"},
    [WHAT] = {"gates.results", "what"},     [BASE] = {"gates.results", "base"},
    [NEW] = {"gates.results", "new"},       [CHANGE] = {"gates.results", "change"},
    [REASON] = {"gates.results", "reason"},
};

static void put_attribute(struct ta_file *out, const char *name, struct ta_slice value)
{
    ta_putf(out, " %s=\"", name);
    ta_put_xml(out, value);
    ta_putc(out, '"');
}

static void put_text(struct ta_file *out, const struct ta_refs *in, size_t row, const char *lead,
                     size_t column, const char *end)
{
    char buffer[TA_WORD_TEXT_MAX];
    if (!ta_ref_exists(in, column))
        return;
    const struct ta_slice text =
        ta_table_text(ta_ref_table(in, column), row, ta_ref_column(in, column), buffer);
    if (text.len == 0)
        return;
    ta_puts(out, lead);
    ta_put_xml(out, text);
    ta_puts(out, end);
}

static enum ta_status write(struct ta_ctx *ctx, const struct ta_report *report,
                            const struct ta_render_options *options, struct ta_sink *sink)
{
    (void)options;
    struct ta_refs gates;
    ta_refs_open(&gates, report, reads, TA_LENGTH(reads));
    const struct ta_refs *in = &gates;
    struct ta_file *out = ta_sink_open(ctx, sink, "junit.xml", SIGNATURE);
    if (!out)
        return ta_cause(ctx, ta_ctx_status(ctx), "Cannot write the results of the gates");
    const size_t n = ta_ref_rows(in, OUTCOME);
    size_t n_failed = 0, n_passed = 0;
    for (size_t i = 0; i < n; i++) {
        n_failed += ta_ref_reads(in, OUTCOME, i, "failed");
        n_passed += ta_ref_reads(in, OUTCOME, i, "passed");
    }
    ta_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" SIGNATURE);
    ta_putf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n  <testsuite", n, n_failed);
    put_attribute(out, "name", ta_slice_of(ta_report_run(report)->title));
    /* Schemas know of "skipped" in a suite alone. */
    ta_putf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", n, n_failed,
            n - n_failed - n_passed);
    for (size_t i = 0; i < n; i++) {
        const bool failed = ta_ref_reads(in, OUTCOME, i, "failed");
        ta_puts(out, "    <testcase classname=\"traceanalyze.gates\"");
        put_attribute(out, "name", ta_ref_text(in, GATE, i));
        if (ta_ref_reads(in, OUTCOME, i, "passed")) {
            ta_puts(out, "/>\n");
            continue;
        }
        ta_puts(out, failed ? ">\n      <failure" : ">\n      <skipped");
        if (failed)
            put_attribute(out, "type", TA_LIT("gate"));
        ta_puts(out, " message=\"");
        /* "Failed. Time of the run: 86.7 s → 113 s (+30.1 %)", and why. */
        put_text(out, in, i, "", OUTCOME, "");
        put_text(out, in, i, ". ", WHAT, ":");
        put_text(out, in, i, " ", BASE, " →");
        put_text(out, in, i, " ", NEW, "");
        put_text(out, in, i, " (", CHANGE, ")");
        put_text(out, in, i, ". ", REASON, "");
        ta_puts(out, "\"/>\n    </testcase>\n");
    }
    ta_puts(out, "  </testsuite>\n</testsuites>\n");
    return ta_file_close(ctx, out);
}

static const struct ta_output_ops ops = {.extension = "xml", .write = write, TA_READS(reads)};

TA_PLUGIN(output, junit, &ops, .title = "JUnit XML", .version = "1",
          .summary = "junit.xml: a test case per gate of --fail-on");
