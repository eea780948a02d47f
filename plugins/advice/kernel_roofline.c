/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GEMMs, convolutions, batch and group norms that stay far below what the device can do for their
 * shapes, or far below GEMMs of similar size.  Makers' peaks are out of reach: good kernels reach
 * two thirds of the arithmetic and more of the memory.  Attention, fp32 without tensor cores, and
 * what could be fused have rules of their own, and their time is left out. */
#include "kernel.h"

#include <stdlib.h>

enum { THRESHOLD, COMPUTE, MEMORY };

static const struct ta_option options[] = {
    [THRESHOLD] = {"threshold", TA_OPTION_NUMBER, 0.02, 0, 1, TA_OPTION_RATIO,
                   "Share of the run that such operators lose, from which the rule fires"},
    [COMPUTE] = {"compute", TA_OPTION_NUMBER, 0.3, 0.01, 0.5, TA_OPTION_RATIO,
                 "Share of the roofline below which operators are slow that arithmetic bounds; the "
                 "upper end of the saving is for twice that"},
    [MEMORY] = {"memory", TA_OPTION_NUMBER, 0.4, 0.01, 0.5, TA_OPTION_RATIO,
                "The same of operators that memory bounds"},
    TA_OPTIONS_END,
};

enum {
    NAME,
    CLASS,
    SHAPE,
    TYPE,
    UNIT,
    CALLS,
    KERNELS,
    BUSY,
    BOUND,
    REACHED,
    FLOP,
    RATE,
    INTENSITY,
    MATRIX_RATE,
    BACKEND,
    BACKEND_TIME,
    KERNEL_NAME,
    KERNEL_TIME,
    COPY_WHAT,
    COPY_OP,
    COPY_TIME,
    RUN,
    DEVICE = RUN + RUN_REFS,
    VAE = DEVICE + DEVICE_REFS
};

static const struct ta_ref reads[] = {
    [NAME] = {"roofline.by_op", "name"},
    [CLASS] = {"roofline.by_op", "class"},
    [SHAPE] = {"roofline.by_op", "shape"},
    [TYPE] = {"roofline.by_op", "type"},
    [UNIT] = {"roofline.by_op", "unit"},
    [CALLS] = {"roofline.by_op", "calls"},
    [KERNELS] = {"roofline.by_op", "kernels"},
    [BUSY] = {"roofline.by_op", "busy_ns"},
    [BOUND] = {"roofline.by_op", "bound"},
    [REACHED] = {"roofline.by_op", "efficiency"},
    [FLOP] = {"roofline.by_op", "flop"},
    [RATE] = {"roofline.by_op", "flop_rate"},
    [INTENSITY] = {"roofline.by_op", "intensity"},
    [MATRIX_RATE] = {"roofline.by_op", "matrix_flop_rate"},
    [BACKEND] = {"attention.by_backend", "backend"},
    [BACKEND_TIME] = {"attention.by_backend", "total_ns"},
    [KERNEL_NAME] = {"kernels.by_name", "name"},
    [KERNEL_TIME] = {"kernels.by_name", "total_ns"},
    [COPY_WHAT] = {"kernels.copies_by_op", "what"},
    [COPY_OP] = {"kernels.copies_by_op", "op"},
    [COPY_TIME] = {"kernels.copies_by_op", "total_ns"},
    KERNEL_RUN_READS(RUN),
    KERNEL_DEVICE_READS(DEVICE),
    VAE_READS(VAE),
};

/* ---- which operators ----------------------------------------------------------------------- */

enum family { GEMM, CONV, BATCH_NORM, GROUP_NORM, FAMILIES };

static const char *const family_titles[FAMILIES] = {[GEMM] = "GEMMs",
                                                    [CONV] = "Convolutions",
                                                    [BATCH_NORM] = "Batch norms",
                                                    [GROUP_NORM] = "Group norms"};
static const char *const family_words[FAMILIES] = {[GEMM] = "GEMMs",
                                                   [CONV] = "convolutions",
                                                   [BATCH_NORM] = "batch norms",
                                                   [GROUP_NORM] = "group norms"};

/* Shorter kernels, and work that even the peak would be done with in less, are to be joined, not
 * tuned. */
#define LEAST_KERNEL_NS 20000.0
#define LEAST_IDEAL_NS 3000.0

/* The plainest kernel, without tensor cores and in another type than its device is best at, reaches
 * several times this share.  Below it the recorded shape is hardly the shape of the work. */
#define LEAST_PLAUSIBLE 0.002

static bool has(struct ta_slice text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

/* FAMILIES: another rule speaks for the row, or none. */
static enum family family_of(const struct ta_refs *in, size_t row, bool has_math_attention)
{
    const struct ta_slice name = ta_ref_text(in, NAME, row);
    if (!isnan(ta_ref_number(in, MATRIX_RATE, row, (double)NAN)))
        return FAMILIES;
    if (ta_ref_reads(in, CLASS, row, "gemm"))
        return has_math_attention && has(name, "bmm") ? FAMILIES : GEMM;
    if (ta_ref_reads(in, CLASS, row, "conv"))
        return CONV;
    if (ta_ref_reads(in, CLASS, row, "norm"))
        return has(name, "batch_norm") ? BATCH_NORM : has(name, "group") ? GROUP_NORM : FAMILIES;
    return FAMILIES;
}

static bool is_long(const struct ta_refs *in, size_t row)
{
    return ta_ref_number(in, BUSY, row, 0) >=
           LEAST_KERNEL_NS * fmax(1, ta_ref_number(in, CALLS, row, 1));
}

/* ---- a GEMM far below its siblings ---------------------------------------------------------- */

/* How much slower it is at least, of which work, and what work is similar. */
enum { TIMES_SLOWER = 3, SIMILAR = 4 };
#define LEAST_OF_BEST 2.5 /* how much slower than the best one it may stay */
#define LEAST_FLOP 1e9
#define LEAST_INTENSITY 64.0

static bool is_gemm_of_size(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, CLASS, row, "gemm") && is_long(in, row) &&
           ta_ref_number(in, FLOP, row, 0) >= LEAST_FLOP &&
           ta_ref_number(in, INTENSITY, row, 0) >= LEAST_INTENSITY &&
           ta_ref_number(in, REACHED, row, 1) >= LEAST_PLAUSIBLE;
}

/* The fastest GEMM of the same type and similar work; 0 without one. */
static double best_rate(const struct ta_refs *in, size_t row)
{
    const double flop = ta_ref_number(in, FLOP, row, 0);
    double best = 0;
    for (size_t i = 0; i < ta_ref_rows(in, NAME); i++) {
        const double other = ta_ref_number(in, FLOP, i, 0);
        if (i != row && is_gemm_of_size(in, i) && other <= SIMILAR * flop &&
            flop <= SIMILAR * other &&
            ta_slice_equal(ta_ref_text(in, TYPE, i), ta_ref_text(in, TYPE, row)) &&
            ta_slice_equal(ta_ref_text(in, UNIT, i), ta_ref_text(in, UNIT, row)))
            best = fmax(best, ta_ref_number(in, RATE, i, 0));
    }
    return best;
}

static bool is_straggler(const struct ta_refs *in, size_t row)
{
    return is_gemm_of_size(in, row) &&
           TIMES_SLOWER * ta_ref_number(in, RATE, row, 0) < best_rate(in, row);
}

/* Elements of 16 bytes, which a vector load takes at once. */
static unsigned aligned_to(struct ta_slice type)
{
    return ta_slice_equal(type, TA_LIT("fp32")) ? 4 : has(type, "8") ? 16 : 8;
}

/* "K=4097" of a shape such as "M=8192 N=4096 K=4097 + bias": a size that no vector load fits; ""
 * without any. */
static struct ta_slice odd_size(struct ta_slice shape, unsigned multiple)
{
    for (size_t i = 0; i + 2 < shape.len; i++) {
        if (!strchr("MNK", shape.ptr[i]) || shape.ptr[i + 1] != '=' ||
            (i > 0 && shape.ptr[i - 1] != ' '))
            continue;
        size_t end = i + 2;
        unsigned last = 0; /* its last digits tell what is left of a power of two */
        for (; end < shape.len && shape.ptr[end] >= '0' && shape.ptr[end] <= '9'; end++)
            last = (last * 10 + (unsigned)(shape.ptr[end] - '0')) % 10000;
        if (last % multiple && shape.ptr[i] != 'M')
            return (struct ta_slice){ta_slice_at(shape, i), end - i};
    }
    return TA_LIT("");
}

/* `unaligned_ns`: of kernels that a finding of their own is about if they take longer. */
static bool advise_straggler(const struct ta_refs *in, struct ta_advice *advice,
                             const struct kernel_run *run, double unaligned_ns)
{
    size_t worst = SIZE_MAX, n = 0;
    double most = 0, time = 0, low = 0, high = 0;
    for (size_t row = 0; row < ta_ref_rows(in, NAME); row++) {
        if (!is_straggler(in, row))
            continue;
        const double ns = ta_ref_number(in, BUSY, row, 0);
        const double slower = ta_ref_number(in, RATE, row, 0) / best_rate(in, row);
        n++;
        time += ns;
        low += ns * fmax(0, 1 - LEAST_OF_BEST * slower);
        high += ns * (1 - slower);
        if (ns > most) {
            most = ns;
            worst = row;
        }
    }
    if (worst == SIZE_MAX || time < unaligned_ns || !kernel_matters(run, time, 0))
        return false;
    const struct ta_slice name = ta_ref_text(in, NAME, worst);
    const unsigned multiple = aligned_to(ta_ref_text(in, TYPE, worst));
    const struct ta_slice shape = ta_ref_text(in, SHAPE, worst), odd = odd_size(shape, multiple);
    const double rate = ta_ref_number(in, RATE, worst, 0), best = best_rate(in, worst);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, RATE, worst),
                                           ta_ref_evidence(in, BUSY, worst)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gemm-straggler",
            .rule = "kernel_roofline",
            .title =
                n == 1 ? ta_advice_printf(
                             advice,
                             "One GEMM shape is %.1f times slower than others of its size and "
                             "takes %s",
                             best / rate, kernel_time(advice, run, time))
                       : ta_advice_printf(advice,
                                          "%zu GEMM shapes are several times slower than others of "
                                          "their size and take %s",
                                          n, kernel_time(advice, run, time)),
            .why = ta_advice_printf(
                advice, "%.*s with %.*s%s reaches %s, others of similar work %s%s.", (int)name.len,
                name.ptr, (int)shape.len, shape.ptr,
                n > 1 ? ta_advice_printf(advice, " (%s)", kernel_ns(advice, run, most)) : "",
                ta_advice_number(advice, rate, TA_UNIT_FLOP_PER_S),
                ta_advice_number(advice, best, TA_UNIT_FLOP_PER_S),
                odd.len ? ta_advice_printf(advice, ": %.*s is no multiple of %u", (int)odd.len,
                                           odd.ptr, multiple)
                        : ""),
            .advice = odd.len  ? "Pad the odd size to a multiple of 64."
                      : n == 1 ? "Tune this shape (TunableOp, or torch.compile with max-autotune), "
                                 "or pad it to one of the fast ones."
                               : "Tune these shapes (TunableOp, or torch.compile with "
                                 "max-autotune), or pad them to fast ones.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, low),
            .saving_high_ns = kernel_saving(run, high),
            .confidence = 0.6,
            .threshold = "a GEMM reaches less than a third of the rate of one of similar work",
        });
    return true;
}

/* Whether a kernel loads one element at a time, since a size or an address is odd; on the
 * CUDA cores all do. */
static bool is_unaligned(struct ta_slice name)
{
    const char *at = memmem(name.ptr, name.len, "align1", 6);
    return at && (at + 6 == ta_slice_end(name) || at[6] < '0' || at[6] > '9') &&
           !memmem(name.ptr, name.len, "simt", 4);
}

/* Such kernels. */
struct unaligned {
    double time, most; /* most: of row `row` */
    size_t row;
};

static struct unaligned find_unaligned(const struct ta_refs *in)
{
    struct unaligned found = {.time = 0};
    for (size_t i = 0; i < ta_ref_rows(in, KERNEL_NAME); i++) {
        const struct ta_slice name = ta_ref_text(in, KERNEL_NAME, i);
        const double ns = ta_ref_number(in, KERNEL_TIME, i, 0);
        if (!is_unaligned(name))
            continue;
        found.time += ns;
        if (ns > found.most) {
            found.most = ns;
            found.row = i;
        }
    }
    return found;
}

static void advise_unaligned(const struct ta_refs *in, struct ta_advice *advice,
                             const struct kernel_run *run, const struct unaligned *found)
{
    const double time = found->time, most = found->most;
    struct ta_slice shape = TA_LIT(""), odd = TA_LIT("");
    unsigned multiple = 8;
    for (size_t i = 0; i < ta_ref_rows(in, SHAPE) && !odd.len; i++)
        if (ta_ref_reads(in, CLASS, i, "gemm")) {
            shape = ta_ref_text(in, SHAPE, i);
            multiple = aligned_to(ta_ref_text(in, TYPE, i));
            odd = odd_size(shape, multiple);
        }
    const struct ta_evidence evidence = ta_ref_evidence(in, KERNEL_TIME, found->row);
    const struct ta_place largest = ta_place_at(in, KERNEL_TIME, found->row);
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "gemm-unaligned",
            .rule = "kernel_roofline",
            .title = ta_advice_printf(
                advice, "GEMMs of odd sizes use kernels without vector loads and take %s",
                kernel_time(advice, run, time)),
            .why = odd.len ? ta_advice_printf(
                                 advice,
                                 "The largest of these GEMMs is %.*s: %.*s is no multiple of %u.",
                                 (int)shape.len, shape.ptr, (int)odd.len, odd.ptr, multiple)
                           : ta_advice_printf(advice, "%s takes %s of the time of such GEMMs.",
                                              ta_place_text(advice, in, &largest, KERNEL_NAME),
                                              kernel_part(advice, most / time)),
            .advice = ta_advice_printf(
                advice, "Pad %s to a multiple of %u, large ones to a multiple of 64.",
                odd.len ? ta_advice_printf(advice, "sizes such as %.*s", (int)odd.len, odd.ptr)
                        : "the sizes of these matrices",
                multiple),
            .severity = TA_MEDIUM,
            .evidence = &evidence,
            .n_evidence = 1,
            .gain = TA_GAIN_DEVICE,
            /* They take 1.3 to 3.3 times as long as with padded sizes. */
            .saving_low_ns = kernel_saving(run, time / 4),
            .saving_high_ns = kernel_saving(run, time * 0.7),
            .confidence = 0.5,
            .threshold = "kernels named align1 take 1 % of the run",
        });
}

/* ---- far below the roofline ----------------------------------------------------------------- */

/* What operators of a family take, and would no longer. */
struct slow {
    double time, ideal, low, high, most; /* most: time of the row `row` */
    size_t row, shapes;
};

/* What is left of the time of convolutions without their transposes and without a VAE, which have
 * findings of their own. */
static double own_part(const struct ta_refs *in, const struct kernel_run *run)
{
    const double decoding = vae_part(in, VAE, VAE_CONV, run);
    double all = 0, transposes = 0;
    for (size_t i = 0; i < ta_ref_rows(in, BUSY); i++)
        all += ta_ref_reads(in, CLASS, i, "conv") ? ta_ref_number(in, BUSY, i, 0) : 0;
    for (size_t i = 0; i < ta_ref_rows(in, COPY_TIME); i++)
        if (ta_ref_reads(in, COPY_WHAT, i, "layout") && has(ta_ref_text(in, COPY_OP, i), "conv"))
            transposes += ta_ref_number(in, COPY_TIME, i, 0);
    return decoding > 0.5 * all ? 0 : all > transposes ? 1 - transposes / all : 1;
}

/* `part`: of the time of the row that counts. */
static void add_up(struct ta_ctx *ctx, const struct ta_refs *in, size_t row, double part,
                   struct slow *slow)
{
    const double time = part * ta_ref_number(in, BUSY, row, 0);
    const double efficiency = ta_ref_number(in, REACHED, row, (double)NAN) / part;
    const double goal =
        ta_ctx_option(ctx, ta_ref_reads(in, BOUND, row, "memory") ? MEMORY : COMPUTE);
    if (!(part > 0) || isnan(efficiency) || efficiency >= goal || efficiency < LEAST_PLAUSIBLE ||
        !is_long(in, row) ||
        time * efficiency < LEAST_IDEAL_NS * fmax(1, ta_ref_number(in, CALLS, row, 1)))
        return;
    const double high = time * (1 - efficiency / (2 * goal));
    slow->time += time;
    slow->ideal += time * efficiency;
    slow->low += kernel_low(time * (1 - efficiency / goal), high);
    slow->high += high;
    slow->shapes++;
    if (time > slow->most) {
        slow->most = time;
        slow->row = row;
    }
}

static const char *what_to_do(enum family family, bool is_memory,
                              const struct kernel_device *device)
{
    switch (family) {
    case GEMM:
        if (is_memory)
            return "Compute more rows at once, or quantize the weights: with few rows the bytes of "
                   "the weights bound a GEMM.";
        return device->is_amd ? "Tune these shapes once with PYTORCH_TUNABLEOP_ENABLED=1."
                              : "Let torch.compile(mode=\"max-autotune\") choose the kernels, and "
                                "pad sizes to multiples of 64.";
    case CONV:
        return device->is_amd ? "Use channels_last for model and input with "
                                "PYTORCH_MIOPEN_SUGGEST_NHWC=1, and "
                                "let MIOpen tune once (MIOPEN_FIND_ENFORCE=3)."
                              : "Use channels_last for model and input, and "
                                "torch.backends.cudnn.benchmark = True where sizes repeat.";
    case BATCH_NORM:
    case GROUP_NORM:
    case FAMILIES:
        break;
    }
    return "Compile the module (torch.compile): Inductor writes its own kernel for the norm and "
           "fuses the activation into it.";
}

static const char *others(struct ta_advice *advice, const struct kernel_run *run,
                          const struct slow *slow, enum family worst)
{
    const char *text = NULL;
    for (int f = 0; f < FAMILIES; f++)
        if (f != (int)worst && kernel_matters(run, slow[f].high, 0))
            text = ta_advice_printf(advice, "%s%s below their roof take another %s.",
                                    text ? ta_advice_printf(advice, "%s ", text) : "",
                                    family_titles[f], kernel_time(advice, run, slow[f].time));
    return text;
}

/* Whether a GEMM of an odd size is told with the others. */
static bool is_odd(const struct ta_refs *in, size_t row)
{
    return ta_ref_reads(in, CLASS, row, "gemm") &&
           odd_size(ta_ref_text(in, SHAPE, row), aligned_to(ta_ref_text(in, TYPE, row))).len;
}

static void advise_slow(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice,
                        const struct kernel_run *run, bool without_unaligned)
{
    static const struct ta_look math = {.cells = BACKEND_TIME, .where = {{BACKEND, "math"}}};
    const bool has_math = kernel_matters(run, ta_look_sum(in, &math, TA_MISSING), 0);
    const struct kernel_device device = kernel_device_of(in, DEVICE, advice);
    const double rest = own_part(in, run);
    struct slow slow[FAMILIES] = {0};
    enum family worst = GEMM;
    for (size_t row = 0; row < ta_ref_rows(in, BUSY); row++) {
        const enum family family = family_of(in, row, has_math);
        if (family != FAMILIES && !is_straggler(in, row) && !(without_unaligned && is_odd(in, row)))
            add_up(ctx, in, row, family == CONV ? rest : 1, &slow[family]);
    }
    for (int f = 0; f < FAMILIES; f++)
        worst = slow[f].high > slow[worst].high ? (enum family)f : worst;
    const struct slow *it = &slow[worst];
    if (!kernel_matters(run, it->high, ta_ctx_option(ctx, THRESHOLD)))
        return;
    const bool is_memory = ta_ref_reads(in, BOUND, it->row, "memory");
    const struct ta_slice unit = ta_ref_text(in, UNIT, it->row);
    const struct ta_slice name = ta_ref_text(in, NAME, it->row);
    const struct ta_slice shape = ta_ref_text(in, SHAPE, it->row);
    const struct ta_evidence evidence[] = {ta_ref_evidence(in, REACHED, it->row),
                                           ta_ref_evidence(in, BUSY, it->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "below-roofline",
            .rule = "kernel_roofline",
            .title = ta_advice_printf(
                advice, "%s run at %s of the %s's %s and take %s", family_titles[worst],
                ta_advice_number(advice, it->ideal / it->time, TA_UNIT_RATIO), device.name,
                is_memory ? "memory bandwidth"
                          : ta_advice_printf(advice, "%.*s peak", (int)unit.len, unit.ptr),
                kernel_time(advice, run, it->time)),
            .why = ta_advice_printf(
                advice, "%.*s with %.*s takes %s of the time of these %s (%s in %s%s).",
                (int)name.len, name.ptr, (int)shape.len, shape.ptr,
                kernel_part(advice, it->most / it->time), family_words[worst],
                kernel_ns(advice, run, it->most),
                kernel_count(advice, ta_ref_number(in, CALLS, it->row, 0), "call"),
                it->shapes > 1
                    ? ta_advice_printf(advice, ", at %s",
                                       ta_advice_number(advice,
                                                        ta_ref_number(in, REACHED, it->row, 0),
                                                        TA_UNIT_RATIO))
                    : ""),
            .advice = what_to_do(worst, is_memory, &device),
            .details = others(advice, run, slow, worst),
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .gain = TA_GAIN_DEVICE,
            .saving_low_ns = kernel_saving(run, it->low),
            .saving_high_ns = kernel_saving(run, it->high),
            .confidence = 0.4,
            .threshold = ta_advice_printf(
                advice,
                "operators below %s of the roofline, %s where memory bounds them, lose > %s of "
                "the run",
                ta_advice_number(advice, ta_ctx_option(ctx, COMPUTE), TA_UNIT_RATIO),
                ta_advice_number(advice, ta_ctx_option(ctx, MEMORY), TA_UNIT_RATIO),
                ta_advice_number(advice, ta_ctx_option(ctx, THRESHOLD), TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const struct kernel_run run = kernel_run_of(in, RUN);
    const struct unaligned unaligned = find_unaligned(in);
    const bool has_unaligned = kernel_matters(&run, unaligned.time, 0);
    const bool is_one = advise_straggler(in, advice, &run, has_unaligned ? unaligned.time : 0);
    if (!is_one && has_unaligned)
        advise_unaligned(in, advice, &run, &unaligned);
    advise_slow(ctx, in, advice, &run, !is_one && has_unaligned);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, kernel_roofline, &ops, .title = "Slow operators",
          .summary = "Fires when operators stay far below what the device can do, or GEMMs below "
                     "others of their size",
          .version = "2", .options = options);
