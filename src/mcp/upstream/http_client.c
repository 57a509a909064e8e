/* SPDX-License-Identifier: MIT */
/* http_client - see internal.h. */
#include "mcp/upstream/internal.h"

#include <stdlib.h>

static void on_event(void *user, gbx_http_exchange *exchange,
                     const gbx_sse_event *event)
{
    (void)user;
    (void)exchange;
    (void)event;
}

static void on_done(void *user, gbx_http_exchange *exchange, CURLcode result)
{
    gbx_http_client *web = user;
    gbx_http_exchange **at = &web->farewells;

    (void)result;
    while (*at != exchange)
        at = &(*at)->next;
    *at = exchange->next;
    gbx_http_exchange_free(exchange);
}

/* ---- the rest of upstream ------------------------------------------------- */

gbx_status gbx_http_client_new(struct event_base *base, gbx_http_client **ret,
                               gbx_error *reterr)
{
    gbx_http_client *web = calloc(1, sizeof *web);
    gbx_status status;

    if (web == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    web->base = base;
    status = gbx_libcurl_load(&web->lib, reterr);
    if (status == GBX_OK) {
        /* Each link limits its own transfers: with a common limit, one server that
         * never answers would use up the share of the others. */
        web->multi = gbx_multi_new(&web->lib, base, 0);
        if (web->multi == NULL)
            status = gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    }
    if (status != GBX_OK) {
        gbx_http_client_free(web);
        return status;
    }
    *ret = web;
    return GBX_OK;
}

void gbx_http_client_free(gbx_http_client *web)
{
    if (web == NULL)
        return;
    while (web->farewells != NULL) {
        gbx_http_exchange *exchange = web->farewells;

        web->farewells = exchange->next;
        gbx_http_exchange_free(exchange);
    }
    gbx_multi_free(web->multi);
    gbx_libcurl_unload(&web->lib);
    free(web);
}

void gbx_http_client_finish(gbx_http_client *web, uint32_t ms)
{
    if (web != NULL && web->farewells != NULL)
        gbx_multi_drain(web->multi, ms);
}

void gbx_http_client_say_farewell(gbx_http_client *web,
                                  const gbx_http_exchange_options *options)
{
    gbx_http_exchange_options own = *options;
    gbx_http_exchange *exchange;

    own.hooks = (gbx_http_exchange_hooks){.event = on_event, .done = on_done};
    own.user = web;
    exchange = gbx_http_exchange_start(&own);
    if (exchange == NULL)
        return;
    exchange->next = web->farewells;
    web->farewells = exchange;
}
