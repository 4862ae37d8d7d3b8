#include "CSoraAOM.h"

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
