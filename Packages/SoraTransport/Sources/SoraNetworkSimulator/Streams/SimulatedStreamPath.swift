import SoraICE
import SoraMedia

/// The links between the ends of a stream, in one direction.
struct SimulatedStreamPath {
  var directions: [Int32]
  /// The node at the start and its address: a stream stalls while the host doesn't have it.
  var node: Int
  var address: IPAddress
  /// Likewise at the end.
  var farNode: Int
  var farAddress: IPAddress

  /// The same way back.
  var reversed: SimulatedStreamPath {
    SimulatedStreamPath(
      directions: directions.reversed().map { $0 ^ 1 }, node: farNode, address: farAddress,
      farNode: node, farAddress: address)
  }
}
