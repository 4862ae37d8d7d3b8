import SoraDTLS
import SoraICE
import SoraSDP

/// Reads what a description says about the one transport.
enum SessionTransport {
  /// The most candidates of a peer that are looked at.
  static let maximumCandidates = 256

  /// What the peer's description says, for the sections at `indices`.
  struct Parameters {
    var ice: ICEParameters
    var isTrickling: Bool
    var fingerprint: DTLSFingerprint
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
    let ice = try credentials(
      ufrag: find("ice-ufrag"), password: find("ice-pwd"), isLite: description.isICELite)
    let fingerprint = try preferred(
      sections.lazy.map(\.fingerprints).first { !$0.isEmpty } ?? description.fingerprints)
    var seen: Set<String> = []
    var candidates: [String] = []
    for candidate in description.candidates + sections.flatMap(\.candidates) {
      guard candidates.count < maximumCandidates else { break }
      if seen.insert(candidate).inserted { candidates.append(candidate) }
    }
    let options = description.iceOptions + (sections.first?.iceOptions ?? [])
    return Parameters(
      ice: ice, isTrickling: options.contains("trickle"), fingerprint: fingerprint,
      candidates: candidates,
      endOfCandidates: description.endOfCandidates || sections.contains { $0.endOfCandidates })
  }

  private static func credentials(ufrag: String, password: String, isLite: Bool)
    throws(NegotiationError) -> ICEParameters
  {
    do throws(ICEError) {
      return try ICEParameters(ufrag: ufrag, password: password, isLite: isLite)
    } catch {
      throw .unusableTransportParameter("ice-ufrag or ice-pwd", detail: "\(error)")
    }
  }

  /// Of several fingerprints the one with the longest hash: which one is preferred is up to who checks (RFC 8122 §5).
  private static func preferred(_ fingerprints: [SDPFingerprint]) throws(NegotiationError)
    -> DTLSFingerprint
  {
    var found: DTLSFingerprint?
    var failure: DTLSError?
    for fingerprint in fingerprints {
      do throws(DTLSError) {
        let usable = try DTLSFingerprint(parsing: fingerprint.attributeValue)
        if usable.bytes.count > found?.bytes.count ?? 0 { found = usable }
      } catch {
        failure = error
      }
    }
    if let found { return found }
    guard let failure else { throw .missingTransportParameter("fingerprint") }
    throw .unusableTransportParameter("fingerprint", detail: "\(failure)")
  }
}
