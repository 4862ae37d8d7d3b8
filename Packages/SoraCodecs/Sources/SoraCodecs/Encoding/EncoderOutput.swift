import SoraMedia

/// Takes what a library makes of one frame into pooled memory.
package final class EncoderOutput {
  /// Whether the library made a key frame.
  package var isKeyFrame = false
  /// The temporal layer, where the library chooses it; nil where it follows the order.
  package var temporalLayer: Int?
  /// Bytes so far.
  package var count: Int { payload?.count ?? 0 }
  /// Layers that have ended so far.
  package var layerCount: Int { layers.count }

  private let pool = EncodedBufferPool()
  private var payload: EncodedBuffer?
  /// Where each layer ends and how large it is; the driver knows the rest.
  private(set) var layers = EncodedFrameLayers()

  package init() {}

  /// Adds bytes of the frame, which may have `expected` of them altogether.
  package func append(_ bytes: UnsafeRawBufferPointer, expecting expected: Int) {
    guard bytes.count > 0 else { return }
    let target = payload ?? pool.take(capacity: expected)
    unsafe target.append(bytes)
    payload = target
  }

  /// Says that a spatial layer of this size ends with the bytes so far.
  package func endLayer(_ spatialLayer: Int, width: Int, height: Int) {
    layers.append(
      SpatialLayerFrame(spatialLayer: spatialLayer, end: count, width: width, height: height))
  }

  /// Forgets the last frame.
  func begin() {
    payload = nil
    isKeyFrame = false
    temporalLayer = nil
    layers = EncodedFrameLayers()
  }

  /// The frame's bytes; nil where the library dropped it.
  func take() -> EncodedBuffer? {
    defer { payload = nil }
    return payload
  }
}
