import SoraCodecs
import SoraMedia
import Synchronization

/// A library that only notes what it is asked for, so that tests see what the driver decides.
final class FakeAdapter<Kind: FakeLibrary>: EncoderAdapter {
  static var kind: VideoCodecKind { .vp8 }
  static var implementationName: String { "fake 1" }
  static var scalabilityModes: [ScalabilityMode] { ScalabilityMode.all }
  static var traits: EncoderTraits { Kind.traits }

  static func speeds(_ settings: VideoEncoderSettings) -> EncoderSpeeds? {
    Kind.speeds(width: settings.width)
  }

  private var speed = 0
  private let journal = FakeJournal.current ?? FakeJournal()

  init() {}

  /// Even sides, the smallest 16.
  static func plan(_ settings: VideoEncoderSettings) throws(CodecError) -> EncoderSizePlan {
    guard min(settings.width, settings.height) >= 16 else {
      throw .invalidSetting(name: "size", value: "\(settings.width)", allowed: "16 or more")
    }
    return EncoderSizePlan(width: settings.width & ~1, height: settings.height & ~1)
  }

  func open(_ plan: EncoderSizePlan, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    var told = settings.speed.map { " speed \($0)" } ?? ""
    if let space = settings.colorSpace {
      told += " \(space.matrix)\(space.isFullRange ? " full" : "")"
    }
    journal.note("open \(plan.width)x\(plan.height) \(rates.bitsPerSecond)\(told)")
    speed = settings.speed ?? 0
    try journal.fail(at: "open")
  }

  func close() { journal.note("close") }

  func setRates(_ rates: EncoderRates) throws(CodecError) {
    journal.note("rates \(rates.bitsPerSecond) \(Int(rates.framesPerSecond.rounded()))")
    try journal.fail(at: "rates")
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    journal.orders.withLock { $0.append(order) }
    journal.note(order.isKeyFrame ? "key" : "frame")
    journal.chroma.withLock { $0 = unsafe (picture.isInterleaved, picture.u[1], picture.v[0]) }
    try journal.fail(at: "encode")
    journal.clock.withLock { $0.now += $0.frameTime(speed) }
    let bytes = journal.bytes.withLock { $0 }
    guard bytes > 0 else { return }
    for layer in 0..<order.layers.structure.mode.spatialLayers {
      Array(repeating: UInt8(layer), count: bytes).withUnsafeBytes {
        unsafe output.append($0, expecting: bytes)
      }
      output.endLayer(layer, width: 16, height: 16)
    }
    output.isKeyFrame = order.isKeyFrame
  }
}

/// What a fake library leaves to the driver.
protocol FakeLibrary {
  static var traits: EncoderTraits { get }
  static func speeds(width: Int) -> EncoderSpeeds?
}

extension FakeLibrary {
  static func speeds(width: Int) -> EncoderSpeeds? { nil }
}

/// Does everything by itself.
enum AbleLibrary: FakeLibrary {
  static let traits = EncoderTraits()
}

/// Drops nothing, knows no frame's time, takes planes only.
enum PlainLibrary: FakeLibrary {
  static let traits = EncoderTraits(
    rateControl: .libraryWithoutDropping, learnsFrameRate: false, takesInterleavedChroma: false)
}

/// Says nothing of colours.
enum ColorlessLibrary: FakeLibrary {
  static let traits = EncoderTraits(tellsColorSpace: false)
}

/// Leaves the rate to the driver.
enum UncontrolledLibrary: FakeLibrary {
  static let traits = EncoderTraits(rateControl: .driver)
}

/// Has four speeds, -1 to 2; small frames start at 1, larger ones at 0.
enum SpeedyLibrary: FakeLibrary {
  static let traits = EncoderTraits()

  static func speeds(width: Int) -> EncoderSpeeds? {
    EncoderSpeeds(costs: [0.5, 1, 2, 3], fastest: -1, usual: width > 64 ? 0 : 1)
  }
}

/// What happened, and what is to happen.
final class FakeJournal: Sendable {
  /// The journal of adapters that are made in a test.
  @TaskLocal static var current: FakeJournal?

  /// Since the last look.
  private let events = Mutex<[String]>([])
  private let failing = Mutex<String?>(nil)
  let orders = Mutex<[FrameOrder]>([])
  /// Bytes of each layer; 0 to drop.
  let bytes = Mutex(100)
  /// The driver's clock, and what a frame adds to it at a speed. Not a tuple: a closure in one is wrapped once more with each access.
  struct Clock {
    var now = Instant(nanoseconds: 0)
    var frameTime: @Sendable (Int) -> Duration = { _ in .zero }
  }
  let clock = Mutex(Clock())
  /// How the last frame's chroma came: whether interleaved, the second byte of U, the first of V.
  let chroma = Mutex<(isInterleaved: Bool, u: UInt8, v: UInt8)>((false, 0, 0))

  func note(_ event: String) { events.withLock { $0.append(event) } }

  /// The events since the last call.
  func take() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// Lets this step of the library throw; nil lets all succeed.
  func setFailing(_ step: String?) { failing.withLock { $0 = step } }

  static let failure = CodecError.library(
    name: "fake", operation: "do", code: 1, detail: "asked to")

  func fail(at step: String) throws(CodecError) {
    if failing.withLock({ $0 == step }) { throw Self.failure }
  }
}
