/* SPDX-License-Identifier: MIT */
/*
 * hostcall - what code in the box asks of JavaScript: functions that were exposed, and
 * fetches where JavaScript is the transport. Asked on the engine's thread, told to the
 * dispatcher, answered on the JavaScript thread whenever it likes.
 */
#ifndef GBX_NODE_SRC_HOSTCALL_H
#define GBX_NODE_SRC_HOSTCALL_H

#include "engine.h"

#include <glovebox/fetch.h>

/* Callbacks of the library; user is the gbx_node_engine. */
void gbx_node_on_fetch(void *user, gbx_engine *core, gbx_transport_token token,
                       const gbx_transport_request *given);
void gbx_node_on_audit(void *user, const char *line, size_t len);

/* Functions of the addon. */
napi_value gbx_node_expose(napi_env env, napi_callback_info info);
napi_value gbx_node_answer(napi_env env, napi_callback_info info);
napi_value gbx_node_answer_error(napi_env env, napi_callback_info info);
napi_value gbx_node_answer_fetch(napi_env env, napi_callback_info info);

#endif
