import SoraSignalingMessages

/// Decides whether a client may connect, and as what. Takes the time it needs, within a limit of its own: what the client sends meanwhile
/// waits unread.
protocol Authorizer: Sendable {
  /// - Parameter applicant: with what earlier decisions have settled already.
  func authorize(_ applicant: AccessApplicant) async -> AccessDecision
}

/// What an authorizer knows of a client.
struct AccessApplicant: Sendable {
  let asked: SFUApplicant
  let origin: AccessOrigin
  /// What was granted so far.
  var grant: SFUGrant

  /// What the client gets as things stand.
  var effective: ConnectMessage { grant.applied(to: asked.connect) }
}

/// Where a client comes from.
struct AccessOrigin: Sendable {
  /// Of the client, or of a proxy before the server.
  let address: String?
  /// What a proxy says of the client; anybody may say it where there is no proxy.
  let forwardedFor: String?
}

enum AccessDecision: Sendable {
  case granted(GrantSettings)
  /// - Parameters:
  ///   - reason: for the client: a fixed word, and what to do. Never holds a token.
  ///   - detail: for the log; nil where the reason says all.
  case refused(reason: String, detail: String?)
}

/// All authorizers of a server, one behind the other: each may refuse, and the last word counts.
struct AccessControl: Sendable {
  private let authorizers: [any Authorizer]
  private let metrics: AccessMetrics

  init(_ authorizers: [any Authorizer], _ metrics: AccessMetrics) {
    self.authorizers = authorizers
    self.metrics = metrics
  }

  /// Whether nobody is asked.
  var isOpen: Bool { authorizers.isEmpty }

  func decide(
    _ applicant: SFUApplicant, _ origin: AccessOrigin
  ) async -> Result<SFUGrant, AccessRefusal> {
    var state = AccessApplicant(
      asked: applicant, origin: origin,
      grant: SFUGrant(
        connectionID: applicant.connectionID,
        authnMetadata: Secrets.removed(from: applicant.connect.metadata)))
    for authorizer in authorizers {
      switch await authorizer.authorize(state) {
      case .granted(let settings): state.grant.add(settings)
      case .refused(let reason, let detail):
        metrics.count(.refusals)
        return .failure(AccessRefusal(reason: reason, detail: detail))
      }
    }
    return .success(state.grant)
  }
}

/// Why a client may not connect.
struct AccessRefusal: Error {
  /// For the client.
  let reason: String
  /// For the log.
  let detail: String?
}
