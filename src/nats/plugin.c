/* SPDX-License-Identifier: MIT */
/* plugin - see plugin.h. */
#include "nats/plugin.h"

#include "remote/remote.h"

#include <stdlib.h>

const char gbx_runner_version[] = GBX_VERSION;

typedef struct plugin {
    gbx_remote_url url;
    gbx_bus *bus;
    gbx_client *client;
} plugin;

static void plugin_free(plugin *p)
{
    gbx_client_free(p->client);
    if (p->bus != NULL)
        p->bus->ops->close(p->bus);
    free(p);
}

/* With a connection. */
static gbx_status plugin_new(const char *url, plugin **ret, gbx_error *reterr)
{
    plugin *p = calloc(1, sizeof *p);
    gbx_status status;

    if (p == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a connection");
    status = gbx_remote_url_parse(url, &p->url, reterr);
    if (status == GBX_OK)
        status = gbx_bus_nats_open(&p->url, "glovebox", &p->bus, reterr);
    if (status == GBX_OK)
        *ret = p;
    else
        plugin_free(p);
    return status;
}

static void dispose(void *client)
{
    plugin_free(*gbx_client_owner(client));
}

gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                           gbx_error *reterr)
{
    plugin *p;
    gbx_status status = plugin_new(options->runner_name, &p, reterr);

    if (status != GBX_OK)
        return status;
    p->client = gbx_client_new(p->bus, &p->url, reterr);
    status = p->client != NULL ? gbx_client_start(p->client, reterr) : GBX_E_NOMEM;
    if (status != GBX_OK) {
        plugin_free(p);
        return status;
    }
    gbx_client_runner(p->client, ret);
    ret->name = "nats";
    ret->user = p->client;
    ret->dispose = dispose;
    *gbx_client_owner(p->client) = p;
    return GBX_OK;
}

gbx_status gbx_runner_serve(const char *url, const gbx_server_options *options,
                            int stop_fd, gbx_error *reterr)
{
    plugin *p;
    gbx_status status = plugin_new(url, &p, reterr);

    if (status != GBX_OK)
        return status;
    status = gbx_server_run(p->bus, &p->url, options, stop_fd, reterr);
    plugin_free(p);
    return status;
}

gbx_status gbx_runner_list(const char *url, uint32_t wait_ms, char **ret_json,
                           gbx_error *reterr)
{
    plugin *p;
    gbx_status status = plugin_new(url, &p, reterr);

    if (status != GBX_OK)
        return status;
    *ret_json = gbx_service_list(p->bus, &p->url, wait_ms);
    plugin_free(p);
    return *ret_json != NULL ? GBX_OK
                             : gbx_fail(reterr, GBX_E_NOMEM, "no memory for a list");
}
