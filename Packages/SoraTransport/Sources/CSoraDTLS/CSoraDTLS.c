#include "CSoraDTLS.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

typedef struct sora_datagram {
  struct sora_datagram *next;
  int count;
  uint8_t bytes[];
} sora_datagram;

typedef struct {
  const uint8_t *lent;
  int lent_count;
  int mtu;
  int queued;
  int queue_limit;
  sora_datagram *first;
  sora_datagram *last;
} sora_bio_state;

static int bio_write(BIO *bio, const char *bytes, int count) {
  sora_bio_state *state = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (state == NULL || bytes == NULL || count < 0) return -1;
  // A full queue loses the datagram and says it was sent, which is what a network does; the timer resends it.
  if (state->queued >= state->queue_limit) return count;
  sora_datagram *datagram = malloc(sizeof(sora_datagram) + (size_t)count);
  if (datagram == NULL) return count;
  datagram->next = NULL;
  datagram->count = count;
  memcpy(datagram->bytes, bytes, (size_t)count);
  if (state->last != NULL) state->last->next = datagram; else state->first = datagram;
  state->last = datagram;
  state->queued++;
  return count;
}

static int bio_read(BIO *bio, char *bytes, int count) {
  sora_bio_state *state = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (state == NULL || bytes == NULL || count < 0) return -1;
  if (state->lent == NULL) {
    BIO_set_retry_read(bio);
    return -1;
  }
  // One read takes one datagram; what doesn't fit is cut off, as recv would.
  int taken = state->lent_count < count ? state->lent_count : count;
  memcpy(bytes, state->lent, (size_t)taken);
  state->lent = NULL;
  state->lent_count = 0;
  return taken;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
  sora_bio_state *state = BIO_get_data(bio);
  (void)pointer;
  switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP:
      return 1;
    case BIO_CTRL_GET_CLOSE:
      return BIO_get_shutdown(bio);
    case BIO_CTRL_SET_CLOSE:
      BIO_set_shutdown(bio, (int)number);
      return 1;
    case BIO_CTRL_PENDING:
      return state != NULL && state->lent != NULL ? state->lent_count : 0;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU:
      return state != NULL ? state->mtu : 0;
    case BIO_CTRL_DGRAM_SET_MTU:
      return number;
    default:
      // Among them BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT (the owner's timer does that), BIO_CTRL_DGRAM_MTU_EXCEEDED
      // and BIO_CTRL_DGRAM_GET_MTU_OVERHEAD (the MTU given here is that of the payload).
      return 0;
  }
}

static int bio_create(BIO *bio) {
  sora_bio_state *state = calloc(1, sizeof(*state));
  if (state == NULL) return 0;
  BIO_set_data(bio, state);
  BIO_set_init(bio, 1);
  return 1;
}

static int bio_destroy(BIO *bio) {
  if (bio == NULL) return 0;
  sora_bio_state *state = BIO_get_data(bio);
  if (state != NULL) {
    while (state->first != NULL) {
      sora_datagram *next = state->first->next;
      free(state->first);
      state->first = next;
    }
    free(state);
  }
  BIO_set_data(bio, NULL);
  return 1;
}

static BIO_METHOD *bio_method = NULL;
static CRYPTO_ONCE bio_method_once = CRYPTO_ONCE_STATIC_INIT;

static void make_bio_method(void) {
  BIO_METHOD *method =
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
  if (method == NULL) return;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_ctrl);
  BIO_meth_set_create(method, bio_create);
  BIO_meth_set_destroy(method, bio_destroy);
  bio_method = method;
}

BIO *sora_dtls_bio_new(int mtu, int queue_limit) {
  if (!CRYPTO_THREAD_run_once(&bio_method_once, make_bio_method)) return NULL;
  if (bio_method == NULL) return NULL;
  BIO *bio = BIO_new(bio_method);
  if (bio == NULL) return NULL;
  sora_bio_state *state = BIO_get_data(bio);
  state->mtu = mtu;
  state->queue_limit = queue_limit;
  return bio;
}

void sora_dtls_bio_lend(BIO *bio, const uint8_t *bytes, int count) {
  sora_bio_state *state = BIO_get_data(bio);
  state->lent = bytes;
  state->lent_count = bytes != NULL ? count : 0;
}

const uint8_t *sora_dtls_bio_peek(BIO *bio, int *count) {
  sora_bio_state *state = BIO_get_data(bio);
  if (state->first == NULL) return NULL;
  *count = state->first->count;
  return state->first->bytes;
}

void sora_dtls_bio_drop(BIO *bio) {
  sora_bio_state *state = BIO_get_data(bio);
  sora_datagram *first = state->first;
  if (first == NULL) return;
  state->first = first->next;
  if (state->first == NULL) state->last = NULL;
  state->queued--;
  free(first);
}

void sora_dtls_context_set_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

int sora_dtls_context_set_dtls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

int sora_dtls_context_set_groups(SSL_CTX *context, const char *groups) {
  return SSL_CTX_set1_groups_list(context, groups) == 1;
}

void sora_dtls_set_mtu(SSL *ssl, int mtu) {
  // libssl takes the overhead that the BIO reports, here none, off the link's MTU.
  DTLS_set_link_mtu(ssl, mtu);
  SSL_set_mtu(ssl, mtu);
}

// 100 ms is far above the round trip of most paths and far below OpenSSL's own second. Twelve timeouts in a row end
// the handshake inside libssl: 0.1 + 0.2 + ... + 1.6 and then 3.2 s each make about 25 s.
static unsigned int next_timeout(SSL *ssl, unsigned int previous_us) {
  (void)ssl;
  if (previous_us == 0) return 100000;
  return previous_us >= 1600000 ? 3200000 : previous_us * 2;
}

void sora_dtls_set_timer(SSL *ssl) { DTLS_set_timer_cb(ssl, next_timeout); }

int64_t sora_dtls_timeout(SSL *ssl) {
  struct timeval left = {0, 0};
  if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
  return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

int sora_dtls_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

size_t sora_dtls_data_mtu(const SSL *ssl) { return DTLS_get_data_mtu(ssl); }

void sora_dtls_take_error(char *text, size_t size) {
  unsigned long code = ERR_get_error();
  const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
  strncpy(text, reason != NULL ? reason : "unknown error", size - 1);
  text[size - 1] = 0;
  ERR_clear_error();
}

EVP_PKEY *sora_dtls_generate_key(void) { return EVP_EC_gen("P-256"); }
