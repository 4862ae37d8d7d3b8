/// Finds out whose doing loss is: the rate falls, and what of the loss stays isn't made by it. Who drops what is beyond a rate drops
/// nothing any more then.
struct LossTrial {
  enum Verdict {
    case undecided
    /// This share of all packets is lost at any rate.
    case inherent(Double)
    /// At the lower rate only this share is lost, or too much to go on with.
    case made(Double)
  }

  /// To what of the rate a fall has to bring it before its effect is judged. With less of one, bursts into a queue of 20 ms pass for
  /// loss that the rate doesn't make.
  private static let enoughFall = 0.7
  /// What is tried where the rate doesn't fall by itself.
  private static let lower = 0.68
  /// Packets behind the fall until there may be a verdict, and until there is one.
  private static let enoughToJudge = 100
  private static let enoughToDecide = 400
  /// What of the loss has to stay: to be sure at once, and in the end. With less than the last one it has gone.
  private static let staying = 0.85
  private static let stayingInTheEnd = 0.75
  private static let vanishing = 0.5
  /// More isn't discounted.
  private static let largestInherent = 0.3

  /// Where it began, and what was lost there.
  let rate: Double
  private var loss: Double
  private var lost = 0
  private var count = 0

  init(rate: Double, loss: Double) {
    self.rate = rate
    self.loss = loss
  }

  /// The rate to try.
  var lowerRate: Double { Self.lower * rate }

  /// Whether what is lost at a rate counts.
  func isJudged(at rate: Double) -> Bool { rate < Self.enoughFall * self.rate }

  /// Counts a window of packets that were sent at a rate. Until that is low enough, what is lost on average is still the loss to compare with.
  mutating func add(_ lost: Int, of count: Int, at rate: Double, average: Double) -> Verdict {
    guard isJudged(at: rate) else {
      loss = max(loss, average)
      return .undecided
    }
    self.lost += lost
    self.count += count
    guard self.count >= Self.enoughToJudge else { return .undecided }
    let share = Double(self.lost) / Double(self.count)
    let isDecided = self.count >= Self.enoughToDecide
    let enough = (isDecided ? Self.stayingInTheEnd : Self.staying) * loss
    if share > enough, share <= Self.largestInherent { return .inherent(share) }
    return isDecided || share < Self.vanishing * loss ? .made(share) : .undecided
  }
}
