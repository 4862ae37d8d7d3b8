import ArgumentParser
import SoraCommandSupport
import SoraServer
import SoraSignalingMessages

/// Options of `sora serve` about spotlights, for clients that ask for nothing else.
struct ServeSpotlightOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How many people are in a channel's spotlight, 1 to 8, where nobody says.",
      valueName: "count"))
  var spotlightNumber = 5

  @Option(
    help: ArgumentHelp("Layer of who is in the spotlight.", valueName: "rid"),
    completion: .list(["none", "r0", "r1", "r2"]))
  var spotlightFocusRid = "r1"

  @Option(
    help: ArgumentHelp(
      "Layer of who isn't in the spotlight; none for no video of them.", valueName: "rid"),
    completion: .list(["none", "r0", "r1", "r2"]))
  var spotlightUnfocusRid = "r0"

  @Option(
    help: ArgumentHelp(
      "Seconds that somebody has to speak for a place, 0.02 to 1.5.", valueName: "seconds"))
  var spotlightDelay = 0.5

  func configuration() throws(UsageError) -> SFUSpotlightConfiguration {
    var spotlight = SFUSpotlightConfiguration()
    guard (1...8).contains(spotlightNumber) else {
      throw UsageError("--spotlight-number \(spotlightNumber): use 1 to 8")
    }
    spotlight.number = spotlightNumber
    spotlight.rids = SFUSpotlightRids(
      focus: try Self.rid(spotlightFocusRid, of: "--spotlight-focus-rid"),
      unfocus: try Self.rid(spotlightUnfocusRid, of: "--spotlight-unfocus-rid"))
    guard (0.02...1.5).contains(spotlightDelay) else {
      throw UsageError("--spotlight-delay \(spotlightDelay): use 0.02 to 1.5 seconds")
    }
    spotlight.delay = .seconds(spotlightDelay)
    return spotlight
  }

  private static func rid(_ text: String, of option: String) throws(UsageError) -> SignalingRid {
    guard let rid = SignalingRid(rawValue: text) else {
      throw UsageError("\(option) \(text): use none, r0, r1 or r2")
    }
    return rid
  }
}
