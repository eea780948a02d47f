/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spread of runs that were compared before: a file that --save-baseline writes and --noise-floor
 * reads, {"schema": "traceanalyze.baseline/1", …}. */
#ifndef TA_COMPARE_NOISE_H
#define TA_COMPARE_NOISE_H

#include "stat/compare.h"
#include "traceanalyze/output.h"

struct ta_ctx;
struct ta_noise;
struct ta_part;

/* What is read of a comparison, to write it. */
extern const struct ta_part ta_noise_part;

/* How such a text begins, after its first brace. */
#define TA_NOISE_SCHEMA "\"schema\": \"traceanalyze.baseline/1\""

/* What the ids of times of names begin with: the gates on them are called so, too. */
#define TA_NOISE_OF_STAGE "total@stage:"
#define TA_NOISE_OF_KERNEL "total@kernel:"
#define TA_NOISE_OF_COPY "total@copy:"
#define TA_NOISE_OF_OP "total@op:"

/* Reads a file; TA_ERR_USAGE names what is wrong with it, for an option named it. */
enum ta_status ta_noise_read(struct ta_ctx *ctx, const char *path,
                             struct ta_noise **noise) TA_MUST_CHECK;
void ta_noise_free(struct ta_noise *noise);

/* The spread of a figure, or of the time of a name, between runs; false when it is not known. */
bool ta_noise_find(const struct ta_noise *noise, const char *figure, struct ta_log_spread *spread);

/* How many figures and names of a comparison have a spread of three runs or more on a side. */
size_t ta_noise_count(const struct ta_report *diff);
/* Writes them; false without memory. */
bool ta_noise_put(struct ta_file *out, const struct ta_report *diff,
                  const char *version) TA_MUST_CHECK;

#endif
