import SoraMedia
import SoraRTP
import SoraServer
import Testing

/// Which frames of a video a subscriber is sent.
@Suite struct FrameGateTests {
  private func frame(
    _ layer: UInt8 = 0, isKey: Bool = false, isSync: Bool = false, hasIndex: Bool = true
  ) -> RTPPayloadInfo {
    var info = RTPPayloadInfo(range: 0..<10)
    info.temporalLayer = layer
    info.isKeyFrame = isKey
    info.isLayerSync = isSync
    info.baseLayerIndex = hasIndex ? 1 : nil
    return info
  }

  /// What is forwarded of a series, by its index.
  private func forwarded(
    _ gate: inout FrameGate, _ frames: [RTPPayloadInfo], from first: UInt32 = 0,
    backlog: Duration = .zero
  ) -> [UInt32] {
    frames.indices.map { first + UInt32($0) }.filter {
      gate.decide($0, frames[Int($0 - first)], backlog: backlog).forwards
    }
  }

  @Test func layersAreLeftOutAtOnceAndEnteredWhereTheyCanBe() {
    var gate = FrameGate()
    let period = [frame(), frame(2, isSync: true), frame(1, isSync: true), frame(2)]
    #expect(forwarded(&gate, period) == [0, 1, 2, 3])
    gate.target = 0
    #expect(forwarded(&gate, period, from: 10) == [10])
    gate.target = 2
    // The second of the highest layer refers to the one in the middle: it is entered at the first.
    #expect(forwarded(&gate, [frame(2), frame(1, isSync: true)], from: 20) == [21])
    #expect(forwarded(&gate, period, from: 30) == [30, 31, 32, 33])
    #expect(gate.statistics.layerFrames == 4)
    #expect(gate.wait == nil)
  }

  /// Formats that don't tell where a layer can be entered are entered behind the lowest.
  @Test func withoutMarksLayersAreEnteredBehindTheLowest() {
    var gate = FrameGate()
    gate.target = 0
    let period = [0, 2, 1, 2].map { frame(UInt8($0), hasIndex: false) }
    #expect(forwarded(&gate, period) == [0])
    gate.target = 2
    #expect(forwarded(&gate, Array(period.dropFirst()), from: 10) == [])
    #expect(forwarded(&gate, period, from: 20) == [20, 21, 22, 23])
  }

  @Test func aFullLinkLosesLayersFirstAndThenAllUntilAKeyFrame() {
    var gate = FrameGate()
    #expect(forwarded(&gate, [frame(isKey: true)]) == [0])
    #expect(
      forwarded(&gate, [frame(), frame(2), frame(1)], from: 10, backlog: .milliseconds(300)) == [10]
    )
    #expect(gate.wait == nil)
    #expect(forwarded(&gate, [frame()], from: 20, backlog: .milliseconds(700)) == [])
    #expect(gate.wait == .full)
    #expect(forwarded(&gate, [frame(), frame(1), frame()], from: 30) == [])
    #expect(forwarded(&gate, [frame(isKey: true), frame()], from: 40) == [40, 41])
    #expect(gate.statistics.congestedFrames == 6)
    // Picture ids are moved by all that were left out.
    #expect(gate.decision(41)?.leftOut == 6)
    #expect(gate.decision(10)?.leftOut == 0)
    gate.reset()
    #expect(gate.decision(41) == nil)
  }

  /// Of a frame that the lowest layer refers to nothing can be repaired later: what refers to it isn't sent.
  @Test func aLostFrameEndsEverythingUntilAKeyFrame() {
    var gate = FrameGate()
    let period = [frame(), frame(2, isSync: true), frame(1, isSync: true), frame(2)]
    #expect(forwarded(&gate, [frame(isKey: true)] + period) == [0, 1, 2, 3, 4])
    gate.lose(3)
    gate.lose(99)
    #expect(gate.wait == nil, "a higher layer's, and one that was never heard of")
    gate.lose(1)
    #expect(gate.wait == .loss)
    #expect(forwarded(&gate, period, from: 10) == [])
    #expect(forwarded(&gate, [frame(isKey: true)] + period, from: 20) == [20, 21, 22, 23, 24])
    gate.lose(1)
    gate.lose(10)
    #expect(gate.wait == nil, "one before the key frame, and one that was left out")
  }
}
