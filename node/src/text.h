/* SPDX-License-Identifier: MIT */
/* text - strings and plain values out of JavaScript. Only on the JavaScript thread. */
#ifndef GBX_NODE_SRC_TEXT_H
#define GBX_NODE_SRC_TEXT_H

#include <node_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* UTF-8 that ends in NUL. Short ones cost no allocation: do not copy the structure. */
typedef struct gbx_node_text {
    char *data; /* NULL: the value was undefined */
    size_t len;
    char room[2048];
} gbx_node_text;

/* False, with an exception thrown, if the value is neither a string nor undefined. */
bool gbx_node_text_take(napi_env env, napi_value value, gbx_node_text *ret);
void gbx_node_text_cleanup(gbx_node_text *text);

/* The same in memory of its own, for free(). NULL with an exception pending on failure;
 * NULL without one: undefined. */
char *gbx_node_string(napi_env env, napi_value value, size_t *ret_len);

/* The property if it is there, else as it was. */
void gbx_node_get_u32(napi_env env, napi_value object, const char *name, uint32_t *ret);
void gbx_node_get_u64(napi_env env, napi_value object, const char *name, uint64_t *ret);

bool gbx_node_is_undefined(napi_env env, napi_value value);

/* A value that cannot be made is undefined: what JavaScript sees is then at worst less. */
napi_value gbx_node_undefined(napi_env env);
napi_value gbx_node_boolean(napi_env env, bool value);
napi_value gbx_node_number(napi_env env, double value);
napi_value gbx_node_utf8(napi_env env, const char *text, size_t len);

#endif
