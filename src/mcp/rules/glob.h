/* SPDX-License-Identifier: MIT */
/*
 * glob - patterns of rules: for names, for paths, for URLs, for any other text.
 *
 * '*' is any text, '?' one character, '\' takes a star or question mark as it is. In a
 * pattern with a slash '*' and '?' stop at slashes, '**' does not, and a last part '**'
 * also stands for what is before it alone; in the host of a URL they stand for letters,
 * digits, '-' and '.' alone.
 *
 * Text is hostile. What a pattern of paths or URLs looks at must be written in its plain
 * form: '..', escapes and the like are objected to instead of interpreted, since every
 * server interprets them in its own way.
 */
#ifndef GBX_MCP_RULES_GLOB_H
#define GBX_MCP_RULES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#define GBX_GLOB_MAX      512   /* bytes of a pattern */
#define GBX_GLOB_TEXT_MAX 65536 /* bytes of text that is looked at */

typedef enum gbx_glob_kind {
    GBX_GLOB_TEXT, /* no slash in it */
    GBX_GLOB_PATH,
    GBX_GLOB_URL,
} gbx_glob_kind;

/* What the answer is for: allowing needs the very text; what asks or denies also matches
 * in another case of letters (casefold.h), with slashes at the end, of a URL with a query and
 * a fragment after it and, without a slash in the pattern, in another form of the path that
 * the text may be (path_forms.h). */
typedef enum gbx_glob_how { GBX_GLOB_EXACT, GBX_GLOB_WIDE } gbx_glob_how;

gbx_glob_kind gbx_glob_kind_of(const char *pattern);

/* It fits every text, which is not looked at. */
bool gbx_glob_is_any(const char *pattern);

/* Names of servers and tools: every pattern is as one without a slash, and what asks or
 * denies matches in another case of letters alone. */
bool gbx_glob_name(const char *pattern, const char *name, gbx_glob_how how);

/* *ret_why is NULL, or why the text cannot be judged by this pattern, constant; the
 * result is then of no use. */
bool gbx_glob_value(const char *pattern, const char *text, size_t len, gbx_glob_how how,
                    const char **ret_why);

#endif
