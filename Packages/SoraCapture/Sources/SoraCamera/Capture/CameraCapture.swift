import Dispatch
import SoraClock
import SoraMedia
import SoraWire
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A camera that is running: takes its pictures as the driver has them, from `init` to `stop`.
///
/// Pictures and events come on a thread of the capture's own, one after the other; who is slow there loses pictures, which
/// `statistics` counts. Pixels that the camera has as I420 or NV12 are never copied; others are converted once, by libyuv.
public final class CameraCapture: Sendable {
  public enum Event: Sendable, Equatable {
    /// No picture has come for so long, where one should have every interval.
    case stalled(Duration)
    /// Pictures come again.
    case resumed
    /// The camera gives nothing any more. The last event, and not told after `stop`.
    case ended(CameraError)
  }

  public struct Statistics: Sendable, Equatable {
    /// Pictures that were delivered.
    public var frames = 0
    /// Pictures that the driver lost: nobody had given a buffer back in time.
    public var framesLost = 0
    /// Pictures that came broken or cut, and were left out.
    public var framesBroken = 0
    /// Pictures that were copied because too many were held already.
    public var framesCopied = 0
    public var stalls = 0
  }

  /// Buffers that the driver is asked for: three can be held while it fills others.
  private static let bufferCount = 5
  /// How long a device may be gone unnoticed where its driver wakes nobody. Usually it does.
  private static let patrol = Duration.seconds(1)
  /// Waits and failures in a row after which a device is given up.
  private static let patience = 50

  public let device: CameraDevice
  /// What the driver gives; its size may differ from the one that was asked for.
  public let format: CameraFormat
  /// What the driver gives; nil where it can't say.
  public let framesPerSecond: Double?

  private let driver: any CaptureDriver
  private let buffers: [CaptureBuffer]
  private let loans: BufferLoans
  private let layout: PictureLayout
  private let deliver: @Sendable (CapturedFrame) -> Void
  private let notify: @Sendable (Event) -> Void
  private let counters = Mutex(Statistics())
  private let isStopped = Mutex(false)
  private let running = DispatchGroup()
  private let queue: DispatchQueue
  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()

  /// Opens a camera and starts it.
  ///
  /// - Parameters:
  ///   - device: the camera.
  ///   - format: one of `device.formats()`; the driver takes the nearest size that it has.
  ///   - framesPerSecond: nil for 30, or the nearest rate that the camera has.
  ///   - deliver: takes each picture, on the capture's thread.
  ///   - notify: told of stalls and of the end, on the capture's thread.
  /// - Throws: `CameraError`, such as `busy` or `formatRefused`.
  public convenience init(
    _ device: CameraDevice, format: CameraFormat, framesPerSecond: Double? = nil,
    deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws(CameraError) {
    try self.init(
      device, driver: V4L2Driver(path: device.path), format: format,
      framesPerSecond: framesPerSecond, deliver: deliver, notify: notify)
  }

  package init(
    _ device: CameraDevice, driver: any CaptureDriver, format: CameraFormat,
    framesPerSecond: Double?, deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (Event) -> Void
  ) throws(CameraError) {
    guard format.pixelFormat.isSupported else {
      throw .formatRefused(wanted: "pictures of \(format.pixelFormat)", given: "nothing known here")
    }
    let (layout, rate) = try driver.configure(format, framesPerSecond: framesPerSecond)
    guard layout.isReadable else {
      throw .formatRefused(wanted: "\(format)", given: "\(layout) in rows that can't be")
    }
    self.device = device
    self.driver = driver
    self.layout = layout
    self.framesPerSecond = rate
    self.format = CameraFormat(
      pixelFormat: layout.pixelFormat, width: layout.width, height: layout.height,
      frameRateRanges: rate.map { [$0...$0] } ?? [])
    self.deliver = deliver
    self.notify = notify
    buffers = try driver.makeBuffers(Self.bufferCount)
    loans = try BufferLoans(driver, buffers: buffers, path: device.path)
    queue = DispatchQueue(label: "sora.camera \(device.path)", qos: .userInitiated)
    queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(driver))
    try driver.stream(true)
    queue.async(group: running) { [self] in run() }
  }

  public var statistics: Statistics { counters.withLock { $0 } }

  /// Ends the capture and waits for its last picture, unless it is called from there. Pictures that are held stay readable.
  public func stop() {
    isStopped.withLock { $0 = true }
    driver.wake()
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(driver) else { return }
    running.wait()
  }

  // MARK: On the thread

  private func run() {
    let ending = follow()
    loans.close()
    try? driver.stream(false)
    driver.close()
    if let ending, !isStopped.withLock({ $0 }) { notify(.ended(ending)) }
  }

  /// Takes pictures until there are none any more; why, or nil after `stop`.
  private func follow() -> CameraError? {
    let pool = PixelBufferPool()
    var lender = BufferLender(buffers, layout, loans)
    let interval = Duration.seconds(1 / (framesPerSecond ?? 30))
    let stallTime = max(.seconds(1), interval * 5)
    var now = SystemClock.now
    var latest = now
    var sequence: UInt32?
    var isStalled = false
    var failures = 0
    while true {
      let look = now + Self.patrol
      let came = driver.wait(until: isStalled ? look : min(look, latest + stallTime))
      if came.isWoken { return nil }
      now = SystemClock.now
      if !came.isReady, !isStalled, now - latest >= stallTime {
        isStalled = true
        counters.withLock { $0.stalls += 1 }
        notify(.stalled(now - latest))
      }
      guard came.isReady || came.isGone else { continue }
      switch driver.dequeue(planes: loans.planes) {
      case .none:
        // A device may say that it is gone before the reason can be read.
        failures += came.isGone ? 1 : 0
        if came.isGone { pause() }
      case .gone: return .unplugged(path: device.path)
      case .failed(let code):
        failures += 1
        pause()
        if failures >= Self.patience {
          return .system(operation: "reading", path: device.path, code: code)
        }
      case .filled(let filled):
        failures = 0
        latest = now
        if isStalled {
          isStalled = false
          notify(.resumed)
        }
        if let sequence {
          let lost = filled.sequence &- sequence &- 1
          if lost < 1000 { counters.withLock { $0.framesLost += Int(lost) } }
        }
        sequence = filled.sequence
        take(filled, &lender, pool, at: now)
      }
      if failures >= Self.patience { return .unplugged(path: device.path) }
    }
  }

  /// A failing device doesn't keep a processor busy.
  private func pause() { usleep(5000) }

  private func take(
    _ filled: FilledBuffer, _ lender: inout BufferLender, _ pool: PixelBufferPool, at now: Instant
  ) {
    if layout.isLent, !filled.isBroken, deliverLent(filled, &lender, at: now) {
      lender.settle(filled.index)
      return
    }
    let content = filled.isBroken ? nil : lender.contents(of: filled).flatMap { copy($0, pool) }
    loans.giveBack(filled.index)
    guard let content else {
      counters.withLock { $0.framesBroken += 1 }
      return
    }
    if layout.isLent { counters.withLock { $0.framesCopied += 1 } }
    deliver(content, filled, at: now)
  }

  /// Says whether there was a picture in the driver's memory. Nothing here refers to it afterwards.
  private func deliverLent(
    _ filled: FilledBuffer, _ lender: inout BufferLender, at now: Instant
  ) -> Bool {
    guard let picture = lender.lend(filled) else { return false }
    deliver(
      .picture(picture), filled, CameraDeviceMemory(loans: loans, index: filled.index), at: now)
    return true
  }

  /// What the driver wrote, in memory of its own.
  private func copy(_ contents: FilledMemory, _ pool: PixelBufferPool) -> CapturedFrame.Content? {
    guard layout.pixelFormat.isVideoCodec else {
      return layout.copy(contents, into: pool).map { .picture($0) }
    }
    return contents.copy().map {
      .encoded($0, isKeyFrame: layout.pixelFormat.hasKeyFrame($0.span))
    }
  }

  private func deliver(
    _ content: CapturedFrame.Content, _ filled: FilledBuffer, _ memory: CameraDeviceMemory? = nil,
    at now: Instant
  ) {
    counters.withLock { $0.frames += 1 }
    deliver(
      CapturedFrame(
        content: content, timestamp: timestamp(of: filled, at: now), sequence: filled.sequence,
        colorSpace: layout.colorSpace, deviceMemory: memory))
  }

  /// The driver's time, unless it has none or one that can't be.
  private func timestamp(of filled: FilledBuffer, at now: Instant) -> Instant {
    let time = Instant(nanoseconds: filled.nanoseconds)
    return filled.nanoseconds > 0 && time <= now && now - time < .seconds(10) ? time : now
  }
}

extension CameraPixelFormat {
  /// Whether an Annex B access unit can be decoded without what came before.
  package func hasKeyFrame(_ accessUnit: RawSpan) -> Bool {
    var units = AnnexBUnits(accessUnit)
    while let unit = units.next() {
      let header = accessUnit.u8(unit.lowerBound)
      // H.264 table 7-1: 5 is a slice of an IDR picture; H.265 table 7-1: 16 to 21 are those of random access points.
      if self == .h264 ? header & 0x1F == 5 : (16...21).contains(header >> 1 & 0x3F) { return true }
    }
    return false
  }
}
