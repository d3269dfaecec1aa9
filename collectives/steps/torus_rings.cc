// Torus rings: reduce-scatter along one side of a torus after the other, all-gather back, by all links at once.
//
// The buffer is cut into 2 d parts for the d sides. Part q begins with side q mod d and continues with the next ones in
// order, the first d parts upwards and the others downwards, so that in every phase each side's links carry one part
// per direction: the multiported bucket algorithm (Jain and Sabharwal, "Optimal bucket algorithms for large MPI
// collectives on torus interconnects", ICS 2010; Sack and Gropp, "Collective algorithms for multiported torus
// networks", ACM TOPC 2015). Several members of a host reduce and gather among themselves first and last, around a
// ring.
// Time without sharing, for sides of a hosts with one member each, n = a^d:
// all-reduce 2 d (a-1) l + 2 S (1 - 1/n) / (2 d B); all-gather and reduce-scatter half of it.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "collectives/steps/library_rings.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

// A ring that contains a member: the members of its host, or a row of hosts along a side.
struct Phase {
  int side = -1;       // -1: the host
  int size = 1;
  int direction = 1;
  int round = 0;       // of its size - 1
  bool gathers = false;
  std::size_t number = 0;  // among the phases of the reduce-scatter
};

class TorusRings final : public CollectiveAlgorithm {
 public:
  explicit TorusRings(const std::vector<int>& sides) {
    for (const int side : sides) {
      if (side > 1) sides_.push_back(side);
    }
  }

  [[nodiscard]] std::string_view name() const override { return "torus_rings"; }
  [[nodiscard]] std::string_view help() const override {
    return "rings along all sides of a torus at once, in both directions (multiported bucket algorithm)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const bool kind = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                      call.kind == CollectiveKind::kReduceScatter;
    return kind && !sides_.empty() && call.layout->even() && call.layout->host_count() == hosts();
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce ? 2 * rounds(call) : rounds(call);
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const Cut cut(call.bytes, pieces(call));
    std::vector<int> moving;
    for (int part = 0; part < parts(); ++part) {
      const Phase phase = phase_at(call, part, index);
      const int peer = neighbour(call, member, phase, 1);
      const int message = message_to(call, member, peer, index);
      if (message == static_cast<int>(out.sends.size())) out.sends.push_back({.peer = peer, .size = Bytes(0)});
      pieces_of(call, member, part, phase, moving);
      Bytes& size = out.sends[static_cast<std::size_t>(message)].size;
      for (const int piece : moving) size += cut.size(piece);
      const int before = neighbour(call, member, phase, -1);
      const auto known = std::ranges::find(out.awaits, before, &CollectiveAwait::peer);
      if (known == out.awaits.end()) {
        out.awaits.push_back({.peer = before, .send = message_to(call, before, member, index)});
      }
    }
  }

  // Each member owns a piece of every part.
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size() * parts(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    out.pieces.clear();
    out.reduce = !phase_at(call, 0, index).gathers;  // all parts change from reduce-scatter to all-gather in the same
                                                     // step
    std::vector<int> moving;
    for (int part = 0; part < parts(); ++part) {
      const Phase phase = phase_at(call, part, index);
      if (message_to(call, member, neighbour(call, member, phase, 1), index) != send) continue;
      pieces_of(call, member, part, phase, moving);
      out.pieces.insert(out.pieces.end(), moving.begin(), moving.end());
    }
  }

 private:
  [[nodiscard]] int parts() const { return 2 * static_cast<int>(sides_.size()); }
  [[nodiscard]] int hosts() const {
    int count = 1;
    for (const int side : sides_) count *= side;
    return count;
  }
  [[nodiscard]] int rounds(const CollectiveCall& call) const {
    int sum = call.layout->largest_host - 1;
    for (const int side : sides_) sum += side - 1;
    return sum;
  }

  // The phase with this number of a part's reduce-scatter: the host, then the sides in order.
  [[nodiscard]] Phase phase_number(const CollectiveCall& call, int part, std::size_t number) const {
    Phase phase{.number = number};
    const auto sides = static_cast<int>(sides_.size());
    if (number == 0) {
      phase.size = call.layout->largest_host;
      return phase;
    }
    phase.side = (part + static_cast<int>(number) - 1) % sides;
    phase.size = sides_[at(phase.side)];
    phase.direction = part < sides ? 1 : -1;
    return phase;
  }
  // The action of a part in a step; gathers run the phases backwards.
  [[nodiscard]] Phase phase_at(const CollectiveCall& call, int part, int index) const {
    const bool gathers = call.kind == CollectiveKind::kAllGather ||
                         (call.kind == CollectiveKind::kAllReduce && index >= rounds(call));
    int left = gathers && call.kind == CollectiveKind::kAllReduce ? index - rounds(call) : index;
    const std::size_t last = sides_.size();
    for (std::size_t i = 0; i <= last; ++i) {
      Phase phase = phase_number(call, part, gathers ? last - i : i);
      if (left < phase.size - 1) {
        phase.round = left;
        phase.gathers = gathers;
        return phase;
      }
      left -= phase.size - 1;
    }
    return {};
  }

  // A member's position in the host, or its host's coordinate along a side.
  [[nodiscard]] int coordinate(const CollectiveCall& call, int member, int side) const {
    if (side < 0) return place_of(call, member);
    int rest = host_of(call, member);
    for (int s = 0; s < side; ++s) rest /= sides_[at(s)];
    return rest % sides_[at(side)];
  }
  [[nodiscard]] int neighbour(const CollectiveCall& call, int member, const Phase& phase, int steps) const {
    const int here = coordinate(call, member, phase.side);
    const int there = wrap(here + steps * phase.direction, phase.size);
    if (phase.side < 0) return member_on(call, host_of(call, member), there);
    int stride = 1;
    for (int s = 0; s < phase.side; ++s) stride *= sides_[at(s)];
    return member_on(call, host_of(call, member) + (there - here) * stride, place_of(call, member));
  }
  // The index of a member's message to `peer`: one for each peer, in the order of the parts.
  [[nodiscard]] int message_to(const CollectiveCall& call, int member, int peer, int index) const {
    std::vector<int> peers;
    for (int part = 0; part < parts(); ++part) {
      const int other = neighbour(call, member, phase_at(call, part, index), 1);
      if (std::ranges::find(peers, other) == peers.end()) peers.push_back(other);
      if (other == peer) break;
    }
    return static_cast<int>(std::ranges::find(peers, peer) - peers.begin());
  }

  // Pieces of a part that a member sends: those of all owners with its coordinates of the earlier phases and the
  // current coordinate of this phase.
  void pieces_of(const CollectiveCall& call, int member, int part, const Phase& phase, std::vector<int>& out) const {
    out.clear();
    const int here = coordinate(call, member, phase.side);
    const int behind = phase.gathers ? phase.round : phase.round + 1;
    const int turn = wrap(here - behind * phase.direction, phase.size);
    for (int owner = 0; owner < call.size(); ++owner) {
      if (coordinate(call, owner, phase.side) != turn) continue;
      bool shared = true;
      for (std::size_t before = 0; before < phase.number && shared; ++before) {
        const int side = phase_number(call, part, before).side;
        shared = coordinate(call, owner, side) == coordinate(call, member, side);
      }
      if (shared) out.push_back(owner * parts() + part);
    }
  }

  std::vector<int> sides_;  // of two hosts and more
};

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_torus_rings(const std::vector<int>& sides) {
  return std::make_unique<TorusRings>(sides);
}

}  // namespace ringwright::collectives
