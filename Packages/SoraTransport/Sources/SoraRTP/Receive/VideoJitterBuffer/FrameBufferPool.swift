package import SoraMedia

/// Memory for the frames that are put together, used again once nobody holds it, and as large as recent frames were.
package struct FrameBufferPool {
  private var buffers: [EncodedBuffer] = []
  private var largestRecent = 4096
  private var largestRecentKey = 16_384

  package init() {}

  /// An empty buffer, one that came back where possible.
  package mutating func take(isKeyFrame: Bool) -> EncodedBuffer {
    let wanted = isKeyFrame ? largestRecentKey : largestRecent
    for index in buffers.indices where buffers[index].capacity >= wanted {
      if isKnownUniquelyReferenced(&buffers[index]) {
        buffers[index].reset()
        return buffers[index]
      }
    }
    let buffer = EncodedBuffer(capacity: wanted + wanted / 4)
    if buffers.count < 16 {
      buffers.append(buffer)
    } else {
      for index in buffers.indices where isKnownUniquelyReferenced(&buffers[index]) {
        buffers[index] = buffer
        break
      }
    }
    return buffer
  }

  /// A frame of `size` bytes was complete. Large ones are forgotten slowly.
  package mutating func note(size: Int, isKeyFrame: Bool) {
    if isKeyFrame {
      largestRecentKey = max(size, largestRecentKey - largestRecentKey / 8)
    } else {
      largestRecent = max(size, largestRecent - largestRecent / 64)
    }
  }
}
