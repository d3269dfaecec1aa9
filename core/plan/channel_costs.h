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

  Duration launch;                 // of a call: kernel launch, group call, work queues
  std::array<OfProtocol, kProtocols> protocol;
  double reduce_rate = 1.0;        // rate of a primitive that adds, as a part of one that copies
  Duration network_post;           // from a filled slot to the message on the NIC: GPU to proxy, proxy to NIC
  Duration network_flush;          // kSimple: from the message's arrival to the GPU reading it (completion, flush)
  Duration network_poll;           // kLl, kLl128: the same where the data carry their own flags
  // A network library that hands larger messages over to another way of sending them asks the receiver first.
  Bytes network_eager;             // up to so many bytes on the wire a message goes at once
  Duration network_rendezvous;     // of a larger one: until the receiver has answered; one at a time on a connection
  Bandwidth network_host_rate;     // kLl: of a larger message of one connection, through host memory; 0: the wire's
  bool gpudirect = true;           // false: messages pass through host memory
  Bandwidth host_copy;             // without GPUDirect: of a thread block's copies to and from host memory

  [[nodiscard]] const OfProtocol& of(Protocol p) const { return protocol[static_cast<std::size_t>(p)]; }
};

// Bytes on a link for each byte of data: flags travel with the data (1 of 2 for kLl, 8 of 128 for kLl128).
[[nodiscard]] constexpr double wire_bytes_per_byte(Protocol p) {
  return p == Protocol::kLl ? 2.0 : (p == Protocol::kLl128 ? 128.0 / 120.0 : 1.0);
}

}  // namespace ringwright
