/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a gzip file: what comes out must not depend on the sizes asked for, and must be
 * what zlib makes of it. */
#include "support.h"

#include "base/quality.h"

#include <zlib.h>

enum { MAX_OUT = 1 << 20 };

struct outcome {
    char bytes[MAX_OUT];
    size_t n;
    bool early;
    uint64_t findings;
};

/* Reads everything that fits in steps of `step` bytes at most. */
static void read_all(struct fuzz_run *run, const void *data, size_t size, size_t step,
                     struct outcome *out)
{
    struct ta_quality quality;
    out->n = 0;
    out->findings = 0;
    ta_quality_init(&quality);
    struct ta_reader *reader = ta_reader_open(&run->ctx, NULL, fuzz_file(data, size), &quality);
    FUZZ_CHECK(reader);
    for (size_t got = 1; got && out->n + step <= MAX_OUT; out->n += got) {
        got = ta_reader_read(reader, out->bytes + out->n, step);
        FUZZ_CHECK(got <= step);
    }
    out->early = ta_reader_ended_early(reader);
    ta_reader_close(reader);
    for (enum ta_quality_code code = 0; code < TA_Q_COUNT; code++)
        out->findings += ta_quality_count(&quality, code) << code % 32;
    ta_quality_free(&quality);
}

/* The first member by zlib alone; its length is exact only when the stream is whole. */
static size_t inflate_first(const uint8_t *data, size_t size, char *out, bool *whole)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = (Bytef *)out,
                  .avail_out = MAX_OUT};
    FUZZ_CHECK(inflateInit2(&z, 31) == Z_OK);
    *whole = inflate(&z, Z_FINISH) == Z_STREAM_END;
    const size_t n = MAX_OUT - z.avail_out;
    inflateEnd(&z);
    return n;
}

/* A byte order mark is no content, and UTF-16 is written anew. */
static bool is_transcoded(const char *bytes, size_t n)
{
    return n >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0 ||
                      memcmp(bytes, "\xef\xbb", 2) == 0);
}

static void check_against_zlib(const struct outcome *ours, const uint8_t *data, size_t size)
{
    static char bytes[MAX_OUT];
    bool whole;
    const size_t n = inflate_first(data, size, bytes, &whole);
    if (whole && n < MAX_OUT / 2 && !is_transcoded(bytes, n)) {
        FUZZ_CHECK(ours->n >= n);
        FUZZ_CHECK(memcmp(ours->bytes, bytes, n) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome at_once, in_bits;
    struct fuzz_run *run = fuzz_begin();
    /* Without the magic bytes nothing here would be gzip. */
    if (size < 2 || data[0] != 0x1f || data[1] != 0x8b)
        return -1;
    read_all(run, data, size, 1 << 16, &at_once);
    read_all(run, data, size, 37, &in_bits);
    if (at_once.n < MAX_OUT / 2) {
        FUZZ_CHECK(at_once.n == in_bits.n);
        FUZZ_CHECK(memcmp(at_once.bytes, in_bits.bytes, at_once.n) == 0);
        FUZZ_CHECK(at_once.early == in_bits.early && at_once.findings == in_bits.findings);
        check_against_zlib(&at_once, data, size);
    }
    return 0;
}
