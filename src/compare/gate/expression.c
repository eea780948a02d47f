/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of gates: from text to a struct ta_gate, or to what is wrong where. */
#include "compare/gate/expression.h"

#include "base/suggest.h"
#include "traceanalyze/document.h"
#include "traceanalyze/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- errors ------------------------------------------------------------------------------- */

/* From 1, in characters: bytes that go on with one do not count. */
static size_t column_of(const char *text, const char *place)
{
    size_t column = 1;
    for (; text < place; text++)
        column += ((unsigned char)*text & 0xc0) != 0x80;
    return column;
}

enum ta_status ta_gate_refuse(struct ta_ctx *ctx, const char *text, const char *place,
                              const char *format, ...)
{
    char what[320];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return ta_fail(ctx, TA_ERR_USAGE, "--fail-on \"%.200s\", column %zu: %s", text,
                   column_of(text, place), what);
}

/* ---- words -------------------------------------------------------------------------------- */

/* A character that matches itself. */
static const struct {
    const char *word;
    enum ta_gate_kind kind;
} words[] = {{"inconclusive", TA_GATE_INCONCLUSIVE}, {"incomplete", TA_GATE_INCOMPLETE}};

static const char *const name_metrics[] = {"total", "mean", "calls", NULL};
static const char *const name_kinds[] = {"op", "kernel", "stage", "copy", NULL};

static bool is_one_of(struct ta_slice text, const char *const *list)
{
    for (; *list; list++)
        if (ta_slice_equal(text, ta_slice_of(*list)))
            return true;
    return false;
}

/* "; did you mean 'kernel'?" */
static const char *suggest(struct ta_slice text, const char *const *list,
                           char buffer[TA_SUGGEST_TEXT_MAX])
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(text.len < 63 ? text.len : 63), text.ptr);
    struct ta_suggest suggestion = {.word = word};
    for (; *list; list++)
        ta_suggest_offer(&suggestion, *list);
    return ta_suggest_text(&suggestion, buffer);
}

/* ---- the left side ------------------------------------------------------------------------ */

static bool is_metric_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* What follows an "@": the names of a table, or the basis of a figure, which may be the name of a
 * loop: any text. */
static enum ta_status read_selector(struct ta_ctx *ctx, struct ta_slice selector,
                                    struct ta_gate *gate)
{
    char text[TA_SUGGEST_TEXT_MAX];
    const char *colon = memchr(selector.ptr, ':', selector.len);
    if (!colon) {
        gate->metric.len = (size_t)(ta_slice_end(selector) - gate->metric.ptr);
        return TA_OK;
    }
    gate->kind = TA_GATE_NAMES;
    gate->names = (struct ta_slice){selector.ptr, (size_t)(colon - selector.ptr)};
    gate->pattern = (struct ta_slice){colon + 1, selector.len - gate->names.len - 1};
    if (!is_one_of(gate->names, name_kinds))
        return ta_gate_refuse(ctx, gate->text, selector.ptr,
                              "expected op, kernel, stage or copy before the colon%s",
                              suggest(gate->names, name_kinds, text));
    if (gate->pattern.len == 0)
        return ta_gate_refuse(ctx, gate->text, colon + 1,
                              "expected a name, which may hold * and ?");
    if (!is_one_of(gate->metric, name_metrics))
        return ta_gate_refuse(ctx, gate->text, gate->metric.ptr,
                              "of names there are total, mean and calls%s",
                              suggest(gate->metric, name_metrics, text));
    return TA_OK;
}

static enum ta_status read_metric(struct ta_ctx *ctx, struct ta_slice left, struct ta_gate *gate)
{
    size_t n = 0;
    while (n < left.len && is_metric_byte(left.ptr[n]))
        n++;
    gate->metric = (struct ta_slice){left.ptr, n};
    if (n == 0)
        return ta_gate_refuse(ctx, gate->text, left.ptr,
                              "expected a figure such as regression, step_time.p50 or fps");
    if (n < left.len && left.ptr[n] != '@')
        return ta_gate_refuse(ctx, gate->text, ta_slice_at(left, n), "expected <, <=, > or >=");
    gate->kind = ta_slice_equal(gate->metric, TA_LIT("regression")) ? TA_GATE_REGRESSION
                 : ta_slice_equal(gate->metric, TA_LIT("finding"))  ? TA_GATE_FINDING
                                                                    : TA_GATE_FIGURE;
    if (n == left.len)
        return TA_OK;
    if (gate->kind != TA_GATE_FIGURE || n + 1 == left.len)
        return ta_gate_refuse(ctx, gate->text, ta_slice_at(left, n),
                              gate->kind == TA_GATE_FIGURE ? "expected a selector behind the @"
                                                           : "there is nothing to select here");
    return read_selector(ctx, ta_slice_from(left, n + 1), gate);
}

/* ---- the right side ----------------------------------------------------------------------- */

static const struct {
    const char *suffix;
    double factor;
    enum ta_unit unit;
} units[] = {
    {"ns", 1, TA_UNIT_NS},          {"us", 1e3, TA_UNIT_NS},        {"µs", 1e3, TA_UNIT_NS},
    {"ms", 1e6, TA_UNIT_NS},        {"s", 1e9, TA_UNIT_NS},         {"min", 60e9, TA_UNIT_NS},
    {"B", 1, TA_UNIT_BYTES},        {"KiB", 0x1p10, TA_UNIT_BYTES}, {"MiB", 0x1p20, TA_UNIT_BYTES},
    {"GiB", 0x1p30, TA_UNIT_BYTES}, {"TiB", 0x1p40, TA_UNIT_BYTES}, {"kB", 1e3, TA_UNIT_BYTES},
    {"MB", 1e6, TA_UNIT_BYTES},     {"GB", 1e9, TA_UNIT_BYTES},     {"TB", 1e12, TA_UNIT_BYTES},
    {"/s", 1, TA_UNIT_PER_S},       {"W", 1, TA_UNIT_WATT},         {"J", 1, TA_UNIT_JOULE},
    {"kJ", 1e3, TA_UNIT_JOULE},     {"C", 1, TA_UNIT_CELSIUS},      {"°C", 1, TA_UNIT_CELSIUS},
};

static enum ta_status read_suffix(struct ta_ctx *ctx, struct ta_slice suffix, struct ta_gate *gate)
{
    if (suffix.len == 0)
        return TA_OK;
    if (ta_slice_equal(suffix, TA_LIT("%"))) {
        gate->scale = TA_GATE_PERCENT;
        gate->value /= 100;
        return TA_OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ta_slice_equal(suffix, ta_slice_of(units[i].suffix))) {
            gate->scale = TA_GATE_UNIT;
            gate->unit = units[i].unit;
            gate->value *= units[i].factor;
            return TA_OK;
        }
    return ta_gate_refuse(ctx, gate->text, suffix.ptr,
                          "unknown unit \"%.*s\": there are %%, ns, us, ms, s, min, B, KiB, MiB, "
                          "GiB, kB, MB, GB, /s, W, J and C",
                          (int)(suffix.len < 20 ? suffix.len : 20), suffix.ptr);
}

static enum ta_status read_severity(struct ta_ctx *ctx, struct ta_slice right, struct ta_gate *gate)
{
    const char *names[TA_CRITICAL + 2] = {NULL};
    for (int s = TA_INFO; s <= TA_CRITICAL; s++) {
        names[s] = ta_severity_name((enum ta_severity)s);
        if (ta_slice_equal(right, ta_slice_of(names[s]))) {
            gate->severity = (enum ta_severity)s;
            gate->value = s;
            return TA_OK;
        }
    }
    char text[TA_SUGGEST_TEXT_MAX];
    return ta_gate_refuse(ctx, gate->text, right.ptr,
                          "expected a severity: info, low, medium, high or critical%s",
                          suggest(right, names, text));
}

static enum ta_status read_value(struct ta_ctx *ctx, struct ta_slice right, struct ta_gate *gate)
{
    if (gate->kind == TA_GATE_FINDING)
        return read_severity(ctx, right, gate);
    size_t n = 0;
    while (n < right.len && memchr("+-.0123456789", right.ptr[n], 13))
        n++;
    const size_t sign = n > 0 && right.ptr[0] == '+';
    gate->value = ta_text_double(ta_slice_part(right, sign, n));
    if (n == 0 || !isfinite(gate->value))
        return ta_gate_refuse(ctx, gate->text, right.ptr,
                              "expected a number, such as 5%% or 12.5ms");
    const struct ta_slice suffix = ta_text_trim(ta_slice_from(right, n));
    const enum ta_status status = read_suffix(ctx, suffix, gate);
    if (status == TA_OK && gate->kind == TA_GATE_REGRESSION &&
        (gate->scale != TA_GATE_PERCENT || gate->operator>= TA_GATE_BELOW || gate->value<0))
        return ta_gate_refuse(ctx, gate->text, right.ptr,
                              "a regression is a change for the worse: regression>5%%");
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* The last one: names of kernels hold brackets, too. */
static const char *find_operator(struct ta_slice text)
{
    for (size_t i = text.len; i-- > 0;)
        if (text.ptr[i] == '<' || text.ptr[i] == '>')
            return ta_slice_at(text, i);
    return NULL;
}

static enum ta_status read_word(struct ta_ctx *ctx, struct ta_slice text, struct ta_gate *gate)
{
    char buffer[TA_SUGGEST_TEXT_MAX];
    const char *list[sizeof words / sizeof *words + 1] = {NULL};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        list[i] = words[i].word;
        if (ta_slice_equal(text, ta_slice_of(words[i].word))) {
            gate->kind = words[i].kind;
            return TA_OK;
        }
    }
    return ta_gate_refuse(ctx, gate->text, ta_slice_end(text),
                          "expected <, <=, > or >= and a value, as in regression>5%%%s",
                          suggest(text, list, buffer));
}

enum ta_status ta_gate_read(struct ta_ctx *ctx, const char *text, struct ta_gate *gate)
{
    *gate = (struct ta_gate){.text = text};
    const struct ta_slice whole = ta_text_trim(ta_slice_of(text));
    const char *at = find_operator(whole);
    if (!at)
        return read_word(ctx, whole, gate);
    const char *end = ta_slice_end(whole);
    const bool equal = at + 1 < end && at[1] == '=';
    gate->operator= * at == '>' ? (equal ? TA_GATE_FROM : TA_GATE_ABOVE)
                                : (equal ? TA_GATE_TO : TA_GATE_BELOW);
    const struct ta_slice left =
        ta_text_trim((struct ta_slice){whole.ptr, (size_t)(at - whole.ptr)});
    const char *behind = at + 1 + equal;
    const enum ta_status status = read_metric(ctx, left, gate);
    if (status != TA_OK)
        return status;
    return read_value(ctx, ta_text_trim((struct ta_slice){behind, (size_t)(end - behind)}), gate);
}

bool ta_gate_trips(const struct ta_gate *gate, double number)
{
    switch (gate->operator) {
    case TA_GATE_ABOVE:
        return number > gate->value;
    case TA_GATE_FROM:
        return number >= gate->value;
    case TA_GATE_BELOW:
        return number < gate->value;
    case TA_GATE_TO:
        return number <= gate->value;
    }
    return false;
}

/* Linear in most cases: what a star matches grows only when what follows does not fit. */
bool ta_gate_fits(struct ta_slice pattern, struct ta_slice name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, from = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.len && (pattern.ptr[p] == '?' || pattern.ptr[p] == name.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}
