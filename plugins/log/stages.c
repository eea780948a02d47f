/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pipelines as SGLang and FastVideo log them:
 *
 *     [DenoisingStage] started...
 *     [DenoisingStage] average time per step: 0.5342 seconds
 *     [DenoisingStage] finished in 26.7157 seconds
 *     Peak GPU memory: 54.32 GB, Remaining GPU memory at peak: 24.86 GB
 *     Pixel data generated successfully in 31.40 seconds
 *
 * Each line says all of its figure, so lines of several ranks may lie between them.  A GB of theirs
 * is a GiB. */
#include "parse/log/pieces.h"

#include <traceanalyze/document.h>
#include <traceanalyze/log.h>

#include <ctype.h>

/* The name in "[DenoisingStage] …"; empty when the line begins otherwise.  `*rest` follows it. */
static struct ta_slice name_of(struct ta_slice text, struct ta_slice *rest)
{
    size_t n = 1;
    while (n < text.len && (isalnum((unsigned char)text.ptr[n]) || text.ptr[n] == '_'))
        n++;
    if (n < 2 || text.ptr[0] != '[' || n >= text.len || text.ptr[n] != ']')
        return (struct ta_slice){0};
    *rest = ta_text_trim(ta_slice_from(text, n + 1));
    return ta_slice_part(text, 1, n);
}

static enum ta_log_taken take_stage(struct ta_log_reading *log, const struct ta_log_line *line,
                                    struct ta_slice name, struct ta_slice rest)
{
    static const char average[] = "average time per step: ";
    static const char *const ends[] = {"finished in ", "Execution completed in "};
    if (ta_slice_starts(rest, "started") || ta_slice_starts(rest, "Starting execution"))
        return TA_LOG_TAKEN;
    const bool is_end = ta_slice_starts(rest, ends[0]) || ta_slice_starts(rest, ends[1]);
    if (!is_end && !ta_slice_starts(rest, average))
        return TA_LOG_NOT_MINE;
    rest = ta_slice_from(rest, strlen(!is_end                          ? average
                                      : ta_slice_starts(rest, ends[0]) ? ends[0]
                                                                       : ends[1]));
    const int64_t ns = ta_log_time(&rest);
    if (ns == TA_MISSING)
        return TA_LOG_BAD;
    if (is_end) {
        struct ta_timed_stage stage = ta_single_call(ta_log_string(log, name), ns);
        stage.rank = line->rank;
        ta_log_add_stage(log, &stage);
        log->timed_ns = ta_add_sat(log->timed_ns, ns);
        return TA_LOG_TAKEN;
    }
    const struct ta_figure figure = {.rank = line->rank,
                                     .name = ta_log_string(log, TA_LIT("step_mean_ns")),
                                     .group = ta_log_string(log, name),
                                     .value = (double)ns,
                                     .unit = TA_UNIT_NS};
    ta_log_add_figure(log, &figure);
    return TA_LOG_TAKEN;
}

/* "35543.53 MB, Avg peak: 35543.53 MB": of a batch of requests, and what the allocator held. */
static enum ta_log_taken take_batch_peak(struct ta_log_reading *log, const struct ta_log_line *line,
                                         struct ta_slice rest)
{
    struct ta_memory_mark mark = ta_unknown_memory_mark();
    mark.rank = line->rank;
    mark.time_ns = line->time_ns;
    mark.label = ta_log_string(log, TA_LIT("peak of the batch"));
    mark.max_reserved_bytes = ta_log_bytes(&rest);
    if (mark.max_reserved_bytes == TA_MISSING)
        return TA_LOG_BAD;
    ta_log_add_memory_mark(log, &mark);
    return TA_LOG_TAKEN;
}

static const char remaining[] = "Remaining GPU memory at peak: ";

/* Whether a line ends within the words after the amount, as the last of a log may. */
static bool is_cut(struct ta_slice rest)
{
    if (ta_log_bytes(&rest) == TA_MISSING || !ta_slice_starts(rest, ","))
        return false;
    rest = ta_text_trim(ta_slice_from(rest, 1));
    return rest.len == 0 ||
           (rest.len < sizeof remaining - 1 && memcmp(rest.ptr, remaining, rest.len) == 0);
}

static enum ta_log_taken take_peak(struct ta_log_reading *log, const struct ta_log_line *line,
                                   struct ta_slice rest)
{
    struct ta_slice left = ta_log_after(rest, remaining);
    if (!left.ptr && !is_cut(rest))
        return TA_LOG_NOT_MINE; /* of another program, which means what is allocated */
    struct ta_memory_mark mark = ta_unknown_memory_mark();
    mark.rank = line->rank;
    mark.time_ns = line->time_ns;
    mark.label = ta_log_string(log, TA_LIT("peak"));
    mark.reserved_bytes = mark.max_reserved_bytes = ta_log_bytes(&rest);
    if (mark.max_reserved_bytes == TA_MISSING)
        return TA_LOG_BAD;
    const int64_t left_bytes = left.ptr ? ta_log_bytes(&left) : TA_MISSING;
    if (left_bytes != TA_MISSING)
        mark.total_bytes = ta_add_sat(mark.max_reserved_bytes, left_bytes);
    ta_log_add_memory_mark(log, &mark);
    return TA_LOG_TAKEN;
}

/* "31.40 seconds": a whole request, which holds its stages. */
static enum ta_log_taken take_request(struct ta_log_reading *log, const struct ta_log_line *line,
                                      struct ta_slice rest)
{
    const int64_t ns = ta_log_time(&rest);
    if (ns == TA_MISSING)
        return TA_LOG_BAD;
    struct ta_session request = ta_unknown_session();
    request.rank = line->rank;
    request.dur_ns = ns;
    request.is_request = true;
    ta_log_add_session(log, &request);
    return TA_LOG_TAKEN;
}

static enum ta_log_taken take(struct ta_log_reading *log, void *state,
                              const struct ta_log_line *line)
{
    (void)state;
    const struct ta_slice request = ta_log_after(line->text, "enerated successfully in ");
    if (request.ptr)
        return take_request(log, line, request);
    const struct ta_slice batch = ta_log_after(line->text, "Memory usage - Max peak: ");
    if (batch.ptr)
        return take_batch_peak(log, line, batch);
    const struct ta_slice peak = ta_log_after(line->text, "Peak GPU memory: ");
    if (peak.ptr)
        return take_peak(log, line, peak);
    struct ta_slice rest;
    const struct ta_slice name = name_of(line->text, &rest);
    return name.len ? take_stage(log, line, name, rest) : TA_LOG_NOT_MINE;
}

static const char *const marks[] = {"] started",
                                    "] finished in ",
                                    "] Execution completed in ",
                                    "] average time per step: ",
                                    "Peak GPU memory: ",
                                    "enerated successfully in ",
                                    "Memory usage - Max peak: ",
                                    NULL};

static const struct ta_log_ops ops = {.marks = marks, .take = take};

TA_PLUGIN(log, stages, &ops, .title = "Stages",
          .summary = "Stages of pipelines of SGLang and FastVideo, their steps and peak memory",
          .version = "1");
