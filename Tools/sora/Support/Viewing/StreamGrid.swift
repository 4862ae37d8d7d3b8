package import SoraMedia
package import SoraView
import Synchronization

/// A window with the streams of a channel: names, a mark around who speaks, and statistics where `i` asks for them. Safe from any
/// thread.
package final class StreamGrid: Sendable {
  private struct Cell {
    let tile: VideoTile
    var statistics: [String] = []
  }

  private struct State {
    var cells: [String: Cell] = [:]
    var names: [String: String] = [:]
    var speakers = SpeakerMark()
    var showsStatistics = false
  }

  private let state = Mutex(State())
  private let window: Mutex<VideoWindow?>

  /// Opens the window.
  ///
  /// - Parameters:
  ///   - title: of the window.
  ///   - place: where it is.
  ///   - end: called when somebody closes it, or presses `q` or Escape.
  ///   - lost: called when the display is gone, after which nothing is shown.
  package init(
    title: String, place: VideoWindowPlace = .display, end: @escaping @Sendable () -> Void,
    lost: @escaping @Sendable () -> Void = {}
  ) throws(ViewError) {
    window = Mutex(nil)
    let opened = try VideoWindow(.init(title: title), place: place) { [weak self] event in
      switch event {
      case .closeRequested: end()
      case .displayLost: lost()
      case .resized: break
      case .key(let name): self?.press(name, end)
      }
    }
    window.withLock { $0 = opened }
  }

  /// Does what a key is for.
  package func press(_ key: String, _ end: () -> Void) {
    switch key {
    case "q", "escape": end()
    case "i":
      state.withLock { state in
        state.showsStatistics.toggle()
        for cell in state.cells.values { Self.write(cell, isShown: state.showsStatistics) }
      }
    default: break
    }
  }

  private static func write(_ cell: Cell, isShown: Bool) {
    cell.tile.update { $0.overlay = isShown ? cell.statistics : [] }
  }

  /// Gives a stream that came a tile.
  package func add(_ streamId: String) {
    let tile = state.withLock { state -> VideoTile? in
      guard state.cells[streamId] == nil else { return nil }
      let tile = VideoTile(.init(name: state.names[streamId] ?? StatusText.short(streamId)))
      state.cells[streamId] = Cell(tile: tile)
      return tile
    }
    if let tile { window.withLock { $0 }?.add(tile) }
  }

  /// Takes away the tile of one that went.
  package func remove(_ streamId: String) {
    let cell = state.withLock { state in
      state.speakers.remove(streamId)
      return state.cells.removeValue(forKey: streamId)
    }
    if let cell { window.withLock { $0 }?.remove(cell.tile) }
  }

  /// Names a stream for people, where that is more than its id.
  package func name(_ streamId: String, _ name: String) {
    state.withLock { state in
      state.names[streamId] = name
      state.cells[streamId]?.tile.update { $0.name = name }
    }
  }

  package func show(_ frame: RawVideoFrame, of streamId: String) {
    state.withLock { $0.cells[streamId]?.tile }?.show(frame)
  }

  /// Takes how loud a stream was just now, in dB relative to full scale; nil for silence.
  package func hear(_ streamId: String, levelDb: Double?, at now: Instant) {
    state.withLock { state in
      state.speakers.hear(streamId, levelDb: levelDb, at: now)
      let speaks = state.speakers.speaks(streamId, at: now)
      guard let tile = state.cells[streamId]?.tile, tile.appearance.isMarked != speaks else {
        return
      }
      tile.update { $0.isMarked = speaks }
    }
  }

  /// Takes what `i` shows of a stream.
  package func tell(_ streamId: String, statistics lines: [String]) {
    state.withLock { state in
      guard var cell = state.cells[streamId] else { return }
      let counts = cell.tile.statistics
      cell.statistics =
        lines + [
          "shown \(counts.framesShown), replaced \(counts.framesReplaced), late \(counts.framesLate)"
        ]
      state.cells[streamId] = cell
      if state.showsStatistics { Self.write(cell, isShown: true) }
    }
  }

  /// Why names and statistics aren't written; nil while they are.
  package var textProblem: String? { window.withLock { $0 }?.textProblem }

  /// What it shows.
  package func image() throws(ViewError) -> RGBImage {
    guard let window = window.withLock({ $0 }) else { throw .closed }
    return try window.image()
  }

  package func close() { window.withLock { $0 }?.close() }
}
