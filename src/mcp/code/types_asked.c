/* SPDX-License-Identifier: MIT */
/* types_asked - does a schema require any member? The work is bounded like that of
 * writing its type. */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"

#define NODES_MAX    400
#define COMPOSED_MAX 4 /* of nested schemas */
#define SEEN_MAX     GBX_MIB(8)

struct asking {
    gbx_view root;
    unsigned nodes;
    size_t seen;
};

static bool is_all_optional(struct asking *a, gbx_view schema, unsigned depth);

/* Of the schemas listed under the keyword: is one optional, or are all? */
static bool lists_optional(struct asking *a, gbx_view schema, const char *keyword,
                           bool all, unsigned depth)
{
    gbx_view list = gbx_view_member(schema, keyword);
    size_t cursor = 0;
    size_t count = 0;
    size_t optional = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value)) {
        count++;
        optional += is_all_optional(a, value, depth + 1);
    }
    return count == 0 || (all ? optional == count : optional > 0);
}

static bool is_all_optional(struct asking *a, gbx_view schema, unsigned depth)
{
    gbx_view ref;

    a->seen += schema.len;
    if (depth > COMPOSED_MAX || a->nodes++ >= NODES_MAX)
        return true;
    if (gbx_types_requires_any(schema))
        return false;
    if (a->seen > SEEN_MAX)
        return true;
    ref = gbx_view_member(schema, "$ref");
    if (gbx_view_kind(ref) == '"') {
        a->seen += a->root.len;
        if (!is_all_optional(a, gbx_types_follow(a->root, ref), depth + 1))
            return false;
    }
    return lists_optional(a, schema, "allOf", true, depth) &&
           lists_optional(a, schema, "anyOf", false, depth) &&
           lists_optional(a, schema, "oneOf", false, depth);
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_types_requires_any(gbx_view schema)
{
    gbx_view list = gbx_view_member(schema, "required");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    return gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value);
}

bool gbx_types_all_optional(gbx_view schema)
{
    struct asking a = {.root = schema};

    return is_all_optional(&a, schema, 0);
}
