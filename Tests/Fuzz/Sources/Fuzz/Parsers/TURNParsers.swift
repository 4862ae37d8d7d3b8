import SoraICE
import SoraMedia

extension FuzzTarget {
  /// The stream between a TURN client and its server: cut anywhere, the same messages come out.
  static var turnStream: FuzzTarget {
    FuzzTarget(
      "turn-stream",
      seeds: [
        [5, 0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 0x41, 0, 0, 0],
        [1]
          + STUNMessage(
            .request, method: 3, transactionID: STUNTransactionID(random: RandomSource(seed: 2)),
            attributes: [.requestedTransport(17)]
          ).encoded(key: nil), [0, 22, 3, 1, 0],
      ]
    ) { bytes in
      var input = FuzzInput(bytes)
      let step = 1 + Int(input.byte())
      let stream = input.rest()
      let whole = messages(stream, step: max(1, stream.count))
      let cut = messages(stream, step: step)
      check(cut.messages == whole.messages, "the cutting matters")
      check(cut.buffered <= 0xFFFF + 24, "more is kept than a message needs")
    }
  }

  private static func messages(_ stream: [UInt8], step: Int) -> (messages: [[UInt8]], buffered: Int)
  {
    var deframer = TURNStreamDeframer()
    var found: [[UInt8]] = []
    var start = 0
    var isReadable = true
    while start < stream.count, isReadable {
      let end = min(stream.count, start + step)
      lendExactly(Array(stream[start..<end])) { chunk in
        do throws(TURNStreamDeframer.Unreadable) {
          try deframer.append(UnsafeRawBufferPointer(chunk)) {
            found.append([UInt8](copying: $0.bytes))
          }
        } catch {
          isReadable = false
        }
      }
      start = end
    }
    return (found, deframer.buffered)
  }

  static var turnURL: FuzzTarget {
    let lines = [
      "turn:turn.example.org:3478?transport=tcp", "turns:[2001:db8::1]:5349", "stun:192.0.2.1",
      "turn:h?transport=udp",
    ]
    return FuzzTarget("turn-url", maximumLength: 320, seeds: lines.map { Array($0.utf8) }) {
      input in
      guard let url = ICEServerURL(String(decoding: input, as: UTF8.self)) else { return }
      check(ICEServerURL(url.description) == url, "a URL reads differently when written")
      _ = (url.isStream, url.relayProtocol)
    }
  }

  static var dns: FuzzTarget {
    FuzzTarget("dns", maximumLength: 600, seeds: dnsSeeds()) { input in
      guard let message = try? DNSMessage(parsing: input) else { return }
      // Names with dots or bytes beyond UTF-8 in a label can't be told apart once they are text.
      guard let bytes = message.encoded() else { return }
      let again = bytes.withUnsafeBytes { try? DNSMessage(parsing: $0) }
      check(
        again?.addresses.map(\.address) == message.addresses.map(\.address),
        "an encoded message reads differently")
    }
  }

  private static func dnsSeeds() -> [[UInt8]] {
    let address = IPAddress(v4: 0xC000_0207)
    let messages = [
      DNSMessage(id: 7, questions: ["a.local", "b.local"]),
      DNSMessage(
        id: 0, isResponse: true,
        addresses: [
          .init(name: "a.local", address: address, timeToLive: 120),
          .init(name: "a.local", address: IPAddress(v6: (1, 2)), timeToLive: 120),
        ]),
    ]
    return messages.compactMap { $0.encoded() } + [
      [
        0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x61, 0, 0, 1, 0x80, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3,
        4, 0xC0, 12,
      ]
    ]
  }
}
