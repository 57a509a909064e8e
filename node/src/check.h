/* SPDX-License-Identifier: MIT */
/* check - the guard, without an engine. */
#ifndef GBX_NODE_SRC_CHECK_H
#define GBX_NODE_SRC_CHECK_H

#include <node_api.h>

/* (form, code, policy as JSON or undefined, code bytes at most)
 *   -> [code, message, line, column, rule, hint, frame, code, ...] */
napi_value gbx_node_check(napi_env env, napi_callback_info info);

#endif
