/* SPDX-License-Identifier: MIT */
/* text - converts strings and plain values from and to JavaScript. */
#include "addon.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static void refuse(napi_env env, napi_status status)
{
    if (status == napi_string_expected)
        (void)napi_throw_type_error(env, NULL, "a string was expected");
    else
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a string");
}

bool gbx_node_is_undefined(napi_env env, napi_value value)
{
    napi_valuetype type;

    return napi_typeof(env, value, &type) == napi_ok &&
           (type == napi_undefined || type == napi_null);
}

/* Write a string of len bytes of UTF-8, and a NUL. ASCII is copied: the conversion to
 * UTF-8 looks at every character. */
static bool write_text(napi_env env, napi_value value, char *to, size_t len)
{
    size_t units = 0;

    return napi_get_value_string_utf16(env, value, NULL, 0, &units) == napi_ok &&
           (units == len
                ? napi_get_value_string_latin1
                : napi_get_value_string_utf8)(env, value, to, len + 1, &len) == napi_ok;
}

char *gbx_node_string(napi_env env, napi_value value, size_t *ret_len)
{
    napi_status status;
    char *data;

    *ret_len = 0;
    if (gbx_node_is_undefined(env, value))
        return NULL;
    status = napi_get_value_string_utf8(env, value, NULL, 0, ret_len);
    if (status != napi_ok) {
        refuse(env, status);
        return NULL;
    }
    data = malloc(*ret_len + 1);
    if (data == NULL)
        refuse(env, napi_generic_failure);
    else
        (void)write_text(env, value, data, *ret_len);
    return data;
}

bool gbx_node_text_take(napi_env env, napi_value value, gbx_node_text *ret)
{
    napi_status status;

    ret->data = NULL;
    ret->len = 0;
    status =
        napi_get_value_string_utf8(env, value, ret->room, sizeof ret->room, &ret->len);
    if (status == napi_string_expected && gbx_node_is_undefined(env, value)) {
        ret->len = 0;
        return true;
    }
    if (status != napi_ok) {
        refuse(env, status);
        return false;
    }
    /* If it may be cut, before a character of up to four bytes, take it again. */
    if (ret->len < sizeof ret->room - 4) {
        ret->data = ret->room;
        return true;
    }
    ret->data = gbx_node_string(env, value, &ret->len);
    return ret->data != NULL;
}

void gbx_node_text_cleanup(gbx_node_text *text)
{
    if (text->data != text->room)
        free(text->data);
    text->data = NULL;
}

bool gbx_node_get_number(napi_env env, napi_value object, const char *name, double *ret)
{
    napi_value value;

    return napi_get_named_property(env, object, name, &value) == napi_ok &&
           napi_get_value_double(env, value, ret) == napi_ok;
}

void gbx_node_get_u64(napi_env env, napi_value object, const char *name, uint64_t *ret)
{
    double number;

    if (gbx_node_get_number(env, object, name, &number) && number >= 0 &&
        number <= 0x1p53)
        *ret = (uint64_t)number;
}

bool gbx_node_get_bool(napi_env env, napi_value object, const char *name)
{
    napi_value value;
    bool is = false;

    return napi_get_named_property(env, object, name, &value) == napi_ok &&
           napi_get_value_bool(env, value, &is) == napi_ok && is;
}

napi_value gbx_node_undefined(napi_env env)
{
    napi_value value = NULL;

    (void)napi_get_undefined(env, &value);
    return value;
}

napi_value gbx_node_boolean(napi_env env, bool value)
{
    napi_value made;

    return napi_get_boolean(env, value, &made) == napi_ok ? made
                                                          : gbx_node_undefined(env);
}

napi_value gbx_node_number(napi_env env, double value)
{
    napi_value made;

    return napi_create_double(env, value, &made) == napi_ok ? made
                                                            : gbx_node_undefined(env);
}

napi_value gbx_node_utf8(napi_env env, const char *text, size_t len)
{
    napi_value value;

    return napi_create_string_utf8(env, text, len, &value) == napi_ok
               ? value
               : gbx_node_undefined(env);
}

bool gbx_node_args(napi_env env, napi_callback_info info, size_t count, napi_value *ret)
{
    return napi_get_cb_info(env, info, &count, ret, NULL, NULL) == napi_ok;
}

void gbx_node_throw(napi_env env, const gbx_error *error)
{
    const char *code = gbx_status_name(error->status);

    if (error->status == GBX_E_USAGE || error->status == GBX_E_POLICY)
        (void)napi_throw_type_error(env, code, error->message);
    else
        (void)napi_throw_error(env, code, error->message);
}

/* ---- large texts ----------------------------------------------------------- */

static void on_collected(napi_env env, void *data, void *hint)
{
    gbx_buf_cleanup(data);
    free(data);
}

static bool append_string(napi_env env, gbx_buf *to, napi_value value)
{
    size_t len = 0;
    char *at;

    if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok)
        return false;
    at = (char *)gbx_buf_reserve(to, len + 1);
    if (at == NULL || !write_text(env, value, at, len))
        return false;
    to->len += len;
    return true;
}

static bool append_bytes(napi_env env, gbx_buf *to, napi_value value)
{
    napi_typedarray_type type;
    size_t len = 0;
    void *data = NULL;

    return napi_get_typedarray_info(env, value, &type, &len, &data, NULL, NULL) ==
               napi_ok &&
           type == napi_uint8_array && gbx_buf_append(to, data, len);
}

/* (bytes expected) -> gather */
napi_value gbx_node_gather(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    napi_value value = NULL;
    double expected = 0;
    gbx_buf *made = calloc(1, sizeof *made);

    if (made != NULL)
        gbx_buf_init(made, SIZE_MAX / 2);
    if (made == NULL || !gbx_node_args(env, info, 1, argv) ||
        napi_get_value_double(env, argv[0], &expected) != napi_ok || expected < 0 ||
        expected > 0x1p40 || gbx_buf_reserve(made, (size_t)expected + 1) == NULL ||
        napi_create_external(env, made, on_collected, NULL, &value) != napi_ok) {
        if (made != NULL)
            on_collected(env, made, NULL);
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a large text");
        return NULL;
    }
    return value;
}

/* (gather, string or bytes) */
napi_value gbx_node_append(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    void *to = NULL;
    bool is_bytes = false;

    if (!gbx_node_args(env, info, 2, argv) ||
        napi_get_value_external(env, argv[0], &to) != napi_ok ||
        napi_is_typedarray(env, argv[1], &is_bytes) != napi_ok ||
        !(is_bytes ? append_bytes(env, to, argv[1]) : append_string(env, to, argv[1])))
        (void)napi_throw_error(env, "GBX_E_NOMEM", "cannot take over a large text");
    return NULL;
}

char *gbx_node_gather_take(napi_env env, napi_value value, size_t *ret_len)
{
    void *from = NULL;
    char *text;

    if (napi_get_value_external(env, value, &from) != napi_ok || from == NULL) {
        (void)napi_throw_type_error(env, NULL, "nothing was gathered");
        return NULL;
    }
    text = gbx_buf_take_string(from, ret_len);
    if (text == NULL)
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a large text");
    return text;
}
