/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes: segments side by side on named lanes, all on one axis, with what they are written inside
 * where it fits.
 *
 * A kind whose ink is TA_INK_BAND names stretches, such as phases: its segments say where something
 * is, and the legend leaves it out.  It has all other colors: several kinds that have next to
 * nothing share one.  Shares are in the legend of one lane, and in the segments of several. */
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
    TICK_GAP = 8,
    NAMES_MOST = 150
};
/* Narrower than this the names of lanes stand above them. */
enum { NARROW = 420 };
enum { KINDS_MOST = 64 };
/* More lanes than these are lower, so that findings stand on the same screen. */
enum { LANES_WHOLE = 3 };

struct segment {
    size_t lane;
    double from, length;
    const char *label;
    const struct ta_kind *kind;
};

/* What a kind comes to. */
struct total {
    const struct ta_kind *kind;
    const char *named; /* by its first segment, where it has no label */
    double time, most; /* on all lanes, and its share of that on which it has most */
    bool is_small;     /* drawn and named as one with others */
};

struct lanes {
    const char **names;
    size_t n;
    struct segment *segments;
    size_t n_segments, n_missing;
    double from, to;
    size_t value_column;
    enum ta_unit unit;
    const struct total *totals; /* of each kind */
    size_t n_totals, n_bars;    /* lanes without those that say where something is */
    double sum;
    bool is_in_time_order, is_share; /* the axis has shares of the lanes' whole */
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
    return kind->ink == TA_INK_BAND;
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

/* ---- what the kinds come to ------------------------------------------------------------------ */

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

static const struct total *total_of(const struct lanes *lanes, const struct ta_kind *kind)
{
    static const struct total none;
    for (size_t i = 0; i < lanes->n_totals; i++)
        if (lanes->totals[i].kind == kind)
            return &lanes->totals[i];
    return &none;
}

/* Of a kind alone, or of all where that is NULL. */
static double time_on(const struct lanes *lanes, size_t lane, const struct ta_kind *kind)
{
    double time = 0;
    for (size_t i = 0; i < lanes->n_segments; i++)
        if (lanes->segments[i].lane == lane && !is_context(lanes->segments[i].kind) &&
            (!kind || lanes->segments[i].kind == kind))
            time += lanes->segments[i].length;
    return time;
}

/* Two kinds that have less than this share of each lane are drawn and named as one. */
static const double least_share = 0.005;

static void find_small(const struct lanes *lanes, struct total totals[KINDS_MOST])
{
    size_t small = 0;
    for (size_t k = 0; k < lanes->n_totals; k++) {
        for (size_t lane = 0; lane < lanes->n; lane++) {
            const double whole = time_on(lanes, lane, NULL);
            if (whole > 0)
                totals[k].most = fmax(totals[k].most, time_on(lanes, lane, totals[k].kind) / whole);
        }
        small += totals[k].most < least_share;
    }
    for (size_t k = 0; small > 1 && k < lanes->n_totals; k++)
        totals[k].is_small = totals[k].most < least_share;
}

/* Lanes whose parts are not in time order, which all take as long, have shares on their axis. */
static bool is_share(const struct lanes *lanes)
{
    static const double alike = 0.99;
    double shortest = INFINITY, longest = 0;
    for (size_t lane = 0; lane < lanes->n; lane++) {
        const double time = time_on(lanes, lane, NULL);
        shortest = fmin(shortest, time);
        longest = fmax(longest, time);
    }
    return lanes->n_bars == lanes->n && lanes->n_segments > lanes->n && !lanes->is_in_time_order &&
           shortest >= alike * longest && longest >= alike * (lanes->to - lanes->from);
}

/* The kinds that occur: in the order of the bars, or where that is one of time, by their time. */
static void add_up(struct lanes *lanes, struct total totals[KINDS_MOST])
{
    size_t n = 0;
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
            totals[n++] = (struct total){.kind = segment->kind, .named = segment->label};
        totals[at].time += segment->length;
        lanes->sum += segment->length;
    }
    lanes->totals = totals;
    lanes->n_totals = n;
    for (size_t lane = 0; lane < lanes->n; lane++)
        lanes->n_bars += time_on(lanes, lane, NULL) > 0;
    lanes->is_in_time_order = is_in_time_order(lanes);
    lanes->is_share = is_share(lanes);
    find_small(lanes, totals);
    if (lanes->is_in_time_order)
        qsort(totals, n, sizeof *totals, largest_first);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Whether another kind that is drawn begins its label alike: "idle" is several of them. */
static bool is_shared(const struct lanes *lanes, const struct ta_kind *kind, const char *label,
                      size_t len)
{
    for (size_t i = 0; i < lanes->n_totals; i++) {
        const struct ta_kind *other = lanes->totals[i].kind;
        if (other != kind && strncmp(other->label, label, len) == 0 &&
            strchr(", ", other->label[len])) /* or its end */
            return true;
    }
    return false;
}

/* The figure at the end of a label: "20.3 %" or the number of "step 12"; else its end. */
static const char *figure_of(const char *label)
{
    const char *blank = strrchr(label, ' ');
    if (blank && strcmp(blank, " %") == 0)
        blank = memrchr(label, ' ', (size_t)(blank - label));
    return blank && blank[1] >= '0' && blank[1] <= '9' ? blank + 1 : label + strlen(label);
}

/* What of a label has room: all of it, else what says enough of it ("waiting for …", the cause in
 * "idle, …"), with its figure where lanes have shares of their own, or the figure alone; the first
 * word of a stretch, or the number of "step 12".  NULL for nothing. */
static const char *label_for(struct ta_layout *layout, const struct lanes *lanes,
                             const struct segment *segment, double width)
{
    enum { TEXTS = 8 };
    const char *label = segment->label, *figure = figure_of(label), *texts[TEXTS] = {label};
    const struct ta_kind *kind = segment->kind;
    const size_t len = (size_t)(figure - label) - (*figure && figure > label ? 1 : 0);
    const char *name = ta_pen_printf(layout, "%.*s", (int)len, label);
    const char *comma = strstr(name, ", "), *of = strstr(name, " for ");
    const char *cut = comma ? comma : of;
    const size_t first = cut ? (size_t)(cut - name) : 0;
    const bool has_first = cut && !is_shared(lanes, kind, name, first);
    const char *brief = has_first ? ta_pen_printf(layout, "%.*s", (int)first, name)
                        : comma   ? comma + 2
                                  : "";
    size_t n = 1;
    if (is_context(kind) && figure[strspn(figure, "0123456789")] == '\0') {
        texts[n++] = figure;
    } else if (is_context(kind)) {
        texts[n++] = name;
        texts[n++] = ta_pen_printf(layout, "%.*s", (int)strcspn(name, " "), name);
    } else if (lanes->n_bars > 1 && *figure) {
        texts[n++] = *brief ? ta_pen_printf(layout, "%s %s", brief, figure) : "";
        texts[n++] = figure;
    } else {
        texts[n++] = is_shared(lanes, kind, name, len) ? "" : name;
        texts[n++] = brief;
    }
    for (size_t i = 0; i < n; i++)
        if (*texts[i] && ta_pen_width(layout, TA_FACE_SMALL, texts[i]) <= width)
            return texts[i];
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
    const enum ta_ink ink = total_of(lanes, kind)->is_small ? TA_INK_MUTED : kind->ink;
    ta_pen_rect(layout, ink, x, y, drawn, row_of(lanes), tip);
    const char *label = label_for(layout, lanes, segment, drawn - 2 * INSET);
    if (label)
        ta_pen_text_in(layout, ink, x, y, drawn, row_of(lanes), label);
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

/* ---- legend and axis ------------------------------------------------------------------------- */

/* "attention 17.1 %"; of several lanes, whose shares differ, without it. */
static const char *entry_text(struct ta_layout *layout, const struct lanes *lanes,
                              const char *label, double time)
{
    return lanes->n_bars > 1
               ? label
               : ta_pen_printf(layout, "%s %s", label,
                               ta_pen_value(layout, time / lanes->sum, TA_UNIT_RATIO));
}

static double draw_legend(struct ta_layout *layout, const struct lanes *lanes, double y)
{
    struct ta_legend_entry entries[KINDS_MOST + 1];
    size_t n = 0;
    double small = 0;
    const char *parts = "";
    for (size_t i = 0; i < lanes->n_totals; i++) {
        const struct total *total = &lanes->totals[i];
        small += total->is_small ? total->time : 0;
        if (!total->is_small)
            entries[n++] = (struct ta_legend_entry){
                total->kind->ink, TA_MARK_RECT,
                *total->kind->label ? entry_text(layout, lanes, total->kind->label, total->time)
                                    : total->named};
    }
    if (small > 0)
        entries[n++] = (struct ta_legend_entry){TA_INK_MUTED, TA_MARK_RECT,
                                                entry_text(layout, lanes, "other", small)};
    for (size_t i = 0; i < n; i++)
        parts = ta_pen_printf(layout, "%s%s%s", parts, i ? ", " : "", entries[i].label);
    const char *whole = ta_pen_value(layout, lanes->to - lanes->from, lanes->unit);
    layout->summary = n ? ta_pen_printf(layout, "Of %s: %s.", whole, parts)
                        : ta_pen_printf(layout, "%zu parts of %s.", lanes->n_segments, whole);
    /* One kind is no news. */
    return n > 1 ? ta_guide_legend(layout, entries, n, y) : 0;
}

/* Parts that are sorted by size have shares; the last one says of how much. */
static const char *tick_label(struct ta_layout *layout, const struct lanes *lanes, double tick)
{
    if (tick <= 0)
        return "0";
    if (!lanes->is_share)
        return ta_pen_value(layout, tick, lanes->unit);
    return tick < 1 ? ta_pen_printf(layout, "%.0f\u202f%%", 100 * tick)
                    : ta_pen_printf(layout, "100\u202f%% = %s",
                                    ta_pen_value(layout, lanes->to - lanes->from, lanes->unit));
}

/* The last tick is the end of the axis: its label replaces those that it would cover. */
static void draw_ticks(struct ta_layout *layout, const struct lanes *lanes,
                       const struct ta_plot *plot)
{
    const double end = lanes->is_share ? 1 : lanes->to - lanes->from, y = plot->h + TICK_LINE - 2;
    const struct ta_axis axis =
        ta_guide_fit(layout, 0, end, lanes->is_share ? TA_UNIT_RATIO : lanes->unit, plot->w);
    const char *last = tick_label(layout, lanes, end);
    const double room = layout->width - ta_pen_width(layout, TA_FACE_SMALL, last) - TICK_GAP;
    double free_from = 0;
    for (size_t i = 0; i < axis.n_ticks; i++) {
        const char *label = tick_label(layout, lanes, axis.ticks[i]);
        const double x = ta_plot_x(plot, &axis, axis.ticks[i]);
        if (x + ta_pen_width(layout, TA_FACE_SMALL, label) / 2 <= room)
            free_from = ta_guide_centered(layout, x, y, free_from, label);
    }
    ta_guide_centered(layout, layout->width, y, free_from, last);
}

static void draw(struct ta_layout *layout, struct lanes *lanes)
{
    struct total totals[KINDS_MOST];
    add_up(lanes, totals);
    place_names(layout, lanes);
    const struct ta_plot plot = {lanes->left, 0, layout->width - lanes->left,
                                 top_of(lanes, lanes->n - 1) + row_of(lanes)};
    draw_names(layout, lanes);
    for (size_t i = 0; i < lanes->n_segments; i++)
        draw_segment(layout, lanes, &lanes->segments[i]);
    draw_ticks(layout, lanes, &plot);
    const double below = plot.h + TICK_LINE + GAP;
    layout->height = below + draw_legend(layout, lanes, below);
    lanes->totals = NULL;
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
