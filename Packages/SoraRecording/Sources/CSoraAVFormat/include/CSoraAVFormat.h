// What this project needs of libavformat. The library is loaded at the first use, so that a program that records nothing
// neither links nor loads it. Functions return 0, or a negative code that `sora_avf_text` reads, unless they say otherwise.
#ifndef CSORA_AVFORMAT_H
#define CSORA_AVFORMAT_H

#include <stddef.h>
#include <stdint.h>

enum sora_avf_codec {
  SORA_AVF_OTHER = 0,
  SORA_AVF_VP8,
  SORA_AVF_VP9,
  SORA_AVF_AV1,
  SORA_AVF_H264,
  SORA_AVF_H265,
  SORA_AVF_OPUS,
};

enum {
  /// The file has ended.
  SORA_AVF_END = -541478725,
  /// A frame isn't one of its codec.
  SORA_AVF_INVALID = -1094995529,
  /// No time.
  SORA_AVF_NO_TIME = INT64_MIN,
  /// A decoder wants more before it gives anything.
  SORA_AVF_AGAIN = -11,
};

/// Loads the library once. Returns 0, or -1 with the reason in `text`. From any thread.
int sora_avf_load(char *text, size_t capacity);

/// Loads what pictures are converted with, likewise.
int sora_avf_load_scaler(char *text, size_t capacity);

/// Writes the words for an error code into `text`, with a zero at their end. After `sora_avf_load`.
void sora_avf_text(int code, char *text, size_t capacity);

/// The library's version, such as 59.27.100. After `sora_avf_load`.
void sora_avf_version(int *major, int *minor, int *micro);

// Writing. One thread at a time.

typedef struct sora_mux sora_mux;

/// Creates a file. One that is there keeps what is in it until `sora_mux_start`; a new one that nothing was written to goes with
/// `sora_mux_close`. `format` is a libavformat name: webm, matroska, mp4. `*mux` is set where 0 is returned; the file's own errors are
/// negative errnos.
int sora_mux_open(const char *path, const char *format, sora_mux **mux);
/// What a stream says of its colours, as H.273 numbers it; all 0 where it says nothing.
struct sora_avf_colors {
  int primaries, transfer, matrix, is_full_range;
};

/// Adds a video track; before `sora_mux_start`. Returns its index, or a negative code. `extra` holds parameter sets with
/// start codes (H.264, H.265) or a sequence header (AV1). `bit_depth` is that of 4:2:0 samples: 8, 10 or 12. `rotation` is by how many degrees the picture is to be turned clockwise.
int sora_mux_add_video(sora_mux *mux, enum sora_avf_codec codec, int width, int height, int bit_depth, int rotation, struct sora_avf_colors colors,
                       const void *extra, size_t size);
/// Adds an audio track of 48 kHz, likewise; `extra` is what Opus calls its identification header.
int sora_mux_add_audio(sora_mux *mux, enum sora_avf_codec codec, int channels, const void *extra, size_t size);
/// Sets a text of the file, such as `title`; before `sora_mux_start`.
int sora_mux_describe(sora_mux *mux, const char *key, const char *value);
/// Begins the file; what comes later is written out after `fragment_ms` at most, or before the next key frame.
int sora_mux_start(sora_mux *mux, int fragment_ms);
/// Copies one frame into the file's queue, which puts the tracks' frames in the order of their times. Times in nanoseconds.
/// SORA_AVF_INVALID where a frame is left out, and the file goes on: this one, or one that waited in the queue.
int sora_mux_write(sora_mux *mux, int track, const void *data, size_t size, int64_t time, int64_t duration, int is_key);
/// Writes what is left, and the file's end.
int sora_mux_finish(sora_mux *mux);
/// The errno that writing the file ended with; 0 while all is well.
int sora_mux_errno(const sora_mux *mux);
/// Bytes that the file holds.
int64_t sora_mux_bytes(const sora_mux *mux);
/// Closes the file and frees everything.
void sora_mux_close(sora_mux *mux);

// Reading. One thread at a time.

typedef struct sora_demux sora_demux;

struct sora_avf_track {
  enum sora_avf_codec codec;
  /// 1 for video, 2 for audio, 0 for anything else.
  int kind;
  int width, height;
  /// How often the pictures are to be turned by 90 degrees clockwise.
  int quarter_turns;
  int channels, sample_rate;
  /// Frames per second as the file says, or 0.
  double frame_rate;
  /// Whether `sora_decoder_open` knows the codec. A cover is neither video nor audio.
  int is_decodable;
  /// The codec's name as libavformat writes it.
  char name[32];
};

struct sora_avf_frame {
  int track;
  /// Valid until the next call.
  const uint8_t *data;
  size_t size;
  /// Nanoseconds; SORA_AVF_NO_TIME where the file doesn't say.
  int64_t time, duration;
  /// When it is to be decoded: before `time` where frames are reordered.
  int64_t decode_time;
  int is_key;
};

/// Opens a file of this machine, or numbered pictures such as `shot-%04d.png`; nothing else is fetched, whatever the file says.
/// `frame_rate` is that of pictures whose files have no times, such as "25" or "30000/1001"; NULL for the library's, 25.
int sora_demux_open(const char *path, const char *frame_rate, sora_demux **demux);
int sora_demux_tracks(const sora_demux *demux);
void sora_demux_track(const sora_demux *demux, int index, struct sora_avf_track *track);
/// The length in nanoseconds; SORA_AVF_NO_TIME where it isn't known.
int64_t sora_demux_duration(const sora_demux *demux);
/// Reads the next frame; H.264 and H.265 with start codes. SORA_AVF_END at the end.
int sora_demux_read(sora_demux *demux, struct sora_avf_frame *frame);
/// Goes on with the last key frame at or before `time`.
int sora_demux_seek(sora_demux *demux, int64_t time);
void sora_demux_close(sora_demux *demux);

// Decoding, of any codec that libavcodec knows. One thread at a time.

typedef struct sora_decoder sora_decoder;

struct sora_avf_decoded {
  /// Nanoseconds; SORA_AVF_NO_TIME where the file doesn't say.
  int64_t time;
  /// Of a picture with square pixels; 0 for sound.
  int width, height;
  /// Of a picture's samples: 8, or 10 where the film has more.
  int bit_depth;
  /// Samples of sound, those of all channels side by side, valid until the next call; at 48 kHz.
  const int16_t *samples;
  int channels, sample_count;
};

/// A decoder for a track, which may outlive the file.
int sora_decoder_open(const sora_demux *demux, int track, sora_decoder **decoder);
/// Gives it a frame of the file, times in nanoseconds; NULL at the end. SORA_AVF_INVALID where it is none of the codec.
int sora_decoder_send(sora_decoder *decoder, const void *data, size_t size, int64_t time, int64_t decode_time, int is_key);
/// Takes what it made of that. SORA_AVF_AGAIN where that is nothing more, SORA_AVF_END after the end.
int sora_decoder_receive(sora_decoder *decoder, struct sora_avf_decoded *decoded);
/// Writes the picture that was received last into planes of I420, or of I010 where it has 10 bits, of its width and height: BT.601,
/// limited range. After `sora_avf_load_scaler`.
int sora_decoder_picture(sora_decoder *decoder, uint8_t *const planes[3], const int strides[3]);
/// Forgets what it was given, to go on elsewhere in the file, or after the end.
void sora_decoder_reset(sora_decoder *decoder);
void sora_decoder_close(sora_decoder *decoder);

#endif
