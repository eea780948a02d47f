/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One writer per context: text from input becomes text in JSON, HTML, CSV and Markdown, and can
 * become nothing else there; escape_terminal.c is that for terminals. */
#include "traceanalyze/output.h"

#include "base/decimal.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "base/write/escape.h"

static struct ta_slice skip(struct ta_slice text, size_t n)
{
    return ta_slice_from(text, n);
}

/* How many characters at the beginning are printable ASCII and none of `special`: nearly all of
 * most texts, and nothing has to be asked of them one by one. */
static size_t plain_length(struct ta_slice text, const char *special)
{
    for (size_t n = 0; n < text.len; n++) {
        const char c = text.ptr[n];
        if (c < 0x20 || c == 0x7f)
            return n;
        for (const char *s = special; *s; s++)
            if (c == *s)
                return n;
    }
    return text.len;
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* What JSON asks to be escaped, and what it allows but would act on a terminal. */
static bool json_wants_escape(struct ta_slice text, uint32_t code)
{
    if (code < 0x7f)
        return true; /* the plain ones are out already */
    char step[TA_VISIBLE_STEP_MAX];
    return code == 0x2028 || code == 0x2029 || (ta_visible_step(&text, step) && step[0] == '\\');
}

static void put_json_escape(struct ta_file *out, uint32_t code)
{
    static const char shorts[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'},
                                     {'\t', 't'}, {'\b', 'b'},  {'\f', 'f'}};
    ta_putc(out, '\\');
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++) {
        if ((uint32_t)shorts[i][0] == code) {
            ta_putc(out, shorts[i][1]);
            return;
        }
    }
    ta_putc(out, 'u'); /* all that need escapes lie in the basic plane */
    for (int shift = 12; shift >= 0; shift -= 4)
        ta_putc(out, "0123456789abcdef"[code >> shift & 15]);
}

void ta_put_json(struct ta_file *out, struct ta_slice text, bool in_script)
{
    ta_putc(out, '"');
    const char *plain = text.ptr; /* what need not change is put in one piece */
    const char *const special = in_script ? "\"\\<>&" : "\"\\"; /* and the characters of scripts */
    while (text.len) {
        text = skip(text, plain_length(text, special));
        if (!text.len)
            break;
        size_t n = ta_utf8_length(text.ptr, text.len);
        uint32_t code = n ? ta_utf8_decode(text.ptr, n) : 0;
        if (n && !json_wants_escape(text, code)) {
            text = skip(text, n);
            continue;
        }
        ta_put(out, (struct ta_slice){plain, (size_t)(text.ptr - plain)});
        if (n)
            put_json_escape(out, code);
        else
            ta_put(out, TA_REPLACEMENT);
        text = skip(text, n ? n : 1);
        plain = text.ptr;
    }
    if (text.ptr)
        ta_put(out, (struct ta_slice){plain, (size_t)(text.ptr - plain)});
    ta_putc(out, '"');
}

void ta_put_json_cell(struct ta_file *out, const struct ta_cell *cell, bool in_script)
{
    char number[TA_UNIT_TEXT_MAX];
    switch (cell->kind) {
    case TA_CELL_UNSET:
    case TA_CELL_NULL:
        ta_puts(out, "null");
        break;
    case TA_CELL_TEXT:
        ta_put_json(out, cell->text, in_script);
        break;
    case TA_CELL_INT:
        ta_decimal_integer(number, cell->i);
        ta_puts(out, number);
        break;
    case TA_CELL_NUM:
        ta_puts(out, ta_number_format(number, cell->f));
        break;
    case TA_CELL_BOOL:
        ta_puts(out, cell->b ? "true" : "false");
        break;
    }
}

/* ---- HTML ---------------------------------------------------------------------------- */

void ta_put_html(struct ta_file *out, struct ta_slice text)
{
    while (text.len) {
        const size_t plain = plain_length(text, "&<>\"'");
        ta_put(out, (struct ta_slice){text.ptr, plain});
        text = skip(text, plain);
        if (!text.len)
            break;
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = ta_next_visible(&text, step);
        switch (shown.ptr[0]) {
        case '&':
            ta_puts(out, "&amp;");
            break;
        case '<':
            ta_puts(out, "&lt;");
            break;
        case '>':
            ta_puts(out, "&gt;");
            break;
        case '"':
            ta_puts(out, "&quot;");
            break;
        case '\'':
            ta_puts(out, "&#39;");
            break;
        default:
            ta_put(out, shown);
        }
    }
}

/* ---- CSV ----------------------------------------------------------------------------- */

static bool is_blank(uint32_t code)
{
    return code <= 0x20 || code == 0xa0 || code == 0x3000 || code == 0xfeff ||
           (code >= 0x2000 && code <= 0x200d) || code == 0x202f || code == 0x205f || code == 0x2060;
}

/* Spreadsheets run a cell that begins with one of these, blanks before it or not; some take the
 * full-width forms for the plain ones. */
static bool starts_formula(struct ta_slice text)
{
    if (text.len && (text.ptr[0] == '\t' || text.ptr[0] == '\r'))
        return true;
    while (text.len) {
        size_t n = ta_utf8_length(text.ptr, text.len);
        uint32_t code = n ? ta_utf8_decode(text.ptr, n) : 0xfffd;
        if (!is_blank(code))
            return code == '=' || code == '+' || code == '-' || code == '@' || code == 0xff1d ||
                   code == 0xff0b || code == 0xff0d || code == 0xff20;
        text = skip(text, n);
    }
    return false;
}

static void put_csv_text(struct ta_file *out, struct ta_slice text)
{
    bool quoted = text.len == 0;
    for (size_t i = 0; i < text.len && !quoted; i++)
        quoted = text.ptr[i] == ',' || text.ptr[i] == '"' || text.ptr[i] == ';';
    quoted = quoted || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ';
    if (quoted)
        ta_putc(out, '"');
    if (starts_formula(text))
        ta_putc(out, '\'');
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = ta_next_visible(&text, step);
        if (shown.ptr[0] == '"')
            ta_putc(out, '"');
        ta_put(out, shown);
    }
    if (quoted)
        ta_putc(out, '"');
}

void ta_put_csv(struct ta_file *out, const struct ta_cell *cell)
{
    if (cell->kind == TA_CELL_TEXT)
        put_csv_text(out, cell->text);
    else if (cell->kind != TA_CELL_NULL)
        ta_put_json_cell(out, cell, false);
}

/* ---- Markdown ------------------------------------------------------------------------ */

static size_t longest_run(struct ta_slice text, char byte)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == byte ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void ta_put_markdown(struct ta_file *out, struct ta_slice text)
{
    if (text.len == 0)
        return;
    /* A code span ends at as many back ticks as it began with, and loses one blank per side. */
    const size_t fence = longest_run(text, '`') + 1;
    const char first = text.ptr[0], last = text.ptr[text.len - 1];
    const bool padded = first == '`' || last == '`' || first == ' ' || last == ' ';
    for (size_t i = 0; i < fence; i++)
        ta_putc(out, '`');
    if (padded)
        ta_putc(out, ' ');
    /* A pipe ends a table cell even here unless a backslash is before it; an odd number of
     * backslashes of the text itself would pair with ours, so it gets one more. */
    size_t backslashes = 0;
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = ta_next_visible(&text, step);
        if (shown.ptr[0] == '|')
            ta_puts(out, backslashes % 2 ? "\\\\" : "\\");
        ta_put(out, shown);
        backslashes = shown.len == 1 && shown.ptr[0] == '\\' ? backslashes + 1 : 0;
    }
    if (padded)
        ta_putc(out, ' ');
    for (size_t i = 0; i < fence; i++)
        ta_putc(out, '`');
}

void ta_put_markdown_text(struct ta_file *out, struct ta_slice text)
{
    bool starts_line = true; /* "#", "-", "+" and "1." are markup only there */
    bool after_digit = false;
    while (text.len) {
        char step[TA_VISIBLE_STEP_MAX];
        const struct ta_slice shown = ta_next_visible(&text, step);
        const char c = shown.ptr[0];
        if (c == '<' || c == '>' || c == '&') {
            ta_puts(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
        } else {
            if (strchr("\\`*_[]|~", c) || (c == ':' && text.len && text.ptr[0] == '/') ||
                (starts_line && strchr("#-+=", c)) ||
                (after_digit && strchr(".)", c) && (text.len == 0 || text.ptr[0] == ' ')))
                ta_putc(out, '\\');
            ta_put(out, shown);
        }
        after_digit = (starts_line || after_digit) && c >= '0' && c <= '9';
        starts_line = starts_line && c == ' ';
    }
}
