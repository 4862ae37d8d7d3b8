import Foundation
import Synchronization
import Testing
import WebRTC

/// What an app that sends faster than the path is told, and which of its channels goes first.
@Suite(.timeLimit(.minutes(5))) struct DataChannelFlowTests {
  /// Notes the amounts that wait, and when the threshold was reached, in the order in which both were told.
  private final class AmountNotes: RTCDataChannelDelegate, Sendable {
    enum Note: Equatable { case amount(UInt64), low }

    let notes = Mutex<[Note]>([])

    /// All up to the amount 0.
    func untilEmpty() async throws -> [Note] {
      while true {
        let found = notes.withLock { notes in
          defer { if notes.contains(.amount(0)) { notes = [] } }
          return notes
        }
        if found.contains(.amount(0)) { return found }
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    func dataChannelDidChangeState(_: RTCDataChannel) {}
    func dataChannel(_: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer) {}
    func dataChannel(_: RTCDataChannel, didChangeBufferedAmount amount: UInt64) {
      notes.withLock { $0.append(.amount(amount)) }
    }
    func dataChannelDidReachLowBufferedAmount(_: RTCDataChannel) {
      notes.withLock { $0.append(.low) }
    }
  }

  /// Counts the messages of all channels of one connection, whose calls all come on one queue.
  private final class Counts: RTCDataChannelDelegate, Sendable {
    let messages = Mutex<[String: Int]>([:])
    /// What had come when the first channel had brought this many.
    let first = Mutex<[String: Int]?>(nil)
    let limit: Int

    init(limit: Int) { self.limit = limit }

    func dataChannelDidChangeState(_: RTCDataChannel) {}
    func dataChannel(_ channel: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer) {
      let counts = messages.withLock { messages in
        messages[channel.label, default: 0] += 1
        return messages
      }
      guard counts[channel.label] == limit else { return }
      first.withLock { if $0 == nil { $0 = counts } }
    }
  }

  private func message(_ count: Int) -> RTCDataBuffer {
    RTCDataBuffer(data: Data(repeating: 3, count: count), isBinary: true)
  }

  @Test func aThresholdIsToldOfOncePerCrossing() async throws {
    let (a, b) = try DataParty.pair()
    let channel = try a.open("amounts")
    try await DataParty.negotiate(from: a, to: b)
    let other = try await b.channel("amounts")
    try await channel.waitUntil(.open)
    let notes = AmountNotes()
    let threshold: UInt64 = 128 * 1024
    channel.bufferedAmountLowThreshold = threshold
    channel.delegate = notes
    let reading = Task { for await _ in other.messages {} }
    for _ in 0..<2 {
      // One message, so that what waits rises once and only falls then.
      #expect(channel.sendData(message(250_000)))
      let told = try await notes.untilEmpty()
      // The call that tells of the threshold comes behind the one that tells of the last amount.
      try await Task.sleep(for: .milliseconds(50))
      let all = told + notes.notes.withLock { $0 }
      notes.notes.withLock { $0 = [] }
      let index = try #require(all.firstIndex(of: .low))
      #expect(all.count { $0 == .low } == 1)
      let reached = try #require(
        all.firstIndex {
          if case .amount(let amount) = $0 { amount <= threshold } else { false }
        })
      #expect(index == reached + 1)
    }
    // What was never above it doesn't fall to it.
    #expect(channel.sendData(message(100_000)))
    _ = try await notes.untilEmpty()
    try await Task.sleep(for: .milliseconds(50))
    #expect(!notes.notes.withLock { $0.contains(.low) })
    a.connection.close()
    b.connection.close()
    await reading.value
  }

  @Test func thePriorityOfAChannelCounts() async throws {
    let (a, b) = try DataParty.pair()
    let channels = try [("slow", RTCPriorityType.veryLow), ("fast", .high)].map {
      label, priority in try a.open(label) { $0.priority = priority }
    }
    try await DataParty.negotiate(from: a, to: b)
    let counts = Counts(limit: 200)
    for channel in channels {
      try await channel.waitUntil(.open)
      try await b.channel(channel.label).delegate = counts
    }
    // Less than an association holds, so that only the weights decide.
    for _ in 0..<200 { for channel in channels { #expect(channel.sendData(message(16_000))) } }
    while counts.first.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(2)) }
    let first = try #require(counts.first.withLock { $0 })
    print("when the first was through: \(first)")
    // An eighth by the weights; more where this thread didn't fill both at once.
    #expect(first["fast"] == 200)
    #expect(first["slow", default: 0] < 100)
    a.connection.close()
    b.connection.close()
  }

  /// What a channel still has to send once that stays as it is.
  private func settledAmount(of channel: RTCDataChannel) async throws -> UInt64 {
    var (amount, polls) = (channel.bufferedAmount, 0)
    while polls < 100 {
      try await Task.sleep(for: .milliseconds(10))
      polls = channel.bufferedAmount == amount ? polls + 1 : 0
      amount = channel.bufferedAmount
    }
    return amount
  }

  /// What waited for the first reader counts as what comes after it does.
  @Test func aReaderWhoComesLateMakesTheOtherSideWait() async throws {
    let (a, b) = try DataParty.pair()
    let channel = try a.open("late")
    try await DataParty.negotiate(from: a, to: b)
    let other = try await b.channel("late")
    try await channel.waitUntil(.open)
    func send(_ megabytes: Int) async throws {
      for _ in 0..<megabytes * 8 { try await channel.send(message(125_000)) }
    }
    try await send(8)
    while channel.bufferedAmount > 0 { try await Task.sleep(for: .milliseconds(10)) }
    // It takes one message, and no other.
    var reader = other.messages.makeAsyncIterator()
    #expect(await reader.next() != nil)
    let sending = Task { try await send(24) }
    while channel.bufferedAmount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await settledAmount(of: channel) > 0)
    sending.cancel()
    a.connection.close()
    b.connection.close()
    _ = try? await sending.value
  }

  /// Others go on: all channels share one window.
  @Test func aChannelThatNobodyReadsAnyMoreIsClosed() async throws {
    let (a, b) = try DataParty.pair()
    let (stuck, other) = (try a.open("stuck"), try a.open("other"))
    try await DataParty.negotiate(from: a, to: b)
    try await stuck.waitUntil(.open)
    try await other.waitUntil(.open)
    let unread = try await b.channel("stuck")
    let read = try await b.channel("other")
    var reader = unread.messages.makeAsyncIterator()
    try await stuck.send(message(1_000))
    #expect(await reader.next() != nil)
    let sending = Task { for _ in 0..<96 { try await stuck.send(message(125_000)) } }
    _ = try await settledAmount(of: stuck)
    try await other.send(message(100))
    var answers = read.messages.makeAsyncIterator()
    #expect(await answers.next()?.data.count == 100)
    while unread.readyState != .closed { try await Task.sleep(for: .milliseconds(10)) }
    #expect(await reader.next() == nil)
    sending.cancel()
    a.connection.close()
    b.connection.close()
    _ = try? await sending.value
  }
}
