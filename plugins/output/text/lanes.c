/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture: segments on named lanes over one axis, a block character for each stretch of it.
 *
 * A character has the class that fills most of its stretch.  Lanes that only say where something
 * is, such as phases, have its name between bars.  Shares are in the legend of one lane, and in the
 * bars of several. */
#include "report/tables.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SHARE_MOST = 16,
    ENTRY_MOST = 160,
    NAME_MOST = 18,
    GAP = 2,
    COLUMNS_LEAST = 24,
    KINDS_MOST = 64,
    LANES_MOST = 16
};

/* Two kinds that have less than this share of each lane are drawn and named as one. */
#define NAMED_LEAST 0.005
#define ALIKE 0.99
enum { SMALL_KINDS = KINDS_MOST - 1 };

struct picture {
    const struct page *page;
    const struct ta_table *table;
    const struct ta_chart *chart;
    size_t lane, label, from, length, group; /* columns; SIZE_MAX: none */
    const struct ta_kind *kinds;
    size_t n_kinds;
    double start, end;
    struct ta_slice names[LANES_MOST];
    bool is_context[LANES_MOST]; /* the lane says where something is */
    size_t n_lanes, name_width, width;
    struct ta_slice named[KINDS_MOST]; /* by the first segment, where a kind has no label */
    double sums[KINDS_MOST], sum;      /* over all lanes without context */
    size_t order[KINDS_MOST], n_order; /* kinds as they come */
    uint32_t seen[KINDS_MOST];         /* the lanes of a kind, as bits */
    double on_lane[LANES_MOST][KINDS_MOST];
    bool is_small[KINDS_MOST]; /* one with other kinds */
    size_t n_bars;             /* lanes without context */
    bool has_whole;            /* one for all of them */
    bool is_in_time_order;     /* a kind comes again on a lane */
    double *filled;            /* of each column of a lane, by kind */
};

/* ---- reading ------------------------------------------------------------------------- */

static struct ta_slice text_at(const struct picture *picture, size_t row, size_t column)
{
    const struct ta_cell *cell =
        column == SIZE_MAX ? NULL : ta_table_cell(picture->table, row, column);
    return cell && cell->kind == TA_CELL_TEXT ? cell->text : TA_LIT("");
}

static double number_at(const struct picture *picture, size_t row, size_t column)
{
    return ta_cell_number(ta_table_cell(picture->table, row, column), (double)NAN);
}

/* The kind of a row; SIZE_MAX where the chart does not know it. */
static size_t kind_of(const struct picture *picture, size_t row)
{
    const struct ta_slice value = text_at(picture, row, picture->group);
    for (size_t i = 0; i < picture->n_kinds; i++)
        if (ta_slice_equal(value, ta_slice_of(picture->kinds[i].value)))
            return i;
    return SIZE_MAX;
}

/* The lane of a row; lanes are in the order of appearance. */
static size_t lane_of(const struct picture *picture, size_t row)
{
    const struct ta_slice name = text_at(picture, row, picture->lane);
    size_t i = 0;
    while (i < picture->n_lanes && !ta_slice_equal(picture->names[i], name))
        i++;
    return i;
}

static bool is_segment(const struct picture *picture, size_t row)
{
    return number_at(picture, row, picture->length) > 0 &&
           !isnan(number_at(picture, row, picture->from)) && kind_of(picture, row) != SIZE_MAX;
}

static void read_row(struct picture *picture, size_t row)
{
    const size_t kind = kind_of(picture, row), lane = lane_of(picture, row);
    const double from = number_at(picture, row, picture->from);
    const double length = number_at(picture, row, picture->length);
    const bool is_context = picture->kinds[kind].ink == TA_INK_BAND;
    if (lane == LANES_MOST)
        return;
    if (lane == picture->n_lanes) {
        const size_t width = ta_terminal_width(text_at(picture, row, picture->lane));
        picture->names[picture->n_lanes] = text_at(picture, row, picture->lane);
        picture->is_context[picture->n_lanes++] = is_context;
        if (width > picture->name_width)
            picture->name_width = width < NAME_MOST ? width : NAME_MOST;
    }
    picture->start = fmin(picture->start, from);
    picture->end = fmax(picture->end, from + length);
    if (is_context)
        return;
    if (picture->sums[kind] == 0) {
        picture->named[kind] = text_at(picture, row, picture->label);
        picture->order[picture->n_order++] = kind;
    }
    picture->is_in_time_order |= (picture->seen[kind] & UINT32_C(1) << lane) != 0;
    picture->seen[kind] |= UINT32_C(1) << lane;
    picture->sums[kind] += length;
    picture->on_lane[lane][kind] += length;
    picture->sum += length;
}

static double time_on(const struct picture *picture, size_t lane)
{
    double time = 0;
    for (size_t i = 0; i < picture->n_kinds; i++)
        time += picture->on_lane[lane][i];
    return time;
}

/* One alone has its own name. */
static void find_small(struct picture *picture)
{
    size_t n = 0;
    for (size_t kind = 0; kind < picture->n_kinds; kind++) {
        double most = 0;
        for (size_t lane = 0; lane < picture->n_lanes; lane++)
            if (!picture->is_context[lane])
                most = fmax(most, picture->on_lane[lane][kind] / time_on(picture, lane));
        picture->is_small[kind] = most > 0 && most < NAMED_LEAST;
        n += picture->is_small[kind];
    }
    for (size_t kind = 0; kind < picture->n_kinds; kind++) {
        picture->is_small[kind] &= n > 1;
        if (picture->is_small[kind])
            picture->sums[SMALL_KINDS] += picture->sums[kind];
    }
}

/* Bars of one length have one whole, and so shares that may be held against each other. */
static void count_bars(struct picture *picture)
{
    double shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < picture->n_lanes; i++)
        if (!picture->is_context[i]) {
            picture->n_bars++;
            shortest = fmin(shortest, time_on(picture, i));
            longest = fmax(longest, time_on(picture, i));
        }
    picture->has_whole = shortest >= ALIKE * longest;
}

/* False for a chart that cannot be drawn. */
static bool read_picture(struct picture *picture, const struct ta_table *table,
                         const struct ta_chart *chart)
{
    if (!chart->label[0] || !chart->x || !chart->y[0].column || !chart->group || !chart->kinds)
        return false;
    picture->table = table;
    picture->chart = chart;
    picture->lane = ta_table_column(table, chart->label[0]);
    picture->label = chart->label[1] ? ta_table_column(table, chart->label[1]) : SIZE_MAX;
    picture->from = ta_table_column(table, chart->x);
    picture->length = ta_table_column(table, chart->y[0].column);
    picture->group = ta_table_column(table, chart->group);
    picture->kinds = chart->kinds;
    while (picture->n_kinds < SMALL_KINDS && picture->kinds[picture->n_kinds].value)
        picture->n_kinds++;
    if (picture->from == SIZE_MAX || picture->length == SIZE_MAX)
        return false;
    picture->start = INFINITY;
    picture->end = -INFINITY;
    for (size_t row = 0; row < table->n_rows; row++)
        if (is_segment(picture, row))
            read_row(picture, row);
    find_small(picture);
    count_bars(picture);
    return picture->end > picture->start && picture->sum > 0;
}

/* ---- drawing ------------------------------------------------------------------------- */

/* Told apart where there is no color. */
static const char *glyph_of(enum ta_ink ink)
{
    static const char *const series[] = {"█", "▓", "▒", "░", "▚", "=", "+"};
    static const char *const inks[TA_INK_COUNT] = {
        [TA_INK_COMPUTE] = "█", [TA_INK_COMM] = "▚",        [TA_INK_MEMCPY] = "=",
        [TA_INK_MEMSET] = "=",  [TA_INK_COMM_HIDDEN] = "▞", [TA_INK_ATTENTION] = "▓",
        [TA_INK_CONV] = "▒",    [TA_INK_POINTWISE] = "░",   [TA_INK_KERNEL] = "+",
        [TA_INK_WAIT] = "-",    [TA_INK_OTHER] = "x",
    };
    if (ink >= TA_INK_SERIES_1 && ink <= TA_INK_SERIES_7)
        return series[ink - TA_INK_SERIES_1];
    const char *idle = text_idle_glyph(ink);
    return idle ? idle : inks[ink] ? inks[ink] : "o";
}

static const char *glyph_of_kind(const struct picture *picture, size_t kind)
{
    return kind == SMALL_KINDS ? "*" : glyph_of(picture->kinds[kind].ink);
}

static enum ta_ink ink_of_kind(const struct picture *picture, size_t kind)
{
    return kind == SMALL_KINDS ? TA_INK_MUTED : picture->kinds[kind].ink;
}

static double column_at(const struct picture *picture, double time)
{
    return (time - picture->start) / (picture->end - picture->start) * (double)picture->width;
}

/* Spreads a segment over the columns that it is in. */
static void fill(const struct picture *picture, size_t row)
{
    const double from = number_at(picture, row, picture->from);
    const double begin = column_at(picture, from);
    const double end = column_at(picture, from + number_at(picture, row, picture->length));
    const size_t own = kind_of(picture, row), kind = picture->is_small[own] ? SMALL_KINDS : own;
    for (size_t i = ta_whole_size(begin); i < picture->width && (double)i < end; i++)
        picture->filled[i * KINDS_MOST + kind] += fmin(end, (double)i + 1) - fmax(begin, (double)i);
}

/* The kind that fills most of a column; SIZE_MAX where most of it is empty. */
static size_t most_of(const struct picture *picture, size_t column)
{
    const double *filled = &picture->filled[column * KINDS_MOST];
    size_t most = SIZE_MAX;
    double sum = 0;
    for (size_t i = 0; i < KINDS_MOST; i++) {
        sum += filled[i];
        if (filled[i] > 0 && (most == SIZE_MAX || filled[i] > filled[most]))
            most = i;
    }
    return sum >= 0.5 ? most : SIZE_MAX;
}

/* "20 %", where several lanes have shares of their own and the stretch has room; else "". */
static const char *share_in(const struct picture *picture, size_t lane, size_t kind, size_t columns,
                            char text[SHARE_MOST])
{
    const double time = kind == SMALL_KINDS ? 0 : picture->on_lane[lane][kind];
    *text = '\0';
    if (picture->n_bars > 1 && picture->has_whole && !picture->is_in_time_order && time > 0)
        snprintf(text, SHARE_MOST, " %.0f %% ", 100 * time / (picture->end - picture->start));
    return strlen(text) + 2 <= columns ? text : "";
}

/* A stretch of one kind, with its share in the middle. */
static void draw_stretch(const struct picture *picture, size_t lane, size_t kind, size_t columns)
{
    const struct page *page = picture->page;
    char text[SHARE_MOST];
    const char *share = share_in(picture, lane, kind, columns, text);
    const size_t before = (columns - strlen(share)) / 2;
    text_ink(page, ink_of_kind(picture, kind));
    for (size_t i = 0; i < columns - strlen(share); i++) {
        if (i == before && *share) {
            text_reset(page);
            ta_puts(page->out, share);
            text_ink(page, ink_of_kind(picture, kind));
        }
        ta_puts(page->out, glyph_of_kind(picture, kind));
    }
    text_reset(page);
}

static void draw_lane(const struct picture *picture, size_t lane)
{
    const struct page *page = picture->page;
    memset(picture->filled, 0, picture->width * KINDS_MOST * sizeof *picture->filled);
    for (size_t row = 0; row < picture->table->n_rows; row++)
        if (is_segment(picture, row) && lane_of(picture, row) == lane)
            fill(picture, row);
    size_t blanks = 0;
    for (size_t i = 0, end; i < picture->width; i = end) {
        const size_t kind = most_of(picture, i);
        for (end = i + 1; end < picture->width && most_of(picture, end) == kind;)
            end++;
        if (kind == SIZE_MAX) {
            blanks = end - i;
            continue;
        }
        text_blanks(page, blanks);
        blanks = 0;
        draw_stretch(picture, lane, kind, end - i);
    }
}

static size_t word_of(struct ta_slice text)
{
    const char *blank = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
    return blank ? (size_t)(blank - text.ptr) : text.len;
}

/* What of a label has room: all of it, else its name without its figure, or its first word, or the
 * number of "step 12"; nothing else. */
static struct ta_slice label_for(struct ta_slice label, size_t room)
{
    if (ta_terminal_width(label) <= room)
        return label;
    size_t name = 0, digits = 0;
    while (name < label.len && (label.ptr[name] < '0' || label.ptr[name] > '9'))
        name++;
    while (name + digits < label.len && label.ptr[name + digits] >= '0' &&
           label.ptr[name + digits] <= '9')
        digits++;
    struct ta_slice shorter = {label.ptr, name};
    if (digits && name + digits == label.len)
        shorter = (struct ta_slice){ta_slice_at(label, name), digits};
    else if (name == label.len)
        return TA_LIT("");
    while (shorter.len && shorter.ptr[shorter.len - 1] == ' ')
        shorter.len--;
    if (ta_terminal_width(shorter) > room && name + digits < label.len)
        shorter.len = word_of(shorter);
    return ta_terminal_width(shorter) <= room ? shorter : TA_LIT("");
}

/* "|text encode|  step 1  |  step 2  |": `at` is the column that is written next. */
static void put_between(const struct picture *picture, size_t row, size_t *at)
{
    const struct page *page = picture->page;
    const double from = number_at(picture, row, picture->from);
    const size_t begin = ta_whole_size(rint(column_at(picture, from)));
    size_t end =
        ta_whole_size(rint(column_at(picture, from + number_at(picture, row, picture->length))));
    end = end < picture->width ? end : picture->width - 1;
    if (end < begin + 2 || begin + 1 < *at)
        return;
    if (begin >= *at) {
        text_blanks(page, begin - *at);
        ta_putc(page->out, '|');
    }
    const size_t room = end - begin - 1;
    const struct ta_slice label = label_for(text_at(picture, row, picture->label), room);
    const size_t width = ta_terminal_width(label), left = (room - width) / 2;
    text_blanks(page, left);
    ta_put_terminal(page->out, label, 0, 0);
    text_blanks(page, room - width - left);
    ta_putc(page->out, '|');
    *at = end + 1;
}

static void draw_context(const struct picture *picture, size_t lane)
{
    size_t at = 0;
    text_style(picture->page, TEXT_DIM);
    for (size_t row = 0; row < picture->table->n_rows; row++)
        if (is_segment(picture, row) && lane_of(picture, row) == lane)
            put_between(picture, row, &at);
    text_reset(picture->page);
}

/* ---- what the classes come to -------------------------------------------------------- */

/* The kind that is named next: in the order of the bars, or where that is one of time, by size;
 * small ones together come last, and SIZE_MAX after it. */
static size_t next_kind(const struct picture *picture, const bool said[KINDS_MOST])
{
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < picture->n_order; i++) {
        const size_t kind = picture->order[i];
        if (said[kind] || picture->is_small[kind])
            continue;
        if (!picture->is_in_time_order)
            return kind;
        if (next == SIZE_MAX || picture->sums[kind] > picture->sums[next])
            next = kind;
    }
    if (next == SIZE_MAX && picture->sums[SMALL_KINDS] > 0 && !said[SMALL_KINDS])
        return SMALL_KINDS;
    return next;
}

/* "attention 17 %"; of several lanes, whose shares differ, without it. */
static void name_kind(const struct picture *picture, size_t kind, char text[ENTRY_MOST])
{
    const char *label = kind == SMALL_KINDS ? "other" : picture->kinds[kind].label;
    const struct ta_slice named = picture->named[kind];
    const double percent = 100 * picture->sums[kind] / picture->sum;
    if (*label && picture->n_bars > 1)
        snprintf(text, ENTRY_MOST, "%.100s", label);
    else if (*label)
        snprintf(text, ENTRY_MOST, "%.100s %.*f %%", label, percent < 1 ? 1 : 0, percent);
    else
        snprintf(text, ENTRY_MOST, "%.*s", (int)ta_slice_head(named, 120).len,
                 named.len ? named.ptr : "");
}

static void put_legend(const struct picture *picture)
{
    struct text_legend legend = {.page = picture->page};
    bool said[KINDS_MOST] = {false};
    size_t next;
    if (picture->n_order < 2)
        return;
    while ((next = next_kind(picture, said)) != SIZE_MAX) {
        char text[ENTRY_MOST];
        said[next] = true;
        name_kind(picture, next, text);
        text_legend_add(&legend, ink_of_kind(picture, next), glyph_of_kind(picture, next),
                        ta_slice_of(text));
    }
    text_legend_end(&legend);
}

static void draw_lanes(const struct picture *picture, size_t most)
{
    const struct page *page = picture->page;
    ta_putc(page->out, '\n');
    for (size_t i = 0; i < picture->n_lanes && i < most; i++) {
        text_blanks(page, TEXT_INDENT);
        ta_put_terminal(page->out, picture->names[i], picture->name_width, 1);
        text_blanks(page, GAP);
        (picture->is_context[i] ? draw_context : draw_lane)(picture, i);
        ta_putc(page->out, '\n');
    }
    put_legend(picture);
}

enum ta_status text_picture(const struct page *page, size_t most, bool *is_drawn)
{
    struct picture picture = {.page = page};
    const struct ta_table *table;
    const struct ta_chart *chart = ta_report_picture(page->report, &table);
    *is_drawn = chart && chart->kind == TA_CHART_AREAS && text_levels(page, table, chart);
    if (!chart || chart->kind != TA_CHART_LANES || !read_picture(&picture, table, chart))
        return TA_OK;
    const size_t taken = TEXT_INDENT + picture.name_width + GAP;
    picture.width = page->width > taken + COLUMNS_LEAST ? page->width - taken : COLUMNS_LEAST;
    picture.filled = calloc(picture.width * KINDS_MOST, sizeof *picture.filled);
    if (!picture.filled)
        return ta_fail(page->ctx, TA_ERR_NOMEM, "Out of memory: doing=draw the picture");
    draw_lanes(&picture, most);
    free(picture.filled);
    *is_drawn = true;
    return TA_OK;
}
