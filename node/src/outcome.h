/* SPDX-License-Identifier: MIT */
/* outcome - what JavaScript is told of a call: its lines while it runs, and its end. */
#ifndef GBX_NODE_SRC_OUTCOME_H
#define GBX_NODE_SRC_OUTCOME_H

#include "engine.h"

typedef struct gbx_node_call {
    gbx_node_event event;
    gbx_node_engine *engine;
    double id;
    gbx_result *result; /* NULL: the library refused, see error */
    gbx_error error;
    size_t lines_told;
    struct gbx_node_call *next; /* of those submitted on a thread; engine's lock */
    gbx_ticket ticket;          /* 0: not yet; engine's lock */
    bool is_unwanted;           /* aborted before there was a ticket; engine's lock */
    gbx_call core;
    gbx_limits limits;
    gbx_policy *policy;
    char *code;
    char *input;
    char *bindings;
    char *dataset;
} gbx_node_call;

/* Tell the end of the call that this is the event of. False: there is more to tell. */
bool gbx_node_outcome_tell(gbx_node_event *event, gbx_node_env *e, napi_env env);

/* A gbx_log_fn of the call `user`; on the engine's thread. */
void gbx_node_outcome_on_log(void *user, const gbx_log *log);

#endif
