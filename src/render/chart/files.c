/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: title, scene and caption on one sheet, streamed into the sink. */
#include "render/chart/files.h"
#include "render/chart/draw.h"
#include "render/chart/measure.h"
#include "traceanalyze/base.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { MARGIN = 16, TITLE_GAP = 12, CAPTION_GAP = 10 };

/* Largest side of a picture in pixels; Cairo's own limit is 32767. */
#define PIXELS_MAX 30000

/* The signatures of our files; see ta_sink_open(). A comment may follow the root element of an SVG
 * (XML 1.0, 2.1) and the end of file marker of a PDF, which readers look for in the last
 * kilobyte. */
#define SIGNATURE_PNG "Software\0traceanalyze"
#define SIGNATURE_SVG "<!-- traceanalyze -->"
#define SIGNATURE_PDF "% traceanalyze"

/* ---- sheet --------------------------------------------------------------------------- */

struct sheet {
    double width, height, title_height, caption_height;
    PangoLayout *title, *caption;
};

static PangoLayout *make_text(PangoContext *context, enum ta_face face, const char *text,
                              double width)
{
    PangoLayout *layout = pango_layout_new(context);
    PangoFontDescription *font = ta_face_font(face);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_width(layout, ta_whole_int(width * PANGO_SCALE));
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_text(layout, text ? text : "", -1);
    pango_font_description_free(font);
    return layout;
}

static double text_height(PangoLayout *layout, double gap)
{
    int height = 0;
    pango_layout_get_size(layout, NULL, &height);
    bool empty = pango_layout_get_character_count(layout) == 0;
    return empty ? 0 : ceil((double)height / PANGO_SCALE) + gap;
}

static struct sheet make_sheet(const char *title, const char *caption, double width)
{
    PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    ta_draw_prepare(context);
    struct sheet sheet = {
        .width = width + 2 * MARGIN,
        .title = make_text(context, TA_FACE_TITLE, title, width),
        .caption = make_text(context, TA_FACE_SMALL, caption, width),
    };
    sheet.title_height = text_height(sheet.title, TITLE_GAP);
    sheet.caption_height = text_height(sheet.caption, CAPTION_GAP);
    sheet.height = 2 * MARGIN + sheet.title_height + sheet.caption_height;
    g_object_unref(context);
    return sheet;
}

static void free_sheet(struct sheet *sheet)
{
    g_object_unref(sheet->title);
    g_object_unref(sheet->caption);
}

struct ta_chart_frame ta_chart_frame(const char *title, const char *caption, double width)
{
    struct sheet sheet = make_sheet(title, caption, fmax(1, width - 2 * MARGIN));
    struct ta_chart_frame frame = {2 * MARGIN, sheet.height};
    free_sheet(&sheet);
    return frame;
}

static void draw_sheet(const struct sheet *sheet, const struct ta_scene *scene, cairo_t *cr,
                       bool dark)
{
    ta_draw_color(cr, ta_ink_color(TA_INK_NONE, dark));
    cairo_paint(cr);
    ta_draw_color(cr, ta_ink_color(TA_INK_TEXT, dark));
    cairo_move_to(cr, MARGIN, MARGIN);
    pango_cairo_show_layout(cr, sheet->title);
    cairo_save(cr);
    cairo_translate(cr, MARGIN, MARGIN + sheet->title_height);
    ta_scene_draw(scene, cr, dark);
    cairo_restore(cr);
    ta_draw_color(cr, ta_ink_color(TA_INK_MUTED, dark));
    cairo_move_to(cr, MARGIN, MARGIN + sheet->title_height + scene->height + CAPTION_GAP);
    pango_cairo_show_layout(cr, sheet->caption);
}

/* ---- files --------------------------------------------------------------------------- */

/* Where Cairo writes; `insert` goes in after the first `after` bytes. */
struct stream {
    struct ta_file *file;
    struct ta_slice insert;
    size_t after, written;
};

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned length)
{
    struct stream *stream = closure;
    struct ta_slice rest = {(const char *)bytes, length};
    if (stream->insert.len && stream->written + length >= stream->after) {
        size_t first = stream->after - stream->written;
        ta_put(stream->file, (struct ta_slice){rest.ptr, first});
        ta_put(stream->file, stream->insert);
        stream->insert.len = 0;
        rest = ta_slice_from(rest, first);
    }
    ta_put(stream->file, rest);
    stream->written += length;
    /* Errors of the file are sticky and told when it is closed. */
    return CAIRO_STATUS_SUCCESS;
}

static void put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Draws and finishes a vector surface. */
static cairo_status_t draw_vector(cairo_surface_t *surface, const struct sheet *sheet,
                                  const struct ta_scene *scene, bool dark)
{
    cairo_t *cr = cairo_create(surface);
    draw_sheet(sheet, scene, cr, dark);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

/* A PNG begins with its 8 byte signature and the 25 byte IHDR; a tEXt chunk follows them: length,
 * type, keyword NUL text, checksum of type and data (PNG specification, 5.3 and 11.3.4.3). */
enum { PNG_AFTER_IHDR = 8 + 25, PNG_TEXT = sizeof SIGNATURE_PNG - 1, PNG_CHUNK = PNG_TEXT + 12 };

static cairo_status_t write_png(struct ta_file *file, const struct sheet *sheet,
                                const struct ta_scene *scene, double scale, bool dark)
{
    scale = fmin(scale > 0 ? scale : 1, PIXELS_MAX / fmax(sheet->width, sheet->height));
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, ta_whole_int(ceil(sheet->width * scale)),
                                   ta_whole_int(ceil(sheet->height * scale)));
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    draw_sheet(sheet, scene, cr, dark);
    cairo_status_t status = cairo_status(cr);
    unsigned char text[PNG_CHUNK];
    put_u32(text, PNG_TEXT);
    memcpy(text + 4, "tEXt", 4);
    memcpy(text + 8, SIGNATURE_PNG, PNG_TEXT);
    put_u32(text + 8 + PNG_TEXT, (uint32_t)crc32(0, text + 4, PNG_TEXT + 4));
    struct stream stream = {file, {(const char *)text, sizeof text}, PNG_AFTER_IHDR, 0};
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, write_bytes, &stream);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return status;
}

static cairo_status_t write_pdf(struct ta_file *file, const struct sheet *sheet,
                                const struct ta_scene *scene, bool dark)
{
    struct stream stream = {.file = file};
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(write_bytes, &stream, sheet->width, sheet->height);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, scene->title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, scene->summary);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "traceanalyze");
    /* Without a date the file does not depend on when it was made. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
    cairo_status_t status = draw_vector(surface, sheet, scene, dark);
    ta_puts(file, SIGNATURE_PDF "\n");
    return status;
}

static cairo_status_t keep_bytes(void *closure, const unsigned char *bytes, unsigned length)
{
    bool kept = fwrite(bytes, 1, length, closure) == length;
    return kept ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

/* Cairo names the root group after a counter of all surfaces of the process, which nothing refers
 * to; without the number the file depends on the chart alone. */
static void put_without_counter(struct ta_file *file, struct ta_slice text)
{
    static const char name[] = "id=\"surface";
    const char *end = ta_slice_end(text), *at = text.ptr, *found;
    while ((found = memmem(at, (size_t)(end - at), name, sizeof name - 1))) {
        found += sizeof name - 1;
        ta_put(file, (struct ta_slice){at, (size_t)(found - at)});
        for (at = found; at < end && *at >= '0' && *at <= '9'; at++)
            ;
    }
    ta_put(file, (struct ta_slice){at, (size_t)(end - at)});
}

static cairo_status_t write_svg(struct ta_file *file, const struct sheet *sheet,
                                const struct ta_scene *scene, bool dark)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return CAIRO_STATUS_NO_MEMORY;
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(keep_bytes, memory, sheet->width, sheet->height);
    cairo_status_t status = draw_vector(surface, sheet, scene, dark);
    if (fclose(memory) != 0)
        status = CAIRO_STATUS_NO_MEMORY;
    if (status == CAIRO_STATUS_SUCCESS)
        put_without_counter(file, (struct ta_slice){text, length});
    free(text);
    ta_puts(file, SIGNATURE_SVG "\n");
    return status;
}

enum ta_status ta_chart_write(struct ta_ctx *ctx, struct ta_sink *sink,
                              const struct ta_scene *scene, const char *format, double scale,
                              bool dark, const char *name)
{
    bool png = strcmp(format, "png") == 0, pdf = strcmp(format, "pdf") == 0;
    if (!png && !pdf && strcmp(format, "svg") != 0)
        return ta_fail(ctx, TA_ERR_USAGE, "Unknown chart format: format=\"%s\"", format);
    /* The keyword alone: a signature is a text, it ends at the first NUL. */
    struct ta_file *file = ta_sink_open(ctx, sink, name,
                                        png   ? &SIGNATURE_PNG[9]
                                        : pdf ? SIGNATURE_PDF
                                              : SIGNATURE_SVG);
    if (!file)
        return ta_ctx_status(ctx);
    struct sheet sheet = make_sheet(scene->title, scene->caption, scene->width);
    sheet.height += scene->height;
    cairo_status_t drawn = png   ? write_png(file, &sheet, scene, scale, dark)
                           : pdf ? write_pdf(file, &sheet, scene, dark)
                                 : write_svg(file, &sheet, scene, dark);
    free_sheet(&sheet);
    enum ta_status status = ta_file_close(ctx, file);
    if (drawn != CAIRO_STATUS_SUCCESS)
        return ta_fail(ctx, drawn == CAIRO_STATUS_NO_MEMORY ? TA_ERR_NOMEM : TA_ERR_INTERNAL,
                       "Cannot draw chart: id=\"%s\", reason=\"%s\"", scene->id,
                       cairo_status_to_string(drawn));
    return status;
}
