import SoraTransport
import Testing

struct ReadingAheadTests {
  private final class Socket {}

  private let socket = Socket()

  /// Asks epoll, which finds nobody else.
  private func ask(_ ahead: inout ReadingAhead<Socket>, left: Int = 100) {
    ahead.waited()
    ahead.found(only: socket, left: left)
  }

  @Test func onlyWhoAloneHadSomethingIsRead() {
    var ahead = ReadingAhead<Socket>()
    #expect(ahead.candidate == nil)
    ask(&ahead)
    #expect(ahead.candidate === socket)
    ahead.waited()
    #expect(ahead.candidate == nil)
  }

  @Test func theOthersAreAskedAfterAFewTurns() {
    var ahead = ReadingAhead<Socket>()
    for _ in 0..<3 {
      ask(&ahead)
      var row = 0
      while ahead.candidate != nil, row < 100 {
        ahead.read(1)
        row += 1
      }
      #expect(row == ReadingAhead<Socket>.longestRow)
    }
  }

  @Test func theOthersAreAskedAfterATurnsBound() {
    var ahead = ReadingAhead<Socket>()
    ask(&ahead, left: 0)
    #expect(ahead.candidate == nil)
    ask(&ahead, left: 20)
    ahead.read(16)
    #expect(ahead.candidate === socket && ahead.left == 4)
    ahead.read(16)
    #expect(ahead.candidate == nil)
  }

  @Test func vainAttemptsBecomeRareAndOneThatIsNotEndsThat() {
    var ahead = ReadingAhead<Socket>()
    func vain() -> [Int] {
      var attempts: [Int] = []
      for turn in 0..<400 {
        ask(&ahead)
        if ahead.candidate != nil {
          ahead.read(0)
          attempts.append(turn)
        }
      }
      return zip(attempts, attempts.dropFirst()).map { $1 - $0 }
    }
    #expect(vain() == [1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64])
    while ahead.candidate == nil { ask(&ahead) }
    ahead.read(1)
    #expect(vain().first == 1)
  }

  @Test func aClosedSocketIsForgotten() {
    var ahead = ReadingAhead<Socket>()
    ask(&ahead)
    ahead.forget(Socket())
    #expect(ahead.candidate === socket)
    ahead.forget(socket)
    #expect(ahead.candidate == nil)
  }
}
