#ifndef SORA_CSORADTLS_H
#define SORA_CSORADTLS_H

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

// A BIO that keeps datagram boundaries both ways. One BIO serves one SSL, from one thread at a time.

/// Makes a BIO that queues at most `queue_limit` outgoing datagrams; further ones are dropped, as a network may.
BIO *sora_dtls_bio_new(int mtu, int queue_limit);

/// Lends one incoming datagram to the BIO: the next read takes it. `NULL` takes it back.
void sora_dtls_bio_lend(BIO *bio, const uint8_t *bytes, int count);

/// The first outgoing datagram, or `NULL`. It stays valid until it is dropped.
const uint8_t *sora_dtls_bio_peek(BIO *bio, int *count);

/// Removes the first outgoing datagram.
void sora_dtls_bio_drop(BIO *bio);

// What OpenSSL offers as macros only, which Swift doesn't see.

/// No MTU discovery, tickets, renegotiation, compression or session cache; the server's order of ciphers counts.
void sora_dtls_context_set_options(SSL_CTX *context);
int sora_dtls_context_set_dtls12(SSL_CTX *context);
int sora_dtls_context_set_groups(SSL_CTX *context, const char *groups);

/// Fixes the size of the largest datagram, headers of IP and UDP not counted.
void sora_dtls_set_mtu(SSL *ssl, int mtu);

/// Starts the retransmission timer at 100 ms and doubles it to 3.2 s.
void sora_dtls_set_timer(SSL *ssl);

/// Microseconds until the retransmission timer fires, 0 if it should have, -1 if it isn't running.
int64_t sora_dtls_timeout(SSL *ssl);

/// Retransmits if the timer has expired: 1 if it did, 0 if not, -1 if the handshake is given up.
int sora_dtls_handle_timeout(SSL *ssl);

/// Largest application data that fits one datagram, or 0 before the handshake is done.
size_t sora_dtls_data_mtu(const SSL *ssl);

/// What OpenSSL says of the last error of this thread, whose queue is emptied.
void sora_dtls_take_error(char *text, size_t size);

/// Makes a P-256 key pair.
EVP_PKEY *sora_dtls_generate_key(void);

/// The P-256 key pair of a private scalar of 32 bytes, whose uncompressed point of 65 bytes is written to `point`;
/// `NULL` where the scalar is out of range.
EVP_PKEY *sora_dtls_p256_private(const uint8_t *scalar, uint8_t *point);

/// A P-256 public key from an uncompressed point of 65 bytes; `NULL` where that isn't a point of the curve.
EVP_PKEY *sora_dtls_p256_public(const uint8_t *point);

#endif
