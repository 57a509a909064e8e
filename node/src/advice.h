/* SPDX-License-Identifier: MIT */
/* advice - what the library says of code that does not parse, for another parser. */
#ifndef GBX_NODE_SRC_ADVICE_H
#define GBX_NODE_SRC_ADVICE_H

#include <node_api.h>

/* (form, code) -> [text, line, column, mayBeTypeScript]: the code as the engine gets it,
 * without what is around it, and where in the code it begins. */
napi_value gbx_node_proper(napi_env env, napi_callback_info info);

/* (form, code, message in the engine's words, line, column)
 *   -> [line, column, hint, frame] */
napi_value gbx_node_explain(napi_env env, napi_callback_info info);

#endif
