import CSoraAVFormat
package import SoraMedia

/// Decodes one track of a file, of any codec that libavcodec knows. Confined to one thread at a time.
@safe package final class MediaFileDecoder {
  /// What comes out. Times are the file's, which may begin before zero.
  package enum Output {
    /// Square pixels, limited-range BT.601; in three planes of 8 bits a sample, or 10 where the film has more.
    case picture(PixelBuffer, rotation: VideoRotation, time: Duration?)
    /// 48 kHz, one channel or two.
    case sound([Int16], channels: Int, time: Duration?)
  }

  private let path: String
  private let rotation: VideoRotation
  private let decoder: OpaquePointer
  private let pool = PixelBufferPool()
  /// Frames of the file that aren't any of the codec, or whose pictures can't be sent: left out.
  package private(set) var framesFailed = 0

  /// - Throws: where libavcodec, or what it needs to convert pictures, isn't there, or refuses.
  package init(_ reader: MediaFileReader, track: Int) throws(MediaFileError) {
    path = reader.path
    rotation = reader.tracks[track].rotation
    if reader.tracks[track].kind == .video { try AVFormatLibrary.loadScaler() }
    unsafe decoder = try unsafe reader.makeDecoder(track)
  }

  deinit { unsafe sora_decoder_close(decoder) }

  /// Decodes the next frame of the file, and gives what comes out of it, or of those before.
  package func decode(_ frame: MediaFileFrame, _ give: (Output) -> Void) throws(MediaFileError) {
    let bytes = unsafe frame.frame.payload.bytes
    let code = unsafe sora_decoder_send(
      decoder, bytes.baseAddress, bytes.count, frame.fileTime, frame.fileDecodeTime,
      frame.frame.isKeyFrame ? 1 : 0)
    // What a decoder doesn't understand is the file's fault, and the next may be better.
    if code < 0 { framesFailed += 1 }
    try receive(give)
  }

  /// Gives what is left, at the end of the file, and forgets it.
  package func finish(_ give: (Output) -> Void) throws(MediaFileError) {
    _ = unsafe sora_decoder_send(decoder, nil, 0, 0, 0, 0)
    try receive(give)
    reset()
  }

  /// Forgets what it was given, to go on elsewhere.
  package func reset() { unsafe sora_decoder_reset(decoder) }

  private func receive(_ give: (Output) -> Void) throws(MediaFileError) {
    // No decoder gives more for one frame; one that fails again and again ends here.
    for _ in 0..<1_000 {
      var decoded = unsafe sora_avf_decoded()
      let code = unsafe sora_decoder_receive(decoder, &decoded)
      if code == Int32(SORA_AVF_AGAIN) || code == Int32(SORA_AVF_END) { return }
      guard code == 0 else {
        framesFailed += 1
        continue
      }
      let told = unsafe decoded.time
      let time: Duration? = told == .min ? nil : .nanoseconds(told)
      if unsafe decoded.width == 0 {
        let channels = Int(unsafe decoded.channels)
        let samples = unsafe UnsafeBufferPointer(
          start: decoded.samples, count: Int(decoded.sample_count) * channels)
        if !samples.isEmpty { give(.sound(unsafe Array(samples), channels: channels, time: time)) }
      } else {
        let picture = unsafe try picture(
          Int(decoded.width), Int(decoded.height), decoded.bit_depth == 10 ? .i010 : .i420)
        give(.picture(picture, rotation: rotation, time: time))
      }
    }
  }

  private func picture(
    _ width: Int, _ height: Int, _ format: PixelFormat
  ) throws(MediaFileError) -> PixelBuffer {
    let target = pool.take(width: width, height: height, format: format)
    let planes = (0..<3).map { target.plane($0) }
    var starts = unsafe planes.map { unsafe $0.row(0, of: UInt8.self).baseAddress }
    var strides = planes.map { Int32(clamping: $0.stride) }
    let code = unsafe sora_decoder_picture(decoder, &starts, &strides)
    guard code == 0 else { throw AVFormatLibrary.error(code, path, "convert pictures of") }
    return target.buffer
  }
}
