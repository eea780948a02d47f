/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the run's product costs, where --price says what a GPU does. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>

enum { PER, GPU_TIME, GPU_HOURS, COST, CURRENCY };
static const struct ta_ref reads[] = {
    [PER] = {"costs.values", "per"},
    [GPU_TIME] = {"costs.values", "gpu_ns"},
    [GPU_HOURS] = {"costs.values", "gpu_hours"},
    [COST] = {"costs.values", "cost"},
    [CURRENCY] = {"costs.values", "currency"},
};

/* What people ask the price of: the first that is known is said. */
static const struct product {
    const char *per, *what, *one, *thousand, *million;
} products[] = {
    {"image", "an image", "An image costs", "1000 images cost", "A million images cost"},
    {"frame", "a frame", "A frame costs", "1000 frames cost", "A million frames cost"},
    {"block", "a block", "A block costs", "1000 blocks cost", "A million blocks cost"},
    {"request", "a request", "A request costs", "1000 requests cost", "A million requests cost"},
    {"1000 tokens", "1000", "1000 tokens cost", "A million tokens cost", "A billion tokens cost"},
    {"step", "a step", "A step costs", "1000 steps cost", "A million steps cost"},
    {"run", "one", "The run costs", "1000 such runs cost", "A million such runs cost"},
};

/* A small sum is said of more of them. */
static double scale_of(double cost)
{
    enum { STEP = 1000 };
    const double least = 0.01;
    double scale = 1;
    while (cost * scale < least && scale < 1e6)
        scale *= STEP;
    return scale;
}

static void format_money(double money, char text[40])
{
    snprintf(text, 40, money >= 1000 ? "%.0f" : "%.3g", money);
}

static void say_cost(struct ta_line *line, const struct ta_refs *in, size_t row,
                     const struct product *product)
{
    const double cost = ta_ref_number(in, COST, row, NAN), scale = scale_of(cost);
    const struct ta_slice currency = ta_line_name(line, ta_ref_text(in, CURRENCY, row), 16);
    char money[40], price[40], time[TA_UNIT_TEXT_MAX];
    format_money(cost * scale, money);
    format_money(cost / ta_ref_number(in, GPU_HOURS, row, NAN), price);
    const char *gap = currency.len ? " " : "";
    ta_say(line, "%s %s%s%.*s (%s of GPU time for %s, at %s%s%.*s per GPU hour).",
           scale > 1e3 ? product->million
           : scale > 1 ? product->thousand
                       : product->one,
           money, gap, (int)currency.len, currency.ptr,
           ta_unit_format(time, ta_ref_number(in, GPU_TIME, row, NAN), TA_UNIT_NS), product->what,
           price, gap, (int)currency.len, currency.ptr);
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    for (size_t i = 0; i < TA_LENGTH(products); i++)
        for (size_t row = 0; row < ta_ref_rows(in, COST); row++)
            if (ta_ref_reads(in, PER, row, products[i].per) &&
                ta_ref_number(in, COST, row, NAN) > 0) {
                say_cost(line, in, row, &products[i]);
                return;
            }
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_ADDED, .place = 1, .say = say, TA_READS(reads)};

TA_PLUGIN(headline, costs, &ops, .title = "Cost", .summary = "What the run's product costs",
          .version = "1");
