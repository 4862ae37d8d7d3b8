// What Swift can't call by itself in OpenH264: tables of functions behind pointers, and arrays of fixed size in structures.
#ifndef CSORA_OPENH264_H
#define CSORA_OPENH264_H

#include <wels/codec_api.h>

typedef struct SoraOpenH264Encoder SoraOpenH264Encoder;
typedef struct SoraOpenH264Decoder SoraOpenH264Decoder;

// NULL where the library gives none. It says nothing on standard error from then on.
SoraOpenH264Encoder *sora_openh264_encoder_create(void);
void sora_openh264_encoder_destroy(SoraOpenH264Encoder *encoder);
int sora_openh264_encoder_defaults(SoraOpenH264Encoder *encoder, SEncParamExt *parameters);
int sora_openh264_encoder_open(SoraOpenH264Encoder *encoder, const SEncParamExt *parameters);
int sora_openh264_encoder_encode(SoraOpenH264Encoder *encoder, const SSourcePicture *picture,
                                 SFrameBSInfo *output);
int sora_openh264_encoder_force_key_frame(SoraOpenH264Encoder *encoder);
int sora_openh264_encoder_set_bitrate(SoraOpenH264Encoder *encoder, int bits_per_second);
int sora_openh264_encoder_set_frame_rate(SoraOpenH264Encoder *encoder, float frames_per_second);

// The description of the only spatial layer.
SSpatialLayerConfig *sora_openh264_spatial_layer(SEncParamExt *parameters);
// Part `index` of what was encoded, 0 to `iLayerNum` - 1.
const SLayerBSInfo *sora_openh264_output_layer(const SFrameBSInfo *output, int index);
// Bytes of all NAL units of a part.
int sora_openh264_layer_size(const SLayerBSInfo *layer);

SoraOpenH264Decoder *sora_openh264_decoder_create(void);
void sora_openh264_decoder_destroy(SoraOpenH264Decoder *decoder);
// 0 where it worked.
long sora_openh264_decoder_open(SoraOpenH264Decoder *decoder, const SDecodingParam *parameters);
DECODING_STATE sora_openh264_decoder_decode(SoraOpenH264Decoder *decoder,
                                            const unsigned char *bytes, int count,
                                            unsigned char *planes[3], SBufferInfo *output);
DECODING_STATE sora_openh264_decoder_flush(SoraOpenH264Decoder *decoder, unsigned char *planes[3],
                                           SBufferInfo *output);

/// Loads libopenh264, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_openh264_load(void);

#endif
