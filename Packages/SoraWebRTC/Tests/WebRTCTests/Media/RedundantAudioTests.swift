import SoraMedia
import SoraRTP
import Testing
import WebRTC

/// What who records gets of audio with redundancy.
@Suite struct RedundantAudioTests {
  /// Payloads of packets 0..<count of 20 ms, each saying its number, with so many copies.
  private func payloads(_ count: Int, copies: Int) -> [[UInt8]] {
    let payloader = REDPayloader(primaryPayloadType: 111, redundancy: copies)
    return (0..<count).map { index in
      let frame = EncodedFrame(
        payload: EncodedBuffer([0xFC, 7, UInt8(index)]), isKeyFrame: true,
        rtpTimestamp: timestamp(index), timestamp: .zero)
      guard payloader.begin(frame, maximumPayload: 1_000) > 0 else { return [] }
      var bytes = [UInt8](repeating: 0, count: 1_000)
      let part = bytes.withUnsafeMutableBytes { payloader.next(into: $0) }
      return Array(bytes.prefix(part?.count ?? 0))
    }
  }

  /// They wrap in the middle.
  private func timestamp(_ index: Int) -> UInt32 { UInt32(index) &* 960 &- 20_000 }

  /// The numbers of the packets that come out, in their order, once each is checked to be at its time.
  private func numbers(_ payloads: [(Int, [UInt8])]) -> [Int] {
    var audio = RedundantAudio()
    var numbers: [Int] = []
    for (index, bytes) in payloads {
      bytes.withUnsafeBytes { payload in
        guard let blocks = try? REDPayload.Blocks(parsing: payload) else { return }
        for packet in audio.packets(blocks, timestamp: timestamp(index), codec: 111) {
          let number = Int(payload[packet.range][packet.range.upperBound - 1])
          #expect(packet.rtpTimestamp == timestamp(number))
          numbers.append(number)
        }
      }
    }
    return numbers
  }

  @Test(arguments: [0, 1, 3]) func eachPacketComesOnce(_ copies: Int) {
    let all = Array(payloads(100, copies: copies).enumerated()).map { ($0.offset, $0.element) }
    #expect(numbers(all) == Array(0..<100))
  }

  @Test func copiesTakeThePlaceOfWhatWasLost() {
    let all = Array(payloads(60, copies: 2).enumerated()).map { ($0.offset, $0.element) }
    // One, two in a row, and three, of which one is lost for good.
    let lost: Set = [10, 20, 21, 30, 31, 32]
    let came = numbers(all.filter { !lost.contains($0.0) })
    #expect(came == Array(0..<60).filter { $0 != 30 })
  }

  @Test func whatIsOvertakenComesOnce() {
    var all = Array(payloads(40, copies: 1).enumerated()).map { ($0.offset, $0.element) }
    all.swapAt(10, 11)
    #expect(numbers(all).sorted() == Array(0..<40))
  }

  @Test func nothingBeforeTheBeginningAndNothingOfRubbish() {
    let all = Array(payloads(10, copies: 3).enumerated()).map { ($0.offset, $0.element) }
    #expect(numbers(Array(all.dropFirst(5))) == Array(5..<10))
    #expect(numbers([(0, []), (1, [0x80]), (2, [0xFF, 1, 2]), (3, [0x6F])]) == [])
    // Another codec's.
    #expect(numbers([(4, [0x00, 1, 2])]) == [])
  }
}
