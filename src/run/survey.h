/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which traces a run has read, for those who read them again. */
#ifndef TA_SURVEY_H
#define TA_SURVEY_H

#include "run/ingest.h"

/* Fills in a survey when ranks are decided; false without memory. */
bool ta_survey_take(struct ta_survey *survey, const struct ta_ingestion *ingestion) TA_MUST_CHECK;

#endif
