#include "CSoraAOM.h"

#include <CSoraLazy.h>
aom_codec_err_t sora_aom_encoder_init(aom_codec_ctx_t *context, aom_codec_iface_t *interface,
                                      const aom_codec_enc_cfg_t *configuration,
                                      aom_codec_flags_t flags) {
  return aom_codec_enc_init(context, interface, configuration, flags);
}

aom_codec_err_t sora_aom_set(aom_codec_ctx_t *context, int control, int value) {
  return aom_codec_control(context, control, value);
}

aom_codec_err_t sora_aom_set_pointer(aom_codec_ctx_t *context, int control, void *value) {
  return aom_codec_control(context, control, value);
}

// MARK: Loading

#define AOM_FUNCTIONS(X) \
  X(aom_codec_av1_cx) X(aom_codec_control) X(aom_codec_destroy) X(aom_codec_enc_config_default) \
  X(aom_codec_enc_config_set) X(aom_codec_enc_init_ver) X(aom_codec_encode) X(aom_codec_err_to_string) \
  X(aom_codec_error_detail) X(aom_codec_get_cx_data) X(aom_codec_version_str) X(aom_img_wrap)

SORA_LAZY_LIBRARY(sora_aom_load, "libaom.so.3", AOM_FUNCTIONS)
