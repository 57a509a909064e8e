/* SPDX-License-Identifier: MIT */
/*
 * uses - find the uses of what is off: a pass over the flat tree that knows scopes.
 *
 * A name is a use only if it is free: no parameter, declaration, import, class or
 * function name of any scope around it declares it, hoisting included. Property names,
 * keys, labels, strings, comments and the text of templates are no names at all.
 */
#ifndef GBX_GUARD_USES_H
#define GBX_GUARD_USES_H

#include "guard/findings.h"
#include "guard/tree.h"

/* t is flat. base: offset of the parsed text in the caller's. */
void gbx_uses_find(gbx_tree *t, size_t base, gbx_form form,
                   const gbx_guard_world *world, gbx_findings *f);

#endif
