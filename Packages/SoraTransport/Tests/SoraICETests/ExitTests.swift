import Foundation
import SoraICE
import SoraMedia
import Testing

/// A program may end by `exit` while other threads go on with its calls.
@Suite struct ExitTests {
  @Test(arguments: 0..<16) func exitLeavesTheThreadsThatCheckMessagesUnharmed(_: Int) async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<4 {
        Thread.detachNewThread {
          let message = STUNMessage(
            .request, transactionID: STUNTransactionID(random: RandomSource(seed: 1)),
            attributes: [.username(Array("a:b".utf8))])
          while true { _ = message.encoded(key: Array("password".utf8)) }
        }
      }
      // Long enough for all of them to be at it; `exit` is the test.
      try await Task.sleep(for: .milliseconds(50))
      exit(EXIT_SUCCESS)
    }
  }
}
