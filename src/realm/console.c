/* SPDX-License-Identifier: MIT */
/*
 * console - sends lines to the host, within the call's share of text.
 *
 * A line longer than a frame is sent in pieces, cut between characters, which the host
 * joins: each piece but the last is marked as continued. When the share is used up, one
 * last piece is marked as cut, and the rest of the call is silent.
 */
#include "base/utf8.h"
#include "realm/internal.h"

#include <stdlib.h>
#include <string.h>

#include <glovebox/glovebox.h>

static void send(gbx_realm *realm, uint8_t level, const char *text, size_t len)
{
    bool fits = realm->log_left >= GBX_LOG_LINE_COST;

    realm->log_left -= fits ? GBX_LOG_LINE_COST : realm->log_left;
    do {
        size_t left = (size_t)realm->log_left;
        size_t n =
            gbx_utf8_cut(text, len, left < GBX_LOG_LINE_MAX ? left : GBX_LOG_LINE_MAX);
        bool cut = !fits || (n < len && left - n < 4);
        gbx_msg_log line = {
            .level = level,
            .flags = cut       ? GBX_LOG_CUT
                     : n < len ? GBX_LOG_GOES_ON
                               : 0,
            .text = {(const uint8_t *)text, n},
        };

        realm->host->log(realm->host->user, &line);
        realm->log_left -= n;
        realm->log_ended = cut;
        text += n;
        len -= n;
    } while (len > 0 && !realm->log_ended);
}

void gbx_console_emit(gbx_realm *realm, uint8_t level, JSStringRef text)
{
    size_t units = JSStringGetLength(text);
    size_t size = units < realm->log_left ? units * 3 + 1 : (size_t)realm->log_left + 8;
    char *to;

    /* No call is running, or it has no console and a preload has kept the functions. */
    if (realm->in == NULL || (realm->in->capabilities & GBX_CAP_CONSOLE) == 0 ||
        realm->host == NULL || realm->log_ended)
        return;
    to = malloc(size + 8);
    if (to == NULL)
        abort();
    send(realm, level, to, gbx_string_copy(text, to, size + 8));
    free(to);
}

JSValueRef gbx_console_on_rejection(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();

    if (argc >= 2 && realm->rejected_count < GBX_REJECTIONS_MAX) {
        JSValueRef *pair = realm->rejected[realm->rejected_count++];

        for (int i = 0; i < 2; i++) {
            pair[i] = argv[i];
            JSValueProtect(ctx, pair[i]);
        }
    }
    return JSValueMakeUndefined(ctx);
}

void gbx_console_rejections(gbx_realm *realm)
{
    static const char head[] = "Unhandled promise rejection: ";
    char line[GBX_KIB(4)];

    if ((realm->in->capabilities & GBX_CAP_CONSOLE) == 0 || realm->host == NULL)
        return;
    for (uint32_t i = 0; i < realm->rejected_count && !realm->log_ended; i++) {
        JSValueRef args[] = {realm->rejected[i][1], realm->inspect_options};
        JSValueRef text;
        size_t len;

        if (realm->rejected[i][0] == (JSValueRef)realm->promise)
            continue;
        text = JSObjectCallAsFunction(realm->ctx, realm->inspect, NULL, 2, args, NULL);
        memcpy(line, head, sizeof head);
        len = gbx_value_copy(realm->ctx, text, line + sizeof head - 1,
                             sizeof line - sizeof head);
        send(realm, GBX_LOG_ERROR, line, sizeof head - 1 + len);
    }
}
