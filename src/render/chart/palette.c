/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The colors of all charts, in both themes, and the sizes of their type.
 *
 * There are five sets of a theme: a class of device time keeps its color in every chart, so does
 * what host threads do and whether a change is for the worse, and series have no fixed meaning;
 * what computes is blue, and families of kernels are shades next to it, which differ by 10.
 * Within a set colors differ from the paper by a contrast of at least 3:1 and from each other by
 * CIEDE2000 >= 15 for normal, protan, deutan and tritan vision; the first four series, which most
 * charts of ranks need and which thin lines must tell apart, by 20.  Idle time is hatched; its
 * causes are tints of that, half of them hatched the other way. tests/unit/test_palette.c computes
 * all of it.
 *
 * The steps of a heat map rise in lightness, dark blue to yellow for all eyes (cividis; Nunez,
 * Anderton & Renslow 2018), the same in both themes: cells touch each other, not the paper. */
#include "render/chart/scene.h"
#include "traceanalyze/chart.h"

#define LIGHT_PAPER 0xffffff
#define DARK_PAPER 0x0d1117
#define LIGHT_TEXT 0x1f2328
#define DARK_TEXT 0xe6edf3

struct ink {
    uint32_t light, dark;
    bool light_takes_dark, dark_takes_light; /* which text is the more legible one inside it */
};

static const struct ink inks[TA_INK_COUNT] = {
    [TA_INK_NONE] = {LIGHT_PAPER, DARK_PAPER, true, true},
    [TA_INK_TEXT] = {LIGHT_TEXT, DARK_TEXT, false, false},
    [TA_INK_MUTED] = {0x59636e, 0x9198a1, false, false},
    [TA_INK_GRID] = {0xe4e7eb, 0x2a313a, true, true},
    [TA_INK_COMPUTE] = {0x0072b2, 0x56b4e9, false, false},
    [TA_INK_COMM] = {0xd55e00, 0xe69f00, true, false},
    [TA_INK_MEMCPY] = {0x400080, 0xdfdfb5, false, false},
    [TA_INK_MEMSET] = {0x95406a, 0xa42fbb, false, true},
    [TA_INK_IDLE] = {0x8a8f98, 0x6e7681, true, true},
    [TA_INK_COMM_HIDDEN] = {0xac1803, 0x9a9673, false, false},
    [TA_INK_WAIT] = {0x8d7663, 0xa6b4b5, false, false},
    [TA_INK_OTHER] = {0x4a2720, 0x77681e, false, true},
    [TA_INK_BAND] = {0xe3eef6, 0x16283a, true, true},
    [TA_INK_WORSE_1] = {0xfbd9a8, 0x4d2e0c, true, true},
    [TA_INK_WORSE_2] = {0xf1a340, 0x9a5b12, true, true},
    [TA_INK_BETTER_1] = {0xd8daeb, 0x35304d, true, true},
    [TA_INK_BETTER_2] = {0x998ec3, 0x655a94, true, true},
    [TA_INK_SERIES_1] = {0x0072b2, 0x56b4e9, false, false},
    [TA_INK_SERIES_2] = {0xd55e00, 0xe69f00, true, false},
    [TA_INK_SERIES_3] = {0x781450, 0x783cf0, false, true},
    [TA_INK_SERIES_4] = {0x283c00, 0x28783c, false, true},
    [TA_INK_SERIES_5] = {0x8a8f98, 0xeeeedd, true, false},
    [TA_INK_SERIES_6] = {0x776655, 0x887788, false, false},
    [TA_INK_SERIES_7] = {0x2211bb, 0x99aa88, false, false},
    [TA_INK_OP] = {0x15a585, 0x88d6b4, true, false},
    [TA_INK_RUNTIME] = {0xb58320, 0xf8cd15, true, false},
    [TA_INK_HOST] = {0x646e82, 0x60657b, false, true},
    [TA_INK_RANGE] = {0x8d2ef2, 0xb283f1, false, false},
    [TA_INK_SYNC] = {0xab3748, 0xdc243b, false, true},
    [TA_INK_ATTENTION] = {0x092338, 0xbee9f7, false, false},
    [TA_INK_CONV] = {0x4b96eb, 0x2f8dbf, true, false},
    [TA_INK_POINTWISE] = {0x216352, 0x267259, false, true},
    [TA_INK_KERNEL] = {0x5d677e, 0x595ba5, false, true},
    [TA_INK_NORM] = {0x109b61, 0x91bfaa, true, false},
    [TA_INK_FUSED] = {0x492e05, 0x956808, false, false},
    [TA_INK_MOVE] = {0x5a3c68, 0xa016fd, false, true},
    [TA_INK_REDUCE] = {0xb9809b, 0xf72673, true, false},
    [TA_INK_IDLE_SYNC] = {0xb35737, 0xda5656, false, false},
    [TA_INK_IDLE_INPUT] = {0xca51db, 0x8342d0, true, true},
    [TA_INK_IDLE_COMPUTE] = {0x15132b, 0xd1d4f2, false, false},
    [TA_INK_IDLE_LATENCY] = {0x344b47, 0x93d3b9, false, false},
    [TA_INK_IDLE_EARLIER] = {0x4d3977, 0x9f8de4, false, false},
    [TA_INK_IDLE_QUEUED] = {0x464f30, 0x54bc2c, false, false},
    [TA_INK_IDLE_UNKNOWN] = {0x241f18, 0x945048, false, true},
    [TA_INK_IDLE_AROUND] = {0x145962, 0xcee9e3, false, false},
    [TA_INK_IDLE_SETUP] = {0x877c60, 0x9f9e84, false, false},
    [TA_INK_IDLE_ALLOCATE] = {0xc58427, 0xe6e797, true, false},
    [TA_INK_IDLE_HOST] = {0xa54ba3, 0xc865b4, false, false},
    [TA_INK_WORSE] = {0xb35806, 0xf1a340, false, false},
    [TA_INK_BETTER] = {0x542788, 0xb2abd2, false, false},
    [TA_INK_HEAT_1] = {0x00224e, 0x00224e, false, true},
    [TA_INK_HEAT_2] = {0x2a3f6d, 0x2a3f6d, false, true},
    [TA_INK_HEAT_3] = {0x575d6d, 0x575d6d, false, true},
    [TA_INK_HEAT_4] = {0x7d7c78, 0x7d7c78, false, false},
    [TA_INK_HEAT_5] = {0xa69d75, 0xa69d75, true, false},
    [TA_INK_HEAT_6] = {0xd3c164, 0xd3c164, true, false},
    [TA_INK_HEAT_7] = {0xfee838, 0xfee838, true, false},
};

static const struct ink *ink_at(enum ta_ink ink)
{
    return &inks[(unsigned)ink < TA_INK_COUNT ? ink : TA_INK_OTHER];
}

uint32_t ta_ink_color(enum ta_ink ink, bool dark)
{
    return dark ? ink_at(ink)->dark : ink_at(ink)->light;
}

uint32_t ta_ink_color_on(enum ta_ink ink, bool dark)
{
    if (dark)
        return ink_at(ink)->dark_takes_light ? DARK_TEXT : DARK_PAPER;
    return ink_at(ink)->light_takes_dark ? LIGHT_TEXT : LIGHT_PAPER;
}

enum ta_hatch ta_ink_hatch(enum ta_ink ink)
{
    if (ink == TA_INK_IDLE || (ink >= TA_INK_IDLE_SYNC && ink <= TA_INK_IDLE_EARLIER))
        return TA_HATCH_RISING;
    return ink >= TA_INK_IDLE_QUEUED && ink <= TA_INK_IDLE_HOST ? TA_HATCH_FALLING : TA_HATCH_NONE;
}

double ta_face_size(enum ta_face face)
{
    static const double sizes[TA_FACE_COUNT] = {
        [TA_FACE_BODY] = 11, [TA_FACE_SMALL] = 9.5,  [TA_FACE_TITLE] = 14,
        [TA_FACE_MONO] = 9,  [TA_FACE_STRONG] = 9.5,
    };
    return sizes[face];
}
