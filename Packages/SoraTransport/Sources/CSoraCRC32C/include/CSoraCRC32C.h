// CRC-32C (Castagnoli), the checksum of SCTP packets (RFC 9260 appendix A), by the CPU's instruction where there is one.
#ifndef CSORA_CRC32C_H
#define CSORA_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// Goes on with a checksum over `count` bytes. A checksum begins with ~0, and what is left is inverted at its end.
uint32_t sora_crc32c_extend(uint32_t crc, const void *bytes, size_t count);

/// The same by tables alone: what CPUs without the instruction run.
uint32_t sora_crc32c_extend_tables(uint32_t crc, const void *bytes, size_t count);

#endif
