public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Why a YUV4MPEG2 file can't be read, with the way out.
public enum Y4MError: Error, Equatable, Sendable, CustomStringConvertible {
  case cannotOpen(path: String, reason: String)
  case notY4M
  case unsupportedColourSpace(String)
  case missingSize
  case sizeOutOfRange(width: Int, height: Int)
  case badFrameRate(String)
  case badFrameHeader(frame: Int)
  case truncated(frame: Int)
  /// The system gives no more of the file, which may have more.
  case cannotRead(frame: Int, reason: String)

  public var description: String {
    switch self {
    case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
    case .notY4M: "not a YUV4MPEG2 file: its first line doesn't begin with YUV4MPEG2"
    case .unsupportedColourSpace(let name):
      "colour space \(name) is not supported; convert to 4:2:0 with 8 or 10 bits (ffmpeg -pix_fmt yuv420p)"
    case .missingSize: "the header names no width or height"
    case .sizeOutOfRange(let width, let height):
      "size \(width)x\(height) is outside 16x16 to 8192x8192"
    case .badFrameRate(let text): "frame rate \(text) is not a positive ratio"
    case .badFrameHeader(let frame): "frame \(frame) doesn't begin with FRAME"
    case .truncated(let frame): "the file ends inside frame \(frame)"
    case .cannotRead(let frame, let reason): "frame \(frame) can't be read: \(reason)"
    }
  }
}

/// Reads the pictures of a YUV4MPEG2 file (4:2:0 of 8 or 10 bits a sample). Confined to one thread at a time.
@safe public final class Y4MReader {
  public let width: Int
  public let height: Int
  /// Frames a second as a ratio.
  public let frameRate: (numerator: Int, denominator: Int)
  /// What the file says of its colours: full range, of BT.601 then; nil where it says nothing.
  public let colorSpace: VideoColorSpace?
  /// Bits of a sample: 8 or 10.
  public let bitDepth: Int
  /// Frames read so far.
  public private(set) var framesRead = 0

  private let file: UnsafeMutablePointer<FILE>
  private let firstFrame: Int

  /// Opens a file and reads its header.
  public init(path: String) throws(Y4MError) {
    guard let file = unsafe fopen(path, "rb") else {
      throw .cannotOpen(path: path, reason: unsafe String(cString: strerror(errno)))
    }
    do throws(Y4MError) {
      guard let line = unsafe Self.readLine(file, limit: 512) else {
        // A folder can be opened, and not read.
        guard unsafe ferror(file) != 0 else { throw .notY4M }
        throw .cannotOpen(path: path, reason: unsafe String(cString: strerror(errno)))
      }
      let header = try Y4MHeader(parsing: line)
      width = header.width
      height = header.height
      frameRate = header.frameRate
      colorSpace = header.colorSpace
      bitDepth = header.bitDepth
      firstFrame = unsafe ftell(file)
      unsafe self.file = unsafe file
    } catch {
      unsafe fclose(file)
      throw error
    }
  }

  deinit { unsafe fclose(file) }

  /// Frames a second.
  public var framesPerSecond: Double { Double(frameRate.numerator) / Double(frameRate.denominator) }

  /// The next picture, in three planes; nil at the end of the file.
  public func next() throws(Y4MError) -> PixelBuffer? {
    let first = unsafe getc(file)
    if first == EOF {
      if let failure { throw failure }
      return nil
    }
    unsafe ungetc(first, file)
    guard let line = unsafe Self.readLine(file, limit: 512) else {
      if let failure { throw failure }
      throw unsafe feof(file) != 0
        ? .truncated(frame: framesRead) : .badFrameHeader(frame: framesRead)
    }
    guard line.starts(with: Array("FRAME".utf8)) else { throw .badFrameHeader(frame: framesRead) }
    var complete = true
    let format: PixelFormat = bitDepth == 10 ? .i010 : .i420
    let buffer = PixelBuffer(width: width, height: height, format: format) { planes in
      for plane in planes {
        for y in 0..<plane.height where complete {
          complete = unsafe fread(plane.row(y).baseAddress, 1, plane.width, file) == plane.width
          if bitDepth == 10 { plane.limitToTenBits(row: y) }
        }
      }
    }
    guard complete else { throw failure ?? .truncated(frame: framesRead) }
    framesRead += 1
    return buffer
  }

  /// Why the last read gave nothing, where that isn't the file's end.
  private var failure: Y4MError? {
    let number = errno
    guard unsafe ferror(file) != 0 else { return nil }
    return .cannotRead(frame: framesRead, reason: unsafe String(cString: strerror(number)))
  }

  /// Goes back to the first picture.
  public func rewind() {
    unsafe clearerr(file)
    unsafe fseek(file, firstFrame, SEEK_SET)
    framesRead = 0
  }

  /// A line without its line feed; nil at the end of the file or when there is none within `limit` bytes.
  private static func readLine(_ file: UnsafeMutablePointer<FILE>, limit: Int) -> [UInt8]? {
    var line: [UInt8] = []
    while line.count < limit {
      let byte = unsafe getc(file)
      if byte == EOF { return nil }
      if byte == 10 { return line }
      line.append(UInt8(truncatingIfNeeded: byte))
    }
    return nil
  }
}

extension MutablePlane {
  /// Clears what a file has beyond 10 bits: encoders take samples for what they say they are.
  fileprivate func limitToTenBits(row y: Int) {
    let samples = unsafe row(y, of: UInt16.self)
    for x in 0..<samples.count { unsafe samples[x] = UInt16(littleEndian: samples[x]) & 0x3FF }
  }
}

/// The first line of a YUV4MPEG2 file.
package struct Y4MHeader: Equatable {
  package var width = 0
  package var height = 0
  package var frameRate = (numerator: 30, denominator: 1)
  package var colorSpace: VideoColorSpace?
  package var bitDepth = 8

  package init(parsing line: [UInt8]) throws(Y4MError) {
    let fields = line.split(separator: UInt8(ascii: " ")).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard fields.first == "YUV4MPEG2" else { throw .notY4M }
    for field in fields.dropFirst() {
      let value = String(field.dropFirst())
      switch field.first {
      case "W": width = Int(value) ?? 0
      case "H": height = Int(value) ?? 0
      case "F":
        let parts = value.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2, parts[0] > 0, parts[1] > 0, parts[0] <= 1_000_000,
          parts[1] <= 1_000_000
        else { throw .badFrameRate(value) }
        frameRate = (parts[0], parts[1])
      case "C":
        switch value {
        case "420", "420jpeg", "420mpeg2", "420paldv": bitDepth = 8
        // FFmpeg's.
        case "420p10": bitDepth = 10
        default: throw .unsupportedColourSpace(value)
        }
      // FFmpeg's extension. "C420jpeg" speaks of where chroma lies, not of its range.
      case "X" where value == "COLORRANGE=FULL":
        colorSpace = VideoColorSpace(matrix: .bt601, isFullRange: true)
      // Interlacing, aspect and other extensions don't change how samples lie in the file.
      default: break
      }
    }
    guard width != 0, height != 0 else { throw .missingSize }
    guard (16...8192).contains(width), (16...8192).contains(height) else {
      throw .sizeOutOfRange(width: width, height: height)
    }
  }

  package static func == (a: Y4MHeader, b: Y4MHeader) -> Bool {
    a.width == b.width && a.height == b.height && a.frameRate == b.frameRate
      && a.colorSpace == b.colorSpace && a.bitDepth == b.bitDepth
  }
}
