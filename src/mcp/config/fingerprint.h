/* SPDX-License-Identifier: MIT */
/*
 * fingerprint - is the file of a configuration still what it was when it was read? What runs goes
 * by what was read; who has edited the file since must hear that it is of no effect yet.
 */
#ifndef GBX_MCP_CONFIG_FINGERPRINT_H
#define GBX_MCP_CONFIG_FINGERPRINT_H

#include "base/sha256.h"
#include "mcp/config/config.h"

#include <sys/stat.h>

typedef struct gbx_config_fingerprint {
    bool is_set; /* it was a regular file: a pipe is read once */
    struct stat then;
    size_t len;
    uint8_t digest[GBX_SHA256_SIZE];
} gbx_config_fingerprint;

/* Of the open file whose contents these are. */
void gbx_config_fingerprint_set(gbx_config_fingerprint *stamp, int fd, const void *text,
                                size_t len);

/* Has the file at config->path other contents? Those are read only if the file was written
 * or replaced. False where it is gone or cannot be read: a restart would do no good. */
bool gbx_config_has_changed(const gbx_mcp_config *config);

#endif
