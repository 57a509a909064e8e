/* SPDX-License-Identifier: MIT */
/* loaded_curl - libcurl for a group of tests that read URLs with it. */
#ifndef GBX_TESTS_LOADED_CURL_H
#define GBX_TESTS_LOADED_CURL_H

#include "fetch/libcurl.h"

/* Of the group. */
extern gbx_libcurl loaded_curl;

int curl_set_up(void **state);
int curl_tear_down(void **state);

#endif
