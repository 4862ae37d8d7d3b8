import Foundation
import SoraClock
import SoraMedia
import SoraRecording

/// Reads a file and writes its frames to another, over and over, as a call that is twenty times as fast, until it is killed or can't write.
///
///     RecordingVictim IN OUT
@main struct RecordingVictim {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { return print("usage: RecordingVictim IN OUT") }
    let reader = try MediaFileReader(path: arguments[1])
    var frames: [(MediaFileFrame, MediaCodec)] = []
    while let frame = try reader.next() {
      if let codec = reader.tracks[frame.track].codec { frames.append((frame, codec)) }
    }
    let recorder = try MediaRecorder(path: arguments[2])
    recorder.onFailure = { error in
      print(error)
      exit(1)
    }
    let length = (frames.map(\.0.time).max() ?? .zero) + .milliseconds(33)
    for round in 0..<1_000 {
      for (frame, codec) in frames {
        let time = Instant.zero + length * round + frame.time
        var encoded = frame.frame
        encoded.rtpTimestamp = UInt32(
          truncatingIfNeeded: Int64((time.seconds * Double(codec.clockRate)).rounded()))
        recorder.receive(EncodedTrackFrame(codec: codec, frame: encoded, receiveTime: time))
        try await Task.sleep(for: .microseconds(500))
      }
    }
  }
}
