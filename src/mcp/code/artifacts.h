/* SPDX-License-Identifier: MIT */
/*
 * artifacts - what is too long to be shown, and what code wants kept, for readers of
 * resources: bounded in total, and for a time. The oldest go first.
 *
 * Time is a parameter: nanoseconds of gbx_clock_now_ns().
 */
#ifndef GBX_MCP_CODE_ARTIFACTS_H
#define GBX_MCP_CODE_ARTIFACTS_H

#include "base/buf.h"

#define GBX_ARTIFACT_URI_SIZE  64
#define GBX_ARTIFACT_MIME_SIZE 101
#define GBX_ARTIFACT_SCHEME    "artifact://"

typedef struct gbx_artifacts gbx_artifacts;

typedef struct gbx_artifact {
    char uri[GBX_ARTIFACT_URI_SIZE];
    char *name;      /* given by code: hostile */
    char *mime_type; /* likewise */
    char *data;
    size_t len;
    bool is_text; /* it is read as text, and not in base64 */
    int64_t expires_ns;
    struct gbx_artifact *next; /* younger */
} gbx_artifact;

/* NULL if memory is out. */
gbx_artifacts *gbx_artifacts_new(uint64_t max_bytes, uint32_t keep_ms);
/* The same beside another: every URI begins with the scheme and `origin`, a constant of at
 * most 16 characters that a URI may have. */
gbx_artifacts *gbx_artifacts_new_of(const char *origin, uint64_t max_bytes,
                                    uint32_t keep_ms);
void gbx_artifacts_free(gbx_artifacts *store);

/* UTF-8, and not bytes by its type: a reader must not find those in another place for their
 * content. */
bool gbx_artifacts_is_text(const char *mime_type, const void *data, size_t len);

/* Everything is copied. NULL if it is more than all that may be kept, or memory is out.
 * Borrowed, valid until the next change; of its members is_text may be set. */
gbx_artifact *gbx_artifacts_add(gbx_artifacts *store, const char *name,
                                const char *mime_type, const void *data, size_t len,
                                int64_t now_ns);

/* Append the contents that resources/read answers with for URI or URI?offset=N&length=M,
 * also with %3D and %26 in it: bytes, of text whole characters, and one at least, under the uri that was asked for.
 * Each says where it is and what comes next. False if there is no such thing (any more),
 * or what is asked for is no range; of a length of 0 there is none. */
bool gbx_artifacts_read(gbx_artifacts *store, const char *uri, int64_t now_ns,
                        gbx_buf *to);

/* Why there is nothing to read of uri, constant. */
const char *gbx_artifacts_fault(const gbx_artifacts *store, const char *uri);

/* A MIME type, as hosts may trust it to be: "type/subtype" with its parameters, in printable
 * ASCII, without the spaces around those. False if text is none. */
bool gbx_artifacts_mime(const char *text, char ret[GBX_ARTIFACT_MIME_SIZE]);

/* Where a cut of text may be: the beginning of a character, at or before at. */
size_t gbx_artifacts_border(const char *text, size_t len, size_t at);

#endif
