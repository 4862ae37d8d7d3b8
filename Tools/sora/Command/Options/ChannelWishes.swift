import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK
import SoraSignaling

/// Options about a connection's part in the channel and what it asks to be sent: of `publish` and `play`.
struct ChannelWishes: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "sendrecv: send and receive, whichever the command itself is about.", valueName: "role"),
    completion: .list(["sendonly", "recvonly", "sendrecv"]))
  var role: String?

  @Flag(help: "Ask for simulcast: send the layers that the server offers, or receive one of them.")
  var simulcast = false

  @Option(
    name: [.customLong("rid"), .customLong("simulcast-rid")],
    help: ArgumentHelp(
      "The layer to receive at first of those who send several: r0 (the lowest), r1, r2, or none; asks for simulcast.",
      valueName: "rid"),
    completion: .list(Self.rids))
  var rid: String?

  @Flag(help: "Ask for spotlight: who speaks comes to the front.")
  var spotlight = false

  @Option(
    help: ArgumentHelp(
      "How many are in front, 1 to 8; asks for spotlight.", valueName: "number"))
  var spotlightNumber: Int?

  @Option(
    help: ArgumentHelp(
      "The layer to receive of who is in front: none, r0, r1 or r2; asks for spotlight.",
      valueName: "rid"),
    completion: .list(Self.rids))
  var spotlightFocusRid: String?

  @Option(
    help: ArgumentHelp(
      "The layer to receive of the others: none, r0, r1 or r2; asks for spotlight.",
      valueName: "rid"),
    completion: .list(Self.rids))
  var spotlightUnfocusRid: String?

  @Option(
    help: ArgumentHelp(
      "Which media of others not to be sent, as JSON: '{\"action\": \"block\", \"rules\": [[{\"field\": \"kind\", \"operator\": \"is_in\", \"values\": [\"audio\"]}]]}'; give it again for another.",
      valueName: "json"))
  var forwardingFilter: [String] = []

  private static let rids = ["none", "r0", "r1", "r2"]

  /// The role to take.
  ///
  /// - Parameter usual: what the command does without `--role`; it has to do that much with it, too.
  func role(usual: Role) throws(UsageError) -> Role {
    guard let role else { return usual }
    guard let chosen = Role(rawValue: role), chosen == usual || chosen == .sendrecv else {
      let other = usual == .recvonly ? "; publish sends" : "; play receives"
      throw UsageError("--role \(role): use \(usual) or sendrecv here\(other)")
    }
    return chosen
  }

  /// Gives a configuration what the options say.
  func apply(to configuration: inout SoraSDK.Configuration) throws(UsageError) {
    configuration.simulcastEnabled = simulcast || rid != nil
    if let rid {
      guard configuration.role != .sendonly else {
        throw UsageError("--rid \(rid): nothing is received; leave it out, or add --role sendrecv")
      }
      configuration.simulcastRequestRid = try layer("--rid", rid)
      // For servers before 2025.2, which know no other; it has no word for no video.
      configuration.simulcastRid = SimulcastRid(rawValue: rid)
    }
    if let number = spotlightNumber, !(1...8).contains(number) {
      throw UsageError("--spotlight-number \(number): use 1 to 8")
    }
    let isAsked =
      spotlight || spotlightNumber != nil || spotlightFocusRid != nil || spotlightUnfocusRid != nil
    configuration.spotlightEnabled = isAsked ? .enabled : .disabled
    configuration.spotlightNumber = spotlightNumber
    if let rid = spotlightFocusRid {
      configuration.spotlightFocusRid = try layer("--spotlight-focus-rid", rid)
    }
    if let rid = spotlightUnfocusRid {
      configuration.spotlightUnfocusRid = try layer("--spotlight-unfocus-rid", rid)
    }
    let filters = try filters()
    // One alone goes in the older key, which all servers know.
    if filters.count == 1 {
      configuration.forwardingFilter = filters[0]
    } else if !filters.isEmpty {
      configuration.forwardingFilters = filters
    }
  }

  /// A layer in the words of the configuration.
  private func layer<Layer: RawRepresentable<String>>(
    _ option: String, _ text: String
  ) throws(UsageError) -> Layer {
    guard Self.rids.contains(text), let layer = Layer(rawValue: text) else {
      throw UsageError("\(option) \(text): use none, r0, r1 or r2")
    }
    return layer
  }

  private func filters() throws(UsageError) -> [SoraSDK.ForwardingFilter] {
    var found: [SoraSDK.ForwardingFilter] = []
    for text in forwardingFilter {
      let json = try JSONOption.read(text, of: "--forwarding-filter")
      do {
        found.append(
          try JSONDecoder().decode(SoraSDK.ForwardingFilter.self, from: Data(json.text.utf8)))
      } catch {
        throw UsageError("--forwarding-filter: no filter: \(error)".inOneLine)
      }
    }
    return found
  }
}
