import SoraSignaling

/// What a path of WHIP (RFC 9725) or WHEP (draft-ietf-wish-whep) names.
enum WHIPRoute: Hashable {
  /// `/whip/CHANNEL` and `/whep/CHANNEL`: where offers are posted.
  case endpoint(SFUClientOffer.Purpose, channelID: String)
  /// What an offer has made, below its endpoint.
  case session(SFUClientOffer.Purpose, channelID: String, id: String)
  /// Below `/whip` or `/whep`, and none of these.
  case unknown

  /// nil for paths of something else.
  init?(_ request: HTTPRequest) {
    let purpose: SFUClientOffer.Purpose
    if Self.has("/whip", request.path) {
      purpose = .publish
    } else if Self.has("/whep", request.path) {
      purpose = .play
    } else {
      return nil
    }
    guard let segments = request.pathSegments, segments.allSatisfy({ !$0.isEmpty }) else {
      self = .unknown
      return
    }
    switch segments.count {
    case 2: self = .endpoint(purpose, channelID: segments[1])
    case 3: self = .session(purpose, channelID: segments[1], id: segments[2])
    default: self = .unknown
    }
  }

  private static func has(_ beginning: String, _ path: String) -> Bool {
    path == beginning || path.hasPrefix(beginning + "/")
  }

  /// The methods that there are.
  var methods: [String] {
    switch self {
    case .endpoint: ["OPTIONS", "POST"]
    case .session: ["OPTIONS", "PATCH", "DELETE"]
    case .unknown: []
    }
  }
}
