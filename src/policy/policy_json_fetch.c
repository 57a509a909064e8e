/* SPDX-License-Identifier: MIT */
/* policy_json_fetch - the key "fetch" of a policy file. */
#include "policy/policy_json.h"

#include "base/cleanup.h"
#include "policy/internal.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gbx_status add_site(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    gbx_fetch_policy *fetch = target;

    return gbx_grant_site(&fetch->sites, &fetch->site_count, 0, text, len, r->err);
}

static gbx_status add_network(gbx_json_reader *r, const char *text, size_t len,
                              void *target)
{
    gbx_fetch_policy *fetch = target;
    gbx_network network;
    gbx_network *room;
    gbx_status status = gbx_list_check(fetch->network_count, "networks", r->err);

    if (status == GBX_OK)
        status = gbx_network_parse(text, len, &network, r->err);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < fetch->network_count; i++)
        if (memcmp(&fetch->networks[i], &network, sizeof network) == 0)
            return gbx_refuse(r->err, text, 0, "'%s' is listed twice: leave one out",
                              text);
    room = gbx_list_room(&fetch->networks, fetch->network_count, sizeof network);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    *room = network;
    fetch->network_count++;
    return GBX_OK;
}

static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                      "PATCH", "DELETE", "OPTIONS"};

static gbx_status add_method(gbx_json_reader *r, const char *text, size_t len,
                             void *target)
{
    gbx_fetch_policy *fetch = target;
    char quote[GBX_QUOTE_SIZE];

    if (gbx_names_find(fetch->methods, 0, fetch->method_count, text, len) <
        fetch->method_count)
        return gbx_refuse(r->err, text, 0, "'%s' is listed twice: leave one out", text);
    for (size_t i = 0; i < GBX_COUNTOF(methods); i++)
        if (strlen(methods[i]) == len && memcmp(methods[i], text, len) == 0)
            return gbx_names_add(&fetch->methods, &fetch->method_count, text, len,
                                 r->err);
    return gbx_refuse(r->err, text, 0,
                      "'%s' is not a method that can be allowed: GET, HEAD, POST, PUT, "
                      "PATCH, DELETE, OPTIONS",
                      gbx_quote(quote, text, len));
}

static gbx_status add_nameserver(gbx_json_reader *r, const char *text, size_t len,
                                 void *target)
{
    gbx_fetch_policy *fetch = target;
    GBX_CLEANUP(gbx_free) char *server = NULL;
    gbx_status status = gbx_list_check(fetch->nameserver_count, "name servers", r->err);

    if (status == GBX_OK)
        status = gbx_nameserver_parse(text, len, &server, r->err);
    if (status != GBX_OK)
        return status;
    if (gbx_names_find(fetch->nameservers, 0, fetch->nameserver_count, server,
                       strlen(server)) < fetch->nameserver_count)
        return gbx_refuse(r->err, text, 0, "'%s' is listed twice: leave one out",
                          server);
    return gbx_names_add(&fetch->nameservers, &fetch->nameserver_count, server,
                         strlen(server), r->err);
}

static gbx_status read_ca_file(gbx_json_reader *r, const json_t *value,
                               const gbx_json_key *key, void *target)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_fetch_policy *fetch = target;
    gbx_trusted_file file;
    gbx_error err = {0};
    struct stat st;
    char quote[GBX_QUOTE_SIZE];
    const char *name;
    (void)key;

    if (!json_is_string(value))
        return gbx_json_refuse_type(r, value, "the path of a file");
    name = json_string_value(value);
    if (asprintf(&fetch->ca_file, "%s%s%s", name[0] == '/' ? "" : r->base_dir,
                 name[0] == '/' ? "" : "/", name) < 0) {
        fetch->ca_file = NULL;
        return gbx_list_nomem(r->err);
    }
    file = (gbx_trusted_file){fetch->ca_file, "the CA file ", O_RDONLY | O_NONBLOCK,
                              r->policy->trust, false};
    if (gbx_trusted_file_open(&file, &fd, NULL, &err) != GBX_OK &&
        err.os_errno == EPERM)
        return gbx_json_refuse(r, "%s", err.message);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return gbx_json_refuse(r, "the file '%s' does not exist or cannot be read",
                               gbx_quote(quote, name, strlen(name)));
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_policy_read_fetch(gbx_json_reader *r, const json_t *value,
                                 const gbx_json_key *key, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "allow", .read = gbx_json_read_list, .add = add_site},
        {.name = "networks", .read = gbx_json_read_list, .add = add_network},
        {.name = "methods", .read = gbx_json_read_list, .add = add_method},
        GBX_JSON_NUMBER("maxBytes", gbx_fetch_policy, max_bytes, 1, GBX_MIB(1024)),
        GBX_JSON_NUMBER("maxRequestBytes", gbx_fetch_policy, max_request_bytes, 1,
                        GBX_MIB(64)),
        GBX_JSON_NUMBER("timeoutMs", gbx_fetch_policy, timeout_ms, 1, 600000),
        GBX_JSON_NUMBER("maxRedirects", gbx_fetch_policy, max_redirects, 0, 20),
        {.name = "nameservers", .read = gbx_json_read_list, .add = add_nameserver},
        {.name = "caFile", .read = read_ca_file},
    };
    gbx_policy *policy = target;
    gbx_status status =
        gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->fetch);
    (void)key;

    policy->capabilities |= GBX_CAP_FETCH;
    return status == GBX_OK ? gbx_json_require(r, value, "allow", "list the sites")
                            : status;
}
