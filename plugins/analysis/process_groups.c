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

static const struct ta_column by_rank_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [NAME] = {"group", "Group", TA_TEXT, .doc = "Name of the process group; a number in torch"},
    [DESCRIPTION] = {"description", "Description", TA_TEXT,
                     .doc = "Purpose of the group, as the program describes it"},
    [RANKS] = {"ranks", "Ranks", TA_TEXT, .doc = "Ranks of the group, as recorded"},
    [CALLS] = {"calls", "Records", TA_COUNT,
               .doc = "Operator and kernel records that name the group"},
};

static const struct ta_table_def by_rank = {
    "groups.by_rank",
    "Process groups by rank",
    TA_COLUMNS(by_rank_columns),
    .doc = "One row per rank and process group that its collectives name: the parallel layout as "
           "the ranks report it. `--by group` compares the groups with each other.",
    .tier = TA_TIER_DETAIL,
    .not_of_ranks = true};

static const char *const args[] = {"Process Group Name", "Process Group Description",
                                   "Process Group Ranks", NULL};

static struct ta_slice text_of(const struct ta_trace *trace, ta_str text)
{
    return text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(trace, text);
}

/* A group as a record names it. */
struct group {
    int64_t name; /* a text or a number */
    bool is_text;
    ta_str description, ranks;
    int64_t *row;
};

/* The text next to the name of the group, which is mostly at the same place. */
static ta_str beside(const struct ta_args *names, size_t place, const struct ta_args *of)
{
    if (of->row != names->row)
        return ta_args_text(of, names->row[place]);
    return ta_args_is_text(of, place) ? (ta_str)ta_args_value(of, place) : TA_STR_ABSENT;
}

static bool is_same(const struct group *a, const struct group *b)
{
    return a->name == b->name && a->is_text == b->is_text && a->description == b->description &&
           a->ranks == b->ranks;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    (void)ctx;
    enum { RECENT = 16 };
    struct group recent[RECENT] = {{0}}; /* by the last bits of the name */
    const struct ta_spans spans = ta_trace_spans(trace);
    const struct ta_categories categories = ta_trace_categories(trace);
    const struct ta_args names = ta_trace_args(trace, args[0]);
    const struct ta_args descriptions = ta_trace_args(trace, args[1]);
    const struct ta_args ranks = ta_trace_args(trace, args[2]);
    for (size_t i = 0; i < names.n; i++) {
        if (ta_class_is_captured(categories.at[spans.cat[names.row[i]]].class))
            continue;
        struct group group = {.name = ta_args_value(&names, i),
                              .is_text = ta_args_is_text(&names, i),
                              .description = beside(&names, i, &descriptions),
                              .ranks = beside(&names, i, &ranks)};
        struct group *met = &recent[(uint64_t)group.name % RECENT];
        if (!met->row || !is_same(met, &group)) {
            char number[24];
            struct ta_slice name = {number, 0};
            if (group.is_text)
                name = ta_trace_text(trace, (ta_str)group.name);
            else
                name.len = (size_t)snprintf(number, sizeof number, "%" PRId64, group.name);
            group.row = TA_PARTIAL_ROW(out[0], ta_key_int(ta_trace_rank(trace)), ta_key_text(name),
                                       ta_key_text(text_of(trace, group.description)),
                                       ta_key_text(text_of(trace, group.ranks)));
            *met = group;
        }
        ta_sum(&met->row[CALLS], 1);
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
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)ctx;
    (void)in;
    const struct ta_partial *groups = merged[0];

    for (size_t i = 0; i < ta_partial_rows(groups); i++) {
        const int64_t *row = ta_partial_at(groups, i);
        TA_ROW(out, by_rank, [RANK] = ta_int(row[RANK]), [NAME] = text_cell(groups, row, NAME),
               [DESCRIPTION] = text_cell(groups, row, DESCRIPTION),
               [RANKS] = text_cell(groups, row, RANKS), [CALLS] = ta_int(row[CALLS]));
    }
    return TA_OK;
}

/* What is known of the collectives themselves comes first. */
static const struct ta_table_def *const tables[] = {&by_rank, NULL};

static const struct ta_analysis_ops ops = {.needs_args = args,
                                           .section = "collectives",
                                           .place = 10,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, process_groups, &ops, .title = "Process groups",
          .summary = "The process groups that collectives name, by rank: groups.by_rank",
          .version = "1");
