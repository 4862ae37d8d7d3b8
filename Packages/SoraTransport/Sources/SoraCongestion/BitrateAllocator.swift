/// Splits an estimate among streams.
///
/// Minimums come first, in the order of priority; what is left is shared by weight until streams reach their maximums.
public struct BitrateAllocator: Sendable {
  /// What one stream wants.
  public struct Request: Sendable, Equatable {
    /// Below this the stream is useless: it gets nothing then, unless `enforcesMinimum`.
    public var minimum: Bitrate
    /// The stream can't use more.
    public var maximum: Bitrate
    /// Share of what is left after the minimums, relative to others; above zero.
    public var weight: Double
    /// Whether the stream gets its minimum even when the estimate doesn't cover it (audio, the lowest layer).
    public var enforcesMinimum: Bool

    public init(
      minimum: Bitrate, maximum: Bitrate, weight: Double = 1, enforcesMinimum: Bool = true
    ) {
      self.minimum = minimum
      self.maximum = maximum
      self.weight = weight
      self.enforcesMinimum = enforcesMinimum
    }
  }

  /// Allots a rate to each request.
  ///
  /// - Parameters:
  ///   - estimate: what may be sent in all.
  ///   - requests: the streams, the most important first.
  /// - Returns: one rate a request, in the same order; zero means to pause it. Their sum exceeds `estimate` only by
  ///   enforced minimums.
  public static func allocate(_ estimate: Bitrate, among requests: [Request]) -> [Bitrate] {
    var rates = [Bitrate](repeating: .zero, count: requests.count)
    var left = estimate
    for (index, request) in requests.enumerated() where request.enforcesMinimum {
      rates[index] = request.minimum
      left = left - request.minimum
    }
    for (index, request) in requests.enumerated() where !request.enforcesMinimum {
      guard request.minimum <= left else { break }
      rates[index] = request.minimum
      left = left - request.minimum
    }
    var open = requests.indices.filter {
      (requests[$0].enforcesMinimum || rates[$0] > .zero || requests[$0].minimum == .zero)
        && rates[$0] < requests[$0].maximum && requests[$0].weight > 0
    }
    // Each round fills at least one stream, or gives out everything.
    while left.bitsPerSecond > open.count, !open.isEmpty {
      let weights = open.reduce(0.0) { $0 + requests[$1].weight }
      let pot = left
      var stillOpen: [Int] = []
      for index in open {
        let share = pot * (requests[index].weight / weights)
        let room = requests[index].maximum - rates[index]
        let given = min(share, room)
        rates[index] = rates[index] + given
        left = left - given
        if given < room { stillOpen.append(index) }
      }
      if stillOpen.count == open.count { break }
      open = stillOpen
    }
    return rates
  }
}
