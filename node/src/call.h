/* SPDX-License-Identifier: MIT */
/* call - a call on its way: submitted here or on a thread, told when it has ended. */
#ifndef GBX_NODE_SRC_CALL_H
#define GBX_NODE_SRC_CALL_H

#include "engine.h"

/* Functions of the addon. */
napi_value gbx_node_submit(napi_env env, napi_callback_info info);
napi_value gbx_node_call_of(napi_env env, napi_callback_info info);
napi_value gbx_node_abort(napi_env env, napi_callback_info info);

#endif
