/* SPDX-License-Identifier: MIT */
/* sources - a folder for the files of a test, and what becomes of them as datasets. */
#ifndef GBX_TESTS_SOURCES_H
#define GBX_TESTS_SOURCES_H

#include "mcp/data/datasets.h"

typedef struct place {
    char folder[64];
    char path[128];
    char spec[4096];
} place;

/* For cmocka: the state is a place. */
int enter_place(void **state);
int leave_place(void **state);

/* The spec of the file, borrowed from the place. */
const char *write_file(place *p, const char *name, const void *data, size_t len);

gbx_status read_spec(const char *text, gbx_source *ret, gbx_error *error);

/* That JSON, or refused with that in the message; or the test fails. */
void becomes(const char *spec, const char *json);
void refused(const char *spec, gbx_status status, const char *message);

#endif
