/* SPDX-License-Identifier: MIT */
/*
 * refuse - how a policy's text is objected to: what, where, and what to write instead.
 *
 * The text of a policy is hostile to messages too: it enters them escaped and cut.
 */
#ifndef GBX_POLICY_REFUSE_H
#define GBX_POLICY_REFUSE_H

#include "base/fail.h"

#define GBX_QUOTE_SIZE 100

/* text for a message: one line, at most so long; returns out. */
const char *gbx_quote(char out[GBX_QUOTE_SIZE], const char *text, size_t len);

/* GBX_E_POLICY; the position is that of the byte at offset in text, which is one line.
 * The column is in characters, from 1. */
gbx_status gbx_refuse(gbx_error *reterr, const char *text, size_t offset,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The message of an error that was made by a part of text begins at that part: its
 * column becomes one of text. */
void gbx_refused_within(gbx_error *err, const char *text, size_t offset);

#endif
