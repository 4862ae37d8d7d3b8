import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport
import Testing

/// A controller by itself: what a receiver's feedback makes of requests for packets, and when packets leave.
@Suite struct SendControllerTests {
  /// Sends what it is told to and notes it.
  private final class Sender: PacedPacketSource {
    let controller: SendController
    private(set) var tokens: [PacketToken] = []
    private(set) var sequences: [UInt16: Int64] = [:]
    var canPad = false
    var now = Instant(nanoseconds: 1_000_000_000)
    private var generator = TransportFeedbackGenerator()

    init(_ configuration: SendController.Configuration) {
      controller = SendController(configuration: configuration)
    }

    func send(_ token: PacketToken, at now: Instant) {
      tokens.append(token)
      sequences[token.number] = controller.number(packetOf: 1000, at: now)
    }

    func sendPadding(at now: Instant) -> Int? { nil }

    func enqueue(_ number: UInt16) {
      _ = controller.enqueue(
        PacketToken(stream: 0, number: number), size: 1000, priority: .video, at: now)
      controller.drain(self, at: now)
    }

    func arrives(_ number: UInt16, at instant: Instant) throws {
      let sequence = try #require(sequences[number])
      generator.received(
        sequenceNumber: UInt16(truncatingIfNeeded: sequence), ssrc: 1, at: instant)
    }

    /// Hands the controller what a receiver has to say by now.
    func feedBack() throws {
      let bytes = SessionBench.rtcp { writer throws(RTPError) in
        _ = try generator.write(into: &writer, sender: 7, at: now)
      }
      try bytes.withUnsafeBytes { memory in
        var reader = RTCPReader(memory)
        guard case .transportFeedback(let message)? = try reader.next() else {
          Issue.record("no feedback was written")
          return
        }
        controller.received(message, at: now)
      }
      controller.drain(self, at: now)
    }

    /// 800 packets, 5 ms apart, feedback behind each tenth; how many milliseconds each is under way, `nil` where it is lost.
    func sendMany(_ delay: (UInt16) -> Int64?) throws {
      for number in 0..<800 as Range<UInt16> {
        enqueue(number)
        now += .milliseconds(5)
        if let delay = delay(number) { try arrives(number, at: now + .milliseconds(delay)) }
        if number % 10 == 9 { try feedBack() }
      }
    }

    func retransmit(_ number: UInt16) -> SendController.Retransmission {
      defer { controller.drain(self, at: now) }
      return controller.retransmit(
        PacketToken(stream: 0, number: number, isRetransmission: true), size: 1000,
        transportSequence: sequences[number], at: now)
    }

    var sentAgain: [UInt16] { tokens.filter(\.isRetransmission).map(\.number) }
  }

  private var paced: SendController.Configuration {
    SendController.Configuration(
      estimator: BandwidthEstimator.Configuration(start: .megabits(2), probes: false))
  }

  @Test func aPacketThatHasArrivedIsNotSentAgain() throws {
    let sender = Sender(paced)
    for number in 0..<3 as Range<UInt16> { sender.enqueue(number) }
    for number in 0..<3 as Range<UInt16> {
      try sender.arrives(number, at: sender.now + .milliseconds(20))
    }
    sender.now += .milliseconds(60)
    try sender.feedBack()
    #expect(sender.retransmit(1) == .arrived)
    #expect(sender.sentAgain.isEmpty)
    #expect(sender.controller.statistics.retransmissionsNotNeeded == 1)
  }

  @Test func aLostPacketIsSentAgainAtOnce() throws {
    let sender = Sender(paced)
    for number in 0..<20 as Range<UInt16> {
      sender.enqueue(number)
      sender.now += .milliseconds(5)
      if number % 5 != 3 { try sender.arrives(number, at: sender.now + .milliseconds(20)) }
    }
    try sender.feedBack()
    #expect(sender.retransmit(3) == .queued)
    #expect(sender.sentAgain == [3])
  }

  /// Where a tenth is lost and no queue is there, the copy of what is sent again saves the round trip that its loss would cost; feedback
  /// that comes before it makes it needless.
  @Test(arguments: [(every: UInt16(10), copies: true), (every: 100, copies: false)])
  func whatIsSentAgainLeavesTwiceWherePacketsAreLostByChance(every: UInt16, copies: Bool) throws {
    let sender = Sender(paced)
    try sender.sendMany { $0 % every == 3 ? nil : 20 }
    #expect(sender.retransmit(703) == .queued)
    #expect(sender.sentAgain == [703])
    sender.now += .milliseconds(8)
    sender.controller.drain(sender, at: sender.now)
    #expect(sender.sentAgain == (copies ? [703, 703] : [703]))
    sender.now += .milliseconds(30)
    sender.controller.drain(sender, at: sender.now)
    #expect(sender.sentAgain.count == (copies ? 2 : 1))
  }

  /// What a queue has lost is sent again once: more of it would only make that longer.
  @Test func whatAQueueLosesLeavesOnce() throws {
    let sender = Sender(paced)
    // It has grown to 200 ms, and stays full.
    try sender.sendMany { $0 % 10 == 3 ? nil : 20 + min(200, Int64($0) / 2) }
    _ = sender.retransmit(703)
    sender.now += .milliseconds(8)
    sender.controller.drain(sender, at: sender.now)
    #expect(sender.sentAgain == [703])
  }

  /// Nor does what a queue loses that is too short to be seen by its delay: the ends of frames, so that a lost packet follows another.
  @Test func whatAShortQueueLosesLeavesOnce() throws {
    let sender = Sender(paced)
    try sender.sendMany { [3, 4].contains($0 % 20) ? nil : 20 }
    _ = sender.retransmit(703)
    sender.now += .milliseconds(8)
    sender.controller.drain(sender, at: sender.now)
    #expect(sender.sentAgain == [703])
  }

  /// Where packets overtake each other and none is lost, requests wait for the feedback that makes them needless.
  @Test func anOvertakenPacketIsNotSentAgain() throws {
    let sender = Sender(paced)
    for number in 0..<30 as Range<UInt16> {
      sender.enqueue(number)
      sender.now += .milliseconds(5)
      // Each third comes 30 ms later than its neighbours.
      let delay = number % 3 == 0 ? 50 : 20
      try sender.arrives(number, at: sender.now + .milliseconds(Int64(delay)))
    }
    sender.now += .milliseconds(60)
    try sender.feedBack()
    // Two more under way: one only late, one lost.
    sender.enqueue(30)
    sender.enqueue(31)
    let sentAt = sender.now
    sender.now += .milliseconds(40)
    #expect(sender.retransmit(30) == .held)
    #expect(sender.retransmit(31) == .held)
    #expect(sender.sentAgain.isEmpty)
    try sender.arrives(30, at: sentAt + .milliseconds(50))
    sender.now += .milliseconds(30)
    try sender.feedBack()
    // The other waits until there is no more hope.
    let deadline = try #require(sender.controller.nextDeadline)
    #expect(deadline > sender.now && deadline <= sentAt + .milliseconds(250))
    sender.now = deadline
    sender.controller.poll(at: sender.now)
    sender.controller.drain(sender, at: sender.now)
    #expect(sender.sentAgain == [31])
    #expect(sender.controller.statistics.retransmissionsNotNeeded == 1)
  }

  /// Feedback that comes more often than packets are late names them as missing, and later as come: that isn't loss.
  @Test func aPacketThatALaterFeedbackHasIsNotLost() throws {
    let sender = Sender(paced)
    let start = sender.now
    for millisecond in 0..<320 {
      sender.now = start + .milliseconds(Int64(millisecond))
      let step = millisecond / 5
      if millisecond % 5 == 0, step < 60 { sender.enqueue(UInt16(step)) }
      for number in 0..<60 as Range<UInt16> {
        let delay = number % 3 == 0 ? 75 : 20
        if Int(number) * 5 + delay == millisecond { try sender.arrives(number, at: sender.now) }
      }
      if millisecond > 20, millisecond % 20 == 19 { try sender.feedBack() }
    }
    sender.enqueue(60)
    sender.now += .milliseconds(40)
    #expect(sender.retransmit(60) == .held)
  }

  @Test func withoutFeedbackAForwarderDoesNotPace() {
    var configuration = paced
    configuration.pacesBeforeFeedback = false
    let forwarder = Sender(configuration)
    for number in 0..<200 as Range<UInt16> { forwarder.enqueue(number) }
    #expect(forwarder.tokens.count == 200)
    #expect(forwarder.controller.backlog == .zero)
    #expect(forwarder.controller.knownEstimate == nil)
    let client = Sender(paced)
    for number in 0..<200 as Range<UInt16> { client.enqueue(number) }
    #expect(client.tokens.count < 20)
    #expect(client.controller.backlog > .milliseconds(500))
  }

  /// Who asks for everything again gets a share of what is sent, whether it gives feedback or not.
  @Test(arguments: [true, false])
  func requestsKeepToTheirShare(paces: Bool) {
    var configuration = paced
    configuration.pacesBeforeFeedback = paces
    let sender = Sender(configuration)
    for number in 0..<400 as Range<UInt16> {
      sender.enqueue(number)
      _ = sender.retransmit(number)
      sender.now += .milliseconds(10)
    }
    let first = sender.tokens.count - sender.sentAgain.count
    #expect(first == 400)
    // 800 kbit/s are sent, of 2,000 where that is the estimate.
    #expect(sender.sentAgain.count < (paces ? 401 : 260), "\(sender.sentAgain.count)")
    #expect(sender.sentAgain.count > 100)
    #expect(paces || sender.controller.statistics.retransmissionsRefused > 100)
  }

  @Test func keyFrameRequestsAreSpacedAndRepeated() {
    var requests = KeyFrameRequests()
    let start = Instant(nanoseconds: 1_000_000_000)
    func take(roundTrip: Duration?, at now: Instant) -> Bool {
      requests.take(roundTrip: roundTrip, at: now)
    }
    #expect(requests.deadline(roundTrip: nil) == nil)
    requests.askOnce(interval: .seconds(1), at: start)
    #expect(take(roundTrip: nil, at: start))
    #expect(!take(roundTrip: nil, at: start + .seconds(9)), "asked once")
    requests.askOnce(interval: .seconds(10), at: start + .seconds(1))
    #expect(requests.deadline(roundTrip: nil) == start + .seconds(10))
    requests.askOnce(interval: .seconds(3), at: start + .seconds(1))
    #expect(requests.deadline(roundTrip: nil) == start + .seconds(3), "the more patient gives way")
    #expect(take(roundTrip: nil, at: start + .seconds(3)))
    requests.askUntilAnswered()
    let later = start + .seconds(20)
    #expect(take(roundTrip: .milliseconds(300), at: later))
    #expect(!take(roundTrip: .milliseconds(300), at: later + .milliseconds(599)))
    #expect(take(roundTrip: .milliseconds(300), at: later + .milliseconds(600)))
    requests.answered()
    #expect(requests.deadline(roundTrip: nil) == nil)
  }
}
