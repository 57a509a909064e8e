/* SPDX-License-Identifier: MIT */
/*
 * curl_setup - libcurl's options for one hop. Each option that takes something away has
 * its reason next to it; defaults that are right today are set all the same.
 */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <glovebox/version.h>
#include <string.h>

/* libcurl is about to resolve a name by itself: never. */
static int refuse_to_resolve(void *state, void *reserved, void *user)
{
    (void)state;
    (void)reserved;
    (void)user;
    return 1;
}

static bool set_numbers(const gbx_libcurl *lib, CURL *curl)
{
    static const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_NOSIGNAL, 1},       /* signals belong to the program */
        {CURLOPT_FOLLOWLOCATION, 0}, /* every hop is checked here */
        {CURLOPT_FRESH_CONNECT, 1},  /* a connection belongs to one hop: it was */
        {CURLOPT_FORBID_REUSE, 1}, /* checked for one policy, and holds no leftovers */
        {CURLOPT_SSL_SESSIONID_CACHE, 0},
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1}, /* the smaller parser */
        {CURLOPT_HTTP09_ALLOWED, 0},
        {CURLOPT_NETRC, CURL_NETRC_IGNORED},
        {CURLOPT_UNRESTRICTED_AUTH, 0},
        {CURLOPT_PATH_AS_IS, 1}, /* sends what was checked */
        {CURLOPT_SSL_VERIFYPEER, 1},
        {CURLOPT_SSL_VERIFYHOST, 2},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_TCP_KEEPALIVE, 0},
        {CURLOPT_DISALLOW_USERNAME_IN_URL, 1},
    };

    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        if (lib->curl_easy_setopt(curl, numbers[i].option, numbers[i].value) !=
            CURLE_OK)
            return false;
    return true;
}

static bool set_strings(const gbx_libcurl *lib, CURL *curl, const gbx_hop *hop)
{
    const struct {
        CURLoption option;
        const char *value;
    } strings[] = {
        {CURLOPT_URL, hop->url->text},
        {CURLOPT_PROTOCOLS_STR,
         hop->url->scheme == GBX_SCHEME_HTTPS ? "https" : "http"},
        {CURLOPT_PROXY, ""}, /* ignores the environment's, too */
        {CURLOPT_NOPROXY, "*"},
        {CURLOPT_ACCEPT_ENCODING, lib->encodings},
        {CURLOPT_USERAGENT, "glovebox/" GBX_VERSION},
    };

    for (size_t i = 0; i < GBX_COUNTOF(strings); i++)
        if (lib->curl_easy_setopt(curl, strings[i].option, strings[i].value) !=
            CURLE_OK)
            return false;
    /* The policy's file replaces the system's store instead of adding to it. */
    return hop->ca_file == NULL ||
           (lib->curl_easy_setopt(curl, CURLOPT_CAINFO, hop->ca_file) == CURLE_OK &&
            lib->curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

static bool append(const gbx_libcurl *lib, struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = lib->curl_slist_append(*list, text);

    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

/*
 * Pin the checked addresses: libcurl finds them for any name it looks up ("*" stands
 * for all names). The cache belongs to this handle, so no other request's addresses are
 * in it.
 */
static bool pin(gbx_easy *easy, const gbx_hop *hop)
{
    const gbx_libcurl *lib = easy->lib;
    char text[GBX_IP_TEXT_MAX];
    gbx_buf entry;
    bool fine;

    gbx_buf_init(&entry, GBX_KIB(8));
    (void)gbx_buf_printf(&entry, "*:%u:", (unsigned)hop->url->port);
    for (size_t i = 0; i < hop->address_count; i++) {
        gbx_ip_text(&hop->addresses[i], text);
        (void)gbx_buf_printf(&entry, hop->addresses[i].is_v6 ? "%s[%s]" : "%s%s",
                             i > 0 ? "," : "", text);
    }
    (void)gbx_buf_append(&entry, "", 1);
    fine = !entry.failed && append(lib, &easy->resolve, (const char *)entry.data);
    gbx_buf_cleanup(&entry);
    easy->share = lib->curl_share_init();
    return fine && easy->share != NULL &&
           lib->curl_share_setopt(easy->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) ==
               CURLSHE_OK &&
           lib->curl_easy_setopt(easy->curl, CURLOPT_SHARE, easy->share) == CURLE_OK &&
           lib->curl_easy_setopt(easy->curl, CURLOPT_RESOLVE, easy->resolve) ==
               CURLE_OK &&
           lib->curl_easy_setopt(easy->curl, CURLOPT_RESOLVER_START_FUNCTION,
                                 refuse_to_resolve) == CURLE_OK;
}

static bool add_header(gbx_easy *easy, const gbx_field *field)
{
    const gbx_libcurl *lib = easy->lib;
    bool is_empty = field->value[0] == '\0';
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {0};

    /* "Name;" makes libcurl send a header without a value. */
    gbx_buf_init_secret(&line,
                        strlen(field->name) + strlen(field->value) + sizeof ": ");
    (void)gbx_buf_printf(&line, "%s%s%s", field->name, is_empty ? ";" : ": ",
                         field->value);
    (void)gbx_buf_append(&line, "", 1);
    return !line.failed && append(lib, &easy->headers, (const char *)line.data);
}

static bool set_headers(gbx_easy *easy, const gbx_fields *headers)
{
    const gbx_libcurl *lib = easy->lib;

    for (size_t i = 0; i < headers->count; i++)
        if (!add_header(easy, &headers->items[i]))
            return false;
    /* libcurl would invent these. */
    if (gbx_fields_get(headers, "content-type") == NULL &&
        !append(lib, &easy->headers, "Content-Type:"))
        return false;
    return append(lib, &easy->headers, "Expect:") &&
           lib->curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, easy->headers) ==
               CURLE_OK;
}

static bool set_method(const gbx_libcurl *lib, CURL *curl,
                       const gbx_fetch_request *request)
{
    bool has_body = request->body != NULL || strcmp(request->method, "POST") == 0 ||
                    strcmp(request->method, "PUT") == 0 ||
                    strcmp(request->method, "PATCH") == 0;

    if (strcmp(request->method, "HEAD") == 0)
        return lib->curl_easy_setopt(curl, CURLOPT_NOBODY, 1L) == CURLE_OK;
    if (has_body &&
        (lib->curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)request->body_len) != CURLE_OK ||
         lib->curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                               request->body != NULL ? request->body : "") != CURLE_OK))
        return false;
    return lib->curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method) ==
           CURLE_OK;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_easy_init(gbx_easy *easy, const struct gbx_hop *hop)
{
    const gbx_libcurl *lib = hop->url->lib;

    *easy = (gbx_easy){.lib = lib, .curl = lib->curl_easy_init()};
    return easy->curl != NULL &&
           lib->curl_easy_setopt(easy->curl, CURLOPT_ERRORBUFFER, easy->error) ==
               CURLE_OK &&
           set_numbers(lib, easy->curl) && set_strings(lib, easy->curl, hop) &&
           pin(easy, hop) && set_headers(easy, hop->headers) &&
           set_method(lib, easy->curl, hop->request);
}

void gbx_easy_cleanup(gbx_easy *easy)
{
    const gbx_libcurl *lib = easy->lib;

    if (lib == NULL)
        return;
    if (easy->curl != NULL)
        lib->curl_easy_cleanup(easy->curl);
    if (easy->share != NULL)
        (void)lib->curl_share_cleanup(easy->share);
    gbx_libcurl_wipe(lib, easy->headers);
    lib->curl_slist_free_all(easy->resolve);
    *easy = (gbx_easy){0};
}

void gbx_easy_fault(const gbx_easy *easy, CURLcode result, const char *host,
                    gbx_fault *fault)
{
    if (fault->code != GBX_FAULT_NONE)
        return;
    gbx_fault_detail(fault, "%s",
                     easy->error[0] != '\0' ? easy->error
                                            : easy->lib->curl_easy_strerror(result));
    switch ((int)result) {
    case CURLE_COULDNT_CONNECT:
        (void)gbx_fault_set(fault, GBX_FAULT_CONNECT, "fetch: cannot connect to '%s'",
                            host);
        break;
    case CURLE_OPERATION_TIMEDOUT:
        (void)gbx_fault_set(fault, GBX_FAULT_TIMEOUT, "fetch: '%s' took too long",
                            host);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        (void)gbx_fault_set(fault, GBX_FAULT_TLS,
                            "fetch: the certificate of '%s' is not to be trusted",
                            host);
        break;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ENGINE_INITFAILED:
        (void)gbx_fault_set(fault, GBX_FAULT_TLS,
                            "fetch: no encrypted connection to '%s' could be made",
                            host);
        break;
    case CURLE_OUT_OF_MEMORY:
        /* libcurl also returns this for a header line that is too long for it. */
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer has a header that is too long");
        break;
    case CURLE_BAD_CONTENT_ENCODING:
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer cannot be decompressed");
        break;
    default:
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer is not HTTP, or ended early");
        break;
    }
}
