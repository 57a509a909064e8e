/* SPDX-License-Identifier: MIT */
/*
 * mcp_import - collect servers of hosts into a configuration of ours.
 *
 * First everything is read and decided; then, if the new configuration loads, ours is
 * written, with a backup. The hosts' files stay unchanged.
 */
#ifndef GBX_CLI_MCP_IMPORT_H
#define GBX_CLI_MCP_IMPORT_H

#include "cli/cli.h"
#include "mcp/import/host_entry.h"

#define GBX_IMPORT_PLACES_MAX 32

/* One place that has servers, and their outcome. */
typedef struct gbx_import_place {
    gbx_host_place place;
    const json_t *inputs; /* of its file, only while that is read */
    gbx_buf taken;        /* servers that now start here: "a, b" */
    bool has_us;          /* it runs us with our file */
} gbx_import_place;

typedef struct gbx_import {
    gbx_trust trust; /* of all files that are read */
    char own_path[PATH_MAX];
    int own_lock;    /* keeps others from changing our file; -1: none */
    gbx_edit own;    /* our file with its changes */
    bool own_is_new; /* it does not exist yet */
    bool own_changed;
    mode_t withheld;       /* rights that others lack for a file that servers came
                              from */
    gbx_status own_status; /* of loading our file unchanged */
    gbx_error own_err;
    json_t *servers; /* all of ours: the old ones, and those added now */
    gbx_import_place places[GBX_IMPORT_PLACES_MAX];
    size_t place_count;
    char reported[PATH_MAX]; /* the last unreadable file */
    int exit;                /* of the first unreadable file; 0: none */
    gbx_term out;
    gbx_term err;
} gbx_import;

/* Open our file. It is locked until gbx_import_close(), unless is_dry. */
bool gbx_import_open(gbx_import *im, const char *path, bool is_dry,
                     gbx_trouble *trouble);
void gbx_import_close(gbx_import *im);

/* Report an unreadable file: its path, and the command's exit status. */
void gbx_import_name_file(gbx_trouble *trouble, const char *path, gbx_status status);

/* Read every place of one host; or a file by its path. An unreadable one is reported,
 * sets im->exit, and does not keep the rest from being imported. */
void gbx_import_host(gbx_import *im, gbx_host_kind host);
void gbx_import_file(gbx_import *im, const char *path);

/* Will our file load with its changes? Otherwise nothing is written. A rule may have
 * waited for the servers that are added now. */
bool gbx_import_check(gbx_import *im, gbx_trouble *trouble);
bool gbx_import_write(gbx_import *im, gbx_trouble *trouble);

#endif
