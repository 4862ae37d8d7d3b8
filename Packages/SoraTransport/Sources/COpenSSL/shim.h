#ifndef SORA_COPENSSL_SHIM_H
#define SORA_COPENSSL_SHIM_H

// The low-level SHA-1 functions are the only way to keep the midstates of an HMAC without a malloc a packet;
// OpenSSL 3 marks them deprecated in favour of EVP, whose contexts are duplicated on the heap.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
