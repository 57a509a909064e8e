/* SPDX-License-Identifier: MIT */
/*
 * url_parser - addresses by the URL Standard (https://url.spec.whatwg.org/), without
 * the engine.
 *
 * The states have the names of the standard's parser. Text is UTF-8 and is read byte by
 * byte: everything significant in an address is ASCII.
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
    int32_t port;  /* -1: none, or the scheme's default */
    bool has_host; /* which may be empty */
    bool has_query, has_fragment, is_opaque;
} gbx_parsed_url;

/* The parts that a setter can set. */
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

/* text may be relative to base, or base is NULL. False if it is not a valid address. */
bool gbx_url_parse(gbx_parsed_url *url, const gbx_parsed_url *base, const char *text,
                   size_t len);

/* An invalid value sets nothing, or only its valid part, as the standard says. */
void gbx_url_set(gbx_parsed_url *url, gbx_url_part part, const char *text, size_t len);

void gbx_url_write(const gbx_parsed_url *url, gbx_buf *to);

/* Find the function for non-ASCII names in the engine's library. Call while files
 * can be opened. */
void gbx_url_learn(void);

/* ---- between these files ------------------------------------------------------- */

#define GBX_URL_TEXT_MAX GBX_MIB(256) /* a worker's memory ends earlier */

/* Which characters are written as %XX besides controls and non-ASCII. */
typedef enum gbx_url_in {
    GBX_URL_IN_CONTROL,
    GBX_URL_IN_FRAGMENT,
    GBX_URL_IN_QUERY,
    GBX_URL_IN_SPECIAL_QUERY,
    GBX_URL_IN_PATH,
    GBX_URL_IN_USERINFO
} gbx_url_in;
void gbx_url_put(gbx_buf *to, int c, gbx_url_in which);

/* A name, an address in brackets, or an IPv4 address. For other schemes, any text
 * without characters that are special in an address. False if it cannot be a host. */
bool gbx_url_host(const uint8_t *text, size_t len, bool is_special, gbx_buf *to);

/* Decode %XX to bytes. */
void gbx_url_undo_percent(const uint8_t *text, size_t len, gbx_buf *to);

#endif
