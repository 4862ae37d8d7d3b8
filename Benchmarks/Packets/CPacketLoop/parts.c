#define _GNU_SOURCE
#include "parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int packet_loop_open(struct sockaddr_in *address) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  int size = 4 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof *address;
  if (bind(fd, (struct sockaddr *)address, length) != 0) return -1;
  getsockname(fd, (struct sockaddr *)address, &length);
  return fd;
}

EVP_CIPHER_CTX *packet_loop_keyed_by(int encrypts, const uint8_t key[16]) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL, encrypts);
  return context;
}

EVP_CIPHER_CTX *packet_loop_keyed(int encrypts) {
  static const uint8_t key[16] = {1, 2, 3};
  return packet_loop_keyed_by(encrypts, key);
}

/// RFC 7714 §8.1's shape of a nonce: source and sequence number.
static void make_nonce(uint8_t *nonce, const uint8_t *packet) {
  memset(nonce, 0, 12);
  memcpy(nonce + 2, packet + 8, 4);
  memcpy(nonce + 10, packet + 2, 2);
}

int packet_loop_protect(EVP_CIPHER_CTX *context, const uint8_t *in, int count, uint8_t *out) {
  uint8_t nonce[12];
  int length = 0;
  make_nonce(nonce, in);
  memcpy(out, in, HEADER);
  EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce);
  EVP_EncryptUpdate(context, NULL, &length, in, HEADER);
  EVP_EncryptUpdate(context, out + HEADER, &length, in + HEADER, count - HEADER);
  EVP_EncryptFinal_ex(context, out + HEADER + length, &length);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, out + count);
  return count + TAG;
}

int packet_loop_unprotect(EVP_CIPHER_CTX *context, uint8_t *packet, int count) {
  uint8_t nonce[12];
  int length = 0;
  make_nonce(nonce, packet);
  EVP_DecryptInit_ex(context, NULL, NULL, NULL, nonce);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, packet + count - TAG);
  EVP_DecryptUpdate(context, NULL, &length, packet, HEADER);
  EVP_DecryptUpdate(context, packet + HEADER, &length, packet + HEADER, count - HEADER - TAG);
  return EVP_DecryptFinal_ex(context, packet + HEADER + length, &length) == 1;
}

void packet_loop_send(
    int fd, const struct sockaddr_in *to, int destinations, uint8_t *slots, int each, int size) {
  int per_message = MERGE / size;
  struct mmsghdr headers[MAX_BATCH];
  struct iovec vectors[MAX_BATCH];
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
  } control[MAX_BATCH];
  int messages = 0;
  int vector = 0;
  for (int i = 0; i < destinations * each; messages++) {
    int destination = i / each;
    int rest = each - i % each;
    int run = rest < per_message ? rest : per_message;
    struct msghdr *header = &headers[messages].msg_hdr;
    *header = (struct msghdr){
        .msg_name = (void *)&to[destination], .msg_namelen = sizeof *to, .msg_iov = &vectors[vector],
        .msg_iovlen = (size_t)run};
    for (int k = 0; k < run; k++, i++, vector++) {
      uint8_t *slot = slots + ((i % each) * destinations + destination) * SLOT;
      vectors[vector] = (struct iovec){slot, (size_t)size};
    }
    if (run == 1) continue;
    header->msg_control = &control[messages];
    header->msg_controllen = sizeof control[messages].bytes;
    struct cmsghdr *item = CMSG_FIRSTHDR(header);
    item->cmsg_level = SOL_UDP;
    item->cmsg_type = UDP_SEGMENT;
    item->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t segment = (uint16_t)size;
    memcpy(CMSG_DATA(item), &segment, sizeof segment);
  }
  if (messages == 1)
    sendmsg(fd, &headers[0].msg_hdr, 0);
  else
    sendmmsg(fd, headers, (unsigned)messages, 0);
}
