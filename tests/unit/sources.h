/* SPDX-License-Identifier: MIT */
/* sources - files of a test, and what becomes of them as datasets. */
#ifndef GBX_TESTS_SOURCES_H
#define GBX_TESTS_SOURCES_H

#include "mcp/data/datasets.h"

/* The file that was written last, in the scratch folder, and its spec. */
typedef struct place {
    char path[128];
    char spec[4096];
} place;
extern place here;

/* Write it; its spec, as a dataset "d". */
const char *write_file(const char *name, const void *data, size_t len);

gbx_status read_spec(const char *text, gbx_source *ret, gbx_error *error);

/* That JSON, or refused with that in the message; or the test fails. */
void becomes(const char *spec, const char *json);
void refused(const char *spec, gbx_status status, const char *message);

#endif
