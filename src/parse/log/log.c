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

/* Lists texts for a bit, or only counts them. */
static size_t list_texts(const char *const *texts, unsigned bit, struct ta_needle *list)
{
    size_t n = 0;
    for (; texts && texts[n]; n++)
        if (list)
            list[n] = (struct ta_needle){texts[n], bit};
    return n;
}

static size_t list_marks(const struct ta_log_formats *formats, struct ta_needle *list)
{
    size_t n = 0;
    for (unsigned i = 0; i < formats->n; i++) {
        const struct ta_log_ops *ops = formats->at[i].ops;
        n += list_texts(ops->marks, i, list ? list + n : NULL);
        n += list_texts(ops->parts, TA_LOG_FORMATS_MAX + i, list ? list + n : NULL);
    }
    return n;
}

bool ta_log_formats_init(struct ta_log_formats *formats, const struct ta_registry *registry)
{
    const size_t known = ta_registry_count(registry, TA_KIND_log);
    *formats =
        (struct ta_log_formats){.n = known < TA_LOG_FORMATS_MAX ? known : TA_LOG_FORMATS_MAX};
    for (size_t i = 0; i < formats->n; i++) {
        const struct ta_plugin *plugin = &ta_registry_at(registry, TA_KIND_log, i)->plugin;
        formats->at[i] = (struct ta_log_format){plugin->title, plugin->log};
    }
    const size_t n = list_marks(formats, NULL);
    struct ta_needle *marks = calloc(n + 1, sizeof *marks);
    if (marks)
        list_marks(formats, marks);
    formats->marks = marks ? ta_needles_new(marks, n) : NULL;
    free(marks);
    return formats->marks != NULL;
}

void ta_log_formats_free(struct ta_log_formats *formats)
{
    ta_needles_free(formats->marks);
    formats->marks = NULL;
}

/* The bits of marks, of all that were found. */
static uint64_t marks_of(uint64_t found)
{
    return found & ((UINT64_C(1) << TA_LOG_FORMATS_MAX) - 1);
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
    return head.len && controls <= head.len / 1024;
}

/* Documents begin with brackets.  Many logs do with a time or a rank in brackets, and some with a
 * dict of Python. */
static bool is_document(struct ta_slice head)
{
    static const char openings[] = "{[<";
    const char next = head.len > 1 ? head.ptr[1] : '\0';
    if (!memchr(openings, head.ptr[0], sizeof openings - 1))
        return false;
    if (head.ptr[0] == '[')
        return next == '\0' || strchr("{[\"]\n\r", next);
    return head.ptr[0] == '<' || next != '\'';
}

int ta_log_sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    if (!probe->log_formats || !is_text(head) || is_document(head))
        return 0;
    if (marks_of(ta_needles_in(probe->log_formats->marks, head)))
        return HAS_MARK;
    int64_t ns;
    struct ta_log_line line = {.whole = head};
    const bool is_dated = ta_log_clock_of(&line, &ns) != TA_CLOCK_NONE;
    return (probe->whole && !is_dated) || memchr(head.ptr, '\0', head.len) ? 0 : HAS_NONE;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct log_reader {
    struct ta_log_reading reading;
    const struct ta_log_formats *formats;
    struct ta_lines *lines;
    struct ta_log_pauses *pauses;
    void *states[TA_LOG_FORMATS_MAX];
    size_t open[TA_LOG_FORMATS_MAX]; /* plugins that have begun something; the last one came last */
    size_t n_open;
    uint64_t begun; /* a bit for each plugin that has taken anything */
    uint64_t number;
};

static bool is_open(const struct log_reader *r, size_t i)
{
    size_t at = 0;
    while (at < r->n_open && r->open[at] != i)
        at++;
    return at < r->n_open;
}

/* Whether the plugin has the line for itself.  `*bad` becomes a plugin that cannot use it. */
static bool show(struct log_reader *r, size_t i, const struct ta_log_line *line, size_t *bad)
{
    const enum ta_log_taken taken = r->formats->at[i].ops->take(&r->reading, r->states[i], line);
    if (taken != TA_LOG_NOT_MINE)
        r->begun |= UINT64_C(1) << i;
    if (taken == TA_LOG_BAD && *bad == r->formats->n)
        *bad = i;
    if (taken == TA_LOG_MORE && !is_open(r, i))
        r->open[r->n_open++] = i;
    return taken == TA_LOG_TAKEN || taken == TA_LOG_MORE;
}

/* Shows a line to the plugins that have begun something.  Those that have not more of it end. */
static bool show_open(struct log_reader *r, const struct ta_log_line *line, size_t *bad,
                      uint64_t *asked)
{
    for (size_t at = r->n_open; at-- > 0;) {
        const size_t i = r->open[at];
        switch (r->formats->at[i].ops->take(&r->reading, r->states[i], line)) {
        case TA_LOG_MORE:
            return true;
        case TA_LOG_BAD:
            *bad = *bad == r->formats->n ? i : *bad;
            *asked |= UINT64_C(1) << i;
            break;
        case TA_LOG_SHARED:
            *asked |= UINT64_C(1) << i;
            break;
        case TA_LOG_TAKEN:
            memmove(&r->open[at], &r->open[at + 1], (--r->n_open - at) * sizeof *r->open);
            return true;
        case TA_LOG_NOT_MINE:
            memmove(&r->open[at], &r->open[at + 1], (--r->n_open - at) * sizeof *r->open);
            break;
        }
    }
    return false;
}

static bool show_marked(struct log_reader *r, const struct ta_log_line *line, uint64_t marked,
                        size_t *bad)
{
    for (size_t i = 0; marked; i++, marked >>= 1)
        if ((marked & 1) && show(r, i, line, bad))
            return true;
    return false;
}

/* The plugins that have a mark, or a part of what they began, in the line. */
static uint64_t find_marked(const struct log_reader *r, struct ta_slice text)
{
    const uint64_t found = ta_needles_in(r->formats->marks, text);
    return marks_of(found) | (found >> TA_LOG_FORMATS_MAX & r->begun);
}

static void take_line(struct log_reader *r, struct ta_slice text, uint64_t offset, bool is_cut)
{
    /* The rows of a table are looked at by its plugin alone. */
    uint64_t asked = 0, marked = r->n_open ? 0 : find_marked(r, text);
    if (!marked && !r->n_open)
        return;
    size_t bad = r->formats->n;
    struct ta_log_line line = {
        .whole = text, .number = r->number, .offset = offset, .is_cut = is_cut};
    ta_log_strip_prefix(&line);
    if (r->n_open) {
        if (show_open(r, &line, &bad, &asked))
            return;
        marked = find_marked(r, text);
    }
    if (show_marked(r, &line, marked & ~asked, &bad) || bad == r->formats->n)
        return;
    r->reading.dropped++;
    ta_quality_add(r->reading.quality, TA_Q_BAD_RECORD, offset,
                   "Line %" PRIu64 " is not as %s writes it, at byte offset %" PRIu64, r->number,
                   r->formats->at[bad].title, offset);
}

/* Without a number at its end: where a file was cut, its last digits may be missing. */
static struct ta_slice without_number(struct ta_slice line)
{
    while (line.len && memchr("0123456789.,", line.ptr[line.len - 1], 12))
        line.len--;
    return ta_text_trim(line);
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
        struct ta_slice state = ta_slice_part(rest, 0, n);
        const bool is_cut = !end && r->lines->is_cut;
        if (is_cut)
            state = without_number(state);
        /* No line is empty before a carriage return. */
        if (ta_text_trim(state).len || n == r->lines->line.len)
            take_line(r, state, at, is_cut);
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
    for (size_t i = 0; done && i < r->formats->n; i++) {
        r->states[i] = calloc(1, r->formats->at[i].ops->state_size + 1);
        done = r->states[i] != NULL;
    }
    return done;
}

static enum ta_status judge(const struct log_reader *r)
{
    const struct ta_log_reading *reading = &r->reading;
    ta_builder_count(reading->builder, reading->kept, 0, reading->dropped);
    if (reading->kept)
        return TA_OK;
    if (reading->dropped)
        return ta_fail(reading->ctx, TA_ERR_INPUT, "No usable line: %" PRIu64 " were dropped",
                       reading->dropped);
    if (reading->is_known) {
        ta_quality_add(reading->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "Its tables are empty");
        return TA_OK;
    }
    return ta_fail(reading->ctx, TA_ERR_INPUT, "Not a trace but " TA_NO_FIGURES);
}

enum ta_status ta_log_read(struct ta_ctx *ctx, struct ta_reader *reader, struct ta_builder *builder)
{
    struct log_reader r = {
        .reading = {.ctx = ctx, .builder = builder, .quality = ta_reader_quality(reader)},
        .formats = ctx->shared->log_formats};
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
