/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of times. */
#include "cli/timing.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/context.h"

/* In the order of the table; stages of the workers stand below "files", which they share. */
static const struct {
    enum ta_stage stage;
    const char *name, *label;
} rows[] = {
    {TA_STAGE_DISCOVER, "discover", "discover"},
    {TA_STAGE_FILES, "files", "files"},
    {TA_STAGE_INFLATE, "inflate", "  inflate"},
    {TA_STAGE_READ, "read", "  read, parse"},
    {TA_STAGE_NORMALIZE, "normalize", "  normalize"},
    {TA_STAGE_ANALYZE, "analyze", "  analyze"},
    {TA_STAGE_FINISH, "finish", "account, finish"},
    {TA_STAGE_RECOMMEND, "recommend", "recommend"},
};

void ta_timing_add(struct ta_timing *timing, const char *id, struct ta_lap start)
{
    size_t i = 0;
    while (i < timing->n_outputs && strcmp(timing->outputs[i].id, id) != 0)
        i++;
    if (i == TA_TIMING_OUTPUTS)
        return;
    if (i == timing->n_outputs)
        timing->outputs[timing->n_outputs++].id = id;
    ta_lap_add(&timing->outputs[i].spent, start);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void say_row(struct ta_ctx *ctx, const char *name, const char *label, struct ta_lap spent)
{
    if (ctx->shared->json_log)
        ta_log(ctx, TA_LOG_INFO, "Time: stage=%s, wall_s=%.6f, cpu_s=%.6f", name,
               seconds(spent.wall_ns), seconds(spent.cpu_ns));
    else
        ta_log(ctx, TA_LOG_INFO, "%-18s %9.3f s %9.3f s", label, seconds(spent.wall_ns),
               seconds(spent.cpu_ns));
}

/* With the processor time of all threads that worked on the files. */
static struct ta_lap all_of_files(const struct ta_times *times)
{
    struct ta_lap sum = times->stages[TA_STAGE_FILES];
    for (int stage = TA_STAGE_INFLATE; stage <= TA_STAGE_ANALYZE; stage++)
        sum.cpu_ns += times->stages[stage].cpu_ns;
    return sum;
}

static void say_stages(struct ta_ctx *ctx)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ta_lap spent = rows[i].stage == TA_STAGE_FILES
                                        ? all_of_files(&ctx->times)
                                        : ctx->times.stages[rows[i].stage];
        if (rows[i].stage != TA_STAGE_INFLATE || spent.wall_ns > 0)
            say_row(ctx, rows[i].name, rows[i].label, spent);
    }
}

static void say_outputs(const struct ta_timing *timing, struct ta_ctx *ctx)
{
    for (size_t i = 0; i < timing->n_outputs; i++) {
        char label[64];
        snprintf(label, sizeof label, "render %s", timing->outputs[i].id);
        say_row(ctx, timing->outputs[i].id, label, timing->outputs[i].spent);
    }
}

static int64_t to_ns(struct timeval time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_usec * INT64_C(1000);
}

static void say_speed(const struct ta_timing *timing, struct ta_ctx *ctx)
{
    const int64_t wall_ns = ctx->times.stages[TA_STAGE_FILES].wall_ns;
    const double s = seconds(wall_ns > 0 ? wall_ns : 1);
    const double events = (double)timing->events / s, bytes = (double)timing->bytes / s;
    if (ctx->shared->json_log)
        ta_log(ctx, TA_LOG_INFO,
               "Speed: events=%" PRIu64 ", bytes=%" PRIu64 ", events_per_s=%.0f, bytes_per_s=%.0f",
               timing->events, timing->bytes, events, bytes);
    else
        ta_log(ctx, TA_LOG_INFO, "%-18s %9.3f million events/s, %.1f MB/s", "speed", events / 1e6,
               bytes / 1e6);
}

static void say_memory(struct ta_ctx *ctx, const struct rusage *usage)
{
    if (ctx->shared->json_log)
        ta_log(ctx, TA_LOG_INFO, "Memory: peak_bytes=%ld", usage->ru_maxrss * 1024);
    else
        ta_log(ctx, TA_LOG_INFO, "%-18s %9.1f MiB", "peak memory", (double)usage->ru_maxrss / 1024);
}

void ta_timing_say(const struct ta_timing *timing, struct ta_ctx *ctx)
{
    struct rusage usage;
    if (ctx->times.stages[TA_STAGE_FILES].wall_ns == 0 || getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    if (!ctx->shared->json_log)
        ta_log(ctx, TA_LOG_INFO, "%-18s %11s %11s", "stage", "wall", "CPU");
    say_stages(ctx);
    say_outputs(timing, ctx);
    struct ta_lap total = {.cpu_ns = to_ns(usage.ru_utime) + to_ns(usage.ru_stime)};
    total.wall_ns = ta_lap_now().wall_ns - timing->start.wall_ns;
    say_row(ctx, "total", "total", total);
    say_speed(timing, ctx);
    say_memory(ctx, &usage);
}
