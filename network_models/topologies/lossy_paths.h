// Paths over links that lose packets (gray failures): what is sent again loads the path once more.
//
// Of a packet stream with loss rate p, with a packets sent in a round trip and the time of a packet, go-back-N sends
// each (1 + (a - 1) p) / (1 - p) times, since the packets after a lost one are discarded and sent again; selective
// repeat sends it 1 / (1 - p) times (Schwartz, Telecommunication Networks, 1987, section 4.2; Bertsekas and Gallager,
// Data Networks, 1992, section 2.4). NICs for InfiniBand and RoCE go back N (Mittal et al., "Revisiting network support
// for RDMA", SIGCOMM 2018, section 2.2). a = 1 + round trip x rate / MTU at the rate of the path's narrowest link.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/host/host.h"
#include "network_models/topologies/fault_schedule.h"

namespace ringwright::network_models {

// How often each packet is sent on average.
struct PacketStream {
  double loss = 0.0;      // 0 to less than 1
  double in_flight = 1.0;  // packets in a round trip and the time of one
  Retransmission retransmission = Retransmission::kGoBackN;
};
[[nodiscard]] double transmissions(const PacketStream& stream);

class LossyPaths {
 public:
  LossyPaths(const Fabric& fabric, const Host& host);

  struct Sent {
    RankId from;
    Duration latency;  // of the path, one direction
  };
  // Raises the shares of the hops of a path between hosts, on all of its links between NICs.
  void add_retransmissions(const LinkLosses& losses, const Sent& sent, std::vector<Hop>& hops) const;

 private:
  struct Nic {
    Bytes mtu;
    Retransmission retransmission = Retransmission::kGoBackN;
  };

  std::vector<Bandwidth> capacities_;  // by link
  std::vector<bool> is_network_;       // by link: between NICs and switches of the network
  std::vector<Nic> nic_of_;            // by rank
};

}  // namespace ringwright::network_models
