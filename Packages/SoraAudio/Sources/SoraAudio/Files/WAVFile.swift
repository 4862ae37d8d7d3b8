#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reads the samples of a WAV file as signed 16 bits. Confined to one thread.
public final class WAVReader {
  public let header: WAVHeader
  public var sampleRate: Int { header.sampleRate }
  public var channels: Int { header.channels }
  /// Samples of each channel in the file.
  public let frameCount: Int
  /// Samples of each channel that the header promises: more than `frameCount` where the file was cut. nil where the
  /// header doesn't say.
  public var declaredFrameCount: Int? { header.dataCount.map { $0 / header.frameByteCount } }

  private let path: String
  private let descriptor: Int32
  private var nextFrame = 0
  private var bytes = [UInt8](repeating: 0, count: 1 << 16)

  /// The header must end within this many bytes: text and cover images before the samples may be long, but not endless.
  private static let maximumHeader = 1 << 20

  /// Opens `path` and reads its header.
  public init(path: String) throws(WAVError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    var header: WAVHeader?
    var size = 0
    var failure: WAVError?
    if descriptor < 0 {
      failure = .system(call: "open", path: path, errno: errno)
    } else {
      var status = stat()
      _ = unsafe fstat(descriptor, &status)
      size = Int(status.st_size)
      do throws(WAVError) {
        header = try Self.readHeader(descriptor, path, size)
      } catch {
        failure = error
      }
    }
    guard let header, failure == nil else {
      if descriptor >= 0 { close(descriptor) }
      throw failure ?? .notWAVE
    }
    self.header = header
    let available = max(0, size - header.dataOffset)
    frameCount = min(header.dataCount ?? available, available) / header.frameByteCount
  }

  deinit { close(descriptor) }

  /// Fills `output` (interleaved) and returns the samples of each channel that were read; 0 at the end.
  public func read(into output: inout MutableSpan<Int16>) throws(WAVError) -> Int {
    let frameSize = header.frameByteCount
    var written = 0
    let wanted = min(output.count / channels, frameCount - nextFrame)
    while written < wanted {
      let frames = min(wanted - written, bytes.count / frameSize)
      let offset = off_t(header.dataOffset + nextFrame * frameSize)
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, frames * frameSize, offset)
      }
      guard count >= 0 else { throw .system(call: "read", path: path, errno: errno) }
      let got = count / frameSize
      // The file became shorter while it was read.
      guard got > 0 else { break }
      var part = output._mutatingExtracting((written * channels)..<((written + got) * channels))
      _ = header.convert(bytes.span.extracting(..<(got * frameSize)), into: &part)
      written += got
      nextFrame += got
    }
    return written
  }

  /// Goes on at sample `frame` of each channel; clamped to the file.
  public func seek(toFrame frame: Int) { nextFrame = min(max(0, frame), frameCount) }

  private static func readHeader(_ descriptor: Int32, _ path: String, _ size: Int)
    throws(WAVError) -> WAVHeader
  {
    var wanted = 4_096
    while true {
      var buffer = [UInt8](repeating: 0, count: wanted)
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
      }
      guard count >= 0 else { throw .system(call: "read", path: path, errno: errno) }
      do throws(WAVError) {
        return try WAVHeader(parsing: buffer.span.extracting(..<count))
      } catch .truncatedHeader where count == wanted && wanted < maximumHeader {
        wanted *= 4
      }
    }
  }
}

/// Writes signed 16-bit samples into a WAV file as they come. Confined to one thread.
///
/// The header is true after `close`; until then it says "to the end of the file", so that a recording that was cut off
/// can be played, too. Where writing fails, nothing of what was taken is lost, nor written twice: it is tried again with the next call.
public final class WAVWriter {
  public let sampleRate: Int
  public let channels: Int
  /// Samples of each channel that were written.
  public private(set) var frameCount = 0

  private let path: String
  private let ownsDescriptor: Bool
  private var descriptor: Int32
  /// Where the header lies; nil where it can't be changed.
  private let headerOffset: off_t?
  private var pending: [UInt8] = []
  private static let pendingLimit = 1 << 16
  private static let headerSize = 44
  private static let maximumData = 0xFFFF_FFE0 - headerSize

  /// Creates `path`, or empties it.
  public convenience init(path: String, sampleRate: Int, channels: Int) throws(WAVError) {
    try Self.validate(sampleRate, channels)
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    try self.init(
      descriptor: descriptor, path: path, owns: true, sampleRate: sampleRate, channels: channels)
  }

  /// Writes to a file descriptor from where it stands, which stays the caller's. One that can't seek (a pipe), or only appends, keeps the
  /// header that says "to the end".
  public convenience init(descriptor: Int32, sampleRate: Int, channels: Int) throws(WAVError) {
    try Self.validate(sampleRate, channels)
    try self.init(
      descriptor: descriptor, path: "descriptor \(descriptor)", owns: false,
      sampleRate: sampleRate, channels: channels)
  }

  private init(
    descriptor: Int32, path: String, owns: Bool, sampleRate: Int, channels: Int
  ) throws(WAVError) {
    self.descriptor = descriptor
    self.path = path
    self.sampleRate = sampleRate
    self.channels = channels
    ownsDescriptor = owns
    let place = lseek(descriptor, 0, SEEK_CUR)
    headerOffset = place < 0 || fcntl(descriptor, F_GETFL) & O_APPEND != 0 ? nil : place
    pending.reserveCapacity(Self.pendingLimit)
    try writeAll(Self.header(sampleRate, channels, dataCount: nil), at: nil)
  }

  deinit { try? close() }

  private static func validate(_ sampleRate: Int, _ channels: Int) throws(WAVError) {
    guard (1...2).contains(channels) else {
      throw .unsupported(field: "number of channels", value: channels)
    }
    guard (4_000...384_000).contains(sampleRate) else {
      throw .unsupported(field: "sample rate", value: sampleRate)
    }
  }

  /// Appends interleaved samples. Where it throws, `frameCount` says how many of them were taken before.
  public func write(_ samples: Span<Int16>) throws(WAVError) {
    let frames = samples.count / channels
    guard (frameCount + frames) * channels * 2 <= Self.maximumData else { throw .tooLong }
    for frame in 0..<frames {
      if pending.count + 2 * channels > Self.pendingLimit { try flush() }
      for index in frame * channels..<(frame + 1) * channels {
        pending.append(UInt8(truncatingIfNeeded: samples[index]))
        pending.append(UInt8(truncatingIfNeeded: samples[index] >> 8))
      }
      frameCount += 1
    }
  }

  /// Writes what is pending, and the lengths into the header. Does nothing the second time.
  public func close() throws(WAVError) {
    guard descriptor >= 0 else { return }
    defer {
      if ownsDescriptor { _ = Self.closeDescriptor(descriptor) }
      descriptor = -1
    }
    try flush()
    guard let headerOffset else { return }
    try writeAll(
      Self.header(sampleRate, channels, dataCount: frameCount * channels * 2), at: headerOffset)
  }

  private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Musl.close(descriptor)
    #endif
  }

  private func flush() throws(WAVError) {
    var done = 0
    defer { pending.removeFirst(done) }
    while done < pending.count {
      let count = unsafe pending.withUnsafeBytes {
        unsafe Self.writeDescriptor(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(call: "write", path: path, errno: errno) }
      done += count
    }
  }

  private func writeAll(_ bytes: [UInt8], at offset: off_t?) throws(WAVError) {
    let count = unsafe bytes.withUnsafeBytes { bytes in
      if let offset { return unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, offset) }
      return unsafe Self.writeDescriptor(descriptor, bytes)
    }
    guard count == bytes.count else { throw .system(call: "write", path: path, errno: errno) }
  }

  private static func writeDescriptor(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer
  ) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(descriptor, bytes.baseAddress!, bytes.count)
    #else
      unsafe Musl.write(descriptor, bytes.baseAddress!, bytes.count)
    #endif
  }

  private static func header(_ rate: Int, _ channels: Int, dataCount: Int?) -> [UInt8] {
    var bytes: [UInt8] = []
    func append<T: FixedWidthInteger>(_ value: T) {
      for index in 0..<(T.bitWidth / 8) {
        bytes.append(UInt8(truncatingIfNeeded: value >> T(8 * index)))
      }
    }
    bytes += Array("RIFF".utf8)
    append(dataCount.map { UInt32(headerSize - 8 + $0) } ?? UInt32.max)
    bytes += Array("WAVEfmt ".utf8)
    append(UInt32(16))
    append(UInt16(1))
    append(UInt16(channels))
    append(UInt32(rate))
    append(UInt32(rate * channels * 2))
    append(UInt16(channels * 2))
    append(UInt16(16))
    bytes += Array("data".utf8)
    append(dataCount.map { UInt32($0) } ?? UInt32.max)
    return bytes
  }
}
