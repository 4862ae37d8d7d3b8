import SoraMedia
import SoraRecording

/// Frames of each kind in a file, as far as it can be read, and how long it is.
struct RecordedFrames {
  let video: Int
  let audio: Int
  let length: Duration

  init(_ path: String) throws {
    let reader = try MediaFileReader(path: path)
    var counts: [Int: Int] = [:]
    var length = Duration.zero
    while let frame = try? reader.next() {
      counts[frame.track, default: 0] += 1
      length = max(length, frame.time)
    }
    video = counts[reader.firstTrack(.video) ?? -1] ?? 0
    audio = counts[reader.firstTrack(.audio) ?? -1] ?? 0
    self.length = length
  }
}
