import SoraClock
import SoraCluster
import SoraMedia
import SoraSignaling
import SoraTransport

/// A server's part in a cluster, and what the others are told of it. Must be shut down.
final class ServerCluster: Sendable {
  let member: Cluster
  private let reporting: Task<Void, Never>

  /// How often the load is counted; the others are told of it twice a second.
  private static let interval = Duration.milliseconds(500)

  /// - Throws: `invalidConfiguration` where hiredis is missing.
  init(
    _ settings: ServerConfiguration.Cluster, _ configuration: ServerConfiguration, url: String,
    apiURL: String?, _ engine: LoopBound<ServerEngine>
  ) async throws(SignalingError) {
    let id = await engine.loop.run { engine.value.core.makeIdentifier() }
    var node = ClusterNode(
      id: id, url: settings.nodeURL ?? url, apiURL: settings.nodeAPIURL ?? apiURL)
    node.load.maximumConnections = configuration.access.maximumConnections
    do throws(ClusterError) {
      member = try Cluster(settings.redis, node, logger: configuration.logger) { channel in
        engine.loop.execute { engine.value.giveUp(channelID: channel) }
      }
    } catch {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration, field: "cluster.redis",
        detail: "\(error)", wayOut: "install the library, or leave the cluster out")
    }
    reporting = Task { [member, load = node.load] in
      var (load, last) = (load, (SystemClock.now, UInt64(0)))
      while (try? await Task.sleep(for: Self.interval)) != nil {
        let (counters, channels, sent) = await engine.loop.run {
          let core = engine.value.core
          return (core.counters, core.channelIDs.count, core.totals.packetsSent)
        }
        let now = SystemClock.now
        load.connections = counters.connected + counters.connecting
        load.channels = channels
        let seconds = Double(now.nanoseconds(since: last.0)) / 1e9
        if last.1 > 0, seconds > 0 {
          load.packetsPerSecond = Int(Double(sent &- last.1) / seconds)
        }
        last = (now, sent)
        member.report(load)
      }
    }
  }

  /// Tells the others that this server goes.
  func shutdown() async {
    reporting.cancel()
    await member.leave()
  }
}
