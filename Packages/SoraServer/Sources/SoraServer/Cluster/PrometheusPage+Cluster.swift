import SoraCluster

extension PrometheusPage {
  mutating func add(_ cluster: ClusterStatus) {
    add("sora_cluster_up", .gauge, "Whether the cluster's Redis answers.", cluster.isLinked ? 1 : 0)
    add("sora_cluster_nodes", .gauge, "Nodes of the cluster that are there.", UInt64(cluster.nodes))
    add(
      "sora_cluster_channels", .gauge, "Channels that have their place on this node.",
      UInt64(cluster.channels))
    add(
      "sora_cluster_redirects_total", .counter, "Clients that were sent to other nodes.",
      cluster.counts.redirects)
    add(
      "sora_cluster_unavailable_total", .counter,
      "Clients turned away because the Redis didn't answer.", cluster.counts.unavailable)
    add(
      "sora_cluster_moved_total", .counter,
      "Channels with connections here that another node has taken.", cluster.counts.moved)
    add(
      "sora_cluster_failures_total", .counter, "Requests to the Redis that failed.",
      cluster.counts.failures)
  }
}
