// What Swift can't call by itself in libaom: functions with variable arguments, and macros that fill in ABI versions.
#ifndef SORA_AOM_H
#define SORA_AOM_H

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>

aom_codec_err_t sora_aom_encoder_init(aom_codec_ctx_t *context, aom_codec_iface_t *interface,
                                      const aom_codec_enc_cfg_t *configuration,
                                      aom_codec_flags_t flags);

// A control whose argument is an int or an unsigned int, which are passed alike.
aom_codec_err_t sora_aom_set(aom_codec_ctx_t *context, int control, int value);
// A control whose argument is a pointer to a structure.
aom_codec_err_t sora_aom_set_pointer(aom_codec_ctx_t *context, int control, void *value);

/// Loads libaom, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_aom_load(void);

#endif
