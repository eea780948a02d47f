/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.vae_decode: what devices do while a VAE decodes latents to images or frames.
 *
 * A kernel belongs to it by what is open around its launch: a range, a module or a function of that
 * name.  Where nothing of the kind was recorded, it is the phase that the kernels of a diffusion
 * show (model/program/generation.h); where they show no steps, what follows the last transformer:
 * the end of a device's work in which convolutions outweigh GEMMs and attention most, if it holds
 * nearly all convolutions and attention lies before it. */
#include "base/vec.h"
#include "lib/modules.h"
#include "lib/outward.h"
#include "model/named.h"
#include "model/program/generation.h"

#include <traceanalyze/analysis.h>

#include <stdlib.h>

enum {
    RANK,
    DEVICE,
    SOURCE,
    DECODES,
    PASSES,
    WINDOW,
    TOTAL,
    CONV,
    WIDE,
    TF32,
    LAYOUT,
    NAIVE,
    FUSED,
    FEW_FRAMES,
    FIELDS
};
enum source { BY_RANGE, BY_MODULE, BY_FUNCTION, BY_KERNELS, SOURCES };

static const struct ta_field fields[FIELDS] = {
    [RANK] = {"rank", TA_FIELD_RANK},       [DEVICE] = {"device", TA_FIELD_INT},
    [SOURCE] = {"found_by", TA_FIELD_INT},  [DECODES] = {"decodes", TA_FIELD_SUM},
    [PASSES] = {"passes", TA_FIELD_SUM},    [WINDOW] = {"window_ns", TA_FIELD_SUM},
    [TOTAL] = {"total_ns", TA_FIELD_SUM},   [CONV] = {"conv_ns", TA_FIELD_SUM},
    [WIDE] = {"fp32_ns", TA_FIELD_SUM},     [TF32] = {"tf32_ns", TA_FIELD_SUM},
    [LAYOUT] = {"layout_ns", TA_FIELD_SUM}, [NAIVE] = {"naive_ns", TA_FIELD_SUM},
    [FUSED] = {"fused_ns", TA_FIELD_SUM},   [FEW_FRAMES] = {"few_frames", TA_FIELD_SUM},
};

static const struct ta_partial_def partials[] = {{"decodes", fields, FIELDS}, {0}};

/* The columns are the fields of the partial. */
static const struct ta_column decodes_columns[] = {
    [RANK] = TA_RANK_COLUMN,
    [DEVICE] = TA_DEVICE_COLUMN_OF("Number of the device"),
    [SOURCE] = {"found_by", "Source", TA_TEXT,
                .doc = "How it was found: range that was annotated, module, function, or kernels: "
                       "convolutions after the last transformer"},
    [DECODES] = {"decodes", "Decodes", TA_COUNT, .doc = "How often it decoded"},
    [PASSES] = {"passes", "Passes", TA_COUNT, .better = TA_LOWER,
                .doc =
                    "How often the decoder ran, once per tile or group of frames: convolutions to "
                    "three channels, or, where shapes were not recorded, the convolution that "
                    "ran least often, if at least eight different kernels ran as often"},
    [WINDOW] = {"window_ns", "Time", TA_NS, .better = TA_LOWER,
                .doc = "From the first kernel of a decode to the end of its last, all decodes"},
    [TOTAL] = {"total_ns", "Kernels", TA_NS, .better = TA_LOWER,
               .doc = "Sum of the durations of its kernels"},
    [CONV] = {"conv_ns", "Convolutions", TA_NS, .better = TA_LOWER,
              .doc = "Of that, convolutions and what they launch for themselves"},
    [WIDE] = {"fp32_ns", "In fp32", TA_NS, .better = TA_LOWER,
              .doc = "Of that, convolutions of fp32 inputs, TF32 among them"},
    [TF32] = {"tf32_ns", "In TF32", TA_NS, .doc = "Of that, on tensor cores"},
    [LAYOUT] = {"layout_ns", "Transposes", TA_NS, .better = TA_LOWER,
                .doc = "Kernels that change the layout for convolutions"},
    [NAIVE] = {"naive_ns", "Fallback convolutions", TA_NS, .better = TA_LOWER,
               .doc = "Convolutions by kernels that MIOpen falls back to (naive_conv)"},
    [FUSED] = {"fused_ns", "Compiled", TA_NS,
               .doc = "Kernels that Triton or Inductor made: what is between convolutions is fused "
                      "already"},
    [FEW_FRAMES] = {"few_frames", "Small passes", TA_COUNT, .detail = true,
                    .doc = "Of the passes, those over fewer than 12 frames of a video"},
};

static const struct ta_table_def decodes = {
    "kernels.vae_decode", "VAE decoding", TA_COLUMNS(decodes_columns),
    .doc = "One row per device that decodes latents.", .tier = TA_TIER_DETAIL};

/* ---- names ----------------------------------------------------------------------------------- */

/* "vae_decode", "VAEDecode", "diffusers/models/autoencoders/autoencoder_kl.py(213): decode",
 * "nn.Module: AutoencoderKLWan_0".  A module of the class Decoder alone may be any. */
static bool is_decode(struct ta_slice name)
{
    const char *colon = memmem(name.ptr, name.len, "): ", 3);
    if (ta_is_module(name)) {
        const struct ta_slice class = ta_module_class(name);
        return ta_slice_starts(class, "Autoencoder") || ta_slice_has_word(class, "vaedecoder") ||
               ta_slice_equal(class, TA_LIT("Decoder")) ||
               ta_slice_equal(class, TA_LIT("Decoder3d"));
    }
    if (colon && memmem(name.ptr, name.len, ".py(", 4)) {
        const struct ta_slice file = {name.ptr, (size_t)(colon - name.ptr)};
        const struct ta_slice function = ta_slice_from(name, (size_t)(colon + 3 - name.ptr));
        return ta_slice_has_word(function, "decode_latents") ||
               ta_slice_has_word(function, "decode_first_stage") ||
               ta_slice_has_word(function, "vae_decode") ||
               ((ta_slice_has_word(file, "vae") || ta_slice_has_word(file, "autoencoder")) &&
                ta_slice_has_word(function, "decode") && !ta_slice_has_word(function, "encode_") &&
                !ta_slice_has_word(function, "__init__"));
    }
    return (ta_slice_has_word(name, "vae") && ta_slice_has_word(name, "decod")) ||
           ta_slice_has_word(name, "decode_latents") ||
           ta_slice_has_word(name, "decode_first_stage");
}

/* ---- map ------------------------------------------------------------------------------------- */

struct sums {
    int64_t passes, few_frames, total, conv, wide, tf32, layout, naive, fused;
    int64_t start, end;
    ta_row last_pass;
};

/* How often kernels of one name and grid ran in a decode. */
struct repeat {
    size_t decode;
    uint32_t kernel;
    bool is_conv;
    ta_str grid;
    int64_t n;
};

/* One call, on one device. */
struct decode {
    ta_row row; /* of the mark; where phases show it, the number of the call */
    int64_t device;
    enum source source;
    struct sums sums;
    int different; /* kernels that ran at least once in each pass */
};

struct work {
    const struct ta_trace *trace;
    struct ta_spans spans;
    struct ta_kernels kernels;
    struct ta_args dims, types, grid;
    struct repeat *repeats;
    size_t n_repeats, max_repeats;
    struct ta_outward outward;
    struct ta_map outer_of; /* innermost decode → outermost */
    uint8_t *is_decode;     /* by name: 1 + is_decode(), 0 when not looked at */
    struct decode *at;
    size_t n, max, last;
    bool failed;
};

static bool decodes_here(void *user, ta_row row)
{
    struct work *w = user;
    const ta_str name = w->spans.name[row];
    if (!w->is_decode[name])
        w->is_decode[name] = (uint8_t)(1 + is_decode(ta_trace_text(w->trace, name)));
    return w->is_decode[name] > 1;
}

/* The outermost decode around a row; TA_NO_ROW without any. */
static ta_row outermost(struct work *w, ta_row row)
{
    const ta_row inner = ta_outward_find(&w->outward, row, decodes_here, w);
    if (inner == TA_NO_ROW)
        return inner;
    uint64_t *known = ta_map_at(&w->outer_of, inner, TA_NO_ROW);
    if (!known)
        return inner;
    if (*known == TA_NO_ROW) {
        ta_row outer = inner;
        for (ta_row next = inner; next != TA_NO_ROW;
             next = ta_outward_find(&w->outward, w->spans.parent[next], decodes_here, w))
            outer = next;
        *known = outer;
    }
    return (ta_row)*known;
}

static struct ta_slice text_of(const struct work *w, const struct ta_args *args, ta_row row)
{
    const ta_str text = row == TA_NO_ROW ? TA_STR_ABSENT : ta_args_text(args, row);
    return text == TA_STR_ABSENT ? TA_LIT("") : ta_trace_text(w->trace, text);
}

/* Decoders of videos that go through fewer frames at a time are not in tiles. */
enum { LEAST_FRAMES = 12 };

/* Whether the first tensor, "[[1, 96, 4, 480, 832], …", is a few frames of a video. */
static bool is_few_frames(struct ta_slice dims)
{
    int64_t frames = 0;
    int sizes = 0;
    for (size_t i = 0; i < dims.len && dims.ptr[i] != ']'; i++) {
        sizes += dims.ptr[i] == ',';
        if (sizes == 2 && dims.ptr[i] >= '0' && dims.ptr[i] <= '9')
            frames = ta_min_i64(frames * 10 + (dims.ptr[i] - '0'), INT64_C(1) << 40);
    }
    return sizes == 4 && frames < LEAST_FRAMES;
}

/* Whether a convolution makes three channels: weights are the second input, "[[…], [3, 128, …". */
static bool makes_colors(struct ta_slice dims)
{
    const char *second = memmem(dims.ptr, dims.len, "], [", 4);
    return second && ta_slice_starts(ta_slice_from(dims, (size_t)(second + 4 - dims.ptr)), "3, ");
}

static void add_kernel(const struct work *w, const struct ta_activity *a, struct sums *sums)
{
    const struct ta_kernel *kernel = &w->kernels.at[a->kernel];
    const int64_t start = w->spans.ts[a->span], dur = w->spans.dur[a->span];
    const struct ta_slice op =
        a->op == TA_NO_ROW ? TA_LIT("") : ta_trace_text(w->trace, w->spans.name[a->op]);
    const bool of_conv = kernel->facts.kind == TA_KERNEL_CONV || ta_slice_has_word(op, "conv");
    sums->start = sums->total ? ta_min_i64(sums->start, start) : start;
    sums->end = sums->total ? ta_max_i64(sums->end, start + dur) : start + dur;
    sums->total = ta_add_sat(sums->total, dur);
    if (!of_conv && kernel->facts.kind == TA_KERNEL_TRITON)
        sums->fused = ta_add_sat(sums->fused, dur);
    if (!of_conv)
        return;
    sums->conv = ta_add_sat(sums->conv, dur);
    if (kernel->facts.kind == TA_KERNEL_COPY)
        sums->layout = ta_add_sat(sums->layout, dur);
    if (kernel->facts.precision == TA_PRECISION_FP32 ||
        kernel->facts.precision == TA_PRECISION_TF32 ||
        (kernel->facts.precision == TA_PRECISION_ANY &&
         ta_slice_starts(text_of(w, &w->types, a->op), "[\"float\"")))
        sums->wide = ta_add_sat(sums->wide, dur);
    if (kernel->facts.precision == TA_PRECISION_TF32)
        sums->tf32 = ta_add_sat(sums->tf32, dur);
    if (ta_slice_has_word(ta_trace_text(w->trace, kernel->name), "naive_conv"))
        sums->naive = ta_add_sat(sums->naive, dur);
    if (a->op != sums->last_pass && makes_colors(text_of(w, &w->dims, a->op))) {
        sums->passes++;
        sums->few_frames += is_few_frames(text_of(w, &w->dims, a->op));
        sums->last_pass = a->op;
    }
}

static struct decode *decode_of(struct work *w, ta_row row, int64_t device, enum source source)
{
    for (size_t i = 0; i < w->n; i++) {
        struct decode *decode = &w->at[(w->last + w->n - i) % w->n];
        if (decode->row == row && decode->device == device) {
            w->last = (size_t)(decode - w->at);
            return decode;
        }
    }
    if (!ta_vec_grow((void **)&w->at, &w->max, w->n, sizeof *w->at)) {
        w->failed = true;
        return NULL;
    }
    w->at[w->n] = (struct decode){
        .row = row, .device = device, .source = source, .sums = {.last_pass = TA_NO_ROW}};
    w->last = w->n;
    return &w->at[w->n++];
}

static void add_repeat(struct work *w, const struct ta_activity *a)
{
    const ta_str grid = ta_args_text(&w->grid, a->span);
    const bool is_conv = w->kernels.at[a->kernel].facts.kind == TA_KERNEL_CONV;
    for (size_t i = w->n_repeats; i-- > 0 && w->repeats[i].decode == w->last;)
        if (w->repeats[i].kernel == a->kernel && w->repeats[i].grid == grid) {
            w->repeats[i].n++;
            return;
        }
    if (!ta_vec_grow((void **)&w->repeats, &w->max_repeats, w->n_repeats, sizeof *w->repeats)) {
        w->failed = true;
        return;
    }
    w->repeats[w->n_repeats++] = (struct repeat){w->last, a->kernel, is_conv, grid, 1};
}

/* A pass of a decoder runs many different kernels, since its layers have several resolutions; a few
 * that repeat are one layer after the other. */
enum { LEAST_DIFFERENT = 8 };

/* The number of passes of each decode where no shapes tell it. */
static void count_passes(struct work *w)
{
    for (size_t i = 0; i < w->n_repeats; i++) {
        const struct repeat *repeat = &w->repeats[i];
        int64_t *passes = &w->at[repeat->decode].sums.passes;
        if (repeat->is_conv)
            *passes = *passes ? ta_min_i64(*passes, repeat->n) : repeat->n;
    }
    for (size_t i = 0; i < w->n_repeats; i++) {
        struct decode *decode = &w->at[w->repeats[i].decode];
        decode->different += w->repeats[i].n >= decode->sums.passes;
    }
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].different < LEAST_DIFFERENT)
            w->at[i].sums.passes = 0;
}

/* A decoder with fewer convolutions is one of another kind. */
#define LEAST_CONV 0.2

static void add_row(struct ta_partial *out, const struct work *w, int64_t device,
                    enum source source, const struct sums *sums)
{
    if ((double)sums->conv < LEAST_CONV * (double)sums->total)
        return;
    int64_t *row = TA_PARTIAL_ROW(out, ta_key_int(ta_trace_rank(w->trace)), ta_key_int(device),
                                  ta_key_int(source));
    ta_sum(&row[DECODES], 1);
    ta_sum(&row[PASSES], sums->passes);
    ta_sum(&row[WINDOW], sums->end - sums->start);
    ta_sum(&row[TOTAL], sums->total);
    ta_sum(&row[CONV], sums->conv);
    ta_sum(&row[WIDE], sums->wide);
    ta_sum(&row[TF32], sums->tf32);
    ta_sum(&row[LAYOUT], sums->layout);
    ta_sum(&row[NAIVE], sums->naive);
    ta_sum(&row[FUSED], sums->fused);
    ta_sum(&row[FEW_FRAMES], sums->few_frames);
}

/* ---- by kernels alone ------------------------------------------------------------------------ */

/* A decoder attends once or twice. */
enum { LEAST_ATTENTION = 8, A_ATTENTION_LEAST = 8 };
#define LEAST_PART 0.7 /* of all convolutions */
#define LEAST_SHARE 0.3

static int64_t weight_of(const struct work *w, const struct ta_activity *a)
{
    if (a->kernel == TA_NO_KERNEL)
        return 0;
    const enum ta_kernel_kind kind = w->kernels.at[a->kernel].facts.kind;
    return kind == TA_KERNEL_CONV                                  ? w->spans.dur[a->span]
           : kind == TA_KERNEL_GEMM || kind == TA_KERNEL_ATTENTION ? -w->spans.dur[a->span]
                                                                   : 0;
}

static bool attends(const struct work *w, const struct ta_activity *a)
{
    return a->kernel != TA_NO_KERNEL && w->kernels.at[a->kernel].facts.kind == TA_KERNEL_ATTENTION;
}

/* Of the activities of a device from `first` to `end`. */
static void find_end(const struct work *w, const struct ta_activity *at, size_t first, size_t end,
                     struct ta_partial *out)
{
    int64_t sum = 0, best = 0, conv = 0;
    size_t from = end, attention = 0, convolutions = 0;
    struct sums sums = {.last_pass = TA_NO_ROW};
    for (size_t i = end; i > first; i--) {
        const int64_t weight = weight_of(w, &at[i - 1]);
        sum += weight;
        conv += ta_max_i64(weight, 0);
        convolutions += weight > 0;
        attention += attends(w, &at[i - 1]);
        /* Of a video made in parts, which are denoised in between, only the last decode. */
        if (sum > best && weight > 0 && A_ATTENTION_LEAST * attention <= convolutions) {
            best = sum;
            from = i - 1;
        }
    }
    attention = 0;
    for (size_t i = first; i < from; i++)
        attention += attends(w, &at[i]);
    if (attention < LEAST_ATTENTION)
        return;
    for (size_t i = from; i < end; i++)
        if (at[i].kernel != TA_NO_KERNEL)
            add_kernel(w, &at[i], &sums);
    if ((double)sums.conv >= LEAST_PART * (double)conv &&
        (double)sums.conv >= LEAST_SHARE * (double)sums.total)
        add_row(out, w, at[first].device, BY_KERNELS, &sums);
}

static void add_to(struct work *w, const struct ta_activity *a, struct decode *decode)
{
    if (!decode)
        return;
    add_kernel(w, a, &decode->sums);
    if (w->dims.n == 0 && w->grid.n > 0) /* else layers cannot be told apart */
        add_repeat(w, a);
}

enum { FLAT = 1, IN_TIME };

static uint8_t convolution(struct ta_slice name)
{
    return ta_slice_equal(name, TA_LIT("aten::conv2d"))   ? FLAT
           : ta_slice_equal(name, TA_LIT("aten::conv3d")) ? IN_TIME
                                                          : 0;
}

/* Whether pictures are decoded: passes over a video may be its frames. */
static bool decodes_pictures(struct work *w, const struct ta_generation *found)
{
    int64_t counts[UINT8_MAX + 1] = {0};
    if (found->makes == TA_GENERATION_VIDEOS || found->n_blocks > found->n_images)
        return false;
    w->failed |= !ta_count_named(w->trace, convolution, counts);
    return counts[FLAT] > 0 && counts[IN_TIME] == 0;
}

/* What decodes in a diffusion. */
static void add_phase(struct work *w, const struct ta_generation *found)
{
    static const enum source sources[] = {[TA_GENERATION_BY_NOTHING] = BY_KERNELS,
                                          [TA_GENERATION_BY_RANGE] = BY_RANGE,
                                          [TA_GENERATION_BY_MODULE] = BY_MODULE,
                                          [TA_GENERATION_BY_FUNCTION] = BY_FUNCTION,
                                          [TA_GENERATION_BY_KERNELS] = BY_KERNELS};
    const struct ta_activities activities = ta_trace_activities(w->trace);
    if (!decodes_pictures(w, found))
        w->grid.n = 0; /* passes are not told */
    for (size_t i = 0; i < activities.n && !w->failed; i++) {
        const struct ta_activity *a = &activities.at[i];
        const uint32_t call = found->call_of[i];
        if (call != UINT32_MAX && a->kernel != TA_NO_KERNEL &&
            found->calls[call].phase == TA_GENERATION_VAE_DECODE)
            add_to(w, a, decode_of(w, call, a->device, sources[found->calls[call].by]));
    }
}

static bool has_phase(const struct ta_generation *found)
{
    for (size_t i = 0; i < found->n_calls; i++)
        if (found->calls[i].phase == TA_GENERATION_VAE_DECODE)
            return true;
    return false;
}

/* Where nothing that is launched is in a decode by name. */
static void find_unmarked(struct work *w, struct ta_partial *out)
{
    const struct ta_activities activities = ta_trace_activities(w->trace);
    const struct ta_generation *found = ta_program_generation(w->trace);
    w->failed |= !found;
    if (found && (found->by == TA_GENERATION_BY_KERNELS || has_phase(found))) {
        add_phase(w, found);
        return;
    }
    for (size_t first = 0; !w->failed && first < activities.n;) {
        const size_t end = ta_device_end(&activities, first);
        find_end(w, activities.at, first, end, out);
        first = end;
    }
}

static enum source source_of(const struct work *w, ta_row row)
{
    const struct ta_slice name = ta_trace_text(w->trace, w->spans.name[row]);
    return ta_is_module(name)                      ? BY_MODULE
           : memmem(name.ptr, name.len, ".py(", 4) ? BY_FUNCTION
                                                   : BY_RANGE;
}

static enum ta_status map(struct ta_ctx *ctx, const struct ta_trace *trace,
                          struct ta_partial *const *out)
{
    const struct ta_activities activities = ta_trace_activities(trace);
    struct work w = {.trace = trace,
                     .spans = ta_trace_spans(trace),
                     .kernels = ta_trace_kernels(trace),
                     .dims = ta_trace_args(trace, "Input Dims"),
                     .types = ta_trace_args(trace, "Input type"),
                     .grid = ta_trace_args(trace, "grid")};
    bool has_conv = false;
    for (size_t k = 0; k < w.kernels.n; k++)
        has_conv |= w.kernels.at[k].facts.kind == TA_KERNEL_CONV;
    if (!has_conv)
        return TA_OK;
    w.outward.parent = w.spans.parent;
    w.is_decode = calloc(ta_trace_string_count(trace) + 1, 1);
    w.failed = !w.is_decode;
    for (size_t i = 0; !w.failed && i < activities.n; i++) {
        const struct ta_activity *a = &activities.at[i];
        if (a->kernel == TA_NO_KERNEL || a->op == TA_NO_ROW)
            continue;
        const ta_row row = outermost(&w, a->op);
        if (row != TA_NO_ROW)
            add_to(&w, a, decode_of(&w, row, a->device, source_of(&w, row)));
    }
    if (!w.failed && w.n == 0)
        find_unmarked(&w, out[0]);
    if (w.dims.n == 0)
        count_passes(&w);
    for (size_t i = 0; !w.failed && i < w.n; i++)
        add_row(out[0], &w, w.at[i].device, w.at[i].source, &w.at[i].sums);
    w.failed |= w.outer_of.failed;
    free(w.at);
    free(w.repeats);
    free(w.is_decode);
    ta_map_free(&w.outer_of);
    ta_outward_free(&w.outward);
    return w.failed ? ta_fail(ctx, TA_ERR_NOMEM, "Cannot follow decoding") : TA_OK;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    static const char *const sources[SOURCES] = {"range", "module", "function", "kernels"};
    (void)ctx;
    (void)in;
    for (size_t i = 0; i < ta_partial_rows(merged[0]); i++) {
        const int64_t *row = ta_partial_at(merged[0], i);
        TA_ROW(out, decodes, [RANK] = ta_int(row[RANK]), [DEVICE] = ta_int(row[DEVICE]),
               [SOURCE] = ta_string(sources[row[SOURCE]]), [DECODES] = ta_int(row[DECODES]),
               [PASSES] = row[PASSES] ? ta_int(row[PASSES]) : ta_null(),
               [WINDOW] = ta_int(row[WINDOW]), [TOTAL] = ta_int(row[TOTAL]),
               [CONV] = ta_int(row[CONV]), [WIDE] = ta_int(row[WIDE]), [TF32] = ta_int(row[TF32]),
               [LAYOUT] = ta_int(row[LAYOUT]), [NAIVE] = ta_int(row[NAIVE]),
               [FUSED] = ta_int(row[FUSED]),
               [FEW_FRAMES] = row[PASSES] ? ta_int(row[FEW_FRAMES]) : ta_null());
    }
    return TA_OK;
}

static const char *const needs_args[] = {"Input Dims", "Input type", "grid", NULL};
static const struct ta_bound bounds[] = {{0, SOURCE, SOURCES}, TA_BOUNDS_END};
static const struct ta_table_def *const tables[] = {&decodes, NULL};

static const struct ta_analysis_ops ops = {.bounds = bounds,
                                           .needs_args = needs_args,
                                           .section = "kernels",
                                           .place = 12,
                                           .partials = partials,
                                           .map = map,
                                           .finish = finish,
                                           .tables = tables};

TA_PLUGIN(analysis, vae_decode, &ops, .title = "VAE decoding",
          .summary = "What devices do while a VAE decodes latents: kernels.vae_decode",
          .version = "1");
