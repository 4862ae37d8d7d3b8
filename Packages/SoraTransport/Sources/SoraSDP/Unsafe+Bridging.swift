extension SessionDescription {
  /// `init(parsing:)` for a caller with a pointer.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(SDPError) {
    unsafe try self.init(parsing: bytes.bytes)
  }
}
