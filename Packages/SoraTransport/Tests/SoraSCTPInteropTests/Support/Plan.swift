import SoraMedia

/// What two ends are to do to each other. A pure function of its seed.
struct Plan: Sendable, CustomStringConvertible {
  enum Opening: String, Sendable, CaseIterable {
    case first, second, both
  }

  enum Close: Sendable, Equatable {
    case shutDown(by: Int)
    case shutDownByBoth
    case abort(by: Int)
  }

  struct Command: Sendable {
    enum What: Sendable {
      case send(Message)
      case reset(UInt16)
    }

    var at: Instant
    var end: Int
    var what: What
  }

  var seed: UInt64
  var opening: Opening
  var conditions = PacketLink.Conditions()
  var settings = EndSettings()
  /// In the order of time.
  var commands: [Command] = []
  var close: Close
  /// Whether the end comes while messages are under way.
  var closesEarly = false
  /// Whether streams are used again once both halves are closed.
  var reusesStreams = true

  var description: String {
    "seed \(seed): opened by \(opening), \(settings.offersInterleaving ? "with" : "without") interleaving, \(commands.count) "
      + "commands, \(conditions), buffers \(settings.sendBuffer) and \(settings.receiveBuffer), "
      + "\(close)\(closesEarly ? " early" : "")"
  }

  /// What usrsctp 0.9.5 can take part in. On links that lose or double packets it loses count of streams that are closed, and, where
  /// messages are interleaved, of those that are given up: in associations with itself, too.
  static func forUsrsctp(_ seed: UInt64, isClean: Bool = false, interleaving: Bool? = nil) -> Plan {
    let interleaving = interleaving ?? (seed / 2 % 2 == 0)
    return Plan(
      seed: seed, interleaving: interleaving, isClean: isClean,
      limitsReliability: isClean || !interleaving, closesStreams: isClean)
  }

  /// Everything is chosen by the seed, but what is given.
  init(
    seed: UInt64, opening: Opening? = nil, interleaving: Bool? = nil, isClean: Bool = false,
    limitsReliability: Bool = true, closesStreams: Bool = true
  ) {
    self.seed = seed
    var random = RandomSource(seed: seed)
    self.opening = opening ?? Opening.allCases.randomElement(using: &random)!
    settings.offersInterleaving = interleaving ?? Bool.random(using: &random)
    settings.streams = UInt16.random(in: 4...64, using: &random)
    settings.mtu = [700, 1184, 1200, 1400].randomElement(using: &random)!
    settings.sendBuffer = [512 << 10, 1 << 20, 4 << 20].randomElement(using: &random)!
    settings.receiveBuffer = [320 << 10, 1 << 20, 4 << 20].randomElement(using: &random)!
    // Interleaved messages fill it with their beginnings, one for each stream that is used.
    if settings.offersInterleaving { settings.receiveBuffer = 4 << 20 }
    conditions.delay = .milliseconds(Int64.random(in: 1...60, using: &random))
    if !isClean {
      let losses = [0, 0.002, 0.01, 0.05, 0.1]
      conditions.loss = losses.randomElement(using: &random)!
      conditions.jitter = .milliseconds([0, 0, 1, 5, 30].randomElement(using: &random)! as Int64)
      conditions.duplication = [0, 0, 0.01, 0.1].randomElement(using: &random)!
      conditions.damage = [0, 0, 0.01].randomElement(using: &random)!
    }
    close = [.shutDown(by: 0), .shutDown(by: 1), .shutDownByBoth, .abort(by: 0), .abort(by: 1)]
      .randomElement(using: &random)!
    closesEarly = Bool.random(using: &random)
    addCommands(&random, limitsReliability: limitsReliability, closesStreams: closesStreams)
  }

  private mutating func addCommands(
    _ random: inout RandomSource, limitsReliability: Bool, closesStreams: Bool
  ) {
    // As data channels have it, most streams have one way to send; in some each message has its own.
    let used = Int.random(in: 1...min(12, Int(settings.streams)), using: &random)
    let streams = (0..<used).map { _ in UInt16.random(in: 0..<settings.streams, using: &random) }
    let ways = streams.map { _ in Self.way(&random, limitsReliability) }
    let span = Int64.random(in: 0...8_000, using: &random)
    // Few that are long, or many that are short.
    let exponents = Int.random(in: 6...18, using: &random)
    let count = exponents > 14 ? 40 : 200
    for id in 1...count {
      let end = Int.random(in: 0...1, using: &random)
      let at = Instant(nanoseconds: Int64.random(in: 0...span, using: &random) * 1_000_000)
      let choice = Int.random(in: 0..<used, using: &random)
      if closesStreams, Int.random(in: 0..<12, using: &random) == 0 {
        commands.append(Command(at: at, end: end, what: .reset(streams[choice])))
        continue
      }
      let limit = 1 << Int.random(in: 0...exponents, using: &random)
      let (isOrdered, reliability) = ways[choice] ?? Self.way(&random, false) ?? (true, .reliable)
      let message = Message(
        id: UInt32(id), stream: streams[choice], isOrdered: isOrdered, reliability: reliability,
        size: Int.random(in: 1...limit, using: &random))
      commands.append(Command(at: at, end: end, what: .send(message)))
    }
    // Ids go up in the order of sending.
    commands.sort { $0.at < $1.at }
    for index in commands.indices {
      guard case .send(var message) = commands[index].what else { continue }
      message.id = UInt32(index + 1)
      commands[index].what = .send(message)
    }
  }

  /// Nil for a stream where each message has a way of its own.
  private static func way(
    _ random: inout RandomSource, _ limitsReliability: Bool
  ) -> (Bool, Message.Reliability)? {
    let isOrdered = Bool.random(using: &random)
    switch Int.random(in: 0..<(limitsReliability ? 6 : 3), using: &random) {
    case 0, 1: return (isOrdered, .reliable)
    case 2: return limitsReliability ? nil : (isOrdered, .reliable)
    case 3: return (isOrdered, .retransmissions(0))
    case 4: return (isOrdered, .retransmissions(Int.random(in: 1...3, using: &random)))
    default:
      return (isOrdered, .lifetime(milliseconds: Int.random(in: 20...2_000, using: &random)))
    }
  }
}
