/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that we write for programs, as people read them: the only place that knows both.
 *
 * Most follow from a rule: "gpu_memory_used" is "GPU memory used", "avg_computation_time_ns" is
 * "Avg computation time", since the unit is shown with the value. The others are listed. */
#include "report/unit.h"
#include "report/words.h"
#include "traceanalyze/output.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct reading {
    const char *word, *text;
};

/* Whole words. */
static const struct reading readings[] = {
    {"as_reported", "As reported"},
    {"ascend", "Ascend output"},
    {"chrome_json", "Chrome trace"},
    {"decode_tokens_per_s", "Tokens per second, decode"},
    {"diffulex", "Diffulex"},
    {"faster", "Better"}, /* of memory, shares and rates as well */
    {"slower", "Worse"},
    {"e2e_tokens_per_s", "Tokens per second, end to end"},
    {"first_block_ns", "First block"},
    {"framepack", "FramePack report"},
    {"images_per_s", "Images per second"},
    {"it_per_s", "Iterations per second"},
    {"prefill_tokens_per_s", "Tokens per second, prefill"},
    {"steps_per_s", "Steps per second"},
    {"tpf", "Tokens per forward pass"},
    {"tpot_ns", "Time per output token"},
    {"ttft_ns", "Time to first token"},
    {"wall", "Session"},
    {"steady", "Steady state"},
};

/* Parts of words that are names or short for something. */
static const struct reading parts[] = {
    {"avg", "average"},
    {"bps", "BPS"},
    {"cpu", "CPU"},
    {"cuda", "CUDA"},
    {"d2h", "D2H"},
    {"dit", "DiT"},
    {"flop", "FLOPs"},
    {"fps", "FPS"},
    {"framepack", "FramePack"},
    {"gpu", "GPU"},
    {"pcie", "PCIe"},
    {"h2d", "H2D"},
    {"id", "ID"},
    {"inferix", "Inferix"},
    {"io", "I/O"},
    {"json", "JSON"},
    {"kv", "KV"},
    {"nvidia", "NVIDIA"},
    {"sm", "SM"},
    {"smi", "SMI"},
    {"tpf", "TPF"},
    {"tpot", "TPOT"},
    {"ttft", "TTFT"},
    {"usl", "USL"},
    {"vae", "VAE"},
    {"viztracer", "VizTracer"},
};

/* Ends that name the unit, which is shown with the value. */
static const char *const units[] = {"_ns", "_bytes", "_ratio", "_watts", "_joules", "_celsius"};

static struct ta_slice without_unit(struct ta_slice word)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if (word.len > n && ta_slice_ends(word, units[i]))
            return (struct ta_slice){word.ptr, word.len - n};
    }
    return word;
}

static struct ta_slice take(struct ta_slice *rest, char separator)
{
    const char *end = memchr(rest->ptr, separator, rest->len);
    const struct ta_slice part = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    const size_t used = part.len + (end != NULL);
    *rest = ta_slice_from(*rest, used);
    return part;
}

struct writer {
    char *text;
    size_t n;
};

static void put(struct writer *out, struct ta_slice text)
{
    const size_t room = TA_WORD_TEXT_MAX - out->n;
    const size_t n = text.len < room ? text.len : room;
    memcpy(out->text + out->n, text.ptr, n);
    out->n += n;
}

static struct ta_slice read_part(struct ta_slice part)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (ta_slice_equal(part, ta_slice_of(parts[i].word)))
            return ta_slice_of(parts[i].text);
    return part;
}

struct ta_slice ta_word_text(struct ta_slice word, char buffer[TA_WORD_TEXT_MAX])
{
    /* Words are ASCII without control characters; what is not is a name, and is left alone. */
    for (size_t i = 0; i < word.len; i++)
        if ((unsigned char)word.ptr[i] < 0x20 || (unsigned char)word.ptr[i] > 0x7e)
            return word;
    if (!(word.len > 0 && word.len < TA_WORD_TEXT_MAX / 2))
        return word;
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        if (ta_slice_equal(word, ta_slice_of(readings[i].word)))
            return ta_slice_of(readings[i].text);
    struct writer out = {buffer, 0};
    /* The text before a slash is a name of the input: "vae_decode/share_ratio". */
    const char *slash = memrchr(word.ptr, '/', word.len);
    if (slash) {
        const size_t n = (size_t)(slash - word.ptr) + 1;
        put(&out, (struct ta_slice){word.ptr, n - 1});
        put(&out, TA_LIT(": "));
        word = ta_slice_from(word, n);
    }
    /* "as_reported (block)" */
    const char *open = memchr(word.ptr, '(', word.len);
    struct ta_slice head = word;
    if (open && open > word.ptr && open[-1] == ' ')
        head.len = (size_t)(open - word.ptr) - 1;

    /* "first_block" by its parts; the first letter of all is a capital. */
    const size_t start = out.n;
    struct ta_slice rest = without_unit(head);
    const struct ta_slice rate = TA_LIT("_per_s");
    const bool is_rate =
        rest.len > rate.len && memcmp(ta_slice_end(rest) - rate.len, rate.ptr, rate.len) == 0;
    rest.len -= is_rate ? rate.len : 0;
    while (rest.len) {
        if (out.n > start)
            put(&out, TA_LIT(" "));
        put(&out, read_part(take(&rest, '_')));
    }
    if (is_rate)
        put(&out, TA_LIT(" per second"));
    if (out.n > start)
        out.text[start] = (char)toupper((unsigned char)out.text[start]);
    put(&out, (struct ta_slice){ta_slice_end(head), word.len - head.len});
    return (struct ta_slice){buffer, out.n};
}

static const char *const sides[] = {"base", "new"};

/* The column of the other side of a comparison, such as "new_ns" for "base_ns"; SIZE_MAX without
 * one. */
static size_t other_side(const struct ta_table *table, size_t column)
{
    const char *key = table->columns[column].key;
    char other[64];
    for (int side = 0; side < 2; side++) {
        const size_t n = strlen(sides[side]);
        if (strncmp(key, sides[side], n) != 0 || (key[n] != '\0' && key[n] != '_'))
            continue;
        snprintf(other, sizeof other, "%s%s", sides[!side], key + n);
        return ta_table_column(table, other);
    }
    return SIZE_MAX;
}

/* The columns whose difference a change is: the first two of such a unit. */
static bool find_sides(const struct ta_table *table, size_t row, size_t column, size_t at[2])
{
    const char *unit = ta_unit_name(ta_table_unit(table, row, column));
    for (at[0] = 0; at[0] < table->n_columns; at[0]++) {
        at[1] = other_side(table, at[0]);
        if (at[1] != SIZE_MAX && strcmp(ta_unit_name(ta_table_unit(table, row, at[0])), unit) == 0)
            return true;
    }
    return false;
}

/* Values of both sides have one unit, and their difference has no larger one. */
static char *compared_text(const struct ta_table *table, size_t row, size_t column,
                           char buffer[TA_UNIT_TEXT_MAX])
{
    const enum ta_unit unit = ta_table_unit(table, row, column);
    const double value = ta_cell_number(ta_table_cell(table, row, column), NAN);
    const size_t other = other_side(table, column);
    size_t at[2];
    if (!ta_column_is_number(&table->columns[column]) || unit == TA_UNIT_NONE || isnan(value))
        return NULL;
    if (other != SIZE_MAX)
        return ta_unit_format_compared(buffer, value,
                                       ta_cell_number(ta_table_cell(table, row, other), NAN), unit);
    if (!ta_unit_is_change(unit) || !find_sides(table, row, column, at))
        return NULL;
    return ta_unit_format_change(buffer, value,
                                 ta_cell_number(ta_table_cell(table, row, at[0]), NAN),
                                 ta_cell_number(ta_table_cell(table, row, at[1]), NAN), unit);
}

struct ta_slice ta_table_text(const struct ta_table *table, size_t row, size_t column,
                              char buffer[TA_WORD_TEXT_MAX])
{
    const struct ta_cell *cell = ta_table_cell(table, row, column);
    if (cell->kind == TA_CELL_TEXT && table->columns[column].type == TA_TYPE_WORD)
        return ta_word_text(cell->text, buffer);
    const char *text = compared_text(table, row, column, buffer);
    return text ? ta_slice_of(text) : ta_cell_text(cell, ta_table_unit(table, row, column), buffer);
}
