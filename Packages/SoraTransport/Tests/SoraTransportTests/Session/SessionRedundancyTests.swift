import SoraMedia
import SoraRTP
import SoraTransport
import Testing

/// Sound with copies of earlier packets (RFC 2198), from a session's stream to another's delegate.
@Suite struct SessionRedundancyTests {
  private func send(_ bench: SessionBench, _ stream: RTPSendStream, _ count: Int) {
    for index in 0..<count {
      let bytes = [0xFC, UInt8(index), 1, 2, 3]
      bench.session.send(
        EncodedFrame(
          payload: EncodedBuffer(bytes), isKeyFrame: true, rtpTimestamp: UInt32(index) * 960,
          timestamp: bench.now), on: stream, at: bench.now)
      bench.pass(.milliseconds(20))
    }
  }

  private func blocks(_ packet: [UInt8]) throws -> (RTPHeader, [(type: UInt8, bytes: [UInt8])]) {
    try packet.withUnsafeBytes { bytes in
      let header = try RTPHeader(parsing: bytes)
      let payload = header.payload(in: bytes)
      return (
        header,
        try REDPayload.Blocks(parsing: payload).map {
          ($0.payloadType, Array(payload[$0.range]))
        }
      )
    }
  }

  @Test func eachPacketCarriesTheOneBefore() throws {
    let bench = SessionBench()
    var parameters = TestStreams.audio()
    parameters.redundancy = RTPRedundancy(payloadType: 63, copies: 1)
    let stream = try #require(bench.session.addSendStream(parameters))
    send(bench, stream, 5)
    let packets = try bench.takeRTP().map { try blocks($0) }
    #expect(packets.count == 5)
    for (index, packet) in packets.enumerated() {
      #expect(packet.0.payloadType == 63)
      #expect(packet.1.map(\.type) == (index == 0 ? [111] : [111, 111]))
      #expect(packet.1.last?.bytes[1] == UInt8(index))
      if index > 0 { #expect(packet.1[0].bytes[1] == UInt8(index - 1)) }
    }
  }

  @Test func redundancyComesAndGoesWithNegotiation() throws {
    let bench = SessionBench()
    let bare = TestStreams.audio()
    let stream = try #require(bench.session.addSendStream(bare))
    send(bench, stream, 2)
    var redundant = bare
    redundant.redundancy = RTPRedundancy(payloadType: 63, copies: 2)
    bench.session.update(stream, redundant)
    send(bench, stream, 3)
    bench.session.update(stream, bare)
    send(bench, stream, 1)
    let headers = try bench.takeRTP().map { packet in
      try packet.withUnsafeBytes { try RTPHeader(parsing: $0) }
    }
    #expect(headers.map(\.payloadType) == [111, 111, 63, 63, 63, 111])
    let numbers = headers.map(\.sequenceNumber)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
  }

  @Test func redundantPacketsArriveWhole() throws {
    let sender = SessionBench()
    let receiver = SessionBench(seed: 4)
    var parameters = TestStreams.audio()
    parameters.redundancy = RTPRedundancy(payloadType: 63, copies: 1)
    let stream = try #require(sender.session.addSendStream(parameters))
    var section = TestStreams.audioSection()
    section.payloads.append(.init(type: 63, codecName: "red", clockRate: 48_000))
    receiver.session.setReceiveSections([section], at: receiver.now)
    send(sender, stream, 4)
    for packet in sender.takeRTP() { receiver.receive(packet) }
    #expect(receiver.audio.count == 4)
    #expect(receiver.session.receiveStreams.first?.codecName == "red")
  }
}
