import SoraAudio
import Testing

@Suite struct PacketArrivalsTests {
  @Test func numbersAndTimestampsGoOnOverTheirEnds() {
    var arrivals = PacketArrivals()
    #expect(arrivals.isEmpty)
    var (sequence, timestamp) = (UInt16.max - 1, UInt32.max - 959)
    var before: Int64?
    for _ in 0..<4 {
      let (number, time) = (arrivals.extend(sequence), arrivals.extend(timestamp))
      if let before { #expect(number == before + 1) }
      let isNewest = arrivals.insert(number, timestamp: time)
      #expect(isNewest)
      before = number
      sequence &+= 1
      timestamp &+= 960
    }
    #expect(!arrivals.isEmpty)
    #expect(before == 0x1_0001)
    // The nearest is meant, before the newest, too.
    #expect(arrivals.extend(UInt16.max) == 0xFFFF)
    #expect(arrivals.extend(UInt32.max - 959) == 0xFFFF_FC40)
  }

  @Test func whatCameIsRemembered() {
    var arrivals = PacketArrivals()
    for sequence: Int64 in [100, 102, 103] {
      let isNewest = arrivals.insert(sequence, timestamp: sequence * 960)
      #expect(isNewest)
    }
    #expect(!arrivals.contains(101))
    let isNewest = arrivals.insert(101, timestamp: 101 * 960)
    #expect(!isNewest, "it is late")
    for sequence: Int64 in 100...103 { #expect(arrivals.contains(sequence)) }
    #expect(!arrivals.contains(99))
    // Nobody knows what came so long ago, or what is to come.
    #expect(arrivals.contains(103 - 64) && arrivals.contains(104))
    _ = arrivals.insert(103 + 64, timestamp: 0)
    #expect(!arrivals.contains(104) && arrivals.contains(103))
  }
}
