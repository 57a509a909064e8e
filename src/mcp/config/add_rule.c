/* SPDX-License-Identifier: MIT */
/* add_rule - see add_rule.h. */
#include "mcp/config/add_rule.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- public to other modules -------------------------------------------- */

bool gbx_config_add_rule(gbx_edit *edit, size_t index, const char *rule)
{
    gbx_view own = gbx_view_member(edit->root, "glovebox");
    gbx_view rules = gbx_view_member(own, "rules");
    char *array = NULL;
    bool done;

    if (rules.at != NULL)
        return gbx_edit_add_item(edit, rules, index, rule);
    if (asprintf(&array, own.at != NULL ? "[%s]" : "{\"rules\": [%s]}", rule) < 0)
        return false;
    done = own.at != NULL ? gbx_edit_add_member(edit, own, "rules", array)
                          : gbx_edit_add_member(edit, edit->root, "glovebox", array);
    free(array);
    return done;
}
