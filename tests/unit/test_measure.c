/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines are as wide as Pango lays them out, whatever short way was taken to say so; those of pages
 * are so with the widest of the usual fonts, which need not be here. */
#include "render/chart/measure.h"
#include "render/chart/scene.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 3000, LONGEST = 60 };

/* Letters that one font has, and others that ask for a second look. */
static const char *const plain[] = {"…", "·", "→", "µ", "×", "–", "\u00a0"};
static const char *const others[] = {"é", "ß", "Ω", "日", "א", "ﬁ", "\t", "e\u0301"};
enum { PLAIN = sizeof plain / sizeof *plain, OTHERS = sizeof others / sizeof *others };

static uint64_t random_state = 1;

static size_t below(size_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(random_state >> 33) % n;
}

/* A line of one of three kinds: without letters, with them, with anything. */
static void draw_line(size_t kind, char line[LONGEST * 4 + 1])
{
    static const char signs[] = " .,:;()[]<>/-_+%0123456789";
    line[0] = '\0';
    for (size_t i = below(LONGEST); i; i--) {
        const char ascii[2] = {(char)(' ' + below('~' - ' ' + 1)), '\0'};
        const char sign[2] = {signs[below(sizeof signs - 1)], '\0'};
        const size_t what = below(20);
        strcat(line, what == 0                ? plain[below(PLAIN)]
                     : kind == 0              ? sign
                     : kind == 2 && what == 1 ? others[below(OTHERS)]
                                              : ascii);
    }
}

struct layouts {
    PangoContext *context;
    PangoLayout *of[TA_FACE_COUNT];
};

static struct layouts make_layouts(void)
{
    struct layouts layouts = {
        .context = pango_font_map_create_context(pango_cairo_font_map_get_default())};
    ta_draw_prepare(layouts.context);
    for (int face = 0; face < TA_FACE_COUNT; face++) {
        PangoFontDescription *font = ta_face_font((enum ta_face)face);
        layouts.of[face] = pango_layout_new(layouts.context);
        pango_layout_set_font_description(layouts.of[face], font);
        pango_layout_set_single_paragraph_mode(layouts.of[face], TRUE);
        pango_font_description_free(font);
    }
    return layouts;
}

static void free_layouts(struct layouts *layouts)
{
    for (int face = 0; face < TA_FACE_COUNT; face++)
        g_object_unref(layouts->of[face]);
    g_object_unref(layouts->context);
}

static void as_pango_lays_them_out(void **state)
{
    (void)state;
    struct ta_measure *measure = ta_measure_new();
    assert_non_null(measure);
    struct layouts layouts = make_layouts();
    for (size_t i = 0; i < LINES; i++) {
        char line[LONGEST * 4 + 1];
        int width;
        const enum ta_face face = (enum ta_face)(i % TA_FACE_COUNT);
        draw_line(i / TA_FACE_COUNT % 3, line);
        pango_layout_set_text(layouts.of[face], line, -1);
        pango_layout_get_size(layouts.of[face], &width, NULL);
        const double measured = ta_measure_width(measure, face, line);
        if (measured != (double)width / PANGO_SCALE)
            fail_msg("%g instead of %g: %s", measured, (double)width / PANGO_SCALE, line);
    }
    free_layouts(&layouts);
    ta_measure_free(measure);
}

static void *measure_some(void *widths)
{
    struct ta_measure *measure = ta_measure_new();
    for (int face = 0; measure && face < TA_FACE_COUNT; face++)
        ((double *)widths)[face] = ta_measure_width(measure, (enum ta_face)face, "aten::mm · 3 µs");
    ta_measure_free(measure);
    return measure ? widths : NULL;
}

static void each_thread_for_itself(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    double widths[THREADS + 1][TA_FACE_COUNT] = {{0}};
    assert_non_null(measure_some(widths[THREADS]));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, measure_some, widths[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *measured;
        assert_int_equal(pthread_join(threads[i], &measured), 0);
        assert_non_null(measured);
        assert_memory_equal(widths[i], widths[THREADS], sizeof widths[i]);
    }
}

/* "DejaVu Sans" where that is what the fonts of this machine are measured with. */
static bool has_usual_font(PangoContext *context, enum ta_face face)
{
    PangoFontDescription *wanted = ta_face_font(face);
    PangoFont *font = pango_context_load_font(context, wanted);
    PangoFontDescription *found = font ? pango_font_describe(font) : NULL;
    const char *family = found ? pango_font_description_get_family(found) : NULL;
    const bool is_usual =
        family && strcmp(family, face == TA_FACE_MONO ? "DejaVu Sans Mono" : "DejaVu Sans") == 0;
    pango_font_description_free(found);
    pango_font_description_free(wanted);
    if (font)
        g_object_unref(font);
    return is_usual;
}

/* But for pairs of letters that stand closer together. */
static void pages_as_with_the_usual_font(void **state)
{
    (void)state;
    struct ta_measure page = ta_measure_of_page(), *thread = ta_measure_new();
    struct layouts layouts = make_layouts();
    assert_non_null(thread);
    size_t n = 0;
    for (size_t i = 0; i < LINES; i++) {
        char line[LONGEST * 4 + 1];
        const enum ta_face face = (enum ta_face)(i % TA_FACE_COUNT);
        draw_line(i / TA_FACE_COUNT % 2, line);
        if (!has_usual_font(layouts.context, face))
            continue;
        const double here = ta_measure_width(thread, face, line);
        const double there = ta_measure_width(&page, face, line);
        const double kerning = 0.02 * here + 0.2 * ta_face_size(face);
        if (there < here - 0.05 * ta_face_size(face) || there > here + kerning)
            fail_msg("%g instead of %g: %s", there, here, line);
        n++;
    }
    free_layouts(&layouts);
    ta_measure_free(thread);
    if (n == 0)
        skip();
}

static void pages_without_any_font(void **state)
{
    (void)state;
    struct ta_measure page = ta_measure_of_page();
    const double size = ta_face_size(TA_FACE_BODY);
    assert_true(ta_measure_width(&page, TA_FACE_BODY, "") == 0);
    assert_true(ta_measure_width(&page, TA_FACE_BODY, "…") == size);
    assert_true(ta_measure_width(&page, TA_FACE_BODY, "日本") == 2 * size);
    assert_true(ta_measure_width(&page, TA_FACE_BODY, "e\u0301") ==
                ta_measure_width(&page, TA_FACE_BODY, "e"));
    assert_true(ta_measure_width(&page, TA_FACE_STRONG, "Ω") > 0);
    assert_true(ta_measure_width(&page, TA_FACE_MONO, "日") ==
                2 * ta_measure_width(&page, TA_FACE_MONO, "i"));
    assert_true(ta_measure_width(&page, TA_FACE_BODY, "\xff") == size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_pango_lays_them_out),
        cmocka_unit_test(each_thread_for_itself),
        cmocka_unit_test(pages_as_with_the_usual_font),
        cmocka_unit_test(pages_without_any_font),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
