/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"

#include "stat/random.h"
#include "stat/resample.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 1000, DRAWN_MOST = 2000, SIZES_LEAST = 3 };

#define CONFIDENCE 0.95

/* ---- one fit --------------------------------------------------------------------------------- */

/* What is drawn from a list: every so many of a long one. */
struct draw {
    const struct measured *list;
    size_t n, stride;
};

static struct draw draw_from(const struct measured *list)
{
    const size_t stride = 1 + list->n / DRAWN_MOST;
    return (struct draw){list, list->n ? (list->n - 1) / stride + 1 : 0, stride};
}

static size_t drawn(const struct draw *draw, struct ta_random *random, size_t i)
{
    return (random ? ta_random_below(random, draw->n) : i) * draw->stride;
}

/* Sums over samples, of which a line or a mean is made. */
struct sums {
    double n, x, y, xx, xy, full, n_full, cached, n_cached;
};

static struct sums draw_sums(const struct draw *draw, struct ta_random *random)
{
    struct sums s = {0};
    for (size_t i = 0; i < draw->n; i++) {
        const size_t at = drawn(draw, random, i);
        const double x = draw->list->size[at], y = draw->list->ns[at];
        s.n++;
        s.x += x;
        s.y += y;
        s.xx += x * x;
        s.xy += x * y;
        s.full += draw->list->is_short[at] ? 0 : y;
        s.n_full += !draw->list->is_short[at];
        s.cached += draw->list->is_short[at] ? y : 0;
        s.n_cached += draw->list->is_short[at];
    }
    return s;
}

static struct law law_of(const struct sums *s, bool is_line)
{
    const double xx = s->xx - s->x * s->x / s->n, xy = s->xy - s->x * s->y / s->n;
    const double slope = is_line && xx > 0 ? xy / xx : 0;
    return (struct law){(s->y - slope * s->x) / s->n, slope};
}

static double law_at(struct law law, double size)
{
    return law.at_0 + (law.slope > 0 || law.slope < 0 ? law.slope * size : 0);
}

/* By how much the mean of a new sample of as many values misses the law of all. */
static double draw_off(const struct draw *draw, struct ta_random *random, struct law law)
{
    double sum = 0;
    for (size_t i = 0; i < draw->n; i++) {
        const size_t at = drawn(draw, random, i);
        sum += draw->list->ns[at] - law_at(law, draw->list->size[at]);
    }
    return draw->n ? sum / (double)draw->n : 0;
}

static struct fit fit_once(const struct model *model, struct ta_random *random)
{
    const struct draw steps = draw_from(&model->parts->steps),
                      rests = draw_from(&model->parts->rests);
    const struct sums step = draw_sums(&steps, random), rest = draw_sums(&rests, random);
    return (struct fit){.step = law_of(&step, model->has_law),
                        .rest = rests.n ? law_of(&rest, model->has_law) : (struct law){0, 0},
                        .full = step.full / step.n_full,
                        .cached = step.cached / step.n_cached};
}

/* ---- model ----------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Different sizes in a list; `sorted` has room for it. */
static size_t count_sizes(const struct measured *list, double *sorted)
{
    size_t n = 0;
    memcpy(sorted, list->size, list->n * sizeof *sorted);
    qsort(sorted, list->n, sizeof *sorted, by_value);
    for (size_t i = 0; i < list->n; i++)
        n += i == 0 || sorted[i] > sorted[i - 1];
    return n;
}

bool plan_model_fit(const struct parts *parts, struct model *model)
{
    static const struct ta_slice name = {"plan", 4};
    struct ta_random *random = ta_random_new(ta_seed(name, TA_LIT("unit")));
    const size_t room = parts->steps.n + parts->rests.n + ROUNDS + 1;
    *model = (struct model){.parts = parts,
                            .fits = calloc(ROUNDS + 1, sizeof *model->fits),
                            .values = calloc(room, sizeof *model->values)};
    const bool done = random && model->fits && model->values;
    if (done && parts->steps.n > 0) {
        model->has_law =
            count_sizes(&parts->steps, model->values) >= SIZES_LEAST &&
            (parts->rests.n == 0 || count_sizes(&parts->rests, model->values) >= SIZES_LEAST);
        const struct draw steps = draw_from(&parts->steps), rests = draw_from(&parts->rests);
        model->fits[0] = fit_once(model, NULL);
        for (model->n = 1; model->n <= ROUNDS; model->n++) {
            struct fit *fit = &model->fits[model->n];
            *fit = fit_once(model, random);
            fit->step_off = draw_off(&steps, random, model->fits[0].step);
            fit->rest_off = draw_off(&rests, random, model->fits[0].rest);
        }
    }
    ta_random_free(random);
    return done;
}

void plan_model_free(struct model *model)
{
    free(model->fits);
    free(model->values);
}

/* A step as it was measured, or with another share of shortened ones. */
static double step_of(const struct fit *fit, const struct asked *asked)
{
    return isnan(asked->cached) ? law_at(fit->step, asked->block)
           : asked->cached > 0  ? (1 - asked->cached) * fit->full + asked->cached * fit->cached
                                : fit->full;
}

static double unit_of(const struct model *model, const struct fit *fit, const struct asked *asked)
{
    const struct parts *parts = model->parts;
    const double units = fmax(parts->units, 1);
    const double n_steps = (double)draw_from(&parts->steps).n;
    const double n_rests = (double)draw_from(&parts->rests).n;
    const double step =
        step_of(fit, asked) + fit->step_off * sqrt(n_steps / (asked->steps * units));
    const double rest = law_at(fit->rest, asked->block) + fit->rest_off * sqrt(n_rests / units);
    return rest + asked->steps * asked->guidance * step;
}

struct ta_estimate plan_model_unit(const struct model *model, const struct asked *asked)
{
    size_t n = 0;
    struct ta_estimate unit = {unit_of(model, &model->fits[0], asked), NAN, NAN};
    for (size_t i = 1; i < model->n; i++) {
        const double value = unit_of(model, &model->fits[i], asked);
        if (!isnan(value))
            model->values[n++] = value;
    }
    /* Too few to say how they scatter. */
    if (n < ROUNDS / 2 || model->parts->steps.n < 3 || isnan(unit.value))
        return unit;
    ta_sort_numbers(model->values, n);
    unit.low = fmin(ta_quantile(model->values, n, (1 - CONFIDENCE) / 2), unit.value);
    unit.high = fmax(ta_quantile(model->values, n, (1 + CONFIDENCE) / 2), unit.value);
    return unit;
}
