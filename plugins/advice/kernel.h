/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules on kernels share: the run that shares are of, and what its devices can do. */
#ifndef TA_ADVICE_KERNEL_H
#define TA_ADVICE_KERNEL_H

#include <traceanalyze/rule.h>

#include <math.h>

/* A finding about less of the run than this is none. */
#define KERNEL_LEAST_SHARE 0.01

/* ---- the run ------------------------------------------------------------------------------- */

/* What a rule reads for it, from an enumerator of its own on, as KERNEL_RUN_READS(RUN). */
enum { RUN_WINDOW, RUN_NAME_CLASS, RUN_EXPOSED, RUN_CLASS, RUN_CLASS_TIME, RUN_REFS };

#define KERNEL_RUN_READS(first)                                                                    \
    [(first) + RUN_WINDOW] = {"gpu_time.program", "window_ns"},                                    \
               [(first) + RUN_NAME_CLASS] = {"gpu_time.by_name", "class"},                         \
               [(first) + RUN_EXPOSED] = {"gpu_time.by_name", "exposed_ns"},                       \
               [(first) + RUN_CLASS] = {"kernels.by_class", "class"},                              \
               [(first) + RUN_CLASS_TIME] = {"kernels.by_class", "total_ns"}

/* Tables of kernels are sums over devices that run side by side: a time is of one of them. */
struct kernel_run {
    double window_ns; /* the run once for each device; 0: not known */
    double exposed;   /* share of kernel time in which nothing else runs on the device */
    double devices;
};

static inline struct kernel_run kernel_run_of(const struct ta_refs *in, size_t first)
{
    struct kernel_run run = {.devices = fmax(1, (double)ta_ref_rows(in, first + RUN_WINDOW))};
    double exposed = 0, all = 0, longest = 0;
    for (size_t i = 0; i < ta_ref_rows(in, first + RUN_WINDOW); i++)
        longest = fmax(longest, ta_ref_number(in, first + RUN_WINDOW, i, 0));
    run.window_ns = run.devices * longest;
    for (size_t i = 0; i < ta_ref_rows(in, first + RUN_EXPOSED); i++)
        if (ta_ref_reads(in, first + RUN_NAME_CLASS, i, "compute"))
            exposed += ta_ref_number(in, first + RUN_EXPOSED, i, 0);
    for (size_t i = 0; i < ta_ref_rows(in, first + RUN_CLASS_TIME); i++)
        if (!ta_ref_reads(in, first + RUN_CLASS, i, "comm"))
            all += ta_ref_number(in, first + RUN_CLASS_TIME, i, 0);
    run.exposed = all > 0 && exposed > 0 ? fmin(1, exposed / all) : 1;
    return run;
}

/* Share of the run that kernels take whose durations add up to this on all devices. */
static inline double kernel_share(const struct kernel_run *run, double all_ns)
{
    return run->window_ns > 0 ? fmin(1, all_ns / run->window_ns) : 0;
}

static inline bool kernel_matters(const struct kernel_run *run, double all_ns, double least)
{
    return kernel_share(run, all_ns) >= fmax(least, KERNEL_LEAST_SHARE);
}

/* A saving on one device, without the time in which other work runs too. */
static inline int64_t kernel_saving(const struct kernel_run *run, double all_ns)
{
    return ta_whole(all_ns * run->exposed / run->devices);
}

/* It as text. */
static inline const char *kernel_ns(struct ta_advice *advice, const struct kernel_run *run,
                                    double all_ns)
{
    return ta_advice_number(advice, all_ns / run->devices, TA_UNIT_NS);
}

/* "205 ms (17.1 % of the run)", with "on each of 8 GPUs" between where there are several. */
static inline const char *kernel_time(struct ta_advice *advice, const struct kernel_run *run,
                                      double all_ns)
{
    return ta_advice_printf(
        advice, "%s%s (%s of the run)", kernel_ns(advice, run, all_ns),
        run->devices > 1 ? ta_advice_printf(advice, " on each of %.0f GPUs", run->devices) : "",
        ta_advice_number(advice, kernel_share(run, all_ns), TA_UNIT_RATIO));
}

/* "all", "58.4 %": the part of a time that one kernel has. */
static inline const char *kernel_part(struct ta_advice *advice, double share)
{
    return share >= 0.9995 ? "all" : ta_advice_number(advice, share, TA_UNIT_RATIO);
}

/* "1 call", "152 calls". */
static inline const char *kernel_count(struct ta_advice *advice, double n, const char *noun)
{
    return ta_advice_printf(advice, "%s %s%s", ta_advice_number(advice, n, TA_UNIT_COUNT), noun,
                            n < 1.5 ? "" : "s");
}

/* The lower end of a saving whose upper end an excellent kernel reaches: `ideal` for a good one,
 * within what such ranges can hold. */
static inline double kernel_low(double ideal, double high)
{
    return fmin(fmax(ideal, high / 3), high / 2);
}

/* ---- its devices --------------------------------------------------------------------------- */

enum { DEVICE_HARDWARE, DEVICE_CAPABILITY, DEVICE_KERNEL, DEVICE_REFS };

#define KERNEL_DEVICE_READS(first)                                                                 \
    [(first) + DEVICE_HARDWARE] = {"roofline.by_rank", "hardware"},                                \
               [(first) + DEVICE_CAPABILITY] = {"roofline.by_rank", "capability"},                 \
               [(first) + DEVICE_KERNEL] = {"kernels.by_name", "name"}

/* Of the first device that is known: what advice depends on. */
struct kernel_device {
    bool is_amd, is_nvidia;
    double capability;        /* 9.0 of Hopper, and of CDNA 2; 0: not known */
    const char *name;         /* "MI300X"; "GPU" when it is not known */
    const char *architecture; /* "Volta" when only names of kernels tell it; else NULL */
    const char *words;        /* "the MI300X"; without a name "this Hopper GPU", or "the GPU" */
};

/* NVIDIA's libraries name kernels after the oldest architecture that they run on, so the GPU
 * has at least the newest of these. */
static inline void kernel_device_by_kernels(const struct ta_refs *in, size_t cells,
                                            struct kernel_device *device)
{
    static const struct {
        const char *part, *architecture;
        double capability;
    } parts[] = {{"volta_", "Volta", 7}, {"turing_", "Turing", 7.5}, {"ampere_", "Ampere", 8},
                 {"sm80_", "Ampere", 8}, {"sm86_", "Ampere", 8.6},   {"sm89_", "Ada", 8.9},
                 {"sm90_", "Hopper", 9}, {"hopper_", "Hopper", 9},   {"sm100_", "Blackwell", 10}};
    for (size_t i = 0; i < ta_ref_rows(in, cells); i++) {
        const struct ta_slice name = ta_ref_text(in, cells, i);
        for (size_t p = 0; p < TA_LENGTH(parts); p++)
            if (parts[p].capability > device->capability &&
                memmem(name.ptr, name.len, parts[p].part, strlen(parts[p].part))) {
                device->capability = parts[p].capability;
                device->architecture = parts[p].architecture;
            }
    }
}

/* What NVIDIA calls GPUs of a capability; NULL for others. */
static inline const char *kernel_architecture(double capability)
{
    static const struct {
        double least;
        const char *name;
    } names[] = {{10, "Blackwell"}, {9, "Hopper"},   {8.9, "Ada"},
                 {8, "Ampere"},     {7.5, "Turing"}, {7, "Volta"}};
    for (size_t i = 0; i < TA_LENGTH(names); i++)
        if (capability >= names[i].least)
            return names[i].name;
    return NULL;
}

static inline struct kernel_device kernel_device_of(const struct ta_refs *in, size_t first,
                                                    struct ta_advice *advice)
{
    static const char *const makers[] = {"NVIDIA ", "AMD Instinct ", "GeForce "};
    const struct ta_run_info *run = ta_report_run(in->report);
    struct kernel_device device = {.is_amd = ta_run_is_amd(run), .name = "GPU"};
    for (size_t i = 0; i < ta_ref_rows(in, first + DEVICE_CAPABILITY); i++) {
        const double capability = ta_ref_number(in, first + DEVICE_CAPABILITY, i, 0);
        struct ta_slice name = ta_ref_text(in, first + DEVICE_HARDWARE, i);
        if (capability <= 0 && !name.len)
            continue;
        device.capability = capability;
        for (size_t m = 0; m < TA_LENGTH(makers); m++)
            if (ta_slice_starts(name, makers[m]))
                name = ta_slice_from(name, strlen(makers[m]));
        if (name.len)
            device.name = ta_advice_printf(advice, "%.*s", (int)name.len, name.ptr);
        break;
    }
    if (!device.is_amd && device.capability <= 0 && !*run->devices)
        kernel_device_by_kernels(in, first + DEVICE_KERNEL, &device);
    device.is_nvidia = !device.is_amd && (device.capability > 0 || strstr(run->devices, "NVIDIA") ||
                                          strstr(run->devices, "Tesla"));
    const bool has_name = strcmp(device.name, "GPU") != 0;
    const char *architecture = device.is_nvidia ? kernel_architecture(device.capability) : NULL;
    device.words = !has_name && architecture ? ta_advice_printf(advice, "this %s GPU", architecture)
                                             : ta_advice_printf(advice, "the %s", device.name);
    return device;
}

/* ---- VAE decoding --------------------------------------------------------------------------- */

/* What slows it down, and what of it other rules leave out because its finding says it. */

enum {
    VAE_TIME,
    VAE_DECODES,
    VAE_PASSES,
    VAE_FEW_FRAMES,
    VAE_KERNELS,
    VAE_CONV,
    VAE_WIDE,
    VAE_TF32,
    VAE_LAYOUT,
    VAE_NAIVE,
    VAE_FUSED,
    VAE_REFS
};

#define VAE_READS(first)                                                                           \
    [(first) + VAE_TIME] = {"kernels.vae_decode", "window_ns"},                                    \
               [(first) + VAE_DECODES] = {"kernels.vae_decode", "decodes"},                        \
               [(first) + VAE_PASSES] = {"kernels.vae_decode", "passes"},                          \
               [(first) + VAE_FEW_FRAMES] = {"kernels.vae_decode", "few_frames"},                  \
               [(first) + VAE_KERNELS] = {"kernels.vae_decode", "total_ns"},                       \
               [(first) + VAE_CONV] = {"kernels.vae_decode", "conv_ns"},                           \
               [(first) + VAE_WIDE] = {"kernels.vae_decode", "fp32_ns"},                           \
               [(first) + VAE_TF32] = {"kernels.vae_decode", "tf32_ns"},                           \
               [(first) + VAE_LAYOUT] = {"kernels.vae_decode", "layout_ns"},                       \
               [(first) + VAE_NAIVE] = {"kernels.vae_decode", "naive_ns"},                         \
               [(first) + VAE_FUSED] = {"kernels.vae_decode", "fused_ns"}

enum vae_cause {
    VAE_FP32,       /* convolutions of fp32 inputs */
    VAE_FALLBACK,   /* MIOpen's naive convolutions */
    VAE_TILES,      /* many passes one after the other */
    VAE_TRANSPOSED, /* transposes around convolutions */
    VAE_PLAIN,      /* nothing but its share */
    VAE_CAUSES
};

/* The share of the run from which each is said. */
#define VAE_SHARE 0.03
#define VAE_PLAIN_SHARE 0.25

/* Fewer passes are frames of a short video, or what a decoder does anyway. */
enum { VAE_LEAST_TILES = 4 };

/* Of the device that decodes longest. */
struct vae {
    double time, decodes, kernels, conv, wide, tf32, layout, naive, fused;
    double passes; /* but those over a few frames of a video */
    size_t row;    /* SIZE_MAX: none */
    enum vae_cause cause;
};

static inline enum vae_cause vae_cause_of(const struct vae *vae)
{
    if (vae->wide > 0.5 * vae->conv)
        return VAE_FP32;
    if (vae->naive > 0.2 * vae->conv)
        return VAE_FALLBACK;
    if (vae->passes >= VAE_LEAST_TILES * vae->decodes)
        return VAE_TILES;
    return vae->layout > 0.15 * vae->kernels ? VAE_TRANSPOSED : VAE_PLAIN;
}

static inline struct vae vae_find(const struct ta_refs *in, size_t first)
{
    struct vae vae = {.row = SIZE_MAX};
    for (size_t i = 0; i < ta_ref_rows(in, first + VAE_TIME); i++) {
        const double time = ta_ref_number(in, first + VAE_TIME, i, 0);
        if (time <= vae.time)
            continue;
        vae = (struct vae){.time = time,
                           .decodes = ta_ref_number(in, first + VAE_DECODES, i, 1),
                           .passes = ta_ref_number(in, first + VAE_PASSES, i, 0) -
                                     ta_ref_number(in, first + VAE_FEW_FRAMES, i, 0),
                           .kernels = ta_ref_number(in, first + VAE_KERNELS, i, 0),
                           .conv = ta_ref_number(in, first + VAE_CONV, i, 0),
                           .wide = ta_ref_number(in, first + VAE_WIDE, i, 0),
                           .tf32 = ta_ref_number(in, first + VAE_TF32, i, 0),
                           .layout = ta_ref_number(in, first + VAE_LAYOUT, i, 0),
                           .naive = ta_ref_number(in, first + VAE_NAIVE, i, 0),
                           .fused = ta_ref_number(in, first + VAE_FUSED, i, 0),
                           .row = i};
    }
    vae.cause = vae_cause_of(&vae);
    return vae;
}

static inline bool vae_is_said(const struct vae *vae, const struct kernel_run *run, double least)
{
    if (vae->cause == VAE_TRANSPOSED && !kernel_matters(run, vae->layout, 0))
        return false;
    /* Compiled already. */
    if (vae->cause == VAE_PLAIN && 2 * vae->fused > vae->kernels - vae->conv && vae->fused > 0)
        return false;
    return vae->row != SIZE_MAX && run->window_ns > 0 &&
           vae->time * run->devices >=
               fmax(least, vae->cause == VAE_PLAIN ? VAE_PLAIN_SHARE : 0) * run->window_ns;
}

/* What of a column, VAE_CONV and so on, that finding speaks of. */
static inline double vae_part(const struct ta_refs *in, size_t first, size_t column,
                              const struct kernel_run *run)
{
    const struct vae vae = vae_find(in, first);
    return vae_is_said(&vae, run, VAE_SHARE) ? ta_ref_sum(in, first + column) : 0;
}

/* ---- names --------------------------------------------------------------------------------- */

/* The row in which a column of names has this one; SIZE_MAX without. */
static inline size_t kernel_row(const struct ta_refs *in, size_t names, struct ta_slice name)
{
    for (size_t row = 0; row < ta_ref_rows(in, names); row++)
        if (ta_slice_equal(ta_ref_text(in, names, row), name))
            return row;
    return SIZE_MAX;
}

#endif
