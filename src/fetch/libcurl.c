/* SPDX-License-Identifier: MIT */
/* libcurl - loads the library with dlopen(). */
#include "fetch/libcurl.h"

#include "base/cleanup.h"
#include "base/fail.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The same interface, with OpenSSL and with GnuTLS. */
static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

/* The first version with CURLOPT_PROTOCOLS_STR: without it any scheme might work. */
#define OLDEST      0x075500u
#define OLDEST_TEXT "7.85"

/* Sanitizers do not support RTLD_DEEPBIND. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define ORDER 0
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
        __has_feature(memory_sanitizer)
#        define ORDER 0
#    endif
#endif
#ifndef ORDER
#    define ORDER RTLD_DEEPBIND
#endif

static const char *find_functions(void *library, gbx_libcurl *ret)
{
    void *found;

#define XX(name)                   \
    found = dlsym(library, #name); \
    if (found == NULL)             \
        return #name;              \
    memcpy(&ret->name, &found, sizeof found);
    GBX_LIBCURL_MAP(XX)
#undef XX
    return NULL;
}

static bool is_readable_beside(const char *file, char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    int len = slash != NULL ? (int)(slash - file) : 0;

    return len > 0 &&
           snprintf(path, PATH_MAX, "%.*s/ca-certificates.crt", len, file) < PATH_MAX &&
           access(path, R_OK) == 0;
}

/* A bundle has its certificates beside the loader, which was executed, or the addon. */
static void find_certificates(const char *of_system, char path[PATH_MAX])
{
    char exe[PATH_MAX] = "";
    Dl_info us;

    if ((of_system != NULL && access(of_system, R_OK) == 0) ||
        (readlink("/proc/self/exe", exe, sizeof exe - 1) > 0 &&
         is_readable_beside(exe, path)) ||
        (dladdr(libraries, &us) != 0 && is_readable_beside(us.dli_fname, path)))
        return;
    *path = 0;
}

gbx_status gbx_libcurl_load(gbx_libcurl *ret, gbx_error *reterr)
{
    void *library = NULL;
    gbx_libcurl lib = {0};
    const curl_version_info_data *version;
    const char *missing;

    /* The library is never unloaded: its dependencies register exit handlers, and its
     * threads may still be resolving names. */
    for (size_t i = 0; i < GBX_COUNTOF(libraries) && library == NULL; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | ORDER);
    if (library == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "fetch needs libcurl: cannot load 'libcurl.so.4'");
    missing = find_functions(library, &lib);
    if (missing != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "fetch needs libcurl with '%s'",
                        missing);
    if (lib.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot start libcurl");
    version = lib.curl_version_info(CURLVERSION_NOW);
    if (version->version_num < OLDEST) {
        lib.curl_global_cleanup();
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "fetch needs libcurl " OLDEST_TEXT " or newer");
    }
    /* zstd is left out on purpose: a frame can require a window of 128 MiB. */
    lib.encodings = (version->features & CURL_VERSION_BROTLI) != 0 ? "gzip, deflate, br"
                                                                   : "gzip, deflate";
    find_certificates(version->cainfo, lib.certificates);
    *ret = lib;
    return GBX_OK;
}

void gbx_libcurl_unload(const gbx_libcurl *lib)
{
    if (lib->curl_global_cleanup != NULL)
        lib->curl_global_cleanup();
}

void gbx_libcurl_wipe(const gbx_libcurl *lib, struct curl_slist *list)
{
    for (struct curl_slist *at = list; at != NULL; at = at->next)
        explicit_bzero(at->data, strlen(at->data));
    lib->curl_slist_free_all(list);
}
