/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few operations on many bytes at once that the layout is scanned with, in the instruction set
 * that the file which includes this one is compiled for: AVX2, SSE2, or none (TA_SCALAR).
 *
 * All of them read up to VECTOR_REACH bytes from `p` on.  After the bytes of a window there are
 * that many zeros (window.h), and a zero never belongs to what they look for, so none of them has
 * to know where the window ends. */
#ifndef TA_PARSE_VECTOR_H
#define TA_PARSE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Whether bitmaps of 64 bytes are cheap. */
#if !defined TA_SCALAR && (defined __AVX2__ || defined __SSE2__)
#include <immintrin.h>
#define VECTOR_BITMAPS 1
#else
#define VECTOR_BITMAPS 0
#endif

enum { VECTOR_REACH = 64 };

/* Whole vectors of one byte.  They are defined elsewhere (vector.c) so that they are operands from
 * memory: a compiler that knows them makes them anew in every turn of a loop. */
struct vector_constants {
    _Alignas(32) uint8_t zero[32];
    uint8_t nine[32], quote[32], backslash[32], space[32], newline[32], cr[32], tab[32];
    uint8_t comma[32], open[32], close[32], brace[32];
    uint8_t spaces[32]; /* white space by its low four bits, for _mm256_shuffle_epi8() */
};

extern const struct vector_constants vector_constants __attribute__((visibility("hidden")));

#if !defined TA_SCALAR && defined __AVX2__

enum { VECTOR_SIZE = 32 };
typedef __m256i vector;

#define TA_EACH(name) (*(const __m256i *)(const void *)vector_constants.name)
#define TA_QUOTE TA_EACH(quote)
#define TA_BRACE TA_EACH(brace)

static inline vector vector_at(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Bit i is set when byte i has the property. */
static inline uint32_t vector_equal(vector a, vector b)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

static inline uint32_t vector_digits(vector v)
{
    const vector value = _mm256_sub_epi8(v, TA_EACH(zero));
    return vector_equal(_mm256_min_epu8(value, TA_EACH(nine)), value);
}

static inline uint32_t vector_spaces(vector v)
{
    return vector_equal(_mm256_shuffle_epi8(TA_EACH(spaces), v), v);
}

/* Quotes, backslashes, controls and what is not ASCII.  As signed bytes controls and all of
 * 0x80…0xff are below the space. */
static inline uint32_t vector_specials(vector v)
{
    const vector quote = _mm256_cmpeq_epi8(v, TA_EACH(quote));
    const vector backslash = _mm256_cmpeq_epi8(v, TA_EACH(backslash));
    const vector below = _mm256_cmpgt_epi8(TA_EACH(space), v);
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_or_si256(_mm256_or_si256(quote, backslash), below));
}

#elif !defined TA_SCALAR && defined __SSE2__

enum { VECTOR_SIZE = 16 };
typedef __m128i vector;

#define TA_EACH(name) (*(const __m128i *)(const void *)vector_constants.name)
#define TA_QUOTE TA_EACH(quote)
#define TA_BRACE TA_EACH(brace)

static inline vector vector_at(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint32_t vector_equal(vector a, vector b)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
}

static inline uint32_t vector_digits(vector v)
{
    const vector value = _mm_sub_epi8(v, TA_EACH(zero));
    return vector_equal(_mm_min_epu8(value, TA_EACH(nine)), value);
}

static inline uint32_t vector_spaces(vector v)
{
    const vector blank =
        _mm_or_si128(_mm_cmpeq_epi8(v, TA_EACH(space)), _mm_cmpeq_epi8(v, TA_EACH(tab)));
    const vector end =
        _mm_or_si128(_mm_cmpeq_epi8(v, TA_EACH(newline)), _mm_cmpeq_epi8(v, TA_EACH(cr)));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blank, end));
}

static inline uint32_t vector_specials(vector v)
{
    const vector quote = _mm_cmpeq_epi8(v, TA_EACH(quote));
    const vector backslash = _mm_cmpeq_epi8(v, TA_EACH(backslash));
    const vector below = _mm_cmplt_epi8(v, TA_EACH(space));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), below));
}

#else

/* Eight bytes in a register; the property of byte i is gathered from its high bit into bit i. */
enum { VECTOR_SIZE = 8 };
typedef uint64_t vector;

#define TA_EACH(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))
#define TA_QUOTE TA_EACH('"')
#define TA_BRACE TA_EACH('{')

static inline vector vector_at(const char *p)
{
    vector v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&v, p, sizeof v);
#else
    for (int i = 0; i < 8; i++)
        v |= (vector)(unsigned char)p[i] << 8 * i;
#endif
    return v;
}

static inline uint32_t vector_high_bits(vector v)
{
    return (uint32_t)((v >> 7 & TA_EACH(1)) * UINT64_C(0x0102040810204080) >> 56);
}

/* High bits of the bytes that are not zero; exact, since no carry leaves a byte. */
static inline vector vector_not_zero(vector v)
{
    return ((v & TA_EACH(0x7f)) + TA_EACH(0x7f)) | v;
}

/* High bits of the bytes that are at least `least`, a byte below 0x80. */
static inline vector vector_at_least(vector v, uint8_t least)
{
    return ((v & TA_EACH(0x7f)) + TA_EACH(0x80 - least)) | v;
}

static inline uint32_t vector_equal(vector a, vector b)
{
    return vector_high_bits(~vector_not_zero(a ^ b));
}

static inline uint32_t vector_digits(vector v)
{
    return vector_high_bits(vector_at_least(v, '0') & ~vector_at_least(v, '9' + 1));
}

static inline uint32_t vector_spaces(vector v)
{
    return vector_high_bits(
        ~(vector_not_zero(v ^ TA_EACH(' ')) & vector_not_zero(v ^ TA_EACH('\n')) &
          vector_not_zero(v ^ TA_EACH('\r')) & vector_not_zero(v ^ TA_EACH('\t'))));
}

static inline uint32_t vector_specials(vector v)
{
    const vector plain = vector_at_least(v, 0x20) & vector_not_zero(v ^ TA_EACH('"')) &
                         vector_not_zero(v ^ TA_EACH('\\')) & ~v;
    return vector_high_bits(~plain);
}

#endif

static const uint32_t vector_all = (uint32_t)((UINT64_C(1) << VECTOR_SIZE) - 1);

/* Whether the vectors at `p` and `text` are the same. */
static inline bool vector_same(const char *p, const char *text)
{
    return vector_equal(vector_at(p), vector_at(text)) == vector_all;
}

/* A bit for each of the first 32 of so many bytes. */
static inline uint32_t vector_mask(size_t length)
{
    return length < 32 ? (UINT32_C(1) << length) - 1 : UINT32_MAX;
}

/* Whether the `length` bytes at `p`, up to 128, equal `text`, which can be read to a whole vector;
 * `mask` is vector_mask() of them. More than one vector reaches beyond `p` only by bytes that were
 * the same so far. */
static inline bool vector_matches(const char *p, const char *text, size_t length, uint32_t mask)
{
    if (~vector_equal(vector_at(p), vector_at(text)) & mask & vector_all)
        return false;
    if (length <= VECTOR_SIZE)
        return true;
    /* The end first, where gaps that begin alike differ. */
    if (!vector_same(p + length - VECTOR_SIZE, text + length - VECTOR_SIZE))
        return false;
    for (size_t at = VECTOR_SIZE; at + VECTOR_SIZE < length; at += VECTOR_SIZE)
        if (!vector_same(p + at, text + at))
            return false;
    return true;
}

/* Bit i is set when p[i] is no digit, for 32 bytes. */
static inline uint32_t vector_no_digits32(const char *p)
{
    uint32_t digits = 0;
    for (int i = 0; i < 32; i += VECTOR_SIZE)
        digits |= vector_digits(vector_at(p + i)) << i;
    return ~digits;
}

/* Bit i is set when p[i] is that byte, for 64 bytes. */
static inline uint64_t vector_equal64(const char *p, vector byte)
{
    uint64_t equal = 0;
    for (int i = 0; i < 64; i += VECTOR_SIZE)
        equal |= (uint64_t)vector_equal(vector_at(p + i), byte) << i;
    return equal;
}

#if VECTOR_BITMAPS

static inline uint64_t vector_digits64(const char *p)
{
    uint64_t digits = 0;
    for (int i = 0; i < 64; i += VECTOR_SIZE)
        digits |= (uint64_t)vector_digits(vector_at(p + i)) << i;
    return digits;
}

#endif

/* The first byte from `p` on that is a quote, a backslash, a control or not ASCII. */
static inline const char *vector_skip_plain(const char *p)
{
    for (;; p += VECTOR_SIZE) {
        const uint32_t special = vector_specials(vector_at(p));
        if (special)
            return p + __builtin_ctz(special);
    }
}

/* The first byte from `p` on that is no white space. */
static inline const char *vector_skip_space(const char *p)
{
    for (;; p += VECTOR_SIZE) {
        const uint32_t other = ~vector_spaces(vector_at(p)) & vector_all;
        if (other)
            return p + __builtin_ctz(other);
    }
}

#endif
