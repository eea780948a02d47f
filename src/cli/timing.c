/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -v says at the end: where the time went, how fast files were read, and the memory. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* What the table calls stages of a run; what workers do is below "files", which they share.
 */
static const char *label_of(const struct ta_run_time *time, char label[64])
{
    static const char *const labels[][2] = {{"inflate", "  inflate"},
                                            {"read", "  read, parse"},
                                            {"normalize", "  normalize"},
                                            {"analyze", "  analyze"},
                                            {"finish", "account, finish"}};
    for (size_t i = 0; !time->is_output && i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i][0], time->name) == 0)
            return labels[i][1];
    snprintf(label, 64, "%s%s", time->is_output ? "render " : "", time->name);
    return label;
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void say_row(struct ta_cli *cli, const char *label, const struct ta_run_time *time)
{
    if (cli->console.json)
        ta_log(cli->ctx, TA_LOG_INFO, "Time: stage=%s, wall_s=%.6f, cpu_s=%.6f", time->name,
               seconds(time->wall_ns), seconds(time->cpu_ns));
    else
        ta_log(cli->ctx, TA_LOG_INFO, "%-18s %9.3f s %9.3f s", label, seconds(time->wall_ns),
               seconds(time->cpu_ns));
}

/* Of reading the files, 0 when none were read. */
static int64_t reading_ns(const struct ta_cli *cli)
{
    struct ta_run_time time;
    for (size_t i = 0; ta_run_spent(cli->run, i, &time); i++)
        if (strcmp(time.name, "files") == 0)
            return time.wall_ns;
    return 0;
}

static int64_t to_ns(struct timeval time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_usec * INT64_C(1000);
}

void ta_timing_say(struct ta_cli *cli)
{
    struct rusage usage;
    if (reading_ns(cli) == 0 || getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    if (!cli->console.json)
        ta_log(cli->ctx, TA_LOG_INFO, "%-18s %11s %11s", "stage", "wall", "CPU");
    struct ta_run_time time;
    for (size_t i = 0; ta_run_spent(cli->run, i, &time); i++) {
        char label[64];
        if (strcmp(time.name, "inflate") != 0 || time.wall_ns > 0)
            say_row(cli, label_of(&time, label), &time);
    }
    const struct ta_run_time total = {.name = "total",
                                      .wall_ns = ta_lap_now().wall_ns - cli->start.wall_ns,
                                      .cpu_ns = to_ns(usage.ru_utime) + to_ns(usage.ru_stime)};
    say_row(cli, "total", &total);
    const int64_t wall_ns = reading_ns(cli);
    const double s = seconds(wall_ns > 0 ? wall_ns : 1);
    const struct ta_run_effort effort = ta_run_effort(cli->run);
    const double events = (double)effort.events / s, bytes = (double)effort.bytes / s;
    if (cli->console.json)
        ta_log(cli->ctx, TA_LOG_INFO,
               "Speed: events=%" PRIu64 ", bytes=%" PRIu64 ", events_per_s=%.0f, bytes_per_s=%.0f",
               effort.events, effort.bytes, events, bytes);
    else
        ta_log(cli->ctx, TA_LOG_INFO, "%-18s %9.3f million events/s, %.1f MB/s", "speed",
               events / 1e6, bytes / 1e6);
    if (cli->console.json)
        ta_log(cli->ctx, TA_LOG_INFO, "Memory: peak_bytes=%ld", usage.ru_maxrss * 1024);
    else
        ta_log(cli->ctx, TA_LOG_INFO, "%-18s %9.1f MiB", "peak memory",
               (double)usage.ru_maxrss / 1024);
}
