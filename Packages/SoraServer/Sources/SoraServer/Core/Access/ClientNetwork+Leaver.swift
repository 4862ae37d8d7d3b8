package import SoraWire

extension ClientNetwork {
  /// Who makes room for a newcomer where all places are taken: the oldest of the network that has most, if that has more than the
  /// newcomer's will have. So who takes all places takes them from itself.
  ///
  /// - Parameters:
  ///   - occupants: who may have to go, the oldest first; those of unknown networks stay.
  ///   - newcomer: where the newcomer comes from. Nobody goes for one of whom that isn't known.
  package static func leaver<Occupant>(
    of occupants: [(Occupant, ClientNetwork?)], for newcomer: ClientNetwork?
  ) -> Occupant? {
    guard let newcomer else { return nil }
    var counts: [ClientNetwork: Int] = [:]
    for case (_, let network?) in occupants { counts[network, default: 0] += 1 }
    guard let most = counts.values.max(), most > counts[newcomer, default: 0] + 1 else {
      return nil
    }
    return occupants.first { $0.1.map { counts[$0] } == most }?.0
  }
}
