#!/bin/sh
# namespace.sh COMMAND...: runs COMMAND in a network namespace of its own, which goes with its last process.
# It holds lo and one veth pair with a default route: libwebrtc ignores loopback interfaces when it gathers
# candidates, and nothing that is tested can reach, or be seen from, the machine's networks.
set -eu
options=-n
if [ "$(id -u)" != 0 ]; then options=-Urn; fi
exec unshare $options sh -euc '
# An IPv6 address that is still checked for duplicates changes a second later, and browsers give up what they are loading then.
dad=/proc/sys/net/ipv6/conf/default/accept_dad
if [ -w $dad ]; then echo 0 > $dad; fi
ip link set lo up
ip link add w0 type veth peer name w1
ip address add 10.99.0.1/24 dev w0
ip link set w0 up
ip link set w1 up
ip route add default via 10.99.0.2 dev w0
exec "$@"' sh "$@"
