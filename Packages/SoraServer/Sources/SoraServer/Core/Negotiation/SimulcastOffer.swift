import SoraSDP
import SoraSignalingMessages

/// The simulcast layers that a publisher is offered, the lowest first; empty without simulcast.
struct SimulcastOffer: Hashable, Sendable {
  struct Layer: Hashable, Sendable {
    var rid: String
    /// Whether the publisher shall send it at once.
    var isActive: Bool
  }

  /// More can't be told apart where links are split.
  private static let mostLayers = 4
  /// What fits a header extension in its short form.
  private static let longestRid = 16

  /// As they go into `offer`: untouched.
  private(set) var encodings: [SignalingEncoding] = []
  private(set) var layers: [Layer] = []

  init() {}

  /// - Throws: why nobody can be offered these encodings.
  init(_ encodings: [SignalingEncoding]) throws(SFUObjection) {
    guard (1...Self.mostLayers).contains(encodings.count) else {
      throw SFUObjection(reason: "INVALID-SIMULCAST: 1 to \(Self.mostLayers) encodings")
    }
    for encoding in encodings {
      guard let rid = encoding.rid, rid.utf8.count <= Self.longestRid,
        SDPRid(parsing: "\(rid) recv")?.id == rid
      else {
        throw SFUObjection(
          reason: "INVALID-SIMULCAST: each encoding needs a rid of letters and digits")
      }
      guard !layers.contains(where: { $0.rid == rid }) else {
        throw SFUObjection(reason: "INVALID-SIMULCAST: the rid \(rid) comes twice")
      }
      layers.append(Layer(rid: rid, isActive: encoding.isActive))
    }
    self.encodings = encodings
  }

  /// What Sora's clients are offered: a quarter, a half and the whole of each side. Without a mode VP9 and AV1 are sent in one stream
  /// by official clients.
  static let standardEncodings: [SignalingEncoding] = [("r0", 4.0), ("r1", 2.0), ("r2", 1.0)].map {
    rid, scale in
    SignalingEncoding {
      $0.rid = rid
      $0.active = true
      $0.scaleResolutionDownBy = scale
      $0.scalabilityMode = "L1T1"
    }
  }

  static let standard = (try? SimulcastOffer(standardEncodings)) ?? SimulcastOffer()

  var isEmpty: Bool { layers.isEmpty }

  /// What a subscriber asks for with a rid: the layer of that name, or the next lower one that is offered.
  func wish(for rid: SignalingRid?) -> LayerChoice.Wish {
    switch rid {
    case nil: .any
    case .none?: .none
    case let rid?: .rank(rank(of: rid))
    }
  }

  /// Publishers that bring their offer name their layers as they like: among such, r0 is the lowest, and so on.
  private func rank(of rid: SignalingRid) -> Int {
    let names = SignalingRid.allCases.filter { $0 != .none }
    if let place = names.firstIndex(of: rid),
      !layers.contains(where: { SignalingRid(rawValue: $0.rid) != nil })
    {
      return min(place, layers.count - 1)
    }
    return layers.lastIndex { $0.rid <= rid.rawValue } ?? 0
  }

  /// Writes them into the section that the publisher sends on (RFC 8853 §5.1).
  func append(to media: inout MediaDescription) {
    guard !isEmpty else { return }
    for layer in layers { media.append(SDPRid(id: layer.rid, direction: .recv)) }
    media.simulcast = SDPSimulcast(
      receive: layers.map { [SDPSimulcast.Format(rid: $0.rid, isPaused: !$0.isActive)] })
  }
}
