/* SPDX-License-Identifier: MIT */
/*
 * source - parses the argument of --data, and reads what it names: a file, or the rows
 * of a query.
 */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_AT_ONCE GBX_MIB(4)

/* The number of characters at the start by which UTF-16 without a byte order mark is
 * recognised. */
#define HALVES 2

/* A file that grows is recognised by its last bytes, at most this many. */
#define END_BYTES GBX_KIB(64)

/* ---- the argument --------------------------------------------------------------- */

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

/* *ret_path is the source without its prefix; *ret_is_named: it has one. */
static gbx_spec_format take_format(const char *source, const char **ret_path,
                                   bool *ret_is_named)
{
    size_t len = strlen(source);

    *ret_path = source;
    *ret_is_named = true;
    for (size_t i = 0; i < GBX_COUNTOF(prefixes); i++)
        if (strncmp(source, prefixes[i].text, strlen(prefixes[i].text)) == 0) {
            *ret_path = source + strlen(prefixes[i].text);
            return prefixes[i].format;
        }
    *ret_is_named = false;
    for (size_t i = 0; i < GBX_COUNTOF(endings); i++) {
        size_t n = strlen(endings[i].text);

        if (len > n && strcasecmp(source + len - n, endings[i].text) == 0)
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
        return GBX_OK;
    *at = 0;
    spec->query = gbx_need(strdup(at + sizeof mark - 1));
    if (!decode_percents(spec->query) ||
        !gbx_utf8_valid((const uint8_t *)spec->query, strlen(spec->query), NULL))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the query of dataset '%s' has a '%%' that is not %%XX: write "
                        "'%%' itself as %%25",
                        spec->name);
    return GBX_OK;
}

/* Parse one option of a table. False: it is not valid. */
static bool take_option(gbx_spec *spec, const char *option)
{
    char *end;
    unsigned long lines;

    if (strcmp(option, "header=no") == 0)
        spec->how |= GBX_DATA_NO_HEADER;
    else if (strcmp(option, "bad=skip") == 0)
        spec->how |= GBX_DATA_SKIP_BAD;
    else if (strncmp(option, "skip=", 5) == 0 && isdigit((unsigned char)option[5])) {
        lines = strtoul(option + 5, &end, 10);
        if ((spec->how & GBX_DATA_SKIP_LINES(0xFFFF)) != 0)
            return false;
        spec->how |= GBX_DATA_SKIP_LINES(lines & 0xFFFF);
        return *end == 0 && lines <= 0xFFFF;
    } else
        return false;
    return true;
}

/* path is FILE?header=no&skip=N&bad=skip; it is cut at the '?'. */
static gbx_status take_options(gbx_spec *spec, gbx_error *reterr)
{
    char *at = strchr(spec->path, '?');
    char *rest = at;
    const char *option;

    if (at == NULL)
        return GBX_OK;
    *rest++ = 0;
    while ((option = strsep(&rest, "&")) != NULL)
        if (!take_option(spec, option))
            return gbx_fail(reterr, GBX_E_USAGE,
                            "'%.40s' is not an option of the table '%s': they are "
                            "header=no, skip=LINES (once) and bad=skip",
                            option, spec->name);
    return GBX_OK;
}

/* name has len bytes, at most GBX_SPEC_NAME_MAX. */
static gbx_status parse_source(const char *name, size_t len, const char *source,
                               gbx_spec *spec, gbx_error *reterr)
{
    const char *path;
    bool is_named;

    memcpy(spec->name, name, len);
    spec->format = take_format(source, &path, &is_named);
    if (*path == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "dataset '%s' has no file", spec->name);
    spec->path = gbx_need(strdup(path));
    if (is_named && (spec->format == GBX_SPEC_CSV || spec->format == GBX_SPEC_TSV))
        return take_options(spec, reterr);
    return spec->format == GBX_SPEC_SQLITE ? take_query(spec, reterr) : GBX_OK;
}

gbx_status gbx_spec_of(const char *name, size_t len, const char *source, gbx_spec *ret,
                       gbx_error *reterr)
{
    gbx_spec spec = {.format = GBX_SPEC_GUESS};
    gbx_status status =
        parse_source(name, len <= GBX_SPEC_NAME_MAX ? len : GBX_SPEC_NAME_MAX, source,
                     &spec, reterr);

    if (status == GBX_OK)
        *ret = spec;
    else
        gbx_spec_cleanup(&spec);
    return status;
}

gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr)
{
    /* Code destructures datasets by name, and ({ orders, class }) => ... is not valid. */
    static const char reserved[] =
        "arguments await break case catch class const continue debugger "
        "default delete do else enum eval export extends false finally "
        "for function if implements import in instanceof interface let "
        "new null package private protected public return static super "
        "switch this throw true try typeof var void while with yield";
    const char *equals = strchr(text, '=');
    size_t len = equals != NULL ? (size_t)(equals - text) : 0;

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
    if (gbx_text_is_listed(reserved, text, len))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'%.*s' is a word of JavaScript, and no name for a dataset: "
                        "write '%.*s_'",
                        (int)len, text, (int)len, text);
    return gbx_spec_of(text, len, equals + 1, ret, reterr);
}

void gbx_spec_cleanup(gbx_spec *spec)
{
    free(spec->path);
    free(spec->query);
    *spec = (gbx_spec){0};
}

/* ---- files ---------------------------------------------------------------------- */

/* Models read these messages and must not learn folders. */
static const char *name_of(const gbx_spec *spec)
{
    const char *slash = strrchr(spec->path, '/');

    return slash != NULL ? slash + 1 : spec->path;
}

static gbx_status check_kind(const gbx_spec *spec, const struct stat *st,
                             gbx_error *reterr)
{
    errno = 0;
    return S_ISREG(st->st_mode)
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_OS, "'%s' is not a file", name_of(spec));
}

static gbx_status open_file(const gbx_spec *spec, int *ret, struct stat *ret_st,
                            gbx_error *reterr)
{
    /* Do not block: a FIFO must be refused, not waited for. */
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(spec->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    gbx_status status;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s'", name_of(spec));
    status = check_kind(spec, &st, reterr);
    if (status != GBX_OK)
        return status;
    if (st.st_size > (off_t)GBX_SOURCE_MAX)
        return gbx_fail(reterr, GBX_E_DATA, "'%s' is larger than 1 GiB", name_of(spec));
    *ret_st = st;
    *ret = gbx_fd_take(&fd);
    return GBX_OK;
}

static void digest_end(const gbx_buf *file, size_t end, uint8_t ret[GBX_SHA256_SIZE])
{
    size_t n = end < END_BYTES ? end : END_BYTES;

    gbx_sha256_of(n > 0 ? file->data + end - n : NULL, n, ret);
}

static void remember(const struct stat *st, const gbx_buf *file, gbx_source_past *past)
{
    bool goes_on = past->bytes > 0 && st->st_dev == past->device &&
                   st->st_ino == past->inode && file->len >= past->bytes;
    uint8_t end[GBX_SHA256_SIZE];

    if (goes_on) {
        digest_end(file, past->bytes, end);
        goes_on = memcmp(end, past->end, sizeof end) == 0;
    }
    past->grows = goes_on && (past->grows || file->len > past->bytes);
    past->device = st->st_dev;
    past->inode = st->st_ino;
    past->bytes = file->len;
    digest_end(file, file->len, past->end);
}

static gbx_status read_file(const gbx_spec *spec, gbx_source_past *past,
                            const atomic_bool *stop, gbx_buf *to, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    struct stat st = {0};
    gbx_status status = open_file(spec, &fd, &st, reterr);
    size_t size = (size_t)st.st_size;

    if (status != GBX_OK)
        return status;
    gbx_buf_init(to, GBX_SOURCE_MAX + READ_AT_ONCE);
    for (ssize_t n = 1; n > 0;) {
        size_t room = size > to->len ? size - to->len : 4096;
        uint8_t *at = gbx_buf_reserve(to, room < READ_AT_ONCE ? room : READ_AT_ONCE);

        if (stop != NULL && atomic_load(stop))
            return gbx_fail(reterr, GBX_E_CLOSED, "nobody waits for the file");
        if (at == NULL || to->len > GBX_SOURCE_MAX)
            return gbx_fail(reterr, GBX_E_DATA, "'%s' is larger than 1 GiB or memory",
                            name_of(spec));
        n = read(fd, at, room < READ_AT_ONCE ? room : READ_AT_ONCE);
        if (n < 0)
            return gbx_fail(reterr, GBX_E_OS, "cannot read '%s'", name_of(spec));
        to->len += (size_t)n;
    }
    if (past != NULL)
        remember(&st, to, past);
    return GBX_OK;
}

/* ---- text ----------------------------------------------------------------------- */

/* True if every other of the first bytes is NUL, as in UTF-16 with Latin letters. */
static bool has_halves(const char *text, size_t len, size_t at)
{
    size_t n = 0;

    while (n < HALVES && 2 * n + 1 < len && text[at + 2 * n] == 0 &&
           text[(at ^ 1) + 2 * n] != 0)
        n++;
    return n == HALVES;
}

/* Refuse encodings other than UTF-8, and binary files, by their first bytes. */
static gbx_status check_encoding(const char *text, size_t len, gbx_error *reterr)
{
#define CONVERT ": convert the file to UTF-8, for instance with iconv"
    static const struct {
        const char *begins;
        size_t len;
        const char *what;
    } forms[] = {
        {"\xff\xfe\0\0", 4, "UTF-32" CONVERT},
        {"\0\0\xfe\xff", 4, "UTF-32" CONVERT},
        {"\xff\xfe", 2, "UTF-16" CONVERT},
        {"\xfe\xff", 2, "UTF-16" CONVERT},
        {"PK\3\4", 4, "an Excel workbook or a zip archive: save it as CSV in UTF-8"},
        {"\xd0\xcf\x11\xe0", 4, "an old Excel workbook: save it as CSV in UTF-8"},
        {"\x1f\x8b", 2, "compressed with gzip: unpack it"},
        {"\x28\xb5\x2f\xfd", 4, "compressed with zstd: unpack it"},
    };
    const char *what = NULL;

    for (size_t i = 0; what == NULL && i < GBX_COUNTOF(forms); i++)
        if (len >= forms[i].len && memcmp(text, forms[i].begins, forms[i].len) == 0)
            what = forms[i].what;
    if (what == NULL && (has_halves(text, len, 0) || has_halves(text, len, 1)))
        what = "UTF-16" CONVERT;
#undef CONVERT
    return what == NULL
               ? GBX_OK
               : gbx_fail_at(reterr, GBX_E_DATA, 1, 1, "line 1, column 1: %s", what);
}

static gbx_status take_text(gbx_source *source, bool grows, gbx_error *reterr)
{
    const char *text = source->text.len > 0 ? (const char *)source->text.data : "";
    size_t at = 0, len = source->text.len;
    gbx_status status = check_encoding(text, len, reterr);

    if (status != GBX_OK)
        return status;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        gbx_buf_consume(&source->text, 3);
    text = (const char *)source->text.data;
    len = source->text.len;
    while (at < len && strchr(" \t\r\n", text[at]) != NULL && text[at] != 0)
        at++;
    /* What stays a guess is JSON or NDJSON. */
    if (source->format == GBX_SPEC_GUESS &&
        (at == len || (text[at] != '{' && text[at] != '[')))
        source->format = GBX_SPEC_CSV;
    source->grows = grows;
    return GBX_OK;
}

static gbx_status read_source(const gbx_options *options, const gbx_spec *spec,
                              gbx_source_extent extent, gbx_source_past *past,
                              const atomic_bool *stop, gbx_source *source,
                              gbx_error *reterr)
{
    gbx_status status;

    if (spec->format == GBX_SPEC_SQLITE) {
        status = gbx_source_probe(spec, reterr);
        return status == GBX_OK ? gbx_rows_read(options, spec->path, spec->query, stop,
                                                &source->rows, reterr)
                                : status;
    }
    status = read_file(spec, past, stop, &source->text, reterr);
    source->file_bytes = source->text.len;
    return status == GBX_OK
               ? take_text(source,
                           extent == GBX_SOURCE_LINES || (past != NULL && past->grows),
                           reterr)
               : status;
}

gbx_data_format gbx_spec_data_format(gbx_spec_format format, unsigned how)
{
    static const gbx_data_format formats[] = {
        [GBX_SPEC_GUESS] = GBX_DATA_JSON,    [GBX_SPEC_JSON] = GBX_DATA_JSON,
        [GBX_SPEC_NDJSON] = GBX_DATA_NDJSON, [GBX_SPEC_CSV] = GBX_DATA_CSV,
        [GBX_SPEC_TSV] = GBX_DATA_TSV,       [GBX_SPEC_SQLITE] = GBX_DATA_JSON,
    };

    return formats[format] | how;
}

gbx_data_format gbx_source_data_format(const gbx_source *source)
{
    gbx_data_format format = gbx_spec_data_format(source->format, source->how);

    if (format == GBX_DATA_JSON)
        return format;
    return format | (source->grows ? GBX_DATA_GROWS : GBX_DATA_UNFINISHED);
}

gbx_status gbx_source_read(const gbx_options *options, const gbx_spec *spec,
                           gbx_source_extent extent, gbx_source_past *past,
                           const atomic_bool *stop, gbx_source *ret, gbx_error *reterr)
{
    gbx_source source = {.format = spec->format, .how = spec->how};
    gbx_status status = read_source(options, spec, extent, past, stop, &source, reterr);

    if (status == GBX_OK)
        *ret = source;
    else
        gbx_source_cleanup(&source);
    return status;
}

gbx_view gbx_source_text(const gbx_source *source)
{
    if (source->format == GBX_SPEC_SQLITE)
        return (gbx_view){source->rows.text, source->rows.text_len};
    return (gbx_view){source->text.len > 0 ? (const char *)source->text.data : "",
                      source->text.len};
}

void gbx_source_cleanup(gbx_source *source)
{
    gbx_buf_cleanup(&source->text);
    gbx_rows_cleanup(&source->rows);
}

gbx_status gbx_source_probe(const gbx_spec *spec, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    struct stat st;

    if (spec->format != GBX_SPEC_SQLITE)
        return open_file(spec, &fd, &st, reterr);
    /* Do not open it: closing it would drop locks that this process has on it. */
    if (stat(spec->path, &st) < 0 ||
        faccessat(AT_FDCWD, spec->path, R_OK, AT_EACCESS) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s'", name_of(spec));
    return check_kind(spec, &st, reterr);
}
