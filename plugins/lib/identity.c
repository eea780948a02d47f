/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was run with what, in a few words. */
#include "lib/identity.h"

#include "lib/scheme.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_KEY, TAG_VALUE, LOOP, STEPS_RANK, STEPS, STARTED };
static const struct ta_ref reads[] = {
    [TAG_KEY] = {"run.tags", "key"},      [TAG_VALUE] = {"run.tags", "value"},
    [LOOP] = {"diffusion.loops", "loop"}, [STEPS_RANK] = {"steps.by_rank", "rank"},
    [STEPS] = {"steps.by_rank", "steps"}, [STARTED] = {"run.files", "started"}};

/* Names of models and versions of libraries are cut here; more ranges of ranks are not spelled
 * out. */
enum { NAME_MOST = 60, RANGES_MOST = 6 };

static void add(struct ta_identity *to, const char *format, ...) TA_PRINTF(2, 3);

/* What does not fit is left out. */
static void add(struct ta_identity *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, args);
    va_end(args);
    if (n <= 0 || to->n == TA_IDENTITY_PARTS || (size_t)n >= sizeof to->text - to->used)
        return;
    to->parts[to->n++] = to->text + to->used;
    to->used += (size_t)n + 1;
}

static void add_name(struct ta_identity *to, const char *before, struct ta_slice name)
{
    size_t n = name.len < NAME_MOST ? name.len : NAME_MOST;
    while (n < name.len && n && ((unsigned char)name.ptr[n] & 0xc0) == 0x80)
        n--;
    if (n)
        add(to, "%s%.*s%s", before, (int)n, name.ptr, n < name.len ? "…" : "");
}

/* ---- what ------------------------------------------------------------------------------------ */

/* A tag of the files; empty without one, and where files differ. */
static struct ta_slice tag_of(const struct ta_refs *in, const char *key)
{
    struct ta_slice found = {.len = 0};
    for (size_t i = 0; i < ta_ref_rows(in, TAG_KEY); i++) {
        const struct ta_slice value = ta_ref_text(in, TAG_VALUE, i);
        if (!ta_ref_reads(in, TAG_KEY, i, key))
            continue;
        if (found.len && !ta_slice_equal(found, value))
            return TA_LIT("");
        found = value;
    }
    return found;
}

/* What a diffusion makes; else the model, and how many steps of it were recorded. */
static void add_work(struct ta_identity *to, const struct ta_refs *in)
{
    add_name(to, "", tag_of(in, "model"));
    if (ta_ref_rows(in, LOOP) && ta_ref_text(in, LOOP, 0).len) {
        const struct ta_slice loop = ta_ref_text(in, LOOP, 0);
        add(to, "%.*s", (int)loop.len, loop.ptr);
        return;
    }
    const int64_t steps = ta_ref_rows(in, STEPS) ? ta_ref_integer(in, STEPS, 0) : 0;
    if (steps > 1)
        add(to, "%" PRId64 " steps%s", steps, ta_ref_rows(in, STEPS) > 1 ? " a rank" : "");
}

/* ---- where ----------------------------------------------------------------------------------- */

/* " (0–3, 5)"; nothing of ranks that are numbered from 0 on without a gap. */
static const char *ranges_of(const struct ta_run_info *run, char text[TA_UNIT_TEXT_MAX * 4])
{
    const size_t size = TA_UNIT_TEXT_MAX * 4;
    size_t used = 0, ranges = 0;
    text[0] = '\0';
    if (run->ranks[0] == 0 && run->ranks[run->n_ranks - 1] == (int64_t)run->n_ranks - 1)
        return text;
    for (size_t i = 0, end; i < run->n_ranks && used < size; i = end, ranges++) {
        for (end = i + 1; end < run->n_ranks && run->ranks[end] == run->ranks[end - 1] + 1;)
            end++;
        const char *before = ranges ? ", " : " (";
        used +=
            (size_t)(ranges == RANGES_MOST ? snprintf(text + used, size - used, ", …")
                     : end - i == 1
                         ? snprintf(text + used, size - used, "%s%" PRId64, before, run->ranks[i])
                         : snprintf(text + used, size - used, "%s%" PRId64 "–%" PRId64, before,
                                    run->ranks[i], run->ranks[end - 1]));
        if (ranges == RANGES_MOST)
            break;
    }
    if (used < size)
        snprintf(text + used, size - used, ")");
    return text;
}

/* "4 of 8 ranks (0–3), sequence parallel", "rank 3 of 8". */
static void add_ranks(struct ta_identity *to, const struct ta_report *report)
{
    const struct ta_run_info *run = ta_report_run(report);
    const bool is_part = run->world_size != TA_MISSING && (uint64_t)run->world_size != run->n_ranks;
    char scheme[TA_SCHEME_TEXT_MAX], ranges[TA_UNIT_TEXT_MAX * 4], here[TA_UNIT_TEXT_MAX],
        world[TA_UNIT_TEXT_MAX] = "";
    if (run->n_ranks == 0 || (run->n_ranks == 1 && !is_part)) /* several runs have none together */
        return;
    ta_scheme_say(scheme, report);
    if (is_part)
        ta_unit_format(world, (double)run->world_size, TA_UNIT_COUNT);
    if (is_part && run->n_ranks == 1) {
        add(to, "rank %" PRId64 " of %s%s%s", run->ranks[0], world, *scheme ? ", " : "", scheme);
        return;
    }
    add(to, "%s%s%s rank%s%s%s%s", ta_unit_format(here, (double)run->n_ranks, TA_UNIT_COUNT),
        is_part ? " of " : "", world,
        (is_part ? run->world_size : (int64_t)run->n_ranks) == 1 ? "" : "s", ranges_of(run, ranges),
        *scheme ? ", " : "", scheme);
}

/* ---- with what ------------------------------------------------------------------------------- */

/* Versions as numbers: CUDA's 12080 is 12.8, HIP's 71326183 is 7.13. */
static const struct {
    const char *name, *runtime, *driver;
    long major, minor;
} platforms[] = {{"CUDA", "cuda_runtime_version", "cuda_driver_version", 1000, 10},
                 {"HIP", "hip_runtime_version", "hip_driver_version", 10000000, 100000}};

/* "12.8" of such a number, or of a text that says so ("12.8.90"); "" for what is neither. */
static const char *version_of(const struct ta_refs *in, const char *key, long major, long minor,
                              char text[32])
{
    char *end, *rest;
    char tag[16];
    const struct ta_slice value = tag_of(in, key);
    text[0] = '\0';
    if (value.len == 0 || value.len >= sizeof tag || !isdigit((unsigned char)value.ptr[0]))
        return text;
    snprintf(tag, sizeof tag, "%.*s", (int)value.len, value.ptr);
    const long first = strtol(tag, &end, 10);
    const bool is_text = *end == '.' && isdigit((unsigned char)end[1]);
    const long second = is_text ? strtol(end + 1, &rest, 10) : 0;
    if (is_text && (*rest == '\0' || *rest == '.'))
        snprintf(text, 32, "%ld.%ld", first, second);
    else if (*end == '\0' && first >= major)
        snprintf(text, 32, "%ld.%ld", first / major, first % major / minor);
    return text;
}

static void add_software(struct ta_identity *to, const struct ta_refs *in, bool is_amd)
{
    char runtime[32], driver[32];
    add_name(to, "PyTorch ", tag_of(in, "torch"));
    for (size_t i = 0; i < TA_LENGTH(platforms); i++) {
        version_of(in, platforms[i].runtime, platforms[i].major, platforms[i].minor, runtime);
        version_of(in, platforms[i].driver, platforms[i].major, platforms[i].minor, driver);
        if (*runtime && *driver && strcmp(runtime, driver) != 0)
            add(to, "%s %s (driver %s)", platforms[i].name, runtime, driver);
        else if (*runtime || *driver)
            add(to, "%s %s", platforms[i].name, *runtime ? runtime : driver);
    }
    add_name(to, is_amd ? "RCCL " : "NCCL ", tag_of(in, "nccl_version"));
}

/* "recorded with Python stacks and shapes"; what any rank recorded. */
static void add_recording(struct ta_identity *to, const struct ta_refs *in)
{
    static const struct {
        const char *key, *what;
    } options[] = {
        {"with_stack", "Python stacks"}, {"record_shapes", "shapes"}, {"profile_memory", "memory"}};
    const char *chosen[TA_LENGTH(options)];
    size_t n = 0;
    for (size_t i = 0; i < TA_LENGTH(options); i++)
        for (size_t k = 0; k < ta_ref_rows(in, TAG_KEY); k++)
            if (ta_ref_reads(in, TAG_KEY, k, options[i].key) &&
                ta_ref_reads(in, TAG_VALUE, k, "1")) {
                chosen[n++] = options[i].what;
                break;
            }
    if (n)
        add(to, "recorded with %s%s%s%s%s", chosen[0],
            n == 2   ? " and "
            : n == 3 ? ", "
                     : "",
            n > 1 ? chosen[1] : "", n > 2 ? " and " : "", n > 2 ? chosen[2] : "");
}

/* "2026-01-15": when the first file begins, as far as clocks have dates. */
static void add_date(struct ta_identity *to, const struct ta_refs *in)
{
    enum { DAY = sizeof "2026-01-15" - 1 };
    struct ta_slice first = tag_of(in, "timestamp");
    for (size_t i = 0; i < ta_ref_rows(in, STARTED); i++) {
        const struct ta_slice started = ta_ref_text(in, STARTED, i);
        if (started.len && (first.len == 0 || ta_slice_compare(started, first) < 0))
            first = started;
    }
    if (first.len >= DAY && first.ptr[4] == '-' && first.ptr[7] == '-')
        add(to, "%.*s", DAY, first.ptr);
}

/* ---- the line -------------------------------------------------------------------------------- */

void ta_identity_say(struct ta_identity *identity, const struct ta_report *report)
{
    const struct ta_run_info *run = ta_report_run(report);
    struct ta_refs in;
    identity->n = identity->used = 0;
    ta_refs_open(&in, report, reads, TA_LENGTH(reads));
    add_work(identity, &in);
    add_ranks(identity, report);
    if (run->devices && *run->devices)
        add(identity, "%s", run->devices);
    add_software(identity, &in, ta_run_is_amd(run));
    add_recording(identity, &in);
    add_date(identity, &in);
}

const char *ta_identity_line(const struct ta_identity *identity, char line[TA_IDENTITY_TEXT_MAX])
{
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < identity->n && used < TA_IDENTITY_TEXT_MAX; i++)
        used += (size_t)snprintf(line + used, TA_IDENTITY_TEXT_MAX - used, "%s%s", i ? " · " : "",
                                 identity->parts[i]);
    return line;
}
