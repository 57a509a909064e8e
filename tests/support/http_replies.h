/* SPDX-License-Identifier: MIT */
/* http_replies - what the server says to a request; http_server.h lists the paths. */
#ifndef GBX_TESTS_HTTP_REPLIES_H
#define GBX_TESTS_HTTP_REPLIES_H

#include "http_channel.h"
#include "http_server.h"

/* request is a head and body as read, ending in NUL. */
void reply_to(channel *to, const server_options *options, const char *request);

#endif
