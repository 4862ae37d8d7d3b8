import SoraICE
import SoraMedia
import SoraWire
import Testing

/// What waits for an agent's owner, and how much of it.
@Suite struct ICEOutputTests {
  private let local = TransportAddress("10.0.0.1:1")!
  private let remote = TransportAddress("10.0.0.2:2")!

  @Test func whatIsTakenMakesRoom() {
    var output = ICEOutput()
    func send(_ number: Int) -> Bool {
      output.send(
        ICETransmit(local: local, remote: remote, bytes: [UInt8(truncatingIfNeeded: number)]))
    }
    for number in 0..<ICEOutput.datagramLimit {
      let isTaken = send(number)
      #expect(isTaken)
    }
    let isTooMuch = !send(0)
    #expect(isTooMuch)
    let first = output.nextDatagram()
    #expect(first?.bytes == [0])
    let isTaken = send(7)
    #expect(isTaken)
    var rest: [UInt8] = []
    while let datagram = output.nextDatagram() { rest += datagram.bytes }
    #expect(rest.count == ICEOutput.datagramLimit && rest.first == 1 && rest.last == 7)
  }

  @Test func eventsComeInTheirOrder() {
    var output = ICEOutput()
    output.tell(.consentLost)
    output.tell(.stateChanged(.failed))
    let (first, second, third) = (output.nextEvent(), output.nextEvent(), output.nextEvent())
    #expect(first == .consentLost && second == .stateChanged(.failed) && third == nil)
  }

  @Test func strangersGetOneAnswerInFiftyMilliseconds() {
    var output = ICEOutput()
    let answers = (0..<200).filter { output.mayAnswerStranger(at: .zero + .milliseconds($0)) }
    #expect(answers == [0, 50, 100, 150])
  }
}
