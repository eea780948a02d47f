/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Otsu's threshold on logarithms. */
#include "stat/numbers.h"

struct side {
    long double mean, variance; /* of the logarithms, divisor n */
};

static struct side describe(const double *sorted, size_t n)
{
    struct side s = {0};
    for (size_t i = 0; i < n; i++)
        s.mean += logl((long double)sorted[i]) / (long double)n;
    for (size_t i = 0; i < n && sorted[0] != sorted[n - 1]; i++) {
        const long double from_mean = logl((long double)sorted[i]) - s.mean;
        s.variance += from_mean * from_mean / (long double)n;
    }
    return s;
}

static void judge(const double *sorted, size_t n, size_t cut, struct ta_classes *out)
{
    const struct side low = describe(sorted, cut), high = describe(sorted + cut, n - cut);
    const long double spread = sqrtl((low.variance + high.variance) / 2);
    out->n_low = cut;
    out->mean_low = (double)expl(low.mean);
    out->mean_high = (double)expl(high.mean);
    out->threshold = sqrt(sorted[cut - 1]) * sqrt(sorted[cut]);
    out->separation = spread > 0 ? (double)((high.mean - low.mean) / spread) : (double)INFINITY;
    out->valid = out->separation > 2 && cut >= 2 && n - cut >= 2;
}

void ta_two_classes(const double *sorted, size_t n, struct ta_classes *out)
{
    *out = (struct ta_classes){TA_NAN, TA_NAN, TA_NAN, 0, TA_NAN, false};
    if (n < 2 || !ta_all_positive(sorted, n) || sorted[0] == sorted[n - 1])
        return;
    const long double center = describe(sorted, n).mean;
    /* With deviations from the overall mean both sums are equal but for the sign, and the variance
     * between the classes is sum²/(n_low · n_high). */
    long double sum = 0, best = -1;
    size_t cut = 0;
    for (size_t i = 1; i < n; i++) {
        sum += logl((long double)sorted[i - 1]) - center;
        const long double between = sum * sum / ((long double)i * (long double)(n - i));
        if (sorted[i] != sorted[i - 1] && between > best) {
            best = between;
            cut = i;
        }
    }
    judge(sorted, n, cut, out);
}

#define SHORTENED_MOST 0.8
#define FULL_LEAST 0.1

double ta_shortened_below(const double *sorted, size_t n)
{
    struct ta_classes classes;
    ta_two_classes(sorted, n, &classes);
    const bool are_two = classes.valid && classes.mean_low < SHORTENED_MOST * classes.mean_high &&
                         (double)(n - classes.n_low) >= FULL_LEAST * (double)n;
    return are_two ? classes.threshold : TA_NAN;
}
