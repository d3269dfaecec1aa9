// Rail rings: one ring per GPU of a host, each with an equal share and its own rail between hosts.
//
// NCCL's channels on hosts with one NIC per GPU: ring j enters a host next to NIC j, passes all its p GPUs and leaves
// through the neighbouring NIC; odd hosts are traversed backwards, so that every hop between hosts stays on one rail
// (the swap of channel pairs on odd nodes; only the hop that closes a ring of an odd number of hosts changes rails).
// Per step a member sends p - 1 slices to its neighbour in the host and 1 to the next host, S / (n p) bytes each. Time
// without sharing: all-reduce 2 (n-1) (a + (p-1) S / (n p B)), all-gather and reduce-scatter half of it.
#include <utility>
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/rail_order.h"
#include "core/base/index.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr int kToNeighbour = 0;
constexpr int kToNextHost = 1;

class RailRings final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "rail_rings"; }
  [[nodiscard]] std::string_view help() const override {
    return "one ring per GPU of a host, each on its own rail (NCCL rings with all channels)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const bool kind = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                      call.kind == CollectiveKind::kReduceScatter;
    return kind && call.layout->even() && call.layout->host_count() > 1 && call.layout->largest_host > 1;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce ? 2 * (call.size() - 1) : call.size() - 1;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const Cut cut(call.bytes, pieces(call));
    const RailOrder order(call);
    const int leaving = order.leaving_ring(member);
    out.sends.push_back(
        {.peer = order.next_in_host(member), .size = bytes_to_neighbour(call, cut, member, index)});
    out.sends.push_back(
        {.peer = order.next_host_peer(member), .size = cut.size(sent_piece(call, member, leaving, index))});
    out.awaits.push_back({.peer = order.previous_in_host(member), .send = kToNeighbour});
    out.awaits.push_back({.peer = order.previous_host_peer(member), .send = kToNextHost});
  }

  [[nodiscard]] int same_until(const CollectiveCall& call, int) const override { return steps(call); }

  // One cycle for each ring, along which the member sends that leaves the host in it. What goes to a neighbour is the
  // sum over all other rings: members at one place on every other host are two hosts further in all of them.
  [[nodiscard]] std::optional<CyclicSizes> cyclic_sizes(const CollectiveCall& call) const override {
    const Cut cut(call.bytes, pieces(call));
    const RailOrder order(call);
    const int rings = order.rings();
    const int shift = reducing(call, 0) ? -1 : 0;
    CyclicSizes sizes;
    for (int ring = 0; ring < rings; ++ring) {
      std::vector<Bytes>& cycle = sizes.cycles.emplace_back();
      for (int owner = 0; owner < call.size(); ++owner) {
        cycle.push_back(cut.size(order.member_in(owner, ring) * rings + ring));
      }
    }
    for (int host = 0; host < 2; ++host) {
      for (int place = 0; place < rings; ++place) {
        const int member = member_on(call, host, place);
        std::vector<Bytes> cycle(at(call.size()));
        for (int ring = 0; ring < rings; ++ring) {
          if (ring == order.leaving_ring(member)) continue;
          const int first = order.position_in(member, ring) + shift;
          for (int i = 0; i < call.size(); ++i) {
            cycle[at(i)] += sizes.cycles[at(ring)][at(wrap(first + i, call.size()))];
          }
        }
        sizes.cycles.push_back(std::move(cycle));
      }
    }
    for (int member = 0; member < call.size(); ++member) {
      const int host = host_of(call, member);
      const int leaving = order.leaving_ring(member);
      const auto to_neighbour = static_cast<std::uint32_t>(rings + host % 2 * rings + place_of(call, member));
      const auto along = static_cast<std::uint32_t>(wrap(order.position_in(member, leaving) + shift, call.size()));
      sizes.of_member.push_back({{.cycle = to_neighbour, .first = static_cast<std::uint32_t>(host / 2 * 2 * rings)},
                                 {.cycle = static_cast<std::uint32_t>(leaving), .first = along}});
    }
    return sizes;
  }

  // Each member owns p pieces, one for each ring.
  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return call.size() * call.layout->largest_host;
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    out.pieces.clear();
    out.reduce = reducing(call, index);
    const int leaving = RailOrder(call).leaving_ring(member);
    for (int ring = 0; ring < call.layout->largest_host; ++ring) {
      if ((ring == leaving) == (send == kToNextHost)) out.pieces.push_back(sent_piece(call, member, ring, index));
    }
  }

 private:
  static bool reducing(const CollectiveCall& call, int index) {
    return call.kind == CollectiveKind::kReduceScatter ||
           (call.kind == CollectiveKind::kAllReduce && index < call.size() - 1);
  }

  // The slices of all rings but one.
  static Bytes bytes_to_neighbour(const CollectiveCall& call, const Cut& cut, int member, int index) {
    const int rings = call.layout->largest_host;
    if (cut.even()) return (rings - 1) * cut.size(0);  // which slices they are makes no difference
    const int leaving = RailOrder(call).leaving_ring(member);
    Bytes total;
    for (int ring = 0; ring < rings; ++ring) {
      if (ring != leaving) total += cut.size(sent_piece(call, member, ring, index));
    }
    return total;
  }

  static int sent_piece(const CollectiveCall& call, int member, int ring, int index) {
    const int n = call.size();
    const RailOrder order(call);
    const int position = order.position_in(member, ring);
    const int round = call.kind == CollectiveKind::kAllReduce && index >= n - 1 ? index - (n - 1) : index;
    const int owner = reducing(call, index) ? position - 1 - round : position - round;
    return order.member_in(owner, ring) * call.layout->largest_host + ring;
  }
};

}  // namespace

const CollectiveAlgorithm& rail_rings() {
  static const RailRings algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
