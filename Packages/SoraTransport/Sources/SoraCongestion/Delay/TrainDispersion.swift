/// Whether a path has room to spare, as the packets of frames show: they leave at a multiple of the rate, and where no packet of such
/// a train waits for the one before, the path carries that multiple, too.
///
/// The slope of the delay over the time of leaving is fitted within the trains, over many of them (least squares), so that jitter averages
/// out: zero where there is room, the excess of the train's rate where there is none. Times in nanoseconds.
struct TrainDispersion {
  /// Packets that leave closer than this belong together.
  private static let gap: Int64 = 10_000_000
  private static let enoughTrains = 10
  /// How many trains are remembered: older ones weigh less.
  private static let memory = 12.0
  /// A slope below this, doubts included, is none.
  private static let flat = 0.25

  private struct Train {
    var firstSend: Int64
    var lastSend: Int64
    var firstTrip: Int64
    var count = 0.0
    var sumX = 0.0
    var sumY = 0.0
    var squaresX = 0.0
    var squaresY = 0.0
    var products = 0.0
  }

  private var train: Train?
  private var trains = 0
  private var points = 0.0
  private var squaresX = 0.0
  private var squaresY = 0.0
  private var products = 0.0

  /// Forgets what was seen: the path is about to be another one.
  mutating func reset() { self = TrainDispersion() }

  /// Takes a packet that arrived, in the order of leaving.
  mutating func arrived(sent: Int64, at arrival: Int64) {
    let trip = arrival &- sent
    guard var current = train, sent >= current.lastSend, sent &- current.lastSend < Self.gap else {
      finish()
      train = Train(firstSend: sent, lastSend: sent, firstTrip: trip, count: 1)
      return
    }
    let x = Double(sent &- current.firstSend) / 1e6
    let y = Double(trip &- current.firstTrip) / 1e6
    current.lastSend = sent
    current.count += 1
    current.sumX += x
    current.sumY += y
    current.squaresX += x * x
    current.squaresY += y * y
    current.products += x * y
    train = current
  }

  private mutating func finish() {
    guard let train, train.count >= 2, train.lastSend > train.firstSend else { return }
    let keep = 1 - 1 / Self.memory
    points = points * keep + train.count - 1
    squaresX = squaresX * keep + train.squaresX - train.sumX * train.sumX / train.count
    squaresY = squaresY * keep + train.squaresY - train.sumY * train.sumY / train.count
    products = products * keep + train.products - train.sumX * train.sumY / train.count
    trains = min(trains + 1, 1_000)
  }

  /// Whether the latest trains passed without waiting.
  var showsRoom: Bool {
    guard trains >= Self.enoughTrains, points > 2, squaresX > 0 else { return false }
    let slope = products / squaresX
    let residual = max(0, squaresY - slope * products) / (points - 1)
    return slope + 2 * (residual / squaresX).squareRoot() < Self.flat
  }
}
