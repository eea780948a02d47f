/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report on paper: report.pdf, drawn with Cairo and Pango. */
#include "pdf.h"

#include <traceanalyze/base.h>
#include <traceanalyze/plugin.h>

#include <cairo-pdf.h>
#include <time.h>

/* Follows the end of file marker: a comment of ours within the last bytes of the file. */
#define SIGNATURE "% traceanalyze"

enum { MARGIN = 50, MARGIN_TOP = 58, MARGIN_BOTTOM = 56 };

struct paper {
    double width, height;
};

static const struct paper a4 = {595.276, 841.89}, letter = {612, 792};

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned length)
{
    /* Errors of the file are sticky and told when it is closed. */
    ta_put(closure, (struct ta_slice){(const char *)bytes, length});
    return CAIRO_STATUS_SUCCESS;
}

static void compose(struct pdf *pdf)
{
    pdf->section = "";
    pdf->page = 1;
    pdf->y = pdf->top;
    pdf->drawn = NULL;
    pdf_tag(pdf, "Document");
    pdf_front(pdf);
    if (pdf->options->full_paper)
        pdf_contents(pdf);
    pdf_findings(pdf);
    if (pdf->options->full_paper)
        pdf_sections(pdf);
    else
        pdf_chapters(pdf);
    pdf_quality(pdf);
    pdf_method(pdf);
    pdf_untag(pdf, "Document");
    pdf_end(pdf);
}

/* A last page with less than this of it is left out, where that takes little of the others. */
#define LEAST_OF_PAGE 0.25
#define TIGHT_MARGIN 16

/* Finds out on which pages everything is; in less space where the last one would hardly be used. */
static void find_pages(struct pdf *pdf)
{
    compose(pdf);
    const int pages = pdf->page;
    const bool is_short = pdf->y - pdf->top < LEAST_OF_PAGE * (pdf->bottom - pdf->top);
    if (pages > 1 && is_short && !pdf->options->full_paper) {
        struct place *const places = pdf->places;
        struct grid *const grids = pdf->grids;
        pdf->tight = true;
        pdf->grids = NULL;
        pdf->bottom += TIGHT_MARGIN;
        compose(pdf);
        if (pdf->page >= pages) {
            pdf->tight = false;
            pdf->bottom -= TIGHT_MARGIN;
            pdf->page = pages;
            pdf->places = places;
            pdf->grids = grids;
        }
    }
    pdf->pages = pdf->page + pdf_contents_pages(pdf);
}

static struct pdf set_up(struct ta_ctx *ctx, const struct ta_report *report,
                         const struct ta_render_options *options, struct ta_file *file)
{
    const struct paper *paper = options->letter ? &letter : &a4;
    struct pdf pdf = {
        .ctx = ctx,
        .report = report,
        .options = options,
        .surface =
            cairo_pdf_surface_create_for_stream(write_bytes, file, paper->width, paper->height),
        .width = paper->width,
        .height = paper->height,
        .left = MARGIN,
        .right = paper->width - MARGIN,
        .top = MARGIN_TOP,
        .bottom = paper->height - MARGIN_BOTTOM,
    };
    pdf.cr = cairo_create(pdf.surface);
    pdf.context = pango_cairo_create_context(pdf.cr);
    ta_draw_prepare(pdf.context);
    return pdf;
}

static enum ta_status write_report(struct ta_ctx *ctx, const struct ta_report *report,
                                   const struct ta_render_options *options, struct ta_sink *sink)
{
    if (!ta_draw_start())
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot find the fonts: out of memory");
    struct ta_file *file = ta_sink_open_report(ctx, sink, report, "pdf", SIGNATURE);
    if (!file)
        return ta_ctx_status(ctx);
    struct pdf pdf = set_up(ctx, report, options, file);
    const struct ta_run_info *run = ta_report_run(report);
    pdf.title = run->title && *run->title ? pdf_safe(&pdf, run->title) : "traceanalyze report";
    struct tm utc;
    const time_t date = (time_t)pdf.options->date_s;
    char day[32] = "";
    if (gmtime_r(&date, &utc))
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%SZ", &utc);
    cairo_pdf_surface_set_metadata(pdf.surface, CAIRO_PDF_METADATA_TITLE, pdf.title);
    cairo_pdf_surface_set_metadata(pdf.surface, CAIRO_PDF_METADATA_SUBJECT,
                                   "Analysis of profiler traces");
    cairo_pdf_surface_set_metadata(pdf.surface, CAIRO_PDF_METADATA_CREATOR,
                                   pdf_printf(&pdf, "traceanalyze %s", pdf.options->version));
    cairo_pdf_surface_set_metadata(pdf.surface, CAIRO_PDF_METADATA_CREATE_DATE, day);
    cairo_pdf_surface_set_metadata(pdf.surface, CAIRO_PDF_METADATA_MOD_DATE, day);
    find_pages(&pdf);
    pdf.drawing = true;
    compose(&pdf);
    pdf_figures_free(&pdf);
    cairo_status_t drawn = cairo_status(pdf.cr);
    cairo_destroy(pdf.cr);
    g_object_unref(pdf.context);
    cairo_surface_finish(pdf.surface);
    drawn = drawn ? drawn : cairo_surface_status(pdf.surface);
    cairo_surface_destroy(pdf.surface);
    ta_puts(file, SIGNATURE "\n");
    enum ta_status status = TA_OK;
    if (pdf.arena.failed || drawn == CAIRO_STATUS_NO_MEMORY)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot compose report.pdf: out of memory");
    else if (drawn != CAIRO_STATUS_SUCCESS)
        status = ta_fail(ctx, TA_ERR_INTERNAL, "Cannot draw report.pdf: reason=\"%s\"",
                         cairo_status_to_string(drawn));
    ta_arena_free(&pdf.arena);
    enum ta_status closed = ta_file_close(ctx, file);
    return status ? status : closed;
}

static const struct ta_output_ops ops = {
    .extension = "pdf",
    .by_default = false,
    .write = write_report,
    .needs_timeline = true,
};

TA_PLUGIN(output, pdf, &ops, .title = "PDF report",
          .summary = "The report on paper: vector charts, outline, links, repeated table heads",
          .version = "1");
