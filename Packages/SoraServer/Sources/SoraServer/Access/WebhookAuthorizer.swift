import Logging
import SoraClock
import SoraSignalingMessages
import SoraVersion

/// Asks an authentication webhook about each client, as Sora does.
struct WebhookAuthorizer: Authorizer {
  private let webhook: ServerConfiguration.Webhook
  private let client: WebhookClient
  private let metrics: AccessMetrics

  init(_ webhook: ServerConfiguration.Webhook, _ client: WebhookClient, _ metrics: AccessMetrics) {
    self.webhook = webhook
    self.client = client
    self.metrics = metrics
  }

  func authorize(_ applicant: AccessApplicant) async -> AccessDecision {
    do throws(WebhookError) {
      let reply = try await client.post(
        Self.request(applicant), to: webhook,
        headers: [("sora-connection-id", applicant.asked.connectionID)])
      return try Self.decision(reply)
    } catch {
      metrics.count(.authWebhookFailure)
      return .refused(reason: "AUTH-WEBHOOK-ERROR: try again later", detail: "\(error)")
    }
  }

  // MARK: What is asked

  /// What the client wants, with what was settled already.
  static func request(_ applicant: AccessApplicant) -> JSONValue {
    let connect = applicant.effective
    let asked = applicant.asked
    var fields: [String: JSONValue] = [
      "timestamp": .string(
        TimestampText.rfc3339(unixNanoseconds: SystemClock.realtimeNanoseconds)),
      "version": .string(SoraVersion.current),
      "role": .string(connect.role.rawValue), "channel_id": .string(connect.channelID),
      "connection_id": .string(asked.connectionID), "multistream": true,
      "simulcast": .bool(connect.simulcast ?? false),
      "spotlight": .bool(connect.spotlight ?? false),
      "data_channel_signaling": .bool(connect.dataChannelSignaling ?? asked.usesDataChannels),
      "ignore_disconnect_websocket": .bool(connect.ignoreDisconnectWebSocket ?? false),
      "sora_client": client(connect),
    ]
    if let address = applicant.origin.address { fields["remote_address"] = .string(address) }
    if let text = applicant.origin.forwardedFor { fields["x_forwarded_for"] = .string(text) }
    fields.merge(asked.counters.json) { $1 }
    // Sora sends these as they are in `connect`; who names neither has its connection's id as both.
    for key in Self.passed { fields[key] = connect.json[key] }
    fields["client_id"] = .string(connect.clientID ?? asked.connectionID)
    fields["bundle_id"] = .string(connect.bundleID ?? asked.connectionID)
    fields.merge(media(connect)) { $1 }
    return .object(fields)
  }

  private static let passed = [
    "metadata", "simulcast_rid", "simulcast_request_rid",
    "spotlight_number", "spotlight_focus_rid", "spotlight_unfocus_rid", "data_channels",
    "forwarding_filter", "forwarding_filters", "audio_streaming_language_code",
    "signaling_notify_metadata",
  ]

  private static func media(_ connect: ConnectMessage) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [
      "audio": .bool(connect.audio?.isEnabled ?? true),
      "video": .bool(connect.video?.isEnabled ?? true),
    ]
    for (kind, options) in [
      ("audio", connect.audio?.options?.json), ("video", connect.video?.options?.json),
    ] {
      // `codec_type` is `audio_codec_type` there, and so on.
      for (key, value) in options?.objectValue ?? [:] { fields["\(kind)_\(key)"] = value }
    }
    return fields
  }

  private static func client(_ connect: ConnectMessage) -> JSONValue {
    var fields: [String: JSONValue] = [:]
    if let text = connect.soraClient {
      fields["raw"] = .string(text)
      // "Sora iOS SDK 2025.1.1"
      let words = text.split(separator: " ")
      if words.count >= 2, words[0] == "Sora", let last = words.last,
        last.first?.isNumber == true
      {
        fields["type"] = .string(words.dropLast().joined(separator: " "))
        fields["version"] = .string(String(last))
      }
    }
    if let text = connect.environment { fields["environment"] = .string(text) }
    if let text = connect.webRTCVersion { fields["libwebrtc"] = .string(text) }
    return .object(fields)
  }

  // MARK: What is replied

  static func decision(_ reply: [UInt8]) throws(WebhookError) -> AccessDecision {
    do throws(SignalingError) {
      let json = try JSONValue(parsing: reply)
      guard case .object(let fields) = json, case .bool(let isAllowed)? = fields["allowed"] else {
        throw SignalingError(
          stage: .message, code: .missingField, field: "allowed",
          detail: "it has no allowed, true or false",
          wayOut: #"reply with {"allowed": true} or {"allowed": false, "reason": "..."}"#)
      }
      guard isAllowed else {
        let reason = fields["reason"]?.stringValue ?? ""
        return .refused(
          reason: reason.isEmpty ? "AUTH-WEBHOOK-REFUSED" : reason,
          detail: reason.isEmpty ? nil : "the webhook says: \(reason.prefix(200))")
      }
      let settings = try GrantSettings.read(json, path: "reply")
      try settings.check(path: "reply")
      return .granted(settings)
    } catch {
      throw .notJSON(error.shortText)
    }
  }
}

extension SFUCounters {
  /// As notifications and webhooks have them.
  var json: [String: JSONValue] {
    [
      "channel_connections": .integer(Int64(total)),
      "channel_sendrecv_connections": .integer(Int64(sendrecv)),
      "channel_sendonly_connections": .integer(Int64(sendonly)),
      "channel_recvonly_connections": .integer(Int64(recvonly)),
    ]
  }
}
