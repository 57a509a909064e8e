/* SPDX-License-Identifier: MIT */
/*
 * dataset - parses the text of a dataset, in the sealed template, because the text is
 * hostile: the host never parses it.
 */
#include "realm/internal.h"

#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <glovebox/glovebox.h>
#include <stdio.h>
#include <string.h>

#define UNFINISHED (GBX_DATA_UNFINISHED | GBX_DATA_GROWS)

static JSValueRef refuse(gbx_realm_fault *fault, uint32_t line, uint32_t column,
                         const char *message)
{
    fault->line = line;
    fault->column = column;
    (void)snprintf(fault->message, sizeof fault->message, "%s", message);
    return NULL;
}

/* The text has been checked: the engine refuses it only if it is out of memory. */
static JSValueRef parse(gbx_realm *realm, const char *text, size_t len,
                        gbx_realm_fault *fault)
{
    JSStringRef string = gbx_string_new(text, len);
    JSValueRef value =
        string != NULL ? JSValueMakeFromJSONString(realm->ctx, string) : NULL;

    gbx_string_release(&string);
    return value != NULL ? value
                         : refuse(fault, 0, 0, "the engine has no memory for it");
}

static JSValueRef read_json(gbx_realm *realm, const char *text, size_t len,
                            gbx_realm_fault *fault)
{
    gbx_json_fault json;

    if (gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, &json))
        return parse(realm, text, len, fault);
    (void)refuse(fault, json.line, json.column, json.message);
    if (strncmp(json.message, "unexpected text after", 21) == 0)
        (void)snprintf(fault->message, sizeof fault->message,
                       "%s (one value a line is NDJSON)", json.message);
    return NULL;
}

/* ---- lines --------------------------------------------------------------------- */

/* The length without an unfinished last line; all of it if that is the only line. */
static size_t finished(const char *text, size_t len)
{
    const char *last = memrchr(text, '\n', len);

    return last != NULL ? (size_t)(last + 1 - text) : len;
}

/* Join the lines into one JSON array. *ret_len: how much of the text was used. */
static bool join(const char *text, size_t len, unsigned format, gbx_buf *to,
                 size_t *ret_len, gbx_json_fault *fault)
{
    gbx_json_fault ignored;
    /* More text could continue the last value: only a number has no end mark. */
    bool goes_on = (format & GBX_DATA_GROWS) != 0 && len > 0 &&
                   isdigit((unsigned char)text[len - 1]);

    *ret_len = goes_on ? finished(text, len) : len;
    if (gbx_json_from_lines(text, *ret_len, to, fault))
        return true;
    if ((format & UNFINISHED) == 0 || *ret_len < len || fault->message == NULL)
        return false;
    *ret_len = finished(text, len);
    gbx_buf_consume(to, to->len);
    return *ret_len < len && gbx_json_from_lines(text, *ret_len, to, &ignored);
}

static JSValueRef read_lines(gbx_realm *realm, const char *text, size_t len,
                             unsigned format, gbx_realm_fault *fault)
{
    JSValueRef value = NULL;
    gbx_json_fault json = {0};
    size_t joined;
    gbx_buf buf = {.ceiling = len * 2 + 16};

    if (join(text, len, format, &buf, &joined, &json))
        value = parse(realm, (const char *)buf.data, buf.len, fault);
    else if (json.message != NULL)
        (void)refuse(fault, json.line, json.column, json.message);
    else
        (void)refuse(fault, 0, 0, "no memory for it");
    gbx_buf_cleanup(&buf);
    if (value != NULL && joined < len)
        gbx_set(realm->ctx, gbx_object(value), "isCut",
                JSValueMakeBoolean(realm->ctx, true), kJSPropertyAttributeDontEnum);
    return value;
}

/* ---- tables -------------------------------------------------------------------- */

/* Let table.js read it. */
static JSValueRef read_table(gbx_realm *realm, const char *text, size_t len,
                             unsigned format, gbx_realm_fault *fault)
{
    JSContextRef ctx = realm->ctx;
    const char *delimiter = (format & 0x0F) == GBX_DATA_TSV ? "\t" : "";
    unsigned extent = (format & GBX_DATA_GROWS) != 0        ? 2
                      : (format & GBX_DATA_UNFINISHED) != 0 ? 1
                                                            : 0;
    JSValueRef args[] = {gbx_value_of_text(ctx, text, len),
                         gbx_value_of_text(ctx, delimiter, strlen(delimiter)),
                         JSValueMakeNumber(ctx, extent),
                         JSValueMakeNumber(ctx, format >> 8),
                         JSValueMakeBoolean(ctx, (format & GBX_DATA_NO_HEADER) != 0),
                         JSValueMakeBoolean(ctx, (format & GBX_DATA_SKIP_BAD) != 0)};
    JSObjectRef answer =
        gbx_call_script(realm, gbx_script_table, GBX_COUNTOF(args), args);
    JSObjectRef rows = answer != NULL ? gbx_get_object(ctx, answer, "rows") : NULL;

    if (rows != NULL || answer == NULL)
        return rows != NULL ? rows
                            : refuse(fault, 0, 0, "the engine has no memory for it");
    fault->line = gbx_read_count(realm, answer, realm->n_line);
    fault->column = gbx_read_count(realm, answer, realm->n_column);
    (void)gbx_value_copy(ctx, JSObjectGetProperty(ctx, answer, realm->n_message, NULL),
                         fault->message, sizeof fault->message);
    return NULL;
}

/* ---- all formats ------------------------------------------------------------- */

static JSValueRef read_data(gbx_realm *realm, const gbx_realm_data *data,
                            gbx_realm_fault *fault)
{
    const char *text = data->text.len > 0 ? (const char *)data->text.data : "";
    size_t len = data->text.len;
    uint32_t line, column;
    size_t bad;

    if (!gbx_utf8_valid((const uint8_t *)text, len, &bad)) {
        gbx_utf8_position(text, len, bad, &line, &column);
        return refuse(fault, line, column,
                      "not UTF-8: convert the file, for instance with iconv");
    }
    switch (data->format & 0x0F) {
    case GBX_DATA_JSON: return read_json(realm, text, len, fault);
    case GBX_DATA_NDJSON: return read_lines(realm, text, len, data->format, fault);
    case GBX_DATA_CSV:
    case GBX_DATA_TSV: return read_table(realm, text, len, data->format, fault);
    default: return refuse(fault, 0, 0, "its format is unknown");
    }
}

bool gbx_realm_load(gbx_realm *realm, const gbx_realm_data *data,
                    gbx_realm_fault *ret_fault)
{
    JSStringRef key = gbx_string_new(data->name.data, data->name.len);
    JSValueRef value;

    *ret_fault = (gbx_realm_fault){.line = 0};
    value = key != NULL ? read_data(realm, data, ret_fault) : NULL;
    if (value != NULL) {
        if (realm->datasets == NULL) {
            /* No prototype: every name is usable, even __proto__. */
            realm->datasets =
                gbx_object(gbx_evaluate_script(realm, "({__proto__: null})"));
            gbx_set(realm->ctx, realm->global, "datasets", realm->datasets,
                    kJSPropertyAttributeDontEnum);
        }
        realm->dataset_count += !JSObjectHasProperty(realm->ctx, realm->datasets, key);
        JSObjectSetProperty(realm->ctx, realm->datasets, key, value, 0, NULL);
        realm->only_dataset = realm->dataset_count == 1 ? value : NULL;
    }
    gbx_string_release(&key);
    return value != NULL;
}
