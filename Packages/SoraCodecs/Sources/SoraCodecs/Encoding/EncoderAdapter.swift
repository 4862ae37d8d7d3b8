import SoraMedia

/// One library that compresses video, as `EncoderDriver` works it.
///
/// An adapter only translates: it starts its library, hands it frames with what the driver decided about each, and passes
/// on what comes out. When to start, at which size and rate, which frames are key frames, which layer each belongs to and
/// which are left out is the driver's to say. Confined like `VideoEncoder`.
package protocol EncoderAdapter: AnyObject {
  /// What the stream will be beyond its settings.
  associatedtype Plan: EncoderPlan

  static var kind: VideoCodecKind { get }
  /// The library and its version, as `VideoEncoder.implementationName`.
  static var implementationName: String { get }
  /// The layers that it can make.
  static var scalabilityModes: [ScalabilityMode] { get }
  static var traits: EncoderTraits { get }

  /// The speeds to choose among while frames of these settings are encoded; nil where it keeps the one that it chooses when
  /// it starts. Each change starts it anew, with `VideoEncoderSettings.speed` set.
  static func speeds(_ settings: VideoEncoderSettings) -> EncoderSpeeds?

  /// Nothing is started yet.
  init() throws(CodecError)

  /// What the library would make of these settings. Throws `CodecError.invalidSetting` for what it can't make.
  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> Plan

  /// Starts the library, and has it write `settings.colorSpace` into the stream, if there is one and the traits say that it can.
  /// Where this throws, `close` follows.
  func open(_ plan: Plan, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)

  /// Stops the library if it was started.
  func close()

  /// Changes the rates of the started library without a key frame.
  func setRates(_ rates: EncoderRates) throws(CodecError)

  /// Compresses one frame; nothing goes into `output` where the library drops it. The samples are only read, and only
  /// until this returns.
  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
}

extension EncoderAdapter {
  package static func speeds(_ settings: VideoEncoderSettings) -> EncoderSpeeds? { nil }
}

/// What an adapter makes of settings before anything is started.
package protocol EncoderPlan {
  /// The coded size in pixels; libraries that want even sides cut the last column or row.
  var width: Int { get }
  var height: Int { get }
  /// Bits per second that the negotiated format allows; `Int.max` where it has no limit.
  var maximumBitsPerSecond: Int { get }
}

/// The plan of codecs whose format parameters limit nothing.
package struct EncoderSizePlan: EncoderPlan {
  package let width: Int
  package let height: Int
  package var maximumBitsPerSecond: Int { .max }

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// What the driver does for a library because the library doesn't.
package struct EncoderTraits: Sendable {
  package enum RateControl: Sendable {
    /// The library keeps the rate and drops frames for it.
    case library
    /// The library keeps the rate, but drops nothing: the driver does.
    case libraryWithoutDropping
    /// The driver chooses each frame's quantizer, and drops.
    case driver
  }

  package var rateControl: RateControl
  /// Whether the library learns the frame rate from each frame's time. If not, it is told the rate that frames really
  /// come at with `setRates`.
  package var learnsFrameRate: Bool
  /// Whether it takes U and V interleaved (NV12).
  package var takesInterleavedChroma: Bool
  /// Whether its streams can say what colours their samples are. If not, the driver brings all frames to limited BT.601.
  package var tellsColorSpace: Bool
  /// Whether its streams can have 10 bits a sample; 8 they all can.
  package var has10Bits: Bool

  package init(
    rateControl: RateControl = .library, learnsFrameRate: Bool = true,
    takesInterleavedChroma: Bool = true, tellsColorSpace: Bool = true, has10Bits: Bool = false
  ) {
    self.rateControl = rateControl
    self.learnsFrameRate = learnsFrameRate
    self.takesInterleavedChroma = takesInterleavedChroma
    self.tellsColorSpace = tellsColorSpace
    self.has10Bits = has10Bits
  }
}

/// The rates that a library works at.
package struct EncoderRates: Sendable, Equatable {
  /// Bits per second to aim for, 1,000 or more, within the settings' limit and the format's.
  package var bitsPerSecond: Int
  /// As announced; for a library that doesn't learn it, as frames really come.
  package var framesPerSecond: Double

  /// In the range that libvpx and libaom take.
  package var kilobitsPerSecond: Int { min(max(bitsPerSecond / 1_000, 1), 2_000_000) }

  /// The bound of a key frame, as libvpx and libaom count it: half of a buffer of `milliseconds`, in percent of the bits
  /// of an average frame, at least three frames.
  package func keyFramePercent(ofBuffer milliseconds: Int) -> Int {
    max(300, Int(Double(milliseconds) * 0.5 * framesPerSecond / 10))
  }
}

/// What the driver decided about one frame.
package struct FrameOrder {
  /// Frames that the library got before this one since the driver was made.
  package let number: Int64
  /// Media time in units of 1/90,000 s; grows with each frame.
  package let ticks: Int64
  /// A frame's nominal time in the same units.
  package let duration: Int64
  package let isKeyFrame: Bool
  /// The quantizer, for a library that leaves the rate to the driver; else 0.
  package let quantizer: Int
  /// Where the frame stands in the pattern of layers.
  package let layers: LayerPosition
}

/// Where the samples of a frame lie. Valid while the adapter's `encode` runs, and not to be written: C's encoders take
/// writable pointers but only read through them, and to bytes where samples have two.
@unsafe package struct EncoderPicture {
  package let width: Int
  package let height: Int
  package let y: UnsafeMutablePointer<UInt8>
  package let u: UnsafeMutablePointer<UInt8>
  /// In interleaved chroma, one byte behind `u`.
  package let v: UnsafeMutablePointer<UInt8>
  /// Bytes from row to row.
  package let yStride: Int32
  package let uStride: Int32
  package let vStride: Int32
  /// How samples lie.
  package let format: PixelFormat

  /// Whether U and V alternate.
  package var isInterleaved: Bool { unsafe format == .nv12 }

  init(_ buffer: PixelBuffer) {
    let luma = buffer.plane(0)
    let first = buffer.plane(1)
    unsafe width = buffer.width
    unsafe height = buffer.height
    unsafe y = Self.writable(luma.base)
    unsafe yStride = Int32(luma.stride)
    unsafe u = Self.writable(first.base)
    unsafe uStride = Int32(first.stride)
    unsafe format = buffer.format
    switch buffer.format {
    case .i420, .i010:
      let second = buffer.plane(2)
      unsafe v = Self.writable(second.base)
      unsafe vStride = Int32(second.stride)
    case .nv12:
      unsafe v = Self.writable(first.base + 1)
      unsafe vStride = Int32(first.stride)
    }
  }

  /// The luma of `buffer`, which is interleaved, with chroma that was taken apart.
  init(_ buffer: PixelBuffer, u: UnsafeRawPointer, v: UnsafeRawPointer, chromaStride: Int) {
    let luma = buffer.plane(0)
    unsafe width = buffer.width
    unsafe height = buffer.height
    unsafe y = Self.writable(luma.base)
    unsafe yStride = Int32(luma.stride)
    unsafe self.u = Self.writable(u)
    unsafe self.v = Self.writable(v)
    unsafe uStride = Int32(chromaStride)
    unsafe vStride = Int32(chromaStride)
    unsafe format = .i420
  }

  private static func writable(_ base: UnsafeRawPointer) -> UnsafeMutablePointer<UInt8> {
    unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
  }
}

/// C's arrays inside of structures come as tuples; this lends one as the array that it is. `Tuple` consists of `Element`s
/// alone.
@inlinable
package func withElements<Tuple, Element: BitwiseCopyable>(
  _ tuple: inout Tuple, of type: Element.Type,
  _ body: (inout MutableSpan<Element>) -> Void
) {
  unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
    let elements = unsafe bytes.bindMemory(to: Element.self)
    var span = unsafe elements.mutableSpan
    body(&span)
  }
}
