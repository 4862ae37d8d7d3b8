import SoraMedia
import SoraSDP
import SoraSignalingMessages

/// Which of a publisher's simulcast layers is the lowest: offers don't say, and receivers have to know.
enum OfferedRids {
  /// Names that are in use, the lowest layer first: Sora's, and those of others.
  private static let series: [[String]] = [
    ["r0", "r1", "r2", "r3"], ["q", "h", "f"], ["l", "m", "h"], ["low", "mid", "high"],
    ["low", "medium", "high"],
  ]

  /// The layers that an offer sends, the lowest first; empty without simulcast.
  ///
  /// - Throws: `unacceptable` where they can't be received.
  static func read(_ media: MediaDescription) throws(SFUOfferError) -> SimulcastOffer {
    let known = media.rids.filter { $0.direction == .send }
    var streams: [(rid: SDPRid, isPaused: Bool)] = []
    let sent = media.simulcast?.send ?? []
    // Before each is looked for: a description has room for thousands.
    guard sent.count <= 64 else {
      throw .unacceptable("a=simulcast names too many rids")
    }
    for alternatives in sent {
      // RFC 8853 §5.2: of alternatives the first is liked best.
      guard let format = alternatives.first, let rid = known.first(where: { $0.id == format.rid })
      else { throw .malformed("a=simulcast names a rid that has no a=rid line") }
      streams.append((rid, format.isPaused))
    }
    guard streams.count > 1 else { return SimulcastOffer() }
    let order = order(of: streams.map(\.rid))
    do throws(SFUObjection) {
      return try SimulcastOffer(
        order.map { index in
          SignalingEncoding {
            $0.rid = streams[index].rid.id
            $0.active = !streams[index].isPaused
          }
        })
    } catch {
      throw .unacceptable(error.reason)
    }
  }

  /// By the pixels that each is restricted to (RFC 8851 §5); where not all are, by names that say it; else what is listed first is
  /// liked best (RFC 8853 §5.2), and highest.
  private static func order(of rids: [SDPRid]) -> [Int] {
    let sizes = rids.compactMap { rid -> Int? in
      guard let width = rid.restrictions.integer("max-width"),
        let height = rid.restrictions.integer("max-height")
      else { return rid.restrictions.integer("max-br") }
      return width.multipliedReportingOverflow(by: height).partialValue
    }
    if sizes.count == rids.count, Set(sizes).count == sizes.count {
      return rids.indices.sorted { sizes[$0] < sizes[$1] }
    }
    for names in series {
      let places = rids.compactMap { names.firstIndex(of: $0.id.lowercased()) }
      if places.count == rids.count { return rids.indices.sorted { places[$0] < places[$1] } }
    }
    return rids.indices.reversed()
  }
}
