// The physical constants of a host's collective kernels: the cost of one primitive of one channel in addition to its
// bytes' time on the links. Few, named, and shared by all algorithms and sizes.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright {

struct ChannelCosts {
  // Of one protocol.
  struct OfProtocol {
    Duration hop;        // inside a host: from the last store until the peer's thread block observes it (flag, fence)
    Duration primitive;  // of one primitive, independent of its bytes: wait loops, barriers, counters
    Bandwidth rate;      // useful bytes that one thread block moves (copies) in a second, at its full thread count
  };

  Duration launch;                 // of a call on the device: from kernel start to its first primitives
  Duration launch_channel;         // of each further channel: its work is fetched, its thread block started
  // Of the thread that issues the call, for each GPU that it launches on: bounds the rate of a stream of calls.
  Duration host_call;
  Duration host_peer;              // in addition for each peer that it sends to and receives from by itself
  Duration host_channel;           // the same for each further channel: its work is written where the device fetches it
  std::array<OfProtocol, kProtocols> protocol;
  Duration switched;  // of a primitive that reads a sum or multicast of a switch, in addition to its protocol's
  Duration further_peer;           // of each further peer of one that scatters or gathers: its copy starts separately
  double reduce_rate = 1.0;        // kLl, kLl128: rate of a primitive that adds, as a fraction of one that copies
  // kSimple: fraction of a copied byte's time that its load takes, the rest is the store's. A sum loads each operand; a
  // copy that is stored and forwarded is written twice.
  double load_share = 0.3;
  Duration network_post;           // from a filled slot to the message on the NIC: GPU to proxy, proxy to NIC
  Duration network_flush;          // kSimple: from the message's arrival to the GPU reading it (completion, flush)
  Duration network_poll;           // kLl, kLl128: the same where the data contain the flags
  Duration network_proxy;          // the proxy thread of a rank is busy this long with each message, sent or received
  // A network library with a rendezvous protocol has the receiver match and fetch larger messages.
  Bytes network_eager;             // up to this many bytes on the wire a message is sent eagerly
  Duration network_rendezvous;     // of a larger one: receiver's proxy is busy for it, in addition to `network_proxy`
  // Where software matches messages, eager ones arrive in the library's memory, and the receiver's proxy copies them. A
  // larger one sends its header first; its data leave when the receiver has matched it and requested them.
  bool network_matched = false;
  Bytes network_own_copy;          // up to this many bytes the proxy copies itself
  Bandwidth network_copy_rate;     // at this rate
  Duration network_copy_call;      // of more: a call of the GPU's driver copies them
  int network_at_once = 0;         // messages of a rank that its NIC sends concurrently; 0: one per connection
  Bandwidth network_host_rate;     // kLl: messages are in host memory, whose lines the proxy reads; 0: at once
  // Sums in network switches: from the last contribution's arrival until the result starts down, without the wires; and
  // the rate at which a switch adds each stream.
  Duration network_sum;
  Bandwidth network_sum_rate;      // 0: at the wires' rate
  bool gpudirect = true;           // false: messages pass through host memory, which the GPU reads instead of a flush
  Bandwidth host_copy;  // without GPUDirect: of a GPU's copies to or from host memory, all thread blocks combined

  [[nodiscard]] const OfProtocol& of(Protocol p) const { return protocol[static_cast<std::size_t>(p)]; }
  // Of a primitive with this many operands and destinations, useful bytes of one operand, at the full thread count.
  [[nodiscard]] Bandwidth rate_of(Protocol p, int loads, int stores) const {
    const Bandwidth copy = of(p).rate;
    if (p != Protocol::kSimple) return loads > 1 ? Bandwidth(copy.count() * reduce_rate) : copy;
    return Bandwidth(copy.count() / (load_share * loads + (1.0 - load_share) * stores));
  }
  // The time from kernel start to its first work, for a call with this many channels.
  [[nodiscard]] Duration launch_of(int channels) const { return launch + launch_channel * (channels - 1); }
  // The time a thread takes to issue one call with this many channels on each of the GPUs that it drives.
  [[nodiscard]] Duration issue_of(int gpus, int channels, int peers = 0) const {
    return (host_call + host_channel * (channels - 1) + host_peer * peers) * gpus;
  }
};

// Bytes on a link for each byte of data: flags travel with the data (1 of 2 for kLl, 8 of 128 for kLl128).
[[nodiscard]] constexpr double wire_bytes_per_byte(Protocol p) {
  return p == Protocol::kLl ? 2.0 : (p == Protocol::kLl128 ? 128.0 / 120.0 : 1.0);
}

}  // namespace ringwright
