/* SPDX-License-Identifier: MIT */
/* hint - the engine's hints, for a model: it can change its code, and no setting. */
#ifndef GBX_MCP_CODE_HINT_H
#define GBX_MCP_CODE_HINT_H

/* What to tell in place of the hint: a constant string, or the hint itself. */
const char *gbx_hint_for_model(const char *hint);

#endif
