/* SPDX-License-Identifier: MIT */
/*
 * describe - describes a dataset by running describe.js on it in a worker, like any
 * call. The result is escaped and bounded here, because the dataset is hostile.
 */
#include "mcp/data/datasets.h"

#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of records that are described, and that of the second attempt. */
#define RECORDS_MAX 100000
#define RECORDS_FEW 10000

/* Characters of a type, and of each part of the whole description. */
#define TYPE_ROOM  6000
#define WHOLE_ROOM 12000

#define TEXT_MAX       GBX_KIB(64)
#define STATISTICS_MAX GBX_MIB(2)

/* The path in the dataset if field is in it: "" for all of it; or NULL. */
static const char *path_in(const char *field, const char *dataset)
{
    size_t len = strlen(dataset);

    if (strncmp(field, dataset, len) != 0)
        return NULL;
    field += len;
    return *field == '.' ? field + 1 : *field == '\0' ? field : NULL;
}

static bool put_options(const gbx_description *of, size_t records, bool is_whole,
                        gbx_buf *to)
{
    static const char *const examples[] = {
        [GBX_EXAMPLES_PATTERNS] = "patterns",
        [GBX_EXAMPLES_VALUES] = "values",
        [GBX_EXAMPLES_NONE] = "none",
    };

    (void)gbx_buf_puts(to, "{");
    gbx_json_put_text(to, "examples", examples[of->shown->examples]);
    gbx_json_put_integer(to, "records", (int64_t)records);
    gbx_json_put_bool(to, "isTable", of->is_table);
    gbx_json_put_bool(to, "isWhole", is_whole);
    gbx_json_put_integer(to, "room", is_whole ? WHOLE_ROOM : TYPE_ROOM);
    gbx_json_put_integer(to, "brief", (int64_t)of->brief);
    if (of->columns_len > 0) {
        gbx_json_put_key(to, "columns");
        (void)gbx_buf_append(to, of->columns, of->columns_len);
    }
    gbx_json_put_open(to, "shown", '[');
    for (size_t i = 0; i < of->shown->count; i++)
        gbx_json_put_text(to, NULL, path_in(of->shown->fields[i], of->name));
    return gbx_buf_puts(to, "]}");
}

/* NULL: it is missing or too long. */
static char *take_text(gbx_view result, const char *name, size_t max)
{
    gbx_view member = gbx_view_member(result, name);
    gbx_buf text = {.ceiling = max};

    if (member.at == NULL || !gbx_view_append_text(member, &text))
        text.failed = true;
    (void)gbx_utf8_escape(&text, 0, GBX_ESCAPE_JSON | GBX_ESCAPE_ALL);
    return gbx_buf_take_string(&text, NULL);
}

static gbx_status take(const gbx_description *of, const gbx_result *result,
                       gbx_told *ret, gbx_error *reterr)
{
    size_t len = 0;
    const char *value = gbx_result_value(result, &len);
    gbx_view lost, view = {value, len};
    gbx_told told = {0};
    long index;

    if (gbx_result_code(result) != GBX_CODE_VALUE || value == NULL)
        return gbx_fail(reterr, GBX_E_DATA, "%s: %s",
                        gbx_code_name(gbx_result_code(result)),
                        gbx_result_error(result));
    told.type = take_text(view, "type", TEXT_MAX);
    told.brief = take_text(view, "brief", TEXT_MAX);
    told.size = take_text(view, "size", TEXT_MAX);
    told.names = take_text(view, "names", TEXT_MAX);
    told.examples = take_text(view, "examples", TEXT_MAX);
    told.statistics = take_text(view, "fields", STATISTICS_MAX);
    lost = gbx_view_member(view, "lost");
    /* It is given as the index of a path in the dataset. */
    index = lost.at != NULL ? strtol(lost.at, NULL, 10) : -1;
    for (size_t i = 0; index >= 0 && i < of->shown->count; i++) {
        const char *path = path_in(of->shown->fields[i], of->name);

        if (path != NULL && index-- == 0)
            told.lost = path;
    }
    if (told.type == NULL || told.brief == NULL || told.size == NULL ||
        told.names == NULL || told.examples == NULL || told.statistics == NULL) {
        gbx_told_cleanup(&told);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory to describe it");
    }
    *ret = told;
    return GBX_OK;
}

static gbx_status describe(gbx_engine *engine, const gbx_description *of,
                           size_t records, gbx_told *ret, gbx_error *reterr)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result = NULL;
    gbx_status status = GBX_E_NOMEM;
    gbx_buf options = {.ceiling = GBX_MIB(16)};

    if (put_options(of, records, false, &options)) {
        call.flags = GBX_CALL_NO_GUARD;
        call.code = gbx_script_describe;
        call.code_len = strlen(gbx_script_describe);
        call.dataset = of->name;
        call.input = (const char *)options.data;
        call.input_len = options.len;
        call.limits = of->limits;
        call.signal = of->signal;
        status = gbx_execute(engine, &call, &result, reterr);
    }
    gbx_buf_cleanup(&options);
    if (status == GBX_OK)
        status = take(of, result, ret, reterr);
    gbx_result_free(result);
    return status;
}

gbx_status gbx_describe(gbx_engine *engine, const gbx_description *of, gbx_told *ret,
                        gbx_error *reterr)
{
    gbx_error error = {0};
    gbx_status status = describe(engine, of, RECORDS_MAX, ret, &error);

    if (status == GBX_E_DATA) /* it took too much time or memory */
        status = describe(engine, of, RECORDS_FEW, ret, &error);
    if (status != GBX_OK && reterr != NULL)
        *reterr = error;
    return status;
}

bool gbx_describe_whole(const gbx_description *of, gbx_buf *to)
{
    return put_options(of, RECORDS_MAX, true, to);
}

void gbx_told_cleanup(gbx_told *told)
{
    free(told->type);
    free(told->brief);
    free(told->size);
    free(told->names);
    free(told->columns);
    free(told->examples);
    free(told->statistics);
    *told = (gbx_told){0};
}
