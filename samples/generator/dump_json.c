/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers become decimals as text, so that no machine rounds differently from another. */
#include "dump_json.h"

__extension__ typedef __int128 wide;

enum { MAX_PATH = 4096 };

bool json_open(struct json *json, const char *folder, const char *name)
{
    char path[MAX_PATH];
    *json = (struct json){.depth = 0};
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length > 0 && length < MAX_PATH && sink_open(&json->sink, path, 0))
        return true;
    fprintf(stderr, "traceanalyze-generate: %s/%s: %s\n", folder, name,
            length < MAX_PATH ? strerror(json->sink.error) : "the name is too long");
    sink_close(&json->sink);
    return false;
}

bool json_close(struct json *json, const char *folder, const char *name)
{
    if (sink_close(&json->sink))
        return true;
    fprintf(stderr, "traceanalyze-generate: %s/%s: %s\n", folder, name, strerror(json->sink.error));
    return false;
}

static void new_line(struct json *json)
{
    sink_text(&json->sink, "\n");
    for (int i = 0; i < json->depth; i++)
        sink_text(&json->sink, "  ");
}

static void quote(struct json *json, const char *text)
{
    sink_text(&json->sink, "\"");
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xe0) == 0xc0) { /* two bytes of UTF-8, as Python has them */
            char code[8];
            snprintf(code, sizeof code, "\\u%04x",
                     (unsigned)(*text & 0x1f) << 6 | (unsigned)(text[1] & 0x3f));
            sink_text(&json->sink, code);
            text++;
            continue;
        }
        if (*text == '"' || *text == '\\')
            sink_text(&json->sink, "\\");
        sink_put(&json->sink, text, 1);
    }
    sink_text(&json->sink, "\"");
}

static void begin_member(struct json *json, const char *key)
{
    if (json->filled)
        sink_text(&json->sink, ",");
    if (json->depth > 0)
        new_line(json);
    json->filled = true;
    if (key == NULL)
        return;
    quote(json, key);
    sink_text(&json->sink, ": ");
}

void json_begin(struct json *json, const char *key, char bracket)
{
    begin_member(json, key);
    sink_put(&json->sink, &bracket, 1);
    json->closing[json->depth++] = bracket == '{' ? '}' : ']';
    json->filled = false;
}

void json_end(struct json *json)
{
    json->depth--;
    if (json->filled)
        new_line(json);
    sink_put(&json->sink, &json->closing[json->depth], 1);
    json->filled = true;
}

void json_text(struct json *json, const char *key, const char *value)
{
    begin_member(json, key);
    quote(json, value);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    begin_member(json, key);
    sink_integer(&json->sink, value);
}

void json_word(struct json *json, const char *key, const char *word)
{
    begin_member(json, key);
    sink_text(&json->sink, word);
}

void json_number(struct json *json, const char *key, int64_t value, int places)
{
    begin_member(json, key);
    put_number(&json->sink, value, places);
}

void put_number(struct sink *sink, int64_t value, int places)
{
    for (; places > 1 && value % 10 == 0; places--)
        value /= 10;
    sink_fixed(sink, value, places);
    if (places == 0)
        sink_text(sink, ".0");
}

int64_t ratio(int64_t numerator, int64_t factor, int64_t denominator)
{
    if (denominator == 0)
        return 0;
    const wide product = (wide)numerator * factor * 2;
    const wide half = (product < 0) == (denominator < 0) ? denominator : -denominator;
    return (int64_t)((product + half) / ((wide)denominator * 2));
}

void spread_add(struct spread *spread, int64_t value)
{
    spread->min = spread->count == 0 || value < spread->min ? value : spread->min;
    spread->max = spread->count == 0 || value > spread->max ? value : spread->max;
    spread->sum += value;
    spread->last = value;
    spread->count++;
}

int64_t spread_mean(const struct spread *spread, int decimals)
{
    int64_t factor = 1;
    for (int i = 0; i < decimals; i++)
        factor *= 10;
    return ratio(spread->sum, factor, spread->count);
}
