import SoraSDP

/// Reads what a description says about the one transport.
enum SessionTransport {
  /// The most candidates of a peer that are looked at.
  static let maximumCandidates = 256

  /// What the peer's description says, for the sections at `indices`.
  struct Parameters {
    var ufrag: String
    var password: String
    var isLite: Bool
    var isTrickling: Bool
    var fingerprints: [SDPFingerprint]
    var candidates: [String]
    var endOfCandidates: Bool
  }

  /// The parameters of the group's first section in use count (RFC 9143 §7.1); an attribute that it doesn't have is
  /// looked for in the other sections and in the session part.
  static func parameters(of description: SessionDescription, sections indices: [Int])
    throws(NegotiationError) -> Parameters
  {
    var sections = indices.map { description.media[$0] }
    if let first = description.bundle?.first(where: { mid in sections.contains { $0.mid == mid } }),
      let index = sections.firstIndex(where: { $0.mid == first })
    {
      sections.insert(sections.remove(at: index), at: 0)
    }
    func find(_ name: String) throws(NegotiationError) -> String {
      for section in sections {
        if let value = section.attribute(name) { return value }
      }
      guard let value = description.attribute(name) else {
        throw .missingTransportParameter(name)
      }
      return value
    }
    let ufrag = try find("ice-ufrag")
    let password = try find("ice-pwd")
    let fingerprints =
      sections.lazy.map(\.fingerprints).first { !$0.isEmpty } ?? description.fingerprints
    guard !fingerprints.isEmpty else { throw .missingTransportParameter("fingerprint") }
    var seen: Set<String> = []
    var candidates: [String] = []
    for candidate in description.candidates + sections.flatMap(\.candidates) {
      guard candidates.count < maximumCandidates else { break }
      if seen.insert(candidate).inserted { candidates.append(candidate) }
    }
    let options = description.iceOptions + (sections.first?.iceOptions ?? [])
    return Parameters(
      ufrag: ufrag, password: password, isLite: description.isICELite,
      isTrickling: options.contains("trickle"), fingerprints: fingerprints,
      candidates: candidates,
      endOfCandidates: description.endOfCandidates || sections.contains { $0.endOfCandidates })
  }
}
