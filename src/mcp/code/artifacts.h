/* SPDX-License-Identifier: MIT */
/*
 * artifacts - keep results that are too long to show, and values that code wants to
 * keep, for resources/read. Total size and lifetime are bounded; the oldest go first.
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
    bool is_text; /* read as text, not as base64 */
    int64_t expires_ns;
    struct gbx_artifact *next; /* younger */
} gbx_artifact;

/* NULL if memory is out. */
gbx_artifacts *gbx_artifacts_new(uint64_t max_bytes, uint32_t keep_ms);
/* For a further store: every URI begins with the scheme and `origin`, a constant of at
 * most 16 characters that are valid in a URI. */
gbx_artifacts *gbx_artifacts_new_of(const char *origin, uint64_t max_bytes,
                                    uint32_t keep_ms);
void gbx_artifacts_free(gbx_artifacts *store);

/* Is it UTF-8, and not of a binary type? Such types must be read as bytes whatever they
 * contain. */
bool gbx_artifacts_is_text(const char *mime_type, const void *data, size_t len);

/* Everything is copied. NULL if it is larger than the whole store may be, or memory is
 * out. The result is borrowed until the next change; the caller may set is_text. */
gbx_artifact *gbx_artifacts_add(gbx_artifacts *store, const char *name,
                                const char *mime_type, const void *data, size_t len,
                                int64_t now_ns);

/* Append the contents for resources/read of URI or URI?offset=N&length=M, also with %3D
 * and %26: bytes, or whole characters of text, at least one, under the requested uri.
 * Each part states its position and what follows. False if the artifact does not exist
 * (any more), or the range is not valid: a length of 0 never is. */
bool gbx_artifacts_read(gbx_artifacts *store, const char *uri, int64_t now_ns,
                        gbx_buf *to);

/* Why uri cannot be read; a constant. */
const char *gbx_artifacts_fault(const gbx_artifacts *store, const char *uri);

/* A MIME type that is safe to pass to hosts: "type/subtype" with its parameters, in
 * printable ASCII, without spaces around those. False if text is not a MIME type. */
bool gbx_artifacts_mime(const char *text, char ret[GBX_ARTIFACT_MIME_SIZE]);

/* Where text may be cut: at the beginning of a character, not after `at`. */
size_t gbx_artifacts_border(const char *text, size_t len, size_t at);

#endif
