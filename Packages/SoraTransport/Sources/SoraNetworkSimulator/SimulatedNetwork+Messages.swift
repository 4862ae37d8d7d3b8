import SoraMedia

extension SimulatedNetwork {
  /// A direction of a channel.
  func makePipe() -> MessagePipe {
    let pipe = MessagePipe(index: Int32(pipes.count))
    pipes.append(pipe)
    return pipe
  }

  func send(_ item: MessagePipe.Item, _ delay: Duration, over pipe: MessagePipe) {
    heap.push(.message, at: pipe.send(item, delay, at: now), index: pipe.index)
  }

  /// Has a pipe's next item arrive.
  func deliverMessage(_ index: Int32) {
    let pipe = pipes[Int(index)]
    guard let item = pipe.next() else { return }
    switch item {
    case .text(let text): log.record(.message, at: now.nanoseconds, text)
    case .close(let code, let reason):
      log.record(.message, at: now.nanoseconds, "close \(code) \(reason)")
    }
    pipe.onArrival?(item)
    deadlinesChanged()
  }
}
