/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the category of an event means, for every vendor and year. */
#ifndef TA_MODEL_CATEGORY_H
#define TA_MODEL_CATEGORY_H

#include "traceanalyze/model.h"

enum ta_event_class ta_category_classify(struct ta_slice name);

#endif
