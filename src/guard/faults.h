/* SPDX-License-Identifier: MIT */
/*
 * faults - syntax errors that the tree shows without an engine: unmatched brackets,
 * tokens that the parser missed, words of other languages.
 */
#ifndef GBX_GUARD_FAULTS_H
#define GBX_GUARD_FAULTS_H

#include "guard/findings.h"
#include "guard/tree.h"

/* Add the faults of the flat tree t as SYNTAX findings. base as in internal.h. */
void gbx_faults_find(gbx_tree *t, size_t base, gbx_findings *f);

/* The first bracket without its partner, or GBX_NO_NODE. *ret_is_open: it is not
 * closed; else it closes nothing. */
uint32_t gbx_faults_bracket(const gbx_tree *t, bool *ret_is_open);

/* Where the first error of the flat tree t begins; the end if it has none. */
size_t gbx_faults_first(const gbx_tree *t);

/* True if node i is a string without a closing quote, or one that goes past its
 * line. */
bool gbx_faults_open_string(const gbx_tree *t, uint32_t i);

#endif
