/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Inferix prints, saved by a shell: live readings, sessions, the analysis at the end of a run,
 * the times of the pipeline and of the event timer, the summary of the aggregation.
 *
 * Threads write at once, so a line may hold several of these, and they are looked for anywhere in
 * it.  Signs in front of headings may have gone through a wrong code page and are not looked at.
 * All of it is rounded: where a file of the session says the same, that one counts. */
#include "inferix.h"

/* ---- recognizing ----------------------------------------------------------------------------- */

#define METRICS "=== Profiling Metrics ("
#define SESSION "Profiling session '"
#define PIPELINE "Profiling results:"
#define ELAPSED "Time Elapsed: ["
#define AGGREGATION "=== Aggregation Summary ==="
#define DIFFUSION "Diffusion Analysis:"
#define BLOCKS "Block Analysis:"
#define STREAMING "Streaming Performance Summary:"
#define EXTRACT "Extracting streaming metrics..."

static int sniff(const struct ta_probe *probe)
{
    static const char *const sure[] = {METRICS, AGGREGATION, STREAMING, EXTRACT};
    static const char *const pairs[][2] = {
        {SESSION, "' started"}, {SESSION, "' ended (duration: "}, {PIPELINE, "time: "},
        {ELAPSED, "] From ["},  {DIFFUSION, "Total Steps:"},      {BLOCKS, "Total Blocks:"},
    };
    const struct ta_slice head = probe->head;
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (inferix_holds(head, sure[i]))
            return 85;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (inferix_holds(head, pairs[i][0]) && inferix_holds(head, pairs[i][1]))
            return 85;
    return 0;
}

/* ---- pieces of a line ------------------------------------------------------------------------ */

/* What the lines that follow belong to. */
enum part {
    NOTHING,
    OF_DIFFUSION,
    OF_BLOCKS,
    OF_STREAMING,
    OF_PIPELINE,
    OF_AGGREGATION,
    OF_EXTRACT
};

struct console {
    struct inferix in;
    enum part part;
    struct ta_slice line;
    char *session; /* the last one that was named */
    size_t session_len;
    bool open;       /* it has not ended yet */
    char first[128]; /* the first line that gave anything */
    size_t first_len;
    bool saw_cpu;
};

/* Moves behind the mark when it is in the text. */
static bool behind(struct ta_slice *text, const char *mark)
{
    const size_t n = strlen(mark);
    const char *at = text->len ? memmem(text->ptr, text->len, mark, n) : NULL;
    if (!at)
        return false;
    text->len -= (size_t)(at - text->ptr) + n;
    text->ptr = at + n;
    return true;
}

/* What comes before the mark, and moves behind it. */
static bool before(struct ta_slice *text, const char *mark, struct ta_slice *part)
{
    const char *const start = text->ptr;
    if (!behind(text, mark))
        return false;
    *part = (struct ta_slice){start, (size_t)(text->ptr - start) - strlen(mark)};
    return true;
}

/* The number that the text begins with, behind blanks; empty without one. */
static struct ta_slice number_at(struct ta_slice text)
{
    while (text.len && *text.ptr == ' ') {
        text.ptr++;
        text.len--;
    }
    size_t n = text.len && *text.ptr == '-';
    while (n < text.len && memchr("0123456789.", text.ptr[n], 11))
        n++;
    return (struct ta_slice){text.ptr, n};
}

/* Moves behind the mark and gives the number there. */
static double number_behind(struct ta_slice *text, const char *mark)
{
    return behind(text, mark) ? ta_text_double(number_at(*text)) : (double)NAN;
}

static double mib_behind(struct ta_slice *text, const char *mark)
{
    return behind(text, mark) ? inferix_bytes(ta_text_mib(number_at(*text))) : (double)NAN;
}

/* ---- live readings --------------------------------------------------------------------------- */

static void sample(struct console *c, enum ta_signal signal, double value)
{
    inferix_sample(&c->in, signal, TA_MISSING, TA_MISSING, value);
}

/* GPU: Memory 8420MB / 24564MB (34.3%), Util 85.2%, Temp 72.1°C */
static void take_gpu(struct console *c)
{
    struct ta_slice text = c->line;
    const double used = mib_behind(&text, "GPU: Memory ");
    const double total = inferix_known(mib_behind(&text, "MB / "));
    if (isnan(used) || isnan(total)) /* none there, or no device */
        return;
    sample(c, TA_SIGNAL_GPU_MEMORY_USED, used);
    sample(c, TA_SIGNAL_GPU_MEMORY_TOTAL, total);
    sample(c, TA_SIGNAL_GPU_UTILIZATION, inferix_percent(number_behind(&text, ", Util ")));
    sample(c, TA_SIGNAL_GPU_TEMPERATURE, inferix_known(number_behind(&text, ", Temp ")));
    c->in.kept++;
}

/* CPU: 45.3%, Memory 12840MB / 32768MB (39.2%); the first reading of a process is 0. */
static void take_cpu(struct console *c)
{
    struct ta_slice text = c->line;
    const double usage = number_behind(&text, "CPU: ");
    const double used = mib_behind(&text, "%, Memory ");
    if (isnan(usage) || isnan(used))
        return;
    sample(c, TA_SIGNAL_CPU_UTILIZATION,
           inferix_percent(c->saw_cpu ? usage : inferix_known(usage)));
    sample(c, TA_SIGNAL_CPU_MEMORY_USED, used);
    sample(c, TA_SIGNAL_CPU_MEMORY_TOTAL, inferix_known(mib_behind(&text, "MB / ")));
    c->saw_cpu = true;
    c->in.kept++;
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void add_session(struct console *c, struct ta_slice id, int64_t dur_ns)
{
    const struct ta_session session = {.rank = TA_MISSING,
                                       .id = inferix_intern(&c->in, id),
                                       .start_ns = TA_MISSING,
                                       .end_ns = TA_MISSING,
                                       .dur_ns = dur_ns};
    INFERIX_ADD(&c->in, session, &session);
    c->in.kept++;
}

static void close_session(struct console *c)
{
    if (c->open)
        add_session(c, (struct ta_slice){c->session, c->session_len}, TA_MISSING);
    c->open = false;
}

static bool name_session(struct console *c, struct ta_slice id)
{
    char *copy = malloc(id.len + 1);
    if (!copy) {
        c->in.status = ta_fail(c->in.ctx, TA_ERR_NOMEM, "Cannot hold the name of a session");
        return false;
    }
    memcpy(copy, id.ptr, id.len);
    free(c->session);
    c->session = copy;
    c->session_len = id.len;
    return true;
}

static bool is_session(const struct console *c, struct ta_slice id)
{
    return c->session && ta_slice_equal(id, (struct ta_slice){c->session, c->session_len});
}

static void take_session(struct console *c)
{
    struct ta_slice text = c->line, id;
    while (behind(&text, SESSION)) {
        const struct ta_slice rest = text;
        if (before(&text, "' ended (duration: ", &id)) {
            if (!is_session(c, id))
                close_session(c);
            c->open = false;
            if (name_session(c, id))
                add_session(c, id, ta_text_decimal(number_at(text), 9));
            continue;
        }
        text = rest;
        if (before(&text, "' started", &id)) {
            close_session(c);
            c->open = name_session(c, id);
        }
    }
    text = c->line;
    if (!c->open && behind(&text, METRICS) && before(&text, ") ===", &id) && !is_session(c, id) &&
        name_session(c, id))
        c->open = true;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* A label and the key that a report has for the same figure. */
struct label {
    enum part part;
    const char *label, *group, *key;
};

static const struct label labels[] = {
    {OF_DIFFUSION, "Total Steps", "diffusion", "total_steps"},
    {OF_DIFFUSION, "FPS", "diffusion", "fps"},
    {OF_DIFFUSION, "BPS", "diffusion", "bps"},
    {OF_DIFFUSION, "Average Block Size", "diffusion", "avg_block_size"},
    {OF_DIFFUSION, "Average Step Time", "diffusion", "avg_computation_time_ms"},
    {OF_BLOCKS, "Total Blocks", "block", "total_blocks"},
    {OF_BLOCKS, "Block FPS", "block", "fps"},
    {OF_BLOCKS, "Block BPS", "block", "bps"},
    {OF_BLOCKS, "Peak Memory Usage", "block", "peak_memory_usage_mb"},
    {OF_BLOCKS, "Average Block Time", "block", "avg_computation_time_ms"},
    {OF_STREAMING, "Current FPS", "streaming", "current_fps"},
    {OF_STREAMING, "Average FPS", "streaming", "avg_fps"},
    {OF_STREAMING, "FPS", "streaming", "current_fps"},
    {OF_STREAMING, "Total Frames", "streaming", "total_frames_streamed"},
    {OF_STREAMING, "Dropped Frames", "streaming", "total_dropped_frames"},
    {OF_STREAMING, "Drop Rate", "streaming", "drop_rate_percent"},
    {OF_STREAMING, "Average Encoding Time", "streaming", "avg_encoding_time_ms"},
    {OF_STREAMING, "Average Network Latency", "streaming", "avg_network_latency_ms"},
    {OF_EXTRACT, "Block FPS", "block", "fps"},
    {OF_EXTRACT, "Blocks Per Second", "diffusion", "bps"},
    {OF_EXTRACT, "Block Computation", "block", "avg_computation_time_ms"},
    {OF_EXTRACT, "Generation", "diffusion", "avg_computation_time_ms"},
    {OF_AGGREGATION, "Total reports processed", "aggregate", "total_reports"},
    {OF_AGGREGATION, "Ranks", "aggregate", "rank_count"},
};

/* "- Label (what it means): number unit" */
static bool split_label(struct ta_slice line, struct ta_slice *label, struct ta_slice *number)
{
    struct ta_slice text = ta_text_trim(line);
    while (text.len && memchr("-* ", *text.ptr, 3)) {
        text.ptr++;
        text.len--;
    }
    if (!before(&text, ":", label))
        return false;
    const char *meaning = memmem(label->ptr, label->len, " (", 2);
    if (meaning)
        label->len = (size_t)(meaning - label->ptr);
    *number = number_at(text);
    return number->len > 0;
}

/* The extract says 0 for what it did not find. */
static void take_figure(struct console *c)
{
    struct ta_slice label, number;
    if (!split_label(c->line, &label, &number))
        return;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (labels[i].part != c->part || !ta_slice_equal(label, ta_slice_of(labels[i].label)) ||
            (c->part == OF_EXTRACT && !(ta_text_double(number) > 0)))
            continue;
        inferix_figure_of(&c->in, c->part == OF_AGGREGATION ? TA_NO_RANK : TA_MISSING,
                          labels[i].group, TA_LIT(""), ta_slice_of(labels[i].key), number);
        c->in.kept++;
        return;
    }
}

/* GPU Memory - Min: 7200.0MB, Max: 9800.0MB, Avg: 8420.0MB */
static void take_aggregate(struct console *c)
{
    static const char *const metrics[][3] = {
        {"GPU Memory - ", "gpu", "memory_used_mb"},
        {"GPU Utilization - ", "gpu", "utilization_percent"},
        {"CPU Usage - ", "cpu", "usage_percent"},
        {"Memory Usage - ", "cpu", "memory_used_mb"},
    };
    static const char *const sums[][2] = {{"Min: ", "_min"}, {"Max: ", "_max"}, {"Avg: ", "_avg"}};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        struct ta_slice text = c->line;
        if (!behind(&text, metrics[i][0]))
            continue;
        for (size_t s = 0; s < sizeof sums / sizeof *sums; s++)
            if (behind(&text, sums[s][0])) {
                inferix_summary(&c->in, metrics[i][1], ta_slice_of(metrics[i][2]),
                                ta_slice_of(sums[s][1]), number_at(text));
                c->in.kept++;
            }
        return;
    }
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

static void add_call(struct console *c, struct ta_slice name, int64_t dur_ns)
{
    const struct ta_timed_stage stage = {.rank = TA_MISSING,
                                         .name = inferix_intern(&c->in, name),
                                         .calls = 1,
                                         .total_ns = dur_ns,
                                         .min_ns = dur_ns,
                                         .max_ns = dur_ns,
                                         .last_ns = TA_MISSING,
                                         .median_ns = TA_MISSING,
                                         .device_ns = TA_MISSING,
                                         .step = TA_MISSING,
                                         .is_call = true};
    INFERIX_ADD(&c->in, stage, &stage);
    c->in.kept++;
}

static void add_block(struct console *c, int64_t index, int64_t dur_ns)
{
    const struct ta_diffusion_block block = {.rank = TA_MISSING,
                                             .block = index,
                                             .frames = TA_MISSING,
                                             .dur_ns = dur_ns,
                                             .memory_bytes = TA_MISSING,
                                             .end_ns = TA_MISSING};
    INFERIX_ADD(&c->in, diffusion_block, &block);
    c->in.kept++;
}

/* "- VAE decoding time: 168.93 ms (26.50%)", "- Block 0 generation time: 70.73 ms (17.74% …)" */
static void take_pipeline(struct console *c)
{
    struct ta_slice text = ta_text_trim(c->line), name, share;
    if (text.len < 2 || memcmp(text.ptr, "- ", 2) != 0 || !before(&text, " time: ", &name))
        return;
    name = (struct ta_slice){name.ptr + 2, name.len - 2};
    const int64_t dur_ns = ta_text_decimal(number_at(text), 6);
    if (dur_ns == TA_MISSING || !behind(&text, " ms"))
        return;
    struct ta_slice block = name, number;
    if (behind(&block, "Block ") && before(&block, " generation", &number)) {
        add_block(c, ta_text_integer(number), dur_ns);
    } else if (ta_slice_equal(name, TA_LIT("Total"))) {
        add_session(c, (struct ta_slice){NULL, 0}, dur_ns);
    } else {
        add_call(c, name, dur_ns);
        if (behind(&text, "(") && before(&text, "%", &share))
            inferix_figure(&c->in, "stage", name, TA_LIT("percentage_of_total"), share);
    }
}

/* "0:00:01.250134" or "2 days, 0:00:01" to ns. */
static int64_t elapsed(struct ta_slice text)
{
    struct ta_slice part;
    int64_t days = 0, hours, minutes;
    if (before(&text, " day", &part)) {
        days = ta_text_integer(part);
        if (!before(&text, ", ", &part))
            return TA_MISSING;
    }
    if (!before(&text, ":", &part))
        return TA_MISSING;
    hours = ta_text_integer(part);
    if (!before(&text, ":", &part))
        return TA_MISSING;
    minutes = ta_text_integer(part);
    const int64_t ns = ta_text_decimal(text, 9);
    if (days < 0 || days > 10000 || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 ||
        ns < 0 || ns >= INT64_C(60000000000))
        return TA_MISSING;
    return ((days * 24 + hours) * 60 + minutes) * INT64_C(60000000000) + ns;
}

/* "load model (2026-11-21 00:36:14.289411)" without its time. */
static struct ta_slice event_of(struct ta_slice text)
{
    for (size_t i = text.len; i > 1; i--)
        if (text.ptr[i - 1] == '(' && text.ptr[i - 2] == ' ')
            return (struct ta_slice){text.ptr, i - 2};
    return text;
}

/* Time Elapsed: [0:00:00.210351] From [load model (…)] To [text encode (…)] */
static void take_elapsed(struct console *c)
{
    enum { NAME_MAX_BYTES = 200 };
    struct ta_slice text = c->line, time, from, to;
    if (!behind(&text, ELAPSED) || !before(&text, "] From [", &time) ||
        !before(&text, "] To [", &from) || !before(&text, "]", &to))
        return;
    const int64_t dur_ns = elapsed(time);
    from = event_of(from);
    to = event_of(to);
    if (dur_ns == TA_MISSING || from.len > NAME_MAX_BYTES || to.len > NAME_MAX_BYTES) {
        inferix_drop(&c->in, "An elapsed time cannot be read");
        return;
    }
    char name[2 * NAME_MAX_BYTES + 8];
    const int length =
        snprintf(name, sizeof name, "%.*s → %.*s", (int)from.len, from.ptr, (int)to.len, to.ptr);
    add_call(c, (struct ta_slice){name, (size_t)length}, dur_ns);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void take_heading(struct console *c)
{
    static const struct {
        const char *heading;
        enum part part;
    } headings[] = {
        {DIFFUSION, OF_DIFFUSION},     {BLOCKS, OF_BLOCKS},   {STREAMING, OF_STREAMING},
        {PIPELINE, OF_PIPELINE},       {EXTRACT, OF_EXTRACT}, {METRICS, NOTHING},
        {AGGREGATION, OF_AGGREGATION},
    };
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (inferix_holds(c->line, headings[i].heading))
            c->part = headings[i].part;
}

static void take_line(struct console *c)
{
    const uint64_t before_line = c->in.kept;
    take_heading(c);
    take_session(c);
    take_gpu(c);
    take_cpu(c);
    take_elapsed(c);
    if (c->part == OF_PIPELINE)
        take_pipeline(c);
    else if (c->part != NOTHING)
        take_figure(c);
    if (c->part == OF_AGGREGATION)
        take_aggregate(c);
    if (c->in.kept > before_line && c->first_len == 0) {
        c->first_len = c->line.len < sizeof c->first ? c->line.len : sizeof c->first;
        memcpy(c->first, c->line.ptr, c->first_len);
    }
}

/* Consoles that name no session are copies when they begin with the same figures. */
static struct ta_slice set_of(const struct console *c)
{
    if (c->session)
        return (struct ta_slice){c->session, c->session_len};
    if (c->part == OF_AGGREGATION)
        return TA_LIT("aggregate");
    if (c->part == OF_EXTRACT)
        return TA_LIT("extract");
    return (struct ta_slice){c->first, c->first_len};
}

static enum ta_status read_console(struct ta_ctx *ctx, struct ta_reader *reader,
                                   struct ta_builder *builder)
{
    struct console c = {.in = inferix_begin(ctx, reader, builder)};
    struct ta_lines *lines = ta_lines_new(ctx, reader);
    if (!lines)
        return ta_ctx_status(ctx);
    while (c.in.status == TA_OK && ta_lines_next(lines)) {
        c.line = lines->line;
        take_line(&c);
    }
    ta_lines_free(lines);
    close_session(&c);
    ta_builder_set_copy(builder, set_of(&c), TA_EXACT_CONSOLE);
    free(c.session);
    return inferix_end(&c.in, "session, reading, figure or time");
}

static const struct ta_input_ops ops = {.sniff = sniff, .read = read_console};

TA_PLUGIN(input, inferix_console, &ops, .title = "Inferix console",
          .summary = "Texts that Inferix prints while it runs and at the end", .version = "1");
