/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libraries print when they take a slow way:
 *
 *     … [__perf_hints] skipping cudagraphs due to cpu device (arg3_1). Found from :
 *     … [__perf_hints]    File "/app/models/transformer_flux.py", line 402, in forward
 *     … UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available but …
 *     … UserWarning: Input type into Linear4bit is torch.float16, but bnb_4bit_compute_dtype=…
 *     node1:4000:4100 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct
 *
 * Each becomes a row of run.happenings with a name of its own; a log keeps the first ones of each.
 */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <stdio.h>

/* The text after the mark, up to one of `until`, is the data where `until` is not NULL. */
static const struct notice {
    const char *mark, *beside, *name, *until;
} notices[] = {
    {"skipping cudagraphs due to ", NULL, "CUDA graphs skipped", "."},
    {"TensorFloat32 tensor cores for float32 matrix multiplication available", NULL, "TF32 off",
     NULL},
    {"bnb_4bit_compute_dtype=torch.float32", NULL, "4-bit weights in fp32", NULL},
    {"Torch was not compiled with flash attention", NULL, "no flash attention", NULL},
    {"Flash Attention library \"flash_attn\" not found", NULL, "no flash_attn", NULL},
    {"`flash-attention` package not found", NULL, "no flash_attn", NULL},
    {"Using sub quadratic optimization for attention", NULL, "slow attention", NULL},
    {"Using split optimization for attention", NULL, "slow attention", NULL},
    {"Applying attention optimization: InvokeAI", NULL, "slow attention", NULL},
    {"Applying attention optimization: sub-quadratic", NULL, "slow attention", NULL},
    {"Applying attention optimization: Doggettx", NULL, "slow attention", NULL},
    {"Enforce eager set", NULL, "eager mode", NULL},
    {"enforce-eager is enabled", NULL, "eager mode", NULL},
    {"Cudagraph is disabled under eager mode", NULL, "eager mode", NULL},
    {"Web UI will now convert VAE into 32-bit float", NULL, "VAE decoded again", NULL},
    {"[IsEnoughWorkspace]", "MIOpen", "no workspace", NULL},
    {" via SHM", "NCCL INFO Channel", "NCCL through host memory", NULL},
    {" via NET/Socket", "NCCL INFO Channel", "NCCL through sockets", NULL},
};

enum { NOTICES = sizeof notices / sizeof *notices, KEPT = 32, REASON = 200 };

struct state {
    uint32_t n[NOTICES];
    const struct notice *open; /* whose place the next lines say */
    char reason[REASON];
    int64_t rank, time_ns;
};

static void add(struct ta_log_reading *log, struct state *st, const struct notice *notice,
                const char *data)
{
    if (st->n[notice - notices]++ >= KEPT)
        return;
    const struct ta_happening row = {.rank = st->rank,
                                     .name = ta_log_string(log, ta_slice_of(notice->name)),
                                     .data = ta_log_string(log, ta_slice_of(data)),
                                     .time_ns = st->time_ns};
    ta_log_add_happening(log, &row);
}

/* "transformer_flux.py:402" of `File "/app/models/transformer_flux.py", line 402, in forward`. */
static bool take_place(struct ta_log_reading *log, struct state *st, struct ta_slice text)
{
    const struct ta_slice path = ta_log_after(text, "File \"");
    struct ta_slice rest = path.ptr ? ta_log_after(path, "\", line ") : path;
    const int64_t line = rest.ptr ? ta_log_integer(&rest) : TA_MISSING;
    if (line == TA_MISSING)
        return false;
    struct ta_slice file =
        ta_slice_part(path, 0, (size_t)(rest.ptr - path.ptr)); /* with what follows its name */
    const char *quote = memchr(file.ptr, '"', file.len);
    file = ta_slice_part(file, 0, (size_t)(quote - file.ptr));
    const char *slash = file.len ? memrchr(file.ptr, '/', file.len) : NULL;
    if (slash)
        file = ta_slice_from(file, (size_t)(slash - file.ptr) + 1);
    char data[REASON + 100];
    snprintf(data, sizeof data, "%s, at %.*s:%lld", st->reason,
             (int)(file.len < 80 ? file.len : 80), file.ptr, (long long)line);
    add(log, st, st->open, data);
    st->open = NULL;
    return true;
}

static void close_notice(struct ta_log_reading *log, struct state *st)
{
    if (st->open)
        add(log, st, st->open, st->reason);
    st->open = NULL;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    struct state *st = state;
    if (st->open && take_place(log, st, line->whole))
        return TA_LOG_TAKEN;
    close_notice(log, st);
    for (const struct notice *notice = notices; notice < notices + NOTICES; notice++) {
        const struct ta_slice rest = ta_log_after(line->whole, notice->mark);
        if (!rest.ptr || (notice->beside && !ta_log_after(line->whole, notice->beside).ptr))
            continue;
        st->rank = line->rank;
        st->time_ns = line->time_ns;
        if (!notice->until) {
            add(log, st, notice, "");
            return TA_LOG_SHARED;
        }
        const char *end = rest.len ? memmem(rest.ptr, rest.len, notice->until, 1) : NULL;
        const size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        snprintf(st->reason, sizeof st->reason, "%.*s", (int)(n < REASON - 1 ? n : REASON - 1),
                 rest.ptr);
        st->open = notice;
        return TA_LOG_MORE;
    }
    return TA_LOG_NOT_MINE;
}

static void end(struct ta_log_reading *log, void *state)
{
    close_notice(log, state);
}

static const char *const marks[] = {
    "skipping cudagraphs due to ",
    "TensorFloat32 tensor cores for ",
    "bnb_4bit_compute_dtype=torch.float32",
    "Torch was not compiled with flash",
    "Flash Attention library ",
    "`flash-attention` package ",
    " optimization for attention",
    "Applying attention optimization: ",
    "Enforce eager set",
    "enforce-eager is enabled",
    "Cudagraph is disabled under eager",
    "Web UI will now convert VAE",
    "[IsEnoughWorkspace]",
    " via SHM",
    " via NET/Socket",
    NULL,
};

static const struct ta_log_ops ops = {
    .marks = marks, .state_size = sizeof(struct state), .take = take, .end = end};

TA_PLUGIN(log, notices, &ops, .title = "Notices of libraries",
          .summary = "Lines in which libraries say that they take a slow way", .version = "1");
