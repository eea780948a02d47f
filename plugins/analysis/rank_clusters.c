/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.clusters: ranks that spend their time alike, and one of each kind to look at.
 *
 * A rank is a point: the shares of its window in which it computes, communicates, copies, sets
 * memory, and is idle.  Points are joined by average linkage on the sum of absolute differences
 * (UPGMA), by chains of nearest neighbors (Murtagh, Computer Journal 26, 1983), in O(n²).  Beyond
 * POINTS_MOST ranks those that are equal after rounding are one point with their number. */
#include <traceanalyze/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUT };

static const struct ta_option options[] = {
    [CUT] = {"cut", TA_OPTION_NUMBER, 0.1, 0, 2, TA_OPTION_PLAIN,
             "Mean distance up to which ranks count as similar: sum of the differences of their "
             "time shares"},
    TA_OPTIONS_END,
};

/* Times of devices: the shares of a window are those from FIRST_SHARE on. */
enum {
    GPU_RANK,
    GPU_DEVICE,
    GPU_WINDOW,
    GPU_COMPUTE,
    GPU_COMM,
    GPU_MEMCPY,
    GPU_MEMSET,
    GPU_IDLE,
    FIRST_SHARE = GPU_COMPUTE
};
static const struct ta_ref reads[] = {
    [GPU_RANK] = {"gpu_time.by_rank", "rank"},
    [GPU_DEVICE] = {"gpu_time.by_rank", "device"},
    [GPU_WINDOW] = {"gpu_time.by_rank", "window_ns"},
    [GPU_COMPUTE] = {"gpu_time.by_rank", "compute_ns"},
    [GPU_COMM] = {"gpu_time.by_rank", "comm_ns"},
    [GPU_MEMCPY] = {"gpu_time.by_rank", "memcpy_ns"},
    [GPU_MEMSET] = {"gpu_time.by_rank", "memset_ns"},
    [GPU_IDLE] = {"gpu_time.by_rank", "idle_ns"},
};

enum { SHARES = TA_LENGTH(reads) - FIRST_SHARE, POINTS_MOST = 1024, LIST_MOST = 160 };

struct device {
    int64_t rank, device;
    double at[SHARES];
    uint32_t point, cluster;
};

struct points {
    double (*at)[SHARES];
    double *weight;
    uint32_t *cluster; /* a point of the same cluster; itself at first */
    double *distance;  /* n × n */
    bool *gone;
    size_t n;
};

/* ---- reading ------------------------------------------------------------------------------- */

static size_t read_devices(const struct ta_refs *in, struct device *devices)
{
    size_t n = 0;
    for (size_t row = 0; row < ta_ref_rows(in, GPU_RANK); row++) {
        const double window = ta_ref_number(in, GPU_WINDOW, row, 0);
        if (window <= 0)
            continue;
        struct device *d = &devices[n++];
        d->rank = ta_whole(ta_ref_number(in, GPU_RANK, row, -1));
        d->device = ta_whole(ta_ref_number(in, GPU_DEVICE, row, -1));
        for (size_t i = 0; i < SHARES; i++)
            d->at[i] = ta_ref_number(in, FIRST_SHARE + i, row, 0) / window;
    }
    return n;
}

static int by_shares(const void *left, const void *right, void *user)
{
    const struct device *devices = user;
    const double *a = devices[*(const uint32_t *)left].at,
                 *b = devices[*(const uint32_t *)right].at;
    for (int i = 0; i < SHARES; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Rounds the shares to multiples of `grid` where it is not 0, and numbers those that are equal.
 * Returns how many there are. */
static size_t number_points(struct device *devices, uint32_t *order, size_t n, double grid)
{
    size_t points = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        for (int s = 0; s < SHARES && grid > 0; s++)
            devices[i].at[s] = round(devices[i].at[s] / grid) * grid;
    }
    qsort_r(order, n, sizeof *order, by_shares, devices);
    for (size_t i = 0; i < n; i++) {
        points += i == 0 || by_shares(&order[i - 1], &order[i], devices) != 0;
        devices[order[i]].point = (uint32_t)points - 1;
    }
    return points;
}

/* ---- average linkage ----------------------------------------------------------------------- */

static double between(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < SHARES; i++)
        sum += fabs(a[i] - b[i]);
    return sum;
}

static bool make_points(struct points *p, const struct device *devices, size_t n_devices, size_t n)
{
    p->n = n;
    p->at = calloc(n, sizeof *p->at);
    p->weight = calloc(n, sizeof *p->weight);
    p->cluster = calloc(n, sizeof *p->cluster);
    p->gone = calloc(n, sizeof *p->gone);
    p->distance = calloc(n * n, sizeof *p->distance);
    if (!p->at || !p->weight || !p->cluster || !p->gone || !p->distance)
        return false;
    for (size_t i = 0; i < n_devices; i++) {
        memcpy(p->at[devices[i].point], devices[i].at, sizeof *p->at);
        p->weight[devices[i].point]++;
    }
    for (size_t i = 0; i < n; i++) {
        p->cluster[i] = (uint32_t)i;
        for (size_t j = 0; j < n; j++)
            p->distance[i * n + j] = between(p->at[i], p->at[j]);
    }
    return true;
}

static uint32_t root_of(struct points *p, uint32_t point)
{
    while (p->cluster[point] != point)
        point = p->cluster[point] = p->cluster[p->cluster[point]];
    return point;
}

/* Follows nearest neighbors until two are each other's nearest, and joins these. */
static bool link_points(struct points *p, double cut)
{
    size_t *chain = calloc(p->n + 1, sizeof *chain);
    size_t n = 0, left = p->n;
    while (chain && left > 1) {
        if (n == 0)
            while (p->gone[chain[0]])
                chain[0]++;
        n = n ? n : 1;
        const size_t last = chain[n - 1], before = n > 1 ? chain[n - 2] : SIZE_MAX;
        /* The nearest that is left, `before` when it is as near. */
        size_t next = before;
        for (size_t i = 0; i < p->n; i++)
            if (i != last && !p->gone[i] &&
                (next == SIZE_MAX ||
                 p->distance[last * p->n + i] < p->distance[last * p->n + next]))
                next = i;
        if (next != before) {
            chain[n++] = next;
            continue;
        }
        /* `b` becomes part of `a`; they are of one cluster when they are near enough. */
        const size_t a = last < before ? last : before;
        const size_t b = last < before ? before : last;
        if (p->distance[a * p->n + b] <= cut)
            p->cluster[root_of(p, (uint32_t)b)] = root_of(p, (uint32_t)a);
        const double both = p->weight[a] + p->weight[b];
        for (size_t i = 0; i < p->n; i++) {
            const double d = (p->weight[a] * p->distance[a * p->n + i] +
                              p->weight[b] * p->distance[b * p->n + i]) /
                             both;
            p->distance[a * p->n + i] = p->distance[i * p->n + a] = d;
        }
        p->weight[a] = both;
        p->gone[b] = true;
        left--;
        n -= 2;
        if (n == 0)
            chain[0] = 0;
    }
    free(chain);
    return chain != NULL;
}

/* ---- clusters ------------------------------------------------------------------------------ */

/* Numbers clusters in the order of their first rank. */
static uint32_t number_clusters(struct points *p, struct device *devices, size_t n,
                                uint32_t *numbers)
{
    uint32_t found = 0;
    for (size_t i = 0; i < p->n; i++)
        numbers[i] = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint32_t root = root_of(p, devices[i].point);
        if (numbers[root] == UINT32_MAX)
            numbers[root] = found++;
        devices[i].cluster = numbers[root];
    }
    return found;
}

/* "0–3, 7", cut where it is long. */
static void list_ranks(const struct device *devices, size_t n, uint32_t cluster,
                       char text[LIST_MOST])
{
    size_t used = 0;
    for (size_t i = 0, to; i < n; i = to) {
        to = i + 1;
        if (devices[i].cluster != cluster)
            continue;
        while (to < n && devices[to].cluster == cluster)
            to++;
        char piece[64];
        const long long first = devices[i].rank, last = devices[to - 1].rank;
        const int length =
            last > first
                ? snprintf(piece, sizeof piece, "%s%lld–%lld", used ? ", " : "", first, last)
                : snprintf(piece, sizeof piece, "%s%lld", used ? ", " : "", first);
        if (used + (size_t)length + 6 > LIST_MOST) {
            memcpy(text + used, ", …", sizeof ", …");
            return;
        }
        memcpy(text + used, piece, (size_t)length + 1);
        used += (size_t)length;
    }
}

enum {
    CLUSTER,
    DEVICES,
    RANK,
    RANKS,
    COMPUTE_SHARE,
    COMM_SHARE,
    MEMCPY_SHARE,
    MEMSET_SHARE,
    IDLE_SHARE
};
static const struct ta_column clusters_columns[] = {
    [CLUSTER] = {"cluster", "Cluster", TA_INTEGER,
                 .doc = "Number of the group, in the order of their first ranks"},
    [DEVICES] = {"devices", "Devices", TA_COUNT, .doc = "Devices of ranks in the group"},
    [RANK] = {"rank", "Typical rank", TA_INTEGER,
              .doc = "Rank closest to all others of the group: look at this one first"},
    [RANKS] = {"ranks", "Ranks", TA_TEXT, .doc = "Ranks in the group"},
    [COMPUTE_SHARE] = {"compute_share", "Compute", TA_RATIO, .better = TA_HIGHER,
                       .doc = "Compute time divided by the window, mean of the group"},
    [COMM_SHARE] = {"comm_share", "Comm", TA_RATIO,
                    .doc = "Communication time divided by the window, mean of the group"},
    [MEMCPY_SHARE] = {"memcpy_share", "Copies", TA_RATIO,
                      .doc = "Copy time divided by the window, mean of the group"},
    [MEMSET_SHARE] = {"memset_share", "Memset", TA_RATIO,
                      .doc = "Memory-set time divided by the window, mean of the group"},
    [IDLE_SHARE] = {"idle_share", "Idle", TA_RATIO, .better = TA_LOWER,
                    .doc = "Idle time divided by the window, mean of the group"},
};

static const struct ta_table_def clusters = {
    "ranks.clusters",
    "Groups of similar ranks",
    TA_COLUMNS(clusters_columns),
    .tier = TA_TIER_DETAIL,
    .doc = "One row per group of devices that spend their windows similarly: average linkage on "
           "the sum of absolute differences of the shares, joined up to `rank_clusters.cut` (0.1). "
           "One group is usual.",
    .not_of_ranks = true,
    .joining = TA_JOIN_NOT};

static void add_cluster(const struct device *devices, size_t n, uint32_t cluster,
                        struct ta_section_builder *out)
{
    double sum[SHARES] = {0};
    int64_t members = 0;
    char text[LIST_MOST] = "";
    for (size_t i = 0; i < n; i++)
        if (devices[i].cluster == cluster) {
            members++;
            for (int s = 0; s < SHARES; s++)
                sum[s] += devices[i].at[s];
        }
    for (int s = 0; s < SHARES; s++)
        sum[s] /= (double)members;
    list_ranks(devices, n, cluster, text);
    /* The member with the least distance to all of its cluster, the first of equals. */
    const struct device *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (size_t j = 0; j < n && devices[i].cluster == cluster && total < least; j++)
            if (devices[j].cluster == cluster)
                total += between(devices[i].at, devices[j].at);
        if (devices[i].cluster == cluster && total < least) {
            best = &devices[i];
            least = total;
        }
    }
    TA_ROW(out, clusters, [CLUSTER] = ta_int(cluster), [DEVICES] = ta_int(members),
           [RANK] = ta_int(best->rank), [RANKS] = ta_text(ta_slice_of(text)),
           [COMPUTE_SHARE] = ta_num(sum[0]), [COMM_SHARE] = ta_num(sum[1]),
           [MEMCPY_SHARE] = ta_num(sum[2]), [MEMSET_SHARE] = ta_num(sum[3]),
           [IDLE_SHARE] = ta_num(sum[4]));
}

static bool cluster(struct device *devices, size_t n, double cut, struct ta_section_builder *out)
{
    struct points p = {0};
    uint32_t *order = calloc(n, sizeof *order);
    size_t points = order ? number_points(devices, order, n, 0) : 0;
    for (double grid = 1e-3; points > POINTS_MOST; grid *= 2)
        points = number_points(devices, order, n, grid);
    const bool done = order && make_points(&p, devices, n, points) && link_points(&p, cut);
    const uint32_t found = done ? number_clusters(&p, devices, n, order) : 0;
    for (uint32_t i = 0; i < found; i++)
        add_cluster(devices, n, i, out);
    free(order);
    free(p.at);
    free(p.weight);
    free(p.cluster);
    free(p.gone);
    free(p.distance);
    return done;
}

static enum ta_status finish(struct ta_ctx *ctx, const struct ta_partial *const *merged,
                             const struct ta_refs *in, struct ta_section_builder *out)
{
    (void)merged;
    if (ta_ref_rows(in, GPU_RANK) < 2)
        return TA_OK;
    struct device *devices = calloc(ta_ref_rows(in, GPU_RANK), sizeof *devices);
    const size_t n = devices ? read_devices(in, devices) : 0;
    const bool done = devices && (n < 2 || cluster(devices, n, ta_ctx_option(ctx, CUT), out));
    free(devices);
    return done ? TA_OK : ta_fail(ctx, TA_ERR_NOMEM, "Cannot hold the distances of ranks");
}

static const struct ta_table_def *const tables[] = {&clusters, NULL};

static const struct ta_analysis_ops ops = {
    .section = "ranks", .finish = finish, .of_tables = true, .tables = tables, TA_READS(reads)};

TA_PLUGIN(
    analysis, rank_clusters, &ops, .title = "Rank clusters",
    .summary =
        "Groups of ranks that spend their time alike, and a typical rank of each: ranks.clusters",
    .version = "1", .options = options);
