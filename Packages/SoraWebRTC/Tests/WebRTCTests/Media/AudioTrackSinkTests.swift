import Foundation
import SoraMedia
import Synchronization
import Testing
import WebRTC

/// Sound as bytes, as the iOS SDK's sinks have it.
@Suite struct AudioTrackSinkTests {
  final class Bytes: RTCAudioTrackSink {
    struct Block: Hashable {
      var bytes: [UInt8]
      var numbers: [Int]
    }
    private let wanted: Int
    private let taken = Mutex<[Block]>([])

    init(wanted: Int) { self.wanted = wanted }

    var blocks: [Block] { taken.withLock { $0 } }

    func onData(
      _ audioData: Data, bitsPerSample: Int, sampleRate: Int, numberOfChannels: Int,
      numberOfFrames: Int
    ) {
      let block = Block(
        bytes: Array(audioData),
        numbers: [bitsPerSample, sampleRate, numberOfChannels, numberOfFrames])
      taken.withLock { $0.append(block) }
    }

    func preferredNumberOfChannels() -> Int { wanted }
  }

  /// Says nothing of channels.
  final class Plain: RTCAudioTrackSink {
    let channels = Mutex(0)

    func onData(
      _ audioData: Data, bitsPerSample: Int, sampleRate: Int, numberOfChannels: Int,
      numberOfFrames: Int
    ) {
      channels.withLock { $0 = numberOfChannels }
    }
  }

  private let track: RTCAudioTrack = {
    let factory = RTCPeerConnectionFactory()
    return factory.audioTrack(with: factory.audioSource(with: nil), trackId: "sound")
  }()

  private func push(_ samples: [Int16], channels: Int) {
    track.source.push(
      AudioFrame(
        samples: samples, sampleRate: 48_000, channels: channels,
        timestamp: Instant(nanoseconds: 0)))
  }

  @Test func samplesComeLowByteFirst() {
    let sink = Bytes(wanted: -1)
    track.add(sink)
    push([0x0102, -2, .max, .min], channels: 2)
    #expect(
      sink.blocks == [
        Bytes.Block(
          bytes: [0x02, 0x01, 0xFE, 0xFF, 0xFF, 0x7F, 0x00, 0x80], numbers: [16, 48_000, 2, 2])
      ])
  }

  @Test func twoChannelsBecomeTheirMeanAndOneBecomesBoth() {
    let (one, two) = (Bytes(wanted: 1), Bytes(wanted: 2))
    track.add(one)
    track.add(two)
    push([.max, .max, 1, 3, .min, .max], channels: 2)
    push([5, -1], channels: 1)
    #expect(
      one.blocks == [
        Bytes.Block(bytes: [0xFF, 0x7F, 2, 0, 0xFF, 0xFF], numbers: [16, 48_000, 1, 3]),
        Bytes.Block(bytes: [5, 0, 0xFF, 0xFF], numbers: [16, 48_000, 1, 2]),
      ])
    #expect(
      two.blocks.last
        == Bytes.Block(
          bytes: [5, 0, 5, 0, 0xFF, 0xFF, 0xFF, 0xFF], numbers: [16, 48_000, 2, 2]))
  }

  @Test func whoSaysNothingGetsWhatIsThere() {
    let sink = Plain()
    track.add(sink)
    for channels in [1, 2] {
      push([0, 0], channels: channels)
      #expect(sink.channels.withLock { $0 } == channels)
    }
  }

  @Test func oneThatIsThereIsNotAddedAgain() {
    let sink = Bytes(wanted: -1)
    track.remove(sink)
    track.add(sink)
    track.add(sink)
    push([1], channels: 1)
    #expect(sink.blocks.count == 1)
    track.remove(sink)
    push([1], channels: 1)
    #expect(sink.blocks.count == 1)
  }

  /// Frames that say something else than they have.
  @Test func noFrameTraps() {
    let sink = Bytes(wanted: -1)
    track.add(sink)
    push([], channels: 2)
    push([1, 2, 3], channels: 2)
    push([1, 2, 3], channels: 0)
    push([1, 2, 3], channels: 3)
    push([1, 2, 3], channels: -1)
    #expect(sink.blocks.map(\.bytes) == [[], [1, 0, 2, 0]])
  }
}
