import Logging
import SoraCluster
import SoraSDP
import SoraSignaling
import SoraTransport

/// WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep): who publishes to a channel or plays it with an HTTP request for signaling.
struct WHIPService: Sendable {
  private let engine: LoopBound<ServerEngine>
  private let access: AccessControl
  private let logger: Logger
  /// Whether channels may be on other servers.
  private let isClustered: Bool

  init(
    _ engine: LoopBound<ServerEngine>, _ access: AccessControl, isClustered: Bool, _ logger: Logger
  ) {
    self.isClustered = isClustered
    self.engine = engine
    self.access = access
    self.logger = logger
  }

  /// Answers a request; nil where its path is something else's.
  func respond(to request: HTTPRequest) async -> HTTPResponse? {
    guard let route = WHIPRoute(request) else { return nil }
    var response: HTTPResponse
    do throws(WHIPProblem) {
      response = try await answer(request, route)
    } catch {
      response = error.response
    }
    // Any page may use it: it takes tokens, and no cookies.
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] =
      "Location, Link, ETag, Accept-Post, Accept-Patch, Retry-After"
    return response
  }

  static let sdpType = "application/sdp"

  private func answer(
    _ request: HTTPRequest, _ route: WHIPRoute
  ) async throws(WHIPProblem) -> HTTPResponse {
    guard route != .unknown else { throw .notFound }
    switch (request.method, route) {
    case ("OPTIONS", _): return Self.options(route)
    case ("POST", .endpoint(let purpose, let channelID)):
      return try await make(request, purpose, channelID)
    case ("PATCH", .session): return try await trickle(request, route)
    case ("DELETE", .session):
      let token = try Self.token(request)
      let problem = await engine.loop.run { [engine] in engine.value.end(route, token: token) }
      if let problem { throw problem }
      return HTTPResponse(status: 200)
    default: throw .method(route.methods)
    }
  }

  /// What a browser asks before it sends what isn't a form's, and what clients may learn (RFC 9725 §4.2).
  private static func options(_ route: WHIPRoute) -> HTTPResponse {
    var response = HTTPResponse(status: 204)
    let methods = route.methods.joined(separator: ", ")
    response.headers["Allow"] = methods
    response.headers["Access-Control-Allow-Methods"] = methods
    response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type, If-Match"
    response.headers["Access-Control-Max-Age"] = "86400"
    if case .endpoint = route {
      response.headers["Accept-Post"] = sdpType
    } else {
      response.headers["Accept-Patch"] = SDPFragment.mediaType
    }
    return response
  }

  /// What the request shows to be let in.
  private static func token(_ request: HTTPRequest) throws(WHIPProblem) -> String? {
    switch request.authorization {
    case .absent: return nil
    case .bearer(let token): return token
    case .other:
      throw .unauthorized("ACCESS-TOKEN-INVALID", "send Authorization: Bearer with a token")
    }
  }

  private static func text(_ request: HTTPRequest) throws(WHIPProblem) -> String {
    guard request.body.count <= SessionDescription.maximumSize else { throw .tooLarge }
    guard let text = String(validating: request.body, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  // MARK: POST

  private func make(
    _ request: HTTPRequest, _ purpose: SFUClientOffer.Purpose, _ channelID: String
  ) async throws(WHIPProblem) -> HTTPResponse {
    guard request.mediaType == Self.sdpType else { throw .mediaType(Self.sdpType, "Accept-Post") }
    let token = try Self.token(request)
    let text = try Self.text(request)
    let offer: SFUClientOffer
    do throws(SFUOfferError) {
      offer = try SFUClientOffer(parsing: text, to: purpose)
    } catch {
      throw WHIPProblem(error)
    }
    let connect = offer.connect(
      channelID: channelID, accessToken: token,
      client: request.headers["user-agent"].map { String($0.prefix(200)) })
    logger.debug("connect", metadata: ["message": "\(Secrets.logged(connect))"])
    let loop = engine.loop
    // Where everybody is let in a token says nothing, and not all clients send theirs again.
    let shown = access.isOpen ? nil : token
    let (path, address) = (request.path, request.remoteIP)
    let applicant = try await loop.run { [engine] in
      engine.value.open(connect, from: address, path: path)
    }.get()
    let grant = try await decide(about: applicant, request)
    try await place(applicant, request)
    let authority = request.headers["host"]
    let made = try await loop.run { [engine] in
      engine.value.answer(
        offer, of: applicant, grant, token: shown, path: path, authority: authority)
    }.get()
    var response = HTTPResponse(
      status: 201, contentType: Self.sdpType, text: made.answer.sdp)
    let base = path.hasSuffix("/") ? String(path.dropLast()) : path
    response.headers["Location"] = "\(base)/\(made.id)"
    response.headers["ETag"] = "\"\(made.answer.generation)\""
    response.headers["Accept-Patch"] = SDPFragment.mediaType
    response.headers.fields += made.links.map { .init(name: "Link", value: $0) }
    return response
  }

  private func decide(
    about applicant: SFUApplicant, _ request: HTTPRequest
  ) async throws(WHIPProblem) -> SFUGrant {
    let decision = await access.decide(
      applicant,
      AccessOrigin(
        address: request.remoteIP, forwardedFor: request.headers["x-forwarded-for"]))
    // Who has gone meanwhile needs no connection.
    if case .success(let grant) = decision, !Task.isCancelled { return grant }
    let reason: String
    if case .failure(let refusal) = decision {
      reason = refusal.reason
      logger.notice(
        "not let in",
        metadata: [
          "channel_id": "\(applicant.connect.channelID)",
          "connection_id": "\(applicant.connectionID)",
          "reason": "\(refusal.detail ?? refusal.reason)",
        ])
    } else {
      reason = "CLIENT-GONE"
    }
    await engine.loop.run { [engine] in engine.value.refuse(applicant.peer, reason: reason) }
    throw WHIPProblem(refusal: reason)
  }

  /// Has the cluster say where the channel is, of a client that was let in.
  private func place(
    _ applicant: SFUApplicant, _ request: HTTPRequest
  ) async throws(WHIPProblem) {
    guard isClustered else { return }
    let cluster = await engine.loop.run { [engine] in engine.value.cluster }
    let problem: WHIPProblem
    switch await cluster?.place(applicant.connect.channelID) ?? .unavailable {
    case .here: return
    case .elsewhere(let url): problem = .elsewhere(url, path: request.path)
    case .unavailable: problem = .unplaced
    }
    await engine.loop.run { [engine] in
      engine.value.refuse(applicant.peer, reason: problem.title)
    }
    throw problem
  }

  // MARK: PATCH

  private func trickle(
    _ request: HTTPRequest, _ route: WHIPRoute
  ) async throws(WHIPProblem) -> HTTPResponse {
    guard request.mediaType == SDPFragment.mediaType else {
      throw .mediaType(SDPFragment.mediaType, "Accept-Patch")
    }
    let token = try Self.token(request)
    let text = try Self.text(request)
    // RFC 9725 §4.3.1.
    guard let condition = request.ifMatch else { throw .noCondition }
    let fragment: SDPFragment
    do throws(SDPError) {
      fragment = try SDPFragment(parsing: text)
    } catch {
      throw WHIPProblem(status: 400, title: "MALFORMED-FRAGMENT", detail: "\(error)")
    }
    let outcome = try await engine.loop.run { [engine] in
      engine.value.trickle(fragment, route, token: token, if: condition)
    }.get()
    switch outcome {
    case .taken: return HTTPResponse(status: 204)
    case .restarted(let answer, let generation):
      var response = HTTPResponse(
        status: 200, contentType: SDPFragment.mediaType, text: answer.text)
      response.headers["ETag"] = "\"\(generation)\""
      return response
    }
  }
}
