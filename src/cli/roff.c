/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing roff. */
#include "cli/roff.h"

#include <ctype.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "cli/args.h"

/* Deeper than a term, in columns. */
enum { TERM_INDENT = 2 };

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The text between the words of a syntax. */
#define MARKS "|[]. ,="

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- characters ---------------------------------------------------------------------------- */

/* One character, and how many bytes it took.  In literals the characters are those that people
 * copy: groff makes other ones of a plain - ' ` ^ ~. */
static size_t put_character(struct ta_file *out, struct ta_slice text, bool literal)
{
    static const struct {
        char byte;
        const char *always, *literal;
    } special[] = {{'\\', "\\e", "\\e"},    {'-', "-", "\\-"},       {'\'', "\\(cq", "\\(aq"},
                   {'`', "\\(ga", "\\(ga"}, {'^', "\\(ha", "\\(ha"}, {'~', "\\(ti", "\\(ti"},
                   {'"', "\\(dq", "\\(dq"}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (*text.ptr == special[i].byte) {
            ta_puts(out, literal ? special[i].literal : special[i].always);
            return 1;
        }
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)text.ptr, (utf8proc_ssize_t)text.len, &point);
    if (n > 1)
        ta_putf(out, "\\[u%04X]", (unsigned)point);
    else
        ta_putc(out, n == 1 ? *text.ptr : '?');
    return n > 1 ? (size_t)n : 1;
}

static void put_characters(struct ta_file *out, struct ta_slice text, bool literal)
{
    for (size_t i = 0; i < text.len;)
        i += put_character(out, ta_slice_from(text, i), literal);
}

void ta_roff_literal(struct ta_file *out, struct ta_slice text)
{
    ta_puts(out, "\\fB");
    put_characters(out, text, true);
    ta_puts(out, "\\fR");
}

void ta_roff_verbatim(struct ta_file *out, struct ta_slice line)
{
    if (line.len && (*line.ptr == '.' || *line.ptr == '\''))
        ta_puts(out, "\\&");
    put_characters(out, line, true);
    ta_puts(out, "\n");
}

void ta_roff_syntax(struct ta_file *out, const char *text)
{
    while (*text) {
        const char *font = "\\fI";
        size_t n = strspn(text, CAPITALS);
        if (!n) {
            font = "\\fB";
            n = strcspn(text, CAPITALS MARKS);
        }
        if (!n) {
            font = "\\fR";
            n = strspn(text, MARKS);
        }
        ta_puts(out, font);
        put_characters(out, (struct ta_slice){text, n}, true);
        text += n;
    }
    ta_puts(out, "\\fR");
}

/* ---- prose --------------------------------------------------------------------------------- */

/* Whether a text such as "auto|FILE" has this word in capitals. */
static bool has_word(const char *text, struct ta_slice word)
{
    for (const char *at = text; at && (at = strpbrk(at, CAPITALS));) {
        const size_t n = strspn(at, CAPITALS);
        if (ta_slice_equal((struct ta_slice){at, n}, word))
            return true;
        at += n;
    }
    return false;
}

/* Whether a word in capitals is what an option or a command calls its argument. */
static bool is_argument(struct ta_slice word)
{
    for (const struct ta_arg_option *o = ta_arg_options; o->name; o++)
        if (has_word(ta_arg_takes(o).argument, word))
            return true;
    for (const struct ta_command *c = ta_commands; c < ta_commands + TA_COMMAND_COUNT; c++)
        if (has_word(c->operands, word))
            return true;
    return false;
}

/* Bytes of an option at the start of the text, 0 when there is none. */
static size_t option_length(struct ta_slice text)
{
    size_t n = 2;
    if (text.len < 2 || text.ptr[0] != '-')
        return 0;
    if (text.ptr[1] != '-')
        return isalpha((unsigned char)text.ptr[1]) && (text.len == 2 || !is_word(text.ptr[2])) ? 2
                                                                                               : 0;
    while (n < text.len && (islower((unsigned char)text.ptr[n]) || text.ptr[n] == '-'))
        n++;
    return n > 2 ? n : 0;
}

/* Bytes of the name of a page "traceanalyze-diff(1)", without its section; 0 when there is none. */
static size_t page_length(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && (islower((unsigned char)text.ptr[n]) || text.ptr[n] == '-'))
        n++;
    const bool has_section = n > 0 && n + 2 < text.len && text.ptr[n] == '(' &&
                             isdigit((unsigned char)text.ptr[n + 1]) && text.ptr[n + 2] == ')';
    return has_section ? n : 0;
}

static size_t capitals_length(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && isupper((unsigned char)text.ptr[n]))
        n++;
    const bool is_whole = n > 1 && (n == text.len || !is_word(text.ptr[n]));
    return is_whole && is_argument((struct ta_slice){text.ptr, n}) ? n : 0;
}

/* The text at the start of a word; returns how many bytes were written. */
static size_t put_marked(struct ta_file *out, struct ta_slice text)
{
    size_t n = option_length(text);
    if (!n)
        n = page_length(text);
    if (n) {
        ta_roff_literal(out, (struct ta_slice){text.ptr, n});
        return n;
    }
    n = capitals_length(text);
    if (n)
        ta_putf(out, "\\fI%.*s\\fR", (int)n, text.ptr);
    return n;
}

void ta_roff_prose(struct ta_file *out, struct ta_slice text)
{
    if (text.len && (*text.ptr == '.' || *text.ptr == '\''))
        ta_puts(out, "\\&");
    for (size_t i = 0; i < text.len;) {
        const struct ta_slice rest = ta_slice_from(text, i);
        if (*rest.ptr == ' ' && i > 0 && rest.ptr[-1] == ' ') {
            i++; /* one blank is enough; roff would keep all */
            continue;
        }
        const char *end = *rest.ptr == '`' ? memchr(ta_slice_at(rest, 1), '`', rest.len - 1) : NULL;
        size_t n = 0;
        if (end) {
            n = (size_t)(end - rest.ptr) + 1;
            ta_roff_literal(out, ta_slice_part(rest, 1, n - 1));
        } else if (i == 0 || !is_word(rest.ptr[-1])) {
            n = put_marked(out, rest);
        }
        i += n ? n : put_character(out, rest, false);
    }
}

void ta_roff_sentence(struct ta_file *out, const char *text)
{
    const size_t n = strlen(text);
    if (!n)
        return;
    const char first = (char)toupper((unsigned char)*text);
    char *copy = strdup(text);
    if (copy)
        *copy = first;
    ta_roff_prose(out, copy ? (struct ta_slice){copy, n} : (struct ta_slice){text, n});
    free(copy);
    ta_puts(out, strchr(".?!", text[n - 1]) ? "\n" : ".\n");
}

/* ---- blocks -------------------------------------------------------------------------------- */

enum block { NOTHING, PARAGRAPH, TERM, ABOUT, POINT, VERBATIM };

/* What the lines of a text become, one after the other. */
struct blocks {
    struct ta_file *out;
    enum block at;
    bool in_term; /* what follows is about the last term */
    bool parted;  /* an empty line came before */
};

static void end_verbatim(struct blocks *blocks, enum block next)
{
    if (blocks->at == VERBATIM && next != VERBATIM)
        ta_puts(blocks->out, ".EE\n.RE\n");
}

static void put_verbatim(struct blocks *blocks, struct ta_slice line)
{
    if (blocks->at != VERBATIM)
        ta_puts(blocks->out, ".PP\n.RS 4\n.EX\n");
    ta_roff_verbatim(blocks->out, line);
    blocks->at = VERBATIM;
}

static void put_line(struct blocks *blocks, enum block block, const char *begin,
                     struct ta_slice line)
{
    if (begin)
        ta_puts(blocks->out, begin);
    if (line.len) {
        ta_roff_prose(blocks->out, line);
        ta_puts(blocks->out, "\n");
    }
    blocks->at = block;
}

static void put_text_line(struct blocks *blocks, struct ta_slice line)
{
    size_t indent = 0;
    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    const struct ta_slice text = ta_slice_from(line, indent);
    const bool is_verbatim = text.len > 1 && memcmp(text.ptr, "| ", 2) == 0;
    end_verbatim(blocks, is_verbatim ? VERBATIM : PARAGRAPH);
    if (is_verbatim) {
        put_verbatim(blocks, ta_slice_from(text, 2));
    } else if (indent == TERM_INDENT && blocks->at != POINT) {
        const char *gap = memmem(text.ptr, text.len, "  ", 2);
        const size_t n = gap ? (size_t)(gap - text.ptr) : text.len;
        put_line(blocks, TERM, blocks->at == TERM ? ".TQ\n" : ".TP\n",
                 (struct ta_slice){text.ptr, n});
        blocks->in_term = true;
        size_t skip = n;
        while (skip < text.len && text.ptr[skip] == ' ')
            skip++;
        if (skip < text.len)
            put_line(blocks, ABOUT, NULL, ta_slice_from(text, skip));
    } else if (indent > TERM_INDENT && blocks->in_term) {
        put_line(blocks, ABOUT, blocks->parted ? ".IP\n" : NULL, text);
    } else if (!indent && text.len > 1 && memcmp(text.ptr, "- ", 2) == 0) {
        put_line(blocks, POINT, ".IP \\(bu 2\n", ta_slice_from(text, 2));
        blocks->in_term = false;
    } else {
        const bool goes_on = !blocks->parted && (indent || blocks->at == PARAGRAPH);
        put_line(blocks, indent ? blocks->at : PARAGRAPH, goes_on ? NULL : ".PP\n", text);
        blocks->in_term = false;
    }
    blocks->parted = false;
}

void ta_roff_blocks(struct ta_file *out, struct ta_slice text)
{
    struct blocks blocks = {.out = out};
    for (size_t i = 0; i < text.len;) {
        const char *newline = memchr(ta_slice_at(text, i), '\n', text.len - i);
        const size_t n = newline ? (size_t)(newline - ta_slice_at(text, i)) : text.len - i;
        if (n)
            put_text_line(&blocks, ta_slice_part(text, i, i + n));
        else
            blocks.parted = true;
        i += n + 1;
    }
    end_verbatim(&blocks, NOTHING);
}
