/* SPDX-License-Identifier: MIT */
/*
 * fuzz_oauth - whatever a server and its authorization server say of themselves, what is
 * found names that very server, and only endpoints that may be asked for its sake.
 *
 * Input: lines; the challenge, then the documents in the order in which they are asked for.
 * An empty one is not there.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/upstream/internal.h"

#include <stdlib.h>
#include <string.h>

#define URL "https://mcp.example.com/a/mcp"

static const gbx_libcurl *library(void)
{
    static gbx_libcurl lib;

    if (lib.curl_url == NULL)
        assert(gbx_libcurl_load(&lib, NULL) == GBX_OK);
    return &lib;
}

static json_t *get(void *user, const char *url)
{
    char **rest = user;
    const char *line = strsep(rest, "\n");
    json_t *value = NULL;

    assert(gbx_oauth_is_safe(library(), URL, url));
    if (line != NULL)
        value = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

static void check_found(const gbx_oauth_metadata *found)
{
    static const char *const endpoints[] = {"authorization_endpoint", "token_endpoint"};

    assert(strcasestr(found->resource, "mcp.example.com") != NULL);
    assert(strcmp(gbx_oauth_text(found->endpoints, "issuer"), found->issuer) == 0);
    for (size_t i = 0; i < GBX_COUNTOF(endpoints); i++) {
        const char *endpoint = gbx_oauth_text(found->endpoints, endpoints[i]);

        assert(strncasecmp(endpoint, "https:", 6) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_need(strndup((const char *)data, size));
    gbx_oauth_metadata found = {0};
    gbx_error err = {0};
    char *rest = text;
    const char *challenge = strsep(&rest, "\n");

    if (gbx_oauth_discover(library(), URL, challenge, get, &rest, &found, &err) ==
        GBX_OK)
        check_found(&found);
    else
        assert(err.message[0] != '\0');
    gbx_oauth_metadata_cleanup(&found);
    return 0;
}
