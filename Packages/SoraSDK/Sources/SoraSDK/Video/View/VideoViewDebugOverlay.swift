import Dispatch
import SoraClock
import SoraMedia
import SoraView

/// Size and rate of a view's frames, written over them anew each second. Safe from any thread.
final class VideoViewDebugOverlay: Sendable {
  private struct State: Sendable {
    var timer: HeldTimer?
    var width = 0
    var height = 0
    var frames = 0
    var since = Instant.zero
  }

  private static let queue = DispatchQueue(label: "sora.videoView.debug")
  private let state = Locked(State())
  private let tile: VideoTile

  init(_ tile: VideoTile) { self.tile = tile }

  var isOn: Bool {
    get { state.timer != nil }
    set {
      guard newValue != isOn else { return }
      guard newValue else {
        state.timer = nil
        tile.update { $0.overlay = [] }
        return
      }
      state.since = SystemClock.now
      state.timer = HeldTimer(every: .seconds(1), on: Self.queue) { [weak self] in
        self?.write()
      }
      write()
    }
  }

  func count(_ frame: VideoFrame) {
    state.change { state in
      state.frames += 1
      (state.width, state.height) = (frame.width, frame.height)
    }
  }

  private func write() {
    let now = SystemClock.now
    let lines: [String]? = state.change { state in
      guard state.timer != nil else { return nil }
      let seconds = max((now - state.since).inMilliseconds / 1_000, 0.001)
      defer { (state.frames, state.since) = (0, now) }
      return [
        "\(state.width)x\(state.height)", "\(Int((Double(state.frames) / seconds).rounded())) fps",
      ]
    }
    if let lines { tile.update { $0.overlay = lines } }
  }
}
