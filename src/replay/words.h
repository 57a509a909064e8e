/* SPDX-License-Identifier: MIT */
/* words - what choices are called in a recording; NULL past the last. */
#ifndef GBX_REPLAY_WORDS_H
#define GBX_REPLAY_WORDS_H

const char *gbx_record_form(unsigned index);       /* gbx_form */
const char *gbx_record_globals(unsigned index);    /* gbx_globals */
const char *gbx_record_capability(unsigned index); /* bit of gbx_capability */
const char *gbx_record_code(unsigned index);       /* gbx_code */

#endif
