/* SPDX-License-Identifier: MIT */
/*
 * json_place - where in JSON text a value stands.
 *
 * The library that makes values of the text keeps no positions; they are needed only for
 * the one value that is objected to. So the text is walked again, to the member with the
 * same number: a path of ordinals, since members keep their order.
 */
#ifndef GBX_POLICY_JSON_PLACE_H
#define GBX_POLICY_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The byte offset of the value that is member path[0] of the whole, member path[1] of
 * that, and so on; with depth 0, of the whole. is_key: of the last member's key instead.
 * text is valid JSON; if it is not, the offset is somewhere in it.
 */
size_t gbx_json_place(const char *text, size_t len, const size_t *path, size_t depth,
                      bool is_key);

/* The offset of the last token that begins before end. */
size_t gbx_json_token_before(const char *text, size_t len, size_t end);

#endif
