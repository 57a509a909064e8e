/* SPDX-License-Identifier: MIT */
/*
 * mcp_import - servers of hosts, gathered into a configuration of ours.
 *
 * First everything is read and decided, then ours is written, if it loads, with a backup.
 * The hosts' files stay as they are.
 */
#ifndef GBX_CLI_MCP_IMPORT_H
#define GBX_CLI_MCP_IMPORT_H

#include "cli/cli.h"
#include "mcp/import/host_entry.h"

#define GBX_IMPORT_PLACES_MAX 32

/* One place that has servers, and what becomes of them. */
typedef struct gbx_import_place {
    gbx_host_place place;
    const json_t *inputs; /* of its file, while that is read */
    gbx_buf taken;        /* names of servers that start here now: "a, b" */
    bool has_us;          /* with our file */
} gbx_import_place;

typedef struct gbx_import {
    gbx_trust trust; /* of all files that are read */
    char own_path[PATH_MAX];
    int own_lock;    /* nobody else changes our file before we have; -1: none */
    gbx_edit own;    /* our file, as it will be */
    bool own_is_new; /* it is not there yet */
    bool own_changed;
    mode_t withheld;       /* rights of others to a file that servers were taken from */
    gbx_status own_status; /* of loading our file as it stands */
    gbx_error own_err;
    json_t *servers; /* all of ours: those that were there, and those that are taken */
    gbx_import_place places[GBX_IMPORT_PLACES_MAX];
    size_t place_count;
    char reported[PATH_MAX]; /* the last file that cannot be read */
    int exit; /* of the first file that cannot be read; 0: there is none */
    gbx_term out;
    gbx_term err;
} gbx_import;

/* Our file as it stands. It is ours alone until gbx_import_close(), unless is_dry. */
bool gbx_import_open(gbx_import *im, const char *path, bool is_dry,
                     gbx_trouble *trouble);
void gbx_import_close(gbx_import *im);

/* A file that cannot be read: where, and how it ends the command. */
void gbx_import_name_file(gbx_trouble *trouble, const char *path, gbx_status status);

/* Every place of one host; or a file by its path. What cannot be read is said, and keeps
 * nothing else from being taken: im->exit. */
void gbx_import_host(gbx_import *im, gbx_host_kind host);
void gbx_import_file(gbx_import *im, const char *path);

/* Would our file load, as it will be? Else nothing is written. A rule may have waited for
 * the servers that are taken now. */
bool gbx_import_check(gbx_import *im, gbx_trouble *trouble);
bool gbx_import_write(gbx_import *im, gbx_trouble *trouble);

#endif
