#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Why a WAV file could not be read or written.
public enum WAVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file isn't RIFF/WAVE.
  case notWAVE
  /// The file ends before its header does, or its header is longer than is sane.
  case truncatedHeader
  /// A field of the format is nonsense, or none that can be read here.
  case unsupported(field: String, value: Int)
  /// The file has no samples.
  case noData
  /// The system failed: which call, on which path, and `errno`.
  case system(call: String, path: String, errno: Int32)
  /// More samples than the format's 32 bits can count.
  case tooLong

  public var description: String {
    switch self {
    case .notWAVE: "not a WAV file: it doesn't start with RIFF and WAVE"
    case .truncatedHeader: "the file ends inside of its header"
    case .unsupported(let field, let value):
      "\(field) is \(value); PCM of 8, 16, 24 or 32 bits and float of 32 bits, mono or stereo, can be read"
    case .noData: "the file has no samples"
    case .system(let call, let path, let code): "cannot \(call) \(path): \(Self.words(errno: code))"
    case .tooLong: "a WAV file holds at most 4 GiB"
    }
  }

  /// What a person can change, in the system's words.
  private static func words(errno code: Int32) -> String {
    switch code {
    case ENOENT: "No such file or directory"
    case EACCES, EPERM: "Permission denied"
    case EISDIR: "Is a directory"
    case ENOTDIR: "Not a directory"
    case ENOSPC, EDQUOT: "No space left on device"
    case EROFS: "Read-only file system"
    case EFBIG: "File too large"
    case EIO: "Input/output error"
    default: "error \(code) of the system"
    }
  }
}

/// What the start of a WAV file says. Parsed from bytes; reads no file.
public struct WAVHeader: Sendable, Hashable {
  public enum Encoding: Sendable, Hashable {
    case unsigned8
    case signed16
    case signed24
    case signed32
    case float32

    /// Bytes of one sample of one channel.
    public var byteCount: Int {
      switch self {
      case .unsigned8: 1
      case .signed16: 2
      case .signed24: 3
      case .signed32, .float32: 4
      }
    }
  }

  public let encoding: Encoding
  /// 1 or 2.
  public let channels: Int
  /// 4,000 to 384,000 Hz.
  public let sampleRate: Int
  /// Where the samples start in the file.
  public let dataOffset: Int
  /// Bytes of samples, a multiple of the bytes of all channels' samples. Files that were never closed say 0 or
  /// 0xFFFFFFFF: then nil, and the samples go on to the end of the file.
  public let dataCount: Int?

  /// Bytes of one sample of all channels.
  public var frameByteCount: Int { encoding.byteCount * channels }

  /// Chunks before the samples that are looked at.
  private static let maximumChunks = 64

  /// Reads the header from the first bytes of a file. Throws `WAVError.truncatedHeader` where more bytes are needed.
  public init(parsing bytes: Span<UInt8>) throws(WAVError) {
    guard bytes.count >= 12 else {
      throw bytes.isEmpty || Self.tag(bytes, 0) == "RIFF" ? .truncatedHeader : .notWAVE
    }
    guard Self.tag(bytes, 0) == "RIFF", Self.tag(bytes, 8) == "WAVE" else { throw .notWAVE }
    var offset = 12
    var format: (encoding: Encoding, channels: Int, rate: Int)?
    for _ in 0..<Self.maximumChunks {
      guard offset + 8 <= bytes.count else { throw .truncatedHeader }
      let name = Self.tag(bytes, offset)
      let size = Int(Self.read32(bytes, offset + 4))
      offset += 8
      if name == "data" {
        guard let format else { throw .unsupported(field: "format chunk", value: 0) }
        encoding = format.encoding
        channels = format.channels
        sampleRate = format.rate
        dataOffset = offset
        let whole = size - size % (format.encoding.byteCount * format.channels)
        dataCount = size == 0 || size >= 0xFFFF_FFF0 ? nil : whole
        if dataCount == 0 { throw .noData }
        return
      }
      if name == "fmt " {
        guard size >= 16, size <= 1_024 else {
          throw .unsupported(field: "format chunk size", value: size)
        }
        guard offset + size <= bytes.count else { throw .truncatedHeader }
        format = try Self.format(bytes, offset, size)
      }
      // Chunks are padded to even sizes.
      offset += size + (size & 1)
    }
    throw .unsupported(field: "chunks before the samples", value: Self.maximumChunks)
  }

  private static func format(_ bytes: Span<UInt8>, _ offset: Int, _ size: Int)
    throws(WAVError) -> (Encoding, Int, Int)
  {
    var code = Int(read16(bytes, offset))
    let channels = Int(read16(bytes, offset + 2))
    let rate = Int(read32(bytes, offset + 4))
    let alignment = Int(read16(bytes, offset + 12))
    let bits = Int(read16(bytes, offset + 14))
    // WAVE_FORMAT_EXTENSIBLE: the code proper is the start of the sub-format's GUID.
    if code == 0xFFFE {
      guard size >= 40 else { throw .unsupported(field: "format chunk size", value: size) }
      code = Int(read16(bytes, offset + 24))
    }
    let encoding: Encoding
    switch (code, bits) {
    case (1, 8): encoding = .unsigned8
    case (1, 16): encoding = .signed16
    case (1, 24): encoding = .signed24
    case (1, 32): encoding = .signed32
    case (3, 32): encoding = .float32
    case (1, _), (3, _): throw .unsupported(field: "bits a sample", value: bits)
    default: throw .unsupported(field: "format code", value: code)
    }
    guard (1...2).contains(channels) else {
      throw .unsupported(field: "number of channels", value: channels)
    }
    guard (4_000...384_000).contains(rate) else {
      throw .unsupported(field: "sample rate", value: rate)
    }
    guard alignment == channels * encoding.byteCount else {
      throw .unsupported(field: "block alignment", value: alignment)
    }
    return (encoding, channels, rate)
  }

  /// Converts whole samples from their bytes; returns how many samples (of any channel) were written.
  public func convert(
    _ bytes: Span<UInt8>, into output: inout MutableSpan<Int16>
  ) -> Int {
    let size = encoding.byteCount
    let count = min(bytes.count / size, output.count)
    for index in 0..<count {
      let at = index * size
      switch encoding {
      case .unsigned8: output[index] = (Int16(bytes[at]) - 128) << 8
      case .signed16: output[index] = Int16(bitPattern: Self.read16(bytes, at))
      case .signed24: output[index] = Int16(bitPattern: Self.read16(bytes, at + 1))
      case .signed32: output[index] = Int16(bitPattern: Self.read16(bytes, at + 2))
      case .float32:
        let value = Float(bitPattern: Self.read32(bytes, at)) * 32_768
        output[index] = value.isNaN ? 0 : Int16(min(max(value.rounded(), -32_768), 32_767))
      }
    }
    return count
  }

  private static func tag(_ bytes: Span<UInt8>, _ offset: Int) -> String {
    guard offset + 4 <= bytes.count else { return "" }
    return String(decoding: (offset..<(offset + 4)).map { bytes[$0] }, as: UTF8.self)
  }

  private static func read16(_ bytes: Span<UInt8>, _ offset: Int) -> UInt16 {
    UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
  }

  private static func read32(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32 {
    UInt32(read16(bytes, offset)) | UInt32(read16(bytes, offset + 2)) << 16
  }
}
