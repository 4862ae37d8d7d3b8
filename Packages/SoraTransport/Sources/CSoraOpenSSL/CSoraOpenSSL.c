#include "CSoraOpenSSL.h"

#include <openssl/crypto.h>

// `exit` runs libcrypto's cleanup while network loops still check and encrypt packets, which then read through null
// pointers. OpenSSL asks whether it may register that cleanup only once, when it's first used: before `main`, then.
__attribute__((constructor)) static void keep_libcrypto(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
