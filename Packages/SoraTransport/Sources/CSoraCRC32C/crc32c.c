#include "CSoraCRC32C.h"

#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#elif defined(__x86_64__)
#include <nmmintrin.h>
#endif

// The polynomial 0x1EDC6F41, its bits reversed.
#define POLYNOMIAL 0x82F63B78u

// tables[k][b] is the effect of byte b that k more bytes follow. Made before main, so no thread sees them half done.
static uint32_t tables[8][256];

__attribute__((constructor)) static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
    tables[0][byte] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
}

uint32_t sora_crc32c_extend_tables(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  for (; count >= 8; at += 8, count -= 8) {
    uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
          tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
  }
  for (; count > 0; at++, count--) crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t extend_by_instruction(uint32_t crc, const uint8_t *at, size_t count) {
  uint64_t wide = crc;
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = (uint32_t)wide;
  for (; count > 0; at++, count--) crc = _mm_crc32_u8(crc, *at);
  return crc;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
__attribute__((target("crc"))) static uint32_t extend_by_instruction(uint32_t crc, const uint8_t *at, size_t count) {
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    crc = __builtin_arm_crc32cd(crc, word);
  }
  for (; count > 0; at++, count--) crc = __builtin_arm_crc32cb(crc, *at);
  return crc;
}

static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

uint32_t sora_crc32c_extend(uint32_t crc, const void *bytes, size_t count) {
#if defined(__x86_64__) || defined(__aarch64__)
  if (has_instruction()) return extend_by_instruction(crc, bytes, count);
#endif
  return sora_crc32c_extend_tables(crc, bytes, count);
}
