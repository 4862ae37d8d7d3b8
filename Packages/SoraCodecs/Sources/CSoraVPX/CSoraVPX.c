#include "CSoraVPX.h"

vpx_codec_err_t sora_vpx_encoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *interface,
                                      const vpx_codec_enc_cfg_t *configuration,
                                      vpx_codec_flags_t flags) {
  return vpx_codec_enc_init(context, interface, configuration, flags);
}

vpx_codec_err_t sora_vpx_decoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *interface,
                                      const vpx_codec_dec_cfg_t *configuration,
                                      vpx_codec_flags_t flags) {
  return vpx_codec_dec_init(context, interface, configuration, flags);
}

vpx_codec_err_t sora_vpx_set(vpx_codec_ctx_t *context, int control, int value) {
  return vpx_codec_control_(context, control, value);
}

vpx_codec_err_t sora_vpx_get(vpx_codec_ctx_t *context, int control, int *value) {
  return vpx_codec_control_(context, control, value);
}

vpx_codec_err_t sora_vpx_set_pointer(vpx_codec_ctx_t *context, int control, void *value) {
  return vpx_codec_control_(context, control, value);
}
