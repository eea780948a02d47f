/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes: segments side by side on named lanes, all on one axis, with what they are written inside
 * where it fits.
 *
 * A kind whose ink is TA_INK_BAND names stretches, such as phases, and one of TA_INK_GRID is the
 * rest: its segments say where something is, and the legend leaves it out. */
#include "render/chart/layout.h"
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>

/* Points. */
enum {
    ROW = 26,
    ROW_OF_MANY = 18,
    GAP = 6,
    INSET = 3,
    NAME_LINE = 14,
    TICK_LINE = 14,
    NAME_GAP = 8,
    NAMES_MOST = 150
};
/* Narrower than this the names of lanes stand above them. */
enum { NARROW = 420 };
enum { KINDS_MOST = 64 };
/* More lanes than these are lower, so that findings stand on the same screen. */
enum { LANES_WHOLE = 4 };

struct segment {
    size_t lane;
    double from, length;
    const char *label;
    const struct ta_kind *kind;
};

struct lanes {
    const char **names;
    size_t n;
    struct segment *segments;
    size_t n_segments, n_missing;
    double from, to;
    size_t value_column;
    enum ta_unit unit;
    bool is_narrow;
    double left; /* where segments begin */
};

/* The kind of a row; one without a name for a class that the chart does not know. */
static const struct ta_kind *kind_of(const struct ta_layout *layout, size_t row, size_t column)
{
    static const struct ta_kind none = {"", "other", TA_INK_OTHER};
    if (column == SIZE_MAX || !layout->chart->kinds)
        return &none;
    const struct ta_cell *cell = ta_table_cell(layout->table, row, column);
    for (const struct ta_kind *kind = layout->chart->kinds; kind->value; kind++)
        if (cell->kind == TA_CELL_TEXT && ta_slice_equal(cell->text, ta_slice_of(kind->value)))
            return kind;
    return &none;
}

static bool is_context(const struct ta_kind *kind)
{
    return kind->ink == TA_INK_BAND || kind->ink == TA_INK_GRID;
}

/* The lane of a name; lanes are in the order of appearance. */
static size_t lane_of(struct lanes *lanes, const char *name)
{
    for (size_t i = lanes->n; i-- > 0;)
        if (strcmp(lanes->names[i], name) == 0)
            return i;
    lanes->names[lanes->n] = name;
    return lanes->n++;
}

static void read_rows(struct ta_layout *layout, struct lanes *lanes)
{
    const struct ta_chart *chart = layout->chart;
    const size_t lane = ta_data_column(layout, chart->label[0]);
    const size_t label = ta_data_column(layout, chart->label[1]);
    const size_t start = ta_data_column(layout, chart->x);
    const size_t group = ta_data_column(layout, chart->group);
    lanes->from = INFINITY;
    lanes->to = -INFINITY;
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        const double from = ta_data_value(layout, row, start);
        const double length = ta_data_value(layout, row, lanes->value_column);
        if (!(length > 0) || isnan(from)) {
            lanes->n_missing++;
            continue;
        }
        const bool has_label =
            label != SIZE_MAX && ta_table_cell(layout->table, row, label)->kind != TA_CELL_NULL;
        lanes->segments[lanes->n_segments++] = (struct segment){
            .lane = lane_of(lanes, lane == SIZE_MAX ? "" : ta_data_cell(layout, row, lane)),
            .from = from,
            .length = length,
            .label = has_label ? ta_data_cell(layout, row, label) : "",
            .kind = kind_of(layout, row, group),
        };
        lanes->from = fmin(lanes->from, from);
        lanes->to = fmax(lanes->to, from + length);
    }
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* What of a label has room: all of it, else its name without its figure, what says enough of the
 * name ("idle, …", "waiting for …"), or the number of "step 12"; NULL for nothing. */
static const char *label_for(struct ta_layout *layout, const char *label, double width)
{
    if (!*label || ta_pen_width(layout, TA_FACE_SMALL, label) <= width)
        return *label ? label : NULL;
    const char *blank = strrchr(label, ' ');
    if (blank && strcmp(blank, " %") == 0)
        blank = memrchr(label, ' ', (size_t)(blank - label));
    const bool has_figure = blank && blank[1] >= '0' && blank[1] <= '9';
    const size_t name = has_figure ? (size_t)(blank - label) : strlen(label);
    const char *number = has_figure ? blank + 1 : "";
    const size_t digits = strspn(number, "0123456789");
    if (*number && number[digits] == '\0')
        return ta_pen_width(layout, TA_FACE_SMALL, number) <= width ? number : NULL;
    const char *shorter = ta_pen_printf(layout, "%.*s", (int)name, label);
    if (*shorter && ta_pen_width(layout, TA_FACE_SMALL, shorter) <= width)
        return shorter;
    static const char *const ends[] = {", ", " for "};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(label, ends[i]);
        const char *first = end ? ta_pen_printf(layout, "%.*s", (int)(end - label), label) : "";
        if (*first && ta_pen_width(layout, TA_FACE_SMALL, first) <= width)
            return first;
    }
    return NULL;
}

static double row_of(const struct lanes *lanes)
{
    return lanes->n > LANES_WHOLE ? ROW_OF_MANY : ROW;
}

static double top_of(const struct lanes *lanes, size_t lane)
{
    const double above = lanes->is_narrow ? NAME_LINE : 0;
    return (double)lane * (row_of(lanes) + GAP * row_of(lanes) / ROW + above) + above;
}

static void draw_segment(struct ta_layout *layout, const struct lanes *lanes,
                         const struct segment *segment)
{
    const double scale = (layout->width - lanes->left) / (lanes->to - lanes->from);
    const double x = lanes->left + (segment->from - lanes->from) * scale;
    const double width = segment->length * scale;
    const double drawn = width > 3 ? width - 1 : width; /* what is next to it stays apart */
    const double y = top_of(lanes, segment->lane);
    const struct ta_kind *kind = segment->kind;
    const char *named = *segment->label ? segment->label : kind->label;
    const char *tip = ta_pen_printf(
        layout, "%s · %s · %s · %s", lanes->names[segment->lane], named,
        ta_pen_value(layout, segment->length, lanes->unit),
        ta_pen_value(layout, segment->length / (lanes->to - lanes->from), TA_UNIT_RATIO));
    ta_pen_rect(layout, kind->ink, x, y, drawn, row_of(lanes), tip);
    const char *label = label_for(layout, segment->label, drawn - 2 * INSET);
    if (label)
        ta_pen_text_in(layout, kind->ink, x, y, drawn, row_of(lanes), label);
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* Names stand left of their lanes, or above them where that would take the room of these. */
static void place_names(struct ta_layout *layout, struct lanes *lanes)
{
    double widest = 0;
    for (size_t i = 0; i < lanes->n; i++)
        widest = fmax(widest, ta_pen_width(layout, TA_FACE_SMALL, lanes->names[i]));
    lanes->is_narrow = layout->width < NARROW && widest > 0;
    lanes->left = lanes->is_narrow || widest <= 0 ? 0 : fmin(ceil(widest), NAMES_MOST) + NAME_GAP;
}

static void draw_names(struct ta_layout *layout, const struct lanes *lanes)
{
    const double room = lanes->is_narrow ? layout->width : lanes->left - NAME_GAP;
    for (size_t i = 0; i < lanes->n; i++) {
        const char *name = ta_pen_fit(layout, TA_FACE_SMALL, lanes->names[i], room);
        const double y = top_of(lanes, i);
        ta_pen_text(layout, TA_INK_TEXT, TA_FACE_SMALL,
                    lanes->is_narrow ? TA_ANCHOR_START : TA_ANCHOR_END, lanes->is_narrow ? 0 : room,
                    lanes->is_narrow ? y - 4 : y + row_of(lanes) * 0.64, name,
                    name == lanes->names[i] ? NULL : lanes->names[i]);
    }
}

/* ---- what the classes come to ---------------------------------------------------------------- */

struct total {
    const struct ta_kind *kind;
    const char *named; /* by its first segment, where it has no label */
    double time;
};

static int largest_first(const void *left, const void *right)
{
    const struct total *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? 1 : -1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* A kind is once on a lane that is sorted by size; what comes again is in the order of time. */
static bool is_in_time_order(const struct lanes *lanes)
{
    for (size_t i = 1; i < lanes->n_segments; i++) {
        const struct segment *segment = &lanes->segments[i];
        for (size_t k = 0; k < i && !is_context(segment->kind); k++)
            if (lanes->segments[k].kind == segment->kind &&
                lanes->segments[k].lane == segment->lane)
                return true;
    }
    return false;
}

/* The kinds that occur with their time, all lanes together: in the order of the bars, or where that
 * is one of time, by their time.  Returns how many, and sets `sum`. */
static size_t add_up(const struct lanes *lanes, struct total totals[KINDS_MOST], double *sum)
{
    size_t n = 0;
    *sum = 0;
    for (size_t i = 0; i < lanes->n_segments; i++) {
        const struct segment *segment = &lanes->segments[i];
        if (is_context(segment->kind))
            continue;
        size_t at = 0;
        while (at < n && totals[at].kind != segment->kind)
            at++;
        if (at == KINDS_MOST)
            continue;
        if (at == n)
            totals[n++] = (struct total){segment->kind, segment->label, 0};
        totals[at].time += segment->length;
        *sum += segment->length;
    }
    if (is_in_time_order(lanes))
        qsort(totals, n, sizeof *totals, largest_first);
    return n;
}

/* Shares of less are in the data alone. */
static const double least_share = 0.005;

/* What the shares of the legend are of, where it is not one lane. */
static const char *whole_of(const struct lanes *lanes, char text[TA_WHOLE_MAX])
{
    struct ta_whole whole = {0};
    for (size_t lane = 0; lane < lanes->n; lane++) {
        size_t i = 0;
        while (i < lanes->n_segments &&
               (lanes->segments[i].lane != lane || lanes->segments[i].kind->ink == TA_INK_BAND))
            i++;
        if (i < lanes->n_segments)
            ta_whole_add(&whole, ta_slice_of(lanes->names[lane]));
    }
    return ta_whole_text(&whole, text);
}

static double draw_legend(struct ta_layout *layout, const struct lanes *lanes, double y)
{
    struct total totals[KINDS_MOST];
    struct ta_legend_entry entries[KINDS_MOST];
    double sum;
    const size_t kinds = add_up(lanes, totals, &sum);
    size_t n = 0;
    bool has_shares = false;
    const char *parts = "";
    for (size_t i = 0; i < kinds; i++) {
        if (totals[i].time < least_share * sum)
            continue;
        const char *share = ta_pen_value(layout, totals[i].time / sum, TA_UNIT_RATIO);
        has_shares |= *totals[i].kind->label != '\0';
        const char *label = *totals[i].kind->label
                                ? ta_pen_printf(layout, "%s %s", totals[i].kind->label, share)
                                : totals[i].named;
        entries[n] = (struct ta_legend_entry){totals[i].kind->ink, TA_MARK_RECT, label};
        parts = ta_pen_printf(layout, "%s%s%s", parts, n ? ", " : "", label);
        n++;
    }
    char of[TA_WHOLE_MAX];
    if (n && has_shares && *whole_of(lanes, of))
        entries[n - 1].label = ta_pen_printf(layout, "%s %s", entries[n - 1].label, of);
    const char *whole = ta_pen_value(layout, lanes->to - lanes->from, lanes->unit);
    layout->summary = n ? ta_pen_printf(layout, "Of %s: %s.", whole, parts)
                        : ta_pen_printf(layout, "%zu parts of %s.", lanes->n_segments, whole);
    /* One kind is no news. */
    return n > 1 ? ta_guide_legend(layout, entries, n, y) : 0;
}

/* One bar of parts sorted by size has shares, as its legend does; the last one says of how much. */
static const char *tick_label(struct ta_layout *layout, const struct lanes *lanes, double tick,
                              bool is_share)
{
    if (tick <= 0)
        return "0";
    if (!is_share)
        return ta_pen_value(layout, tick, lanes->unit);
    return tick < 1 ? ta_pen_printf(layout, "%.0f\u202f%%", 100 * tick)
                    : ta_pen_printf(layout, "100\u202f%% = %s",
                                    ta_pen_value(layout, lanes->to - lanes->from, lanes->unit));
}

static void draw(struct ta_layout *layout, struct lanes *lanes)
{
    place_names(layout, lanes);
    const struct ta_plot plot = {lanes->left, 0, layout->width - lanes->left,
                                 top_of(lanes, lanes->n - 1) + row_of(lanes)};
    const bool is_share = lanes->n == 1 && lanes->n_segments > 1 && !is_in_time_order(lanes);
    const struct ta_axis axis =
        is_share ? ta_guide_fit(layout, 0, 1, TA_UNIT_RATIO, plot.w)
                 : ta_guide_fit(layout, 0, lanes->to - lanes->from, lanes->unit, plot.w);
    draw_names(layout, lanes);
    for (size_t i = 0; i < lanes->n_segments; i++)
        draw_segment(layout, lanes, &lanes->segments[i]);
    double free_from = 0;
    for (size_t i = 0; i < axis.n_ticks; i++)
        free_from = ta_guide_centered(layout, ta_plot_x(&plot, &axis, axis.ticks[i]),
                                      plot.h + TICK_LINE - 2, free_from,
                                      tick_label(layout, lanes, axis.ticks[i], is_share));
    const double below = plot.h + TICK_LINE + GAP;
    layout->height = below + draw_legend(layout, lanes, below);
}

void ta_lay_lanes(struct ta_layout *layout)
{
    const size_t n_rows = layout->table->n_rows;
    struct lanes lanes = {
        .names = calloc(n_rows + 1, sizeof *lanes.names),
        .segments = calloc(n_rows + 1, sizeof *lanes.segments),
        .value_column = ta_data_column(layout, layout->chart->y[0].column),
    };
    lanes.unit = ta_data_unit(layout, lanes.value_column);
    if (!lanes.names || !lanes.segments)
        layout->failed = true;
    else
        read_rows(layout, &lanes);
    if (lanes.n_segments && lanes.to > lanes.from)
        draw(layout, &lanes);
    else
        ta_guide_empty(layout);
    free(lanes.names);
    free(lanes.segments);
}
