import SoraMedia
import SoraRTP
import SoraServer
import Testing

/// Who comes into the spotlight, by levels alone.
@Suite struct SpotlightTests {
  /// People who talk, or don't: a packet each 20 ms.
  private struct Room {
    static let silence: UInt8 = 80
    var spotlight: Spotlight
    var people = ["a", "b", "c", "d"]
    var now = Instant.zero
    private(set) var changes: [Spotlight.Change] = []
    /// Packets that were heard, by who sent them.
    private(set) var heard: [String: Int] = [:]

    init(number: Int) { spotlight = Spotlight(number: number, delay: .milliseconds(500)) }

    /// - Parameter levels: of those who aren't silent.
    mutating func run(milliseconds: Int, _ levels: [String: UInt8] = [:]) {
      heard = [:]
      for _ in 0..<milliseconds / 20 {
        for person in people {
          let level = RTPAudioLevel(level: levels[person] ?? Self.silence, hasVoice: false)
          if spotlight.hear(level, of: person, at: now) { heard[person, default: 0] += 1 }
        }
        now = now + .milliseconds(20)
      }
      take()
    }

    mutating func focus(_ id: String, isFixed: Bool) -> Bool {
      spotlight.focus(id, isFixed: isFixed, at: now)
    }

    mutating func take() { changes += spotlight.takeChanges() }

    var log: [String] { changes.map { ($0.isFocused ? "+" : "-") + $0.id } }
  }

  @Test func whoSpeaksIsHeardAtOnceAndSeenAfterAWhile() {
    var room = Room(number: 2)
    room.run(milliseconds: 2000)
    #expect(room.spotlight.focused.isEmpty && room.heard.isEmpty)
    room.run(milliseconds: 400, ["a": 30])
    #expect(room.spotlight.focused.isEmpty)
    #expect((room.heard["a"] ?? 0) >= 18, "the first sound is heard within 40 ms")
    room.run(milliseconds: 200, ["a": 30])
    #expect(room.spotlight.focused == ["a"])
    room.run(milliseconds: 60_000)
    #expect(room.spotlight.focused == ["a"], "nobody else spoke")
    #expect(room.heard == ["a": 3000])
    #expect(room.log == ["+a"])
  }

  @Test func aCoughDoesNotSwitch() {
    var room = Room(number: 1)
    room.run(milliseconds: 2000, ["a": 30])
    for _ in 0..<20 {
      room.run(milliseconds: 260, ["b": 15])
      room.run(milliseconds: 900)
    }
    #expect(room.log == ["+a"])
    // One who says more does.
    room.run(milliseconds: 800, ["b": 30])
    #expect(room.log == ["+a", "-a", "+b"])
  }

  @Test func theLastSpeakersStay() {
    var room = Room(number: 2)
    for person in ["a", "b", "c", "a", "d"] {
      room.run(milliseconds: 1500, [person: 35])
      room.run(milliseconds: 300)
    }
    #expect(room.log == ["+a", "+b", "-a", "+c", "-b", "+a", "-c", "+d"])
    #expect(room.spotlight.focused == ["a", "d"])
  }

  @Test func pausesForBreathKeepAPlace() {
    var room = Room(number: 1)
    room.run(milliseconds: 1000, ["a": 30])
    for _ in 0..<10 {
      room.run(milliseconds: 300, ["b": 30])
      room.run(milliseconds: 1500, ["a": 30])
    }
    #expect(room.log == ["+a"])
  }

  @Test func whoIsInterruptedKeepsThePlaceUnlessTheOtherIsMuchLouder() {
    var room = Room(number: 1)
    room.run(milliseconds: 1000, ["a": 35])
    room.run(milliseconds: 60_000, ["a": 35, "b": 33])
    #expect(room.log == ["+a"])
    #expect(room.heard["b"] == nil)
    room.run(milliseconds: 1000)
    room.run(milliseconds: 1000, ["a": 35])
    room.run(milliseconds: 1800, ["a": 35, "b": 20])
    #expect(room.log == ["+a"])
    room.run(milliseconds: 1000, ["a": 35, "b": 20])
    #expect(room.log == ["+a", "-a", "+b"])
    room.run(milliseconds: 30_000, ["a": 35, "b": 20])
    #expect(room.log == ["+a", "-a", "+b"])
  }

  /// Encoders with DTX send next to nothing in silence.
  @Test func whoSendsNothingIsSilent() {
    var room = Room(number: 1)
    room.run(milliseconds: 2000, ["a": 30])
    room.people = ["b"]
    room.run(milliseconds: 1000, ["b": 30])
    #expect(room.spotlight.focused == ["b"])
    room.spotlight.remove("b")
    room.take()
    #expect(room.spotlight.focused.isEmpty && room.log.last == "+b", "who is gone isn't told of")
  }

  @Test func packetsWithoutALevelAreHeardAndNeverFocused() {
    var spotlight = Spotlight(number: 1, delay: .milliseconds(500))
    for index in 0..<500 as Range<Int64> {
      let isHeard = spotlight.hear(nil, of: "a", at: .zero + .milliseconds(20 * index))
      #expect(isHeard)
    }
    #expect(spotlight.focused.isEmpty)
  }

  @Test func somebodyOutsideDecides() {
    var room = Room(number: 2)
    room.run(milliseconds: 1000, ["a": 30])
    var isDone = room.focus("d", isFixed: true)
    #expect(isDone)
    room.run(milliseconds: 10_000, ["b": 30])
    #expect(room.spotlight.focused == ["d", "b"] && room.spotlight.isFixed("d"))
    // Put there without being fixed, it stays for a few seconds.
    isDone = room.focus("c", isFixed: false)
    #expect(isDone)
    room.run(milliseconds: 4000, ["a": 30])
    #expect(room.spotlight.focused == ["d", "c"])
    room.run(milliseconds: 2000, ["a": 30])
    #expect(room.spotlight.focused == ["d", "a"])
    isDone = room.focus("a", isFixed: true)
    #expect(isDone)
    isDone = room.focus("b", isFixed: false)
    #expect(!isDone, "all places are fixed")
    room.spotlight.setNumber(1)
    #expect(room.spotlight.focused.count == 1)
    let last = room.spotlight.focused[0]
    let (first, second) = (room.spotlight.unfocus(last), room.spotlight.unfocus(last))
    #expect(first && !second)
    room.take()
    #expect(room.log.suffix(2).allSatisfy { $0.hasPrefix("-") })
    #expect(Spotlight(number: 99, delay: .zero).number == 8)
    #expect(Spotlight(number: -1, delay: .zero).number == 1)
  }

  /// Whatever happens, what is told adds up to what is, and nobody is there twice or without a place.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func changesAddUp(seed: UInt64) {
    let random = RandomSource(seed: seed)
    func draw(_ count: UInt64) -> Int { Int(random.next() % count) }
    var spotlight = Spotlight(number: 3, delay: .milliseconds(200))
    var now = Instant.zero
    var told: Set<String> = []
    for _ in 0..<20_000 {
      let id = "\(draw(12))"
      switch draw(400) {
      case 0: _ = spotlight.focus(id, isFixed: draw(2) == 0, at: now)
      case 1: spotlight.unfocus(id)
      case 2: spotlight.setNumber(draw(12) - 1)
      case 3:
        spotlight.remove(id)
        told.remove(id)
      // Clocks don't go back, but nothing must break where one does.
      case 4: now = now - .milliseconds(draw(100))
      default:
        let level = RTPAudioLevel(level: UInt8(draw(160)), hasVoice: draw(2) == 0)
        _ = spotlight.hear(level, of: id, at: now)
      }
      now = now + .milliseconds(draw(20))
      for change in spotlight.takeChanges() {
        if change.isFocused { told.insert(change.id) } else { told.remove(change.id) }
      }
      #expect(told == Set(spotlight.focused))
      #expect(spotlight.focused.count == told.count && told.count <= spotlight.number)
    }
  }
}
