/* SPDX-License-Identifier: MIT */
/* replayer_parts - what the files of the replayer share. */
#ifndef GBX_ENGINE_REPLAYER_PARTS_H
#define GBX_ENGINE_REPLAYER_PARTS_H

#include "engine/engine.h"
#include "engine/replayer.h"

struct gbx_replayer {
    gbx_record_head head;
    gbx_record_cursor cursor;
    gbx_record_event next; /* what must come now */
    gbx_limits limits;
    char dataset[GBX_NAME_MAX]; /* that the code is called with, or "" */
    gbx_policy *sites;          /* what the guard asks; nothing is ever fetched by it */
    bool is_over;
    uint32_t seen; /* requests of the worker */
};

/* ---- replay_box.c ------------------------------------------------------------------- */

gbx_status gbx_replayer_take_sites(struct gbx_replayer *replayer, gbx_error *reterr);

/* ---- compare.c ----------------------------------------------------------------------- */

/* Texts about what came and what should have, at most so long each. */
#define GBX_COMPARED_MAX GBX_KIB(4)

/* As a person would say it; appended. */
void gbx_describe_event(const gbx_record_event *event, gbx_buf *to);
void gbx_describe_request(const gbx_record_request *request, gbx_buf *to);
void gbx_describe_digest(const gbx_record_request *request, gbx_buf *to);

/* The call did something else: what differs, at which host call (0: none), and what
 * `came`, which is moved out of. What was recorded is in recorded, moved out of too. */
void gbx_replayer_diverge(gbx_run *run, const char *what, uint32_t host_call,
                          gbx_buf *recorded, gbx_buf *came);

bool gbx_request_equals(const gbx_record_request *a, const gbx_record_request *b);

/* Both calls ended by themselves. */
void gbx_replayer_compare_ends(gbx_run *run);

#endif
