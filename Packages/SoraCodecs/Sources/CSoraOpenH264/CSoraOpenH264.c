#include "CSoraOpenH264.h"

#include <CSoraLazy.h>
#include <stddef.h>

static ISVCEncoder *encoder_of(SoraOpenH264Encoder *encoder) { return (ISVCEncoder *)encoder; }
static ISVCDecoder *decoder_of(SoraOpenH264Decoder *decoder) { return (ISVCDecoder *)decoder; }

SoraOpenH264Encoder *sora_openh264_encoder_create(void) {
  ISVCEncoder *made = NULL;
  if (WelsCreateSVCEncoder(&made) != 0 || made == NULL) return NULL;
  int quiet = WELS_LOG_QUIET;
  (*made)->SetOption(made, ENCODER_OPTION_TRACE_LEVEL, &quiet);
  return (SoraOpenH264Encoder *)made;
}

void sora_openh264_encoder_destroy(SoraOpenH264Encoder *encoder) {
  (*encoder_of(encoder))->Uninitialize(encoder_of(encoder));
  WelsDestroySVCEncoder(encoder_of(encoder));
}

int sora_openh264_encoder_defaults(SoraOpenH264Encoder *encoder, SEncParamExt *parameters) {
  return (*encoder_of(encoder))->GetDefaultParams(encoder_of(encoder), parameters);
}

int sora_openh264_encoder_open(SoraOpenH264Encoder *encoder, const SEncParamExt *parameters) {
  return (*encoder_of(encoder))->InitializeExt(encoder_of(encoder), parameters);
}

int sora_openh264_encoder_encode(SoraOpenH264Encoder *encoder, const SSourcePicture *picture,
                                 SFrameBSInfo *output) {
  return (*encoder_of(encoder))->EncodeFrame(encoder_of(encoder), picture, output);
}

int sora_openh264_encoder_force_key_frame(SoraOpenH264Encoder *encoder) {
  return (*encoder_of(encoder))->ForceIntraFrame(encoder_of(encoder), true);
}

int sora_openh264_encoder_set_bitrate(SoraOpenH264Encoder *encoder, int bits_per_second) {
  ISVCEncoder *self = encoder_of(encoder);
  SBitrateInfo target = {SPATIAL_LAYER_ALL, bits_per_second};
  return (*self)->SetOption(self, ENCODER_OPTION_BITRATE, &target);
}

int sora_openh264_encoder_set_frame_rate(SoraOpenH264Encoder *encoder, float frames_per_second) {
  ISVCEncoder *self = encoder_of(encoder);
  return (*self)->SetOption(self, ENCODER_OPTION_FRAME_RATE, &frames_per_second);
}

SSpatialLayerConfig *sora_openh264_spatial_layer(SEncParamExt *parameters) {
  return &parameters->sSpatialLayers[0];
}

const SLayerBSInfo *sora_openh264_output_layer(const SFrameBSInfo *output, int index) {
  return &output->sLayerInfo[index];
}

int sora_openh264_layer_size(const SLayerBSInfo *layer) {
  int size = 0;
  for (int index = 0; index < layer->iNalCount; index++) size += layer->pNalLengthInByte[index];
  return size;
}

SoraOpenH264Decoder *sora_openh264_decoder_create(void) {
  ISVCDecoder *made = NULL;
  if (WelsCreateDecoder(&made) != 0 || made == NULL) return NULL;
  int quiet = WELS_LOG_QUIET;
  (*made)->SetOption(made, DECODER_OPTION_TRACE_LEVEL, &quiet);
  return (SoraOpenH264Decoder *)made;
}

void sora_openh264_decoder_destroy(SoraOpenH264Decoder *decoder) {
  (*decoder_of(decoder))->Uninitialize(decoder_of(decoder));
  WelsDestroyDecoder(decoder_of(decoder));
}

long sora_openh264_decoder_open(SoraOpenH264Decoder *decoder, const SDecodingParam *parameters) {
  return (*decoder_of(decoder))->Initialize(decoder_of(decoder), parameters);
}

DECODING_STATE sora_openh264_decoder_decode(SoraOpenH264Decoder *decoder,
                                            const unsigned char *bytes, int count,
                                            unsigned char *planes[3], SBufferInfo *output) {
  return (*decoder_of(decoder))->DecodeFrameNoDelay(decoder_of(decoder), bytes, count, planes,
                                                    output);
}

DECODING_STATE sora_openh264_decoder_flush(SoraOpenH264Decoder *decoder, unsigned char *planes[3],
                                           SBufferInfo *output) {
  return (*decoder_of(decoder))->FlushFrame(decoder_of(decoder), planes, output);
}

// MARK: Loading

#define OPENH264_FUNCTIONS(X) \
  X(WelsCreateDecoder) X(WelsCreateSVCEncoder) X(WelsDestroyDecoder) X(WelsDestroySVCEncoder) X(WelsGetCodecVersion)

SORA_LAZY_LIBRARY(sora_openh264_load, "libopenh264.so.7", OPENH264_FUNCTIONS)
