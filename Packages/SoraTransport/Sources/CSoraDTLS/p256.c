#include "CSoraDTLS.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

static EVP_PKEY *make_key(const BIGNUM *scalar, const uint8_t *point, int selection) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (context != NULL && builder != NULL &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 65) == 1 &&
      (scalar == NULL || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar) == 1) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL &&
      EVP_PKEY_fromdata_init(context) == 1) {
    if (EVP_PKEY_fromdata(context, &key, selection, parameters) != 1) key = NULL;
  }
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  return key;
}

EVP_PKEY *sora_dtls_p256_private(const uint8_t *scalar, uint8_t *point) {
  EVP_PKEY *key = NULL;
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  EC_POINT *product = group != NULL ? EC_POINT_new(group) : NULL;
  // Secure memory where the application set it up; BN_clear_free zeroes in any case.
  BIGNUM *number = BN_secure_new();
  if (product != NULL && number != NULL && BN_bin2bn(scalar, 32, number) != NULL) {
    BN_set_flags(number, BN_FLG_CONSTTIME);
    if (!BN_is_zero(number) && BN_cmp(number, EC_GROUP_get0_order(group)) < 0 &&
        EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1 &&
        EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, 65, NULL) == 65) {
      key = make_key(number, point, EVP_PKEY_KEYPAIR);
    }
  }
  BN_clear_free(number);
  EC_POINT_free(product);
  EC_GROUP_free(group);
  return key;
}

EVP_PKEY *sora_dtls_p256_public(const uint8_t *point) {
  // Only the uncompressed form is allowed (RFC 8446 §4.2.8.2). EVP_PKEY_fromdata refuses what isn't on the curve.
  return point[0] == 4 ? make_key(NULL, point, EVP_PKEY_PUBLIC_KEY) : NULL;
}
