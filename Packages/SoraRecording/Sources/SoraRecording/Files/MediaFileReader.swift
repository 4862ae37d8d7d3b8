import CSoraAVFormat
public import SoraMedia

/// A frame of a file.
public struct MediaFileFrame: Sendable {
  /// The index of its track.
  public let track: Int
  /// The bytes: Annex B for H.264 and H.265. Its RTP timestamp counts from the file's beginning in ticks of the codec's clock, and
  /// `timestamp` is that time on a clock that begins with the file.
  public let frame: EncodedFrame
  /// Since the file's beginning.
  public let time: Duration
  /// When it is due to be decoded, on the same clock: `time`, or earlier where frames come in another order than they are shown in.
  public let decodeTime: Duration
  /// nil if unknown.
  public let duration: Duration?
  /// What the file says, in nanoseconds, as decoders want it: before zero where sound begins with what isn't to be heard.
  let fileTime: Int64
  let fileDecodeTime: Int64
  /// Whether `fileTime` is one.
  var isTimed: Bool { fileTime != .min }
}

/// Reads encoded frames and their times from any file that libavformat reads. Confined to one thread at a time.
///
/// Any bytes may be in the file; nothing but the file is opened, whatever it names.
@safe public final class MediaFileReader {
  /// What a file says of a track.
  public struct Track: Sendable, Hashable {
    /// nil for codecs that aren't negotiated here, for H.264 and H.265 of other than 4:2:0 or more than 8 bits a sample and VP9 and AV1 of
    /// other than 4:2:0 or more than 10, which a call's receivers don't decode, and for what is neither audio nor video.
    public let codec: MediaCodec?
    /// nil for what is neither audio nor video.
    public let kind: MediaKind?
    /// libavformat's name of the codec.
    public let codecName: String
    /// Pixels; 0 for audio.
    public let width: Int
    public let height: Int
    /// How pictures are to be turned before they are shown, as films of phones are; each frame has it as well.
    public let rotation: VideoRotation
    /// 0 for video.
    public let channels: Int
    public let sampleRate: Int
    /// As the file says; nil if unknown, and for audio.
    public let framesPerSecond: Double?
    /// Whether Debian's libavcodec can decode it, whatever the codec.
    public let canBeDecoded: Bool
  }

  public let path: String
  public let tracks: [Track]
  /// The file's length; nil if unknown.
  public let duration: Duration?

  private var demux: OpaquePointer
  private let framesPerSecond: Double?

  /// Opens a file and finds out what is in it.
  ///
  /// - Parameters:
  ///   - path: of the file; or of numbered pictures, such as `shot-%04d.png`, which begin with one of the numbers 0 to 4.
  ///   - framesPerSecond: of pictures whose files have no times; nil for 25.
  public init(path: String, framesPerSecond: Double? = nil) throws(MediaFileError) {
    try AVFormatLibrary.load()
    let made = unsafe try Self.open(path, framesPerSecond)
    self.path = path
    self.framesPerSecond = framesPerSecond
    unsafe demux = unsafe made
    tracks = (0..<Int(unsafe sora_demux_tracks(made))).map { index in
      var track = sora_avf_track()
      unsafe sora_demux_track(made, Int32(index), &track)
      return Track(track)
    }
    let length = unsafe sora_demux_duration(made)
    duration = length == Self.noTime ? nil : .nanoseconds(length)
  }

  deinit { unsafe sora_demux_close(demux) }

  private static func open(
    _ path: String, _ framesPerSecond: Double?
  ) throws(MediaFileError) -> OpaquePointer {
    var made: OpaquePointer?
    // As a ratio: the library reads decimals as the nearest rate of television.
    let rate = framesPerSecond.map {
      "\(Int(($0.isFinite ? min(max($0, 0.001), 1_000) : 25) * 1_000))/1000"
    }
    let code = unsafe sora_demux_open(path, rate, &made)
    guard code == 0, let made = unsafe made else {
      throw AVFormatLibrary.error(code, path, "read")
    }
    return unsafe made
  }

  /// The first track of a kind whose codec is one of ours; nil where there is none.
  public func firstTrack(_ kind: MediaKind) -> Int? {
    tracks.firstIndex { $0.codec?.kind == kind }
  }

  /// The first track of a kind that can be sent: one whose codec is one of ours, or else one that can be decoded.
  func firstPlayableTrack(_ kind: MediaKind) -> Int? {
    firstTrack(kind) ?? tracks.firstIndex { $0.kind == kind && $0.canBeDecoded }
  }

  func makeDecoder(_ track: Int) throws(MediaFileError) -> OpaquePointer {
    var made: OpaquePointer?
    let code = unsafe sora_decoder_open(demux, Int32(track), &made)
    guard code == 0, let made = unsafe made else {
      throw AVFormatLibrary.error(code, path, "decode \(tracks[track].codecName) of")
    }
    return unsafe made
  }

  /// The next frame of any track, in the file's order; nil at its end.
  public func next() throws(MediaFileError) -> MediaFileFrame? {
    var read = unsafe sora_avf_frame()
    let code = unsafe sora_demux_read(demux, &read)
    if code == Int32(SORA_AVF_END) { return nil }
    guard code == 0 else { throw AVFormatLibrary.error(code, path, "read") }
    return unsafe frame(read)
  }

  /// Goes on with the last key frame at or before `time`, or from the beginning: a file is played in a loop by seeking to zero.
  ///
  /// - Throws: where the file can't be read, or, for the beginning, where there are other tracks in it than when it was opened: `tracks`
  ///   stays as it is.
  public func seek(to time: Duration) throws(MediaFileError) {
    guard time > .zero else { return try rewind() }
    let code = unsafe sora_demux_seek(demux, time.wholeNanoseconds)
    guard code >= 0 else { throw AVFormatLibrary.error(code, path, "seek in") }
  }

  /// Opens the file anew: libavformat would seek to the first key frame, and leave out the sound before it.
  private func rewind() throws(MediaFileError) {
    let again = try MediaFileReader(path: path, framesPerSecond: framesPerSecond)
    guard again.tracks.elementsEqual(tracks, by: { $0.isReadAs($1) }) else {
      throw .library(
        path: path, operation: "begin anew",
        reason: "other tracks are in it than when it was opened")
    }
    // What was read until now ends with `again`.
    unsafe swap(&demux, &again.demux)
  }

  private func frame(_ read: sora_avf_frame) -> MediaFileFrame {
    let track = Int(unsafe read.track)
    let time = unsafe read.time == Self.noTime ? 0 : max(0, read.time)
    let rate = tracks[track].codec?.clockRate ?? 1_000
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    let ticks = seconds &* Int64(rate) &+ (rest * Int64(rate) + 500_000_000) / 1_000_000_000
    let length = unsafe read.duration
    let told = unsafe read.decode_time
    let decodeTime = told == Self.noTime ? time : min(time, max(0, told))
    let bytes = unsafe EncodedBuffer(UnsafeRawBufferPointer(start: read.data, count: read.size))
    let isKeyFrame = unsafe read.is_key != 0
    return MediaFileFrame(
      track: track,
      frame: EncodedFrame(
        payload: bytes, isKeyFrame: isKeyFrame || tracks[track].kind == .audio,
        rtpTimestamp: UInt32(truncatingIfNeeded: ticks), timestamp: Instant(nanoseconds: time),
        width: tracks[track].width, height: tracks[track].height,
        rotation: tracks[track].rotation),
      time: .nanoseconds(time), decodeTime: .nanoseconds(decodeTime),
      duration: length > 0 ? .nanoseconds(length) : nil, fileTime: unsafe read.time,
      fileDecodeTime: unsafe read.decode_time)
  }

  /// The shim's word for "unknown".
  private static let noTime = Int64.min
}

extension MediaFileReader.Track {
  fileprivate init(_ track: sora_avf_track) {
    codec = MediaCodec(libraryName: track.codec)
    kind = track.kind == 1 ? .video : track.kind == 2 ? .audio : nil
    var name = track.name
    codecName = unsafe withUnsafeBytes(of: &name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    width = Int(track.width)
    height = Int(track.height)
    rotation = VideoRotation(rawValue: UInt8(clamping: track.quarter_turns)) ?? .none
    channels = Int(track.channels)
    sampleRate = Int(track.sample_rate)
    framesPerSecond = track.kind == 1 && track.frame_rate > 0 ? track.frame_rate : nil
    canBeDecoded = track.is_decodable != 0
  }

  /// Whether who knows the other track can go on with this one. A rate is an estimate, and another where a file has grown.
  fileprivate func isReadAs(_ other: Self) -> Bool {
    codec == other.codec && kind == other.kind && codecName == other.codecName
      && width == other.width && height == other.height && rotation == other.rotation
      && channels == other.channels && sampleRate == other.sampleRate
      && canBeDecoded == other.canBeDecoded
  }
}
