// Library rings: the rings that NCCL's or RCCL's search finds, concurrently, each with an equal share of the buffer.
//
// Ring r of R visits hosts one by one in the order of the plan's r-th kind of channel
// (collectives/shapes/channel_ring.h), so that together they load the lanes of a host and its NICs as the library's
// channels do. In a step a member sends, for each ring, one slice of S / (n R) bytes to the ring's next member; slices
// for one peer by the same NICs are one message.
// Time without sharing: all-reduce 2 (n-1) (a + m S / (n R B)), where m is the largest number of rings on one lane;
// all-gather and reduce-scatter half of it. Broadcast and reduce: R chains from or to the root, (C + n - 2) (a + m S /
// (R C B)).
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/nccl/tables/vocabulary.h"
#include "collectives/shapes/channel_ring.h"
#include "collectives/shapes/cut.h"
#include "collectives/shapes/pipeline.h"
#include "collectives/shapes/ring_order.h"
#include "collectives/steps/library_rings.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

bool is_chain(const CollectiveCall& call) {
  return call.kind == CollectiveKind::kBroadcast || call.kind == CollectiveKind::kReduce;
}

// The first round adds contributions; the second round replaces by results.
bool is_reducing(const CollectiveCall& call, int index) {
  return call.kind == CollectiveKind::kReduceScatter ||
         (call.kind == CollectiveKind::kAllReduce && index < call.size() - 1);
}

class LibraryRings final : public CollectiveAlgorithm {
 public:
  explicit LibraryRings(const CollectivePlan& plan) : plan_(plan) {}

  [[nodiscard]] std::string_view name() const override { return "rings"; }
  [[nodiscard]] std::string_view help() const override {
    return "as many rings as the library's search finds, in its orders (NCCL's and RCCL's ring)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind != CollectiveKind::kAllToAll;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    const int n = call.size();
    if (n == 1) return 0;
    if (is_chain(call)) return chunks(call) + n - 2;
    return call.kind == CollectiveKind::kAllReduce ? 2 * (n - 1) : n - 1;
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const Cut cut(call.bytes, pieces(call));
    const Sent sent = sent_by(call, member, index);
    for (int ring = 0; ring < sent.rings; ++ring) {
      if (sent.piece[at(ring)] < 0) continue;
      const auto message = static_cast<std::size_t>(sent.message[at(ring)]);
      if (message == out.sends.size()) {
        out.sends.push_back({.peer = sent.peer[at(ring)], .size = Bytes(0), .nics = sent.nics[at(ring)]});
      }
      out.sends[message].size += cut.size(sent.piece[at(ring)]);
    }
    for (int ring = 0; ring < sent.rings; ++ring) {
      const ChannelRing order = ring_of(call, ring);
      await_from(call, order.member_at(order.position_of(member) - 1), {.member = member, .index = index}, out);
    }
  }

  [[nodiscard]] int same_until(const CollectiveCall& call, int index) const override {
    return is_chain(call) ? index + 1 : steps(call);
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return rings(call) * (is_chain(call) ? chunks(call) : call.size());
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    out.pieces.clear();
    out.reduce = call.kind == CollectiveKind::kReduce || is_reducing(call, index);
    const Sent sent = sent_by(call, member, index);
    for (int ring = 0; ring < sent.rings; ++ring) {
      if (sent.piece[at(ring)] >= 0 && sent.message[at(ring)] == send) out.pieces.push_back(sent.piece[at(ring)]);
    }
  }

 private:
  struct Receiver {
    int member = 0;
    int index = 0;  // of the step
  };
  // A member's sends in a step, by ring: the piece (-1: none), the receiver, and the message it is part of.
  struct Sent {
    int rings = 0;
    std::array<int, kNcclMaxChannels> piece;
    std::array<int, kNcclMaxChannels> peer;
    std::array<int, kNcclMaxChannels> message;
    std::array<MessageNics, kNcclMaxChannels> nics;
  };

  [[nodiscard]] int rings(const CollectiveCall& call) const { return ring_kinds(*call.layout, plan_); }
  [[nodiscard]] int chunks(const CollectiveCall& call) const {
    return pipeline_chunks(call.bytes / rings(call), call.size() - 2);
  }
  [[nodiscard]] ChannelRing ring_of(const CollectiveCall& call, int ring) const {
    return {*call.layout, {.number = ring, .of = rings(call), .plan = &plan_}};
  }

  [[nodiscard]] Sent sent_by(const CollectiveCall& call, int member, int index) const {
    Sent sent;
    sent.rings = rings(call);
    int messages = 0;
    for (int ring = 0; ring < sent.rings; ++ring) {
      const ChannelRing order = ring_of(call, ring);
      const int position = order.position_of(member);
      sent.piece[at(ring)] = sent_piece(call, order, {.ring = ring, .position = position, .index = index});
      if (sent.piece[at(ring)] < 0) continue;
      sent.peer[at(ring)] = order.member_at(position + 1);
      sent.nics[at(ring)] = nics_between(*call.layout, plan_, ring, member, sent.peer[at(ring)]);
      sent.message[at(ring)] = messages;
      for (int other = 0; other < ring; ++other) {
        if (sent.piece[at(other)] < 0 || sent.peer[at(other)] != sent.peer[at(ring)]) continue;
        if (sent.nics[at(other)] != sent.nics[at(ring)]) continue;
        sent.message[at(ring)] = sent.message[at(other)];
        break;
      }
      if (sent.message[at(ring)] == messages) ++messages;
    }
    return sent;
  }

  void await_from(const CollectiveCall& call, int peer, Receiver receiver, CollectiveStep& out) const {
    const auto is_known = [&](const CollectiveAwait& await) { return await.peer == peer; };
    if (std::ranges::any_of(out.awaits, is_known)) return;  // by an earlier ring
    const Sent sent = sent_by(call, peer, receiver.index);
    int awaited = -1;  // messages are numbered in the order of their first rings
    for (int ring = 0; ring < sent.rings; ++ring) {
      if (sent.piece[at(ring)] < 0 || sent.peer[at(ring)] != receiver.member) continue;
      if (sent.message[at(ring)] <= awaited) continue;
      awaited = sent.message[at(ring)];
      out.awaits.push_back({.peer = peer, .send = awaited});
    }
  }

  // A member's position in one ring.
  struct Place {
    int ring = 0;
    int position = 0;
    int index = 0;  // of the step
  };
  // Pieces of kinds that traverse the whole ring are numbered by owner, then by ring.
  [[nodiscard]] int sent_piece(const CollectiveCall& call, const ChannelRing& order, const Place& place) const {
    if (is_chain(call)) return chain_piece(call, order, place);
    const int n = call.size();
    const int round = place.index >= n - 1 ? place.index - (n - 1) : place.index;
    const int owner = is_reducing(call, place.index) ? place.position - 1 - round : place.position - round;
    return order.member_at(owner) * rings(call) + place.ring;
  }
  // The root is the first of a broadcast's chain and the last of a reduction's; the last one sends nothing.
  [[nodiscard]] int chain_piece(const CollectiveCall& call, const ChannelRing& order, const Place& place) const {
    const int n = call.size();
    const int first = order.position_of(call.root) + (call.kind == CollectiveKind::kReduce ? 1 : 0);
    const int rank = wrap(place.position - first, n);
    const int chunk = place.index - rank;
    const int count = chunks(call);
    return rank < n - 1 && chunk >= 0 && chunk < count ? place.ring * count + chunk : -1;
  }

  CollectivePlan plan_;
};

// Everything that an algorithm uses of a plan besides the number of channels.
std::vector<std::vector<int>> paths_in_one(const CollectivePlan& plan) {
  std::vector<std::vector<int>> all = {plan.kind_of_host};
  for (const std::vector<HostPath>& of_host : plan.paths) {
    all.push_back({static_cast<int>(of_host.size())});
    for (const HostPath& path : of_host) {
      all.push_back({path.in, path.out, path.relay});
      all.push_back(path.order);
    }
  }
  return all;
}

// Paths of channels of a kind through every kind of host; on a single host the NICs do not matter.
std::vector<HostPath> through_hosts(const CollectivePlan& plan, const GroupLayout& layout, int kind) {
  std::vector<HostPath> paths;
  for (const std::vector<HostPath>& of_host : plan.paths) {
    const HostPath& path = of_host[at(kind) % of_host.size()];
    paths.push_back(layout.host_count() > 1 ? path : HostPath{.order = path.order});
  }
  return paths;
}

}  // namespace

std::unique_ptr<const CollectiveAlgorithm> make_library_rings(const CollectivePlan& plan) {
  return std::make_unique<LibraryRings>(plan);
}

const CollectiveAlgorithm& LibraryAlgorithms::made(Make make, const CollectivePlan& plan) {
  const std::scoped_lock lock(mutex_);
  auto& known = known_[{make == &make_library_trees, plan.channels, paths_in_one(plan)}];
  if (known == nullptr) known = make(plan);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::rings(const CollectivePlan& plan, const GroupLayout& layout) {
  return made(&make_library_rings, distinct_orders(plan, layout));
}

const CollectiveAlgorithm& LibraryAlgorithms::trees(const CollectivePlan& plan, const GroupLayout& layout) {
  return made(&make_library_trees, distinct_orders(plan, layout));
}

const CollectiveAlgorithm& LibraryAlgorithms::torus(const std::vector<int>& sides) {
  const std::scoped_lock lock(mutex_);
  auto& known = on_torus_[sides];
  if (known == nullptr) known = make_torus_rings(sides);
  return *known;
}

CollectivePlan distinct_orders(const CollectivePlan& plan, const GroupLayout& layout) {
  CollectivePlan result{.algorithm = plan.algorithm, .channels = ring_kinds(layout, plan)};
  if (plan.paths.empty()) return result;
  std::vector<std::vector<HostPath>> kinds;
  std::vector<int> count;
  for (int kind = 0; kind < result.channels; ++kind) {
    std::vector<HostPath> paths = through_hosts(plan, layout, kind);
    const auto known = std::ranges::find(kinds, paths);
    if (known == kinds.end()) {
      kinds.push_back(std::move(paths));
      count.push_back(1);
    } else {
      ++count[static_cast<std::size_t>(known - kinds.begin())];
    }
  }
  const bool identical = std::ranges::all_of(count, [&](int of_kind) { return of_kind == count.front(); });
  if (identical) result.channels = static_cast<int>(kinds.size());
  result.kind_of_host = plan.kind_of_host;
  result.paths.resize(plan.paths.size());
  for (int kind = 0; kind < result.channels; ++kind) {
    const std::vector<HostPath> paths = identical ? kinds[at(kind)] : through_hosts(plan, layout, kind);
    for (std::size_t host = 0; host < paths.size(); ++host) result.paths[host].push_back(paths[host]);
  }
  return result;
}

}  // namespace ringwright::collectives
