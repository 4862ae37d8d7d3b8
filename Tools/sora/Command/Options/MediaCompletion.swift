import ArgumentParser

/// What a shell offers where an option takes a few words, or a file.
enum MediaCompletion {
  /// - Parameter files: what names of files end in.
  static func words(_ words: [String], files ending: String) -> CompletionKind {
    // Shells complete either from a list or from files; a command can give both. Run by the shell, with nothing of the user's in it.
    let list = words.joined(separator: " ")
    return .shellCommand("printf '%s\\n' \(list); ls -d -- *.\(ending) */ 2> /dev/null")
  }
}
