/* SPDX-License-Identifier: MIT */
/* secret_values - a policy with secrets of every kind: listed for sites, for functions,
 * made of what is escaped somewhere, of digits, of JSON. */
#ifndef GBX_TESTS_SECRET_VALUES_H
#define GBX_TESTS_SECRET_VALUES_H

#include "policy/policy.h"

/* A bit of everything that is escaped somewhere: the value of ODD. */
#define ODD "k\"\\/<&>'+=% \xC3\xA9\xF0\x9F\x94\x91~z"

/* Of a test program, made and freed by these fixtures. */
extern gbx_policy *policy;
int secret_values_begin(void **state);
int secret_values_end(void **state);

#endif
