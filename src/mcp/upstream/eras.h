/* SPDX-License-Identifier: MIT */
/*
 * eras - which servers are better not asked of which era they are, kept between runs.
 *
 * Only those are kept for which the question was costly: they died of it, or never
 * answered. After a week they are asked again. One small file in the user's cache; that it
 * cannot be read or written is no fault.
 */
#ifndef GBX_MCP_UPSTREAM_ERAS_H
#define GBX_MCP_UPSTREAM_ERAS_H

#include "base/sha256.h"
#include "mcp/config/config.h"

#define GBX_ERA_KEY_SIZE GBX_SHA256_HEX_SIZE
#define GBX_ERAS_MAX     256u

typedef struct gbx_eras {
    char *path; /* NULL: kept nowhere */
    char keys[GBX_ERAS_MAX][GBX_ERA_KEY_SIZE];
    int64_t since_ms[GBX_ERAS_MAX]; /* wall clock */
    size_t count;
} gbx_eras;

void gbx_eras_open(gbx_eras *eras, int64_t now_ms);
void gbx_eras_close(gbx_eras *eras);

/* What a server is known by: how it is started, without its environment. */
void gbx_era_key(const gbx_mcp_upstream_config *config, char ret[GBX_ERA_KEY_SIZE]);

bool gbx_eras_is_legacy(const gbx_eras *eras, const char *key);
void gbx_eras_note(gbx_eras *eras, const char *key, bool is_legacy, int64_t now_ms);

#endif
