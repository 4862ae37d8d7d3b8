// What Swift can't call by itself in libopus: its controls have variable arguments.
#ifndef SORA_OPUS_H
#define SORA_OPUS_H

#include <opus.h>

int sora_opus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value);
int sora_opus_encoder_get(OpusEncoder *encoder, int request, opus_int32 *value);
int sora_opus_encoder_reset(OpusEncoder *encoder);
int sora_opus_decoder_set(OpusDecoder *decoder, int request, opus_int32 value);
int sora_opus_decoder_get(OpusDecoder *decoder, int request, opus_int32 *value);
int sora_opus_decoder_reset(OpusDecoder *decoder);

#endif
