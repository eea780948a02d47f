/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts for people: the summary of sections, whose metrics are Python dictionaries, and the merged
 * operators as Markdown. */
#include "base/convert.h"
#include "diffulex.h"

#include <traceanalyze/base.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BANNER "Diffulex Profiling Summary"

int dx_sniff_summary(struct ta_slice head)
{
    if (head.len == 0 || head.ptr[0] == '{' || head.ptr[0] == '[')
        return 0;
    return dx_holds(head, BANNER) ? 92 : 0;
}

/* ---- Python dictionaries -------------------------------------------------------------------- */

/* The end of a value: a comma or the closing bracket of its level, outside texts. */
static size_t value_end(struct ta_slice text)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (quote) {
            i += c == '\\';
            if (c == quote)
                quote = 0;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (strchr("([{", c)) {
            depth++;
        } else if (strchr(")]}", c) && depth-- == 0) {
            return i;
        } else if (c == ',' && depth == 0) {
            return i;
        }
    }
    return text.len;
}

/* The text of a literal of Python in place of `out`, which has room for it; other values stay as
 * they are written. */
static struct ta_slice unquote(struct ta_slice text, char *out)
{
    text = ta_text_trim(text);
    if (text.len < 2 || (text.ptr[0] != '\'' && text.ptr[0] != '"') ||
        text.ptr[text.len - 1] != text.ptr[0])
        return text;
    size_t n = 0;
    for (size_t i = 1; i + 1 < text.len; i++) {
        if (text.ptr[i] == '\\' && i + 2 < text.len && strchr("\\'\"", text.ptr[i + 1]))
            i++;
        out[n++] = text.ptr[i];
    }
    return (struct ta_slice){out, n};
}

/* Takes "'key': value" off the front. */
static bool take_pair(struct ta_slice *text, struct ta_slice *key, struct ta_slice *value)
{
    *text = ta_text_trim(*text);
    if (text->len < 2 || (text->ptr[0] != '\'' && text->ptr[0] != '"'))
        return false;
    size_t end = 1;
    while (end < text->len && text->ptr[end] != text->ptr[0])
        end += text->ptr[end] == '\\' ? 2 : 1;
    if (end + 1 >= text->len || text->ptr[end + 1] != ':')
        return false;
    *key = (struct ta_slice){text->ptr, end + 1};
    *text = ta_slice_from(*text, end + 2);
    const size_t n = value_end(*text);
    *value = (struct ta_slice){text->ptr, n};
    const size_t used = n + (n < text->len);
    *text = ta_slice_from(*text, used);
    return true;
}

static void take_dictionary(struct sections *s, struct ta_slice name, struct ta_slice text,
                            bool are_metrics)
{
    char *out = malloc(2 * text.len + 1);
    struct ta_slice key, value;
    if (!out) {
        s->r->status = ta_fail(s->r->ctx, TA_ERR_NOMEM, "Cannot hold a dictionary");
        return;
    }
    text = ta_text_trim(text);
    if (text.len && text.ptr[0] == '{') {
        text.ptr++;
        text.len--;
    }
    while (s->r->status == TA_OK && take_pair(&text, &key, &value)) {
        const struct ta_slice bare_key = unquote(key, out);
        const struct ta_slice bare = unquote(value, out + key.len);
        const bool is_text = bare.ptr == out + key.len;
        if (ta_slice_equal(bare, TA_LIT("None")) && !is_text)
            continue;
        if (are_metrics && !is_text)
            dx_sections_metric(s, name, bare_key, bare);
        else
            dx_sections_tag(s, name, bare_key, bare);
    }
    free(out);
}

/* ---- sections ------------------------------------------------------------------------------- */

/* A section as far as it has been read. */
struct open_section {
    struct sections *s;
    struct section section;
    char *name; /* bytes of its name, since the line goes */
    char *metrics, *metadata;
    size_t n_metrics, n_metadata;
    bool is_open;
};

static char *keep(struct reading *r, struct ta_slice text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold a line of a summary");
    else if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

static void close_section(struct open_section *open)
{
    struct reading *r = open->s->r;
    if (open->is_open && open->section.dur_ns == TA_MISSING) {
        r->dropped++;
        ta_quality_add(r->quality, TA_Q_BAD_RECORD, TA_NO_OFFSET, "A section has no duration");
    } else if (open->is_open) {
        r->kept++;
        dx_sections_add(open->s, &open->section);
        if (open->metrics)
            take_dictionary(open->s, open->section.name,
                            (struct ta_slice){open->metrics, open->n_metrics}, true);
        if (open->metadata)
            take_dictionary(open->s, open->section.name,
                            (struct ta_slice){open->metadata, open->n_metadata}, false);
    }
    free(open->name);
    free(open->metrics);
    free(open->metadata);
    *open = (struct open_section){.s = open->s};
}

static void open_section(struct open_section *open, struct ta_slice name)
{
    close_section(open);
    open->name = keep(open->s->r, name);
    if (!open->name)
        return;
    open->is_open = true;
    open->section = (struct section){
        .name = {open->name, name.len},
        .dur_ns = TA_MISSING,
        .seconds = NAN,
        .tokens = 0, /* the text leaves zeros out */
        .tokens_per_s = NAN,
        .gpu_change = NAN,
        .memory_change = TA_MISSING,
    };
}

/* What follows a label; false when the line has another one. */
static bool after(struct ta_slice line, const char *label, struct ta_slice *rest)
{
    if (!ta_slice_starts(line, label))
        return false;
    const size_t n = strlen(label);
    *rest = ta_text_trim(ta_slice_from(line, n));
    return true;
}

/* "0.0213 seconds", "-8.00%": the number alone. */
static struct ta_slice first_word(struct ta_slice text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] != ' ' && text.ptr[n] != '%')
        n++;
    return (struct ta_slice){text.ptr, n};
}

/* A line of an open section, indented by two blanks. */
static void take_detail(struct open_section *open, struct ta_slice line)
{
    struct section *section = &open->section;
    struct ta_slice rest;
    if (after(line, "  Duration:", &rest)) {
        section->dur_ns = ta_text_decimal(first_word(rest), 9);
        section->seconds = ta_text_double(first_word(rest));
    } else if (after(line, "  Tokens:", &rest)) {
        section->tokens = ta_text_integer(first_word(rest));
    } else if (after(line, "  Throughput:", &rest)) {
        section->tokens_per_s = ta_text_double(first_word(rest));
    } else if (after(line, "  GPU Utilization:", &rest)) {
        section->gpu_change = ta_text_double(first_word(rest)) / 100;
    } else if (after(line, "  Memory Delta:", &rest)) {
        section->memory_change = ta_text_mib(first_word(rest));
    } else if (after(line, "  Custom Metrics:", &rest)) {
        free(open->metrics);
        open->metrics = keep(open->s->r, rest);
        open->n_metrics = rest.len;
    } else if (after(line, "  Metadata:", &rest)) {
        free(open->metadata);
        open->metadata = keep(open->s->r, rest);
        open->n_metadata = rest.len;
    }
}

static void take_product(struct open_section *open, struct ta_slice line)
{
    static const char *const labels[][2] = {
        {"  VizTracer Output:", "output_file"},
        {"  PyTorch Trace:", "trace_file"},
        {"  PyTorch Stacks:", "stacks_file"},
        {"  PyTorch Top Table:", "top_table_file"},
    };
    struct ta_slice rest;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (after(line, labels[i][0], &rest))
            dx_sections_tag(open->s, open->section.name, ta_slice_of(labels[i][1]), rest);
}

enum ta_status dx_read_summary(struct reading *r)
{
    struct ta_lines *lines = ta_lines_new(r->ctx, r->reader);
    if (!lines)
        return ta_ctx_status(r->ctx);
    struct sections s;
    struct open_section open = {.s = &s};
    struct ta_slice rest;
    bool begun = false;
    dx_sections_begin(&s, r);
    while (r->status == TA_OK && !ta_ctx_canceled(r->ctx) && ta_lines_next(lines)) {
        begun |= ta_slice_starts(lines->line, BANNER);
        if (!begun)
            continue;
        if (after(lines->line, "Section:", &rest)) {
            open_section(&open, rest);
        } else if (after(lines->line, "Average Throughput:", &rest)) {
            dx_sections_total(&s, ta_text_double(first_word(rest)));
        } else if (open.is_open) {
            take_detail(&open, lines->line);
            take_product(&open, lines->line);
        }
    }
    ta_lines_free(lines);
    close_section(&open);
    dx_sections_end(&s, TA_EXACT_TEXT);
    ta_builder_count(r->builder, r->kept, 0, r->dropped);
    if (r->status == TA_OK && r->kept == 0 && (r->dropped || !begun))
        return ta_fail(r->ctx, TA_ERR_INPUT, "A summary without a section that can be used");
    if (r->status == TA_OK && r->kept == 0)
        ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "The summary has no sections");
    return r->status;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

enum {
    MD_EDGE,
    MD_PROFILE,
    MD_EVENT,
    MD_COUNT,
    MD_SELF_DEVICE,
    MD_DEVICE,
    MD_SELF_CPU,
    MD_CPU,
    MD_CELLS
};

int dx_sniff_markdown(struct ta_slice head)
{
    return ta_slice_starts(head, "# Torch Profile Summary") &&
                   dx_holds(head, "| profile | event | count |")
               ? 92
               : 0;
}

/* "| profile | `event` | 10 | …": bars in a name come before the last six cells. */
static bool split_markdown(struct ta_slice line, struct ta_slice cells[MD_CELLS])
{
    line = ta_text_trim(line);
    if (line.len < 2 || line.ptr[0] != '|' || line.ptr[line.len - 1] != '|')
        return false;
    size_t end = line.len - 1;
    for (size_t cell = MD_CPU; cell > MD_EVENT; cell--) {
        size_t at = end;
        while (at > 0 && line.ptr[at - 1] != '|')
            at--;
        if (at < 2)
            return false;
        cells[cell] = ta_text_trim(ta_slice_part(line, at, end));
        end = at - 1;
    }
    const char *bar = memchr(ta_slice_at(line, 1), '|', end > 1 ? end - 1 : 0);
    if (!bar)
        return false;
    cells[MD_PROFILE] = ta_text_trim(ta_slice_part(line, 1, (size_t)(bar - line.ptr)));
    cells[MD_EVENT] = ta_text_trim(ta_slice_part(line, (size_t)(bar - line.ptr) + 1, end));
    return true;
}

/* The two tables of the file share rows; one of a profile and name counts once.  A kernel, which
 * takes no time of the host, may be called like the operator that launches it. */
static void take_row(struct operators *o, struct ta_map *seen,
                     const struct ta_slice cells[MD_CELLS])
{
    struct reading *r = o->r;
    struct ta_slice name = cells[MD_EVENT];
    if (name.len >= 2 && name.ptr[0] == '`' && name.ptr[name.len - 1] == '`')
        name = ta_slice_part(name, 1, name.len - 1);
    struct operator_row row = {.profile = ta_builder_string(r->builder, cells[MD_PROFILE])};
    row.sum = ta_unknown_operator_sum();
    row.sum.rank = dx_rank_of_profile(cells[MD_PROFILE]);
    row.sum.name = ta_builder_string(r->builder, name);
    row.sum.calls = ta_text_integer(cells[MD_COUNT]);
    row.sum.self_cpu_ns = ta_text_decimal(cells[MD_SELF_CPU], 6);
    row.sum.cpu_ns = ta_text_decimal(cells[MD_CPU], 6);
    row.sum.self_device_ns = ta_text_decimal(cells[MD_SELF_DEVICE], 6);
    row.sum.device_ns = ta_text_decimal(cells[MD_DEVICE], 6);
    if (row.sum.calls == TA_MISSING)
        return; /* the head of the table, or the line below it */
    const uint64_t pair =
        (uint64_t)row.profile << 33 | (uint64_t)row.sum.name << 1 | (row.sum.cpu_ns > 0);
    r->kept++;
    if (ta_map_find(seen, pair))
        return;
    ta_map_at(seen, pair, 1);
    dx_operators_add(o, &row);
}

enum ta_status dx_read_markdown(struct reading *r)
{
    struct ta_lines *lines = ta_lines_new(r->ctx, r->reader);
    if (!lines)
        return ta_ctx_status(r->ctx);
    struct operators o;
    struct ta_map seen = {0};
    struct ta_slice cells[MD_CELLS];
    dx_operators_begin(&o, r);
    while (r->status == TA_OK && !ta_ctx_canceled(r->ctx) && ta_lines_next(lines))
        if (split_markdown(lines->line, cells))
            take_row(&o, &seen, cells);
    ta_lines_free(lines);
    if (seen.failed && r->status == TA_OK)
        r->status = ta_fail(r->ctx, TA_ERR_NOMEM, "Cannot hold the operators of a file");
    ta_map_free(&seen);
    dx_operators_merged(&o, false);
    ta_builder_count(r->builder, r->kept, 0, 0);
    if (r->status == TA_OK && r->kept == 0)
        ta_quality_add(r->quality, TA_Q_NO_EVENTS, TA_NO_OFFSET, "The tables have no rows");
    return r->status;
}
