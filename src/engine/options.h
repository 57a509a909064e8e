/* SPDX-License-Identifier: MIT */
/* options - options, limits and calls as the caller gave them, checked and complete. */
#ifndef GBX_ENGINE_OPTIONS_H
#define GBX_ENGINE_OPTIONS_H

#include "base/fail.h"

#include <glovebox/fetch.h>

/* Room in an engine for paths and names it copies. */
#define GBX_PATH_SIZE 512

/* Complete options: no zero means default any more. */
typedef struct gbx_settings {
    gbx_options options;             /* its strings point below, or are NULL */
    char worker_path[GBX_PATH_SIZE]; /* "" : search */
    char runner_name[64];
    gbx_fetch_transport transport;
} gbx_settings;

/* options may be NULL. */
gbx_status gbx_settings_init(gbx_settings *settings, const gbx_options *options,
                             gbx_error *reterr);

/* The limits of one call: the engine's, lowered by asked (which may be NULL). */
gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr);

/* What by says lowers limits; its zeros say nothing. */
void gbx_limits_lower(gbx_limits *limits, const gbx_limits *by);

/* Options as the caller's build knows them, as ours; NULL for all defaults. */
gbx_status gbx_options_import(const gbx_options *given, gbx_options *ret,
                              gbx_error *reterr);

/* A call as the caller's build knows it, as ours. */
gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr);

#endif
