import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraServer

/// A server and the clients around it, each behind a link of its own.
struct Room {
  let network: SimulatedNetwork
  let hub: SimulatedHost
  let server: SimulatedServer

  init(
    _ network: SimulatedNetwork, _ hub: SimulatedHost,
    configure: (inout SFUCore.Configuration) -> Void = { _ in }
  ) throws {
    self.network = network
    self.hub = hub
    server = try SimulatedServer(
      network, address: TransportAddress(ip: hub.addresses[0], port: 5000),
      signalingDelay: .milliseconds(20), configure: configure)
  }

  func join(
    _ name: String, _ number: Int, role: SFURole, _ conditions: LinkConditions,
    gathering: ICEGatherer.Configuration = ICEGatherer.Configuration(),
    change: (inout ConnectMessage) -> Void = { _ in },
    edit: @escaping (String) -> String = { $0 }
  ) throws -> SimulatedClient {
    let host = network.addHost(name, "10.0.0.\(number + 1)")
    let link = network.link(host, hub, conditions)
    var request = ConnectMessage(role: role, channelID: "room") {
      $0.video = .options(VideoOptions { $0.codecType = "VP8" })
    }
    change(&request)
    let client = try SimulatedClient(
      name, number, network, on: host, over: link, server: server, request: request,
      gathering: gathering,
      edit: edit)
    client.connect()
    return client
  }
}
