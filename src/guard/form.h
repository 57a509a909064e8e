/* SPDX-License-Identifier: MIT */
/*
 * form - is the code what its form says: one function, a definition of execute, or
 * anything at all?
 *
 * Only the top of the tree is looked at. Code that does not parse is objected to only
 * if it is empty or more than code; on its syntax the engine has the last word.
 */
#ifndef GBX_GUARD_FORM_H
#define GBX_GUARD_FORM_H

#include "guard/findings.h"
#include "guard/source_region.h"
#include "guard/tree.h"

/*
 * text is the caller's, region the part that t was parsed from (t may have no tree).
 * *code shrinks to what the engine is to get: for the form function, the function.
 */
void gbx_form_check(const gbx_tree *t, const char *text, gbx_region region,
                    gbx_form form, gbx_region *code, gbx_findings *f);

/* 1 + offset, in what t was parsed from, of the last statement if it is an
 * expression: its value is a script's. 0 if it is none. */
size_t gbx_form_last_expression(const gbx_tree *t);

/* Is it the body of an asynchronous function? In form script it must be: there is a return
 * or an await at its top, outside of all functions and classes. */
bool gbx_form_is_async_body(const gbx_tree *t, gbx_form form);

#endif
