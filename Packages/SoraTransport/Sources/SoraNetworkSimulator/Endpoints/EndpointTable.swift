import SoraICE
import SoraMedia

/// Who is bound to which address of a simulated network, and when each is asked for its deadline.
///
/// Nothing here calls an endpoint: it might come back to the network.
struct EndpointTable {
  private struct Record {
    /// nil once it was removed, so that nothing keeps it alive.
    var endpoint: (any SimulatedEndpoint)?
    let host: SimulatedHost
    /// The time of the earliest event for it; `.max` for none.
    var scheduled: Int64 = .max
    /// Keeps an endpoint whose deadline doesn't move from stopping the time.
    var notBefore: Int64 = .min
  }

  private var bindings: [TransportAddress: Int] = [:]
  private var records: [Record] = []

  var indices: Range<Int> { records.indices }

  /// nil for one that was removed.
  func endpoint(_ index: Int) -> (any SimulatedEndpoint)? { records[index].endpoint }

  func host(of index: Int) -> SimulatedHost { records[index].host }

  /// Who is bound to an address.
  func bound(to address: TransportAddress) -> Int? { bindings[address] }

  /// Binds an endpoint to an address of a host. nil where another one is bound to it.
  mutating func bind(
    _ endpoint: any SimulatedEndpoint, to address: TransportAddress, of host: SimulatedHost
  ) -> Int? {
    guard bindings[address] == nil else { return nil }
    let known = host.endpoints.first { records[$0].endpoint === endpoint }
    let index = known ?? records.count
    if known == nil {
      records.append(Record(endpoint: endpoint, host: host))
      host.endpoints.append(index)
    }
    bindings[address] = index
    return index
  }

  mutating func unbind(_ address: TransportAddress) { bindings[address] = nil }

  mutating func remove(_ endpoint: any SimulatedEndpoint) {
    for index in records.indices where records[index].endpoint === endpoint { remove(index) }
  }

  mutating func removeAll() {
    for index in records.indices where records[index].endpoint != nil { remove(index) }
  }

  private mutating func remove(_ index: Int) {
    records[index].endpoint = nil
    records[index].host.endpoints.removeAll { $0 == index }
    bindings = bindings.filter { $0.value != index }
  }

  // MARK: Deadlines

  /// Notes an endpoint's deadline. Gives the time of a new event for it, where none comes as early.
  mutating func schedule(_ index: Int, _ deadline: Instant, at now: Instant) -> Int64? {
    let time = max(deadline.nanoseconds, now.nanoseconds, records[index].notBefore)
    guard time < records[index].scheduled, time < .max else { return nil }
    records[index].scheduled = time
    return time
  }

  /// An event has come. False where an earlier one has taken its place.
  mutating func take(_ index: Int, scheduled: Int64) -> Bool {
    guard records[index].scheduled == scheduled, records[index].endpoint != nil else {
      return false
    }
    records[index].scheduled = .max
    return true
  }

  /// Asks it no more before a time.
  mutating func holdBack(_ index: Int, until time: Int64) { records[index].notBefore = time }
}
