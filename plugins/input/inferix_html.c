/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page that Inferix writes of a session next to its report: cards with a figure and its label,
 * and tables of stages, layers and models, all rounded for people.
 *
 * It counts where the report is not at hand; next to the report of the session it is a copy of it
 * that is less exact.  The page is made of one template, with each value on a line of its own. */
#include "lib/inferix.h"

#include <ctype.h>

enum { CELLS = 8, CELL_MOST = 512 };

struct page {
    struct inferix in;
    char section[80], value[80];  /* of the card whose label comes next */
    char cells[CELLS][CELL_MOST]; /* of the row that is open */
    size_t n_cells;
    char priority[40], category[120], issue[CELL_MOST], suggestion[2 * CELL_MOST]; /* of advice */
    struct ta_session session;
};

static int sniff(const struct ta_probe *probe)
{
    const struct ta_slice head = ta_text_trim(probe->head);
    return ta_slice_starts(head, "<") && inferix_holds(head, "<title>Inferix Profiling Report - ")
               ? 95
               : 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* What is between two texts of a line, the first at its start; NULL without both. */
static struct ta_slice between(struct ta_slice line, const char *start, const char *end)
{
    const struct ta_slice rest = ta_slice_starts(line, start) ? ta_slice_from(line, strlen(start))
                                                              : (struct ta_slice){NULL, 0};
    const char *at = rest.len ? memmem(rest.ptr, rest.len, end, strlen(end)) : NULL;
    return at ? ta_slice_part(rest, 0, (size_t)(at - rest.ptr)) : (struct ta_slice){NULL, 0};
}

static void keep(char *to, size_t size, struct ta_slice text)
{
    snprintf(to, size, "%.*s", (int)ta_min_i64((int64_t)text.len, (int64_t)size), text.ptr);
}

/* The number of "93.0%", "15054MB", "24.3ms", "1,418,996,800": without unit and commas. */
static struct ta_slice number_of(const char *text, char buffer[80])
{
    size_t n = 0;
    for (; *text && n < 79; text++)
        if (isdigit((unsigned char)*text) || *text == '.' || *text == '-')
            buffer[n++] = *text;
        else if (*text != ',')
            break;
    buffer[n] = '\0';
    return (struct ta_slice){buffer, n};
}

static int64_t decimal_of(const char *text, int shift)
{
    char buffer[80];
    return ta_text_decimal(number_of(text, buffer), shift);
}

/* ---- cards ----------------------------------------------------------------------------------- */

/* Cards by section and label, with the keys that the report has for them. */
static const struct {
    const char *section, *label, *group, *key;
} cards[] = {
    {"Performance Summary", "Peak GPU Utilization", "gpu", "peak_gpu_utilization"},
    {"Performance Summary", "Peak GPU Memory", "gpu", "peak_memory_usage_mb"},
    {"Performance Summary", "Peak CPU Usage", "cpu", "peak_cpu_usage"},
    {"Performance Summary", "Peak System Memory", "cpu", "peak_memory_usage_mb"},
    {"Diffusion Model", "Diffusion Steps", "diffusion", "total_steps"},
    {"Diffusion Model", "Avg Block Size (frames)", "diffusion", "avg_block_size"},
    {"Diffusion Model", "Avg Timestep", "diffusion", "avg_timestep"},
    {"Diffusion Model", "FPS (Frames/Second)", "diffusion", "fps"},
    {"Diffusion Model", "BPS (Blocks/Second)", "diffusion", "bps"},
    {"Diffusion Model", "Avg Step Time", "diffusion", "avg_computation_time_ms"},
    {"Block Computation", "Total Blocks", "block", "total_blocks"},
    {"Block Computation", "Avg Block Size", "block", "avg_block_size"},
    {"Block Computation", "FPS (Frames/Second)", "block", "fps"},
    {"Block Computation", "BPS (Blocks/Second)", "block", "bps"},
    {"Block Computation", "Avg Block Time", "block", "avg_computation_time_ms"},
    {"Block Computation", "Peak Memory Usage", "block", "peak_memory_usage_mb"},
    {"Streaming Performance", "Current FPS", "streaming", "current_fps"},
    {"Streaming Performance", "Drop Rate", "streaming", "drop_rate_percent"},
    {"Streaming Performance", "Avg Encoding Time", "streaming", "avg_encoding_time_ms"},
    {"Streaming Performance", "Total Frames Streamed", "streaming", "total_frames_streamed"},
    {"Cache Performance", "Hit Rate", "cache", "hit_rate"},
    {"Cache Performance", "Miss Rate", "cache", "miss_rate"},
    {"Cache Performance", "Eviction Rate", "cache", "eviction_rate"},
};

static void take_card(struct page *page, struct ta_slice label)
{
    char number[80];
    struct ta_slice text = number_of(page->value, number);
    for (size_t i = 0; text.len && i < sizeof cards / sizeof *cards; i++) {
        if (!strstr(page->section, cards[i].section) ||
            !ta_slice_equal(label, ta_slice_of(cards[i].label)))
            continue;
        const struct ta_slice key = ta_slice_of(cards[i].key);
        char ratio[40];
        /* The report has rates of the cache as 0 to 1. */
        if (strcmp(cards[i].group, "cache") == 0) {
            snprintf(ratio, sizeof ratio, "%.6f", ta_text_double(text) / 100);
            text = ta_slice_of(ratio);
        }
        inferix_figure(&page->in, cards[i].group, TA_LIT(""), key, text);
        page->in.kept++;
    }
    page->value[0] = '\0';
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void take_stage(struct page *page)
{
    char number[80];
    struct ta_timed_stage row = ta_unknown_stage();
    row.name = inferix_intern(&page->in, ta_slice_of(page->cells[0]));
    row.total_ns = decimal_of(page->cells[1], 9);
    row.calls = decimal_of(page->cells[3], 0);
    INFERIX_ADD(&page->in, stage, &row);
    inferix_figure(&page->in, "stage", ta_slice_of(page->cells[0]), TA_LIT("percentage_of_total"),
                   number_of(page->cells[4], number));
}

static void take_layer(struct page *page)
{
    struct ta_layer row = ta_unknown_layer();
    row.name = inferix_intern(&page->in, ta_slice_of(page->cells[0]));
    row.total_ns = decimal_of(page->cells[1], 6);
    row.calls = decimal_of(page->cells[3], 0);
    INFERIX_ADD(&page->in, layer, &row);
}

static void take_model(struct page *page)
{
    const struct ta_model_info row = {
        .rank = TA_MISSING,
        .name = inferix_intern(&page->in, ta_slice_of(page->cells[0])),
        .parameters = decimal_of(page->cells[1], 0),
        .type = inferix_intern(&page->in, ta_slice_of(page->cells[2])),
    };
    INFERIX_ADD(&page->in, model, &row);
}

static void take_row(struct page *page)
{
    static const struct {
        const char *section;
        size_t cells;
        void (*take)(struct page *page);
    } tables[] = {
        {"Pipeline Stage", 5, take_stage},
        {"Computation Performance", 4, take_layer},
        {"Model Analysis", 3, take_model},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (page->n_cells == tables[i].cells && strstr(page->section, tables[i].section) &&
            !strstr(page->section, "Diffusion")) {
            tables[i].take(page);
            page->in.kept++;
        }
    page->n_cells = 0;
}

/* ---- advice and session ---------------------------------------------------------------------- */

static void take_advice(struct page *page)
{
    struct inferix *in = &page->in;
    const struct ta_given_advice row = {
        .rank = TA_MISSING,
        .category = inferix_intern(in, ta_slice_of(page->category)),
        .priority = inferix_intern(in, ta_slice_of(page->priority)),
        .issue = inferix_intern(in, ta_slice_of(page->issue)),
        .suggestion = inferix_intern(in, ta_slice_of(page->suggestion)),
    };
    if (page->category[0] && page->issue[0]) {
        INFERIX_ADD(in, advice, &row);
        in->kept++;
    }
    page->priority[0] = page->category[0] = page->issue[0] = page->suggestion[0] = '\0';
}

/* "<strong>[High] Diffusion Steps</strong><br>" and the two lines after it. */
static bool take_advice_line(struct page *page, struct ta_slice line)
{
    struct ta_slice text = between(line, "<strong>[", "</strong><br>");
    const char *bracket = text.len ? memchr(text.ptr, ']', text.len) : NULL;
    if (bracket) {
        const size_t n = (size_t)(bracket - text.ptr);
        keep(page->priority, sizeof page->priority, ta_slice_part(text, 0, n));
        keep(page->category, sizeof page->category, ta_text_trim(ta_slice_from(text, n + 1)));
        return true;
    }
    text = between(line, "<strong>Issue:</strong> ", "<br>");
    if (text.ptr)
        keep(page->issue, sizeof page->issue, text);
    else if (ta_slice_starts(line, "<strong>Suggestion:</strong> "))
        keep(page->suggestion, sizeof page->suggestion,
             ta_slice_from(line, strlen("<strong>Suggestion:</strong> ")));
    else
        return false;
    return true;
}

/* What a whole number among the tags says of all ranks. */
static void note_rank(struct page *page, const char *key, const json_t *value)
{
    const int64_t number = json_is_integer(value) ? json_integer_value(value) : TA_MISSING;
    if (strcmp(key, "rank") == 0 && number >= 0)
        ta_builder_set(page->in.builder, TA_SAYS_RANK, number);
    if (strcmp(key, "world_size") == 0 && number > 0)
        ta_builder_set(page->in.builder, TA_SAYS_WORLD_SIZE, number);
}

/* Tags are one line of JSON. */
static void take_tags(struct page *page, struct ta_slice text)
{
    json_t *tags = json_loadb(text.ptr, text.len, 0, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(tags, key, value)
    {
        char *shown =
            json_is_string(value)
                ? NULL
                : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
        const char *words = json_is_string(value) ? json_string_value(value) : shown;
        const struct ta_tag tag = {.rank = TA_MISSING,
                                   .key = inferix_intern(&page->in, ta_slice_of(key)),
                                   .value = inferix_intern(&page->in, ta_slice_of(words))};
        note_rank(page, key, value);
        if (words && !json_is_null(value))
            INFERIX_ADD(&page->in, tag, &tag);
        free(shown);
    }
    json_decref(tags);
}

static void take_session_line(struct page *page, struct ta_slice line)
{
    struct ta_slice text = between(line, "<p><strong>Session ID:</strong> ", "</p>");
    char number[40];
    if (text.ptr) {
        page->session.id = inferix_intern(&page->in, text);
        ta_builder_set_copy(page->in.builder, text, TA_EXACT_TEXT);
        return;
    }
    text = between(line, "<p><strong>Duration:</strong> ", " seconds</p>");
    if (text.ptr) {
        keep(number, sizeof number, text);
        page->session.dur_ns = decimal_of(number, 9);
        return;
    }
    text = between(line, "<p><strong>Tags:</strong> ", "</p>");
    if (text.ptr)
        take_tags(page, text);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void take_line(struct page *page, struct ta_slice line)
{
    struct ta_slice text = between(line, "<h2>", "</h2>");
    if (text.ptr) {
        keep(page->section, sizeof page->section, text);
    } else if ((text = between(line, "<div class=\"metric-value\">", "</div>")).ptr) {
        keep(page->value, sizeof page->value, text);
    } else if ((text = between(line, "<div class=\"metric-label\">", "</div>")).ptr) {
        take_card(page, text);
    } else if ((text = between(line, "<td>", "</td>")).ptr) {
        if (page->n_cells < CELLS)
            keep(page->cells[page->n_cells++], CELL_MOST, text);
    } else if (ta_slice_starts(line, "<tr")) {
        page->n_cells = 0;
    } else if (ta_slice_starts(line, "</tr>")) {
        take_row(page);
    } else if (!take_advice_line(page, line)) {
        if (ta_slice_starts(line, "</div>"))
            take_advice(page);
        else if (strstr(page->section, "Session Information"))
            take_session_line(page, line);
    }
}

static enum ta_status read_page(struct ta_ctx *ctx, struct ta_reader *reader,
                                struct ta_builder *builder)
{
    struct page *page = calloc(1, sizeof *page);
    struct ta_lines *lines = ta_lines_new(ctx, reader);
    enum ta_status status = lines ? TA_OK : ta_ctx_status(ctx);
    if (!page && status == TA_OK)
        status = ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold a page of Inferix");
    if (page && lines) {
        page->in = inferix_begin(ctx, reader, builder);
        page->session = ta_unknown_session();
        while (page->in.status == TA_OK && ta_lines_next(lines))
            take_line(page, ta_text_trim(lines->line));
        if (page->session.id != TA_STR_ABSENT || page->session.dur_ns != TA_MISSING) {
            INFERIX_ADD(&page->in, session, &page->session);
            page->in.kept++;
        }
        status = inferix_end(&page->in, "figure, stage, layer, model or session");
    }
    ta_lines_free(lines);
    free(page);
    return status;
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_page};

TA_PLUGIN(input, inferix_html, &ops, .title = "Inferix page",
          .summary = "Session reports of Inferix as HTML: the same figures, rounded",
          .version = "1");
