import SoraMedia
import SoraSDP
public import SoraSignalingMessages

/// An offer that a client brings, read: who publishes by WHIP (RFC 9725) or plays by WHEP (draft-ietf-wish-whep) offers, and the server
/// answers.
public struct SFUClientOffer: Sendable {
  public typealias Purpose = SFUOfferPurpose

  public let purpose: Purpose
  /// In the order of the offer, as the answer has to have them.
  let sections: [OfferedSection]
  let transport: SFUAnswer.Transport
  let allowsMixedExtensions: Bool

  /// Sections that a player may have; a publisher has one of each kind (RFC 9725 §4.4.2).
  private static let mostSections = 32

  /// Reads an offer.
  ///
  /// - Parameters:
  ///   - text: the description.
  ///   - purpose: what the client wants to do.
  /// - Throws: `malformed` or `unacceptable`.
  public init(parsing text: String, to purpose: Purpose) throws(SFUOfferError) {
    let sdp: SessionDescription
    do throws(SDPError) {
      sdp = try SessionDescription(parsing: text)
      try sdp.validate()
    } catch {
      throw .malformed("\(error)")
    }
    guard !sdp.media.isEmpty, sdp.media.count <= Self.mostSections else {
      throw .unacceptable("an offer has 1 to \(Self.mostSections) media sections")
    }
    self.purpose = purpose
    allowsMixedExtensions = sdp.allowsMixedExtensions
    var sections: [OfferedSection] = []
    for media in sdp.media {
      sections.append(
        try OfferedSection(media, to: purpose, allowsMixed: sdp.allowsMixedExtensions))
    }
    self.sections = sections
    guard let first = sections.firstIndex(where: \.isUsed) else {
      let direction = purpose == .publish ? "sendonly" : "recvonly"
      throw .unacceptable("it has no audio or video section that is \(direction)")
    }
    if purpose == .publish {
      for kind in [MediaKind.audio, .video]
      where sections.filter({ $0.isUsed && $0.kind == kind }).count > 1 {
        throw .unacceptable("it has more than one \(kind.rawValue) section")
      }
    }
    try Self.checkBundle(sections, sdp)
    do throws(SFUAnswerError) {
      transport = try SFUAnswer.transport(sdp.media[first], sdp, isOffer: true)
    } catch {
      throw .malformed(error.reason)
    }
  }

  /// RFC 9725 §4.4.1: all sections share one transport.
  private static func checkBundle(
    _ sections: [OfferedSection], _ sdp: SessionDescription
  ) throws(SFUOfferError) {
    let used = sections.filter(\.isUsed)
    let mids = used.map(\.mid)
    guard Set(mids).count == mids.count else { throw .malformed("two sections have one mid") }
    guard used.count == 1 || Set(mids).isSubset(of: sdp.bundle ?? [])
    else { throw .unacceptable("its sections must be in one BUNDLE group") }
  }

  /// The `connect` of a client that would ask for the same over a WebSocket: what whoever decides about clients is shown.
  ///
  /// - Parameters:
  ///   - channelID: the channel to join.
  ///   - accessToken: what the client shows to be let in; nil for nothing.
  ///   - client: the name of its program; nil if unknown.
  public func connect(
    channelID: String, accessToken: String?, client: String?
  ) -> ConnectMessage {
    ConnectMessage(role: purpose == .publish ? .sendonly : .recvonly, channelID: channelID) {
      if let accessToken { $0.metadata = ["access_token": .string(accessToken)] }
      $0.soraClient = purpose == .publish ? "WHIP" : "WHEP"
      $0.environment = client
      let (audio, video) = (codecName(.audio), codecName(.video))
      $0.audio = audio.map { name in .options(AudioOptions { $0.codecType = name }) } ?? .disabled
      $0.video = video.map { name in .options(VideoOptions { $0.codecType = name }) } ?? .disabled
      if purpose == .play {
        // Whatever comes in a codec that it has.
        if audio != nil { $0.audio = .enabled }
        if video != nil { $0.video = .enabled }
      }
      $0.simulcast = sections.contains { !$0.simulcast.isEmpty }
      $0.dataChannelSignaling = false
    }
  }

  /// What the client likes best; nil where it has no section of the kind.
  private func codecName(_ kind: MediaKind) -> String? {
    sections.first { $0.isUsed && $0.kind == kind }?.codecs.first?.codec.name.uppercased()
  }

  /// Whether what was granted can be had of the offer.
  ///
  /// - Throws: `unacceptable`.
  func check(_ request: SFUConnectRequest) throws(SFUOfferError) {
    var isAnythingLeft = false
    for section in sections where section.isUsed {
      guard let kind = section.kind, request.takes(kind) else { continue }
      isAnythingLeft = true
      if purpose == .publish, section.codec(for: request) == nil {
        throw .unacceptable(
          "its \(kind.rawValue) section has none of the codecs that it may be sent in")
      }
    }
    guard isAnythingLeft else { throw .unacceptable("neither its audio nor its video is allowed") }
  }
}

extension SFUConnectRequest {
  /// Whether it asks for a medium, in either direction.
  func takes(_ kind: MediaKind) -> Bool { kind == .audio ? audio != nil : video != nil }
}
