/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host that waits for its disks, or swaps. */
#include <traceanalyze/rule.h>

#include <math.h>

enum { DISK, SWAP };

static const struct ta_option options[] = {
    [DISK] = {"disk", TA_OPTION_NUMBER, 0.2, 0, 1, TA_OPTION_RATIO,
              "Share of the samples in which the host waits for a disk above which the rule fires"},
    [SWAP] = {"swap", TA_OPTION_NUMBER, 0.1, 0, 1, TA_OPTION_RATIO,
              "Share of the samples in which the host swaps above which the rule fires"},
    TA_OPTIONS_END,
};

enum { WHAT, PART, READ, WRITTEN, TIME };

static const struct ta_ref reads[] = {
    [WHAT] = {"telemetry.disks", "what"},      [PART] = {"telemetry.disks", "share"},
    [READ] = {"telemetry.disks", "read_rate"}, [WRITTEN] = {"telemetry.disks", "write_rate"},
    [TIME] = {"telemetry.disks", "time_ns"},
};

/* "64 % of the samples (48.0 s)" */
static const char *how_much(const struct ta_refs *in, struct ta_advice *advice,
                            const struct ta_place *part)
{
    const double time = ta_ref_number(in, TIME, part->row, 0);
    return ta_advice_printf(
        advice, "%s of the samples%s", ta_advice_number(advice, part->value, TA_UNIT_RATIO),
        time > 0 ? ta_advice_printf(advice, " (%s)", ta_advice_number(advice, time, TA_UNIT_NS))
                 : "");
}

static void advise_swap(const struct ta_refs *in, struct ta_advice *advice,
                        const struct ta_place *part, double least)
{
    const double read = ta_ref_number(in, READ, part->row, 0);
    const double written = ta_ref_number(in, WRITTEN, part->row, 0);
    const double time = ta_ref_number(in, TIME, part->row, 0);
    const struct ta_evidence evidence[] = {ta_place_evidence(part),
                                           ta_ref_evidence(in, READ, part->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "swapping",
            .rule = "disk_bound",
            .title = ta_advice_printf(advice, "Host memory is full and the host swaps in %s%s",
                                      how_much(in, advice, part),
                                      ta_place_owner(advice, in->report, part)),
            .why = ta_advice_printf(
                advice, "Meanwhile %s are read from swap space and %s written to it.",
                ta_advice_number(advice, read, TA_UNIT_BYTES_PER_S),
                ta_advice_number(advice, isnan(written) ? 0 : written, TA_UNIT_BYTES_PER_S)),
            .advice =
                "Use less host memory: keep one copy of the weights (safetensors with mmap, "
                "low_cpu_mem_usage=True), offload less of the model, use fewer loader workers.",
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = time > 0 ? 0 : TA_MISSING,
            .saving_high_ns = time > 0 ? ta_whole(time) : TA_MISSING,
            .confidence = 0.7,
            .threshold = ta_advice_printf(advice, "share of the samples that swap > %s",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
}

static void advise_disk(const struct ta_refs *in, struct ta_advice *advice,
                        const struct ta_place *part, double least)
{
    const double time = ta_ref_number(in, TIME, part->row, 0);
    const struct ta_evidence evidence[] = {ta_place_evidence(part),
                                           ta_ref_evidence(in, READ, part->row)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "disk-bound",
            .rule = "disk_bound",
            .title =
                ta_advice_printf(advice, "The host waits for the disk in %s: it delivers %s%s",
                                 how_much(in, advice, part),
                                 ta_advice_number(advice, ta_ref_number(in, READ, part->row, 0),
                                                  TA_UNIT_BYTES_PER_S),
                                 ta_place_owner(advice, in->report, part)),
            .advice = "Load the model once and keep the process for all runs, or keep its files on "
                      "a local NVMe disk or in host memory.",
            .details = "A local NVMe disk reads 3 GB/s to 7 GB/s, a SATA disk 0.5 GB/s, a network "
                       "drive often less.",
            .severity = TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = 2,
            .saving_low_ns = time > 0 ? 0 : TA_MISSING,
            .saving_high_ns = time > 0 ? ta_whole(time) : TA_MISSING,
            .confidence = 0.5,
            .threshold = ta_advice_printf(advice, "share of the samples that wait > %s",
                                          ta_advice_number(advice, least, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    static const struct ta_look disks = {.cells = PART, .where = {{WHAT, "disk"}}};
    static const struct ta_look swaps = {.cells = PART, .where = {{WHAT, "swap"}}};
    const double disk = ta_ctx_option(ctx, DISK), swap = ta_ctx_option(ctx, SWAP);
    struct ta_place part;
    if (ta_look_worst(in, &swaps, &part) && part.value > swap)
        advise_swap(in, advice, &part, swap); /* and why disks are busy */
    else if (ta_look_worst(in, &disks, &part) && part.value > disk)
        advise_disk(in, advice, &part, disk);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, disk_bound, &ops, .title = "Disks and swap",
          .summary = "Fires when the host waits for its disks much of the time, or swaps",
          .version = "1", .options = options);
