/* SPDX-License-Identifier: MIT */
/*
 * libcurl - the HTTP client library, loaded on demand.
 *
 * A host that needs no HTTP client loads neither libcurl nor its thirty dependencies,
 * which saves 4 ms at program start. Their symbols take precedence over the program's:
 * if a program exports functions of another OpenSSL (as Node does), libcurl does not
 * call those.
 */
#ifndef GBX_FETCH_LIBCURL_H
#define GBX_FETCH_LIBCURL_H

#include <glovebox/glovebox.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The type checks are macros with the functions' names. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* All functions of libcurl that are used. */
#define GBX_LIBCURL_MAP(XX)      \
    XX(curl_easy_cleanup)        \
    XX(curl_easy_escape)         \
    XX(curl_easy_getinfo)        \
    XX(curl_easy_header)         \
    XX(curl_easy_init)           \
    XX(curl_easy_pause)          \
    XX(curl_easy_setopt)         \
    XX(curl_easy_strerror)       \
    XX(curl_easy_unescape)       \
    XX(curl_free)                \
    XX(curl_global_cleanup)      \
    XX(curl_global_init)         \
    XX(curl_multi_add_handle)    \
    XX(curl_multi_assign)        \
    XX(curl_multi_cleanup)       \
    XX(curl_multi_info_read)     \
    XX(curl_multi_init)          \
    XX(curl_multi_perform)       \
    XX(curl_multi_poll)          \
    XX(curl_multi_remove_handle) \
    XX(curl_multi_setopt)        \
    XX(curl_multi_socket_action) \
    XX(curl_share_cleanup)       \
    XX(curl_share_init)          \
    XX(curl_share_setopt)        \
    XX(curl_slist_append)        \
    XX(curl_slist_free_all)      \
    XX(curl_url)                 \
    XX(curl_url_cleanup)         \
    XX(curl_url_get)             \
    XX(curl_url_set)             \
    XX(curl_version_info)

typedef struct gbx_libcurl {
#define XX(name) __typeof__(&name) name;
    GBX_LIBCURL_MAP(XX)
#undef XX
    const char *encodings;       /* for Accept-Encoding; no others are accepted */
    char certificates[PATH_MAX]; /* the bundle's file, if the system has none; or "" */
} gbx_libcurl;

/* Load and initialise libcurl; each success needs one gbx_libcurl_unload(). */
gbx_status gbx_libcurl_load(gbx_libcurl *ret, gbx_error *reterr) GBX_MUST_USE;
void gbx_libcurl_unload(const gbx_libcurl *lib);

/* Wipe and free a list of headers, which may contain secrets. */
void gbx_libcurl_wipe(const gbx_libcurl *lib, struct curl_slist *list);

/*
 * libcurl's transfers on a libevent loop: sockets and one timer, without blocking.
 */

struct event_base;

typedef struct gbx_multi gbx_multi;

/* lib is borrowed. While connections_max connections are in use, requests wait for one,
 * within their own deadlines; 0: the caller limits them. NULL: out of memory. */
gbx_multi *gbx_multi_new(const gbx_libcurl *lib, struct event_base *base,
                         long connections_max);

/* All transfers must have ended. */
void gbx_multi_free(gbx_multi *multi);

/* Called after a transfer, outside of libcurl: it may call any function. */
typedef void (*gbx_multi_done)(void *user, CURLcode result);

typedef struct gbx_multi_entry {
    gbx_multi_done done;
    void *user;
} gbx_multi_entry;

/* Both are borrowed until easy is removed or done was called; the multi uses the
 * handle's CURLOPT_PRIVATE. False: out of memory. */
bool gbx_multi_add(gbx_multi *multi, CURL *easy, const gbx_multi_entry *entry);

/* Run the transfers until all have ended or ms have passed. Blocks; the loop must not
 * run again. done is not called. */
void gbx_multi_drain(gbx_multi *multi, uint32_t ms);

/* Must not be called from a libcurl callback. */
void gbx_multi_remove(gbx_multi *multi, CURL *easy);

#endif
