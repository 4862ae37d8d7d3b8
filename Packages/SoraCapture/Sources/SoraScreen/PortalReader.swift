import SoraClock
import SoraMedia

/// Reads what a user lets see of their desktop. Confined to one thread.
final class PortalReader: ScreenReading {
  /// In which PipeWire is to have agreed on a format: it links the two sides at once, where something does that.
  private static let patience = Duration.seconds(10)

  private let screen: PortalScreen
  private let framesPerSecond: Double
  private let showsCursor: Bool
  private let cast: ScreenCast
  private let offer: ScreenCast.Offer
  private let pool = PixelBufferPool(limit: 6)
  /// By when there is to be a format; nil once there is one.
  private var deadline: Instant?

  private(set) var size = (width: 0, height: 0)
  private(set) var isChanged = false
  private(set) var framesDropped = 0

  var connection: any ScreenConnection { cast }
  /// It is in the frames.
  var followsPointer: Bool { false }

  /// Finds the portal. Nobody is asked yet.
  ///
  /// - Parameter framesPerSecond: at most.
  init(
    _ screen: PortalScreen, framesPerSecond: Double, showsCursor: Bool
  ) throws(ScreenError) {
    self.screen = screen
    self.framesPerSecond = framesPerSecond
    self.showsCursor = showsCursor
    cast = try ScreenCast()
    offer = try cast.connect(bus: screen.bus)
    guard kinds != 0 else {
      throw .noPortal(reason: "that of this desktop doesn't offer \(screen)")
    }
  }

  /// What is wanted and offered.
  private var kinds: UInt32 { screen.kinds.reduce(0) { $0 | $1.bit } & offer.kinds }

  /// 0 where the portal has no such choice.
  private var cursorMode: UInt32 { (showsCursor ? 2 : 1) & offer.cursorModes }

  func begin() throws(ScreenError) -> PortalScreen? {
    guard try cast.createSession(),
      try cast.select(
        kinds: kinds, cursorMode: cursorMode,
        persistence: offer.version >= 4 ? screen.persistence.mode : nil,
        restoreToken: screen.restoreToken),
      try cast.start()
    else { return nil }
    try cast.openStream(framesPerSecond: framesPerSecond)
    deadline = SystemClock.now + Self.patience
    var allowed = screen
    allowed.restoreToken = cast.restoreToken
    return allowed
  }

  func wait(milliseconds: Int, isPause: Bool) throws(ScreenError) -> Bool {
    let changes = try cast.wait(milliseconds: milliseconds, isPause: isPause)
    if changes.isDrawn { isChanged = true }
    framesDropped = changes.framesBroken
    if changes.isAgreed {
      deadline = nil
    } else if let deadline, SystemClock.now > deadline {
      throw .streamEnded(
        reason: "nothing came of it; is a session manager there, such as WirePlumber?")
    }
    guard let size = changes.size else { return false }
    self.size = size
    return true
  }

  func followPointer() {}

  func picture() -> ScreenPicture? {
    isChanged = false
    return cast.picture(into: pool).map { ScreenPicture(buffer: $0.buffer, time: $0.time) }
  }

  func end() { cast.end() }
}
