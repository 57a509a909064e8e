/* SPDX-License-Identifier: MIT */
/*
 * runtime - the parser's runtime, third-party code, as one unit: the compiler can
 * inline across its files, and all of it gets the hooks. alloc.c (mutable pointers to
 * the allocator) and query.c (not used) are left out.
 */
#include "hooks.h"

#include "src/get_changed_ranges.c"
#include "src/language.c"
#include "src/lexer.c"
#include "src/node.c"
#include "src/parser.c"
#include "src/stack.c"
#include "src/subtree.c"
#include "src/tree.c"
#include "src/tree_cursor.c"
#include "src/wasm_store.c"

/* ICU's own headers define this; the copy that the parser brings does not. */
#ifdef U_PLATFORM
#    error "the system's headers of ICU were read: the build must not depend on them"
#endif
