import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

/// The example of the package's README.
@Suite struct ReadMeExampleTests {
  @Test func aCallGetsOutOfAnOfficeThroughTURNOverTLS() throws {
    let network = SimulatedNetwork(seed: 7)
    let internet = network.addRouter("internet")
    let home = network.addNAT(
      "home", .symmetric, outside: [IPAddress("198.51.100.1")!], uplink: internet)
    let office = network.addFirewall("office", .noDatagrams, uplink: internet)
    let hosts = ["10.0.0.2", "203.0.113.2", "192.0.2.1"].map { network.addHost($0, $0) }
    for (host, router) in zip(hosts, [home.router, office.router, internet]) {
      network.link(host, router, LinkConditions(delay: .milliseconds(20), loss: 0.02))
    }
    let turn = SimulatedTURNServer(
      network, on: hosts[2], configuration: .init(realm: "test", credentials: .users(["me": "pw"])))
    var setup = SimulatedTransportPeer.Configuration()
    setup.servers = [
      ICEServer(
        url: ICEServerURL("turns:192.0.2.1")!, credentials: .init(username: "me", password: "pw"))
    ]
    let a = try SimulatedTransportPeer(network, on: hosts[0], serial: 1, isControlling: true, setup)
    let b = try SimulatedTransportPeer(
      network, on: hosts[1], serial: 2, isControlling: false, setup)
    a.connect(with: b)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    #expect(b.selectedTypes == [.relay, .relay] && turn.server.allocationCount == 2)
    network.removeAllEndpoints()
  }
}
