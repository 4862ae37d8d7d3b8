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

  /// A link has become narrow: of what was let in before, the lowest layer stays, and nothing that refers to what is left out.
  @Test func whatWaitsIsDecidedOfAnew() {
    var gate = FrameGate()
    let period = [frame(), frame(2, isSync: true), frame(1, isSync: true), frame(2)]
    let frames = [frame(isKey: true)] + period + [frame()] + period
    #expect(forwarded(&gate, frames) == Array(0..<10))
    gate.reopen(from: 2)
    #expect(gate.isReopened && gate.decision(2) == nil && gate.decision(1)?.forwards == true)
    // The first of a higher layer finds room still, what is behind it doesn't.
    #expect(forwarded(&gate, [frames[2]], from: 2) == [2])
    #expect(
      forwarded(&gate, Array(frames[3...]), from: 3, backlog: .milliseconds(400)) == [5, 6])
    gate.close()
    #expect(gate.wait == nil)
    #expect(gate.decision(9)?.leftOut == 5 && gate.decision(2)?.leftOut == 0)
    #expect(gate.statistics.congestedFrames == 3 && gate.statistics.layerFrames == 2)
    // What was left out once stays so, and isn't counted again.
    gate.reopen(from: 5)
    #expect(forwarded(&gate, Array(frames[5...]), from: 5) == [5, 6])
    gate.close()
    #expect(gate.statistics.congestedFrames == 3 && gate.statistics.layerFrames == 2)
    #expect(forwarded(&gate, [frame(2), frame(1, isSync: true), frame(2)], from: 10) == [11])
  }

  /// Too much even of the lowest layer, or a key frame behind it: nobody needs the rest of it.
  @Test func nothingWaitsForAKeyFrame() {
    var gate = FrameGate()
    #expect(forwarded(&gate, [frame(isKey: true), frame(), frame(), frame()]) == [0, 1, 2, 3])
    gate.reopen(from: 1)
    #expect(forwarded(&gate, [frame(), frame(), frame()], from: 1, backlog: .seconds(1)) == [])
    gate.close()
    #expect(gate.wait == .full && gate.statistics.congestedFrames == 3)

    var other = FrameGate()
    let frames = [frame(), frame(1), frame(isKey: true), frame()]
    #expect(forwarded(&other, frames) == [0, 1, 2, 3])
    other.reopen(from: 0)
    #expect(forwarded(&other, frames, backlog: .milliseconds(100)) == [2, 3])
    other.close()
    #expect(other.wait == nil)
    other.reopen(from: 2, leavingOutAll: true)
    #expect(forwarded(&other, Array(frames[2...]), from: 2) == [])
    other.close()
    #expect(other.wait == nil, "whoever has all left out has a key frame at hand")
  }

  /// Behind a key frame, which makes much wait by itself, the lowest layer goes on until less does.
  @Test func aKeyFrameIsFollowed() {
    var gate = FrameGate()
    let long = Duration.milliseconds(1_100)
    #expect(forwarded(&gate, [frame(isKey: true)]) == [0])
    #expect(forwarded(&gate, [frame(), frame(1), frame()], from: 1, backlog: long) == [1, 3])
    #expect(forwarded(&gate, [frame()], from: 4, backlog: .milliseconds(500)) == [4])
    #expect(forwarded(&gate, [frame()], from: 5, backlog: .milliseconds(700)) == [])
    #expect(gate.wait == .full)
  }

  /// A frame of which nothing came in time has its place among those that were left out.
  @Test func aFrameThatComesLateIsOneOfItsTime() {
    var gate = FrameGate()
    gate.target = 0
    #expect(forwarded(&gate, [frame(isKey: true), frame(2), frame()], from: 10) == [10, 12])
    #expect(forwarded(&gate, [frame(2), frame(1), frame()], from: 14) == [16])
    #expect(gate.lateDecision(12, nil) == gate.decision(12))
    let late = gate.lateDecision(13, frame())
    #expect(late.forwards && late.leftOut == 1)
    #expect(!gate.lateDecision(13, frame(1)).forwards)
    #expect(gate.lateDecision(9, frame()).leftOut == 0)
    #expect(gate.lateDecision(17, frame()).leftOut == 3)
  }
}
