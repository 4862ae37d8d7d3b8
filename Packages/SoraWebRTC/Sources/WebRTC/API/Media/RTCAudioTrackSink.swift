public import Foundation
import SoraMedia

/// Takes a track's sound as bytes: the protocol of Shiguredo's libwebrtc for iOS, which `AudioSink` does without copies.
public protocol RTCAudioTrackSink: AnyObject, Sendable {
  /// Takes 10 ms of a received track, or what was pushed to a source of ours. Runs where `AudioSink.receive` does: on a serial queue of the
  /// track's own, on which slow work holds up the track's other sinks alone.
  ///
  /// - Parameters:
  ///   - audioData: signed samples, the lowest byte first, channels interleaved.
  ///   - bitsPerSample: 16.
  ///   - sampleRate: Hz; 48,000 of received tracks.
  ///   - numberOfChannels: 1 or 2.
  ///   - numberOfFrames: samples of each channel.
  func onData(
    _ audioData: Data, bitsPerSample: Int, sampleRate: Int, numberOfChannels: Int,
    numberOfFrames: Int)

  /// How many channels are wanted, 1 or 2: two become their mean, and one becomes both. Any other number, such as the -1 of the default:
  /// as many as there are. Asked before each `onData`.
  func preferredNumberOfChannels() -> Int
}

extension RTCAudioTrackSink {
  public func preferredNumberOfChannels() -> Int { -1 }
}

/// Gives a sink of bytes the frames of a track.
final class AudioTrackSinkAdapter: AudioSink, Sendable {
  private let sink: any RTCAudioTrackSink

  init(_ sink: any RTCAudioTrackSink) { self.sink = sink }

  func receive(_ frame: AudioFrame) {
    guard (1...2).contains(frame.channels) else { return }
    let wanted = sink.preferredNumberOfChannels()
    let channels = (1...2).contains(wanted) ? wanted : frame.channels
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frame.frameCount * channels * 2)
    for index in 0..<frame.frameCount {
      let first = frame.samples[index * frame.channels]
      let last = frame.samples[(index + 1) * frame.channels - 1]
      if channels == 1 {
        bytes.append(sample: Int16((Int(first) + Int(last)) >> 1))
      } else {
        bytes.append(sample: first)
        bytes.append(sample: last)
      }
    }
    sink.onData(
      Data(bytes), bitsPerSample: 16, sampleRate: frame.sampleRate, numberOfChannels: channels,
      numberOfFrames: frame.frameCount)
  }
}

extension [UInt8] {
  fileprivate mutating func append(sample: Int16) {
    append(UInt8(truncatingIfNeeded: sample))
    append(UInt8(truncatingIfNeeded: sample >> 8))
  }
}
