// What the C loops share.
#ifndef C_PACKET_LOOP_PARTS_H
#define C_PACKET_LOOP_PARTS_H

#include <netinet/in.h>
#include <openssl/evp.h>
#include <stdint.h>

#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { HEADER = 12, TAG = 16, MAX_BATCH = 64, MAX_DESTINATIONS = 16, SLOT = 2048, MERGE = 65000, MESSAGES = 16 };

/// A socket on loopback that doesn't block, and its address; -1 and errno where there is none.
int packet_loop_open(struct sockaddr_in *address);

EVP_CIPHER_CTX *packet_loop_keyed_by(int encrypts, const uint8_t key[16]);
EVP_CIPHER_CTX *packet_loop_keyed(int encrypts);

/// Both return bytes; `unprotect` 0 for a packet that isn't authentic.
int packet_loop_protect(EVP_CIPHER_CTX *context, const uint8_t *in, int count, uint8_t *out);
int packet_loop_unprotect(EVP_CIPHER_CTX *context, uint8_t *packet, int count);

/// Packet k of destination d lies in slot k * destinations + d, as it was made: each destination gets its own in one
/// message.
void packet_loop_send(int fd, const struct sockaddr_in *to, int destinations, uint8_t *slots, int each, int size);

#endif
