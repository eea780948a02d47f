/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines: what is packed is what the trace holds, lanes do not overlap, what is left out is
 * summed up, and the order of threads shows nowhere. */
#include "analyze/timeline/timeline.h"

#include "ranks/ranks.h"
#include "report/report.h"
#include "traceanalyze/table.h"

#include "trace_fixture.h"

#include <inttypes.h>

/* ---- making timelines ---------------------------------------------------------------------- */

/* The timeline of traces that are packed in the order of `turn` and joined in their own. */
static struct ta_timeline *timeline_of(struct reading *readings, size_t n, int64_t most,
                                       size_t turn)
{
    struct ta_timeline_pool *pool = ta_timeline_pool_new();
    struct ta_timeline_part **parts = calloc(n, sizeof(void *));
    assert_non_null(pool);
    assert_non_null(parts);
    for (size_t k = 0; k < n; k++) {
        const size_t i = (k + turn) % n;
        parts[i] = ta_timeline_pack(&fixture.ctx, pool, readings[i].trace, readings[i].trace, most);
        assert_non_null(parts[i]);
        parts[i]->file.rank = (int64_t)i;
        parts[i]->file.path = "";
    }
    struct ta_timeline *timeline = ta_timeline_join(&fixture.ctx, pool, parts, n);
    assert_non_null(timeline);
    return timeline;
}

/* All of a file as text: a line per slice, the lanes of a track numbered from the top. */
static void show_track(struct text *out, const struct ta_timeline *timeline,
                       const struct ta_timeline_file *file, const struct ta_timeline_track *track)
{
    for (size_t l = 0; l < track->n_lanes; l++) {
        struct ta_timeline_cursor cursor = ta_timeline_open(file, track, &track->lanes[l]);
        struct ta_timeline_slice slice;
        while (ta_timeline_next(&cursor, &slice)) {
            const struct ta_timeline_label *label = &timeline->labels[slice.label];
            text_add(out, "%s.%zu %.*s %" PRId64 "+%" PRId64, track->tid, l, (int)label->name.len,
                     label->name.ptr, slice.start_ns, slice.dur_ns);
            if (slice.launch_track != UINT32_MAX)
                text_add(out, " from %s after %" PRId64, file->tracks[slice.launch_track].tid,
                         slice.delay_ns);
            if (slice.correlation != TA_MISSING)
                text_add(out, " id %" PRId64, slice.correlation);
            text_add(out, " %s\n", ta_slice_look(label->kind)->title);
        }
    }
}

static void show_file(struct text *out, const struct ta_timeline *timeline, size_t at)
{
    const struct ta_timeline_file *file = &timeline->files[at];
    show_track(out, timeline, file, &file->program);
    for (size_t t = 0; t < file->n_tracks; t++)
        show_track(out, timeline, file, &file->tracks[t]);
}

#define SPAN(cat, name, tid, ts, dur, args)                                                        \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':1,'tid':'" tid "','ts':" #ts ",'dur':" #dur \
    ",'args':{" args "}},"

/* ---- exact content ------------------------------------------------------------------------- */

static void slices_are_those_of_the_trace(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(
        &fixture,
        SPAN("cpu_op", "outer", "main", 10, 30, "") SPAN("cpu_op", "inner", "main", 15, 5, "")
            SPAN("cuda_runtime", "launch", "main", 16, 2, "'correlation':7")
                SPAN("kernel", "gemm", "s7", 18, 40, "'correlation':7,'device':3")
                    SPAN("kernel", "ncclDevKernel_AllReduce", "s7", 58, 4, "'device':3")
                        SPAN("gpu_memcpy", "copy", "s7", 30, 8, "'device':3")
                            SPAN("gpu_user_annotation", "step", "s7", 18, 44, "")
                                SPAN("python_function", "late", "main", 40, 1, ""),
        &r);
    struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
    struct text text = {0};
    show_file(&text, timeline, 0);
    assert_string_equal(text.at, "main.0 outer 0+30000 Operator\n"
                                 "main.0 late 30000+1000 Other host code\n"
                                 "main.1 inner 5000+5000 Operator\n"
                                 "main.2 launch 6000+2000 Runtime call\n"
                                 "s7.0 step 8000+44000 Annotation\n"
                                 "s7.1 gemm 8000+40000 from main after 2000 id 7 GEMM\n"
                                 "s7.1 ncclDevKernel_AllReduce 48000+4000 Communication\n"
                                 "s7.2 copy 20000+8000 Copy\n");
    const struct ta_timeline_file *file = &timeline->files[0];
    assert_int_equal(file->end_ns, 52000);
    assert_int_equal(file->n_slices, 8);
    assert_int_equal(file->tracks[0].device, TA_MISSING);
    assert_int_equal(file->tracks[1].device, 3);
    text_free(&text);
    ta_timeline_free(timeline);
    reading_free(&r);
}

/* ---- what the program does ----------------------------------------------------------------- */

/* A range of the host, and a kernel that is launched at its start. */
#define WORK(name, ts, dur, id, gpu, gpu_dur)                                                      \
    SPAN("user_annotation", name, "main", ts, dur, "")                                             \
    SPAN("cuda_runtime", "cudaLaunchKernel", "main", ts, 1, "'correlation':" #id)                  \
    SPAN("kernel", "k" #id, "s7", gpu, gpu_dur, "'correlation':" #id ",'device':0,'stream':7")

/* A video of two blocks of two steps; the host is ahead of the device, and writes the video alone.
 * Phases, blocks and steps are where the device works on them, however few slices are kept. */
static void phases_and_steps_have_lanes(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture,
                        SPAN("cpu_op", "first", "main", 0, 1, "") //
                        WORK("text_encode", 10, 5, 1, 12, 10)     //
                        WORK("denoise_step_0", 20, 5, 2, 30, 20)  //
                        WORK("denoise_step_1", 26, 5, 3, 55, 20)  //
                        WORK("vae_decode", 32, 5, 4, 80, 10)      //
                        WORK("denoise_step_0", 50, 5, 5, 100, 20) //
                        WORK("denoise_step_1", 56, 5, 6, 125, 20) //
                        WORK("vae_decode", 62, 5, 7, 150, 10)     //
                        SPAN("user_annotation", "save_video", "main", 170, 30, ""),
                        &r);
    struct text text = {0};
    for (int64_t most = 4; most < 100; most *= 20) {
        struct ta_timeline *timeline = timeline_of(&r, 1, most, 0);
        const struct ta_timeline_file *file = &timeline->files[0];
        show_track(&text, timeline, file, &file->program);
        assert_string_equal(text.at, "program.0 text encode 12000+10000 Phase or step\n"
                                     "program.0 denoise 30000+45000 Phase or step\n"
                                     "program.0 VAE decode 80000+10000 Phase or step\n"
                                     "program.0 denoise 100000+45000 Phase or step\n"
                                     "program.0 VAE decode 150000+10000 Phase or step\n"
                                     "program.0 post-process 170000+30000 Phase or step\n"
                                     "program.1 block 1 30000+45000 Phase or step\n"
                                     "program.1 block 2 100000+45000 Phase or step\n"
                                     "program.2 denoising step 1 30000+20000 Phase or step\n"
                                     "program.2 denoising step 2 55000+20000 Phase or step\n"
                                     "program.2 denoising step 1 100000+20000 Phase or step\n"
                                     "program.2 denoising step 2 125000+20000 Phase or step\n");
        assert_int_equal(file->n_slices, 23);
        text_free(&text);
        text = (struct text){0};
        ta_timeline_free(timeline);
    }
    reading_free(&r);
}

/* What lies at the same time has lanes of its kind, and images are numbered. */
static void images_are_told_apart(void **state)
{
    (void)state;
    struct reading r;
    fixture_read_events(&fixture,
                        WORK("text_encode", 0, 5, 1, 2, 10)      //
                        WORK("denoise_step_0", 10, 5, 2, 30, 20) //
                        WORK("denoise_step_1", 16, 5, 3, 45, 30) //
                        WORK("vae_decode", 22, 5, 4, 80, 10)     //
                        WORK("text_encode", 30, 5, 5, 85, 10)    //
                        WORK("denoise_step_0", 40, 5, 6, 100, 20),
                        &r);
    struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
    struct text text = {0};
    show_track(&text, timeline, &timeline->files[0], &timeline->files[0].program);
    assert_string_equal(text.at, "program.0 text encode · image 1 2000+10000 Phase or step\n"
                                 "program.0 denoise · image 1 30000+45000 Phase or step\n"
                                 "program.0 VAE decode · image 1 80000+10000 Phase or step\n"
                                 "program.0 denoise · image 2 100000+20000 Phase or step\n"
                                 "program.1 text encode · image 2 85000+10000 Phase or step\n"
                                 "program.2 denoising step 1 30000+20000 Phase or step\n"
                                 "program.2 denoising step 1 100000+20000 Phase or step\n"
                                 "program.3 denoising step 2 45000+30000 Phase or step\n");
    text_free(&text);
    ta_timeline_free(timeline);
    reading_free(&r);
}

/* Every span once and nothing else, on traces of all shapes. */
static void nothing_is_lost_or_added(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct text json = {0};
        struct reading r;
        fixture_trace_text(&json, seed, 2000, (int)(seed % 3), 0);
        fixture_read_text(&fixture, json.at, &r);
        struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
        const struct ta_timeline_file *file = &timeline->files[0];
        const struct ta_spans spans = ta_trace_spans(r.trace);
        uint64_t n = 0;
        for (size_t t = 0; t < file->n_tracks; t++) {
            const struct ta_track *from = &ta_trace_tracks(r.trace).at[t];
            uint64_t time = 0, wanted = 0;
            for (ta_row row = from->first; row < from->first + from->n; row++)
                wanted += (uint64_t)(spans.ts[row] - ta_trace_origin(r.trace)) * 31 +
                          (uint64_t)spans.dur[row];
            for (size_t l = 0; l < file->tracks[t].n_lanes; l++) {
                const struct ta_timeline_lane *lane = &file->tracks[t].lanes[l];
                struct ta_timeline_cursor cursor = ta_timeline_open(file, &file->tracks[t], lane);
                struct ta_timeline_slice slice;
                int64_t end = 0;
                for (; ta_timeline_next(&cursor, &slice); n++) {
                    assert_true(slice.start_ns >= end); /* lanes do not overlap */
                    end = slice.start_ns + slice.dur_ns;
                    time += (uint64_t)slice.start_ns * 31 + (uint64_t)slice.dur_ns;
                }
            }
            assert_true(time == wanted);
        }
        assert_int_equal(n, spans.n);
        ta_timeline_free(timeline);
        reading_free(&r);
        text_free(&json);
    }
}

/* ---- leaving out --------------------------------------------------------------------------- */

/* The busy time that the bins of a lane hold, in ns. */
static double busy_of(const struct ta_timeline_file *file, const struct ta_timeline_lane *lane)
{
    const unsigned char *at = lane->busy, *end = at + lane->busy_size;
    const int64_t width = file->end_ns / TA_TIMELINE_BINS + 1;
    int64_t bin = 0;
    double busy = 0;
    for (; at < end; bin++) {
        bin += (int64_t)ta_varint_read(&at, end);
        busy += (double)*at++ / 255 * (double)width;
    }
    assert_true(bin <= TA_TIMELINE_BINS);
    return busy;
}

static void the_shortest_are_summed_up(void **state)
{
    (void)state;
    struct text json = {0};
    struct reading r;
    fixture_trace_text(&json, 5, 20000, 0, 0);
    fixture_read_text(&fixture, json.at, &r);
    const struct ta_spans spans = ta_trace_spans(r.trace);
    struct ta_timeline *whole = timeline_of(&r, 1, INT64_MAX, 0);
    struct ta_timeline *part = timeline_of(&r, 1, 3000, 0);
    const struct ta_timeline_file *file = &part->files[0];
    size_t kept = 0, left_out = 0, wanted = 0;
    double busy = 0, wanted_busy = 0;
    for (size_t row = 0; row < spans.n; row++) {
        wanted += spans.dur[row] >= file->shortest_ns;
        wanted_busy += spans.dur[row] < file->shortest_ns ? (double)spans.dur[row] : 0;
    }
    for (size_t t = 0; t < file->n_tracks; t++) {
        assert_int_equal(file->tracks[t].n_lanes, whole->files[0].tracks[t].n_lanes);
        for (size_t l = 0; l < file->tracks[t].n_lanes; l++) {
            kept += file->tracks[t].lanes[l].n;
            left_out += file->tracks[t].lanes[l].n_left_out;
            busy += busy_of(file, &file->tracks[t].lanes[l]);
        }
    }
    assert_in_range(kept, 1500, 3000); /* of classes an eighth of an octave wide */
    assert_int_equal(kept, wanted);
    assert_int_equal(kept + left_out, spans.n);
    assert_true(busy > wanted_busy * 0.95 && busy < wanted_busy * 1.05);
    ta_timeline_free(whole);
    ta_timeline_free(part);
    reading_free(&r);
    text_free(&json);
}

/* ---- ranks --------------------------------------------------------------------------------- */

static void threads_leave_no_trace(void **state)
{
    (void)state;
    enum { RANKS = 4 };
    struct reading readings[RANKS];
    struct text json = {0};
    for (size_t i = 0; i < RANKS; i++) {
        fixture_trace_text(&json, 10 + i, 800, 0, (int64_t)i);
        fixture_read_text(&fixture, json.at, &readings[i]);
        text_free(&json);
        json = (struct text){0};
    }
    struct text first = {0};
    for (size_t turn = 0; turn < RANKS; turn++) {
        struct ta_timeline *timeline = timeline_of(readings, RANKS, INT64_MAX, turn);
        struct text text = {0};
        for (size_t i = 0; i < timeline->n_labels; i++)
            text_add(&text, "%.*s\n", (int)timeline->labels[i].name.len,
                     timeline->labels[i].name.ptr);
        for (size_t i = 0; i < RANKS; i++)
            show_file(&text, timeline, i);
        if (turn == 0) {
            text_put(&first, text.at, text.n + 1);
        } else {
            assert_string_equal(text.at, first.at);
        }
        text_free(&text);
        ta_timeline_free(timeline);
    }
    text_free(&first);
    for (size_t i = 0; i < RANKS; i++)
        reading_free(&readings[i]);
}

static void dated_files_of_a_rank_share_an_axis(void **state)
{
    (void)state;
    struct reading readings[2];
    fixture_read_text(&fixture,
                      "{\"baseTimeNanoseconds\":1000000,\"traceEvents\":[{\"ph\":\"X\",\"name\":"
                      "\"a\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1}]}",
                      &readings[0]);
    fixture_read_text(&fixture,
                      "{\"baseTimeNanoseconds\":1000000,\"traceEvents\":[{\"ph\":\"X\",\"name\":"
                      "\"a\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1}]}",
                      &readings[1]);
    struct ta_timeline_pool *pool = ta_timeline_pool_new();
    struct ta_timeline_part **parts = calloc(2, sizeof(void *));
    for (size_t i = 0; i < 2; i++) {
        parts[i] =
            ta_timeline_pack(&fixture.ctx, pool, readings[i].trace, readings[i].trace, INT64_MAX);
        assert_non_null(parts[i]);
        parts[i]->file.path = "";
    }
    struct ta_timeline *timeline = ta_timeline_join(&fixture.ctx, pool, parts, 2);
    assert_non_null(timeline);
    assert_int_equal(timeline->files[0].offset_ns, 0);
    assert_int_equal(timeline->files[1].offset_ns, 2000);
    ta_timeline_free(timeline);
    reading_free(&readings[0]);
    reading_free(&readings[1]);
}

/* ---- counters ------------------------------------------------------------------------------ */

static void long_counters_keep_their_extremes(void **state)
{
    (void)state;
    enum { N = 100000, PEAK = 54321 };
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,"
                    "\"dur\":1}");
    for (int i = 0; i < N; i++)
        text_add(&json, ",{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":%d,\"args\":{\"b\":%d}}", i,
                 i == PEAK ? 1000000 : i % 100);
    text_add(&json, "]}");
    struct reading r;
    fixture_read_text(&fixture, json.at, &r);
    struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
    assert_int_equal(timeline->files[0].n_counters, 1);
    const struct ta_timeline_counter *counter = &timeline->files[0].counters[0];
    bool has_peak = false;
    assert_string_equal(counter->name, "m");
    assert_string_equal(counter->series, "b");
    assert_int_equal(counter->n_recorded, N);
    assert_in_range(counter->n, 2048, TA_TIMELINE_SAMPLES);
    assert_int_equal(counter->ts_ns[0], 0);
    assert_int_equal(counter->ts_ns[counter->n - 1], (int64_t)(N - 1) * 1000);
    for (size_t i = 0; i < counter->n; i++) {
        assert_true(i == 0 || counter->ts_ns[i] > counter->ts_ns[i - 1]);
        has_peak |= counter->ts_ns[i] == (int64_t)PEAK * 1000 && counter->values[i] == 1000000;
    }
    assert_true(has_peak);
    ta_timeline_free(timeline);
    reading_free(&r);
    text_free(&json);
}

/* Samples of a dump become one counter per device and signal. */
static void dumps_have_counters(void **state)
{
    (void)state;
    static const char dmon[] = "# gpu    pwr     sm\n# Idx      W      %\n"
                               "    0    300     50\n    1    200     10\n"
                               "    0    310     70\n    1    210     20\n";
    struct reading r;
    fixture_read_as(&fixture, "nvidia_smi_dmon", dmon, sizeof dmon - 1, &r);
    assert_int_equal(r.status, TA_OK);
    struct ta_timeline *timeline = timeline_of(&r, 1, 0, 0);
    const struct ta_timeline_file *file = &timeline->files[0];
    struct text text = {0};
    for (size_t i = 0; i < file->n_counters; i++) {
        const struct ta_timeline_counter *counter = &file->counters[i];
        assert_int_equal(counter->n, 2);
        text_add(&text, "%s %s %s %g %g after %" PRId64 "\n", counter->process, counter->name,
                 ta_unit_name(counter->unit), counter->values[0], counter->values[1],
                 counter->ts_ns[1] - counter->ts_ns[0]);
    }
    assert_string_equal(text.at, "GPU 0 GPU utilization ratio 0.5 0.7 after 1000000000\n"
                                 "GPU 0 GPU power watt 300 310 after 1000000000\n"
                                 "GPU 1 GPU utilization ratio 0.1 0.2 after 1000000000\n"
                                 "GPU 1 GPU power watt 200 210 after 1000000000\n");
    text_free(&text);
    ta_timeline_free(timeline);
    reading_free(&r);
}

/* Labelled moments of memory are samples of what torch holds. */
static struct ta_timeline_part *memory_part(struct ta_timeline_pool *pool, struct reading *r,
                                            int first, int last)
{
    struct text json = {0};
    text_add(&json,
             "{\"timestamp\":1795221517.2,\"timing_stats\":{},\"iteration_stats\":{},"
             "\"memory_snapshots\":[{\"label\":\"a\",\"timestamp\":%d,\"allocated_mb\":1.0,"
             "\"reserved_mb\":2.0,\"max_allocated_mb\":1.0},{\"label\":\"b\",\"timestamp\":"
             "%d.5,\"allocated_mb\":4.0,\"reserved_mb\":8.0,\"max_allocated_mb\":4.0}]}",
             first, last);
    fixture_read_as(&fixture, "framepack", json.at, json.n, r);
    assert_int_equal(r->status, TA_OK);
    text_free(&json);
    struct ta_timeline_part *part =
        ta_timeline_pack(&fixture.ctx, pool, r->trace, r->trace, INT64_MAX);
    assert_non_null(part);
    part->file.path = "";
    part->is_dump = true;
    return part;
}

static void marks_of_memory_are_counters(void **state)
{
    (void)state;
    struct reading r;
    struct ta_timeline_pool *pool = ta_timeline_pool_new();
    struct ta_timeline_part **parts = calloc(1, sizeof(void *));
    assert_non_null(parts);
    parts[0] = memory_part(pool, &r, 1795221500, 1795221510);
    struct ta_timeline *timeline = ta_timeline_join(&fixture.ctx, pool, parts, 1);
    const struct ta_timeline_file *file = &timeline->files[0];
    assert_int_equal(file->n_counters, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct ta_timeline_counter *counter = &file->counters[i];
        assert_string_equal(counter->name, i ? "Torch reserved" : "Torch allocated");
        assert_int_equal(counter->n, 2);
        assert_int_equal(counter->ts_ns[1], INT64_C(10500000000));
        assert_true(counter->values[0] == (double)(i + 1) * 0x1p20);
        assert_true(counter->values[1] == (double)(i + 1) * 0x1p22);
    }
    ta_timeline_free(timeline);
    reading_free(&r);
}

/* Ranks whose dumps have dates stand on one clock when they ran together, else each for itself. */
static void dated_dumps_share_a_clock(void **state)
{
    (void)state;
    static const struct {
        int start;
        int64_t offset_ns;
        enum ta_timeline_clock clock;
    } cases[] = {{3, INT64_C(3000000000), TA_TIMELINE_BY_DATES}, {11, 0, TA_TIMELINE_APART}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading readings[2];
        struct ta_timeline_pool *pool = ta_timeline_pool_new();
        struct ta_timeline_part **parts = calloc(2, sizeof(void *));
        assert_non_null(parts);
        for (int rank = 0; rank < 2; rank++) {
            const int start = 1795221500 + rank * cases[i].start;
            parts[rank] = memory_part(pool, &readings[rank], start, start + 10);
            parts[rank]->file.rank = rank;
        }
        struct ta_timeline *timeline = ta_timeline_join(&fixture.ctx, pool, parts, 2);
        assert_int_equal(timeline->clock, cases[i].clock);
        assert_int_equal(timeline->files[0].offset_ns, 0);
        assert_int_equal(timeline->files[1].offset_ns, cases[i].offset_ns);
        ta_timeline_free(timeline);
        reading_free(&readings[0]);
        reading_free(&readings[1]);
    }
}

/* The clock of rank 1 is ahead of that of rank 0. */
static void set_members(struct ta_rank_member members[2], enum ta_clock_state state, uint32_t axis)
{
    members[0] = (struct ta_rank_member){.rank = 0, .clock = {.state = TA_CLOCK_REFERENCE}};
    members[1] = (struct ta_rank_member){.rank = 1,
                                         .clock = {.state = state,
                                                   .axis = axis,
                                                   .n = 30,
                                                   .offset = 700,
                                                   .drift = 1e-3,
                                                   .origin = 1000000,
                                                   .corrected = true}};
}

/* Rank 0 begins at 1 ms of its clock, rank 1 at 1.3 ms of one that is ahead by 0.7 µs at 1 ms and
 * gains 1 µs in a ms; it lasts for 1 ms, so in its middle it is ahead by 1.5 µs.  A dump of rank 1
 * stays where it is beside the trace. */
static void collectives_align_ranks(void **state)
{
    (void)state;
    static const struct {
        enum ta_clock_state state;
        uint32_t axis;
        enum ta_timeline_clock clock;
        int64_t offsets[3];
    } cases[] = {
        {TA_CLOCK_DRIFT, 0, TA_TIMELINE_BY_COLLECTIVES, {0, 298500, 298600}},
        {TA_CLOCK_DRIFT, 1, TA_TIMELINE_APART, {0, 0, 100}},
        {TA_CLOCK_REFUSED, 0, TA_TIMELINE_APART, {0, 0, 100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ta_timeline timeline = {.n_files = 3};
        struct ta_timeline_file files[] = {
            {.rank = 0, .clock_ns = 1000000, .end_ns = 1000000},
            {.rank = 1, .clock_ns = 1300000, .end_ns = 1000000},
            {.rank = 1, .clock_ns = TA_MISSING, .offset_ns = 100, .end_ns = 5},
        };
        struct ta_rank_member members[2];
        const struct ta_ranks ranks = {.members = members, .n_members = 2};
        set_members(members, cases[i].state, cases[i].axis);
        timeline.files = files;
        assert_true(ta_ranks_align_timeline(&ranks, &timeline, files));
        assert_int_equal(timeline.clock, cases[i].clock);
        for (size_t file = 0; file < 3; file++)
            assert_int_equal(files[file].offset_ns, cases[i].offsets[file]);
    }
}

/* ---- odd input ----------------------------------------------------------------------------- */

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a");
    for (int i = 0; i < 1000; i++)
        text_add(&json, "é");
    text_add(&json, "\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1}]}");
    struct reading r;
    fixture_read_text(&fixture, json.at, &r);
    struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
    const struct ta_slice name = timeline->labels[0].name;
    assert_in_range(name.len, TA_TIMELINE_NAME_MAX - 4, TA_TIMELINE_NAME_MAX);
    assert_memory_equal(name.ptr + name.len - 5, "é…", 5);
    ta_timeline_free(timeline);
    reading_free(&r);
    text_free(&json);
}

static void deep_nesting_is_counted(void **state)
{
    (void)state;
    enum { DEPTH = 400 };
    struct text json = {0};
    text_add(&json, "{\"traceEvents\":[");
    for (int i = 0; i < DEPTH; i++)
        text_add(&json, "%s{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d}",
                 i ? "," : "", i, 2 * (DEPTH - i));
    text_add(&json, "]}");
    struct reading r;
    fixture_read_text(&fixture, json.at, &r);
    struct ta_timeline *timeline = timeline_of(&r, 1, INT64_MAX, 0);
    const struct ta_timeline_track *track = &timeline->files[0].tracks[0];
    assert_int_equal(track->n_lanes, 256);
    assert_int_equal(track->n_too_deep, DEPTH - 256);
    ta_timeline_free(timeline);
    reading_free(&r);
    text_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_those_of_the_trace),
        cmocka_unit_test(phases_and_steps_have_lanes),
        cmocka_unit_test(images_are_told_apart),
        cmocka_unit_test(nothing_is_lost_or_added),
        cmocka_unit_test(the_shortest_are_summed_up),
        cmocka_unit_test(threads_leave_no_trace),
        cmocka_unit_test(dated_files_of_a_rank_share_an_axis),
        cmocka_unit_test(long_counters_keep_their_extremes),
        cmocka_unit_test(dumps_have_counters),
        cmocka_unit_test(marks_of_memory_are_counters),
        cmocka_unit_test(dated_dumps_share_a_clock),
        cmocka_unit_test(collectives_align_ranks),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(deep_nesting_is_counted),
    };
    return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
