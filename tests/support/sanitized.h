/* SPDX-License-Identifier: MIT */
/* sanitized - is there a sanitizer in this program? gcc and clang each say so in a way of
 * their own. */
#ifndef GBX_TESTS_SANITIZED_H
#define GBX_TESTS_SANITIZED_H

#if defined(__has_feature)
#    define HAS_SHADOW   __has_feature(address_sanitizer)
#    define IS_SANITIZED (HAS_SHADOW || __has_feature(thread_sanitizer))
#else
#    ifdef __SANITIZE_ADDRESS__
#        define HAS_SHADOW 1
#    else
#        define HAS_SHADOW 0
#    endif
#    ifdef __SANITIZE_THREAD__
#        define IS_SANITIZED 1
#    else
#        define IS_SANITIZED HAS_SHADOW
#    endif
#endif

#endif
