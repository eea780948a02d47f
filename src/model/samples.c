/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a sample is packed: a byte that says which signal it is of and what else follows, then what
 * differs from the sample before, as integers of seven bits a byte, the low ones first.
 *
 * A value is the whole number of grains of its signal that gives the same double again, or, where
 * there is none, its eight bytes.  A sample that is taken out never makes the next one longer: what
 * that must say now, those between it and the one before had to say, too. */
#include "model/samples.h"

#include <assert.h>
#include <math.h>

enum { SIGNAL = 0x0f, SAME_PLACE = 0x10, SAME_TIME = 0x20, RELATIVE = 0x40, IN_GRAINS = 0x80 };

/* Four bits hold the signals that most files have; this one says that the next byte has it. */
enum { IN_NEXT_BYTE = SIGNAL };

static_assert(TA_SIGNAL_COUNT <= 256, "a signal takes a byte");

/* ---- numbers ------------------------------------------------------------------------------- */

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

static unsigned char *put_integer(unsigned char *at, int64_t value)
{
    uint64_t left = zigzag(value);
    for (; left > 0x7f; left >>= 7)
        *at++ = (unsigned char)(left | 0x80);
    *at++ = (unsigned char)left;
    return at;
}

static const unsigned char *get_integer(const unsigned char *at, int64_t *value)
{
    uint64_t all = 0;
    int shift = 0;
    for (; *at & 0x80; shift += 7)
        all |= (uint64_t)(*at++ & 0x7f) << shift;
    *value = unzigzag(all | (uint64_t)*at << shift);
    return at + 1;
}

/* ---- values -------------------------------------------------------------------------------- */

/* The value of a number of grains: percents, MiB, °C, hundredths of a W, MHz, MB/s. */
static double value_of(enum ta_signal signal, double grains)
{
    switch (ta_signal_unit(signal)) {
    case TA_UNIT_RATIO:
    case TA_UNIT_WATT:
        return grains / 100;
    case TA_UNIT_BYTES:
        return grains * 1048576;
    case TA_UNIT_PER_S:
    case TA_UNIT_BYTES_PER_S:
        return grains * 1e6;
    default:
        return grains;
    }
}

/* Grains that give exactly the value; false when there are none. */
static bool find_grains(enum ta_signal signal, double value, int64_t *grains)
{
    const double most = 9007199254740992; /* 2^53 */
    const double nearest = round(value / value_of(signal, 1));
    if (!(fabs(nearest) < most))
        return false;
    *grains = ta_whole(nearest);
    const double again = value_of(signal, (double)*grains);
    return memcmp(&again, &value, sizeof value) == 0; /* −0 is not 0 */
}

/* ---- samples ------------------------------------------------------------------------------- */

size_t ta_sample_pack(unsigned char *at, struct ta_sample *last, const struct ta_sample *sample)
{
    int64_t grains;
    unsigned char *end = at + 1;
    assert((unsigned)sample->signal < TA_SIGNAL_COUNT);
    const bool same_place = sample->rank == last->rank && sample->device == last->device;
    const bool same_time = sample->time_ns == last->time_ns;
    const bool in_grains = find_grains(sample->signal, sample->value, &grains);
    const int signal = (int)sample->signal;
    const int nibble = signal < IN_NEXT_BYTE ? signal : IN_NEXT_BYTE;
    *at = (unsigned char)(nibble | (same_place ? SAME_PLACE : 0) | (same_time ? SAME_TIME : 0) |
                          (sample->relative ? RELATIVE : 0) | (in_grains ? IN_GRAINS : 0));
    if (nibble == IN_NEXT_BYTE)
        *end++ = (unsigned char)signal;
    if (!same_place)
        end = put_integer(put_integer(end, sample->rank), sample->device);
    if (!same_time) /* the difference may wrap around, and back */
        end = put_integer(end, (int64_t)((uint64_t)sample->time_ns - (uint64_t)last->time_ns));
    if (in_grains) {
        end = put_integer(end, grains);
    } else {
        memcpy(end, &sample->value, sizeof sample->value);
        end += sizeof sample->value;
    }
    *last = *sample;
    return (size_t)(end - at);
}

bool ta_samples_next(struct ta_samples *samples)
{
    struct ta_sample *sample = &samples->sample;
    if (samples->left == 0)
        return false;
    samples->left--;
    const unsigned char *at = samples->at;
    const unsigned head = *at++;
    int64_t number;
    const unsigned nibble = head & SIGNAL;
    sample->signal = (enum ta_signal)(nibble == IN_NEXT_BYTE ? *at++ : nibble);
    sample->relative = (head & RELATIVE) != 0;
    if (!(head & SAME_PLACE))
        at = get_integer(get_integer(at, &sample->rank), &sample->device);
    if (!(head & SAME_TIME)) {
        at = get_integer(at, &number);
        sample->time_ns = (int64_t)((uint64_t)sample->time_ns + (uint64_t)number);
    }
    if (head & IN_GRAINS) {
        at = get_integer(at, &number);
        sample->value = value_of(sample->signal, (double)number);
    } else {
        memcpy(&sample->value, at, sizeof sample->value);
        at += sizeof sample->value;
    }
    samples->at = at;
    return true;
}
