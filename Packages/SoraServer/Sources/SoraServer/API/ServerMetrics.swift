import SoraCluster
import SoraSignalingMessages
import SoraVersion

/// What a server counts, at one moment.
struct ServerMetrics: Sendable {
  /// Connections that can carry media, and those that are on their way there.
  var connected: Int
  var connecting: Int
  var channels: Int
  var totals: SFUTotals
  var access: AccessMetrics
  /// nil where the server is alone.
  var cluster: ClusterStatus?

  /// As `GetStatsReport` has it. Names down to that of failed connections are Sora's, which the official exporter reads.
  var report: JSONValue {
    [
      "version": .string(SoraVersion.current),
      "total_ongoing_connections": .integer(Int64(connected)),
      "total_connection_created": Self.number(totals.connections),
      "total_successful_connections": Self.number(totals.connections),
      "total_failed_connections": Self.number(totals.refusals),
      "channels": .integer(Int64(channels)),
      "packets_received": Self.number(totals.packetsReceived),
      "packets_sent": Self.number(totals.packetsSent),
      "bytes_received": Self.number(totals.bytesReceived),
      "bytes_sent": Self.number(totals.bytesSent),
      "auth_webhook_failures": Self.number(access[.authWebhookFailure]),
      "events_delivered": Self.number(access[.eventsDelivered]),
      "events_dropped": Self.number(access[.eventsDropped]),
    ]
  }

  private static func number(_ count: UInt64) -> JSONValue { .integer(Int64(clamping: count)) }

  /// Prometheus' text format, version 0.0.4.
  var text: String {
    var page = PrometheusPage()
    page.add("sora_connections", .gauge, "Connections that can carry media.", UInt64(connected))
    page.add(
      "sora_connections_pending", .gauge, "Connections on their way to media.", UInt64(connecting))
    page.add("sora_channels", .gauge, "Channels with connections.", UInt64(channels))
    page.add(
      "sora_connections_created_total", .counter, "Connections that could carry media.",
      totals.connections)
    page.add(
      "sora_refusals_total", .counter, "Clients turned away before they connected.",
      totals.refusals)
    page.add(
      "sora_packets_total", .counter, "Datagrams of connections.",
      [
        ("direction=\"received\"", totals.packetsReceived),
        ("direction=\"sent\"", totals.packetsSent),
      ])
    page.add(
      "sora_bytes_total", .counter, "Bytes of datagrams of connections.",
      [
        ("direction=\"received\"", totals.bytesReceived), ("direction=\"sent\"", totals.bytesSent),
      ])
    page.add(
      "sora_dropped_total", .counter, "Packets and messages that were dropped, by reason.",
      SFUDropped.reasons.map {
        ("reason=\"\($0.name)\"", UInt64(clamping: totals.dropped[keyPath: $0.count]))
      })
    page.add(
      "sora_access_refusals_total", .counter, "Clients that tokens or the webhook didn't let in.",
      access[.refusals])
    page.add(
      "sora_auth_webhook_failures_total", .counter,
      "Questions to the authentication webhook without a usable reply.",
      access[.authWebhookFailure])
    page.add(
      "sora_event_webhook_events_total", .counter, "Events by what became of them.",
      [
        ("result=\"delivered\"", access[.eventsDelivered]),
        ("result=\"dropped\"", access[.eventsDropped]),
      ])
    page.add(
      "sora_event_webhook_failed_tries_total", .counter,
      "Tries to hand over an event that failed.", access[.eventTriesFailed])
    if let cluster { page.add(cluster) }
    return page.text
  }
}

/// Writes metrics for Prometheus.
struct PrometheusPage {
  enum Kind: String {
    case counter, gauge
  }

  private(set) var text = ""

  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: UInt64) {
    add(name, kind, help, [("", value)])
  }

  /// - Parameter samples: labels as they are written between braces, and values.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: String, value: UInt64)]
  ) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      text += name + (sample.labels.isEmpty ? "" : "{\(sample.labels)}") + " \(sample.value)\n"
    }
  }
}
