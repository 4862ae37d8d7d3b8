import Foundation
import Synchronization
import Testing
import WebRTC

/// Data channels between two connections of this process, over real sockets and DTLS, without media.
@Suite(.timeLimit(.minutes(5))) struct DataChannelTests {
  private func connected(
    _ change: (inout RTCSettings) -> Void = { _ in }
  ) async throws -> (DataParty, DataParty, RTCDataChannel, RTCDataChannel) {
    let (a, b) = try DataParty.pair(change)
    let channel = try a.open("first")
    try await DataParty.negotiate(from: a, to: b)
    let other = try await b.channel("first")
    try await channel.waitUntil(.open)
    return (a, b, channel, other)
  }

  @Test func messagesCrossBothWays() async throws {
    let (a, b, channel, other) = try await connected()
    #expect(a.connection.localDescription?.sdp.contains("m=application") == true)
    #expect(other.readyState == .open && other.isOrdered && other.isReliable && !other.isNegotiated)
    #expect(channel.channelId == other.channelId && channel.channelId >= 0)
    let large = Data((0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let sent = [
      RTCDataBuffer(text: "grüße"), RTCDataBuffer(text: ""),
      RTCDataBuffer(data: Data(), isBinary: true),
      RTCDataBuffer(data: large, isBinary: true),
    ]
    for message in sent { #expect(channel.sendData(message)) }
    #expect(await other.read(4) == sent)
    #expect(other.sendData(RTCDataBuffer(text: "back")))
    #expect(await channel.read(1).first?.text == "back")
    #expect(a.connection.connectionState == .connected)
    let report = await a.connection.statistics()
    let statistics = try #require(report.dataChannels.first)
    #expect(statistics.label == "first" && statistics.state == .open)
    #expect(statistics.dataChannelIdentifier == Int(channel.channelId))
    #expect(statistics.messagesSent == 4 && statistics.bytesSent == large.count + 7)
    #expect(statistics.messagesReceived == 1 && statistics.bytesReceived == 4)
    #expect(report.all("sctp-transport").first?.number("mtu") ?? 0 > 1000)
    #expect(report.all("peer-connection").first?.number("dataChannelsOpened") == 1)
    a.connection.close()
    try await channel.waitUntil(.closed)
    try await other.waitUntil(.closed)
    b.connection.close()
  }

  @Test func channelsOfAllKindsTellWhatTheyAre() async throws {
    let (a, b, _, _) = try await connected()
    let lifetime = try a.open("lifetime") {
      $0.isOrdered = false
      $0.maxPacketLifeTime = 250
      $0.protocol = "p"
    }
    let retransmits = try a.open("retransmits") { $0.maxRetransmits = 3 }
    let (there, again) = (try await b.channel("lifetime"), try await b.channel("retransmits"))
    for channel in [lifetime, there] {
      #expect(!channel.isOrdered && channel.maxPacketLifeTime == 250 && !channel.isReliable)
      #expect(channel.maxRetransmits == .max && channel.protocol == "p")
    }
    for channel in [retransmits, again] {
      #expect(channel.isOrdered && channel.maxRetransmits == 3 && channel.maxPacketLifeTime == .max)
    }
    a.connection.close()
    b.connection.close()
  }

  @Test func negotiatedChannelsMeet() async throws {
    let (a, b) = try DataParty.pair()
    let channels = try [a, b].map { party in
      try party.open("agreed") {
        $0.isNegotiated = true
        $0.channelId = 42
      }
    }
    try await DataParty.negotiate(from: a, to: b)
    for channel in channels { try await channel.waitUntil(.open) }
    #expect(channels[1].sendData(RTCDataBuffer(text: "x")))
    #expect(await channels[0].read(1).first?.text == "x")
    #expect(b.channelCount == 0)
    a.connection.close()
    b.connection.close()
  }

  @Test func configurationsThatCannotBeAreRefused() throws {
    let (a, _) = try DataParty.pair()
    func make(_ change: (RTCDataChannelConfiguration) -> Void) -> RTCDataChannel? {
      let configuration = RTCDataChannelConfiguration()
      change(configuration)
      return a.connection.dataChannel(forLabel: "x", configuration: configuration)
    }
    #expect(make { _ in } != nil)
    #expect(make { $0.isNegotiated = true } == nil)
    #expect(
      make {
        $0.isNegotiated = true
        $0.channelId = 65_535
      } == nil)
    #expect(make { $0.maxRetransmits = 70_000 } == nil)
    #expect(
      make {
        $0.maxRetransmits = 1
        $0.maxPacketLifeTime = 1
      } == nil)
    #expect(make { $0.protocol = String(repeating: "x", count: 65_536) } == nil)
    a.connection.close()
    #expect(make { _ in } == nil)
  }

  @Test func aDelegateIsToldInOrder() async throws {
    let (a, b, channel, other) = try await connected()
    let (notes, own) = (ChannelNotes(), ChannelNotes())
    channel.delegate = own
    // What comes before there is a delegate waits for it.
    for number in 0..<100 { #expect(channel.sendData(RTCDataBuffer(text: "\(number)"))) }
    try await own.waitUntil { $0.amounts.last == 0 && $0.lows > 0 }
    other.delegate = notes
    try await notes.waitUntil { $0.messages.count == 100 }
    #expect(notes.notes.withLock { $0.messages.compactMap(\.text) } == (0..<100).map { "\($0)" })
    channel.close()
    // The other end may have answered before this thread runs on.
    #expect([.closing, .closed].contains(channel.readyState))
    #expect(!channel.sendData(RTCDataBuffer(text: "late")))
    try await notes.waitUntil { $0.states.last == .closed }
    try await own.waitUntil { $0.states.last == .closed }
    // A delegate reads what the state is by then: a queue that comes late to `closing` finds `closed`.
    let states = own.notes.withLock { $0.states }
    #expect([[.open, .closing, .closed], [.open, .closed, .closed]].contains(states))
    #expect(notes.notes.withLock { [.closing, .closed].contains($0.states.first) })
    a.connection.close()
    b.connection.close()
  }

  @Test func closingSendsWhatWaitsFirst() async throws {
    let (a, b, channel, other) = try await connected()
    let message = RTCDataBuffer(data: Data(repeating: 5, count: 100_000), isBinary: true)
    for _ in 0..<50 { #expect(channel.sendData(message)) }
    channel.close()
    var count = 0
    for await received in other.messages {
      #expect(received == message)
      count += 1
    }
    #expect(count == 50)
    try await channel.waitUntil(.closed)
    #expect(other.readyState == .closed)
    a.connection.close()
    b.connection.close()
  }

  /// The side that sends waits for one that reads slowly, and nothing piles up beyond what windows and buffers hold.
  @Test func aSlowReaderHoldsTheSenderBack() async throws {
    let (a, b, channel, other) = try await connected()
    let message = RTCDataBuffer(data: Data(repeating: 1, count: 64_000), isBinary: true)
    var reader = other.messages.makeAsyncIterator()
    #expect(channel.sendData(message))
    #expect(await reader.next() != nil)
    // Nobody reads on: what isn't read stays with the sender before long.
    var sent = 0
    while sent < 2000, channel.sendData(message) {
      sent += 1
      if sent % 50 == 0 { try await Task.sleep(for: .milliseconds(20)) }
    }
    #expect(sent < 900, "\(sent) messages of 64 kB went somewhere")
    for _ in 0..<sent { #expect(await reader.next() == message) }
    try await channel.send(message)
    #expect(await reader.next() == message)
    a.connection.close()
    b.connection.close()
  }

  /// Sending as fast as there is room, with a checksum of all of it.
  @Test func bulkComesWhole() async throws {
    let (a, b, channel, other) = try await connected()
    let count = 400
    let sending = Task {
      for number in 0..<count {
        let bytes = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        try await channel.send(RTCDataBuffer(data: bytes, isBinary: true))
      }
    }
    var received = 0
    for await message in other.messages {
      let expected = (0..<65_536).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31 &+ received) }
      #expect(message.data.elementsEqual(expected))
      received += 1
      if received == count { break }
    }
    try await sending.value
    #expect(received == count)
    a.connection.close()
    b.connection.close()
  }

  @Test func messagesBeyondThePeersLimitAreRefused() async throws {
    let (a, b, channel, _) = try await connected { $0.maximumMessageSize = 1000 }
    #expect(channel.sendData(RTCDataBuffer(data: Data(count: 1000), isBinary: true)))
    #expect(!channel.sendData(RTCDataBuffer(data: Data(count: 1001), isBinary: true)))
    await #expect(throws: RTCDataChannelError.messageTooLarge(count: 1001, limit: 1000)) {
      try await channel.send(RTCDataBuffer(data: Data(count: 1001), isBinary: true))
    }
    a.connection.close()
    b.connection.close()
  }

  /// Channels are added to a call that has media, by a later offer.
  @Test func aLaterOfferBringsChannels() async throws {
    let (a, b) = try DataParty.pair()
    _ = try await a.connection.addTransceiver(of: .audio)
    try await DataParty.negotiate(from: a, to: b)
    let channel = try a.open("later")
    #expect(channel.readyState == .connecting)
    try await DataParty.negotiate(from: a, to: b)
    try await channel.waitUntil(.open)
    #expect(try await b.channel("later").readyState == .open)
    a.connection.close()
    b.connection.close()
  }

  /// A channel that the other side turns down is closed: its owner would wait for ever.
  @Test func whoWantsNoChannelsGetsNone() async throws {
    let (a, b) = try DataParty.pair { $0.acceptsDataChannels = false }
    _ = try await a.connection.addTransceiver(of: .audio)
    let channel = try a.open("unwanted")
    let notes = ChannelNotes()
    channel.delegate = notes
    try await DataParty.negotiate(from: a, to: b)
    #expect(b.connection.rejectedSections.map(\.reason) == [.dataChannelsNotAccepted])
    try await channel.waitUntil(.closed)
    try await notes.waitUntil { $0.states.last == .closed }
    #expect(!channel.sendData(RTCDataBuffer(text: "x")))
    a.connection.close()
    b.connection.close()
  }

  @Test func aThousandChannelsOpenAndClose() async throws {
    let (a, b, _, _) = try await connected()
    let channels = try (0..<1000).map { try a.open("\($0)") }
    for channel in channels { try await channel.waitUntil(.open) }
    for (number, channel) in channels.enumerated() {
      #expect(channel.sendData(RTCDataBuffer(text: "\(number)")))
    }
    for number in 0..<1000 {
      #expect(try await b.channel("\(number)").read(1).first?.text == "\(number)")
    }
    for channel in channels { channel.close() }
    for channel in channels { try await channel.waitUntil(.closed) }
    a.connection.close()
    b.connection.close()
  }
}
