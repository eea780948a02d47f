/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenes as numbers: marks inside the scene, labels apart, segments that add up, in any size. */
#include "chart_fixture.h"
#include "render/chart/measure.h"
#include "render/chart/scene.h"
#include "render/chart/svg.h"
#include "report/report.h"
#include "report/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const double widths[] = {240, 320, 480, 720, 1000, 1600};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* A report of one table. */
struct world {
    struct ta_report *report;
    struct ta_section_builder *section;
};

static struct world begin(void)
{
    struct world world = {.report = ta_report_new()};
    assert_non_null(world.report);
    world.section = ta_report_open_section(world.report, "s", "S");
    return world;
}

static const struct ta_table *freeze(struct world *world)
{
    assert_int_equal(ta_report_freeze(world->report), TA_OK);
    return ta_report_section(world->report, 0)->items[0].table;
}

/* ---- what holds for every scene --------------------------------------------------------- */

struct box {
    double left, top, right, bottom;
};

static struct box text_box(struct ta_measure *measure, const struct ta_mark *mark)
{
    double width = ta_measure_width(measure, mark->text.face, mark->text.text);
    double size = ta_face_size(mark->text.face);
    double left = mark->text.x - (mark->text.anchor == TA_ANCHOR_START    ? 0
                                  : mark->text.anchor == TA_ANCHOR_MIDDLE ? width / 2
                                                                          : width);
    /* Digits and lower case letters: what must not touch. */
    return (struct box){left, mark->text.y - size * 0.74, left + width, mark->text.y};
}

static struct box mark_box(struct ta_measure *measure, const struct ta_mark *mark)
{
    switch (mark->kind) {
    case TA_MARK_RECT:
        return (struct box){mark->rect.x, mark->rect.y, mark->rect.x + mark->rect.w,
                            mark->rect.y + mark->rect.h};
    case TA_MARK_CIRCLE:
        return (struct box){mark->circle.x - mark->circle.r, mark->circle.y - mark->circle.r,
                            mark->circle.x + mark->circle.r, mark->circle.y + mark->circle.r};
    case TA_MARK_TEXT:
        return text_box(measure, mark);
    case TA_MARK_LINE:
        break;
    }
    struct box box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < mark->line.n; i++) {
        box.left = fmin(box.left, mark->line.points[i].x);
        box.right = fmax(box.right, mark->line.points[i].x);
        box.top = fmin(box.top, mark->line.points[i].y);
        box.bottom = fmax(box.bottom, mark->line.points[i].y);
    }
    return box;
}

static void assert_inside(const struct ta_scene *scene, struct box box)
{
    const double slack = 1;
    assert_true(box.left >= -slack && box.top >= -slack);
    assert_true(box.right <= scene->width + slack && box.bottom <= scene->height + slack);
}

static bool touch(struct box a, struct box b)
{
    const double slack = 0.1;
    return a.left + slack < b.right && b.left + slack < a.right && a.top + slack < b.bottom &&
           b.top + slack < a.bottom;
}

static void assert_sound(const struct ta_scene *scene)
{
    assert_non_null(scene);
    assert_true(scene->height > 0 && scene->height < 1e5);
    assert_true(scene->summary[0] != '\0');
    struct ta_measure *measure = ta_measure_new();
    struct box *boxes = calloc(scene->n_marks + 1, sizeof *boxes);
    const struct ta_mark **marks = calloc(scene->n_marks + 1, sizeof *marks);
    size_t n = 0; /* texts */
    for (size_t i = 0; i < scene->n_marks; i++) {
        struct box box = mark_box(measure, &scene->marks[i]);
        assert_inside(scene, box);
        if (scene->marks[i].kind != TA_MARK_TEXT)
            continue;
        for (size_t k = 0; k < n; k++)
            if (touch(box, boxes[k]))
                fail_msg("%s at %g: \"%s\" touches \"%s\"", scene->id, scene->width,
                         scene->marks[i].text.text, marks[k]->text.text);
        marks[n] = &scene->marks[i];
        boxes[n++] = box;
    }
    free(marks);
    free(boxes);
    ta_measure_free(measure);
}

static void check(const struct ta_table *table)
{
    for (size_t i = 0; i < WIDTHS; i++) {
        struct ta_scene *scene = ta_page_scene(table, table->chart, widths[i]);
        assert_sound(scene);
        ta_scene_free(scene);
    }
    for (size_t i = 0; i < WIDTHS; i++)
        for (double height = 0; height <= 800; height += 200) {
            struct ta_scene *scene = ta_scene_build(table, table->chart, widths[i], height);
            assert_sound(scene);
            ta_scene_free(scene);
        }
}

static void test_all_kinds_in_all_sizes(void **state)
{
    (void)state;
    static const struct fixture fixtures[] = {
        {1, 1, 0},   {4, 1e6, 0}, {7, 0, 0},      {30, 1e3, 3},   {64, 1, 0},
        {65, 1, 64}, {500, 1, 2}, {500, 1e10, 0}, {2500, 1e3, 0}, {5, 1, 1},
    };
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++)
        for (int kind = 0; kind < 20; kind++) {
            struct world world = begin();
            struct fixture f = fixtures[i];
            if (kind == 0)
                fixture_add_gpu(world.section, f);
            else if (kind == 1)
                fixture_add_kernels(world.section, f);
            else if (kind < 4)
                fixture_add_steps(world.section, f, kind == 2 ? 4 : 20, &fixture_step_chart);
            else if (kind == 4)
                fixture_add_steps(world.section, f, 4, &fixture_bars_chart);
            else if (kind < 7)
                fixture_add_ecdf(world.section, f, kind == 5 ? 2 : 10);
            else if (kind > 16)
                fixture_add_changes(world.section, f,
                                    kind == 17   ? &fixture_waterfall_chart
                                    : kind == 18 ? &fixture_forest_chart
                                                 : &fixture_heatmap_chart);
            else if (kind > 13)
                fixture_add_tree(world.section, f, kind == 14 ? 2 : kind == 15 ? 9 : 300);
            else if (kind >= 11)
                fixture_add_scatter(world.section, f, kind == 12 ? 10 : 4,
                                    kind < 13 ? &fixture_roof_chart : &fixture_plain_chart);
            else
                fixture_add_lines(world.section, f, kind % 2 ? 1 : 12,
                                  kind < 9 ? &fixture_memory_chart : &fixture_power_chart);
            check(freeze(&world));
            ta_report_free(world.report);
        }
}

/* ---- what the kinds promise -------------------------------------------------------------- */

static void test_segments_add_up(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_gpu(world.section, (struct fixture){4, 1e6, 0});
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    double sum = 0, left = -1, right = 0;
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_RECT || !mark->tip || strncmp(mark->tip, "rank 1 ", 7) != 0)
            continue;
        assert_true(left < 0 || fabs(mark->rect.x - right) < 1e-6); /* side by side */
        left = left < 0 ? mark->rect.x : left;
        right = mark->rect.x + mark->rect.w;
        sum += mark->rect.w;
    }
    assert_true(left >= 0);
    assert_true(fabs(sum - (right - left)) < 1e-6);
    /* All four rows have the same sum, so each bar ends where the axis does. */
    for (size_t i = 0; i < scene->n_marks; i++)
        if (scene->marks[i].kind == TA_MARK_RECT)
            assert_true(scene->marks[i].rect.x + scene->marks[i].rect.w < right + 1e-6);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* Each bar begins where the one before ends, and all of them end where the whole change does. */
static size_t count_texts(const struct ta_scene *scene, const char *part)
{
    size_t n = 0;
    for (size_t i = 0; i < scene->n_marks; i++)
        n += scene->marks[i].kind == TA_MARK_TEXT && strstr(scene->marks[i].text.text, part);
    return n;
}

/* Rows of one name are one bar with a segment per group; of nine groups the six largest have one of
 * their own, and the other three share one. */
static void test_a_segment_per_group(void **state)
{
    static const struct ta_column columns[] = {
        {"step", "Step", TA_TEXT, .doc = "Label."},
        {"class", "Class", TA_TEXT, .doc = "Of kernels."},
        {"total_ns", "Total", TA_NS, .better = TA_LOWER, .doc = "Sum."},
    };
    static const struct ta_chart chart = {
        .id = "classes",
        .title = "Classes",
        .caption = "By step.",
        .kind = TA_CHART_STACKED_BARS,
        .label = {"step"},
        .y = {{"total_ns", "Total", TA_INK_SERIES_1}},
        .group = "class",
    };
    (void)state;
    struct world world = begin();
    struct ta_table_builder *builder = ta_add_table(world.section, "t", "Classes", columns, 3);
    for (int step = 0; step < 2; step++)
        for (int class = 0; class < 9; class ++) {
            char name[2][8];
            snprintf(name[0], sizeof name[0], "step %d", step);
            snprintf(name[1], sizeof name[1], "c%d", class);
            TA_CELLS(builder, ta_text(ta_slice_of(name[0])), ta_text(ta_slice_of(name[1])),
                     ta_int(100 * (class + 1)));
        }
    ta_add_chart(builder, &chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    size_t segments = 0, rest = 0;
    double drawn[2] = {0, 0};
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_RECT || !mark->tip)
            continue;
        segments++;
        rest += strstr(mark->tip, "other classes (3)") != NULL;
        drawn[0] += strstr(mark->tip, "c8") ? mark->rect.w : 0;
        drawn[1] += strstr(mark->tip, "c4") ? mark->rect.w : 0;
    }
    assert_int_equal(segments, 2 * 7);
    assert_int_equal(rest, 2); /* 100 + 200 + 300 ns */
    assert_true(drawn[1] > 0 && fabs(drawn[0] / drawn[1] - 9.0 / 5) < 0.01);
    assert_int_equal(count_texts(scene, "step "), 2);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_a_waterfall_is_closed(void **state)
{
    (void)state;
    static const int64_t terms[][2] = {{100, 160}, {50, 20}, {0, 15}, {40, 0}, {7, 7}};
    struct world world = begin();
    struct ta_table_builder *builder =
        ta_add_table(world.section, "changes", "Changes", fixture_change_columns, 8);
    for (size_t i = 0; i < 5; i++)
        TA_CELLS(builder, ta_int(0), ta_text(ta_slice_of(i % 2 ? "odd" : "even")),
                 ta_int(terms[i][0]), ta_int(terms[i][1]), ta_int(terms[i][1] - terms[i][0]),
                 ta_null(), ta_null(), ta_null());
    ta_add_chart(builder, &fixture_waterfall_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_sound(scene);
    double from[6], to[6];
    size_t n = 0;
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_RECT || !mark->tip)
            continue;
        assert_true(n < 6); /* nothing is drawn of what did not change */
        from[n] = mark->rect.x;
        to[n] = mark->rect.x + mark->rect.w;
        assert_int_equal(mark->ink, n == 0 || n == 5                    ? TA_INK_MUTED
                                    : terms[n - 1][1] > terms[n - 1][0] ? TA_INK_WORSE
                                                                        : TA_INK_BETTER);
        n++;
    }
    assert_int_equal(n, 6);
    /* The totals, 197 and 202, begin together and are on the scale of the steps between them. */
    const double unit = (to[1] - from[1]) / 60;
    double at = to[0];
    for (size_t i = 1; i < 5; i++) {
        const double change = (double)(terms[i - 1][1] - terms[i - 1][0]);
        assert_true(fabs((change > 0 ? from[i] : to[i]) - at) < 1e-6);
        assert_true(fabs(to[i] - from[i] - unit * fabs(change)) < 1e-6);
        at += unit * change;
    }
    assert_true(fabs(from[5] - from[0]) < 1e-6);
    assert_true(fabs(to[5] - at) < 1e-6);
    assert_true(fabs(to[5] - to[0] - 5 * unit) < 1e-6);
    size_t n_legend = 0;
    for (size_t i = 0; i < scene->n_marks; i++)
        n_legend += scene->marks[i].kind == TA_MARK_TEXT &&
                    (strcmp(scene->marks[i].text.text, "worse") == 0 ||
                     strcmp(scene->marks[i].text.text, "better") == 0);
    assert_int_equal(n_legend, 2);
    assert_non_null(strstr(scene->summary, "From 197 ns to 202 ns (+5 ns)"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* What is sure has the color of its direction, what may be nothing has none. */
static void test_a_forest_tells_what_is_sure(void **state)
{
    (void)state;
    static const struct {
        double ratio, low, high;
        enum ta_ink ink;
    } rows[] = {{1.2, 1.1, 1.3, TA_INK_WORSE},
                {0.8, 0.7, 0.9, TA_INK_BETTER},
                {1.05, 0.95, 1.2, TA_INK_MUTED}};
    struct world world = begin();
    struct ta_table_builder *builder =
        ta_add_table(world.section, "changes", "Changes", fixture_change_columns, 8);
    for (size_t i = 0; i < 3; i++)
        TA_CELLS(builder, ta_int(0), ta_text(TA_LIT("x")), ta_null(), ta_null(), ta_null(),
                 ta_num(rows[i].ratio), ta_num(rows[i].low), ta_num(rows[i].high));
    TA_CELLS(builder, ta_int(0), ta_text(TA_LIT("same")), ta_null(), ta_null(), ta_null(),
             ta_num(1), ta_num(1), ta_num(1));
    ta_add_chart(builder, &fixture_forest_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_sound(scene);
    size_t n = 0;
    double unit = NAN;
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_RECT || !mark->tip)
            continue;
        assert_true(n < 3);
        assert_int_equal(mark->ink, rows[n].ink);
        unit = n ? unit : mark->rect.w / (rows[0].high - rows[0].low);
        assert_true(fabs(mark->rect.w - unit * (rows[n].high - rows[n].low)) < 1e-6);
        n++;
    }
    assert_int_equal(n, 3);
    assert_non_null(strstr(scene->summary, "1 are worse, 1 better, 1 may be none"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static const struct ta_mark *find_box(const struct ta_scene *scene, const char *start)
{
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind == TA_MARK_RECT && mark->tip &&
            strncmp(mark->tip, start, strlen(start)) == 0)
            return mark;
    }
    fail_msg("no box %s", start);
    return NULL;
}

/* run 100: wrap 99.8: a 60: mm 30; b 39.8.  Boxes are as wide as their part and lie below their
 * caller; a wrapper and its caller are one, named after the more telling of the two. */
static void test_boxes_of_a_tree_nest(void **state)
{
    (void)state;
    static const struct {
        int64_t depth, total_ns;
        const char *name, *kind;
    } rows[] = {{0, 100000, "run", "module"},
                {1, 99800, "wrap", "python"},
                {2, 60000, "a", "python"},
                {3, 30000, "mm", "operator"},
                {2, 39800, "b", "python"}};
    struct world world = begin();
    struct ta_table_builder *table =
        ta_add_table(world.section, "tree", "Call tree", fixture_tree_columns, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TA_CELLS(table, ta_int(rows[i].depth), ta_text(ta_slice_of(rows[i].name)),
                 ta_text(ta_slice_of(rows[i].kind)), ta_int(rows[i].total_ns));
    ta_add_chart(table, &fixture_tree_chart);
    const struct ta_table *drawn = freeze(&world);
    struct ta_scene *scene = ta_scene_build(drawn, drawn->chart, 1000, 0);
    assert_true(scene->is_nested);
    const struct ta_mark *all = find_box(scene, "All"), *run = find_box(scene, "run");
    const struct ta_mark *a = find_box(scene, "a "), *mm = find_box(scene, "mm");
    const struct ta_mark *b = find_box(scene, "b ");
    assert_non_null(strstr(run->tip, "100 %"));
    assert_non_null(strstr(run->tip, "down to wrap"));
    assert_int_equal(run->ink, TA_INK_SERIES_3);
    assert_int_equal(mm->ink, TA_INK_SERIES_4);
    assert_int_equal(a->ink, TA_INK_BAND);
    const double gap = 1, row = run->rect.y - all->rect.y;
    assert_true(row > 0);
    assert_true(fabs(run->rect.w + gap - 1000) < 1e-6);
    assert_true(fabs(a->rect.y - run->rect.y - row) < 1e-6 && a->rect.x == run->rect.x);
    assert_true(fabs(a->rect.w + gap - 600) < 1e-6);
    assert_true(fabs(b->rect.x - 600) < 1e-6 && fabs(b->rect.w + gap - 398) < 1e-6);
    assert_true(b->rect.y == a->rect.y);
    assert_true(fabs(mm->rect.y - a->rect.y - row) < 1e-6 && mm->rect.x == a->rect.x);
    assert_true(fabs(mm->rect.w + gap - 300) < 1e-6);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static size_t count_boxes(const struct ta_scene *scene)
{
    size_t n = 0;
    for (size_t i = 0; i < scene->n_marks; i++)
        n += scene->marks[i].kind == TA_MARK_RECT && scene->marks[i].tip;
    return n;
}

/* However many rows there are, a page holds the drawing; what does not fit is said. */
static void test_large_trees_are_bounded(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_tree(world.section, (struct fixture){20000, 1e3, 0}, 9);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 4000, 0);
    assert_int_equal(count_boxes(scene), 501);
    ta_scene_free(scene);
    ta_report_free(world.report);
    world = begin();
    fixture_add_tree(world.section, (struct fixture){60, 1e6, 0}, 19);
    table = freeze(&world);
    scene = ta_scene_build(table, table->chart, 4000, 100);
    assert_true(scene->height <= 110);
    assert_non_null(strstr(scene->caption, "deeper is not drawn"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_many_rows_become_an_overview(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_gpu(world.section, (struct fixture){500, 1e6, 0});
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(count_texts(scene, "rank "), 16);
    assert_int_equal(count_texts(scene, "All 500"), 1);
    assert_non_null(strstr(scene->caption, "500"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_missing_values_are_said(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_steps(world.section, (struct fixture){10, 1, 5}, 2, &fixture_bars_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(count_texts(scene, "no value"), 2);
    assert_non_null(strstr(scene->caption, "2 without a value"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_nothing_to_draw(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_kernels(world.section, (struct fixture){5, 1, 1});
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(scene->n_marks, 1);
    assert_int_equal(count_texts(scene, "Nothing to draw"), 1);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_hostile_names_are_visible(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_kernels(world.section, (struct fixture){6, 1, 0});
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 1600, 0);
    assert_true(count_texts(scene, "\\u202e\\x01\\xff") > 0);
    assert_int_equal(count_texts(scene, "\xe2\x80\xae"), 0);
    assert_int_equal(count_texts(scene, "\x01"), 0);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* A function of C++ that does not fit goes by what people call it, before it is cut. */
static void test_names_of_functions(void **state)
{
    (void)state;
    struct world world = begin();
    struct ta_table_builder *kernels =
        ta_add_table(world.section, "kernels", "Kernels by name", fixture_kernel_columns, 4);
    TA_CELLS(
        kernels,
        ta_text(TA_LIT("void at::native::(anonymous namespace)::softmax<4, float>(float*, long "
                       "const*, at::native::Calculator<1, unsigned int>, int, int, int)")),
        ta_text(TA_LIT("compute")), ta_int(50), ta_int(1000));
    ta_add_chart(kernels, &fixture_kernel_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(count_texts(scene, "softmax<4, float>"), 1);
    assert_int_equal(count_texts(scene, "void at"), 0);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* Of a label of several parts each is a name: what follows a kernel's is no part of its type. */
static void test_names_of_functions_in_labels(void **state)
{
    (void)state;
    struct world world = begin();
    struct ta_table_builder *kernels =
        ta_add_table(world.section, "kernels", "Kernels by name", fixture_kernel_columns, 4);
    TA_CELLS(kernels,
             ta_text(TA_LIT("void cutlass::device_kernel<flash::attention::forward::FlashFwdSm80>"
                            "(flash::attention::forward::FlashFwdSm80::Params)...")),
             ta_text(TA_LIT("compute")), ta_int(50), ta_int(1000));
    struct ta_chart chart = fixture_kernel_chart;
    chart.label[1] = "calls";
    ta_add_chart(kernels, &chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(count_texts(scene, "FlashFwdSm80... · "), 1);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static void test_same_input_same_scene(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_steps(world.section, (struct fixture){200, 1e3, 0}, 4, &fixture_step_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *a = ta_scene_build(table, table->chart, 720, 0);
    struct ta_scene *b = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(a->n_marks, b->n_marks);
    for (size_t i = 0; i < a->n_marks; i++) {
        assert_int_equal(a->marks[i].kind, b->marks[i].kind);
        if (a->marks[i].kind == TA_MARK_CIRCLE) {
            assert_true(a->marks[i].circle.x == b->marks[i].circle.x);
            assert_true(a->marks[i].circle.y == b->marks[i].circle.y);
        }
    }
    ta_scene_free(a);
    ta_scene_free(b);
    ta_report_free(world.report);
}

/* Steps of all ranks share their place on the axis, numbers decide the order. */
static void test_steps_of_ranks_are_aligned(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_steps(world.section, (struct fixture){100, 1e3, 0}, 2, &fixture_step_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    double x[2] = {0, 0};
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind == TA_MARK_CIRCLE && mark->tip && strstr(mark->tip, "Step#20 "))
            x[strstr(mark->tip, "rank 1") != NULL] = mark->circle.x;
    }
    assert_true(x[0] > 0 && x[1] > x[0] && x[1] - x[0] < 10);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static const struct ta_mark *find_line(const struct ta_scene *scene, const char *part)
{
    for (size_t i = 0; i < scene->n_marks; i++)
        if (scene->marks[i].kind == TA_MARK_LINE && scene->marks[i].tip &&
            strstr(scene->marks[i].tip, part))
            return &scene->marks[i];
    return NULL;
}

static size_t count_lines(const struct ta_scene *scene)
{
    size_t n = 0;
    for (size_t i = 0; i < scene->n_marks; i++)
        n += scene->marks[i].kind == TA_MARK_LINE && scene->marks[i].tip;
    return n;
}

/* Values of one unit share a plot, values of several units and groups have one each. */
static void test_lines_get_the_panels_they_need(void **state)
{
    (void)state;
    static const struct {
        size_t ranks, lines, titles;
        const struct ta_chart *chart;
    } cases[] = {{1, 2, 0, &fixture_memory_chart},
                 {2, 4, 1, &fixture_memory_chart},
                 {1, 2, 1, &fixture_power_chart},
                 {9, 18, 1, &fixture_power_chart}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = begin();
        fixture_add_lines(world.section, (struct fixture){90, 1e6, 0}, cases[i].ranks,
                          cases[i].chart);
        const struct ta_table *table = freeze(&world);
        struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
        assert_int_equal(count_lines(scene), cases[i].lines);
        assert_int_equal(count_texts(scene, "used ("), cases[i].titles);
        assert_non_null(strstr(scene->summary, "used from"));
        ta_scene_free(scene);
        ta_report_free(world.report);
    }
}

/* A line that another one would hide is drawn once, and the legend names both. */
static void test_equal_lines_are_one(void **state)
{
    static const struct ta_chart chart = {
        .id = "memory",
        .title = "Memory",
        .caption = "Over time.",
        .kind = TA_CHART_LINES,
        .x = "time_ns",
        .group = "rank",
        .y = {{"used_bytes", "used", TA_INK_SERIES_1},
              {"held_bytes", "held", TA_INK_SERIES_2},
              {"used_bytes", "again", TA_INK_SERIES_3}},
    };
    (void)state;
    struct world world = begin();
    fixture_add_lines(world.section, (struct fixture){90, 1e6, 0}, 1, &chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    assert_int_equal(count_lines(scene), 2);
    assert_int_equal(count_texts(scene, "used and again (same line)"), 1);
    assert_int_equal(count_texts(scene, "held"), 1);
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static const struct ta_column lane_columns[] = {
    {"lane", "Lane", TA_TEXT, .doc = "Name."},
    {"from", "From", TA_NS, .doc = "Start."},
    {"long", "Long", TA_NS, .doc = "Length."},
    {"what", "What", TA_TEXT, .doc = "Class."},
};

/* How often the axis of segments of two classes, one behind the other, has "100 %". */
static size_t shares_of(const char *const *lanes, const char *const *classes, size_t n)
{
    static const struct ta_kind kinds[] = {{"a", "first", TA_INK_SERIES_1},
                                           {"b", "second", TA_INK_SERIES_2},
                                           {NULL, NULL, TA_INK_NONE}};
    static const struct ta_chart chart = {
        .id = "lanes",
        .title = "Lanes",
        .caption = "Side by side.",
        .kind = TA_CHART_LANES,
        .label = {"lane"},
        .x = "from",
        .y = {{"long", "Long", TA_INK_SERIES_1}},
        .group = "what",
        .kinds = kinds,
    };
    struct world world = begin();
    struct ta_table_builder *builder = ta_add_table(world.section, "t", "Lanes", lane_columns, 4);
    for (size_t i = 0; i < n; i++)
        TA_CELLS(builder, ta_string(lanes[i]), ta_int(1000 * (int64_t)i), ta_int(1000),
                 ta_string(classes[i]));
    ta_add_chart(builder, &chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    const size_t shares = count_texts(scene, "100\u202f% = ") + count_texts(scene, "100 % = ");
    ta_scene_free(scene);
    ta_report_free(world.report);
    return shares;
}

/* One bar of sorted parts is no timeline: its axis has shares.  Several bars are compared in time,
 * and where a class comes again, time goes on. */
static void test_axes_of_lanes(void **state)
{
    (void)state;
    assert_int_equal(shares_of((const char *[]){"x", "x"}, (const char *[]){"a", "b"}, 2), 1);
    assert_int_equal(shares_of((const char *[]){"x", "y"}, (const char *[]){"a", "b"}, 2), 0);
    assert_int_equal(shares_of((const char *[]){"x", "x", "x"}, (const char *[]){"a", "b", "a"}, 3),
                     0);
}

/* Points that lie on one pixel are drawn once; the ends and the extremes stay. */
static void test_long_lines_are_thinned(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_lines(world.section, (struct fixture){50000, 0, 0}, 1, &fixture_memory_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_LINE || !mark->tip)
            continue;
        assert_in_range(mark->line.n, 100, 2000);
        assert_true(mark->line.points[mark->line.n - 1].x > 700);
    }
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* Lines beyond those with a color become their lowest, median and highest, one above the other. */
static void test_many_lines_become_a_band(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_lines(world.section, (struct fixture){64 * 90, 1e6, 0}, 64, &fixture_memory_chart);
    const struct ta_table *table = freeze(&world);
    check(table);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    const struct ta_mark *lowest = find_line(scene, "lowest"), *median = find_line(scene, "median"),
                         *highest = find_line(scene, "highest");
    assert_true(lowest && median && highest);
    assert_in_range(median->line.n, 80, 160);
    assert_int_equal(lowest->line.n, median->line.n);
    assert_int_equal(highest->line.n, median->line.n);
    for (size_t i = 0; i < median->line.n; i++) {
        const struct ta_point *at = &median->line.points[i];
        assert_true(i == 0 || at->x > median->line.points[i - 1].x);
        assert_true(lowest->line.points[i].x == at->x && highest->line.points[i].x == at->x);
        assert_true(lowest->line.points[i].y >= at->y && highest->line.points[i].y <= at->y);
        assert_true(at->y > 0 && at->y < scene->height);
    }
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* ---- scatter ------------------------------------------------------------------------------ */

/* The height of a roof at x; points below it have larger y. */
static double roof_at(const struct ta_mark *line, double x)
{
    for (size_t i = 1; i < line->line.n; i++) {
        const struct ta_point a = line->line.points[i - 1], b = line->line.points[i];
        if (x >= a.x && x <= b.x)
            return a.y + (b.y - a.y) * (b.x > a.x ? (x - a.x) / (b.x - a.x) : 0);
    }
    return line->line.points[0].y;
}

static void test_dots_stay_below_their_roof(void **state)
{
    (void)state;
    struct world world = begin();
    fixture_add_scatter(world.section, (struct fixture){60, 1, 0}, 6, &fixture_roof_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    const struct ta_mark *fast = find_line(scene, "989 TFLOP/s"), *slow = find_line(scene, "67");
    assert_non_null(fast);
    assert_non_null(slow);
    assert_int_equal(fast->line.n, 3); /* rising, bend, level */
    /* A decade is as long in both lines: they rise together and bend at their own peak. */
    assert_true(fast->line.points[1].x > slow->line.points[1].x);
    assert_true(fast->line.points[1].y < slow->line.points[1].y);
    assert_true(fabs(roof_at(fast, slow->line.points[1].x) - slow->line.points[1].y) < 1e-6);
    size_t dots = 0;
    for (size_t i = 0; i < scene->n_marks; i++) {
        const struct ta_mark *mark = &scene->marks[i];
        if (mark->kind != TA_MARK_CIRCLE || !mark->tip)
            continue;
        dots++;
        const bool is_slow = strncmp(mark->tip, "gemm", 4) == 0 || strncmp(mark->tip, "b ", 2) == 0;
        assert_true(mark->circle.y >= roof_at(is_slow ? slow : fast, mark->circle.x) - 1e-6);
    }
    assert_int_equal(dots, 60);
    assert_int_equal(count_texts(scene, "989 TFLOP/s"), 1);
    assert_int_equal(count_texts(scene, "4.80 TB/s"), 1); /* one line rises for both */
    assert_non_null(strstr(scene->caption, "Area of a dot: Time"));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

/* Areas, not radii, stand for sizes; what has no place on a logarithm is counted. */
static void test_areas_of_dots(void **state)
{
    (void)state;
    struct world world = begin();
    struct ta_table_builder *builder =
        ta_add_table(world.section, "scatter", "Operators", fixture_scatter_columns, 8);
    static const double rates[] = {1e12, 2e12, 0, -1};
    for (size_t i = 0; i < 4; i++)
        TA_CELLS(builder, ta_text(ta_slice_of("n")), ta_text(ta_slice_of("gemm")),
                 ta_num(1 + (double)i), ta_num(rates[i]), ta_int(i ? 100000 : 400000), ta_null(),
                 ta_null(), ta_null());
    ta_add_chart(builder, &fixture_roof_chart);
    const struct ta_table *table = freeze(&world);
    struct ta_scene *scene = ta_scene_build(table, table->chart, 720, 0);
    double radii[2] = {0};
    size_t n = 0;
    for (size_t i = 0; i < scene->n_marks; i++)
        if (scene->marks[i].kind == TA_MARK_CIRCLE && scene->marks[i].tip) {
            assert_true(n < 2);
            radii[n++] = scene->marks[i].circle.r;
        }
    assert_int_equal(n, 2);
    assert_true(fabs(radii[0] - 2 * radii[1]) < 1e-9); /* the larger one lies below */
    assert_non_null(strstr(scene->caption, "2, 2 without a value"));
    assert_null(find_line(scene, ""));
    ta_scene_free(scene);
    ta_report_free(world.report);
}

static const struct ta_column heat_columns[] = {
    {"rank", "Rank", TA_INTEGER, .doc = ""},
    {"step", "Step", TA_INTEGER, .doc = ""},
    {"late_ns", "Lateness", TA_NS_MEAN, .better = TA_LOWER, .doc = ""},
};

static const struct ta_chart heat_chart = {
    .id = "heat",
    .title = "Heat",
    .caption = "",
    .kind = TA_CHART_HEAT,
    .label = {"rank"},
    .x = "step",
    .y = {{"late_ns", "Lateness", TA_INK_HEAT_7}},
};

/* Ranks by steps; rank 1 is late from step 3 on, one cell is missing. */
static void test_heat_is_where_values_are(void **state)
{
    (void)state;
    for (int64_t ranks = 3; ranks <= 300; ranks *= 10) {
        struct world world = begin();
        struct ta_table_builder *table = ta_add_table(world.section, "h", "H", heat_columns, 3);
        for (int64_t rank = 0; rank < ranks; rank++)
            for (int64_t step = 2; step < 8; step++)
                if (rank != 2 || step != 4)
                    TA_CELLS(table, ta_int(rank), ta_int(step),
                             ta_num(rank == 1 && step >= 3 ? 9e6 : 1e3));
        ta_add_chart(table, &heat_chart);
        struct ta_scene *scene = ta_scene_build(freeze(&world), &heat_chart, 720, 0);
        assert_non_null(scene);
        size_t hot = 0, cold = 0;
        for (size_t i = 0; i < scene->n_marks; i++) {
            const struct ta_mark *m = &scene->marks[i];
            if (m->kind != TA_MARK_RECT || !m->tip)
                continue;
            hot += m->ink == TA_INK_HEAT_7;
            cold += m->ink == TA_INK_HEAT_1;
            if (m->ink == TA_INK_HEAT_7)
                assert_string_equal(m->tip, "rank 1 · Step 3 to 7 · up to 9.00 ms");
        }
        /* A mark per line, two where it changes or a cell is missing. */
        assert_int_equal(hot, 1);
        assert_int_equal(cold, ranks + 1);
        assert_non_null(strstr(scene->summary, "rank 1"));
        assert_true(scene->height < 700);
        ta_scene_free(scene);
        ta_report_free(world.report);
    }
}

static void test_css_covers_every_ink(void **state)
{
    (void)state;
    struct ta_arena arena = {0};
    const char *css = ta_chart_css(&arena);
    assert_non_null(css);
    for (int ink = 0; ink < TA_INK_COUNT; ink++) {
        char rule[64];
        snprintf(rule, sizeof rule, ".ink-%s{", ta_ink_name((enum ta_ink)ink));
        assert_non_null(strstr(css, rule));
    }
    ta_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_in_all_sizes),
        cmocka_unit_test(test_boxes_of_a_tree_nest),
        cmocka_unit_test(test_large_trees_are_bounded),
        cmocka_unit_test(test_segments_add_up),
        cmocka_unit_test(test_a_segment_per_group),
        cmocka_unit_test(test_a_waterfall_is_closed),
        cmocka_unit_test(test_a_forest_tells_what_is_sure),
        cmocka_unit_test(test_many_rows_become_an_overview),
        cmocka_unit_test(test_missing_values_are_said),
        cmocka_unit_test(test_nothing_to_draw),
        cmocka_unit_test(test_hostile_names_are_visible),
        cmocka_unit_test(test_names_of_functions),
        cmocka_unit_test(test_names_of_functions_in_labels),
        cmocka_unit_test(test_same_input_same_scene),
        cmocka_unit_test(test_steps_of_ranks_are_aligned),
        cmocka_unit_test(test_lines_get_the_panels_they_need),
        cmocka_unit_test(test_equal_lines_are_one),
        cmocka_unit_test(test_axes_of_lanes),
        cmocka_unit_test(test_long_lines_are_thinned),
        cmocka_unit_test(test_many_lines_become_a_band),
        cmocka_unit_test(test_dots_stay_below_their_roof),
        cmocka_unit_test(test_areas_of_dots),
        cmocka_unit_test(test_heat_is_where_values_are),
        cmocka_unit_test(test_css_covers_every_ink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
