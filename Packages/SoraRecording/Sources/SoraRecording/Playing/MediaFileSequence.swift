package import SoraMedia

/// A file's frames in the order in which they are due: those of one video and one audio track, whatever way the file puts them
/// together, again and again where that is wanted. Confined to one thread at a time.
package final class MediaFileSequence {
  /// A frame, and when it is due.
  package struct Item: Sendable {
    package var frame: MediaFileFrame
    /// nil for one that isn't negotiated here.
    package var codec: MediaCodec?
    package var kind: MediaKind
    /// Since playing began; goes on over the file's end, and over seeks.
    package var time: Duration
    /// The same in the file.
    package var latest: Duration
  }

  private struct Track {
    var index: Int
    var codec: MediaCodec?
    var kind: MediaKind
    var waiting: [MediaFileFrame] = []
    /// Frames of `waiting` that were taken.
    var taken = 0
    /// When the last of those that were taken was due: frames come in decoding order, and none is due before one ahead of it.
    var latest = Duration.zero
    /// Where the track ends, as far as it was read.
    var end = Duration.zero
    var interval = Duration.zero

    var first: MediaFileFrame? { taken < waiting.count ? waiting[taken] : nil }

    mutating func append(_ frame: MediaFileFrame) {
      if let last = waiting.last, frame.time > last.time { interval = frame.time - last.time }
      end = max(end, frame.time + (frame.duration ?? interval))
      waiting.append(frame)
    }

    mutating func take() -> MediaFileFrame {
      defer {
        taken += 1
        if taken == waiting.count || taken > 256 {
          waiting.removeFirst(taken)
          taken = 0
        }
      }
      latest = max(latest, waiting[taken].decodeTime)
      return waiting[taken]
    }

    mutating func clear() {
      waiting = []
      taken = 0
      latest = .zero
    }
  }

  /// A track of which so much has been read and the other nothing is played alone meanwhile.
  private static let longestLead = Duration.seconds(3)
  private static let mostBytes = 64 << 20

  package let reader: MediaFileReader
  private var tracks: [Track]
  private var isAtEnd = false
  private var bytes = 0
  /// Between the file's time and the time that is told.
  private var offset = Duration.zero
  /// What the file's times begin at: a broadcast's, or those of a part of a film, don't at zero. nil until its first frames are read.
  private var start: Duration?
  /// Where playing goes on after a seek: found with the first frame.
  private var isEntering = true
  private var hasSought = false
  private var resumeTime = Duration.zero
  private var lastTime = Duration.zero
  /// Whether the file begins anew at its end.
  package var loops: Bool
  /// How often it did.
  package private(set) var rounds = 0
  /// Of the frame that was taken last, or what was sought since, from the file's beginning on.
  package private(set) var position = Duration.zero

  package init(reader: MediaFileReader, video: Int?, audio: Int?, loops: Bool) {
    self.reader = reader
    self.loops = loops
    tracks = [video, audio].compactMap { index in
      index.flatMap { index -> Track? in
        let track = reader.tracks[index]
        return track.kind.map { Track(index: index, codec: track.codec, kind: $0) }
      }
    }
  }

  /// The next frame; nil at the end.
  package func next() throws(MediaFileError) -> Item? {
    if isEntering { try enter() }
    try fill()
    if isAtEnd, tracks.allSatisfy({ $0.first == nil }) {
      // A file without a frame would be begun without end.
      guard loops, tracks.contains(where: { $0.end > .zero }) else { return nil }
      try begin()
      try fill()
      if tracks.allSatisfy({ $0.first == nil }) { return nil }
    }
    guard let chosen = earliest() else { return nil }
    let frame = take(from: chosen)
    position = max(.zero, tracks[chosen].latest - (start ?? .zero))
    // Of a track that begins before the other after a seek nothing is older than where playing goes on.
    lastTime = max(lastTime, tracks[chosen].latest + offset)
    let latest = tracks[chosen].latest
    return Item(
      frame: frame, codec: tracks[chosen].codec, kind: tracks[chosen].kind, time: latest + offset,
      latest: latest)
  }

  /// Goes on at the last key frame at or before a time since the file's beginning; times that are told go on from `time`, when the next
  /// frame is due.
  package func seek(to position: Duration, at time: Duration) throws(MediaFileError) {
    if start == nil { try enter() }
    try reader.seek(to: position > .zero ? position + (start ?? .zero) : .zero)
    clear()
    isEntering = true
    hasSought = true
    resumeTime = max(time, lastTime)
    self.position = max(.zero, position)
  }

  /// Begins there as if nothing had been played yet: the times that are told and the rounds count from zero again.
  package func restart(at position: Duration) throws(MediaFileError) {
    try seek(to: position, at: .zero)
    hasSought = position > .zero
    (resumeTime, lastTime) = (.zero, .zero)
    rounds = 0
  }

  private func clear() {
    for index in tracks.indices { tracks[index].clear() }
    bytes = 0
    isAtEnd = false
  }

  /// Begins the file again, behind its end.
  private func begin() throws(MediaFileError) {
    let end = offset + (tracks.map(\.end).max() ?? .zero)
    try reader.seek(to: .zero)
    clear()
    hasSought = false
    try skipToKeyFrame()
    // By when they are shown: frames of another order are decoded before the last ones of the round before are over.
    offset = max(end - (firstTime ?? .zero), offset + .milliseconds(1))
    rounds += 1
  }

  /// Finds out where playing goes on: at a key frame of the video, where there is one.
  private func enter() throws(MediaFileError) {
    isEntering = false
    try skipToKeyFrame()
    if start == nil { start = firstTime }
    offset = resumeTime - (tracks.compactMap { $0.first?.decodeTime }.min() ?? .zero)
  }

  /// When the first of what was read is shown.
  private var firstTime: Duration? { tracks.compactMap { $0.first?.time }.min() }

  private func skipToKeyFrame() throws(MediaFileError) {
    try fill()
    if let video = tracks.firstIndex(where: { $0.kind == .video }) {
      while let first = tracks[video].first, !first.frame.isKeyFrame {
        _ = take(from: video)
        try fill()
      }
      if let start = tracks[video].first?.time {
        for index in tracks.indices where index != video {
          while hasSought, let first = tracks[index].first, first.time < start {
            _ = take(from: index)
            try fill()
          }
        }
      }
    }
    for index in tracks.indices { tracks[index].latest = .zero }
  }

  private func take(from track: Int) -> MediaFileFrame {
    let frame = tracks[track].take()
    bytes -= frame.frame.payload.count
    return frame
  }

  /// Reads on until a frame of each track is there.
  private func fill() throws(MediaFileError) {
    while !isAtEnd, tracks.contains(where: { $0.first == nil }) {
      let starts = tracks.compactMap { $0.first?.time }
      let ends = tracks.compactMap { $0.waiting.last?.time }
      if let start = starts.min(), let end = ends.max(), end - start > Self.longestLead { return }
      guard bytes < Self.mostBytes else { return }
      guard let frame = try reader.next() else {
        isAtEnd = true
        return
      }
      guard let track = tracks.firstIndex(where: { $0.index == frame.track }) else { continue }
      bytes += frame.frame.payload.count
      tracks[track].append(frame)
    }
  }

  private func earliest() -> Int? {
    func due(_ index: Int) -> Duration {
      max(tracks[index].latest, tracks[index].first?.decodeTime ?? .zero)
    }
    return tracks.indices.filter { tracks[$0].first != nil }.min { due($0) < due($1) }
  }
}
