/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section of the timeline. A script draws the slices; without one the static overview of the
 * whole run takes their place. */
#include "timeline.h"

#include "base/write/file.h"
#include "render/base64.h"
#include "render/chart/scene.h"
#include "render/chart/svg.h"
#include "render/chart/timeline.h"
#include "report/tables.h"
#include "report/words.h"

#include <glib.h>
#include <stdlib.h>

/* Points. */
enum { OVERVIEW_WIDTH = 760 };

/* ---- rows about a stretch of time -------------------------------------------------------------
 */

static const char start_word[] = "start_ns", dur_word[] = "dur_ns", device_word[] = "gpu_";

/* The duration that belongs to a start: the same word is in front of both. */
static size_t duration_of(const struct ta_table *table, size_t start)
{
    const char *const key = table->columns[start].key;
    const size_t n = strlen(key), word = sizeof start_word - 1;
    if (n < word || strcmp(key + n - word, start_word) != 0 || !ta_column_is_useful(table, start))
        return SIZE_MAX;
    for (size_t i = 0; i < table->n_columns; i++)
        if (strncmp(table->columns[i].key, key, n - word) == 0 &&
            strcmp(table->columns[i].key + n - word, dur_word) == 0 &&
            ta_column_is_useful(table, i))
            return i;
    return SIZE_MAX;
}

/* Columns of tables with a rank, a start on the clock of the rank's file and a duration: "start_ns"
 * and "dur_ns", or both with the same word in front. */
struct range_columns timeline_range_columns(const struct page *page, const struct ta_table *table)
{
    struct range_columns found = {.rank = ta_table_rank(table)};
    if (!page->timeline || found.rank == SIZE_MAX)
        return found;
    for (int of_device = 1; of_device >= 0; of_device--)
        for (size_t i = 0; i < table->n_columns && found.n < RANGES_MOST; i++) {
            const char *const key = table->columns[i].key;
            const bool is_of_device = strncmp(key, device_word, sizeof device_word - 1) == 0;
            const size_t dur = is_of_device == of_device ? duration_of(table, i) : SIZE_MAX;
            if (dur == SIZE_MAX)
                continue;
            found.at[found.n].start = i;
            found.at[found.n++].dur = dur;
        }
    return found;
}

bool timeline_range(const struct range_columns *columns, const struct ta_table *table, size_t row,
                    struct window *window)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct ta_cell *rank = ta_table_cell(table, row, columns->rank);
        const struct ta_cell *start = ta_table_cell(table, row, columns->at[i].start);
        const struct ta_cell *dur = ta_table_cell(table, row, columns->at[i].dur);
        if (rank->kind != TA_CELL_INT || start->kind != TA_CELL_INT || dur->kind != TA_CELL_INT)
            continue;
        *window = (struct window){rank->i, start->i, ta_add_sat(start->i, dur->i)};
        return true;
    }
    return false;
}

/* ---- rows about a phase or a step ---------------------------------------------------------- */

/* Whether a slice is called so: "denoise" is also "denoise · image 2". */
static bool is_called(struct ta_slice label, struct ta_slice name)
{
    static const char next[] = " · ";
    const struct ta_slice rest = {next, sizeof next - 1};
    if (label.len < name.len || !ta_slice_equal(ta_slice_part(label, 0, name.len), name))
        return false;
    return label.len == name.len ||
           (label.len > name.len + rest.len &&
            ta_slice_equal(ta_slice_part(label, name.len, name.len + rest.len), rest));
}

/* Looks in the phases and steps of a file for the longest of a name. */
static void find_longest(const struct ta_timeline *timeline, const struct ta_timeline_file *file,
                         struct ta_slice name, struct window *window)
{
    const struct ta_timeline_track *track = &file->program;
    for (size_t i = 0; i < track->n_lanes; i++) {
        struct ta_timeline_cursor cursor = ta_timeline_open(file, track, &track->lanes[i]);
        struct ta_timeline_slice slice;
        while (ta_timeline_next(&cursor, &slice))
            if (is_called(timeline->labels[slice.label].name, name) &&
                slice.dur_ns > window->end_ns - window->start_ns)
                *window =
                    (struct window){file->rank, slice.start_ns, slice.start_ns + slice.dur_ns};
    }
}

/* The longest phase, block or step of the rank that a text of the row names. */
static bool find_named(const struct page *page, const struct ta_table *table, size_t row,
                       int64_t rank, struct window *window)
{
    const struct ta_timeline *timeline = page->timeline;
    *window = (struct window){.rank = rank};
    for (size_t c = 0; c < table->n_columns && window->end_ns == window->start_ns; c++) {
        const struct ta_cell *cell = ta_table_cell(table, row, c);
        for (size_t i = 0; cell->kind == TA_CELL_TEXT && i < timeline->n_files; i++)
            if (timeline->files[i].rank == rank)
                find_longest(timeline, &timeline->files[i], cell->text, window);
    }
    return window->end_ns > window->start_ns;
}

/* ---- rows about a cause of idle time ------------------------------------------------------- */

/* Columns of the longest gaps that other rows have, too. */
enum { GAP_CAUSE, GAP_SITE };
static const struct ta_ref gap_reads[] = {
    [GAP_CAUSE] = {"gpu_idle.longest", "cause"}, [GAP_SITE] = {"gpu_idle.longest", "site"}};

static bool is_gap_of(const struct ta_refs *gaps, size_t gap, const struct ta_table *table,
                      size_t row)
{
    bool has_word = false;
    for (size_t i = 0; i < TA_LENGTH(gap_reads); i++) {
        const size_t own = ta_table_column(table, gap_reads[i].column);
        if (own == SIZE_MAX)
            continue;
        const struct ta_cell *a = ta_table_cell(table, row, own);
        const struct ta_cell *b = ta_ref_cell(gaps, i, gap);
        if (a->kind != TA_CELL_TEXT || b->kind != TA_CELL_TEXT || !ta_slice_equal(a->text, b->text))
            return false;
        has_word = true;
    }
    return has_word;
}

/* The longest gap of the cause that a row is about, of its rank where it has one; SIZE_MAX: none.
 * A row of the gaps themselves is its own. */
static size_t find_gap(const struct ta_refs *in, const struct page *page,
                       const struct ta_table *table, size_t row, int64_t rank,
                       struct window *window)
{
    const struct ta_table *gaps = ta_ref_table(in, GAP_CAUSE);
    size_t found = SIZE_MAX;
    *window = (struct window){.rank = rank};
    if (!gaps)
        return found;
    const struct range_columns columns = timeline_range_columns(page, gaps);
    for (size_t i = 0; i < gaps->n_rows; i++) {
        struct window gap;
        if ((gaps == table ? i == row : is_gap_of(in, i, table, row)) &&
            timeline_range(&columns, gaps, i, &gap) && (rank == TA_MISSING || gap.rank == rank) &&
            gap.end_ns - gap.start_ns > window->end_ns - window->start_ns) {
            *window = gap;
            found = i;
        }
    }
    return found;
}

/* What the script says of a gap: its cause, and where the host was. */
static void put_why(const struct page *page, const struct ta_refs *gaps, size_t gap)
{
    ta_puts(page->out, " data-why=\"");
    const char *separator = "";
    for (size_t i = 0; i < TA_LENGTH(gap_reads); i++) {
        const struct ta_cell *cell = ta_ref_cell(gaps, i, gap);
        if (cell->kind != TA_CELL_TEXT)
            continue;
        html_put(page, "%s%s: ", separator,
                 ta_ref_table(gaps, i)->columns[ta_ref_column(gaps, i)].title);
        ta_put_html(page->out, cell->text);
        separator = " · ";
    }
    ta_puts(page->out, "\"");
}

/* ---- the section --------------------------------------------------------------------------- */

static void put_totals(const struct page *page)
{
    const struct ta_timeline *timeline = page->timeline;
    uint64_t slices = 0, tracks = 0, counters = 0;
    bool several_ranks = false;
    for (size_t i = 0; i < timeline->n_files; i++) {
        slices += timeline->files[i].n_slices;
        tracks += timeline->files[i].n_tracks;
        counters += timeline->files[i].n_counters;
        several_ranks |= timeline->files[i].rank != timeline->files[0].rank;
    }
    if (slices) {
        html_count(page, slices, "slice", "slices");
        ta_puts(page->out, " on ");
        html_count(page, tracks, "track", "tracks");
    }
    if (counters) {
        ta_puts(page->out, slices ? ", " : "");
        html_count(page, counters, "counter", "counters");
    }
    if (several_ranks && timeline->clock != TA_TIMELINE_APART) {
        ta_puts(page->out, timeline->clock == TA_TIMELINE_BY_DATES
                               ? ". All ranks are on the wall clock that dates their files."
                               : ". All ranks are on one clock, aligned by their collectives.");
        return;
    }
    ta_puts(page->out, ". Each file counts time from its earliest span or sample");
    if (several_ranks)
        ta_puts(page->out, "; ranks are drawn side by side, not on one clock, which is what "
                           "<code>traceanalyze merge</code> does");
    ta_puts(page->out, ".");
}

/* The whole run as one drawing that needs no script. */
static enum ta_status put_overview(const struct page *page)
{
    if (!ta_timeline_has_scene(page->timeline))
        return TA_OK;
    struct ta_scene *scene = ta_timeline_page_scene(page->timeline, OVERVIEW_WIDTH);
    if (!scene)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Cannot draw the overview of the timeline");
    ta_puts(page->out, "<details class=\"overview\" open=\"\"><summary>Overview</summary>\n"
                       "<figure id=\"c-timeline\">\n<div class=\"drawing\">");
    ta_put_svg(page->out, scene);
    html_put(page, "</div>\n<figcaption>%s</figcaption>\n</figure>\n</details>\n", scene->caption);
    ta_scene_free(scene);
    return TA_OK;
}

enum ta_status html_timeline(const struct page *page)
{
    if (!page->timeline)
        return TA_OK;
    ta_puts(page->out, "<section id=\"s-" HTML_TIMELINE "\" aria-labelledby=\"h-" HTML_TIMELINE
                       "\">\n<h2 id=\"h-" HTML_TIMELINE "\">Timeline</h2>\n<p class=\"prose\">");
    put_totals(page);
    /* Colors and names of the kinds of slices, for the script too. */
    ta_puts(page->out, "</p>\n<div class=\"timeline\" data-args=\"");
    for (int arg = 0; arg < TA_TIMELINE_ARGS; arg++)
        ta_putf(page->out, arg ? "|%s" : "%s", ta_arg_look((enum ta_timeline_arg)arg)->title);
    ta_puts(page->out, "\">\n<ul class=\"kinds\">\n");
    for (int kind = 0; kind < TA_SLICE_KIND_COUNT; kind++) {
        const struct ta_slice_look *look = ta_slice_look((enum ta_slice_kind)kind);
        ta_putf(page->out, "<li data-ink=\"%s\"><span class=\"ink-%s\"></span>%s</li>\n",
                ta_ink_name(look->ink), ta_ink_name(look->ink), look->title);
    }
    ta_puts(page->out, "</ul>\n</div>\n");
    const enum ta_status status = put_overview(page);
    ta_puts(page->out, "</section>\n");
    return status;
}

/* ---- what the page holds ------------------------------------------------------------------- */

/* Says what was left out, and why. */
static void put_choice(const struct page *page, const struct timeline_choice *choice)
{
    const struct packed *packed = &choice->packed;
    ta_puts(page->out, "<p class=\"limit\" id=\"timeline-note\">Timeline: ");
    if (!choice->fits) {
        ta_puts(page->out, "no slices, because this page has no room for any; --max-html-size "
                           "gives it more.</p>\n");
        return;
    }
    const uint64_t left_out = packed->n_slices - packed->n_kept;
    if (!left_out) {
        ta_puts(page->out, "every slice is in this page.</p>\n");
        return;
    }
    html_number(page, packed->n_kept);
    ta_puts(page->out, " of ");
    html_count(page, packed->n_slices, "slice", "slices");
    ta_puts(page->out, " are in this page: slices of ");
    const struct ta_cell cell = ta_int(choice->shortest_ns);
    html_value(page, &cell, TA_UNIT_NS);
    ta_puts(page->out, " and longer");
    if (choice->n_windows)
        ta_puts(page->out, ", and all in short times that findings cite");
    ta_puts(page->out, ". Shorter ones are drawn as the share of time that they fill");
    if (packed->n_too_deep) {
        ta_puts(page->out, "; ");
        html_number(page, packed->n_too_deep);
        ta_puts(page->out, " are nested too deeply to be drawn");
    }
    ta_puts(page->out, ".</p>\n");
}

/* Around the slices, with some digits to spare. */
enum { FRAME_BYTES = 1024 };

enum ta_status html_timeline_data(const struct page *page)
{
    if (!page->timeline)
        return TA_OK;
    const uint64_t used = ta_file_bytes(page->out) + FRAME_BYTES;
    const uint64_t most = page->options->max_html_size;
    struct timeline_choice choice;
    const enum ta_status status = timeline_choose(page, most > used ? most - used : 0, &choice);
    if (status != TA_OK)
        return status;
    put_choice(page, &choice);
    if (!choice.fits)
        return TA_OK;
    ta_puts(page->out, "<script type=\"application/json\" id=\"timeline-data\">\"");
    const enum ta_status written =
        ta_put_base64(page->ctx, page->out, choice.packed.bytes, choice.packed.size);
    ta_puts(page->out, "\"</script>\n");
    free(choice.packed.bytes);
    return written;
}

/* ---- links --------------------------------------------------------------------------------- */

static bool has_label(const struct page *page, struct ta_slice name)
{
    for (size_t i = 0; i < page->timeline->n_labels; i++)
        if (ta_slice_equal(page->timeline->labels[i].name, name))
            return true;
    return false;
}

/* The first text of a row that is the name of slices; NULL without one. */
static const struct ta_cell *find_label(const struct page *page, const struct ta_table *table,
                                        size_t row)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct ta_cell *cell = ta_table_cell(table, row, c);
        if (cell->kind == TA_CELL_TEXT && has_label(page, cell->text))
            return cell;
    }
    return NULL;
}

/* Whether the timeline has tracks of a rank. */
static bool has_rank(const struct ta_timeline *timeline, int64_t rank)
{
    size_t low = 0, high = timeline->n_files;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (timeline->files[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < timeline->n_files && timeline->files[low].rank == rank;
}

void html_timeline_link(const struct page *page, const struct ta_table *table,
                        const struct ta_evidence *evidence)
{
    const size_t row = page->timeline && table ? ta_evidence_row(table, evidence) : SIZE_MAX;
    if (row == SIZE_MAX)
        return;
    const struct range_columns columns = timeline_range_columns(page, table);
    const size_t of_rank = ta_table_rank(table);
    const struct ta_cell *number = of_rank == SIZE_MAX ? NULL : ta_table_cell(table, row, of_rank);
    const int64_t rank = number && number->kind == TA_CELL_INT ? number->i : TA_MISSING;
    struct window window;
    struct ta_refs gaps;
    ta_refs_open(&gaps, page->report, gap_reads, TA_LENGTH(gap_reads));
    const size_t gap = find_gap(&gaps, page, table, row, rank, &window);
    const bool has_window =
        gap != SIZE_MAX || timeline_range(&columns, table, row, &window) ||
        (has_rank(page->timeline, rank) && find_named(page, table, row, rank, &window));
    const bool is_on_rank = has_rank(page->timeline, has_window ? window.rank : rank);
    const struct ta_cell *name = is_on_rank && has_window ? NULL : find_label(page, table, row);
    if (!is_on_rank && !name)
        return;
    ta_puts(page->out, " <a class=\"timeline-link\" href=\"#s=" HTML_TIMELINE);
    if (is_on_rank)
        html_put(page, "&amp;rank=%ld", has_window ? window.rank : rank);
    if (is_on_rank && has_window)
        html_put(page, "&amp;sel=%ld,%ld", window.start_ns, window.end_ns);
    if (name) {
        gchar *escaped = g_uri_escape_bytes((const guint8 *)name->text.ptr, name->text.len, NULL);
        ta_putf(page->out, "&amp;find=%s", escaped);
        g_free(escaped);
    }
    ta_puts(page->out, "\"");
    if (gap != SIZE_MAX)
        put_why(page, &gaps, gap);
    ta_puts(page->out, ">timeline</a>");
}

void html_timeline_column(const struct page *page, const struct ta_table *table, size_t column)
{
    const struct range_columns columns = timeline_range_columns(page, table);
    for (size_t i = 0; i < columns.n; i++)
        if (columns.at[i].start == column)
            ta_putf(page->out, " data-range=\"%zu,%zu\"", columns.rank, columns.at[i].dur);
}
