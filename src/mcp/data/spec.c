/* SPDX-License-Identifier: MIT */
/* spec - see datasets.h. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define USAGE "--data takes NAME=FILE or NAME=sqlite:FILE?query=SELECT..."

static const struct {
    const char *text;
    gbx_spec_format format;
} prefixes[] = {
    {"json:", GBX_SPEC_JSON},    {"ndjson:", GBX_SPEC_NDJSON},
    {"jsonl:", GBX_SPEC_NDJSON}, {"csv:", GBX_SPEC_CSV},
    {"tsv:", GBX_SPEC_TSV},      {"sqlite:", GBX_SPEC_SQLITE},
};

static const struct {
    const char *text;
    gbx_spec_format format;
} endings[] = {
    {".json", GBX_SPEC_JSON},     {".ndjson", GBX_SPEC_NDJSON},
    {".jsonl", GBX_SPEC_NDJSON},  {".csv", GBX_SPEC_CSV},
    {".tsv", GBX_SPEC_TSV},       {".tab", GBX_SPEC_TSV},
    {".sqlite", GBX_SPEC_SQLITE}, {".sqlite3", GBX_SPEC_SQLITE},
    {".db", GBX_SPEC_SQLITE},
};

static bool is_name(const char *text, size_t len)
{
    if (len == 0 || len > GBX_SPEC_NAME_MAX || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '$')
            return false;
    return true;
}

/* Code destructures datasets by name, and ({ orders, class }) => ... is not valid. */
static bool is_reserved(const char *text, size_t len)
{
    static const char *const words[] = {
        "arguments", "await",      "break",     "case",    "catch",      "class",
        "const",     "continue",   "debugger",  "default", "delete",     "do",
        "else",      "enum",       "eval",      "export",  "extends",    "false",
        "finally",   "for",        "function",  "if",      "implements", "import",
        "in",        "instanceof", "interface", "let",     "new",        "null",
        "package",   "private",    "protected", "public",  "return",     "static",
        "super",     "switch",     "this",      "throw",   "true",       "try",
        "typeof",    "var",        "void",      "while",   "with",       "yield",
    };

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return true;
    return false;
}

static gbx_spec_format format_of_path(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < GBX_COUNTOF(endings); i++) {
        size_t n = strlen(endings[i].text);

        if (len > n && strcasecmp(path + len - n, endings[i].text) == 0)
            return endings[i].format;
    }
    return GBX_SPEC_GUESS;
}

/* In place. */
static bool decode_percents(char *text)
{
    char *to = text;

    for (; *text != 0; text++, to++) {
        if (*text != '%') {
            *to = *text;
            continue;
        }
        if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
            return false;
        *to = (char)strtoul((char[]){text[1], text[2], 0}, NULL, 16);
        if (*to == 0)
            return false;
        text += 2;
    }
    *to = 0;
    return true;
}

/* path is FILE?query=...; it is cut at the '?'. */
static gbx_status take_query(gbx_spec *spec, gbx_error *reterr)
{
    static const char mark[] = "?query=";
    char *at = strstr(spec->path, mark);

    if (at == NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "dataset '%s' is a database: say what to read with "
                        "%s=sqlite:FILE?query=SELECT...",
                        spec->name, spec->name);
    *at = 0;
    spec->query = strdup(at + sizeof mark - 1);
    if (spec->query == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the dataset");
    if (!decode_percents(spec->query) ||
        !gbx_utf8_valid((const uint8_t *)spec->query, strlen(spec->query), NULL))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the query of dataset '%s' has a '%%' that is not %%XX: write "
                        "'%%' itself as %%25",
                        spec->name);
    return GBX_OK;
}

static gbx_status parse(const char *text, gbx_spec *spec, gbx_error *reterr)
{
    const char *equals = strchr(text, '=');
    size_t len = equals != NULL ? (size_t)(equals - text) : 0;
    const char *rest;

    if (equals == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, USAGE);
    if (!is_name(text, len))
        return gbx_fail(
            reterr, GBX_E_USAGE,
            "the name of a dataset is letters, digits, '_' and '$', at most "
            "%d of them, and no digit first",
            GBX_SPEC_NAME_MAX);
    if (len == sizeof "__proto__" - 1 && memcmp(text, "__proto__", len) == 0)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'__proto__' cannot be the name of a dataset");
    if (is_reserved(text, len))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'%.*s' is a word of JavaScript, and no name for a dataset: "
                        "write '%.*s_'",
                        (int)len, text, (int)len, text);
    memcpy(spec->name, text, len);
    rest = equals + 1;
    for (size_t i = 0; i < GBX_COUNTOF(prefixes); i++)
        if (strncmp(rest, prefixes[i].text, strlen(prefixes[i].text)) == 0) {
            spec->format = prefixes[i].format;
            rest += strlen(prefixes[i].text);
            break;
        }
    if (*rest == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "dataset '%s' has no file", spec->name);
    spec->path = strdup(rest);
    if (spec->path == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the dataset");
    if (spec->format == GBX_SPEC_GUESS)
        spec->format = format_of_path(spec->path);
    return spec->format == GBX_SPEC_SQLITE ? take_query(spec, reterr) : GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr)
{
    gbx_spec spec = {.format = GBX_SPEC_GUESS};
    gbx_status status = parse(text, &spec, reterr);

    if (status == GBX_OK)
        *ret = spec;
    else
        gbx_spec_cleanup(&spec);
    return status;
}

void gbx_spec_cleanup(gbx_spec *spec)
{
    free(spec->path);
    free(spec->query);
    *spec = (gbx_spec){0};
}

const char *gbx_spec_format_name(gbx_spec_format format)
{
    static const char *const names[] = {"JSON or CSV", "JSON", "NDJSON",
                                        "CSV",         "CSV",  "SQLite"};

    return names[format];
}
