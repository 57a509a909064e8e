/* SPDX-License-Identifier: MIT */
/* described - what is told of a dataset, for those who know what it should be. */
#ifndef GBX_TESTS_DESCRIBED_H
#define GBX_TESTS_DESCRIBED_H

#include "mcp/data/datasets.h"

typedef enum part { TYPE, SIZE, EXAMPLES, STATISTICS, LOST, ALL } part;

/* The engine that describes, for all tests. */
int start_describing(void **state);
int stop_describing(void **state);

/* Of a dataset that is loaded for it; the caller frees it. */
char *told_by(const char *json, part what, const gbx_description *of);

/* As it is without options, and with all values shown. room: of types and examples. */
char *told(const char *json, part what, size_t room);
char *shown(const char *json, part what, size_t room);

/* It is that, or the test fails. */
void tells(const char *json, part what, const char *wanted);
void shows(const char *json, part what, const char *wanted);

/* {"k0":first,"k1":other,...} of so many members; more is put in before its end. The
 * caller frees it. */
char *map_of(size_t count, const char *first, const char *other, const char *more);

/* [value,value,...,last] with so many of value. The caller frees it. */
char *list_of(int count, const char *value, const char *last);

#endif
