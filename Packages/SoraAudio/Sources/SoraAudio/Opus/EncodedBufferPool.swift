import SoraMedia

/// Hands out empty `EncodedBuffer`s and takes back those that nobody else references any more. Confined to its encoder.
final class EncodedBufferPool {
  private var buffers: [EncodedBuffer] = []
  private var next = 0
  private let limit: Int

  init(limit: Int = 64) {
    self.limit = limit
  }

  func take(capacity: Int) -> EncodedBuffer {
    for offset in 0..<buffers.count {
      let index = (next + offset) % buffers.count
      if isKnownUniquelyReferenced(&buffers[index]) {
        next = index + 1
        buffers[index].reset()
        return buffers[index]
      }
    }
    let made = EncodedBuffer(capacity: capacity)
    if buffers.count < limit { buffers.append(made) }
    return made
  }
}
