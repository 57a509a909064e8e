/* SPDX-License-Identifier: MIT */
/*
 * gather - a large text, taken over from JavaScript piece by piece: no piece holds the
 * event loop up for long.
 */
#ifndef GBX_NODE_SRC_GATHER_H
#define GBX_NODE_SRC_GATHER_H

#include <node_api.h>

#include <stddef.h>

/* Functions of the addon: (bytes expected) -> gather; (gather, string or bytes). */
napi_value gbx_node_gather(napi_env env, napi_callback_info info);
napi_value gbx_node_append(napi_env env, napi_callback_info info);

/* What was gathered, for free(), moved out; NULL with an exception thrown. */
char *gbx_node_gather_take(napi_env env, napi_value value, size_t *ret_len);

#endif
