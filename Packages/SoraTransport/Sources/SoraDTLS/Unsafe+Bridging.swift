public import SoraMedia

// For callers that still hold pointers. Nothing here reads: each makes a span and passes it on.

extension DTLSEndpoint {
  /// `receive(_:at:)` for a caller with a pointer.
  public func receive(_ datagram: UnsafeRawBufferPointer, at now: Instant) {
    unsafe receive(datagram.bytes, at: now)
  }

  /// `send(_:at:)` for a caller with a pointer.
  public func send(
    _ applicationData: UnsafeRawBufferPointer, at now: Instant
  ) throws(DTLSError) {
    unsafe try send(applicationData.bytes, at: now)
  }
}

@_spi(Fuzzing) extension DTLSParsers {
  /// `openRecords(_:)` for a caller with a pointer.
  public static func openRecords(_ datagram: UnsafeRawBufferPointer) -> Int {
    unsafe openRecords(datagram.bytes)
  }
}
