/* SPDX-License-Identifier: MIT */
/* loaded_curl - see loaded_curl.h. */
#include "loaded_curl.h"

gbx_libcurl loaded_curl;

int curl_set_up(void **state)
{
    return gbx_libcurl_load(&loaded_curl, NULL) == GBX_OK ? 0 : -1;
}

int curl_tear_down(void **state)
{
    gbx_libcurl_unload(&loaded_curl);
    return 0;
}
