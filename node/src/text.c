/* SPDX-License-Identifier: MIT */
/* text - see text.h. */
#include "text.h"

#include <stdlib.h>
#include <string.h>

static void refuse(napi_env env, napi_status status)
{
    if (status == napi_string_expected)
        (void)napi_throw_type_error(env, NULL, "a string was expected");
    else
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a string");
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_node_is_undefined(napi_env env, napi_value value)
{
    napi_valuetype type;

    return napi_typeof(env, value, &type) == napi_ok &&
           (type == napi_undefined || type == napi_null);
}

char *gbx_node_string(napi_env env, napi_value value, size_t *ret_len)
{
    size_t units;
    size_t len;
    char *data;
    napi_status status;

    *ret_len = 0;
    if (gbx_node_is_undefined(env, value))
        return NULL;
    status = napi_get_value_string_utf8(env, value, NULL, 0, &len);
    if (status != napi_ok) {
        refuse(env, status);
        return NULL;
    }
    units = len + 1;
    data = malloc(units);
    if (data == NULL)
        refuse(env, napi_generic_failure);
    else
        (void)napi_get_value_string_utf8(env, value, data, units, ret_len);
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
    /* A character of four bytes may have found no place at the end. */
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

static bool get_number(napi_env env, napi_value object, const char *name, double *ret)
{
    napi_value value;

    return napi_get_named_property(env, object, name, &value) == napi_ok &&
           napi_get_value_double(env, value, ret) == napi_ok;
}

void gbx_node_get_u32(napi_env env, napi_value object, const char *name, uint32_t *ret)
{
    double number;

    if (get_number(env, object, name, &number) && number >= 0 && number <= UINT32_MAX)
        *ret = (uint32_t)number;
}

void gbx_node_get_u64(napi_env env, napi_value object, const char *name, uint64_t *ret)
{
    double number;

    if (get_number(env, object, name, &number) && number >= 0 && number <= 0x1p53)
        *ret = (uint64_t)number;
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
