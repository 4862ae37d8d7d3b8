import SoraDataChannel
import SoraMedia
import SoraSCTP
import Testing

/// Opening, sending and closing, between two sessions.
@Suite struct ChannelTests {
  private func connectedPair(_ seed: UInt64 = 1) -> SessionPair {
    let pair = SessionPair(seed: seed)
    pair.connect()
    #expect(
      pair.run {
        pair.client.session.capabilities != nil && pair.server.session.capabilities != nil
      })
    return pair
  }

  @Test func aChannelOpensWithAllThatItIs() throws {
    let pair = connectedPair()
    let parameters = DataChannelParameters(
      label: "chat", protocol: "irc", isOrdered: false,
      reliability: .maximumLifetime(milliseconds: 500), priority: .extraHigh)
    let id = try pair.client.session.open(parameters, at: pair.now)
    let before = pair.now
    #expect(pair.run { !pair.server.announced.isEmpty })
    #expect(pair.now - before <= .milliseconds(5))
    #expect(pair.client.stream(id) == 0)
    let announced = try #require(pair.server.announced.first)
    #expect(announced.parameters == parameters)
    #expect(announced.stream == 0)
  }

  @Test func channelsMadeBeforeTheAssociationOpenWithIt() throws {
    let pair = SessionPair()
    let a = try pair.client.session.open(.init(label: "a"), at: pair.now)
    let b = try pair.server.session.open(.init(label: "b"), at: pair.now)
    #expect(throws: DataChannelError.notOpen) {
      try pair.client.session.send("x", on: a, at: pair.now)
    }
    pair.connect()
    #expect(pair.run { pair.server.announced.count == 1 && pair.client.announced.count == 1 })
    // RFC 8832 §6: even streams are the DTLS client's, odd ones the server's.
    #expect(pair.client.stream(a) == 0)
    #expect(pair.server.stream(b) == 1)
  }

  @Test func messagesOfAllKindsComeWhole() throws {
    let pair = connectedPair()
    let id = try pair.client.session.open(.init(label: "m"), at: pair.now)
    let large = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try pair.client.session.send("häl\0lo", on: id, at: pair.now)
    try pair.client.session.send("", on: id, at: pair.now)
    try pair.client.session.send([UInt8](), on: id, at: pair.now)
    try pair.client.session.send([0], on: id, at: pair.now)
    try pair.client.session.send(large, on: id, at: pair.now)
    #expect(
      pair.run {
        pair.server.announced.first.map { pair.server.messages($0.id).count == 5 } ?? false
      })
    let there = try #require(pair.server.announced.first?.id)
    #expect(
      pair.server.messages(there) == [
        DataChannelMessage(isText: true, payload: Array("häl\0lo".utf8)),
        DataChannelMessage(isText: true, payload: []),
        DataChannelMessage(isText: false, payload: []),
        DataChannelMessage(isText: false, payload: [0]),
        DataChannelMessage(isText: false, payload: large),
      ])
    try pair.server.session.send("back", on: there, at: pair.now)
    #expect(pair.run { pair.client.messages(id).count == 1 })
    let counters = try #require(pair.server.session.reports.first).counters
    #expect(counters.messagesReceived == 5)
    #expect(counters.bytesReceived == UInt64(7 + 1 + large.count))
    #expect(counters.messagesSent == 1)
  }

  /// RFC 8832 §6: until the peer knows the channel, its messages keep behind DATA_CHANNEL_OPEN, whatever gets lost.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func unorderedMessagesNeverOvertakeTheOpening(seed: UInt64) throws {
    let pair = connectedPair(seed)
    pair.loss = 0.3
    let id = try pair.client.session.open(.init(label: "u", isOrdered: false), at: pair.now)
    for number in 0..<20 { try pair.client.session.send("\(number)", on: id, at: pair.now) }
    #expect(
      pair.run {
        pair.server.announced.first.map { pair.server.messages($0.id).count == 20 } ?? false
      })
    #expect(pair.server.session.statistics.dropped.total == 0)
  }

  @Test func negotiatedChannelsNeedNoWord() throws {
    let pair = SessionPair()
    let a = try pair.client.session.open(.init(label: "n"), negotiatedStream: 7, at: pair.now)
    let b = try pair.server.session.open(.init(label: "n"), negotiatedStream: 7, at: pair.now)
    #expect(throws: DataChannelError.streamInUse(7)) {
      try pair.client.session.open(.init(label: "n"), negotiatedStream: 7, at: pair.now)
    }
    #expect(throws: DataChannelError.streamInUse(65535)) {
      try pair.client.session.open(.init(label: "n"), negotiatedStream: 65535, at: pair.now)
    }
    pair.connect()
    #expect(pair.run { pair.client.stream(a) == 7 && pair.server.stream(b) == 7 })
    try pair.client.session.send("to", on: a, at: pair.now)
    try pair.server.session.send("fro", on: b, at: pair.now)
    #expect(pair.run { pair.server.messages(b).count == 1 && pair.client.messages(a).count == 1 })
    #expect(pair.server.announced.isEmpty)
  }

  @Test(arguments: [true, false])
  func eitherSideCloses(byOpener: Bool) throws {
    let pair = connectedPair()
    let id = try pair.client.session.open(.init(label: "c"), at: pair.now)
    pair.run { !pair.server.announced.isEmpty }
    let there = try #require(pair.server.announced.first?.id)
    // What was sent before the end comes.
    let (closer, other) = byOpener ? (pair.client, pair.server) : (pair.server, pair.client)
    let (own, its) = byOpener ? (id, there) : (there, id)
    let last = [UInt8](repeating: 7, count: 100_000)
    try closer.session.send(last, on: own, at: pair.now)
    closer.session.close(own, at: pair.now)
    #expect(throws: DataChannelError.notOpen) {
      try closer.session.send("late", on: own, at: pair.now)
    }
    #expect(pair.run { closer.isClosed(own) && other.isClosed(its) })
    #expect(other.messages(its).map(\.payload) == [last])
    #expect(other.events.contains(.closing(its)))
    #expect(closer.failure(own) == .some(nil))
    #expect(other.failure(its) == .some(nil))
    #expect(pair.client.session.reports.isEmpty)
    #expect(pair.server.session.reports.isEmpty)
    // The stream is free for another, which counts from the beginning.
    let next = try pair.client.session.open(.init(label: "d"), at: pair.now)
    try pair.client.session.send("again", on: next, at: pair.now)
    #expect(pair.run { pair.server.announced.count == 2 })
    #expect(pair.client.stream(next) == 0)
    let again = pair.server.announced[1].id
    #expect(pair.run { pair.server.messages(again).count == 1 })
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func bothSidesCloseAtOnceUnderLoss(seed: UInt64) throws {
    let pair = connectedPair(seed)
    pair.loss = 0.2
    let ids = try (0..<10).map { try pair.client.session.open(.init(label: "\($0)"), at: pair.now) }
    #expect(pair.run { pair.server.announced.count == 10 })
    for id in ids { pair.client.session.close(id, at: pair.now) }
    for (id, _, _) in pair.server.announced.prefix(5) {
      pair.server.session.close(id, at: pair.now)
    }
    #expect(
      pair.run {
        ids.allSatisfy(pair.client.isClosed)
          && pair.server.announced.allSatisfy { pair.server.isClosed($0.id) }
      })
    #expect(pair.client.session.reports.isEmpty)
    #expect(pair.server.session.statistics.channelsClosed == 10)
  }

  @Test func aThousandChannels() throws {
    let pair = connectedPair()
    let ids = try (0..<1000).map {
      try pair.client.session.open(.init(label: "\($0)"), at: pair.now)
    }
    for (number, id) in ids.enumerated() {
      try pair.client.session.send("\(number)", on: id, at: pair.now)
    }
    #expect(pair.run { pair.server.announced.count == 1000 })
    #expect(
      pair.run { pair.server.session.reports.allSatisfy { $0.counters.messagesReceived == 1 } })
    for (id, parameters, _) in pair.server.announced {
      #expect(
        pair.server.messages(id).map { String(decoding: $0.payload, as: UTF8.self) } == [
          parameters.label
        ])
    }
    for id in ids { pair.client.session.close(id, at: pair.now) }
    #expect(pair.run { pair.server.session.statistics.channelsClosed == 1000 })
    #expect(pair.run { pair.client.session.reports.isEmpty })
  }

  @Test func theEndOfTheAssociationEndsChannels() throws {
    let pair = connectedPair()
    let id = try pair.client.session.open(.init(label: "e"), at: pair.now)
    pair.run { !pair.server.announced.isEmpty }
    let there = try #require(pair.server.announced.first?.id)
    pair.server.session.close(at: pair.now)
    #expect(pair.run { pair.client.isClosed(id) && pair.server.isClosed(there) })
    guard case .disconnected(.byPeer) = pair.client.events.last else {
      Issue.record("\(String(describing: pair.client.events.last))")
      return
    }
    #expect(pair.server.events.last == .disconnected(nil))
    #expect(throws: DataChannelError.sessionEnded) {
      try pair.client.session.open(.init(label: "f"), at: pair.now)
    }
    #expect(pair.client.session.associationStatistics != nil)
  }
}
