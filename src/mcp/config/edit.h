/* SPDX-License-Identifier: MIT */
/*
 * edit - put something into a JSON file of a person's, and leave all the rest as it is,
 * to the byte: comments, order, numbers, keys of others.
 */
#ifndef GBX_MCP_CONFIG_EDIT_H
#define GBX_MCP_CONFIG_EDIT_H

#include "base/buf.h"
#include "base/json_view.h"

/* A text that is edited. */
typedef struct gbx_edit {
    gbx_buf text;  /* as it stands */
    char *blanked; /* the same without comments: views are into this */
    gbx_view root;
} gbx_edit;

/* A copy of text; false if it is not JSON (with comments), or memory is out. */
bool gbx_edit_open(gbx_edit *edit, const char *text, size_t len);
void gbx_edit_close(gbx_edit *edit);

/* Each ends all views; edit->root is the new one. json is one value. False: the text is
 * as it was. */
bool gbx_edit_add_member(gbx_edit *edit, gbx_view object, const char *name,
                         const char *json);

#endif
