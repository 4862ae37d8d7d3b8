public import SoraMedia
public import SoraWire

// For callers that hold pointers: each lends the memory as a span. The memory must stay valid for the length of the call.

extension AudioJitterBuffer {
  /// `insert` from a pointer.
  public func insert(
    sequenceNumber: UInt16, timestamp: UInt32, payload: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe insert(
      sequenceNumber: sequenceNumber, timestamp: timestamp, payload: payload.span, at: now)
  }

  /// `insertRedundant` from a pointer.
  public func insertRedundant(
    sequenceNumber: UInt16, timestamp: UInt32, payload: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe insertRedundant(
      sequenceNumber: sequenceNumber, timestamp: timestamp, payload: payload.span, at: now)
  }

  /// `getAudio` into a pointer.
  @discardableResult
  public func getAudio(
    at now: Instant, into output: UnsafeMutableBufferPointer<Int16>
  ) -> Playout {
    var span = unsafe output.mutableSpan
    return getAudio(at: now, into: &span)
  }
}

extension AudioPayloadDecoder {
  /// `redundantSampleCount` from a pointer.
  public func redundantSampleCount(of payload: UnsafeRawBufferPointer) -> Int {
    unsafe redundantSampleCount(of: payload.span)
  }

  /// `isSilence` from a pointer.
  public func isSilence(_ payload: UnsafeRawBufferPointer) -> Bool {
    unsafe isSilence(payload.span)
  }

  /// `decode` from and into pointers.
  public func decode(
    _ payload: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    var span = unsafe samples.mutableSpan
    return try unsafe decode(payload.span, into: &span)
  }

  /// `decodeRedundancy` from and into pointers.
  public func decodeRedundancy(
    of payload: UnsafeRawBufferPointer, sampleCount: Int,
    into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    var span = unsafe samples.mutableSpan
    return try unsafe decodeRedundancy(
      of: payload.span, sampleCount: sampleCount, into: &span)
  }

  /// `conceal` into a pointer.
  public func conceal(
    sampleCount: Int, into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    var span = unsafe samples.mutableSpan
    return try conceal(sampleCount: sampleCount, into: &span)
  }
}

extension OpusPacket {
  /// `sampleCount` from a pointer.
  public static func sampleCount(_ packet: UnsafeRawBufferPointer) -> Int? {
    unsafe sampleCount(packet.bytes)
  }

  /// `redundantSampleCount` from a pointer.
  public static func redundantSampleCount(_ packet: UnsafeRawBufferPointer) -> Int {
    unsafe redundantSampleCount(packet.bytes)
  }
}

extension OpusEncoder {
  /// `encode` from and into pointers.
  public func encode(
    _ samples: UnsafeBufferPointer<Int16>, into packet: UnsafeMutableRawBufferPointer
  ) throws(AudioCodecError) -> Int {
    let bytes = unsafe packet.assumingMemoryBound(to: UInt8.self)
    var span = unsafe bytes.mutableSpan
    return try unsafe encode(samples.span, into: &span)
  }
}

extension AudioLevel {
  /// `meanSquare` from a pointer.
  public static func meanSquare(_ samples: UnsafeBufferPointer<Int16>) -> Double {
    unsafe meanSquare(samples.span)
  }

  /// `decibelsBelowOverload` from a pointer.
  public static func decibelsBelowOverload(_ samples: UnsafeBufferPointer<Int16>) -> UInt8 {
    unsafe decibelsBelowOverload(samples.span)
  }
}

extension AudioResampler {
  /// `process` from a pointer.
  public func process(_ input: UnsafeBufferPointer<Int16>, into output: inout [Int16]) {
    unsafe process(input.span, into: &output)
  }
}

extension ToneSource {
  /// `read` into a pointer.
  public mutating func read(into output: UnsafeMutableBufferPointer<Int16>) {
    var span = unsafe output.mutableSpan
    read(into: &span)
  }
}

extension WAVReader {
  /// `read` into a pointer.
  public func read(into output: UnsafeMutableBufferPointer<Int16>) throws(WAVError) -> Int {
    var span = unsafe output.mutableSpan
    return try read(into: &span)
  }
}

extension WAVSource {
  /// `read` into a pointer.
  public func read(into output: UnsafeMutableBufferPointer<Int16>) throws(WAVError) -> Int {
    var span = unsafe output.mutableSpan
    return try read(into: &span)
  }
}

extension WAVWriter {
  /// `write` from a pointer.
  public func write(_ samples: UnsafeBufferPointer<Int16>) throws(WAVError) {
    try unsafe write(samples.span)
  }
}

extension WAVHeader {
  /// `init(parsing:)` from a pointer.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(WAVError) {
    try unsafe self.init(parsing: bytes.span)
  }

  /// `convert` from and into pointers.
  public func convert(
    _ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<Int16>
  ) -> Int {
    var span = unsafe output.mutableSpan
    return unsafe convert(bytes.span, into: &span)
  }
}

extension UnsafeRawBufferPointer {
  /// The memory as bytes.
  fileprivate var span: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let bytes = unsafe Span<UInt8>(_unsafeBytes: self)
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }
}
