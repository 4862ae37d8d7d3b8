/// What a client may call on the data channel `rpc`.
enum RPCMethod: String, CaseIterable {
  case requestSimulcastRid = "2025.2.0/RequestSimulcastRid"
  case putSignalingNotifyMetadata = "2025.2.0/PutSignalingNotifyMetadata"
  case putSignalingNotifyMetadataItem = "2025.2.0/PutSignalingNotifyMetadataItem"
}
