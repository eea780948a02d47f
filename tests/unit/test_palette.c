/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colors can be told apart, on both papers and by all eyes: contrast as in WCAG 2, differences as
 * CIEDE2000, color vision deficiencies as Machado, Oliveira and Fernandes (2009) model them. */
#include "model/families.h"
#include "render/chart/layout.h"
#include "render/chart/scene.h"
#include "report/words.h"
#include "traceanalyze/chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct triple {
    double at[3];
};

static struct triple linear(uint32_t color)
{
    struct triple out;
    for (int i = 0; i < 3; i++) {
        const double c = (double)(color >> (16 - 8 * i) & 255) / 255;
        out.at[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return out;
}

static double luminance(uint32_t color)
{
    const struct triple c = linear(color);
    return 0.2126 * c.at[0] + 0.7152 * c.at[1] + 0.0722 * c.at[2];
}

static double contrast(uint32_t a, uint32_t b)
{
    const double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* ---- CIEDE2000 ----------------------------------------------------------------------- */

static double cube_root(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static struct triple lab(struct triple c)
{
    const double x = 0.4124564 * c.at[0] + 0.3575761 * c.at[1] + 0.1804375 * c.at[2];
    const double y = 0.2126729 * c.at[0] + 0.7151522 * c.at[1] + 0.0721750 * c.at[2];
    const double z = 0.0193339 * c.at[0] + 0.1191920 * c.at[1] + 0.9503041 * c.at[2];
    const double fx = cube_root(x / 0.95047), fy = cube_root(y), fz = cube_root(z / 1.08883);
    return (struct triple){{116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)}};
}

static double degrees(double y, double x)
{
    const double angle = atan2(y, x) * 180 / M_PI;
    return angle < 0 ? angle + 360 : angle;
}

static double cosine(double angle)
{
    return cos(angle * M_PI / 180);
}

static double hue_step(double h1, double h2)
{
    const double step = h2 - h1;
    return step > 180 ? step - 360 : step < -180 ? step + 360 : step;
}

static double mean_hue(double h1, double h2)
{
    if (fabs(h1 - h2) <= 180)
        return (h1 + h2) / 2;
    return h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
}

static double difference(struct triple p, struct triple q)
{
    const double c7 = pow((hypot(p.at[1], p.at[2]) + hypot(q.at[1], q.at[2])) / 2, 7);
    const double g = 1.5 - 0.5 * sqrt(c7 / (c7 + pow(25, 7)));
    const double c1 = hypot(p.at[1] * g, p.at[2]), c2 = hypot(q.at[1] * g, q.at[2]);
    const double h1 = degrees(p.at[2], p.at[1] * g), h2 = degrees(q.at[2], q.at[1] * g);
    const double dl = q.at[0] - p.at[0], dc = c2 - c1;
    const double dh = 2 * sqrt(c1 * c2) * sin(hue_step(h1, h2) * M_PI / 360);
    const double l = (p.at[0] + q.at[0]) / 2 - 50, c = (c1 + c2) / 2, h = mean_hue(h1, h2);
    const double t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) -
                     0.2 * cosine(4 * h - 63);
    const double sl = 1 + 0.015 * l * l / sqrt(20 + l * l), sc = 1 + 0.045 * c;
    const double sh = 1 + 0.015 * c * t, turn = 30 * exp(-pow((h - 275) / 25, 2));
    const double rt = -2 * sin(2 * turn * M_PI / 180) * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)));
    return sqrt(pow(dl / sl, 2) + pow(dc / sc, 2) + pow(dh / sh, 2) + rt * dc / sc * dh / sh);
}

/* The pairs of Sharma, Wu and Dalal (2005) that turn on the difficult terms. */
static void test_difference_is_right(void **state)
{
    (void)state;
    static const struct {
        struct triple a, b;
        double wanted;
    } cases[] = {
        {{{50, 2.6772, -79.7751}}, {{50, 0, -82.7485}}, 2.0425},
        {{{50, 2.49, -0.001}}, {{50, -2.49, 0.0011}}, 7.2195},
        {{{50, 2.5, 0}}, {{73, 25, -18}}, 27.1492},
        {{{60.2574, -34.0099, 36.2677}}, {{60.4626, -34.1751, 39.4387}}, 1.2644},
        {{{2.0776, 0.0795, -1.1350}}, {{0.9033, -0.0636, -0.5514}}, 0.9082},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(difference(cases[i].a, cases[i].b) - cases[i].wanted) < 1e-4);
}

/* ---- eyes ---------------------------------------------------------------------------- */

enum { EYES = 4 }; /* normal, protan, deutan, tritan */

static const double seen[EYES][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static struct triple as_seen(uint32_t color, int eye)
{
    const struct triple c = linear(color);
    struct triple out = {{0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            out.at[i] += seen[eye][i][k] * c.at[k];
        out.at[i] = fmin(1, fmax(0, out.at[i]));
    }
    return out;
}

/* The smallest difference that any eye sees. */
static double apart(uint32_t a, uint32_t b)
{
    double least = INFINITY;
    for (int eye = 0; eye < EYES; eye++)
        least = fmin(least, difference(lab(as_seen(a, eye)), lab(as_seen(b, eye))));
    return least;
}

static void check_set(enum ta_ink first, enum ta_ink last, bool dark, double least)
{
    for (int i = (int)first; i <= (int)last; i++)
        for (int k = (int)first; k < i; k++) {
            const uint32_t a = ta_ink_color((enum ta_ink)i, dark);
            const uint32_t b = ta_ink_color((enum ta_ink)k, dark);
            if (!(apart(a, b) >= least))
                fail_msg("%s and %s are %.1f apart%s", ta_ink_name((enum ta_ink)i),
                         ta_ink_name((enum ta_ink)k), apart(a, b), dark ? " in the dark" : "");
        }
}

static void test_colors_are_apart(void **state)
{
    (void)state;
    for (int dark = 0; dark < 2; dark++) {
        check_set(TA_INK_COMPUTE, TA_INK_OTHER, dark, 15);
        check_set(TA_INK_SERIES_1, TA_INK_SERIES_7, dark, 15);
        check_set(TA_INK_OP, TA_INK_SYNC, dark, 15);
        check_set(TA_INK_WORSE, TA_INK_BETTER, dark, 20);
        check_set(TA_INK_SERIES_1, TA_INK_SERIES_4, dark, 20);
        check_set(TA_INK_ATTENTION, TA_INK_KERNEL, dark, 10);
    }
}

/* Families of kernels stand beside the other classes of device time, of which COMPUTE is theirs;
 * memory sets count as copies there. */
static void test_families_are_apart_from_classes(void **state)
{
    (void)state;
    for (int family = TA_INK_ATTENTION; family <= TA_INK_KERNEL; family++)
        for (int class = TA_INK_COMPUTE; class <= TA_INK_OTHER; class ++)
            for (int dark = 0; dark < 2; dark++) {
                const uint32_t a = ta_ink_color((enum ta_ink)family, dark);
                const uint32_t b = ta_ink_color((enum ta_ink) class, dark);
                if (class != TA_INK_MEMSET && !(apart(a, b) >= 9))
                    fail_msg("%s and %s are %.1f apart%s", ta_ink_name((enum ta_ink)family),
                             ta_ink_name((enum ta_ink) class), apart(a, b),
                             dark ? " in the dark" : "");
            }
}

/* All idle time is hatched and nothing else is; causes hatched the same way differ more in color
 * than those hatched the other way. */
static void test_idle_time_is_hatched(void **state)
{
    (void)state;
    for (int i = 0; i < TA_INK_COUNT; i++) {
        const enum ta_hatch hatch = ta_ink_hatch((enum ta_ink)i);
        assert_int_equal(hatch != TA_HATCH_NONE,
                         strncmp(ta_ink_name((enum ta_ink)i), "idle", 4) == 0);
        for (int k = 0; k < 2 * i && hatch != TA_HATCH_NONE; k++) {
            const bool dark = k >= i;
            const enum ta_ink other = (enum ta_ink)(dark ? k - i : k);
            const double least = ta_ink_hatch(other) == hatch ? 15 : 7.5;
            if (ta_ink_hatch(other) != TA_HATCH_NONE &&
                !(apart(ta_ink_color((enum ta_ink)i, dark), ta_ink_color(other, dark)) >= least))
                fail_msg("%s and %s are too close", ta_ink_name((enum ta_ink)i),
                         ta_ink_name(other));
        }
    }
}

/* Kernels of a kind have the ink of their slices in charts, by any of their names. */
static void test_kernels_have_the_ink_of_their_slices(void **state)
{
    (void)state;
    for (int kind = 0; kind < TA_KERNEL_KIND_COUNT; kind++) {
        const struct ta_family *family = ta_kernel_family((enum ta_kernel_kind)kind);
        assert_int_equal(ta_data_class_ink(ta_kernel_kind_name((enum ta_kernel_kind)kind)),
                         ta_slice_look(family->slice)->ink);
        assert_int_equal(ta_data_class_ink(family->title), ta_slice_look(family->slice)->ink);
    }
}

/* Classes of kernels that only charts of classes tell apart. */
static void test_classes_of_kernels_are_apart(void **state)
{
    (void)state;
    static const enum ta_ink classes[] = {TA_INK_COMPUTE,   TA_INK_COMM,  TA_INK_MEMCPY,
                                          TA_INK_ATTENTION, TA_INK_CONV,  TA_INK_POINTWISE,
                                          TA_INK_KERNEL,    TA_INK_NORM,  TA_INK_FUSED,
                                          TA_INK_MOVE,      TA_INK_REDUCE};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (size_t k = 0; k < i; k++)
            for (int dark = 0; dark < 2; dark++) {
                const uint32_t a = ta_ink_color(classes[i], dark);
                const uint32_t b = ta_ink_color(classes[k], dark);
                if (!(apart(a, b) >= 9))
                    fail_msg("%s and %s are %.1f apart%s", ta_ink_name(classes[i]),
                             ta_ink_name(classes[k]), apart(a, b), dark ? " in the dark" : "");
            }
}

/* Cells of heat maps touch each other: their colors rise instead. */
static bool has_color(enum ta_ink ink)
{
    return (ink >= TA_INK_COMPUTE && ink <= TA_INK_OTHER) ||
           (ink >= TA_INK_SERIES_1 && ink < TA_INK_HEAT_1);
}

static void test_colors_stand_out(void **state)
{
    (void)state;
    for (int ink = 0; ink < TA_INK_COUNT; ink++)
        for (int dark = 0; dark < 2 && has_color((enum ta_ink)ink); dark++) {
            const uint32_t color = ta_ink_color((enum ta_ink)ink, dark);
            const uint32_t text = ta_ink_color_on((enum ta_ink)ink, dark);
            assert_true(contrast(color, ta_ink_color(TA_INK_NONE, dark)) >= 3);
            /* Of the two texts the more legible one, or one as good, is written inside. */
            const uint32_t texts[] = {ta_ink_color(TA_INK_TEXT, dark),
                                      ta_ink_color(TA_INK_NONE, dark)};
            for (int i = 0; i < 2; i++)
                if (contrast(color, text) * 1.1 < contrast(color, texts[i]))
                    fail_msg("text in %s%s: another has more contrast",
                             ta_ink_name((enum ta_ink)ink), dark ? " in the dark" : "");
        }
}

static void test_heat_rises(void **state)
{
    (void)state;
    for (int ink = TA_INK_HEAT_1; ink < TA_INK_HEAT_7; ink++)
        for (int dark = 0; dark < 2; dark++) {
            const uint32_t a = ta_ink_color((enum ta_ink)ink, dark);
            const uint32_t b = ta_ink_color((enum ta_ink)(ink + 1), dark);
            assert_true(luminance(b) > luminance(a) * 1.3);
            assert_true(apart(a, b) >= 7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_difference_is_right),
        cmocka_unit_test(test_colors_are_apart),
        cmocka_unit_test(test_families_are_apart_from_classes),
        cmocka_unit_test(test_idle_time_is_hatched),
        cmocka_unit_test(test_kernels_have_the_ink_of_their_slices),
        cmocka_unit_test(test_classes_of_kernels_are_apart),
        cmocka_unit_test(test_colors_stand_out),
        cmocka_unit_test(test_heat_rises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
