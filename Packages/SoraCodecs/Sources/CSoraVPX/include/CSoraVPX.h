// What Swift can't call by itself in libvpx: functions with variable arguments, and macros that fill in ABI versions.
#ifndef SORA_VPX_H
#define SORA_VPX_H

#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

vpx_codec_err_t sora_vpx_encoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *interface,
                                      const vpx_codec_enc_cfg_t *configuration,
                                      vpx_codec_flags_t flags);
vpx_codec_err_t sora_vpx_decoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *interface,
                                      const vpx_codec_dec_cfg_t *configuration,
                                      vpx_codec_flags_t flags);

// A control whose argument is an int or an unsigned int, which are passed alike.
vpx_codec_err_t sora_vpx_set(vpx_codec_ctx_t *context, int control, int value);
vpx_codec_err_t sora_vpx_get(vpx_codec_ctx_t *context, int control, int *value);
// A control whose argument is a pointer to a structure.
vpx_codec_err_t sora_vpx_set_pointer(vpx_codec_ctx_t *context, int control, void *value);

/// Gives memory that an encoder holds for `count` tokens, and that it hasn't used yet, back to the kernel: called once it has been started,
/// before its first frame. It reads as zeros, as before. Returns how many bytes, 0 where the memory isn't found.
size_t sora_vpx_give_back_tokens(const vpx_codec_ctx_t *context, size_t count);

/// Loads libvpx, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_vpx_load(void);

#endif
