/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codecs, and the limits on what they give. */
#include "read/content.h"

#include "base/context.h"
#include "base/quality.h"

#include <inttypes.h>
#include <math.h>

/* A ratio of expanded to compressed bytes says nothing about the start of a file. */
#define RATIO_FROM (UINT64_C(64) << 20)
/* The ratio is looked at where a multiple of this many bytes was inflated, and nowhere else, so
 * that reading stops at the same place however much a caller takes at a time. */
#define RATIO_EVERY (UINT64_C(1) << 20)

enum ta_status ta_content_open(struct ta_ctx *ctx, struct ta_content *content, int fd,
                               struct ta_quality *quality)
{
    *content = (struct ta_content){
        .quality = quality,
        .limit_ratio = ta_ctx_limit(ctx, TA_LIMIT_RATIO),
        .limit_expanded = ta_ctx_limit(ctx, TA_LIMIT_EXPANDED),
        .progress = &ctx->shared->read,
    };
    struct ta_raw *raw = &content->raw;
    if (!ta_raw_open(raw, fd, &ctx->shared->canceled))
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate the buffers of a file");
    const struct ta_inflater *inflater = ta_inflater_find(ctx->shared->inflater);
    if (!inflater)
        return ta_fail(ctx, TA_ERR_USAGE, "This build cannot inflate with \"%s\"",
                       ctx->shared->inflater);
    ta_raw_fill(raw);
    content->codec = ta_codec_gzip.recognize(raw->buffer + raw->at, raw->end - raw->at)
                         ? &ta_codec_gzip
                         : &ta_codec_plain;
    content->state = content->codec->open(inflater);
    if (!content->state)
        return ta_fail(ctx, TA_ERR_NOMEM, "Cannot allocate a decoder");
    return TA_OK;
}

void ta_content_close(struct ta_content *content)
{
    if (content->state)
        content->codec->close(content->state);
    ta_raw_close(&content->raw);
}

/* Name of the limit that has been reached, or NULL. */
static const char *reached_limit(const struct ta_content *content)
{
    const uint64_t inflated = content->facts.inflated;
    if (inflated >= content->limit_expanded)
        return "expanded";
    if (content->codec != &ta_codec_plain && inflated > RATIO_FROM && inflated % RATIO_EVERY == 0 &&
        inflated / content->limit_ratio > content->raw.consumed)
        return "ratio";
    return NULL;
}

/* Bytes that may be read before a limit has to be looked at. */
static size_t until_limit(const struct ta_content *content, size_t max)
{
    const uint64_t inflated = content->facts.inflated;
    const uint64_t left = content->limit_expanded - inflated;
    const uint64_t step = RATIO_EVERY - inflated % RATIO_EVERY;
    const uint64_t most = left < step ? left : step;
    return most < max ? (size_t)most : max;
}

size_t ta_content_read(struct ta_content *content, char *out, size_t max)
{
    struct ta_content_facts *facts = &content->facts;
    if (facts->ended)
        return 0;
    const char *reached = reached_limit(content);
    if (reached) {
        ta_quality_add(
            content->quality, TA_Q_LIMIT, facts->inflated,
            "Reading stopped at the limit \"%s\" (--limit %s=…), at byte offset %" PRIu64, reached,
            reached, facts->inflated);
        facts->ended = facts->early = true;
        return 0;
    }
    bool early = false;
    const size_t got = content->codec->read(content->state, &content->raw, content->quality, out,
                                            until_limit(content, max), &early);
    facts->ended = got == 0;
    facts->early |= early;
    facts->inflated += got;
    /* Going back in the file counts backwards. */
    atomic_fetch_add_explicit(content->progress, content->raw.consumed - content->told,
                              memory_order_relaxed);
    content->told = content->facts.bytes = content->raw.consumed;
    if (content->raw.size)
        content->facts.share = fmin(1, (double)content->told / (double)content->raw.size);
    if (content->raw.error && got == 0)
        ta_quality_add(content->quality, TA_Q_TRUNCATED, facts->inflated,
                       "Reading failed at byte offset %" PRIu64 " of the file: %s",
                       content->raw.consumed, strerror(content->raw.error));
    return got;
}
