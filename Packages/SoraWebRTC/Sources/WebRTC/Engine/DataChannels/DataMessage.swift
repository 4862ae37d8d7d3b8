import Foundation

/// A message on its way between a data channel's owner and the network loop.
struct DataMessage: Sendable {
  var data: Data
  var isText: Bool
}
