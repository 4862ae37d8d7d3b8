import SoraCommandSupport
import SoraSignaling

/// A value of an option that is JSON.
enum JSONOption {
  static func read(_ text: String, of option: String) throws(UsageError) -> JSONValue {
    do throws(SignalingError) {
      return try JSONValue(parsing: text)
    } catch {
      // Its way out is a message's; here it is mostly the shell that has taken the quotes.
      let place = error.field == "byte" ? error.value.map { " at byte \($0)" } ?? "" : ""
      throw UsageError(
        "\(option): not JSON\(place): \(error.detail); write it within single quotes, such as '{\"key\": \"value\"}'"
      )
    }
  }
}
