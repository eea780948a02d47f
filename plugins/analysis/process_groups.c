/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.by_rank: the process groups that the collectives of each rank name. */
#include <traceanalyze/analysis.h>

#include <inttypes.h>
#include <stdio.h>

enum { RANK, NAME, DESCRIPTION, RANKS, CALLS, FIELDS };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},
    [NAME] = {"name", TA_FIELD_TEXT},
    [DESCRIPTION] = {"description", TA_FIELD_TEXT},
    [RANKS] = {"ranks", TA_FIELD_TEXT},
    [CALLS] = {"calls", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"groups", fields, FIELDS}, {0}};

static const struct ta_column columns[] = {
    TA_RANK_COLUMN,
    TA_TEXT_COLUMN("group", "Group", "Name of the process group, a number in torch"),
    TA_TEXT_COLUMN("description", "Description", "What it is for, as the program says"),
    TA_TEXT_COLUMN("ranks", "Ranks", "Its ranks, as recorded"),
    TA_COUNT_COLUMN("calls", "Records", TA_NEUTRAL,
                    "Records of operators and kernels that name it"),
};

static const char *const args[] = {"Process Group Name", "Process Group Description",
                                   "Process Group Ranks", NULL};

static struct ta_slice text_of(const struct ta_trace *trace, ta_str text)
{
    return text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, text);
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    const struct ta_args names = ta_trace_args(trace, args[0]);
    const struct ta_args descriptions = ta_trace_args(trace, args[1]);
    const struct ta_args ranks = ta_trace_args(trace, args[2]);
    for (size_t i = 0; i < names.n; i++) {
        char number[24];
        struct ta_slice name = {number, 0};
        if (ta_args_is_text(&names, i))
            name = ta_trace_text(trace, (ta_str)ta_args_value(&names, i));
        else
            name.len =
                (size_t)snprintf(number, sizeof number, "%" PRId64, ta_args_value(&names, i));
        int64_t *row =
            TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_key_text(name),
                           ta_key_text(text_of(trace, ta_args_text(&descriptions, names.row[i]))),
                           ta_key_text(text_of(trace, ta_args_text(&ranks, names.row[i]))));
        ta_sum(&row[CALLS], 1);
    }
    return TA_OK;
}

/* Names tell groups apart: of thousands of ranks the first are enough. */
static struct ta_cell text_cell(const struct ta_partial *groups, const int64_t *row, size_t field)
{
    enum { LONG = 200 };
    struct ta_slice text = ta_partial_text(groups, row, field);
    if (text.len > LONG)
        for (text.len = LONG; ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80;)
            text.len--; /* not within a character */
    return text.len ? ta_text(text) : ta_null();
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_report *prior, struct ta_section_builder *out)
{
    (void)ctx;
    (void)prior;
    const struct ta_partial *groups = merged[0];
    struct ta_table_builder *table = ta_add_table(out, "groups.by_rank", "Process groups by rank",
                                                  columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < ta_partial_rows(groups); i++) {
        const int64_t *row = ta_partial_at(groups, i);
        TA_ROW(table, ta_int(row[RANK]), text_cell(groups, row, NAME),
               text_cell(groups, row, DESCRIPTION), text_cell(groups, row, RANKS),
               ta_int(row[CALLS]));
    }
    return TA_OK;
}

/* What is known of the collectives themselves comes first. */
static const char *const behind[] = {"collectives", NULL};

static const struct ta_analysis_ops ops = {.behind = behind,
                                           .needs_args = args,
                                           .section = "collectives",
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish};

TA_PLUGIN(analysis, process_groups, &ops, .title = "Process groups",
          .summary = "The process groups that collectives name, by rank: groups.by_rank",
          .version = "1");
