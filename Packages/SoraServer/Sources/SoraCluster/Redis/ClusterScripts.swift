/// What a Redis does for the nodes of a cluster, each as a whole (`EVAL`). Redis 5 or newer, or Valkey; not Redis's own cluster mode, as
/// scripts name keys that they find.
///
/// `sora:node:ID` is a hash with what a node says of itself, which expires with its lease; `sora:nodes` the set of their ids;
/// `sora:channel:NAME` the id of the node that has the channel. A place whose node has expired, or drains, is none.
enum ClusterScripts {
  static let prefix = "sora:"
  static let nodes = prefix + "nodes"

  static func node(_ id: String) -> String { prefix + "node:" + id }

  static func channel(_ name: String) -> String { prefix + "channel:" + name }

  /// KEYS: nodes. ARGV: prefix of nodes, id, lease (ms), url, API's url, connections, channels, packets, most connections, draining.
  static let beat = """
    local own = ARGV[1] .. ARGV[2]
    redis.call('HSET', own, 'url', ARGV[4], 'api', ARGV[5], 'connections', ARGV[6], 'channels', ARGV[7],
      'packets', ARGV[8], 'most', ARGV[9], 'draining', ARGV[10])
    redis.call('PEXPIRE', own, ARGV[3])
    redis.call('SADD', KEYS[1], ARGV[2])
    local found = {}
    for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
      local left = redis.call('PTTL', ARGV[1] .. id)
      if left > 0 then
        local said = redis.call('HMGET', ARGV[1] .. id, 'url', 'api', 'connections', 'channels', 'packets', 'most',
          'draining')
        found[#found + 1] = {id, left, said[1], said[2], said[3], said[4], said[5], said[6], said[7]}
      else
        redis.call('SREM', KEYS[1], id)
      end
    end
    return found
    """

  /// KEYS: channel. ARGV: prefix of nodes, id, candidate, place (ms).
  static let place = """
    local function left(id)
      if redis.call('HGET', ARGV[1] .. id, 'draining') == '1' then return 0 end
      return redis.call('PTTL', ARGV[1] .. id)
    end
    local owner = redis.call('GET', KEYS[1])
    local new = 0
    if not owner or left(owner) <= 0 then
      owner = left(ARGV[3]) > 0 and ARGV[3] or ARGV[2]
      new = 1
      redis.call('SET', KEYS[1], owner, 'PX', ARGV[4])
    end
    return {owner, redis.call('HGET', ARGV[1] .. owner, 'url') or '', left(owner), new}
    """

  /// KEYS: channels. ARGV: prefix of nodes, id, place (ms), draining. Replies with the numbers, from 1, of those that others have.
  static let keep = """
    local lost = {}
    for number, key in ipairs(KEYS) do
      local owner = redis.call('GET', key)
      if owner and owner ~= ARGV[2] and redis.call('EXISTS', ARGV[1] .. owner) == 1 then
        lost[#lost + 1] = number
      elseif owner == ARGV[2] or ARGV[4] ~= '1' then
        redis.call('SET', key, ARGV[2], 'PX', ARGV[3])
      end
    end
    return lost
    """

  /// KEYS: channels. ARGV: id.
  static let free = """
    for _, key in ipairs(KEYS) do
      if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
    end
    return 0
    """

  /// KEYS: channel. ARGV: prefix of nodes.
  static let find = """
    local owner = redis.call('GET', KEYS[1])
    if not owner then return false end
    local api = redis.call('HGET', ARGV[1] .. owner, 'api')
    if not api then return false end
    return {owner, api}
    """

  /// KEYS: nodes, node. ARGV: id.
  static let leave = """
    redis.call('SREM', KEYS[1], ARGV[1])
    redis.call('DEL', KEYS[2])
    return 0
    """
}
