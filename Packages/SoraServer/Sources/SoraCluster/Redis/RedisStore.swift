import SoraClock
import SoraMedia

/// The nodes' common store in a Redis. Blocks for the connection's time-out at most; where it connects, for its host's name and the
/// connection, too. Confined to one thread.
public final class RedisStore {
  private let address: RedisAddress
  private let id: String
  private let timing: ClusterTiming
  private let timeout: Duration
  private let host: RedisHost
  private var connection: RedisConnection?
  /// Which of the host's addresses is tried first.
  private var place = 0

  /// - Parameters:
  ///   - address: where the Redis is.
  ///   - id: the node's own.
  ///   - timing: the times of the cluster.
  ///   - timeout: for connecting and for each reply.
  public convenience init(
    _ address: RedisAddress, id: String, timing: ClusterTiming = ClusterTiming(),
    timeout: Duration = .seconds(1)
  ) {
    self.init(
      address, at: RedisHost(address.host), id: id, timing: timing, timeout: timeout)
  }

  /// One whose host is found otherwise than by the system.
  package init(
    _ address: RedisAddress, at host: RedisHost, id: String,
    timing: ClusterTiming = ClusterTiming(), timeout: Duration = .seconds(1)
  ) {
    self.address = address
    self.host = host
    self.id = id
    self.timing = timing
    self.timeout = timeout
  }

  /// Whether hiredis is there.
  ///
  /// - Throws: `ClusterError.noLibrary`.
  public static func check() throws(ClusterError) { try RedisConnection.load() }

  /// Asks one thing. The next connects anew where this one fails.
  ///
  /// - Parameter request: what the policy wants to know.
  /// - Returns: the reply.
  /// - Throws: why there is none.
  public func perform(_ request: ClusterRequest) throws(ClusterError) -> ClusterReply {
    do throws(ClusterError) {
      let open: RedisConnection
      if let connection { open = connection } else { open = try connect() }
      return try reply(to: request, open.run(command(request)))
    } catch {
      connection = nil
      throw error
    }
  }

  private func connect() throws(ClusterError) -> RedisConnection {
    let hosts = try host.addresses(within: timeout)
    let begun = SystemClock.now
    var failure = ClusterError.unreachable("its host has no address")
    // One that answers nothing takes all the time there is; the next connection tries another first.
    for _ in hosts where SystemClock.now - begun < timeout {
      do throws(ClusterError) {
        let made = try RedisConnection(address, at: hosts[place % hosts.count], timeout: timeout)
        connection = made
        return made
      } catch {
        guard case .unreachable = error else { throw error }
        failure = error
        place &+= 1
      }
    }
    throw failure
  }

  private var nodePrefix: String { ClusterScripts.node("") }

  private func command(_ request: ClusterRequest) -> [String] {
    switch request {
    case .beat(let node):
      let load = node.load
      return evaluate(
        ClusterScripts.beat, [ClusterScripts.nodes],
        [
          nodePrefix, id, milliseconds(timing.lease), node.url, node.apiURL ?? "",
          "\(load.connections)", "\(load.channels)", "\(load.packetsPerSecond)",
          "\(load.maximumConnections)", node.isDraining ? "1" : "0",
        ])
    case .place(let channel, let candidate):
      return evaluate(
        ClusterScripts.place, [ClusterScripts.channel(channel)],
        [nodePrefix, id, candidate, milliseconds(timing.place)])
    case .keep(let channels, let isDraining):
      return evaluate(
        ClusterScripts.keep, channels.map(ClusterScripts.channel),
        [nodePrefix, id, milliseconds(timing.place), isDraining ? "1" : "0"])
    case .free(let channels):
      return evaluate(ClusterScripts.free, channels.map(ClusterScripts.channel), [id])
    case .find(let channel):
      return evaluate(ClusterScripts.find, [ClusterScripts.channel(channel)], [nodePrefix])
    case .leave:
      return evaluate(ClusterScripts.leave, [ClusterScripts.nodes, ClusterScripts.node(id)], [id])
    }
  }

  private func evaluate(_ script: String, _ keys: [String], _ arguments: [String]) -> [String] {
    ["EVAL", script, "\(keys.count)"] + keys + arguments
  }

  private func milliseconds(_ duration: Duration) -> String {
    "\(duration.wholeNanoseconds / 1_000_000)"
  }

  // MARK: Replies

  private func reply(
    to request: ClusterRequest, _ value: RedisValue
  ) throws(ClusterError) -> ClusterReply {
    switch request {
    case .beat:
      guard let rows = value.list else { throw Self.senseless("nodes") }
      // Somebody else's entry that makes no sense is no node, and no reason to be without the others.
      return .nodes(rows.compactMap { Self.peer($0) })
    case .place:
      guard let fields = value.list, fields.count == 4, let id = fields[0].text,
        let url = fields[1].text, let left = fields[2].number, let isNew = fields[3].number
      else { throw Self.senseless("a place") }
      return .placed(id: id, url: url, remaining: .milliseconds(left), isNew: isNew == 1)
    case .keep(let channels, _):
      guard let numbers = value.list?.compactMap(\.number) else { throw Self.senseless("places") }
      return .lost(
        numbers.filter { (1...Int64(channels.count)).contains($0) }.map { channels[Int($0) - 1] })
    case .find:
      guard let fields = value.list else { return .found(nil) }
      guard fields.count == 2, let id = fields[0].text, let url = fields[1].text else {
        throw Self.senseless("a node")
      }
      return .found(ClusterOwner(id: id, apiURL: url.isEmpty ? nil : url))
    case .free, .leave: return .done
    }
  }

  private static func peer(_ row: RedisValue) -> ClusterPeer? {
    guard let fields = row.list, fields.count == 9, let id = fields[0].text,
      let left = fields[1].number, let url = fields[2].text, let api = fields[3].text,
      let connections = fields[4].number, let channels = fields[5].number,
      let packets = fields[6].number, let most = fields[7].number
    else { return nil }
    var node = ClusterNode(id: id, url: url, apiURL: api.isEmpty ? nil : api)
    // Anything may stand there: sums of them don't overflow.
    node.load.connections = count(connections)
    node.load.channels = count(channels)
    node.load.packetsPerSecond = count(packets)
    node.load.maximumConnections = count(most)
    node.isDraining = fields[8].text == "1"
    return ClusterPeer(node: node, remaining: .milliseconds(min(left, 86_400_000)))
  }

  private static func count(_ number: Int64) -> Int { Int(min(max(0, number), 1 << 32)) }

  private static func senseless(_ what: String) -> ClusterError {
    .refused("the reply makes no sense as \(what)")
  }
}
