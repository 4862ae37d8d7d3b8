import ArgumentParser
import Foundation
import SoraCommandSupport
import SoraSDK

/// `sora message`: sends lines on a data channel, and prints what comes.
struct MessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "message",
    abstract: "Send messages on a channel's data channels, and print those of others.",
    discussion: """
      Without --send it prints what others send, until interrupted, or for --duration seconds, or --count messages. With --send it \
      ends once all is sent, where neither of these two says otherwise. Labels begin with #, which shells take for a comment where \
      it isn't quoted: --label '#chat'. Each message is a line: of --send -, of standard input. With --json, bytes that \
      are no text are in data, as Base64.
      """)

  @OptionGroup var options: ChannelOptions

  @Option(
    help: ArgumentHelp(
      "The data channel, such as '#chat'; give it again to read others. What is sent goes to the first.",
      valueName: "label"))
  var label: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A message to send, which may begin with -, or - alone for the lines of standard input; give it again for others.",
      valueName: "text"))
  var send: [String] = []

  @Option(help: ArgumentHelp("End after so many messages of others.", valueName: "messages"))
  var count: Int?

  @Flag(help: "Ask the server to say which connection sent each message.")
  var header = false

  @Flag(help: "Have messages compressed on their way.")
  var compress = false

  @Option(
    help: ArgumentHelp(
      "Who sends, as seen from here: sendrecv, sendonly or recvonly.", valueName: "direction"),
    completion: .list(DataChannelConfiguration.Direction.allCases.map(\.rawValue)))
  var direction = "sendrecv"

  func run() async throws {
    let job = try MessageJob(self)
    try await job.run()
  }

  /// The data channels to ask for.
  fileprivate func channels() throws(UsageError) -> [DataChannelConfiguration] {
    guard let direction = DataChannelConfiguration.Direction(rawValue: direction) else {
      throw UsageError("--direction \(direction): use sendrecv, sendonly or recvonly")
    }
    guard direction != .recvonly || send.isEmpty else {
      throw UsageError("--send and --direction recvonly exclude each other; leave one out")
    }
    guard !label.isEmpty else {
      throw UsageError("--label: name a data channel, in quotes, such as --label '#chat'")
    }
    var found: [DataChannelConfiguration] = []
    for label in label {
      guard label.hasPrefix("#"), label.utf8.count <= 255 else {
        throw UsageError(
          "--label \(label): begin it with #, as in '#chat', and use 255 bytes at most")
      }
      guard !found.contains(where: { $0.label == label }) else {
        throw UsageError("--label \(label): given twice; leave one out")
      }
      found.append(
        DataChannelConfiguration(
          label: label, direction: direction, compress: compress ? true : nil,
          hasSenderHeader: header))
    }
    return found
  }
}

/// One run of `sora message`.
private struct MessageJob {
  private enum Event: Sendable {
    case call(CallEvent)
    case message(DataChannelMessage)
    /// One message is on its way.
    case sent
    /// All are, or why they can't be.
    case allSent(problem: String?)
  }

  /// The first line with `--json`: messages can be sent, and come.
  private struct Opening: Encodable {
    let type = "connected"
    var connectionId: String?
    var labels: [String]
  }

  private struct Summary: Encodable {
    let type = "summary"
    var connectionId: String?
    var sent = 0
    var received = 0
    /// What the server said at the end, where it ended the connection.
    var closeReason: String?
    var error: String?
  }

  private let command: MessageCommand
  private let configuration: SoraSDK.Configuration
  private let labels: [String]
  private let console: Console

  init(_ command: MessageCommand) throws {
    self.command = command
    let channels = try command.channels()
    labels = channels.map(\.label)
    if let count = command.count, count < 1 {
      throw UsageError("--count \(count): use a number of messages from 1")
    }
    guard command.send.count(where: { $0 == "-" }) <= 1 else {
      throw UsageError("--send -: standard input can be read once; leave the others out")
    }
    if command.options.dataChannelSignaling == false {
      throw UsageError("--no-data-channel-signaling: messages go over data channels; leave it out")
    }
    var configuration = try command.options.makeConfiguration(role: .recvonly)
    configuration.dataChannelSignaling = true
    configuration.videoEnabled = false
    configuration.audioEnabled = false
    configuration.dataChannelConfigurations = channels
    self.configuration = configuration
    console = Console(isJSON: command.options.json)
  }

  func run() async throws {
    command.options.setUpLog(console)
    let call = Call(Interruption())
    call.endOnFailure(of: console)
    var summary = Summary()
    let channel: MediaChannel
    do {
      channel = try await call.connect(configuration, telling: console)
    } catch {
      summary.error = ErrorText.line(error)
      return try conclude(summary)
    }
    summary.connectionId = channel.connectionId
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    // Before anything is sent, so that no answer is missed.
    let readers = labels.map { label in
      let messages = channel.messages(label: label)
      return Task { for await message in messages { continuation.yield(.message(message)) } }
    }
    let forwarder = Task { for await event in call.events { continuation.yield(.call(event)) } }
    let sender = Task { await send(on: channel, continuation) }
    await watch(events, call, channel, &summary)
    sender.cancel()
    await call.disconnect(channel)
    forwarder.cancel()
    for reader in readers { reader.cancel() }
    try conclude(summary)
  }

  /// Sends what there is to send, once the channels are open.
  private func send(on channel: MediaChannel, _ events: AsyncStream<Event>.Continuation) async {
    do {
      for label in labels { try await channel.ready(label: label) }
      if command.options.json {
        console.output(Opening(connectionId: channel.connectionId, labels: labels).jsonLine)
      } else {
        console.note("connected; reading \(labels.joined(separator: ", ").printable)")
      }
      for text in command.send {
        if text != "-" {
          try await channel.send(label: labels[0], text: text)
          events.yield(.sent)
          continue
        }
        for await line in JSONLines.input() {
          try Task.checkCancellation()
          try await channel.send(label: labels[0], text: line)
          events.yield(.sent)
        }
      }
      events.yield(.allSent(problem: nil))
    } catch is CancellationError {
      // The call has ended.
    } catch {
      events.yield(.allSent(problem: "messages: \(ErrorText.line(error))"))
    }
  }

  /// Until there is nothing left to do, somebody interrupts, or the channel ends.
  private func watch(
    _ events: AsyncStream<Event>, _ call: Call, _ channel: MediaChannel, _ summary: inout Summary
  ) async {
    let limit = command.options.duration.map { $0 * 1_000 + Double(call.elapsedMilliseconds) }
    let endsWhenSent = !command.send.isEmpty && command.count == nil && limit == nil
    var isSent = command.send.isEmpty
    for await event in events {
      switch event {
      case .call(.interrupted), .call(.outputEnded): return
      case .call(.ended(let error)):
        summary.error = channel.failure(error, undone: undone(isSent, summary.received))
        if case .ok(_, let reason)? = channel.closeEvent { summary.closeReason = reason }
        return
      case .call(.tick):
        if let limit, Double(call.elapsedMilliseconds) >= limit { return }
      case .call(.added), .call(.removed), .call(.named), .call(.displayLost): break
      case .call(.reconnecting), .call(.reconnected): break
      case .message(let message):
        summary.received += 1
        let text = MessageText(
          label: message.label, senderConnectionId: message.senderConnectionId, data: message.data)
        console.output(command.options.json ? text.jsonLine : text.line)
        if summary.received == command.count { return }
      case .sent: summary.sent += 1
      case .allSent(let problem):
        summary.error = problem
        isSent = true
        if endsWhenSent || problem != nil { return }
      }
    }
  }

  /// What was asked for and hasn't been done; nil where all is.
  private func undone(_ isSent: Bool, _ received: Int) -> String? {
    if !isSent { return "before all was sent" }
    if let count = command.count { return "after \(received) of \(count) messages" }
    return command.options.duration.map { _ in Call.cutDuration }
  }

  private func conclude(_ summary: Summary) throws {
    if command.options.json { console.output(summary.jsonLine) }
    if let error = summary.error {
      console.note("sora: \(error)")
      throw ExitCode(1)
    }
    if !command.options.json, let reason = summary.closeReason, reason != "NO-ERROR" {
      console.note("the server ended the connection: \(reason.printable)")
    }
    try console.checkOutput()
  }
}
