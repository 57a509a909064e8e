/* SPDX-License-Identifier: MIT */
/*
 * libcurl - the HTTP client, loaded when a fetcher is made.
 *
 * A host whose code fetches nothing does not load it or the thirty libraries that it
 * brings, which costs 4 ms at program start. Its libraries take precedence over the
 * program's: if a program exports functions of another OpenSSL (as Node does), libcurl
 * does not call those.
 */
#ifndef GBX_FETCH_LIBCURL_H
#define GBX_FETCH_LIBCURL_H

#include <glovebox/glovebox.h>

/* The type checks are macros with the functions' names. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* Every function of it that we use. */
#define GBX_LIBCURL_MAP(XX)      \
    XX(curl_easy_cleanup)        \
    XX(curl_easy_getinfo)        \
    XX(curl_easy_init)           \
    XX(curl_easy_pause)          \
    XX(curl_easy_setopt)         \
    XX(curl_easy_strerror)       \
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
    const char *encodings; /* for Accept-Encoding; no others are accepted */
} gbx_libcurl;

/* Load and start it; gbx_libcurl_unload() for each that succeeded. */
gbx_status gbx_libcurl_load(gbx_libcurl *ret, gbx_error *reterr) GBX_MUST_USE;
void gbx_libcurl_unload(const gbx_libcurl *lib);

/* Free a list of headers; there may be secrets in them. */
void gbx_libcurl_wipe(const gbx_libcurl *lib, struct curl_slist *list);

#endif
