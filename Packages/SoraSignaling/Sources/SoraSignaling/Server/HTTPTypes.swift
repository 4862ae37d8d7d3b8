/// Header fields in their order; names are found whatever their case.
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public var fields: [Field]

  public init(_ fields: [Field] = []) { self.fields = fields }

  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The first value of a name. Setting replaces all of them; nil removes them.
  public subscript(name: String) -> String? {
    get {
      let name = name.lowercased()
      return fields.first { $0.name.lowercased() == name }?.value
    }
    set {
      let key = name.lowercased()
      fields.removeAll { $0.name.lowercased() == key }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Whether a comma-separated field holds a token, whatever its case.
  func contains(_ token: String, in name: String) -> Bool {
    let name = name.lowercased()
    return fields.contains { field in
      field.name.lowercased() == name
        && field.value.lowercased().split(separator: ",").contains {
          $0.trimmingSpaces == token.lowercased()
        }
    }
  }
}

extension Substring {
  var trimmingSpaces: Substring {
    var text = self
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text.drop { $0 == " " || $0 == "\t" }
  }
}

/// A request to the HTTP side of `SignalingServer`.
public struct HTTPRequest: Sendable, Hashable {
  /// E.g. `GET`.
  public var method: String
  /// As sent, without the query.
  public var path: String
  /// What follows the first question mark.
  public var query: String?
  public var headers: HeaderFields
  public var body: [UInt8]
  /// Address and port of the client.
  public var remoteAddress: String
  /// The address alone, as `192.0.2.1`; nil where it has none.
  public var remoteIP: String?

  public init(
    method: String, path: String, query: String? = nil, headers: HeaderFields = [:],
    body: [UInt8] = [], remoteAddress: String = "", remoteIP: String? = nil
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.remoteAddress = remoteAddress
    self.remoteIP = remoteIP
  }
}

/// A response of the HTTP side of `SignalingServer`; `Content-Length` is added.
public struct HTTPResponse: Sendable, Hashable {
  public var status: Int
  public var headers: HeaderFields
  public var body: [UInt8]

  public init(status: Int = 200, headers: HeaderFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A text of the given type, UTF-8.
  public init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", text: String) {
    self.init(status: status, headers: ["Content-Type": contentType], body: Array(text.utf8))
  }

  public static let notFound = HTTPResponse(status: 404, text: "not found\n")
}
