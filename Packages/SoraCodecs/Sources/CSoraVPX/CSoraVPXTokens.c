// libvpx's encoders take memory for the most tokens that a frame can have, and clear it (`vp8_alloc_compressor_data` in
// vp8/encoder/onyx_if.c, `alloc_compressor_data` in vp9/encoder/vp9_encoder.c). That makes all its pages resident, 21 MB for VP8 at 720p
// and 42 MB for VP9, and frames of a call use a small part of them. Here they go back to the kernel, which gives pages of zeros to who
// touches them next.
//
// Nothing in libvpx's API tells where that memory is. It is looked for from the encoder's own state on, through the pointers in it, so that
// it can't be another encoder's; and a word is a pointer only where libvpx and glibc have written before it what they write before blocks.
// With another allocator (a sanitizer's, say) or another libvpx no block of that size is found, and all stays as it is.
#define _GNU_SOURCE
#include "CSoraVPX.h"

#if defined(__GLIBC__) && defined(__LP64__)

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  TOKEN_BYTES = 16,         // TOKENEXTRA, a pointer and numbers: vp8/encoder/tokenize.h, vp9/encoder/vp9_tokenize.h
  ALIGNMENT = 16,           // glibc's, and the least of vpx_memalign's
  LARGEST_ALIGNMENT = 64,   // of vpx_memalign's
  CHUNK_HEADER_BYTES = 16,  // glibc's malloc_chunk, before what malloc returns: two words, the second one its size
  CHUNK_FLAGS = 7,          // in the low bits of that size
  CHUNK_IS_MAPPED = 2,      // one of them: the chunk has a mapping of its own
  SMALLEST_STATE = 64 << 10, LARGEST_STATE = 1 << 20,  // VP8_COMP has 186 kB, VP9_COMP 850 kB
};

typedef struct {
  uintptr_t start;
  size_t size;
  // Whether it shares its pages with no other block.
  int is_mapped;
} vpx_block;

/// Copies memory that may not be there; returns whether it was.
static int peek(uintptr_t address, void *copy, size_t bytes) {
  struct iovec local = {copy, bytes}, remote = {(void *)address, bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/// The block at an address, which may be any number; without a size where vpx_memalign hasn't returned it. In the word before a block it
/// keeps what malloc returned to it.
static vpx_block block_at(uintptr_t start) {
  vpx_block none = {0, 0, 0};
  uintptr_t memory, chunk;
  // Addresses have 48 bits.
  if (!start || start % ALIGNMENT || start >> 48 || !peek(start - sizeof memory, &memory, sizeof memory)) return none;
  if (memory % ALIGNMENT || memory > start - sizeof memory || start - memory > LARGEST_ALIGNMENT + sizeof memory) return none;
  if (!peek(memory - sizeof chunk, &chunk, sizeof chunk)) return none;
  size_t size = chunk & ~(size_t)CHUNK_FLAGS, before = start - memory + CHUNK_HEADER_BYTES;
  if (size % ALIGNMENT || size <= before) return none;
  int is_mapped = (chunk & CHUNK_IS_MAPPED) != 0;
  // On the heap a chunk ends behind the first word of the next one.
  vpx_block block = {start, size - before + (is_mapped ? 0 : sizeof chunk), is_mapped};
  return block;
}

/// The block of a size that the words of `state` point to, or those of a block that they point to.
static vpx_block find(vpx_block state, size_t wanted, int depth) {
  vpx_block none = {0, 0, 0};
  uintptr_t words[512];
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (state.size > LARGEST_STATE) return none;
  for (size_t at = 0, bytes; at < state.size; at += bytes) {
    bytes = state.size - at < sizeof words ? state.size - at : sizeof words;
    if (!peek(state.start + at, words, bytes)) return none;
    for (size_t index = 0; index < bytes / sizeof words[0]; index++) {
      vpx_block block = block_at(words[index]);
      // A mapping ends with a page.
      if (block.size >= wanted && block.size - wanted < page + LARGEST_ALIGNMENT) return block;
      if (depth == 0 || block.size < SMALLEST_STATE) continue;
      vpx_block deeper = find(block, wanted, depth - 1);
      if (deeper.size) return deeper;
    }
  }
  return none;
}

size_t sora_vpx_give_back_tokens(const vpx_codec_ctx_t *context, size_t count) {
  size_t wanted = count * TOKEN_BYTES, page = (size_t)sysconf(_SC_PAGESIZE);
  // A smaller one isn't worth it, and could be taken for state.
  if (!context->priv || wanted <= LARGEST_STATE) return 0;
  vpx_block block = find(block_at((uintptr_t)context->priv), wanted, 1);
  if (!block.size) return 0;
  uintptr_t start = (block.start + page - 1) / page * page;
  size_t size = (block.start + wanted) / page * page - start;
  // Zeros in place of zeros: whatever it is, it doesn't change.
  const char *bytes = (const char *)start;
  if (*bytes || memcmp(bytes, bytes + 1, size - 1)) return 0;
  // A frame's tokens lie in many places where threads share it: huge pages would bring most of the memory back.
  if (block.is_mapped) madvise((void *)start, size, MADV_NOHUGEPAGE);
  return madvise((void *)start, size, MADV_DONTNEED) ? 0 : size;
}

#else

size_t sora_vpx_give_back_tokens(const vpx_codec_ctx_t *context, size_t count) {
  (void)context, (void)count;
  return 0;
}

#endif
