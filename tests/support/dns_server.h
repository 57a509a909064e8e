/* SPDX-License-Identifier: MIT */
/*
 * dns_server - a name server on loopback that says what a test wants it to say.
 *
 * The answers to a name are a text: addresses with spaces between them; "|" begins what
 * is said to the next question of the same type, and the last stays for all that follow.
 * An IPv6 address is told to who asks for AAAA, others to who asks for A; who asks for
 * what there is none of is told so. Words in place of addresses:
 *
 *   nx        the name does not exist       fail     the server failed
 *   silent    nothing at all                garbage  bytes that are no answer
 *   wrong-id  an answer to another question trunc    an answer that was cut
 *   lie       an answer about another name  cname    a chain of names before the address
 *   short     the packet ends in the middle loop     names that point at themselves
 */
#ifndef GBX_TESTS_DNS_SERVER_H
#define GBX_TESTS_DNS_SERVER_H

#include <stddef.h>

typedef struct dns_server dns_server;

typedef struct dns_name {
    const char *name; /* in lower case */
    const char *answers;
} dns_name;

/* names is borrowed until it is stopped; what is not there does not exist. */
dns_server *dns_server_start(const dns_name *names, size_t count);
void dns_server_stop(dns_server *server);

/* "127.0.0.1:PORT" */
const char *dns_server_address(const dns_server *server);

/* Questions so far for a name, 'A' for IPv4 or '6'; of a name NULL: all. */
unsigned dns_server_questions(dns_server *server, const char *name, char type);

#endif
