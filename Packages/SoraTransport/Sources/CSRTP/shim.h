#ifndef SORA_CSRTP_SHIM_H
#define SORA_CSRTP_SHIM_H

#include <srtp2/srtp.h>

#endif
