/// The channels that have their place on this node, and what the store has to be told of them.
struct ClusterPlaces {
  private struct Place {
    /// Clients that are let in and aren't connected yet.
    var holds = 0
    var isOccupied = false

    var isEmpty: Bool { holds == 0 && !isOccupied }
  }

  enum Settlement {
    case isThere, isMissing
  }

  private var places: [String: Place] = [:]
  private var toKeep: [String] = []
  private var toFree: [String] = []
  /// Of one request: a script shouldn't hold up the others' for long.
  private static let batch = 200

  var count: Int { places.count }
  var hasWork: Bool { !toKeep.isEmpty || !toFree.isEmpty }

  func contains(_ channel: String) -> Bool { places[channel] != nil }

  /// A client is let in.
  ///
  /// - Parameter ifThere: not where the channel hasn't its place here.
  /// - Returns: whether it is.
  @discardableResult
  mutating func hold(_ channel: String, ifThere: Bool) -> Bool {
    guard places[channel] != nil || !ifThere else { return false }
    places[channel, default: Place()].holds += 1
    return true
  }

  /// A client that was let in is connected, or has gone.
  mutating func settle(_ channel: String, isOccupied: Bool) -> Settlement {
    guard var place = places[channel] else { return .isMissing }
    place.holds = max(0, place.holds - 1)
    place.isOccupied = isOccupied
    put(place, channel)
    return .isThere
  }

  mutating func emptied(_ channel: String) {
    guard var place = places[channel] else { return }
    place.isOccupied = false
    put(place, channel)
  }

  private mutating func put(_ place: Place, _ channel: String) {
    places[channel] = place.isEmpty ? nil : place
    if place.isEmpty { toFree.append(channel) }
  }

  /// Another node has it. Whether it was here.
  mutating func lose(_ channel: String) -> Bool { places.removeValue(forKey: channel) != nil }

  /// The store is to hear of all of them.
  mutating func askForAll() { toKeep = places.keys.sorted() }

  mutating func ask(for channels: [String]) { toKeep += channels }

  mutating func free(_ channels: [String]) { toFree = channels + toFree }

  /// What the store is to hear of as being here still; nil for nothing.
  mutating func nextToKeep() -> [String]? {
    let channels = Self.take(&toKeep).filter { places[$0] != nil }
    return channels.isEmpty ? nil : channels
  }

  /// What it is to hear of as being free; nil for nothing.
  mutating func nextToFree() -> [String]? {
    // Somebody may have come back meanwhile.
    let channels = Self.take(&toFree).filter { places[$0] == nil }
    return channels.isEmpty ? nil : channels
  }

  private static func take(_ list: inout [String]) -> [String] {
    let taken = Array(list.prefix(batch))
    list.removeFirst(taken.count)
    return taken
  }
}
