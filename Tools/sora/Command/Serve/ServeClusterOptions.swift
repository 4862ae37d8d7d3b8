import ArgumentParser
import Foundation
import SoraCluster
import SoraCommandSupport
import SoraICE
import SoraServer

/// Options of `sora serve` about other servers with the same channels.
struct ServeClusterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Share channels with the servers that use the same Redis or Valkey, redis://[[USER]:PASSWORD@]HOST:PORT[/DATABASE]. Without a password there, the one in SORA_CLUSTER_PASSWORD.",
      valueName: "url"))
  var cluster: String?

  @Option(
    help: ArgumentHelp(
      "The password of that Redis, in a file; spaces and line breaks around it don't count.",
      valueName: "file"),
    completion: .file())
  var clusterPasswordFile: String?

  @Option(
    help: ArgumentHelp(
      "This server's signaling URL, as clients that other servers send here reach it. Its own address by default.",
      valueName: "url"))
  var nodeURL: String?

  @Option(
    name: .customLong("node-api-url"),
    help: ArgumentHelp(
      "The URL of this server's HTTP API, as other servers reach it. Its own address by default.",
      valueName: "url"))
  var nodeAPIURL: String?

  /// - Parameters:
  ///   - host: what signaling listens on.
  ///   - apiHost: what the HTTP API listens on; nil where there is none.
  ///   - environment: of the process.
  func configuration(
    host: String, apiHost: String?, environment: [String: String]
  ) throws(UsageError) -> SoraServer.Configuration.Cluster? {
    guard let cluster else {
      let others = [
        ("--cluster-password-file", clusterPasswordFile), ("--node-url", nodeURL),
        ("--node-api-url", nodeAPIURL),
      ]
      for (name, value) in others where value != nil {
        throw UsageError("\(name): that is for servers of a cluster; add --cluster")
      }
      return nil
    }
    let password =
      try clusterPasswordFile.map(Self.password) ?? environment["SORA_CLUSTER_PASSWORD"]
    var settings: SoraServer.Configuration.Cluster
    do throws(ClusterError) {
      settings = .init(redis: try RedisAddress(cluster, password: password))
    } catch {
      // Without the URL: it may hold a password.
      throw UsageError("--cluster: \(error)")
    }
    if let nodeURL {
      do throws(UsageError) {
        settings.nodeURL = try ServerAccessOptions.signalingURL(nodeURL).absoluteString
      } catch {
        throw UsageError("--node-url: \(error)")
      }
    } else if IPAddress(host)?.isUnspecified == true {
      throw UsageError(
        "--node-url: with --host \(host), write the signaling URL by which clients reach this server"
      )
    }
    settings.nodeAPIURL = try apiURL(apiHost)
    return settings
  }

  private func apiURL(_ apiHost: String?) throws(UsageError) -> String? {
    guard let nodeAPIURL else {
      if let apiHost, IPAddress(apiHost)?.isUnspecified == true {
        throw UsageError(
          "--node-api-url: with --api-host \(apiHost), write the URL by which other servers reach the API"
        )
      }
      return nil
    }
    guard apiHost != nil else {
      throw UsageError("--node-api-url: there is no API; add --api-port")
    }
    guard let url = URL(string: nodeAPIURL), url.host?.isEmpty == false,
      ["http", "https"].contains(url.scheme?.lowercased()), url.user == nil, url.password == nil
    else { throw UsageError("--node-api-url: write http://HOST:PORT/") }
    return nodeAPIURL
  }

  private static func password(in path: String) throws(UsageError) -> String {
    let option = "--cluster-password-file"
    let password = try ServeAccessOptions.secret(in: path, of: option)
    guard !password.isEmpty else { throw UsageError("\(option) \(path): the file is empty") }
    return password
  }
}
