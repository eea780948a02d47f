/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of the pipeline and of the event timer. */
#include "console.h"

#include <inttypes.h>

static void add_call(struct console *c, struct ta_slice name, int64_t dur_ns)
{
    struct ta_timed_stage stage = ta_single_call(inferix_intern(&c->in, name), dur_ns);
    stage.rank = c->in.rank;
    stage.source = inferix_intern(&c->in, TA_LIT("console"));
    INFERIX_ADD(&c->in, stage, &stage);
    c->in.kept++;
}

/* "- VAE decoding time: 168.93 ms (26.50%)", "- Block 0 generation time: 70.73 ms (17.74% …)" */
void console_take_pipeline(struct console *c)
{
    struct ta_slice text = ta_text_trim(c->line), name, share;
    if (!ta_slice_starts(text, "- ") || !console_before(&text, " time: ", &name))
        return;
    name = ta_slice_from(name, 2);
    const int64_t dur_ns = ta_text_decimal(console_number_at(text), 6);
    if (dur_ns == TA_MISSING || !console_behind(&text, " ms"))
        return;
    struct ta_slice block = name, number;
    if (console_behind(&block, "Block ") && console_before(&block, " generation", &number)) {
        struct ta_diffusion_block row = ta_unknown_diffusion_block();
        row.rank = c->in.rank;
        row.block = ta_text_integer(number);
        row.dur_ns = dur_ns;
        INFERIX_ADD(&c->in, diffusion_block, &row);
        c->in.kept++;
    } else if (ta_slice_equal(name, TA_LIT("Total"))) {
        console_take_total(c, dur_ns);
    } else {
        add_call(c, name, dur_ns);
        if (console_behind(&text, "(") && console_before(&text, "%", &share))
            inferix_figure(&c->in, "stage", name, TA_LIT("percentage_of_total"), share);
    }
}

/* "0:00:01.250134" or "2 days, 0:00:01" to ns. */
static int64_t elapsed(struct ta_slice text)
{
    struct ta_slice part;
    int64_t days = 0, hours, minutes;
    if (console_before(&text, " day", &part)) {
        days = ta_text_integer(part);
        if (!console_before(&text, ", ", &part))
            return TA_MISSING;
    }
    if (!console_before(&text, ":", &part))
        return TA_MISSING;
    hours = ta_text_integer(part);
    if (!console_before(&text, ":", &part))
        return TA_MISSING;
    minutes = ta_text_integer(part);
    const int64_t ns = ta_text_decimal(text, 9);
    if (days < 0 || days > 10000 || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 ||
        ns < 0 || ns >= INT64_C(60000000000))
        return TA_MISSING;
    return ((days * 24 + hours) * 60 + minutes) * INT64_C(60000000000) + ns;
}

/* "load model (2026-11-21 00:36:14.289411" without its time; a name may hold brackets. */
static struct ta_slice event_of(struct ta_slice text)
{
    for (size_t i = text.len; i > 1; i--)
        if (text.ptr[i - 1] == '(' && text.ptr[i - 2] == ' ')
            return (struct ta_slice){text.ptr, i - 2};
    return text;
}

/* Up to where the time of an event ends, or where the event does that has none. */
static bool take_event(struct ta_slice *text, const char *timed, const char *bare,
                       struct ta_slice *event)
{
    return console_before(text, timed, event) || console_before(text, bare, event);
}

/* Time Elapsed: [0:00:00.210351] From [load model (…)] To [text encode (…)] */
void console_take_elapsed(struct console *c)
{
    enum { NAME_MAX_BYTES = 200 };
    struct ta_slice text = c->line, time, from, to;
    if (!console_behind(&text, ELAPSED) || !console_before(&text, "] From [", &time) ||
        !take_event(&text, ")] To [", "] To [", &from) || !take_event(&text, ")]", "]", &to))
        return;
    const int64_t dur_ns = elapsed(time);
    from = event_of(from);
    to = event_of(to);
    if (dur_ns == TA_MISSING || from.len > NAME_MAX_BYTES || to.len > NAME_MAX_BYTES) {
        c->in.dropped++;
        ta_quality_add(c->in.quality, TA_Q_NOT_AN_EVENT, c->offset,
                       "An elapsed time cannot be read: line %" PRIu64 ", at byte offset %" PRIu64,
                       c->line_number, c->offset);
        return;
    }
    char name[2 * NAME_MAX_BYTES + 8];
    const int length =
        snprintf(name, sizeof name, "%.*s → %.*s", (int)from.len, from.ptr, (int)to.len, to.ptr);
    add_call(c, (struct ta_slice){name, (size_t)length}, dur_ns);
}
