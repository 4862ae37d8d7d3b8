import SoraMedia
import Testing

@Suite("Pool of encoded buffers")
struct EncodedBufferPoolTests {
  @Test("A buffer comes back empty once nobody else refers to it, and not before")
  func reuse() {
    let pool = EncodedBufferPool(limit: 2)
    var held: EncodedBuffer? = pool.take(capacity: 100)
    let bytes: [UInt8] = [1, 2, 3]
    bytes.withUnsafeBytes { held?.append($0) }
    let identity = held.map { ObjectIdentifier($0) }
    let other = pool.take(capacity: 100)
    #expect(ObjectIdentifier(other) != identity)
    #expect(held?.count == 3)
    held = nil
    let again = pool.take(capacity: 100)
    #expect(ObjectIdentifier(again) == identity)
    #expect(again.count == 0)
    #expect(again.capacity >= 100)
  }

  @Test("Beyond its limit it still hands out buffers, and keeps none of them")
  func limit() {
    let pool = EncodedBufferPool(limit: 1)
    let first = pool.take(capacity: 64)
    weak var surplus: EncodedBuffer?
    do {
      let second = pool.take(capacity: 64)
      surplus = second
      #expect(second !== first)
    }
    #expect(surplus == nil)
  }
}
