/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files as lines, and lines as cells. */
#include "base/quality.h"
#include "base/utf8.h"
#include "parse/text/lines.h"
#include "traceanalyze/document.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 20, BLOCK = 64 * 1024, BUFFER = LINE_MAX_BYTES + BLOCK };

struct ta_lines_state {
    struct ta_reader *reader;
    struct ta_quality *quality;
    size_t at, end;  /* bytes of the buffer not yet used */
    uint64_t offset; /* of the byte at `at` */
    bool ended;
    bool began; /* the byte that ends lines is known: */
    char feed;
    char buffer[BUFFER];
    char repaired[3 * LINE_MAX_BYTES]; /* a bad byte becomes the three of U+FFFD */
};

struct ta_lines *ta_lines_new(struct ta_ctx *ctx, struct ta_reader *reader)
{
    struct ta_lines *lines = calloc(1, sizeof *lines);
    struct ta_lines_state *st = malloc(sizeof *st); /* pages not touched cost nothing */
    if (!lines || !st) {
        ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the lines of a file");
        free(lines);
        free(st);
        return NULL;
    }
    st->reader = reader;
    st->quality = ta_reader_quality(reader);
    st->at = st->end = 0;
    st->offset = 0;
    st->ended = st->began = false;
    st->feed = '\n';
    lines->state = st;
    return lines;
}

void ta_lines_free(struct ta_lines *lines)
{
    if (lines)
        free(lines->state);
    free(lines);
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Reads more after what is there; false at the end. */
static bool read_more(struct ta_lines_state *st)
{
    if (st->ended)
        return false;
    memmove(st->buffer, st->buffer + st->at, st->end - st->at);
    st->end -= st->at;
    st->at = 0;
    const size_t got = ta_reader_read(st->reader, st->buffer + st->end, BUFFER - st->end);
    st->end += got;
    st->ended = got == 0;
    return got > 0;
}

static void use(struct ta_lines_state *st, size_t n)
{
    st->at += n;
    st->offset += n;
}

/* The byte that ends the lines of a text. */
static char feed_of(const char *text, size_t n)
{
    return memchr(text, '\n', n) || !memchr(text, '\r', n) ? '\n' : '\r';
}

/* Bytes up to the next line feed, at most a line's and one more; `*n` leaves it out. */
static bool find_end(struct ta_lines_state *st, size_t *n)
{
    for (size_t seen = 0;;) {
        const char *feed = memchr(st->buffer + st->at + seen, st->feed, st->end - st->at - seen);
        seen = st->end - st->at;
        *n = feed ? (size_t)(feed - st->buffer) - st->at : seen;
        if (feed || seen > LINE_MAX_BYTES || !read_more(st))
            return feed != NULL;
    }
}

/* Goes to the end of a line that is too long. */
static void skip_rest(struct ta_lines_state *st)
{
    for (;;) {
        const char *feed = memchr(st->buffer + st->at, st->feed, st->end - st->at);
        use(st, feed ? (size_t)(feed - st->buffer) - st->at + 1 : st->end - st->at);
        if (feed || !read_more(st))
            return;
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

/* The line with every byte that is no UTF-8 or NUL as U+FFFD. */
static struct ta_slice repair(struct ta_lines_state *st, struct ta_slice line)
{
    char *out = st->repaired;
    for (size_t i = 0; i < line.len;) {
        const size_t n = line.ptr[i] ? ta_utf8_length(ta_slice_at(line, i), line.len - i) : 0;
        if (n)
            memcpy(out, ta_slice_at(line, i), n);
        out += n ? n : ta_utf8_encode(0xfffd, out);
        i += n ? n : 1;
    }
    return (struct ta_slice){st->repaired, (size_t)(out - st->repaired)};
}

/* Length of the control sequence of a terminal at `p`, such as a color's; 0 when there is none. */
static size_t sequence_length(const char *p, size_t n)
{
    if (n < 2 || p[0] != '\033' || p[1] != '[')
        return 0;
    size_t i = 2;
    while (i < n && p[i] >= ' ' && p[i] < '@') /* parameters */
        i++;
    return i < n && p[i] >= '@' && p[i] <= '~' ? i + 1 : 0;
}

bool ta_lines_next(struct ta_lines *lines)
{
    struct ta_lines_state *st = lines->state;
    size_t n;
    if (!st->began) {
        /* Looks at the first block: files of old systems end lines with carriage returns alone. */
        while (st->end < BLOCK && read_more(st))
            ;
        st->feed = feed_of(st->buffer, st->end);
        st->began = true;
    }
    const bool fed = find_end(st, &n);
    if (!fed && n == 0)
        return false;
    lines->offset = st->offset;
    lines->is_cut = !fed;
    ta_quality_set_place(st->quality, st->offset);
    lines->line = (struct ta_slice){st->buffer + st->at, n};
    if (n > LINE_MAX_BYTES) {
        ta_quality_add(st->quality, TA_Q_TOO_LONG, st->offset,
                       "A line is longer than %d bytes, at byte offset %" PRIu64, LINE_MAX_BYTES,
                       st->offset);
        lines->line.len = LINE_MAX_BYTES;
    }
    while (lines->line.len && lines->line.ptr[lines->line.len - 1] == '\r')
        lines->line.len--;
    const size_t valid = ta_utf8_valid(lines->line.ptr, lines->line.len);
    const char *nul = memchr(lines->line.ptr, '\0', valid);
    const size_t sound = nul ? (size_t)(nul - lines->line.ptr) : valid;
    if (sound < lines->line.len) {
        ta_quality_add(st->quality, TA_Q_TEXT_ENCODING, st->offset + sound, NULL);
        lines->line = repair(st, lines->line);
    }
    if (memchr(lines->line.ptr, '\033', lines->line.len)) {
        /* The line of a console without colors and the like, in the buffer of repaired lines. */
        const struct ta_slice line = lines->line;
        char *out = st->repaired;
        for (size_t i = 0; i < line.len;) {
            const size_t sequence = sequence_length(ta_slice_at(line, i), line.len - i);
            if (!sequence)
                *out++ = line.ptr[i];
            i += sequence ? sequence : 1;
        }
        lines->line = (struct ta_slice){st->repaired, (size_t)(out - st->repaired)};
    }
    /* Skipping reads over the buffer, in which the line may lie. */
    if (n > LINE_MAX_BYTES && !fed) {
        if (lines->line.ptr != st->repaired)
            lines->line = repair(st, lines->line);
        skip_rest(st);
    } else {
        use(st, n + fed);
    }
    return true;
}

struct ta_slice ta_text_line(struct ta_slice *text)
{
    const char *end = memchr(text->ptr, feed_of(text->ptr, text->len), text->len);
    struct ta_slice line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    text->ptr += line.len + (end != NULL);
    text->len -= line.len + (end != NULL);
    while (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* ---- cells --------------------------------------------------------------------------------- */

struct cells {
    const char *p, *end;
    char separator;
    char *buffer;
    size_t left; /* room in the buffer */
};

static struct ta_slice plain_cell(struct cells *c)
{
    const char *start = c->p;
    const char *stop = memchr(start, c->separator, (size_t)(c->end - start));
    c->p = stop ? stop : c->end;
    return (struct ta_slice){start, (size_t)(c->p - start)};
}

/* A cell at its opening quote. Pairs of quotes are one; text after the closing one belongs to the
 * cell, as in most readers. */
static struct ta_slice quoted_cell(struct cells *c)
{
    const char *start = ++c->p;
    const char *quote = memchr(start, '"', (size_t)(c->end - start));
    if (!quote || quote + 1 == c->end || quote[1] == c->separator) {
        c->p = quote ? quote + 1 : c->end;
        return (struct ta_slice){start, (size_t)((quote ? quote : c->end) - start)};
    }
    struct ta_slice cell = {c->buffer, 0};
    for (bool quoted = true; c->p < c->end && (quoted || *c->p != c->separator); c->p++) {
        if (*c->p == '"') {
            const bool pair = quoted && c->p + 1 < c->end && c->p[1] == '"';
            quoted ^= !pair;
            if (!pair)
                continue;
            c->p++;
        }
        if (c->left) {
            c->buffer[0] = *c->p;
            c->buffer++;
            c->left--;
            cell.len++;
        }
    }
    return cell;
}

/* Goes to the quote that a cell begins with, which may come after blanks. */
static bool at_quote(struct cells *c)
{
    const char *p = c->p;
    while (p < c->end && *p == ' ')
        p++;
    if (p == c->end || *p != '"')
        return false;
    c->p = p;
    return true;
}

bool ta_csv_ends_quoted(struct ta_slice line, char separator, bool quoted)
{
    if (line.len == 0 || !memchr(line.ptr, '"', line.len))
        return quoted;
    struct cells c = {line.ptr, ta_slice_end(line), separator, NULL, 0};
    for (;; c.p++) {
        const bool is_quoted_cell = quoted || at_quote(&c);
        if (is_quoted_cell && !quoted) {
            quoted = true;
            c.p++;
        }
        if (!is_quoted_cell)
            plain_cell(&c);
        else
            for (; c.p < c.end && (quoted || *c.p != separator); c.p++)
                quoted ^= *c.p == '"'; /* a pair of quotes closes and opens */
        if (c.p == c.end)
            return quoted;
    }
}

size_t ta_csv_split(struct ta_slice line, char separator, struct ta_slice *cells, size_t most,
                    char *buffer, size_t size)
{
    struct cells c = {line.ptr, ta_slice_end(line), separator, buffer, size};
    for (size_t n = 0; n < most;) {
        cells[n++] = at_quote(&c) ? quoted_cell(&c) : plain_cell(&c);
        if (c.p == c.end)
            return n;
        c.p++;
    }
    return most;
}
