public import SoraICE
public import SoraSDP

/// Why a media section of an offer was turned down.
public enum SectionRejection: Sendable, Equatable, CustomStringConvertible {
  /// Neither audio, video nor application.
  case unsupportedKind(String)
  /// Neither RTP over DTLS nor SCTP over DTLS.
  case unsupportedProtocol(String)
  /// None of the codecs offered is one of ours.
  case noCommonCodec(offered: [String], supported: [String])
  /// It isn't in the BUNDLE group, and there is one transport only.
  case notBundled
  /// RTP and RTCP on separate ports.
  case noRTCPMux
  /// Data channels are not wanted.
  case dataChannelsNotAccepted

  public var description: String {
    func list(_ names: [String]) -> String {
      names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    return switch self {
    case .unsupportedKind(let kind): "the kind \"\(kind)\" is not supported"
    case .unsupportedProtocol(let name): "the protocol \"\(name)\" is not supported"
    case .noCommonCodec(let offered, let supported):
      "it offers \(list(offered)) and this side supports \(list(supported))"
    case .notBundled: "it is not in the BUNDLE group"
    case .noRTCPMux: "it has no a=rtcp-mux"
    case .dataChannelsNotAccepted: "data channels are not enabled on this side"
    }
  }
}

/// Why a description could not be made or applied. The negotiator is left as it was before the call.
public enum NegotiationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A section of an offer that was turned down.
  public struct Rejected: Sendable, Equatable {
    /// The m-line index, from 0.
    public var index: Int
    public var kind: String
    /// Its `a=mid`.
    public var mid: String?
    public var reason: SectionRejection

    public init(index: Int, kind: String, mid: String? = nil, reason: SectionRejection) {
      self.index = index
      self.kind = kind
      self.mid = mid
      self.reason = reason
    }
  }

  /// The call doesn't fit the signaling state.
  case invalidState(operation: String, state: SignalingState)
  /// The description is malformed.
  case malformed(SDPError)
  /// A section has no `a=mid`. `line` is that of its `m=` line.
  case missingMid(index: Int, kind: String, line: Int)
  /// Two sections in use share a mid.
  case duplicateMid(String)
  /// No section of the offer could be accepted.
  case nothingAcceptable([Rejected])
  /// ICE or DTLS parameters are missing; the attribute's name.
  case missingTransportParameter(String)
  /// ICE or DTLS parameters that can't be used; the attribute's name.
  case unusableTransportParameter(String, detail: String)
  /// `a=setup` has a value that can't be used here.
  case unusableSetup(String)
  /// The sections don't follow those of the description before, or those of the offer.
  case sectionMismatch(index: Int, detail: String)
  /// A description to be applied locally is not the one that was created last.
  case notCreatedHere(detail: String)
  /// A candidate names a section that doesn't exist.
  case unknownSection(String)
  /// A candidate of the peer breaks the grammar of RFC 8839 §5.1: its line, and where.
  case unreadableCandidate(String, ICEError)

  public var description: String {
    switch self {
    case .invalidState(let operation, let state):
      "\(operation) is not possible in the signaling state \(state.rawValue): finish or roll back the exchange under way"
    case .malformed(let error): error.description
    case .missingMid(let index, let kind, let line):
      "Section \(index) (\(kind), line \(line)) has no a=mid: write one, BUNDLE and RTP need it"
    case .duplicateMid(let mid):
      "Two sections share the mid \"\(mid)\": give each section in use a mid of its own"
    case .nothingAcceptable(let sections):
      "No section of the offer can be accepted: "
        + sections.map { "section \($0.index) (\($0.kind)): \($0.reason)" }.joined(separator: "; ")
        + ". Offer at least one of the supported codecs"
    case .missingTransportParameter(let name):
      "The description has no a=\(name): a secure connection needs ice-ufrag, ice-pwd and fingerprint"
    case .unusableTransportParameter(let name, let detail): "a=\(name) cannot be used: \(detail)"
    case .unusableSetup(let value):
      "a=setup:\(value) cannot be used here: an offer should say actpass, an answer active or passive"
    case .sectionMismatch(let index, let detail): "Section \(index): \(detail)"
    case .notCreatedHere(let detail):
      "Apply the description that createOffer or createAnswer returned last: \(detail)"
    case .unknownSection(let name):
      "The candidate is for section \(name), which the remote description doesn't have"
    case .unreadableCandidate(let line, let error):
      "The candidate \"\(line.prefix(120))\" can't be used: \(error)"
    }
  }
}

/// RFC 9429 §3.2, without provisional answers.
public enum SignalingState: String, Sendable, Hashable {
  case stable
  case haveLocalOffer = "have-local-offer"
  case haveRemoteOffer = "have-remote-offer"
  case closed
}

/// What a description is.
public enum DescriptionKind: String, Sendable, Hashable {
  case offer
  case answer
}
