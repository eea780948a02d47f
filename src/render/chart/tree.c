/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree as nested boxes, callers above what they call ("icicle"): the width of a box is its value,
 * what its children leave free at the right is its own.
 *
 * A chain of rows that pass nearly all on is one box: wrappers would otherwise fill the drawing. It
 * is named after its most important row, the one whose group comes first among the chart's kinds,
 * and of equals the innermost. */
#include "render/chart/layout.h"

#include <math.h>
#include <stdlib.h>

enum {
    BOXES_MOST = 500,
    LEVELS_MOST = 40,
    KINDS_MOST = 12,
    ROW = 17,
    GAP = 1,
    INSET = 4,
    LEAST_LABEL = 22,
    LEAST_CUT = 44
};

/* Boxes narrower than this, in points, are left out. */
#define LEAST_BOX 0.4

#define NONE SIZE_MAX

/* A row of the table. */
struct item {
    double value, children; /* sum of the children's values */
    size_t parent, heaviest;
    size_t level; /* of its box */
    double x;     /* where its box begins, as a value */
    double used;  /* by the children that are placed, of the chain */
    size_t head;  /* first row of its chain */
    size_t tail;  /* of a head: last row of its chain */
    bool shown;
};

struct tree {
    struct item *items; /* as many as rows; in preorder */
    size_t n, n_shown, n_values, depth_column, value_column, group_column;
    size_t levels, levels_most; /* of boxes; the whole has one above them */
    size_t n_cut;               /* boxes below the last level, with callers that are drawn */
    double sum;
    enum ta_unit unit;
};

/* ---- reading ----------------------------------------------------------------------------- */

/* The parent is the last row before that is less deep. */
static void read_items(const struct ta_layout *layout, struct tree *tree, size_t *open)
{
    size_t depth = 0;
    for (size_t row = 0; row < tree->n; row++) {
        struct item *item = &tree->items[row];
        const double value = ta_data_value(layout, row, tree->value_column);
        const double at = ta_data_value(layout, row, tree->depth_column);
        const size_t deepest = at > 0 ? ta_whole_size(fmin(at, (double)tree->n)) : 0;
        depth = deepest < depth ? deepest : depth;
        *item = (struct item){.value = value > 0 ? value : 0, .parent = NONE, .heaviest = NONE};
        tree->n_values += isnan(value) ? 0 : 1;
        if (depth > 0)
            item->parent = open[depth - 1];
        else
            tree->sum += item->value;
        open[depth++] = row;
    }
}

static void find_heaviest(struct tree *tree)
{
    for (size_t row = 0; row < tree->n; row++) {
        if (tree->items[row].parent == NONE)
            continue;
        struct item *parent = &tree->items[tree->items[row].parent];
        parent->children += tree->items[row].value;
        if (parent->heaviest == NONE ||
            tree->items[row].value > tree->items[parent->heaviest].value)
            parent->heaviest = row;
    }
}

/* ---- which rows, and where ------------------------------------------------------------------ */

struct choice {
    double value;
    size_t row;
};

static int largest_first(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool is_chained(const struct tree *tree, size_t row)
{
    const size_t parent = tree->items[row].parent;
    return parent != NONE && tree->items[parent].heaviest == row &&
           tree->items[row].value >= TA_TREE_PASSES_ON * tree->items[parent].value;
}

/* Shows the largest boxes: the boxes of heads of chains, callers before what they call. */
static bool choose(struct tree *tree, double least)
{
    struct choice *choices = calloc(tree->n + 1, sizeof *choices);
    size_t n = 0;
    for (size_t row = 0; choices && row < tree->n; row++) {
        struct item *item = &tree->items[row];
        item->head = is_chained(tree, row) ? tree->items[item->parent].head : row;
        tree->items[item->head].tail = row;
        if (item->head == row && item->value > 0 && item->value >= least)
            choices[n++] = (struct choice){item->value, row};
    }
    if (n)
        qsort(choices, n, sizeof *choices, largest_first);
    for (size_t i = 0; i < n && i < BOXES_MOST; i++)
        tree->items[choices[i].row].shown = true;
    const bool done = choices;
    free(choices);
    return done;
}

/* A box begins where those before it end; children that sum up to more than their caller are drawn
 * as much narrower. */
static void place(struct tree *tree)
{
    double used = 0;
    for (size_t row = 0; row < tree->n; row++) {
        struct item *item = &tree->items[row];
        if (!item->shown || item->head != row)
            continue;
        const bool is_root = item->parent == NONE;
        struct item *above = is_root ? NULL : &tree->items[tree->items[item->parent].head];
        if (above && (!above->shown || above->level + 1 >= tree->levels_most)) {
            tree->n_cut += above->shown;
            item->shown = false;
            continue;
        }
        item->level = is_root ? 0 : above->level + 1;
        item->x = is_root ? used : above->x + above->used;
        *(is_root ? &used : &above->used) += item->value;
        tree->n_shown++;
        tree->levels = item->level + 1 > tree->levels ? item->level + 1 : tree->levels;
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* The kind of a row; the end of the list for a group that is none. */
static const struct ta_kind *kind_of(const struct ta_layout *layout, const struct tree *tree,
                                     size_t row)
{
    static const struct ta_kind none = {NULL, NULL, TA_INK_BAND};
    const struct ta_kind *kind = layout->chart->kinds;
    if (!kind || tree->group_column == NONE)
        return &none;
    const struct ta_slice group = ta_table_cell(layout->table, row, tree->group_column)->text;
    while (kind->value && !ta_slice_equal(group, ta_slice_of(kind->value)))
        kind++;
    return kind;
}

static enum ta_ink ink_of(const struct ta_kind *kind)
{
    return kind->value ? kind->ink : TA_INK_BAND;
}

/* The row that a chain is named after. */
static size_t face_of(const struct ta_layout *layout, const struct tree *tree, size_t head)
{
    size_t best = tree->items[head].tail;
    for (size_t row = best; row != head;) {
        row = tree->items[row].parent;
        if (kind_of(layout, tree, row) < kind_of(layout, tree, best))
            best = row;
    }
    return best;
}

/* Of a name that does not fit, folders in front are the first to go; no label where little would
 * be left of it. */
static const char *label_of(struct ta_layout *layout, const char *name, double width)
{
    if (ta_pen_width(layout, TA_FACE_SMALL, name) <= width)
        return name;
    if (width < LEAST_CUT)
        return NULL;
    const char *base = name;
    for (const char *c = name; *c && *c != ' ' && *c != '<'; c++)
        if (*c == '/' && c[1])
            base = c + 1;
    return ta_pen_fit(layout, TA_FACE_SMALL, base, width);
}

/* "aten::mm · 58.9 ms · 4.9 %", and of a chain its ends. */
static const char *tip_of(struct ta_layout *layout, const struct tree *tree, size_t head,
                          const char *name, size_t face)
{
    const struct item *item = &tree->items[head];
    const char *tip =
        ta_pen_printf(layout, "%s · %s · %s", name, ta_pen_value(layout, item->value, tree->unit),
                      ta_pen_value(layout, item->value / tree->sum, TA_UNIT_RATIO));
    if (item->tail == head)
        return tip;
    if (face != head)
        tip = ta_pen_printf(layout, "%s · from %s", tip, ta_data_name(layout, head, NONE));
    if (face != item->tail)
        tip = ta_pen_printf(layout, "%s · down to %s", tip, ta_data_name(layout, item->tail, NONE));
    return tip;
}

static void draw_box(struct ta_layout *layout, enum ta_ink ink, double x, double y, double w,
                     const char *name, const char *tip)
{
    const double drawn = w > 3 * GAP ? w - GAP : w;
    ta_pen_rect(layout, ink, x, y, drawn, ROW - GAP, tip);
    if (w >= LEAST_LABEL)
        ta_pen_text_on(layout, ink, TA_FACE_SMALL, TA_ANCHOR_START, x + INSET, y + ROW - 5.2,
                       label_of(layout, name, drawn - 2 * INSET));
}

static void draw_boxes(struct ta_layout *layout, const struct tree *tree, double top)
{
    const double scale = layout->width / tree->sum;
    for (size_t row = 0; row < tree->n; row++) {
        const struct item *item = &tree->items[row];
        if (!item->shown)
            continue;
        const double left = fmin(item->x * scale, layout->width);
        const double right = fmin((item->x + item->value) * scale, layout->width);
        const size_t face = face_of(layout, tree, row);
        const char *name = ta_data_name(layout, face, NONE);
        draw_box(layout, ink_of(kind_of(layout, tree, face)), left,
                 top + (double)(item->level + 1) * ROW, right - left, name,
                 tip_of(layout, tree, row, name, face));
    }
}

static bool is_drawn(const struct ta_layout *layout, const struct tree *tree,
                     const struct ta_kind *kind)
{
    for (size_t row = 0; row < tree->n; row++)
        if (tree->items[row].shown && kind_of(layout, tree, face_of(layout, tree, row)) == kind)
            return true;
    return false;
}

static void summarize(struct ta_layout *layout, const struct tree *tree)
{
    const char *all = ta_pen_value(layout, tree->sum, tree->unit), *parts = "";
    size_t n = 0;
    for (size_t row = 0; row < tree->n && n < 4; row++) {
        const struct item *item = &tree->items[row];
        if (!item->shown || item->level > 1)
            continue;
        parts = ta_pen_printf(layout, "%s%s%s %s", parts, n++ ? ", " : "",
                              ta_data_name(layout, face_of(layout, tree, row), NONE),
                              ta_pen_value(layout, item->value / tree->sum, TA_UNIT_RATIO));
    }
    layout->summary = ta_pen_printf(layout, "%s of %s as nested boxes: %s.",
                                    ta_data_title(layout, tree->value_column), all, parts);
    layout->note =
        ta_pen_printf(layout, "%s; %zu boxes%s.", ta_pen_sample(layout, tree->n_values, 0),
                      tree->n_shown, tree->n_cut ? ", what lies deeper is not drawn" : "");
}

/* Levels for which there is room below a legend of one line. */
static size_t room_for_levels(const struct ta_layout *layout)
{
    const double around = 22 + ROW;
    if (layout->height <= 0)
        return LEVELS_MOST;
    return ta_whole_size(fmin(LEVELS_MOST, fmax(2, (layout->height - around) / ROW)));
}

void ta_lay_tree(struct ta_layout *layout)
{
    struct tree tree = {.n = layout->table->n_rows};
    size_t *open = calloc(tree.n + 1, sizeof *open);
    tree.items = calloc(tree.n + 1, sizeof *tree.items);
    tree.value_column = ta_data_column(layout, layout->chart->y[0].column);
    tree.depth_column = ta_data_column(layout, layout->chart->x);
    tree.group_column = ta_data_column(layout, layout->chart->group);
    tree.unit = ta_data_unit(layout, tree.value_column);
    if (open && tree.items) {
        read_items(layout, &tree, open);
        find_heaviest(&tree);
    }
    if (!open || !tree.items || !choose(&tree, tree.sum / layout->width * LEAST_BOX)) {
        layout->failed = true;
    } else if (tree.sum > 0) {
        tree.levels_most = room_for_levels(layout);
        place(&tree);
        struct ta_legend_entry entries[KINDS_MOST];
        size_t n = 0;
        const struct ta_kind *kind = layout->chart->kinds;
        for (; kind && kind->value && n < KINDS_MOST; kind++)
            if (is_drawn(layout, &tree, kind))
                entries[n++] = (struct ta_legend_entry){kind->ink, TA_MARK_RECT, kind->label};
        const double top = n ? ta_guide_legend(layout, entries, n, 0) + 6 : 0;
        const char *whole =
            ta_pen_printf(layout, "%s: %s", ta_data_title(layout, tree.value_column),
                          ta_pen_value(layout, tree.sum, tree.unit));
        draw_box(layout, TA_INK_BAND, 0, top, layout->width, whole,
                 ta_pen_printf(layout, "All · %s · %s", ta_pen_value(layout, tree.sum, tree.unit),
                               ta_pen_value(layout, 1, TA_UNIT_RATIO)));
        draw_boxes(layout, &tree, top);
        summarize(layout, &tree);
        layout->height = top + (double)(tree.levels + 1) * ROW - GAP;
    } else {
        ta_guide_empty(layout);
    }
    free(open);
    free(tree.items);
}
