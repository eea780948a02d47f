/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inflating with ISA-L: more than twice as fast as zlib, but it takes some streams that break the
 * rules (sets of codes that are incomplete), so it is not strict. */
#include "read/inflate.h"

#ifdef TA_HAVE_ISAL

#include <isa-l.h>
#include <stdlib.h>

struct isal {
    struct inflate_state state;
    const char *error; /* what is wrong, when something is */
};

static void reset(void *state)
{
    struct isal *isal = state;
    isal_inflate_reset(&isal->state);
    isal->error = NULL;
}

static void *open_isal(void)
{
    struct isal *isal = calloc(1, sizeof *isal);
    if (isal)
        isal_inflate_init(&isal->state); /* raw deflate, largest window */
    return isal;
}

static const char *what_is_wrong(int result)
{
    switch (result) {
    case ISAL_INVALID_BLOCK:
        return "invalid block";
    case ISAL_INVALID_SYMBOL:
        return "invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "invalid distance too far back";
    default:
        return "invalid stream";
    }
}

/* Whole bytes that wait in the bit buffer go back to where they came from. */
static void give_back(struct inflate_state *s, struct ta_inflate_io *io)
{
    if (s->read_in_length > 0)
        io->in -= s->read_in_length / 8;
    s->read_in_length = 0;
}

/* ISA-L first inflates into a buffer of its own, and what of this had no room when it met damage
 * would be lost. */
static void put_held_back(struct inflate_state *s, struct ta_inflate_io *io)
{
    const size_t held = (size_t)(s->tmp_out_valid - s->tmp_out_processed);
    const size_t room = (size_t)(io->out_end - io->out);
    const size_t n = held < room ? held : room;
    memcpy(io->out, s->tmp_out_buffer + s->tmp_out_processed, n);
    s->tmp_out_processed += (int32_t)n;
    io->out += n;
}

static uint32_t size_of(const unsigned char *start, const unsigned char *end)
{
    const size_t most = 1 << 30, size = (size_t)(end - start);
    return (uint32_t)(size < most ? size : most);
}

static enum ta_inflate_result run(void *state, struct ta_inflate_io *io, const char **error)
{
    struct isal *isal = state;
    struct inflate_state *s = &isal->state;
    if (!isal->error) {
        s->next_in = (uint8_t *)io->in; /* ISA-L was built without const */
        s->avail_in = size_of(io->in, io->in_end);
        s->next_out = io->out;
        s->avail_out = size_of(io->out, io->out_end);
        const int result = isal_inflate(s);
        io->in = s->next_in;
        io->out = s->next_out;
        if (s->block_state == ISAL_BLOCK_FINISH) {
            give_back(s, io);
            return TA_INFLATE_END;
        }
        if (result >= 0)
            return TA_INFLATE_MORE;
        isal->error = what_is_wrong(result);
        give_back(s, io);
    }
    put_held_back(s, io);
    if (s->tmp_out_processed < s->tmp_out_valid)
        return TA_INFLATE_MORE;
    *error = isal->error;
    return TA_INFLATE_BAD;
}

const struct ta_inflater ta_inflater_isal = {"isal", false, open_isal, reset, run, free};

#endif
