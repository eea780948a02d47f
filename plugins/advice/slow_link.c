/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links that deliver less than they could: collectives far below what the link between the devices
 * can do, and a process group that moves less per second than its peers. */
#include "recommend/rule.h"

#include <traceanalyze/rule.h>

enum { SHARE, RATIO, HIGH };

static const struct ta_option options[] = {
    [SHARE] = {"share", TA_OPTION_NUMBER, 0.03, 0, 1, TA_OPTION_RATIO,
               "Exposed time of collectives that are far below their link, over the run, above "
               "which the rule fires"},
    [RATIO] = {"ratio", TA_OPTION_NUMBER, 0.8, 0, 1, TA_OPTION_RATIO,
               "Bus bandwidth over the median of the peers, below which the rule fires"},
    [HIGH] = {"high", TA_OPTION_NUMBER, 0.5, 0, 1, TA_OPTION_RATIO,
              "The same below which it is severe"},
    TA_OPTIONS_END,
};

enum {
    GROUP,
    RANKS,
    OP,
    PEERS,
    BANDWIDTH,
    MEDIAN,
    BANDWIDTH_RATIO,
    Z,
    LOSS,
    USE_OP,
    USE_SIZE,
    USE_BYTES,
    USE_COUNT,
    USE_BASIS,
    USE_FASTEST,
    USE_BUS,
    USE_LINK,
    USE_LINK_RATE,
    USE_EXPOSED,
    USE_LIMIT,
    USE_LOW,
    USE_HIGH,
    WINDOW,
    COMM_EXPOSED
};

static const struct ta_ref reads[] = {
    [GROUP] = {"collectives.links", "group"},
    [RANKS] = {"collectives.links", "ranks"},
    [OP] = {"collectives.links", "op"},
    [PEERS] = {"collectives.links", "peers"},
    [BANDWIDTH] = {"collectives.links", "bus_bandwidth"},
    [MEDIAN] = {"collectives.links", "median"},
    [BANDWIDTH_RATIO] = {"collectives.links", "ratio"},
    [Z] = {"collectives.links", "z"},
    [LOSS] = {"collectives.links", "loss_ns"},
    [USE_OP] = {"collectives.link_use", "op"},
    [USE_SIZE] = {"collectives.link_use", "size"},
    [USE_BYTES] = {"collectives.link_use", "bytes"},
    [USE_COUNT] = {"collectives.link_use", "count"},
    [USE_BASIS] = {"collectives.link_use", "basis"},
    [USE_FASTEST] = {"collectives.link_use", "fastest_ns"},
    [USE_BUS] = {"collectives.link_use", "bus_bandwidth"},
    [USE_LINK] = {"collectives.link_use", "link"},
    [USE_LINK_RATE] = {"collectives.link_use", "link_bandwidth"},
    [USE_EXPOSED] = {"collectives.link_use", "exposed_ns"},
    [USE_LIMIT] = {"collectives.link_use", "limit"},
    [USE_LOW] = {"collectives.link_use", "loss_low_ns"},
    [USE_HIGH] = {"collectives.link_use", "loss_high_ns"},
    [WINDOW] = {"gpu_time.program", "window_ns"},
    [COMM_EXPOSED] = {"gpu_time.by_rank", "comm_exposed_ns"},
};

static double longest_run(const struct ta_refs *in)
{
    static const struct ta_look windows = {.cells = WINDOW};
    return ta_look_most(in, &windows, TA_MISSING);
}

/* ---- far below the link --------------------------------------------------------------------- */

/* What a bandwidth fits, what the finding says of it, and where to look; on NVIDIA, on AMD. */
static const struct limit {
    const char *name;
    const char *begins; /* the title: "P2P looks disabled: all_to_all moves …" */
    const char *fits;
    const char *advice, *advice_amd;
} limits[] = {
    {"host_memory", "P2P between the GPUs looks disabled",
     "A rate below a third of PCIe is usual where each message is copied through host memory "
     "(transport SHM, or NET on one node)",
     "Run once with `NCCL_DEBUG=INFO` and look for `via SHM` or `via NET` instead of `via P2P`; "
     "then "
     "unset `NCCL_P2P_DISABLE` and `NCCL_P2P_LEVEL`, and check `nvidia-smi topo -m` and "
     "`topo -p2p r`.",
     "Run once with `NCCL_DEBUG=INFO` and look for `via SHM` or `via NET` instead of `via P2P`; "
     "then "
     "unset `NCCL_P2P_DISABLE`, and check `rocm-smi --showtopo` and that all GPUs are visible to "
     "each process."},
    {"pcie", "The data goes over PCIe", "PCIe could carry this rate",
     "Run once with `NCCL_DEBUG=INFO` to see the path, and check `nvidia-smi nvlink -s` and "
     "`NCCL_P2P_LEVEL`: the ranks should use GPUs that NVLink joins.",
     "Run once with `NCCL_DEBUG=INFO` to see the path, and check `rocm-smi --showtopo`: the ranks "
     "should use GPUs that xGMI joins."},
    {"protocol", "A slow protocol or too few channels",
     "The link is in use, but a large message should reach most of it",
     "Unset `NCCL_PROTO`, `NCCL_ALGO`, `NCCL_MAX_NCHANNELS` and `NCCL_MAX_CTAS`: "
     "`NCCL_DEBUG=INFO` with `NCCL_DEBUG_SUBSYS=TUNING` names what each call uses.",
     "Unset `NCCL_PROTO`, `NCCL_ALGO`, `NCCL_MAX_NCHANNELS`: `NCCL_DEBUG=INFO` with "
     "`NCCL_DEBUG_SUBSYS=TUNING` names what each call uses."},
    {"network", "The network between the nodes is slow",
     "TCP over one adapter reaches this rate, InfiniBand and RoCE several times it",
     "Run once with `NCCL_DEBUG=INFO` and look for `NET/Socket`: then check `NCCL_IB_DISABLE`, "
     "`NCCL_SOCKET_IFNAME` and `NCCL_IB_HCA`, and keep tensor and sequence parallel groups "
     "within a node.",
     NULL},
};

static const struct limit *limit_of(const struct ta_refs *in, size_t row)
{
    for (size_t i = 0; i < TA_LENGTH(limits); i++)
        if (ta_ref_reads(in, USE_LIMIT, row, limits[i].name))
            return &limits[i];
    return NULL;
}

/* What all messages with the limit of a row take. */
struct sums {
    double exposed, low, high;
};

static struct sums sums_of(const struct ta_refs *in, const struct limit *limit)
{
    struct sums sums = {0};
    for (size_t row = 0; row < ta_ref_rows(in, USE_OP); row++) {
        if (limit_of(in, row) != limit)
            continue;
        sums.exposed += ta_ref_number(in, USE_EXPOSED, row, 0);
        sums.low += ta_ref_number(in, USE_LOW, row, 0);
        sums.high += ta_ref_number(in, USE_HIGH, row, 0);
    }
    return sums;
}

/* The limit that costs most. */
static const struct limit *costliest(const struct ta_refs *in)
{
    const struct limit *worst = NULL;
    for (size_t i = 0; i < TA_LENGTH(limits); i++) {
        const double exposed = sums_of(in, &limits[i]).exposed;
        if (exposed > (worst ? sums_of(in, worst).exposed : 0))
            worst = &limits[i];
    }
    return worst;
}

/* Of its messages the row with most exposed time. */
static struct ta_place longest_row(const struct ta_refs *in, const struct limit *limit)
{
    struct ta_place most = {0};
    for (size_t row = 0; row < ta_ref_rows(in, USE_OP); row++) {
        const struct ta_place exposed = ta_place_at(in, USE_EXPOSED, row);
        if (limit_of(in, row) == limit && exposed.table &&
            (!most.table || exposed.value > most.value))
            most = exposed;
    }
    return most;
}

/* A rank alone: its other collectives, for which exposed_comm.c has no cause of its own. */
static const char *others_of(const struct ta_refs *in, struct ta_advice *advice, double said,
                             double run)
{
    static const struct ta_look exposed = {.cells = COMM_EXPOSED};
    static const double least = 0.03; /* of the run */
    const double rest = ta_look_most(in, &exposed, TA_MISSING) - said;
    return rest > least * run
               ? ta_advice_printf(advice, "Other collectives are exposed for %s of the run (%s). ",
                                  ta_advice_number(advice, rest / run, TA_UNIT_RATIO),
                                  ta_advice_number(advice, rest, TA_UNIT_NS))
               : "";
}

/* Of so few calls of one rank that a slow link and late ranks look alike. */
static const char *unsure_title(struct ta_advice *advice, const char *op, const char *rate,
                                const char *could, const char *share)
{
    return ta_advice_printf(advice,
                            "The GPU waits for a slow link or for late ranks: %s moves only %s%s, "
                            "and is exposed for %s",
                            op, rate, could, share);
}

static void advise_link(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, SHARE), run = longest_run(in);
    const struct limit *limit = costliest(in);
    const struct sums sums = limit ? sums_of(in, limit) : (struct sums){0};
    if (run <= 0 || sums.exposed / run <= threshold)
        return;
    const struct ta_place exposed = longest_row(in, limit);
    const struct ta_place bus = ta_place_beside(in, &exposed, USE_BUS);
    const struct ta_place fastest = ta_place_beside(in, &exposed, USE_FASTEST);
    const struct ta_place rate = ta_place_beside(in, &exposed, USE_LINK_RATE);
    const char *link = ta_place_text(advice, in, &exposed, USE_LINK);
    const bool is_alone = ta_ref_reads(in, USE_BASIS, exposed.row, "duration");
    static const double few = 8; /* calls of one rank: not enough to name a cause */
    const bool is_sure = !is_alone || ta_place_beside(in, &exposed, USE_COUNT).value >= few;
    const bool is_amd = ta_slice_equal(ta_slice_of(link), TA_LIT("Infinity Fabric"));
    const char *could =
        rate.table ? ta_advice_printf(advice, " where %s can move %s", link,
                                      ta_advice_number(advice, rate.value, TA_UNIT_BYTES_PER_S))
                   : "";
    const char *op = ta_place_text(advice, in, &exposed, USE_OP);
    const char *moved = ta_advice_number(advice, bus.value, TA_UNIT_BYTES_PER_S);
    const char *share = ta_advice_printf(
        advice, "%s of the run (%s)", ta_advice_number(advice, sums.exposed / run, TA_UNIT_RATIO),
        ta_advice_number(advice, sums.exposed, TA_UNIT_NS));
    const char *what_to_do = is_amd && limit->advice_amd ? limit->advice_amd : limit->advice;
    const struct ta_evidence evidence[] = {ta_place_evidence(&exposed), ta_place_evidence(&bus),
                                           ta_place_evidence(&fastest)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "link-bandwidth",
            .rule = "slow_link",
            .title = is_sure ? ta_advice_printf(advice, "%s: %s moves %s%s, and is exposed for %s",
                                                limit->begins, op, moved, could, share)
                             : unsure_title(advice, op, moved, could, share),
            .why = ta_advice_printf(
                advice, "%s%s; each %s message of %.0f ranks takes %s.", limit->fits,
                is_sure ? "" : ", but few calls of one rank do not tell why",
                ta_advice_number(advice, ta_place_beside(in, &exposed, USE_BYTES).value,
                                 TA_UNIT_BYTES),
                ta_place_beside(in, &exposed, USE_SIZE).value,
                ta_advice_number(advice, fastest.value, TA_UNIT_NS)),
            .advice = is_sure ? what_to_do
                              : ta_advice_printf(advice,
                                                 "Read the traces of the other ranks as well: "
                                                 "they show who comes late. %s",
                                                 what_to_do),
            .details = ta_advice_printf(
                advice,
                "%s%sBandwidth counts the busiest link, as nccl-tests do, in the fastest "
                "tenth of the calls. LL in the name of an NCCL kernel is no evidence of the "
                "protocol: all protocols run in kernels of that name.",
                is_alone ? others_of(in, advice, sums.exposed, run) : "",
                !is_sure ? ""
                : is_alone
                    ? "Without the traces of the other ranks a wait for a partner cannot be told "
                      "from transfer; nearly all calls take equally long, which suggests transfer. "
                    : ""),
            .severity = TA_HIGH,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = sums.high > 0 ? is_sure ? ta_whole(sums.low) : 0 : TA_MISSING,
            .saving_high_ns = sums.high > 0 ? ta_whole(sums.high) : TA_MISSING,
            .confidence = !is_sure   ? 0.5
                          : is_alone ? 0.7
                                     : 0.9,
            .threshold = ta_advice_printf(
                advice, "exposed time of collectives far below their link > %s of the run",
                ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

/* ---- below the peers ------------------------------------------------------------------------ */

static const double SLOW_Z = -3.5;

/* The slowest group whose bandwidth is outside the spread of its peers, too. */
static struct ta_place slowest_group(const struct ta_refs *in)
{
    struct ta_place slow = {0};
    for (size_t row = 0; row < ta_ref_rows(in, BANDWIDTH_RATIO); row++) {
        const struct ta_place ratio = ta_place_at(in, BANDWIDTH_RATIO, row);
        if (ratio.table && ta_ref_number(in, Z, row, 0) < SLOW_Z &&
            (!slow.table || ratio.value < slow.value))
            slow = ratio;
    }
    return slow;
}

#define LOSS_LEAST 0.01 /* of the run */

static void advise_group(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    const double threshold = ta_ctx_option(ctx, RATIO), run = longest_run(in);
    const struct ta_place slow = slowest_group(in);
    if (!slow.table || slow.value >= threshold)
        return;
    const struct ta_place bus = ta_place_beside(in, &slow, BANDWIDTH);
    const struct ta_place median = ta_place_beside(in, &slow, MEDIAN);
    const struct ta_place loss = ta_place_beside(in, &slow, LOSS);
    if (run > 0 && loss.value / run < LOSS_LEAST)
        return;
    const struct ta_evidence evidence[] = {ta_place_evidence(&slow), ta_place_evidence(&bus),
                                           ta_place_evidence(&median), ta_place_evidence(&loss)};
    ta_advise(
        advice,
        &(struct ta_finding){
            .id = "slow-link",
            .rule = "slow_link",
            .title = ta_advice_printf(
                advice, "The link of ranks %s is slow: %s moves %s, %s of what its peers reach%s",
                ta_place_text(advice, in, &slow, RANKS), ta_place_text(advice, in, &slow, OP),
                ta_advice_number(advice, bus.value, TA_UNIT_BYTES_PER_S),
                ta_advice_number(advice, slow.value, TA_UNIT_RATIO),
                run > 0
                    ? ta_advice_printf(advice, ", and loses %s of the run (%s)",
                                       ta_advice_number(advice, loss.value / run, TA_UNIT_RATIO),
                                       ta_advice_number(advice, loss.value, TA_UNIT_NS))
                    : ""),
            .why = ta_advice_printf(
                advice,
                "Waiting for late ranks is not in this figure; the median of the %.0f "
                "groups that do the same is %s.",
                ta_place_beside(in, &slow, PEERS).value,
                ta_advice_number(advice, median.value, TA_UNIT_BYTES_PER_S)),
            .advice =
                "Look for a link with errors or at a lower rate (`nvidia-smi nvlink -s`, "
                "`ibstat`, counters of the switch), and for a rank on another node or socket.",
            .severity = slow.value < ta_ctx_option(ctx, HIGH) ? TA_HIGH : TA_MEDIUM,
            .evidence = evidence,
            .n_evidence = TA_LENGTH(evidence),
            .saving_low_ns = ta_whole(loss.value / 3), /* where other work covers a part */
            .saving_high_ns = ta_whole(loss.value),
            .confidence = 0.7,
            .threshold =
                ta_advice_printf(advice,
                                 "bus bandwidth < %s of the median of at least five peers, "
                                 "and modified z of its logarithm < -3.5",
                                 ta_advice_number(advice, threshold, TA_UNIT_RATIO)),
        });
}

static enum ta_status advise(struct ta_ctx *ctx, const struct ta_refs *in, struct ta_advice *advice)
{
    advise_link(ctx, in, advice);
    advise_group(ctx, in, advice);
    return TA_OK;
}

static const struct ta_advice_ops ops = {.advise = advise, TA_READS(reads)};

TA_PLUGIN(advice, slow_link, &ops, .title = "Slow link",
          .summary = "Fires when collectives are far below what their link can do, or one group is "
                     "below its peers",
          .version = "2", .options = options);
