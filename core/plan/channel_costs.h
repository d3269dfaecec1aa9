// The physical constants of a host's collective kernels: what one primitive of one channel costs beside its bytes' way
// over the links. Few, named, and shared by all algorithms and sizes.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright {

struct ChannelCosts {
  // Of one protocol.
  struct OfProtocol {
    Duration hop;        // inside a host: from the last store to the peer's thread block seeing it (flag, fence)
    Duration primitive;  // of one primitive, whatever its bytes: waiting loops, barriers, counters
    Bandwidth rate;      // useful bytes that one thread block moves (copies) in a second, at its full thread count
  };

  Duration launch;                 // of a call on the device: from the kernel's turn to its first primitives
  Duration launch_channel;         // of each further channel: its work is fetched, its thread block started
  // Of the thread that issues the call, for each GPU that it launches on: a stream of calls goes no faster than this.
  Duration host_call;
  Duration host_peer;              // and for each peer that it sends to and receives from by itself
  Duration host_channel;           // the same for each further channel: its work is written where the device fetches it
  std::array<OfProtocol, kProtocols> protocol;
  Duration switched;  // of a primitive that takes what a switch has added up or multicast, beside its protocol's
  Duration further_peer;           // of each further peer of one that scatters or gathers: its copy begins anew
  double reduce_rate = 1.0;        // kLl, kLl128: rate of a primitive that adds, as a part of one that copies
  // kSimple: part of a copied byte's time that its load takes, the rest is the store's. A sum loads each operand, a
  // copy that is kept and passed on is stored twice.
  double load_share = 0.3;
  Duration network_post;           // from a filled slot to the message on the NIC: GPU to proxy, proxy to NIC
  Duration network_flush;          // kSimple: from the message's arrival to the GPU reading it (completion, flush)
  Duration network_poll;           // kLl, kLl128: the same where the data carry their own flags
  Duration network_proxy;          // the proxy thread of a rank is busy for so long with each message, sent or received
  // A network library that sends larger messages another way has the receiver match and fetch them.
  Bytes network_eager;             // up to so many bytes on the wire a message just arrives
  Duration network_rendezvous;     // of a larger one: the receiver's proxy is busy for so long, beside `network_proxy`
  // Where software matches messages, those that just arrive lie in the library's memory, and the receiver's proxy
  // copies them. Of a larger one the header goes ahead; its data leave when the receiver has matched it and asked for
  // them.
  bool network_matched = false;
  Bytes network_own_copy;          // up to so many bytes the proxy copies itself
  Bandwidth network_copy_rate;     // at this rate
  Duration network_copy_call;      // of more: a call of the GPU's driver copies them
  int network_at_once = 0;         // messages of a rank that its NIC sends at a time, others wait; 0: 1 a connection
  Bandwidth network_host_rate;     // kLl: messages lie in host memory, whose lines the proxy reads; 0: at once
  // Sums of the network's switches: from the last contribution's arrival to the result's way down, beside the wires;
  // and what a switch adds in a second of each stream.
  Duration network_sum;
  Bandwidth network_sum_rate;      // 0: at the wires' rate
  bool gpudirect = true;           // false: messages pass through host memory, which the GPU reads instead of a flush
  Bandwidth host_copy;  // without GPUDirect: of a GPU's copies to or from host memory, all thread blocks together

  [[nodiscard]] const OfProtocol& of(Protocol p) const { return protocol[static_cast<std::size_t>(p)]; }
  // Of a primitive with so many operands and destinations, useful bytes of one operand, at the full thread count.
  [[nodiscard]] Bandwidth rate_of(Protocol p, int loads, int stores) const {
    const Bandwidth copy = of(p).rate;
    if (p != Protocol::kSimple) return loads > 1 ? Bandwidth(copy.count() * reduce_rate) : copy;
    return Bandwidth(copy.count() / (load_share * loads + (1.0 - load_share) * stores));
  }
  // The kernel of a call with so many channels begins its work so long after its turn has come.
  [[nodiscard]] Duration launch_of(int channels) const { return launch + launch_channel * (channels - 1); }
  // What a thread takes to issue one call with so many channels on each of the GPUs that it drives.
  [[nodiscard]] Duration issue_of(int gpus, int channels, int peers = 0) const {
    return (host_call + host_channel * (channels - 1) + host_peer * peers) * gpus;
  }
};

// Bytes on a link for each byte of data: flags travel with the data (1 of 2 for kLl, 8 of 128 for kLl128).
[[nodiscard]] constexpr double wire_bytes_per_byte(Protocol p) {
  return p == Protocol::kLl ? 2.0 : (p == Protocol::kLl128 ? 128.0 / 120.0 : 1.0);
}

}  // namespace ringwright
