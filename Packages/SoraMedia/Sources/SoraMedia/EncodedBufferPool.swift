/// Hands out empty `EncodedBuffer`s and takes back those that nobody else references any more.
///
/// Confined to the encoder that owns it; the buffers go anywhere. Nothing tells the pool that a buffer is free: it
/// looks for one whose only reference is its own, so handing back needs no lock, no closure and no thread hop.
public final class EncodedBufferPool {
  private var buffers: [EncodedBuffer] = []
  private var next = 0
  private let limit: Int

  /// Keeps up to `limit` buffers; when all of them are in use, further ones are made and not kept.
  public init(limit: Int = 32) {
    self.limit = max(1, limit)
    buffers.reserveCapacity(self.limit)
  }

  /// An empty buffer with room for at least `capacity` bytes (a new one has a quarter more, to fit its successors).
  public func take(capacity: Int) -> EncodedBuffer {
    for offset in 0..<buffers.count {
      let index = (next + offset) % buffers.count
      // The last other owner's release of its reference happens before this count of one is read, so its reads are
      // over before the buffer is written again.
      if isKnownUniquelyReferenced(&buffers[index]) {
        next = index + 1
        buffers[index].reset()
        return buffers[index]
      }
    }
    let made = EncodedBuffer(capacity: capacity + capacity / 4)
    if buffers.count < limit { buffers.append(made) }
    return made
  }
}
