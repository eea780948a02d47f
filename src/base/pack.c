/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as printable characters, least significant first: five bits each, and a sixth that says
 * that more follow. Before that the sign goes to the lowest bit, and 0 means TA_MISSING. */
#include "base/pack.h"

#include <stdlib.h>

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

enum { BITS = 5, MORE = 1 << BITS };

/* ---- putting ------------------------------------------------------------------------------- */

static bool reserve(struct ta_pack *pack, size_t more)
{
    if (pack->failed || more > SIZE_MAX / 2 - pack->n) {
        pack->failed = true;
        return false;
    }
    if (pack->n + more <= pack->max)
        return true;
    const size_t max = (pack->n + more) * 2;
    char *grown = realloc(pack->at, max);
    if (!grown) {
        pack->failed = true;
        return false;
    }
    pack->at = grown;
    pack->max = max;
    return true;
}

/* The numbers -1, 1, -2 … become 2, 3, 4 …, 0 becomes 1, TA_MISSING 0. */
static uint64_t folded(int64_t value)
{
    if (value == TA_MISSING)
        return 0;
    return (((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0)) + 1;
}

static int64_t unfolded(uint64_t code)
{
    if (code == 0)
        return TA_MISSING;
    code--;
    return (int64_t)((code >> 1) ^ (code & 1 ? UINT64_MAX : 0));
}

void ta_pack_int(struct ta_pack *pack, int64_t value)
{
    if (!reserve(pack, 16))
        return;
    uint64_t code = folded(value);
    for (; code >= MORE; code >>= BITS)
        pack->at[pack->n++] = digits[code % MORE + MORE];
    pack->at[pack->n++] = digits[code];
}

static void put_bytes(struct ta_pack *pack, const char *bytes, size_t n)
{
    if (n == 0 || !reserve(pack, n))
        return;
    memcpy(pack->at + pack->n, bytes, n);
    pack->n += n;
}

void ta_pack_text(struct ta_pack *pack, struct ta_slice text)
{
    ta_pack_int(pack, (int64_t)text.len);
    put_bytes(pack, text.ptr, text.len);
}

void ta_pack_join(struct ta_pack *pack, const struct ta_pack *other)
{
    put_bytes(pack, other->at, other->n);
    pack->failed |= other->failed;
}

void ta_pack_free(struct ta_pack *pack)
{
    free(pack->at);
    *pack = (struct ta_pack){0};
}

/* ---- reading ------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 36;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

int64_t ta_unpack_int(struct ta_unpack *pack)
{
    uint64_t code = 0;
    for (unsigned shift = 0; shift < 64 && pack->at < pack->end && !pack->bad; shift += BITS) {
        const int digit = digit_of(*pack->at++);
        if (digit < 0)
            break;
        code |= (uint64_t)(digit % MORE) << shift;
        if (digit < MORE)
            return unfolded(code);
    }
    pack->bad = true;
    return 0;
}

size_t ta_unpack_index(struct ta_unpack *pack, size_t below)
{
    const int64_t value = ta_unpack_int(pack);
    if (value >= 0 && (uint64_t)value < below)
        return (size_t)value;
    pack->bad = true;
    return 0;
}

struct ta_slice ta_unpack_text(struct ta_unpack *pack)
{
    const size_t n = ta_unpack_index(pack, (size_t)(pack->end - pack->at) + 1);
    if (pack->bad || n > (size_t)(pack->end - pack->at)) {
        pack->bad = true;
        return TA_LIT("");
    }
    const struct ta_slice text = {pack->at, n};
    pack->at += n;
    return text;
}
