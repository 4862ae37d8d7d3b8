#ifndef CSORA_OPENSSL_H
#define CSORA_OPENSSL_H

// Nothing to call: what depends on this keeps libcrypto usable until the process is gone.

#endif
