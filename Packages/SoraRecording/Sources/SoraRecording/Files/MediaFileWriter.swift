import CSoraAVFormat
public import Foundation
public import SoraMedia

/// Writes encoded frames to a WebM, Matroska or MP4 file, as they are. Confined to one thread at a time.
///
/// What is written is on its way to the disk after about a second: a process that is killed leaves a file that plays up to there.
/// `MediaRecorder` does this on a queue of its own, and knows how streams begin, lose frames and end.
@safe public final class MediaFileWriter {
  /// What a file says of itself.
  public struct Description: Sendable, Hashable {
    public var title: String?
    /// When its first frame was captured.
    public var started: Date?

    public init(title: String? = nil, started: Date? = nil) {
      self.title = title
      self.started = started
    }
  }

  public let path: String
  public let container: MediaContainer

  private enum Phase { case adding, writing, ended }
  private struct Track {
    var codec: MediaCodec
    /// Of the frame that was written last; nil before the first.
    var last: Int64?
  }

  private let mux: OpaquePointer
  private var phase = Phase.adding
  private var tracks: [Track] = []

  /// The longest time that a fragment holds back.
  private static let fragment: Int32 = 1_000
  /// Files count in thousandths of a second: two frames are at least this far apart.
  private static let tick: Int64 = 1_000_000
  /// How long a frame lasts at most, where the next one decides.
  private static let longestFrame: Int64 = 1_000_000_000

  /// Creates the file. One that is there keeps what is in it until `start`; a new one that is never started goes with the writer.
  ///
  /// - Parameters:
  ///   - path: where it lies.
  ///   - container: nil for the one that the name's ending asks for.
  public init(path: String, container: MediaContainer? = nil) throws(MediaFileError) {
    guard let container = container ?? MediaContainer(path: path) else {
      throw .unknownEnding(path: path)
    }
    try AVFormatLibrary.load()
    self.path = path
    self.container = container
    var made: OpaquePointer?
    let code = unsafe sora_mux_open(path, container.rawValue, &made)
    guard code == 0, let made = unsafe made else {
      throw AVFormatLibrary.error(code, path, "create")
    }
    unsafe mux = unsafe made
  }

  deinit { unsafe sora_mux_close(mux) }

  /// Bytes that were written.
  public var byteCount: Int { Int(unsafe sora_mux_bytes(mux)) }

  // MARK: The beginning

  /// Adds a video track. Returns its index.
  public func addVideoTrack(_ parameters: VideoTrackParameters) throws(MediaFileError) -> Int {
    let codec = MediaCodec.video(parameters.codec)
    try check(codec)
    let sets = parameters.parameterSets
    var colors = sora_avf_colors()
    if let space = parameters.colorSpace {
      colors.primaries = Int32(space.codePoints.primaries)
      colors.transfer = Int32(space.codePoints.transfer)
      colors.matrix = Int32(space.codePoints.matrixCoefficients)
      colors.is_full_range = space.isFullRange ? 1 : 0
    }
    let index = unsafe sets.withUnsafeBytes { bytes in
      unsafe sora_mux_add_video(
        mux, codec.libraryName, Int32(parameters.width), Int32(parameters.height),
        Int32(parameters.bitDepth), Int32(parameters.rotation.degrees), colors, bytes.baseAddress,
        bytes.count)
    }
    return try added(codec, index)
  }

  /// Adds a track of Opus, 48 kHz. Returns its index.
  ///
  /// - Parameter channels: 1 or 2.
  public func addOpusTrack(channels: Int = 2) throws(MediaFileError) -> Int {
    try check(.opus)
    let channels = min(max(channels, 1), 2)
    // RFC 7845 §5.1. A recording begins in the middle of a stream: there is nothing of the encoder's start to skip.
    let header: [UInt8] =
      Array("OpusHead".utf8) + [1, UInt8(channels), 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
    let index = unsafe header.withUnsafeBytes { bytes in
      unsafe sora_mux_add_audio(
        mux, SORA_AVF_OPUS, Int32(channels), bytes.baseAddress, bytes.count)
    }
    return try added(.opus, index)
  }

  private func check(_ codec: MediaCodec) throws(MediaFileError) {
    guard phase == .adding else { throw .wrongOrder(path: path, operation: "adding a track") }
    guard container.holds(codec) else {
      throw .codecNotInContainer(path: path, codec: codec, container: container)
    }
  }

  private func added(_ codec: MediaCodec, _ index: Int32) throws(MediaFileError) -> Int {
    guard index >= 0 else { throw AVFormatLibrary.error(index, path, "add \(codec) to") }
    tracks.append(Track(codec: codec))
    return Int(index)
  }

  /// Writes the file's head; its tracks are those that were added.
  public func start(_ description: Description = Description()) throws(MediaFileError) {
    guard phase == .adding, !tracks.isEmpty else {
      throw .wrongOrder(path: path, operation: "starting")
    }
    if let title = description.title { unsafe sora_mux_describe(mux, "title", title) }
    if let started = description.started {
      unsafe sora_mux_describe(mux, "creation_time", started.ISO8601Format())
    }
    phase = .writing
    try succeed(unsafe sora_mux_start(mux, Self.fragment))
  }

  // MARK: Frames

  /// Writes one frame; the first of a video track is a key frame.
  ///
  /// - Parameters:
  ///   - frame: Annex B for H.264 and H.265. Its own times aren't looked at.
  ///   - track: what adding it returned.
  ///   - time: since the file's beginning. A frame that isn't later than the one before it in its track comes a millisecond
  ///     after that.
  ///   - duration: nil for as long as it is after the one before.
  /// - Throws: `MediaFileError.invalidFrame` where this frame, or one that waited for the other track, is left out. After any other
  ///   error the file has ended.
  public func write(
    _ frame: EncodedFrame, track: Int, at time: Duration, duration: Duration? = nil
  ) throws(MediaFileError) {
    guard phase == .writing, tracks.indices.contains(track) else {
      throw .wrongOrder(path: path, operation: "writing a frame")
    }
    var place = max(0, time.wholeNanoseconds)
    let last = tracks[track].last
    if let last, place < last + Self.tick { place = last + Self.tick }
    tracks[track].last = place
    let length = duration?.wholeNanoseconds ?? last.map { place - $0 } ?? 20_000_000
    let code = unsafe sora_mux_write(
      mux, Int32(track), frame.payload.bytes.baseAddress, frame.payload.count, place,
      min(max(length, 0), Self.longestFrame), frame.isKeyFrame ? 1 : 0)
    if code == Int32(SORA_AVF_INVALID) { throw .invalidFrame(path: path) }
    try succeed(code)
  }

  /// Writes what is left and the file's end. Nothing can be written after that.
  ///
  /// - Throws: `MediaFileError.invalidFrame` where frames that waited are left out, and the file has its end.
  public func finish() throws(MediaFileError) {
    guard phase == .writing else {
      phase = .ended
      return
    }
    phase = .ended
    let code = unsafe sora_mux_finish(mux)
    if code == Int32(SORA_AVF_INVALID) { throw .invalidFrame(path: path) }
    try succeed(code)
  }

  private func succeed(_ code: Int32) throws(MediaFileError) {
    guard code < 0 else { return }
    phase = .ended
    throw AVFormatLibrary.error(code, path, "write")
  }
}
