/* SPDX-License-Identifier: MIT */
/* entry_point - how the statements of a script say what their value is. */
#ifndef GBX_MCP_CODE_ENTRY_POINT_H
#define GBX_MCP_CODE_ENTRY_POINT_H

#include "guard/tree.h"

#define GBX_SHAPE_RETURNS_MAX 16

/* Offsets in the text of the tree. */
typedef struct gbx_entry_point {
    bool
        calls_expression; /* the statement of [start, end) is a function to be called */
    bool keeps; /* [start, end) is the value, or a function to be called at the end, */
    bool calls_kept; /* though it stands before others */
    bool is_void;    /* no value is meant, whatever the engine finds */
    size_t start;
    size_t end;
    size_t returns
        [GBX_SHAPE_RETURNS_MAX]; /* where expressions begin that are the value, */
    size_t return_count;         /* in order */
    size_t name_start;     /* the function of this name is to be called at the end; */
    size_t name_end;       /* 0: none */
    size_t uncalled_start; /* the last function that nothing uses, if none is called; */
    size_t uncalled_end;   /* 0: none */
} gbx_entry_point;

/* t: flat. In a tree with errors nothing is found. to: a copy of its text, in which `export`
 * and `export default` before what stands by itself become blanks, whatever the tree. */
void gbx_entry_point_find(const gbx_tree *t, char *to, gbx_entry_point *ret);

#endif
