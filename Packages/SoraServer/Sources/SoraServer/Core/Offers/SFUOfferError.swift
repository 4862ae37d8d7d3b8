/// Why a client that brings its own offer gets no answer.
public enum SFUOfferError: Error, Sendable, Hashable {
  /// It is no description, or lacks what every one has to have; what is wrong.
  case malformed(String)
  /// It can be read, and asks for what isn't to be had.
  case unacceptable(String)
  /// The client may not connect, or not so: a fixed word, a colon, and what to do.
  case refused(String)
  /// There are as many clients as the server takes.
  case full
  /// The server is about to go.
  case draining
}
