import SoraMedia
import SoraView

/// A display without a screen: it writes down what is asked of it.
final class StandInDriver: ViewDriver {
  var canvases: [StandInCanvas] = []
  var events: [ViewDriverEvent] = []
  var failure: ViewError?
  var isDisplayLost = false

  func openWindow(_ settings: VideoWindow.Settings) throws(ViewError) -> any ViewCanvas {
    if let failure { throw failure }
    let canvas = StandInCanvas(number: canvases.count + 1, (settings.width, settings.height))
    canvases.append(canvas)
    return canvas
  }

  func openMemory(_ settings: VideoWindow.Settings) throws(ViewError) -> any ViewCanvas {
    try openWindow(settings)
  }

  func nextEvent() -> ViewDriverEvent? { events.isEmpty ? nil : events.removeFirst() }
}

final class StandInCanvas: ViewCanvas {
  enum Call: Equatable {
    case clear(ViewColor)
    case fill(PixelRectangle, ViewColor)
    case draw(ViewTexture, FramePlacement)
    case present
  }

  let number: Int
  var size: (width: Int, height: Int)
  var refreshRate = 60.0
  var waits = false
  var isClosed = false
  var calls: [Call] = []
  var textures: [ViewTexture] = []
  var uploads: [(texture: ViewTexture, picture: ObjectIdentifier)] = []
  var texts: [String] = []
  var textProblem: String?
  var uploadFailure: ViewError?
  /// What a graphics card's textures may have.
  var longestSide = Int.max
  private var made = 0

  init(number: Int, _ size: (width: Int, height: Int)) {
    self.number = number
    self.size = size
  }

  func setWaitsForDisplay(_ waits: Bool) { self.waits = waits }

  func makeTexture(
    width: Int, height: Int, format: PixelFormat, colorSpace: VideoColorSpace
  ) throws(ViewError) -> ViewTexture {
    guard max(width, height) <= longestSide else {
      throw .failed(operation: "making a texture", reason: "too large")
    }
    return make(width, height)
  }

  private func make(_ width: Int, _ height: Int) -> ViewTexture {
    made += 1
    textures.append(ViewTexture(number: made, width: width, height: height))
    return textures.last!
  }

  func drop(_ texture: ViewTexture) { textures.removeAll { $0 == texture } }

  func upload(_ picture: PixelBuffer, into texture: ViewTexture) throws(ViewError) {
    if let uploadFailure { throw uploadFailure }
    uploads.append((texture, ObjectIdentifier(picture)))
  }

  func makeText(_ text: String, height: Int) -> ViewTexture? {
    texts.append(text)
    return make(text.count * height / 2, height)
  }

  func clear(_ color: ViewColor) { calls = [.clear(color)] }
  func fill(_ rect: PixelRectangle, _ color: ViewColor) { calls.append(.fill(rect, color)) }
  func draw(_ texture: ViewTexture, _ placement: FramePlacement) {
    calls.append(.draw(texture, placement))
  }
  func present() { calls.append(.present) }
  func read() throws(ViewError) -> RGBImage {
    RGBImage(solid(size.width, size.height, 16, 128, 128))
  }
  func close() { isClosed = true }
}
