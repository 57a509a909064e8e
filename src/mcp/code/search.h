/* SPDX-License-Identifier: MIT */
/*
 * search - which tools may be meant: BM25 over names, descriptions and parameters.
 *
 * A word that only begins like one of the query counts a little: "repo" finds
 * "repository", after what has "repo". Words as "the" and "of" do not count, unless there
 * are no others. Nothing is kept between searches: a few thousand tools take milliseconds.
 */
#ifndef GBX_MCP_CODE_SEARCH_H
#define GBX_MCP_CODE_SEARCH_H

#include "base/json_view.h"

typedef struct gbx_search_doc {
    const char *server;
    gbx_view tool; /* as tools/list has it */
    double score;
    size_t place; /* before the search */
} gbx_search_doc;

/* Score every tool, and sort: best first, equals in the order they had. A query without
 * words scores and moves nothing. False if memory is out. */
bool gbx_search_rank(gbx_search_doc *docs, size_t count, const char *query, size_t len);

#endif
