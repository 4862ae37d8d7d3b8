import SoraWire

/// Follows which pictures a decoder holds, and so knows of every picture whether what it refers to is there and whole.
///
/// Decoders conceal a missing reference without a word; the sender must hear of it all the same (H.265 §8.3.1 picture order
/// count, §8.3.2 reference picture sets).
struct H265ReferenceTracker {
  enum Verdict {
    /// All references are there, and none of them is damaged.
    case intact
    /// A reference is missing, or was decoded from damaged data.
    case damaged
    /// A leading picture whose references lie before the point where decoding started: decoders leave it out.
    case skipped
  }

  private struct Picture {
    var order = 0
    var isIntact = false
  }

  // One more than a decoder keeps: the current picture.
  private var pictures = InlineArray<17, Picture>(repeating: Picture())
  private var count = 0
  /// Picture order count of the last picture of the base temporal layer that others can refer to.
  private var anchor = 0
  /// The next random access picture starts a new sequence: at the start, and after an end of sequence.
  private var startsSequence = true
  private var skipsLeading = false

  /// Decoding starts anew with the next random access picture.
  mutating func restart() { startsSequence = true }

  /// What was decoded last turned out to be damaged.
  mutating func markDamaged() {
    if count > 0 { pictures[count - 1].isIntact = false }
  }

  /// Takes the next picture in decoding order.
  mutating func add(_ slice: borrowing H265SliceHeader, orderBits: Int) throws(NALError) -> Verdict
  {
    let type = slice.type
    let isStart = type.isRandomAccess && (type.isIDR || type.isBrokenLink || startsSequence)
    if type.isRandomAccess {
      skipsLeading = isStart
      startsSequence = false
    } else if type.isSkippedLeading, skipsLeading {
      return .skipped
    }
    let order = isStart ? slice.orderLowBits : nextOrder(slice.orderLowBits, bits: orderBits)
    if slice.temporalID == 0, !type.isLeading, !type.isSubLayerNonReference { anchor = order }

    var kept = InlineArray<17, Picture>(repeating: Picture())
    var keptCount = 0
    var isIntact = true
    func keep(_ found: Picture?, isUsed: Bool) throws(NALError) {
      if isUsed, found?.isIntact != true { isIntact = false }
      guard let found else { return }
      guard keptCount < 16 else {
        throw .outOfRange(element: "NumDeltaPocs", value: UInt32(keptCount + 1))
      }
      kept[keptCount] = found
      keptCount += 1
    }
    if !isStart {
      for index in 0..<slice.references.count {
        let wanted = order + slice.references.delta(index)
        try keep(find { $0 == wanted }, isUsed: slice.references.isUsed(index))
      }
      let mask = 1 << orderBits - 1
      for index in 0..<slice.longTermCount {
        let entry = slice.longTerm[index]
        let wanted = entry.hasHighBits ? entry.order + order & ~mask : entry.order
        try keep(
          find { entry.hasHighBits ? $0 == wanted : $0 & mask == wanted }, isUsed: entry.isUsed)
      }
    }
    // Whatever a random access picture keeps, it refers to nothing.
    if type.isRandomAccess { isIntact = true }
    kept[keptCount] = Picture(order: order, isIntact: isIntact)
    pictures = kept
    count = keptCount + 1
    return isIntact ? .intact : .damaged
  }

  /// Equation 8-1.
  private func nextOrder(_ low: Int, bits: Int) -> Int {
    let period = 1 << bits
    let anchorLow = anchor & (period - 1)
    var high = anchor - anchorLow
    if low < anchorLow, anchorLow - low >= period / 2 {
      high += period
    } else if low > anchorLow, low - anchorLow > period / 2 {
      high -= period
    }
    return high + low
  }

  private func find(_ isWanted: (Int) -> Bool) -> Picture? {
    for index in 0..<count where isWanted(pictures[index].order) { return pictures[index] }
    return nil
  }
}
