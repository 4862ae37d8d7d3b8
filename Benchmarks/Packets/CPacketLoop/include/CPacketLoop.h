// The yardstick: what a packet costs where nothing but the cipher and the kernel works on it. One thread, a UDP socket
// and one for each destination on loopback, AES-128-GCM over EVP with keyed contexts, sendmmsg with UDP_SEGMENT (sendmsg
// for one message), recvmmsg with UDP_GRO.
#ifndef C_PACKET_LOOP_H
#define C_PACKET_LOOP_H

#include <stdint.h>

typedef struct packet_loop_result {
  double cpu_seconds;
  uint64_t sent;
  uint64_t received;
} packet_loop_result;

/// Sends `batches` times `each` RTP packets of `size` bytes to each of `destinations`, protected in turn for one after the
/// other, and receives and unprotects each batch before the next. 0, or an errno.
///
/// Without `waits` it knows beforehand what has arrived where, as no program does that has several sockets, timers or
/// peers; with `waits` it asks epoll.
int packet_loop_run(int batches, int destinations, int each, int size, int waits, packet_loop_result *result);

/// What forwarding costs where nothing else happens: decrypts `burst` packets of `size` bytes, and for each of `subscribers`
/// copies them with another source, number and timestamp, encrypts them with a key of its own and sends them. `bursts` times;
/// `cpu_seconds` is without what empties the subscribers' sockets in between. 0, or an errno.
int packet_loop_forward(int bursts, int subscribers, int burst, int size, packet_loop_result *result);

/// The same work as it comes to a server: a publisher's thread sends `burst` packets every `interval_ns` nanoseconds, this thread
/// sleeps in epoll until they are there, and a third thread waits for what the subscribers get, each of which sends a report
/// every `feedback_ns` that this thread decrypts and throws away. `cpu_seconds` is all that this thread takes.
int packet_loop_forward_live(
    int bursts, int subscribers, int burst, int size, int64_t interval_ns, int64_t feedback_ns,
    packet_loop_result *result);

/// Keeps the calling thread, and those that it starts from now on, on the core where it is: what a packet costs depends on
/// whose caches it meets. 0, or an errno.
int packet_loop_stay(void);

/// Bytes that are allocated in the process's heaps; what is free goes back to the system first.
uint64_t packet_loop_heap_bytes(void);

/// Processor time of the calling thread, seconds.
double packet_loop_thread_cpu(void);

#endif
