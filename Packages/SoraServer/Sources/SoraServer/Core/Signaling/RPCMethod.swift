/// What a client may call on the data channel `rpc`.
enum RPCMethod: String, CaseIterable {
  case requestSimulcastRid = "2025.2.0/RequestSimulcastRid"
  case requestSpotlightRid = "2025.2.0/RequestSpotlightRid"
  case resetSpotlightRid = "2025.2.0/ResetSpotlightRid"
  case putSignalingNotifyMetadata = "2025.2.0/PutSignalingNotifyMetadata"
  case putSignalingNotifyMetadataItem = "2025.2.0/PutSignalingNotifyMetadataItem"
}
