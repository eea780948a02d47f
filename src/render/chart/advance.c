/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Widths of texts that a browser draws, with whatever font it has for them.
 *
 * The fonts of this machine say nothing of that one's, so nothing is asked of them: a page is the
 * same wherever it is made, and no fonts are loaded for it. Letters count as wide as in DejaVu
 * Sans, the widest of the fonts that browsers show for `sans-serif`, so that texts fit with any of
 * them. Pairs that stand closer together (kerning) are not looked at. */
#include "render/chart/measure.h"
#include "render/chart/scene.h"

#include <utf8proc.h>

/* Advance widths of the printable characters of ASCII in 1/2048 of the font's size, from the table
 * `hmtx` of DejaVu Sans 2.37, Book and Bold; in DejaVu Sans Mono they are all the same. */
enum { UNITS = 2048, FIRST = ' ', LAST = '~', MONO = 1233 };

static const uint16_t advances[2][LAST - FIRST + 1] = {
    {651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,  651,  690,
     1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,  1716, 1716, 1716, 1087,
     2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604,  604,  1343, 1141, 1767, 1532, 1612,
     1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799,  690,  799,  1716, 1024,
     1024, 1255, 1300, 1126, 1300, 1260, 721,  1300, 1298, 569,  569,  1186, 569,  1995, 1298, 1253,
     1300, 1300, 842,  1067, 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716},
    {713,  934,  1067, 1716, 1425, 2052, 1786, 627,  936,  936,  1071, 1716, 778,  850,  778,  748,
     1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 819,  819,  1716, 1716, 1716, 1188,
     2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714, 762,  762,  1587, 1305, 2038, 1714, 1741,
     1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485, 936,  748,  936,  1716, 1024,
     1024, 1382, 1466, 1214, 1466, 1389, 891,  1466, 1458, 702,  702,  1362, 702,  2134, 1458, 1407,
     1466, 1466, 1010, 1219, 979,  1458, 1335, 1892, 1321, 1335, 1192, 1458, 748,  1458, 1716},
};

/* The same of others that our own texts have. */
static const struct {
    utf8proc_int32_t character;
    uint16_t advance[2];
} marks[] = {
    {0x00a0, {651, 713}},   /* no-break space */
    {0x00b5, {1303, 1507}}, /* µ */
    {0x00b7, {651, 778}},   /* · */
    {0x00d7, {1716, 1716}}, /* × */
    {0x2013, {1024, 1024}}, /* – */
    {0x2026, {2048, 2048}}, /* … */
    {0x2192, {1716, 1716}}, /* → */
};

/* Of anything else by the cells of a terminal that it takes: none, one as a wide capital of a
 * European script, or two as an ideograph. */
static unsigned other_advance(utf8proc_int32_t character, bool bold)
{
    static const unsigned one[2] = {1401, 1585};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].character == character)
            return marks[i].advance[bold];
    const int cells = utf8proc_charwidth(character);
    return cells == 1 ? one[bold] : cells > 1 ? UNITS : 0;
}

static unsigned advance_of(utf8proc_int32_t character, enum ta_face face)
{
    const bool bold = face == TA_FACE_TITLE || face == TA_FACE_STRONG;
    if (face == TA_FACE_MONO)
        return MONO * (unsigned)utf8proc_charwidth(character);
    return character >= FIRST && character <= LAST ? advances[bold][character - FIRST]
                                                   : other_advance(character, bold);
}

static double width(struct ta_measure *measure, enum ta_face face, const char *line)
{
    (void)measure;
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)line;
    unsigned long sum = 0;
    while (*at) {
        utf8proc_int32_t character;
        const utf8proc_ssize_t n = utf8proc_iterate(at, -1, &character);
        sum += n > 0 ? advance_of(character, face) : UNITS;
        at += n > 0 ? n : 1;
    }
    return (double)sum / UNITS * ta_face_size(face);
}

struct ta_measure ta_measure_of_page(void)
{
    return (struct ta_measure){.width = width};
}
