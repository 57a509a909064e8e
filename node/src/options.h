/* SPDX-License-Identifier: MIT */
/*
 * options - what JavaScript said about an engine or a call, as the library wants it.
 * JavaScript has checked types and ranges; the library checks once more.
 */
#ifndef GBX_NODE_SRC_OPTIONS_H
#define GBX_NODE_SRC_OPTIONS_H

#include "engine.h"

#include <glovebox/fetch.h>
#include <glovebox/preload.h>

typedef struct gbx_node_options {
    gbx_options core;
    gbx_fetch_transport transport;
    gbx_preload *preloads;
    bool has_transport;
    bool has_audit;
    gbx_node_engine *engine; /* once it is known for whom they are */
} gbx_node_options;

/* NULL with an exception thrown. */
gbx_node_options *gbx_node_options_take(napi_env env, napi_value object);
void gbx_node_options_for(gbx_node_options *options, gbx_node_engine *engine);
void gbx_node_options_free(gbx_node_options *options);

/* The members of object that are limits. */
void gbx_node_limits_take(napi_env env, napi_value object, gbx_limits *ret);

/* The policy in a JSON text, or NULL for none; relative paths of it begin at base_dir, if
 * that is a string, and its files are taken unexamined if trust_files is true. False with
 * an exception thrown. */
bool gbx_node_policy_take(napi_env env, napi_value json, napi_value base_dir,
                          napi_value trust_files, gbx_policy **ret);

/* Throw what the library said: wrong use as TypeError, else as Error; .code is the
 * status' name. */
void gbx_node_throw(napi_env env, const gbx_error *error);

#endif
