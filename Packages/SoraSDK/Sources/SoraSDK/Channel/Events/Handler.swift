/// A closure of the app's, as it was set.
///
/// It isn't `@Sendable`, so that apps of the iOS SDK compile as they are. That is safe because it carries its isolation with it: it is
/// only ever called with `await`, which runs it on its actor where it belongs to one, and nowhere beside another handler of its channel.
struct Handler<Function>: @unchecked Sendable {
  let call: Function

  init(_ call: Function) { self.call = call }

  /// nil where there is none.
  init?(_ call: Function?) {
    guard let call else { return nil }
    self.call = call
  }
}
