/* SPDX-License-Identifier: MIT */
/* gather - see gather.h. */
#include "gather.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A character of a string is at most three bytes of UTF-8; two make one of four. */
#define BYTES_PER_UNIT 3

/* Longer strings are not looked at for being ASCII. input.js gives 16,384 and at most one
 * more, so as not to part two that are one character. */
#define PIECE_MAX 16385

typedef struct gather {
    char *data;
    size_t len;
    size_t capacity;
} gather;

static void on_collected(napi_env env, void *data, void *hint)
{
    gather *g = data;

    (void)env;
    (void)hint;
    free(g->data);
    free(g);
}

/* Room for n more bytes and a NUL. */
static char *reserve(gather *g, size_t n)
{
    size_t wanted = g->len + n + 1;
    char *data;

    if (wanted > g->capacity) {
        if (wanted < g->capacity / 2 * 3)
            wanted = g->capacity / 2 * 3;
        data = realloc(g->data, wanted);
        if (data == NULL)
            return NULL;
        g->data = data;
        g->capacity = wanted;
    }
    return g->data + g->len;
}

/* Of the text of a piece, if all of it is ASCII: a copy, where the general way looks at
 * every character. */
static bool narrow(char *to, const char16_t *from, size_t count)
{
    char16_t all = 0;

    for (size_t i = 0; i < count; i++) {
        all |= from[i];
        to[i] = (char)from[i];
    }
    return all < 0x80;
}

static bool append_string(napi_env env, gather *g, napi_value value)
{
    char16_t piece[PIECE_MAX + 1];
    size_t units = 0;
    size_t written = 0;
    char *at;

    if (napi_get_value_string_utf16(env, value, NULL, 0, &units) != napi_ok)
        return false;
    at = reserve(g, units * BYTES_PER_UNIT);
    if (at != NULL && units <= PIECE_MAX &&
        napi_get_value_string_utf16(env, value, piece, units + 1, &units) == napi_ok &&
        narrow(at, piece, units)) {
        g->len += units;
        return true;
    }
    if (at == NULL ||
        napi_get_value_string_utf8(env, value, at, units * BYTES_PER_UNIT + 1,
                                   &written) != napi_ok)
        return false;
    g->len += written;
    return true;
}

static bool append_bytes(napi_env env, gather *g, napi_value value)
{
    napi_typedarray_type type;
    size_t len = 0;
    void *data = NULL;
    char *at;

    if (napi_get_typedarray_info(env, value, &type, &len, &data, NULL, NULL) !=
            napi_ok ||
        type != napi_uint8_array)
        return false;
    at = reserve(g, len);
    if (at == NULL)
        return false;
    if (len > 0)
        memcpy(at, data, len);
    g->len += len;
    return true;
}

/* ---- public to other modules -------------------------------------------- */

napi_value gbx_node_gather(napi_env env, napi_callback_info info)
{
    size_t argc = 1;
    napi_value argv[1];
    napi_value value = NULL;
    double expected = 0;
    gather *g = calloc(1, sizeof *g);

    if (g == NULL || napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_double(env, argv[0], &expected) != napi_ok || expected < 0 ||
        expected > 0x1p40 || reserve(g, (size_t)expected) == NULL ||
        napi_create_external(env, g, on_collected, NULL, &value) != napi_ok) {
        if (g != NULL)
            on_collected(env, g, NULL);
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a large text");
        return NULL;
    }
    return value;
}

napi_value gbx_node_append(napi_env env, napi_callback_info info)
{
    size_t argc = 2;
    napi_value argv[2];
    void *g = NULL;
    bool is_bytes = false;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_external(env, argv[0], &g) != napi_ok ||
        napi_is_typedarray(env, argv[1], &is_bytes) != napi_ok ||
        !(is_bytes ? append_bytes(env, g, argv[1]) : append_string(env, g, argv[1])))
        (void)napi_throw_error(env, "GBX_E_NOMEM", "cannot take over a large text");
    return NULL;
}

char *gbx_node_gather_take(napi_env env, napi_value value, size_t *ret_len)
{
    void *data = NULL;
    gather *g;
    char *text;

    if (napi_get_value_external(env, value, &data) != napi_ok || data == NULL) {
        (void)napi_throw_type_error(env, NULL, "nothing was gathered");
        return NULL;
    }
    g = data;
    text = reserve(g, 0);
    if (text == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a large text");
        return NULL;
    }
    text = g->data;
    text[g->len] = 0;
    *ret_len = g->len;
    *g = (gather){0};
    return text;
}
