public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Why a picture or a film could not be written.
public struct PictureFileError: Error, Equatable, Sendable, CustomStringConvertible {
  public var path: String
  public var reason: String

  public var description: String { "cannot write \(path): \(reason)" }

  init(_ path: String) {
    self.path = path
    reason = unsafe String(cString: strerror(errno))
  }
}

/// Writes pictures to a YUV4MPEG2 file (4:2:0). Confined to one thread at a time.
///
/// The format has no word for colours: all pictures become limited-range BT.601, what most readers take them for.
/// The first picture decides about size and bits a sample, 8 or 10 (`C420p10`, as FFmpeg has it); pictures of another size are left out
/// and counted, because the format has no way to change it.
@safe public final class Y4MWriter {
  public let path: String
  public private(set) var framesWritten = 0
  /// Pictures left out because their size differed from the first one's.
  public private(set) var framesOfAnotherSize = 0

  private let file: UnsafeMutablePointer<FILE>
  /// Frames per second, as the header writes them.
  private let rate: String
  private var first: (width: Int, height: Int, bitDepth: Int)?
  private let converter = ColorSpaceConverter(limit: 1)
  private let depthConverter = BitDepthConverter(limit: 1)

  /// Creates the file, or empties it.
  ///
  /// - Parameters:
  ///   - path: where it lies.
  ///   - framesPerSecond: 0.001 or more.
  /// - Throws: `PictureFileError` with the cause where the file can't be opened or written.
  public init(path: String, framesPerSecond: Double) throws(PictureFileError) {
    guard let file = unsafe fopen(path, "wb") else { throw PictureFileError(path) }
    unsafe self.file = unsafe file
    self.path = path
    rate = Self.ratio(framesPerSecond)
  }

  /// The rate in whole numbers: 25:1, 30000:1001 (NTSC's), or thousandths.
  private static func ratio(_ rate: Double) -> String {
    let rate = rate.isFinite ? min(max(rate, 0.001), 1e6) : 30
    if rate == rate.rounded() { return "\(Int(rate)):1" }
    let ntsc = (rate * 1.001).rounded()
    if abs(ntsc / 1.001 - rate) < 0.001 { return "\(Int(ntsc) * 1_000):1001" }
    return "\(Int((rate * 1_000).rounded())):1000"
  }

  deinit { unsafe fclose(file) }

  /// Appends a picture.
  ///
  /// - Parameters:
  ///   - picture: what is written.
  ///   - colorSpace: how its samples become colours.
  public func write(
    _ picture: PixelBuffer, colorSpace: VideoColorSpace = .bt601
  ) throws(PictureFileError) {
    var bitDepth = picture.format.bitDepth
    if let first {
      guard first.width == picture.width, first.height == picture.height else {
        framesOfAnotherSize += 1
        return
      }
      bitDepth = first.bitDepth
    } else {
      first = (picture.width, picture.height, bitDepth)
      let samples = bitDepth == 10 ? "C420p10 XYSCSS=420P10" : "C420jpeg"
      try put("YUV4MPEG2 W\(picture.width) H\(picture.height) F\(rate) Ip A1:1 \(samples)\n")
    }
    let picture = converter.convert(
      depthConverter.convert(picture, to: bitDepth), from: colorSpace, to: .bt601)
    try put("FRAME\n")
    try put(picture.plane(0))
    switch picture.format {
    case .i420, .i010:
      // Two bytes of 10 bits come in the machine's order, which is little-endian wherever this runs.
      try put(picture.plane(1))
      try put(picture.plane(2))
    case .nv12:
      try putInterleaved(picture.plane(1), offset: 0)
      try putInterleaved(picture.plane(1), offset: 1)
    }
    framesWritten += 1
  }

  /// Hands what is buffered to the system.
  public func flush() throws(PictureFileError) {
    guard unsafe fflush(file) == 0 else { throw PictureFileError(path) }
  }

  private func put(_ plane: Plane) throws(PictureFileError) {
    for y in 0..<plane.height { unsafe try put(plane.row(y)) }
  }

  /// Every second byte of the rows, from `offset` on.
  private func putInterleaved(_ plane: Plane, offset: Int) throws(PictureFileError) {
    var samples: [UInt8] = []
    samples.reserveCapacity(plane.width / 2 * plane.height)
    for y in 0..<plane.height {
      let pairs = unsafe plane.row(y)
      for x in stride(from: offset, to: pairs.count, by: 2) { unsafe samples.append(pairs[x]) }
    }
    guard unsafe fwrite(samples, 1, samples.count, file) == samples.count else {
      throw PictureFileError(path)
    }
  }

  private func put(_ text: String) throws(PictureFileError) {
    var text = text
    let result = text.withUTF8 { unsafe fwrite($0.baseAddress, 1, $0.count, file) == $0.count }
    guard result else { throw PictureFileError(path) }
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(PictureFileError) {
    guard unsafe fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count else {
      throw PictureFileError(path)
    }
  }
}
