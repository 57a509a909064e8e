/* SPDX-License-Identifier: MIT */
/*
 * url_parser - addresses by the URL Standard (https://url.spec.whatwg.org/), without the engine.
 *
 * The states of its parser have its names. Text is UTF-8: all that has a meaning in an
 * address is ASCII, so it is read byte by byte.
 */
#ifndef GBX_REALM_URL_PARSER_H
#define GBX_REALM_URL_PARSER_H

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gbx_parsed_url {
    gbx_buf scheme, username, password, host, query, fragment;
    gbx_buf path;  /* "/" and a segment for each; of an opaque one its text */
    int32_t port;  /* -1: none, or that of the scheme */
    bool has_host; /* which may be empty */
    bool has_query, has_fragment, is_opaque;
} gbx_parsed_url;

/* What a setter may set. */
typedef enum gbx_url_part {
    GBX_URL_PROTOCOL,
    GBX_URL_USERNAME,
    GBX_URL_PASSWORD,
    GBX_URL_HOST,
    GBX_URL_HOSTNAME,
    GBX_URL_PORT,
    GBX_URL_PATHNAME,
    GBX_URL_SEARCH,
    GBX_URL_HASH
} gbx_url_part;

void gbx_url_init(gbx_parsed_url *url);
void gbx_url_cleanup(gbx_parsed_url *url);

/* text may be relative to base, or base is NULL. False if it is not an address. */
bool gbx_url_parse(gbx_parsed_url *url, const gbx_parsed_url *base, const char *text,
                   size_t len);

/* Without a valid value nothing is set, or as much of it as is valid: as the standard says. */
void gbx_url_set(gbx_parsed_url *url, gbx_url_part part, const char *text, size_t len);

void gbx_url_write(const gbx_parsed_url *url, gbx_buf *to);

/* Find the function for names beyond ASCII in the engine's library; where files can be
 * opened. */
void gbx_url_learn(void);

/* ---- between these files ------------------------------------------------------- */

#define GBX_URL_TEXT_MAX GBX_MIB(256) /* the memory of a worker ends before */

/* What is written as %XX besides controls and what is not ASCII. */
typedef enum gbx_url_in {
    GBX_URL_IN_CONTROL,
    GBX_URL_IN_FRAGMENT,
    GBX_URL_IN_QUERY,
    GBX_URL_IN_SPECIAL_QUERY,
    GBX_URL_IN_PATH,
    GBX_URL_IN_USERINFO
} gbx_url_in;
void gbx_url_put(gbx_buf *to, int c, gbx_url_in which);

/* A name, an address in brackets, an IPv4 address; of other schemes what is not special in
 * an address. False if it cannot be a host. */
bool gbx_url_host(const uint8_t *text, size_t len, bool is_special, gbx_buf *to);

/* %XX become bytes. */
void gbx_url_undo_percent(const uint8_t *text, size_t len, gbx_buf *to);

#endif
