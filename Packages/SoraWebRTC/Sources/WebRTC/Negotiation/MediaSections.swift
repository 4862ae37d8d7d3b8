package import SoraSDP

/// A media section of the session: its `m=` line, and what it is used for.
package struct MediaSection {
  package enum Use {
    case media(JSEPTransceiver)
    case data
    /// Rejected or stopped: the next offer may use it for something else.
    case free
  }

  package let mid: String
  package let kind: String
  package let proto: String
  package let formats: [String]
  package fileprivate(set) var use: Use

  package var transceiver: JSEPTransceiver? {
    if case .media(let transceiver) = use { transceiver } else { nil }
  }
}

/// The media sections of a session by m-line index. One is never removed, but may be used again (RFC 9429 §5.2.2).
package struct MediaSections {
  package private(set) var list: [MediaSection] = []
  /// Transceivers that the offer under way leaves without their section; they stop with the answer.
  private var displaced: [JSEPTransceiver] = []

  package init() {}

  package subscript(index: Int) -> MediaSection? { list[safe: index] }

  /// Whether one is for data channels.
  package var hasData: Bool { list.contains { if case .data = $0.use { true } else { false } } }

  /// Names new sections.
  package var mids: MidAllocator { MidAllocator(used: Set(list.map(\.mid))) }

  /// Takes a section of an offer. A transceiver that was there and isn't the one of `use` is displaced.
  package mutating func set(
    _ index: Int, to section: MediaDescription, mid: String, use: MediaSection.Use
  ) {
    let new = MediaSection(
      mid: mid, kind: section.kind, proto: section.proto, formats: section.formats, use: use)
    if let old = list[safe: index]?.transceiver, old !== new.transceiver { displace(old) }
    if index < list.count { list[index] = new } else { list.append(new) }
    new.transceiver?.negotiation.associate(mid: mid, index: index)
  }

  /// One side has rejected the section.
  package mutating func free(_ index: Int) {
    if let transceiver = list[index].transceiver { displace(transceiver) }
    list[index].use = .free
  }

  /// The exchange is complete: those that it has displaced, in that order.
  package mutating func takeDisplaced() -> [JSEPTransceiver] {
    defer { displaced = [] }
    return displaced
  }

  private mutating func displace(_ transceiver: JSEPTransceiver) {
    guard !transceiver.isStopped, !transceiver.negotiation.isDisplaced else { return }
    transceiver.negotiation.displace()
    displaced.append(transceiver)
  }

  /// The sections of an offer must continue these (RFC 9429 §5.2.2), each in use with a mid of its own.
  package func check(_ offer: SessionDescription) throws(NegotiationError) {
    guard offer.media.count >= list.count else {
      throw .sectionMismatch(
        index: offer.media.count,
        detail: "it was there before and is missing: keep it, with port 0 when it isn't needed")
    }
    var mids: Set<String> = []
    for (index, section) in offer.media.enumerated() where !section.isRejected {
      guard let mid = section.mid else {
        throw .missingMid(
          index: index, kind: section.kind, line: offer.lineNumber(section: index))
      }
      guard mids.insert(mid).inserted else { throw .duplicateMid(mid) }
      guard let old = list[safe: index], old.mid == mid, old.kind != section.kind else { continue }
      if case .free = old.use { continue }
      throw .sectionMismatch(
        index: index, detail: "it was \(old.kind) and is \(section.kind) under the same mid")
    }
  }
}

/// Gives new sections the lowest number that no section has as their mid.
package struct MidAllocator {
  private var used: Set<String>

  package init(used: Set<String>) { self.used = used }

  package mutating func next() -> String {
    var number = 0
    while !used.insert("\(number)").inserted { number += 1 }
    return "\(number)"
  }
}

extension MediaDescription {
  /// Port 0 means rejected, unless the section lives on the transport of its group (RFC 9143 §6).
  var isRejected: Bool { port == 0 && !isBundleOnly }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
