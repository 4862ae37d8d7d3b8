#include "CSoraVPX.h"

#include <CSoraLazy.h>
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

// MARK: Loading

// Debian's; another version would refuse what is compiled here (VPX_ENCODER_ABI_VERSION).
#define VPX_FUNCTIONS(X) \
  X(vpx_codec_control_) X(vpx_codec_dec_init_ver) X(vpx_codec_decode) X(vpx_codec_destroy) \
  X(vpx_codec_enc_config_default) X(vpx_codec_enc_config_set) X(vpx_codec_enc_init_ver) X(vpx_codec_encode) \
  X(vpx_codec_err_to_string) X(vpx_codec_error_detail) X(vpx_codec_get_cx_data) X(vpx_codec_get_frame) \
  X(vpx_codec_set_frame_buffer_functions) X(vpx_codec_version_str) X(vpx_codec_vp8_cx) X(vpx_codec_vp8_dx) \
  X(vpx_codec_vp9_cx) X(vpx_codec_vp9_dx) X(vpx_img_wrap)

SORA_LAZY_LIBRARY(sora_vpx_load, "libvpx.so.7", VPX_FUNCTIONS)
