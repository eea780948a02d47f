/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How torch lays a table of operators out (torch/autograd/profiler_util.py): a name, the values in
 * the order of their headings, then shapes, FLOPs and call site, which are texts.  With FLOPs and
 * call sites torch writes the two headings in the other order than the values. */
#include "parse/text/operator_row.h"

#include "traceanalyze/document.h"

#include <math.h>

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The bytes of a bar between cells at this place: of ASCII or drawn; 0 for anything else.  One
 * after a backslash belongs to the text. */
static size_t bar_at(struct ta_slice line, size_t at)
{
    static const char *const drawn[] = {"\xe2\x94\x82", "\xe2\x94\x83", "\xe2\x95\x91"};
    if (line.ptr[at] == '|')
        return at == 0 || line.ptr[at - 1] != '\\';
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (line.len - at >= 3 && memcmp(ta_slice_at(line, at), drawn[i], 3) == 0)
            return 3;
    return 0;
}

static bool is(struct ta_slice word, const char *text)
{
    return ta_slice_equal(word, ta_slice_of(text));
}

/* Without what Markdown sets a text off by. */
static struct ta_slice plain(struct ta_slice text)
{
    static const char *const marks[] = {"**", "`"};
    text = ta_text_trim(text);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i]);
        if (text.len > 2 * n && memcmp(text.ptr, marks[i], n) == 0 &&
            memcmp(ta_slice_end(text) - n, marks[i], n) == 0)
            text = ta_slice_part(text, n, text.len - n);
    }
    return text;
}

/* ---- headings ------------------------------------------------------------------------------- */

enum { WORDS_MAX = 4 * OPERATOR_COLUMNS_MAX };

struct words {
    struct ta_slice at[WORDS_MAX];
    size_t n, bars;
};

/* False when there are too many. */
static bool split_words(struct ta_slice line, struct words *words)
{
    words->n = words->bars = 0;
    for (size_t i = 0, start = 0; i <= line.len; i++) {
        const size_t bar = i < line.len ? bar_at(line, i) : 0;
        if (i < line.len && !bar && !is_blank(line.ptr[i]))
            continue;
        struct ta_slice word = plain(ta_slice_part(line, start, i));
        if (word.len > 1 && word.ptr[0] == '\\')
            word = ta_slice_from(word, 1);
        if (word.len && words->n == WORDS_MAX)
            return false;
        if (word.len)
            words->at[words->n++] = word;
        words->bars += bar > 0;
        start = i + (bar ? bar : 1);
        i = start - 1;
    }
    return true;
}

/* The power of ten in "GFLOPs"; -1 when it is something else. */
static int flops_shift(struct ta_slice word, const char *unit)
{
    static const char steps[] = "KMGTP";
    const size_t n = strlen(unit);
    if (word.len < n || word.len > n + 1 || memcmp(ta_slice_end(word) - n, unit, n) != 0)
        return -1;
    if (word.len == n)
        return 0;
    const char *step = strchr(steps, word.ptr[0]);
    return step ? 3 * (int)(step - steps + 1) : -1;
}

static void set_device(struct operator_columns *columns, struct ta_slice word)
{
    if (columns->device[0] || word.len >= OPERATOR_DEVICE_MAX)
        return;
    memcpy(columns->device, word.ptr, word.len);
    columns->device[word.len] = '\0';
}

/* Headings that do not name a device. */
static size_t read_plain_head(const struct ta_slice *w, size_t n, struct operator_columns *columns,
                              enum operator_field *field)
{
    static const struct {
        const char *words[3];
        size_t n;
        enum operator_field field;
    } known[] = {
        {{"Name"}, 1, OPERATOR_NAME},
        {{"Overload", "Name"}, 2, OPERATOR_OVERLOAD},
        {{"#", "of", "Calls"}, 3, OPERATOR_CALLS},
        {{"Number", "of", "Calls"}, 3, OPERATOR_CALLS},
        {{"Node", "ID"}, 2, OPERATOR_NODE},
        {{"Input", "Shapes"}, 2, OPERATOR_SHAPES},
        {{"Source", "Location"}, 2, OPERATOR_SOURCE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t same = 0;
        while (same < known[i].n && same < n && is(w[same], known[i].words[same]))
            same++;
        if (same == known[i].n) {
            *field = known[i].field;
            return same;
        }
    }
    if (n >= 2 && is(w[0], "Total") && flops_shift(w[1], "FLOPs") >= 0) {
        columns->flops_shift = flops_shift(w[1], "FLOPs");
        *field = OPERATOR_FLOPS;
        return 2;
    }
    *field = OPERATOR_RATE; /* of torch 1.8: FLOPS, operations per second */
    return flops_shift(w[0], "FLOPS") >= 0 ? 1 : 0;
}

/* "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg", "CUDA Mem"; torch before 1.7 writes
 * "Self CPU total".  Devices have names of their own: XPU, NPU … */
static size_t read_device_head(const struct ta_slice *w, size_t n, struct operator_columns *columns,
                               enum operator_field *field)
{
    const size_t self = n >= 2 && is(w[0], "Self");
    const struct ta_slice device = w[self];
    const bool on_cpu = is(device, "CPU");
    size_t at = self + 1;
    const bool total = at < n && is(w[at], "total");
    at += total;
    if (at < n && is(w[at], "%") && (self || total)) {
        *field = OPERATOR_PERCENT;
        at++;
    } else if (at < n && is(w[at], "Mem") && !total) {
        *field = !self    ? OPERATOR_BYTES
                 : on_cpu ? OPERATOR_SELF_CPU_BYTES
                          : OPERATOR_SELF_DEVICE_BYTES;
        at++;
    } else if (self || total) {
        *field = self     ? on_cpu ? OPERATOR_SELF_CPU : OPERATOR_SELF_DEVICE
                 : on_cpu ? OPERATOR_CPU
                          : OPERATOR_DEVICE;
    } else if (at + 1 < n && is(w[at], "time") && is(w[at + 1], "avg")) {
        *field = OPERATOR_MEAN;
        at += 2;
    } else {
        return 0;
    }
    if (!on_cpu)
        set_device(columns, device);
    return at;
}

static bool is_tail(unsigned char field)
{
    return field == OPERATOR_SHAPES || field == OPERATOR_SOURCE || field == OPERATOR_FLOPS ||
           field == OPERATOR_RATE;
}

/* Whether these words, from "Name" on, are headings and nothing else. */
static bool read_heads(const struct ta_slice *w, size_t n, struct operator_columns *columns)
{
    bool has_calls = false, has_time = false;
    *columns = (struct operator_columns){.n = 0};
    for (size_t at = 0; at < n;) {
        enum operator_field field;
        size_t used = read_plain_head(w + at, n - at, columns, &field);
        if (used == 0)
            used = read_device_head(w + at, n - at, columns, &field);
        if (used == 0 || columns->n == OPERATOR_COLUMNS_MAX ||
            (field == OPERATOR_NAME) != (at == 0))
            return false;
        has_calls |= field == OPERATOR_CALLS;
        has_time |= field >= OPERATOR_SELF_CPU && field <= OPERATOR_DEVICE;
        columns->has_source |= field == OPERATOR_SOURCE;
        columns->field[columns->n++] = (unsigned char)field;
        at += used;
    }
    /* Where the texts after the values begin. */
    columns->tail = columns->n;
    while (columns->tail > 0 && is_tail(columns->field[columns->tail - 1]))
        columns->tail--;
    return has_calls && has_time;
}

bool operator_columns_read(struct ta_slice line, struct operator_columns *columns)
{
    struct words words;
    if (line.len == 0 || !memmem(line.ptr, line.len, "Name", 4) ||
        !memmem(line.ptr, line.len, "Calls", 5) || !split_words(line, &words))
        return false;
    for (size_t i = 0; i < words.n; i++) {
        if (!is(words.at[i], "Name") || !read_heads(words.at + i, words.n - i, columns))
            continue;
        columns->piped = words.bars + 1 >= columns->n;
        size_t prefix = (size_t)(words.at[i].ptr - line.ptr);
        while (prefix && is_blank(line.ptr[prefix - 1]))
            prefix--;
        if (prefix <= OPERATOR_PREFIX_MAX) {
            memcpy(columns->prefix, line.ptr, prefix);
            columns->prefix_len = prefix;
        }
        return true;
    }
    return false;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The bytes of a number at the beginning of a text. */
static size_t number_length(struct ta_slice text)
{
    size_t n = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+'), digits = 0;
    for (; n < text.len && (is_digit(text.ptr[n]) || text.ptr[n] == '.'); n++)
        digits += is_digit(text.ptr[n]);
    return digits ? n : 0;
}

/* The bytes of the word after a number, one blank between them left out; 0 when none of them. */
static size_t unit_length(struct ta_slice text, const char *const *units, size_t n_units)
{
    const size_t blank = text.len && text.ptr[0] == ' ';
    for (size_t i = 0; i < n_units; i++) {
        const size_t n = strlen(units[i]) + blank;
        if (text.len >= n && memcmp(ta_slice_at(text, blank), units[i], n - blank) == 0 &&
            (text.len == n || is_blank(text.ptr[n])))
            return n;
    }
    return 0;
}

static const char *const time_units[] = {"us", "ms", "s", "ns", "\xc2\xb5s", "\xce\xbcs"};
static const int time_shifts[] = {3, 6, 9, 0, 3, 3};
static const char *const byte_units[] = {"b",  "Kb", "Mb", "Gb",  "Tb",  "B",   "KB",
                                         "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
#define UNITS(units) (units), sizeof(units) / sizeof *(units)

/* The bytes of a value of this column at the beginning of a text; 0 when there is none. */
static size_t value_length(unsigned char field, struct ta_slice text)
{
    const size_t n = number_length(text);
    const struct ta_slice rest = ta_slice_from(text, n);
    const bool ends = rest.len == 0 || is_blank(rest.ptr[0]);
    size_t unit = 0;
    switch (field) {
    case OPERATOR_PERCENT: /* "NaN" of nothing, 0 of what ran at the same time */
        if (n == 0)
            return text.len >= 3 && memcmp(text.ptr, "NaN", 3) == 0 ? 3 : 0;
        unit = unit_length(rest, (const char *const[]){"%"}, 1);
        return ends ? n : unit ? n + unit : 0;
    case OPERATOR_SELF_CPU_BYTES:
    case OPERATOR_SELF_DEVICE_BYTES:
    case OPERATOR_BYTES:
        unit = unit_length(rest, UNITS(byte_units));
        return n && unit ? n + unit : 0;
    case OPERATOR_CALLS:
    case OPERATOR_NODE:
        return ends && !memchr(text.ptr, '.', n) ? n : 0;
    default:
        unit = unit_length(rest, UNITS(time_units));
        return n && unit ? n + unit : 0;
    }
}

int64_t operator_time(struct ta_slice cell)
{
    const size_t n = number_length(cell);
    const struct ta_slice unit = ta_text_trim(ta_slice_from(cell, n));
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++)
        if (is(unit, time_units[i]))
            return ta_text_decimal(ta_slice_part(cell, 0, n), time_shifts[i]);
    return TA_MISSING;
}

int64_t operator_bytes(struct ta_slice cell)
{
    const size_t n = number_length(cell);
    const struct ta_slice unit = ta_text_trim(ta_slice_from(cell, n));
    static const char steps[] = "KMGT";
    bool known = false;
    for (size_t i = 0; i < sizeof byte_units / sizeof *byte_units; i++)
        known |= is(unit, byte_units[i]);
    if (n == 0 || !known)
        return TA_MISSING;
    const char *step = strchr(steps, unit.ptr[0]);
    if (!step)
        return ta_text_decimal(ta_slice_part(cell, 0, n), 0);
    /* At most 15 digits are printed, so a double holds the product. */
    const double bytes =
        ldexp(ta_text_double(ta_slice_part(cell, 0, n)), 10 * (int)(step - steps + 1));
    return ta_whole(round(bytes));
}

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t skip_blanks(struct ta_slice line, size_t at)
{
    while (at < line.len && is_blank(line.ptr[at]))
        at++;
    return at;
}

/* Where digits stand in a text that is the prefix of another line, any digits may: the time of a
 * log moves on.  The bytes of the prefix in this line; 0 when it is not there. */
static size_t prefix_length(const struct operator_columns *columns, struct ta_slice line)
{
    const char *prefix = columns->prefix;
    size_t at = 0, i = 0;
    while (i < columns->prefix_len) {
        const bool digit = is_digit(prefix[i]);
        if (at == line.len || (digit ? !is_digit(line.ptr[at]) : line.ptr[at] != prefix[i]))
            return 0;
        if (!digit) {
            i++;
            at++;
            continue;
        }
        while (i < columns->prefix_len && is_digit(prefix[i]))
            i++;
        while (at < line.len && is_digit(line.ptr[at]))
            at++;
    }
    return at;
}

static struct ta_slice without_prefix(const struct operator_columns *columns, struct ta_slice line)
{
    return ta_slice_from(line, prefix_length(columns, line));
}

/* The last bar of a line before `end`: its place, and in `n` its bytes; SIZE_MAX without one. */
static size_t last_bar(struct ta_slice line, size_t end, size_t *n)
{
    for (size_t at = end; at > 0; at--) {
        *n = bar_at(line, at - 1);
        if (*n && at - 1 + *n <= end)
            return at - 1;
    }
    return SIZE_MAX;
}

/* From the right: names hold bars too. */
static bool split_bars(const struct operator_columns *columns, struct ta_slice line,
                       struct ta_slice *cells)
{
    size_t n;
    line = ta_text_trim(line);
    size_t end = line.len, bar = last_bar(line, end, &n);
    if (bar != SIZE_MAX && bar + n == end)
        end = bar;
    for (size_t i = columns->n - 1; i > 0; i--) {
        bar = last_bar(line, end, &n);
        if (bar == SIZE_MAX)
            return false;
        cells[i] = plain(ta_slice_part(line, bar + n, end));
        end = bar;
    }
    const size_t first = line.len ? bar_at(line, 0) : 0;
    cells[0] =
        plain(first <= end ? ta_slice_part(line, first, end) : ta_slice_part(line, end, end));
    return true;
}

/* The shapes at the beginning of a text, "[[1, 2], []]"; torch cuts what is too wide. */
static size_t shapes_length(struct ta_slice text)
{
    size_t open = 0;
    for (size_t i = 0; i < text.len; i++) {
        open += text.ptr[i] == '[';
        open -= text.ptr[i] == ']';
        if (open == 0)
            return i + (i > 0);
        if (i + 1 < text.len && is_blank(text.ptr[i]) && is_blank(text.ptr[i + 1]))
            return i;
    }
    return text.len;
}

static size_t word_end(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && !is_blank(text.ptr[n]))
        n++;
    return n;
}

static bool is_flops(struct ta_slice word)
{
    return is(word, "--") || (word.len && number_length(word) == word.len);
}

/* The texts after the values; FLOPs come before the call site, whatever the headings say. */
static void split_tail(const struct operator_columns *columns, struct ta_slice text,
                       struct ta_slice *cells)
{
    text = ta_text_trim(text);
    for (size_t i = columns->tail; i < columns->n; i++) {
        cells[i] = TA_LIT("");
        if (columns->field[i] != OPERATOR_SHAPES)
            continue;
        const size_t n = text.len && text.ptr[0] == '[' ? shapes_length(text) : 0;
        cells[i] = ta_slice_part(text, 0, n);
        text = ta_text_trim(ta_slice_from(text, n));
    }
    for (size_t i = columns->tail; i < columns->n; i++) {
        const struct ta_slice word = ta_slice_part(text, 0, word_end(text));
        if ((columns->field[i] != OPERATOR_FLOPS && columns->field[i] != OPERATOR_RATE) ||
            !is_flops(word))
            continue;
        cells[i] = word;
        text = ta_text_trim(ta_slice_from(text, word.len));
    }
    for (size_t i = columns->tail; i < columns->n; i++)
        if (columns->field[i] == OPERATOR_SOURCE)
            cells[i] = text;
}

/* Whether the values of all columns follow each other from here on; they end at `end`. */
static bool match_values(const struct operator_columns *columns, size_t first, struct ta_slice line,
                         size_t at, struct ta_slice *cells, size_t *end)
{
    for (size_t i = first; i < columns->tail; i++) {
        at = skip_blanks(line, at);
        const size_t n = value_length(columns->field[i], ta_slice_from(line, at));
        if (n == 0)
            return false;
        cells[i] = ta_slice_part(line, at, at + n);
        at += n;
    }
    *end = at;
    return columns->tail < columns->n || skip_blanks(line, at) == line.len;
}

/* Where the last two blanks or more of a text begin; its length without any. */
static size_t last_gap(struct ta_slice text)
{
    for (size_t i = text.len; i > 1; i--)
        if (is_blank(text.ptr[i - 1]) && is_blank(text.ptr[i - 2]))
            return i;
    return text.len;
}

/* A name, which may hold anything, and the values after it. */
static bool split_values(const struct operator_columns *columns, struct ta_slice line,
                         struct ta_slice *cells)
{
    const bool overload = columns->field[1] == OPERATOR_OVERLOAD;
    for (size_t at = 0; (at = skip_blanks(line, at)) < line.len;
         at += word_end(ta_slice_from(line, at))) {
        size_t end;
        if (!match_values(columns, 1 + overload, line, at, cells, &end))
            continue;
        cells[0] = ta_text_trim(ta_slice_part(line, 0, at));
        if (overload) {
            const size_t gap = last_gap(cells[0]);
            cells[1] = ta_slice_from(cells[0], gap);
            cells[0] = ta_text_trim(ta_slice_part(cells[0], 0, gap));
        }
        split_tail(columns, ta_slice_from(line, end), cells);
        return true;
    }
    return false;
}

/* At two blanks or more, where a value is not what its heading says; there have to be as many
 * cells as columns. */
static bool split_gaps(const struct operator_columns *columns, struct ta_slice line,
                       struct ta_slice *cells)
{
    size_t n = 0;
    line = ta_text_trim(line);
    for (size_t i = 0, start = 0; i <= line.len; i++) {
        const bool gap = i == line.len || line.ptr[i] == '\t' ||
                         (i + 1 < line.len && is_blank(line.ptr[i]) && is_blank(line.ptr[i + 1]));
        if (!gap)
            continue;
        if (n == columns->n)
            return false;
        cells[n++] = ta_text_trim(ta_slice_part(line, start, i));
        start = skip_blanks(line, i);
        i = start > i ? start - 1 : i;
    }
    return n == columns->n;
}

bool operator_row_read(const struct operator_columns *columns, struct ta_slice line,
                       struct ta_slice cells[OPERATOR_COLUMNS_MAX])
{
    line = without_prefix(columns, line);
    if (columns->piped)
        return split_bars(columns, line, cells);
    return split_values(columns, line, cells) || split_gaps(columns, line, cells);
}

bool operator_line_is_ruler(const struct operator_columns *columns, struct ta_slice line)
{
    size_t n = 0;
    line = without_prefix(columns, line);
    for (size_t i = 0; i < line.len; i++) {
        const unsigned char c = (unsigned char)line.ptr[i];
        /* U+2500 to U+257F, which draw lines, are E2 94 80 to E2 95 BF. */
        const size_t drawn =
            line.len - i >= 3 && c == 0xe2 && ((unsigned char)line.ptr[i + 1] & 0xfe) == 0x94;
        if (drawn)
            i += 2;
        else if (!strchr("-=+|: \t", c) || c == '\0')
            return false;
        n += drawn || c == '-' || c == '=';
    }
    return n >= 3;
}
