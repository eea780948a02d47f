/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an hour of a GPU costs, as the user says: "2.50", "2.50USD", "2.50 EUR". */
#ifndef TA_BASE_PRICE_H
#define TA_BASE_PRICE_H

#include "traceanalyze/base.h"

enum { TA_CURRENCY_ROOM = 16 };

struct ta_price {
    double per_hour;                 /* of one GPU; 0: not known */
    char currency[TA_CURRENCY_ROOM]; /* as written, or empty */
};

/* Refuses what is no price; `text` NULL is one that is not known. */
enum ta_status ta_price_parse(struct ta_ctx *ctx, const char *text,
                              struct ta_price *out) TA_MUST_CHECK;

#endif
