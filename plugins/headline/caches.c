/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much caches answer. */
#include <traceanalyze/headline.h>

#include <math.h>
#include <stdio.h>

enum { VIDEO, HITS, MISSES, CACHE };
static const struct ta_ref reads[] = {
    [VIDEO] = {"caches.hits", "video_ns"},
    [HITS] = {"caches.by_name", "hits"},
    [MISSES] = {"caches.by_name", "misses"},
    [CACHE] = {"caches.by_name", "cache"},
};

/* What fits a sentence. */
enum { NAME_MOST = 60 };

/* The last time of the video at which anything was found in a cache. */
static double video_length(const struct ta_refs *in)
{
    const size_t last = ta_ref_largest(in, VIDEO);
    return last == SIZE_MAX ? NAN : ta_ref_number(in, VIDEO, last, NAN);
}

/* ", …" of the caches with the most hits, as many as fit. */
static void list_caches(struct ta_line *line, const struct ta_refs *in, char words[400])
{
    enum { MOST_NAMED = 4 };
    size_t n = 0, named = 0;
    double below = INFINITY;
    words[0] = '\0';
    while (named < MOST_NAMED) {
        double most = -1;
        for (size_t i = 0; i < ta_ref_rows(in, HITS); i++)
            if (ta_ref_number(in, HITS, i, NAN) < below && ta_ref_number(in, HITS, i, NAN) > most)
                most = ta_ref_number(in, HITS, i, NAN);
        if (most < 0)
            return;
        for (size_t i = 0; i < ta_ref_rows(in, HITS) && named < MOST_NAMED; i++) {
            if (ta_ref_number(in, HITS, i, NAN) != most)
                continue;
            const struct ta_slice name = ta_line_name(line, ta_ref_text(in, CACHE, i), NAME_MOST);
            char hits[TA_UNIT_TEXT_MAX];
            const int added =
                snprintf(words + n, 400 - n, "%s%.*s %s", named ? ", " : "", (int)name.len,
                         name.ptr, ta_unit_format(hits, most, TA_UNIT_COUNT));
            n += added > 0 && n + (size_t)added < 400 ? (size_t)added : 0;
            named++;
        }
        below = most;
    }
}

static void say(struct ta_line *line, const struct ta_refs *in, const struct ta_finding *worst)
{
    (void)worst;
    double hits = 0, misses = NAN;
    for (size_t i = 0; i < ta_ref_rows(in, HITS); i++) {
        hits += fmax(0, ta_ref_number(in, HITS, i, NAN));
        if (!isnan(ta_ref_number(in, MISSES, i, NAN)))
            misses = ta_ref_number(in, MISSES, i, NAN) + (isnan(misses) ? 0 : misses);
    }
    char sum[TA_UNIT_TEXT_MAX], of[TA_UNIT_TEXT_MAX], words[400];
    if (ta_ref_rows(in, HITS) == 0)
        return;
    list_caches(line, in, words);
    if (hits + misses > 0)
        ta_say(line, "The caches answer %s of %s lookups.",
               ta_unit_format(sum, hits / (hits + misses), TA_UNIT_RATIO),
               ta_unit_format(of, hits + misses, TA_UNIT_COUNT));
    else if (!isnan(video_length(in)))
        ta_say(line,
               "%s cache hits in %s of video: %s. Misses are not recorded, so there is no hit "
               "ratio.",
               ta_unit_format(sum, hits, TA_UNIT_COUNT),
               ta_unit_format(of, video_length(in), TA_UNIT_NS), words);
    else if (hits > 0)
        ta_say(line, "%s cache hits: %s.", ta_unit_format(sum, hits, TA_UNIT_COUNT), words);
}

static const struct ta_headline_ops ops = {
    .level = TA_HEADLINE_FIGURES, .place = 3, .say = say, .alone = true, TA_READS(reads)};

TA_PLUGIN(headline, caches, &ops, .title = "Caches", .summary = "How much caches answer",
          .version = "1");
