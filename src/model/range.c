/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges of numbers, and of the arguments of events. */
#include "model/range.h"

#include "base/number.h"
#include "model/trace.h"
#include "traceanalyze/document.h"

/* Ranks and devices: far more than any machine has, few enough that counting them ends.  Grids:
 * CUDA has 2^31 - 1 along x, ROCm counts work items in 32 bits.  Blocks: 1024 threads in all today.
 * Bytes and elements: no memory holds as many, and sums of a few stay within int64. */
static const struct {
    const char *what;
    int64_t least, most;
} ranges[TA_RANGE_COUNT] = {
    [TA_RANGE_RANK] = {"A rank", 0, (1 << 24) - 1},
    [TA_RANGE_WORLD_SIZE] = {"A number of ranks", 0, 1 << 24},
    [TA_RANGE_DEVICE] = {"The number of a device", -1, (1 << 24) - 1},
    [TA_RANGE_UNITS] = {"A number of multiprocessors or threads", 0, 1 << 20},
    [TA_RANGE_CAPABILITY] = {"A number of an architecture", 0, 99},
    [TA_RANGE_PERCENT] = {"A percentage", 0, 100},
    [TA_RANGE_RATIO] = {"A share", 0, 1},
    [TA_RANGE_LOAD] = {"The load of a host", 0, 1 << 16},
    [TA_RANGE_GRID] = {"The grid of a kernel", 0, UINT32_MAX},
    [TA_RANGE_BLOCK] = {"The block of a kernel", 0, 1 << 12},
    [TA_RANGE_PER_UNIT] = {"A number per multiprocessor", 0, UINT32_MAX},
    [TA_RANGE_CELSIUS] = {"A temperature", -100, 1000},
    [TA_RANGE_WATT] = {"A power", 0, 1 << 20},
    [TA_RANGE_HERTZ] = {"A clock rate", 0, INT64_C(1) << 40},
    [TA_RANGE_BYTES] = {"A number of bytes", 0, INT64_C(1) << 56},
    [TA_RANGE_ELEMENTS] = {"A number of elements", 0, INT64_C(1) << 53},
    [TA_RANGE_FIGURE] = {"A figure", -(INT64_C(1) << 62), INT64_C(1) << 62},
    [TA_RANGE_TIME_NS] = {"A time", -TA_TS_LARGEST + 1, TA_TS_LARGEST - 1},
};

const char *ta_range_what(enum ta_range range)
{
    return ranges[range].what;
}

int64_t ta_range_least(enum ta_range range)
{
    return ranges[range].least;
}

int64_t ta_range_most(enum ta_range range)
{
    return ranges[range].most;
}

bool ta_range_has(enum ta_range range, int64_t value)
{
    return value >= ranges[range].least && value <= ranges[range].most;
}

bool ta_range_has_real(enum ta_range range, double value)
{
    return value >= (double)ranges[range].least && value <= (double)ranges[range].most;
}

/* ---- texts --------------------------------------------------------------------------------- */

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

static bool has_number(enum ta_range range, struct ta_slice number)
{
    int64_t value;
    switch (ta_decimal_parse(number, 0, &value)) {
    case TA_DECIMAL_OK:
        return ta_range_has(range, value);
    case TA_DECIMAL_OUT_OF_RANGE:
        return false;
    default:
        return true; /* a word, which says no number */
    }
}

bool ta_range_has_all(enum ta_range range, struct ta_slice text)
{
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && is_of_number(text.ptr[i]))
            continue;
        if (i > start && !has_number(range, ta_slice_part(text, start, i)))
            return false;
        start = i + 1;
    }
    return true;
}

/* ---- arguments ------------------------------------------------------------------------------- */

enum ta_range ta_range_of_arg(struct ta_slice key)
{
    static const struct {
        struct ta_slice key;
        enum ta_range range;
    } args[] = {
        {TA_LIT("device"), TA_RANGE_DEVICE},
        {TA_LIT("grid"), TA_RANGE_GRID},
        {TA_LIT("block"), TA_RANGE_BLOCK},
        {TA_LIT("blocks per SM"), TA_RANGE_PER_UNIT},
        {TA_LIT("warps per SM"), TA_RANGE_PER_UNIT},
        {TA_LIT("est. achieved occupancy %"), TA_RANGE_PERCENT},
        {TA_LIT("bytes"), TA_RANGE_BYTES},
        {TA_LIT("In msg nelems"), TA_RANGE_ELEMENTS},
        {TA_LIT("Out msg nelems"), TA_RANGE_ELEMENTS},
        {TA_LIT("Group size"), TA_RANGE_WORLD_SIZE},
    };
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        if (ta_slice_equal(args[i].key, key))
            return args[i].range;
    return TA_RANGE_ANY;
}
