/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parse/log/log.h"

#include "base/context.h"
#include "base/quality.h"
#include "base/refusals.h"
#include "parse/log/formats.h"
#include "parse/log/pauses.h"
#include "parse/log/prefix.h"
#include "traceanalyze/document.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- formats --------------------------------------------------------------------------------- */

bool ta_log_formats_init(struct ta_log_formats *formats)
{
    size_t n = 0;
    for (size_t i = 0; i < formats->n; i++)
        for (const char *const *mark = formats->at[i].ops->marks; *mark; mark++)
            n++;
    struct ta_needle *marks = calloc(n + 1, sizeof *marks);
    n = 0;
    for (size_t i = 0; marks && i < formats->n; i++)
        for (const char *const *mark = formats->at[i].ops->marks; *mark; mark++)
            marks[n++] = (struct ta_needle){*mark, (unsigned)i};
    formats->marks = marks ? ta_needles_new(marks, n) : NULL;
    free(marks);
    return formats->marks != NULL;
}

void ta_log_formats_free(struct ta_log_formats *formats)
{
    ta_needles_free(formats->marks);
    formats->marks = NULL;
}

/* ---- recognizing ----------------------------------------------------------------------------- */

/* Scores of a text with a mark in what one sees of it, and of one without, whose
 * rest may have some. */
enum { HAS_MARK = 45, HAS_NONE = 5 };

/* A crash may leave some NUL in a log; programs and weights are full of control characters. */
static bool is_text(struct ta_slice head)
{
    size_t controls = 0;
    for (size_t i = 0; i < head.len; i++) {
        const unsigned char c = (unsigned char)head.ptr[i];
        controls += c < 0x20 && (c == 0 || !strchr("\t\r\n\f\b\033", c));
    }
    return head.len && !strchr("{[<", head.ptr[0]) && controls <= head.len / 1024;
}

int ta_log_sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    /* Many logs begin with a time or a rank in brackets. */
    const bool bracket =
        ta_slice_starts(head, "[") && head.len > 1 && !strchr("{[\"]", head.ptr[1]);
    if (!probe->log_formats || !(bracket || is_text(head)))
        return 0;
    if (ta_needles_in(probe->log_formats->marks, head))
        return HAS_MARK;
    int64_t ns;
    struct ta_log_line line = {.whole = head};
    return probe->whole && !ta_log_clock_of(&line, &ns) ? 0 : HAS_NONE;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct log_reader {
    struct ta_log_reading reading;
    const struct ta_log_formats *formats;
    struct ta_lines *lines;
    struct ta_quality *quality;
    struct ta_log_pauses *pauses;
    void *states[TA_LOG_FORMATS_MAX];
    size_t owner; /* of the next line, whatever it is; formats->n: nobody */
    uint64_t number, dropped;
};

/* Whether the plugin takes the line. */
static bool show(struct log_reader *r, size_t i, const struct ta_log_line *line)
{
    switch (r->formats->at[i].ops->take(&r->reading, r->states[i], line)) {
    case TA_LOG_NOT_MINE:
        return false;
    case TA_LOG_TAKEN:
        r->owner = r->formats->n;
        return true;
    case TA_LOG_MORE:
        r->owner = i;
        return true;
    case TA_LOG_BAD:
        break;
    }
    r->owner = r->formats->n;
    r->dropped++;
    ta_quality_add(r->quality, TA_Q_BAD_RECORD, line->offset,
                   "Line %" PRIu64 " is not as %s writes it, at byte offset %" PRIu64, line->number,
                   r->formats->at[i].title, line->offset);
    return true;
}

static void take_line(struct log_reader *r, struct ta_slice text, uint64_t offset)
{
    const size_t owner = r->owner;
    uint64_t marked = ta_needles_in(r->formats->marks, text);
    if (!marked && owner == r->formats->n)
        return;
    struct ta_log_line line = {.whole = text, .number = r->number, .offset = offset};
    ta_log_strip_prefix(&line);
    if (owner < r->formats->n && show(r, owner, &line))
        return;
    r->owner = r->formats->n;
    for (size_t i = 0; marked; i++, marked >>= 1)
        if ((marked & 1) && show(r, i, &line))
            return;
}

/* Bars of progress overwrite their line: each state ends with a carriage return. */
static void take_states(struct log_reader *r)
{
    struct ta_slice rest = r->lines->line;
    const uint64_t offset = r->lines->offset;
    for (;;) {
        const char *end = rest.len ? memchr(rest.ptr, '\r', rest.len) : NULL;
        const size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        const uint64_t at = offset + (r->lines->line.len - rest.len);
        take_line(r, ta_text_trim(ta_slice_part(rest, 0, n)), at);
        if (!end)
            return;
        rest = ta_slice_from(rest, n + 1);
    }
}

static enum ta_status read_lines(struct log_reader *r)
{
    struct ta_log_reading *reading = &r->reading;
    while (reading->status == TA_OK && ta_lines_next(r->lines)) {
        r->number++;
        take_states(r);
        ta_log_pauses_take(r->pauses, reading, r->lines->line);
        if (ta_ctx_canceled(reading->ctx))
            return ta_fail(reading->ctx, TA_ERR_CANCELED, "Interrupted");
    }
    return reading->status;
}

/* Frees the states, which hold nothing any more. */
static void close_formats(struct log_reader *r)
{
    if (r->pauses && r->reading.status == TA_OK)
        ta_log_pauses_add(r->pauses, &r->reading);
    for (size_t i = 0; i < r->formats->n; i++) {
        if (r->states[i] && r->formats->at[i].ops->end)
            r->formats->at[i].ops->end(&r->reading, r->states[i]);
        free(r->states[i]);
    }
    ta_log_pauses_free(r->pauses);
}

static bool open_formats(struct log_reader *r)
{
    r->pauses = ta_log_pauses_new();
    bool done = r->pauses != NULL;
    r->owner = r->formats->n;
    for (size_t i = 0; done && i < r->formats->n; i++) {
        r->states[i] = calloc(1, r->formats->at[i].ops->state_size + 1);
        done = r->states[i] != NULL;
    }
    return done;
}

static enum ta_status judge(const struct log_reader *r)
{
    const struct ta_log_reading *reading = &r->reading;
    ta_builder_count(reading->builder, reading->kept, 0, r->dropped);
    if (reading->kept)
        return TA_OK;
    if (r->dropped)
        return ta_fail(reading->ctx, TA_ERR_INPUT, "No usable line: %" PRIu64 " were dropped",
                       r->dropped);
    return ta_fail(reading->ctx, TA_ERR_INPUT,
                   "Not a trace but " TA_NO_FIGURES);
}

enum ta_status ta_log_read(struct ta_ctx *ctx, struct ta_reader *reader, struct ta_builder *builder)
{
    struct log_reader r = {.reading = {.ctx = ctx, .builder = builder},
                           .formats = ctx->shared->log_formats,
                           .quality = ta_reader_quality(reader)};
    if (!r.formats)
        return ta_fail(ctx, TA_ERR_INPUT, "No plugin reads logs");
    r.lines = ta_lines_new(ctx, reader);
    enum ta_status status = ta_ctx_status(ctx);
    if (r.lines)
        status = open_formats(&r) ? read_lines(&r)
                                  : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the state of a log");
    close_formats(&r);
    ta_lines_free(r.lines);
    if (status == TA_OK)
        status = r.reading.status;
    return status == TA_OK ? judge(&r) : status;
}
