/* SPDX-License-Identifier: MIT */
/*
 * run_input - all input of `glovebox run`, read before any process is started.
 *
 * A bad file costs no worker. JSON is not checked here: the worker parses it anyway,
 * and a good input should be parsed only once.
 */
#ifndef GBX_CLI_RUN_INPUT_H
#define GBX_CLI_RUN_INPUT_H

#include "cli/cli.h"

#include <glovebox/preload.h>

typedef struct gbx_run_args {
    const char *file;
    const char *data;
    gbx_opt_list datasets;
    gbx_opt_list preloads;
    int form; /* gbx_form */
    const char *params;
    const char *seed;
    const char *now;
    bool json;
    bool logs;
    const char *security_log;
    const char *record;
    bool record_input;
    gbx_limit_args limits;
    gbx_engine_args engine;
    gbx_policy_args policy;
    gbx_common_args common;
} gbx_run_args;

/* Borrows from the arguments. */
typedef struct gbx_run_input {
    gbx_file_text code;
    gbx_file_text data; /* data.data is NULL without input */
    gbx_file_text datasets[GBX_OPT_LIST_MAX];
    gbx_file_text preloads[GBX_OPT_LIST_MAX];
    gbx_buf bindings; /* a JSON object, or empty */
} gbx_run_input;

/* argument is the code, or NULL with args->file. False with *trouble filled. */
bool gbx_run_input_read(const gbx_run_args *args, char *argument, gbx_run_input *input,
                        gbx_trouble *trouble);

/* The same without code and parameters. */
bool gbx_run_input_read_data(const gbx_run_args *args, gbx_run_input *input,
                             gbx_trouble *trouble);

/* Load the datasets that were read and free each. False with *trouble filled. */
bool gbx_run_input_load(const gbx_run_args *args, gbx_run_input *input,
                        gbx_engine *engine, gbx_trouble *trouble);

/* The preloads by their paths, or the ends of long paths; GBX_OPT_LIST_MAX fit. Borrows
 * from both. */
size_t gbx_run_input_preloads(const gbx_run_args *args, const gbx_run_input *input,
                              gbx_preload *ret);

void gbx_run_input_cleanup(gbx_run_input *input);

#endif
