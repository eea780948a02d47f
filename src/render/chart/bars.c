/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of horizontal bars with names, segments and numbers. */
#include "render/chart/bars.h"

#include <math.h>

enum { HEAD_LINE = 15, COLUMN_GAP = 10, NAME_LINE = 13, HEADING_LINE = 28 };
enum { LEAST_PITCH = 16, USUAL_PITCH = 22, MOST_PITCH = 34 };

/* Where the parts of a row stand. */
struct frame {
    bool above;                   /* names stand over their bars, not left of them */
    double name_width;            /* room for a name */
    double number_end[2];         /* right edges of the columns at the right */
    double head_base;             /* of the heads of these columns */
    double pitch, thickness, top; /* of a row; top of the first */
    double x, w;                  /* of the bars */
    struct ta_axis axis;
};

size_t ta_bars_room(const struct ta_layout *layout)
{
    if (layout->height <= 0)
        return SIZE_MAX;
    const double around = 75; /* legend, heads, axis */
    double room = (layout->height - around) / LEAST_PITCH;
    return room < 4 ? 4 : ta_whole_size(room);
}

static double bar_end(const struct ta_bar *bar)
{
    double sum = bar->kind == TA_BAR_RANGE ? bar->high : 0;
    for (size_t i = 0; i < bar->n_parts; i++)
        sum = bar->kind == TA_BAR_RANGE ? sum : sum + bar->parts[i].value;
    return sum;
}

/* Places the columns of numbers from the right edge; returns where the plot may end. */
static double place_numbers(struct ta_layout *layout, const struct ta_bar_list *list,
                            struct frame *frame)
{
    double end = layout->width;
    for (int column = 1; column >= 0; column--) {
        double widest = 0;
        for (size_t i = 0; i < list->n; i++)
            if (list->bars[i].numbers[column])
                widest = fmax(widest,
                              ta_pen_width(layout, TA_FACE_SMALL, list->bars[i].numbers[column]));
        if (list->heads[column])
            widest = fmax(widest, ta_pen_width(layout, TA_FACE_SMALL, list->heads[column]));
        frame->number_end[column] = end;
        if (widest > 0)
            end -= widest + COLUMN_GAP;
    }
    return end;
}

/* A block is a heading with the bars below it; returns the index after its last bar. */
static size_t block_end(const struct ta_bar_list *list, size_t first)
{
    size_t end = first + 1;
    while (end < list->n && list->bars[end].kind != TA_BAR_HEADING)
        end++;
    return end;
}

static struct frame place(struct ta_layout *layout, const struct ta_bar_list *list)
{
    struct frame frame = {.top = 0};
    frame.top = ta_guide_legend(layout, list->legend, list->n_legend, 0);
    frame.top += frame.top > 0 ? 7 : 0;
    bool headed = list->n && list->bars[0].kind == TA_BAR_HEADING;
    frame.top += (list->heads[0] || list->heads[1]) && !headed ? HEAD_LINE : 0;
    frame.head_base = headed ? frame.top + HEADING_LINE - 7 : frame.top - 6;
    double end = place_numbers(layout, list, &frame);

    /* Names stand left of their bars when that leaves the bars at least half of the width. */
    double widest = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->bars[i].kind != TA_BAR_HEADING)
            widest = fmax(widest, ta_pen_width(layout, list->face, list->bars[i].name));
    double most = layout->width * (layout->width >= 560 ? 0.45 : 0.36);
    frame.above = widest > most && layout->width < 560;
    frame.name_width = frame.above ? layout->width : fmin(widest, most);
    frame.x = frame.above ? 0 : ceil(frame.name_width) + (widest > 0 ? COLUMN_GAP : 0);
    frame.w = fmax(40, end - frame.x);
    size_t headings = 0, extra = frame.above ? NAME_LINE : 0;
    for (size_t i = 0; i < list->n; i++)
        headings += list->bars[i].kind == TA_BAR_HEADING;
    double rows = fmax(1, (double)(list->n - headings)), pitch = list->n > 40 ? 18 : USUAL_PITCH;
    double axes = ta_guide_x_height(list->title);
    if (layout->height > 0) {
        double room = layout->height - frame.top - axes - (double)headings * HEADING_LINE;
        pitch = fmin(MOST_PITCH, fmax(LEAST_PITCH, floor(room / rows - (double)extra)));
    }
    frame.thickness = fmax(floor(pitch * 0.68), fmin(12, pitch - 3));
    frame.pitch = pitch + (double)extra;
    return frame;
}

static struct ta_axis axis_of(struct ta_layout *layout, const struct ta_bar_list *list,
                              const struct frame *frame, size_t first, size_t end)
{
    double most = 0;
    for (size_t i = first; i < end; i++)
        most = fmax(most, bar_end(&list->bars[i]));
    return ta_guide_fit(layout, 0, most, list->unit, frame->w);
}

static double x_of(const struct frame *frame, double value)
{
    return frame->x + frame->w * ta_axis_share(&frame->axis, value);
}

static void draw_stack(struct ta_layout *layout, const struct frame *frame,
                       const struct ta_bar *bar, double y)
{
    double sum = 0;
    for (size_t i = 0; i < bar->n_parts; i++) {
        const struct ta_bar_part *part = &bar->parts[i];
        const double from = ta_axis_share(&frame->axis, sum);
        sum += part->value;
        const double x = frame->x + frame->w * from;
        const double w = frame->w * (ta_axis_share(&frame->axis, sum) - from);
        ta_pen_rect(layout, part->ink, x, y, w, frame->thickness, part->tip);
        if (!part->label)
            continue;
        if (ta_pen_width(layout, TA_FACE_SMALL, part->label) + 8 <= w)
            ta_pen_text_in(layout, part->ink, x, y, w, frame->thickness, part->label);
    }
}

static void draw_range(struct ta_layout *layout, const struct frame *frame,
                       const struct ta_bar *bar, double y)
{
    const double end = frame->x + frame->w;
    double low = x_of(frame, bar->low);
    double high = x_of(frame, bar->high);
    double median = x_of(frame, bar->median);
    const struct ta_bar_part *part = &bar->parts[0];
    double middle = y + frame->thickness / 2;
    ta_pen_rect(layout, part->ink, low, middle - 2.5, fmax(high - low, 1), 5, part->tip);
    /* The paper around the median keeps it visible on a bar of any color. */
    ta_pen_circle(layout, TA_INK_NONE, fmin(median, end - 5.5), middle, 5.5, NULL);
    ta_pen_circle(layout, part->ink, fmin(median, end - 5.5), middle, 4, part->tip);
}

/* Baseline and grid along the bars from `top` to `bottom`. */
static void draw_guides(struct ta_layout *layout, const struct frame *frame, double top,
                        double bottom)
{
    const struct ta_plot part = {frame->x, top, frame->w, bottom - top};
    ta_guide_x_grid(layout, &frame->axis, &part);
    ta_pen_segment(layout, TA_INK_MUTED, (struct ta_point){part.x, top},
                   (struct ta_point){part.x, bottom}, 0.75, false);
}

static void draw_bar(struct ta_layout *layout, const struct ta_bar_list *list,
                     const struct frame *frame, const struct ta_bar *bar, double y)
{
    double bar_y =
        frame->above ? y + NAME_LINE + 1 : y + floor((frame->pitch - frame->thickness) / 2);
    double base = bar_y + frame->thickness / 2 + 3.4;
    const char *name = ta_pen_fit(layout, list->face, bar->name, frame->name_width);
    ta_pen_text(layout, bar->name_ink, list->face, frame->above ? TA_ANCHOR_START : TA_ANCHOR_END,
                frame->above ? 0 : frame->x - COLUMN_GAP, frame->above ? y + 9 : base, name,
                name == bar->name ? NULL : bar->name);
    if (bar->kind == TA_BAR_RANGE)
        draw_range(layout, frame, bar, bar_y);
    else
        draw_stack(layout, frame, bar, bar_y);
    for (int column = 0; column < 2; column++)
        ta_pen_text(layout, column == 0 ? bar->name_ink : TA_INK_MUTED, TA_FACE_SMALL,
                    TA_ANCHOR_END, frame->number_end[column], base, bar->numbers[column], NULL);
}

/* The bars of a block from `y` on; guides stop where names stand over the bars. */
static double draw_block(struct ta_layout *layout, const struct ta_bar_list *list,
                         const struct frame *frame, size_t first, size_t end, double y)
{
    if (list->bars[first].kind == TA_BAR_HEADING) {
        const struct ta_bar *bar = &list->bars[first++];

        /* The heads of the numbers may stand on the same line. */
        const char *name = ta_pen_fit(layout, TA_FACE_STRONG, bar->name, frame->x + frame->w);
        ta_pen_text(layout, TA_INK_TEXT, TA_FACE_STRONG, TA_ANCHOR_START, 0, y + HEADING_LINE - 7,
                    name, name == bar->name ? NULL : bar->name);
        y += HEADING_LINE;
    }
    if (!frame->above)
        draw_guides(layout, frame, y, y + (double)(end - first) * frame->pitch);
    for (size_t i = first; i < end; i++, y += frame->pitch) {
        if (frame->above && list->bars[i].n_parts)
            draw_guides(layout, frame, y + NAME_LINE, y + frame->pitch - 3);
        draw_bar(layout, list, frame, &list->bars[i], y);
    }
    return y;
}

void ta_bars_draw(struct ta_layout *layout, const struct ta_bar_list *list)
{
    struct frame frame = place(layout, list);
    double y = frame.top;
    for (int column = 0; column < 2; column++)
        ta_pen_text(layout, TA_INK_MUTED, TA_FACE_SMALL, TA_ANCHOR_END, frame.number_end[column],
                    frame.head_base, list->heads[column], NULL);
    frame.axis = axis_of(layout, list, &frame, 0, list->n);
    for (size_t first = 0, end; first < list->n; first = end) {
        end = block_end(list, first);
        y = draw_block(layout, list, &frame, first, end, y);
    }
    const struct ta_plot plot = {frame.x, y, frame.w, 0};
    ta_guide_x_labels(layout, &frame.axis, &plot, ta_guide_title(layout, list->title, &frame.axis));
    layout->height = y + ta_guide_x_height(list->title);
}
