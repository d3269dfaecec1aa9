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
#include "collectives/steps/streamed_rings.h"
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

// What all steps of one group have in common, computed once: the rings' orders, and each member's messages.
class RingTables {
 public:
  RingTables(const GroupLayout& layout, const CollectivePlan& plan);

  // All of these by ring.
  [[nodiscard]] int position_of(int ring, int member) const { return position_[at(ring * members_ + member)]; }
  [[nodiscard]] int member_at(int ring, int place) const {
    return member_[at(ring * members_ + wrap(place, members_))];
  }
  [[nodiscard]] int peer_of(int ring, int member) const { return member_at(ring, position_of(ring, member) + 1); }
  [[nodiscard]] MessageNics nics_from(int ring, int member) const { return nics_[at(ring * members_ + member)]; }
  // Of a member that sends in every ring: slices for one peer by the same NICs are one message.
  [[nodiscard]] int message_of(int ring, int member) const { return message_[at(ring * members_ + member)]; }
  [[nodiscard]] int rings() const { return rings_; }

 private:
  void number_messages(int member);

  int members_;
  int rings_;
  std::vector<int> position_, member_, message_;
  std::vector<MessageNics> nics_;
};

RingTables::RingTables(const GroupLayout& layout, const CollectivePlan& plan)
    : members_(layout.size()), rings_(ring_kinds(layout, plan)) {
  for (int ring = 0; ring < rings_; ++ring) {
    const ChannelRing order(layout, {.number = ring, .of = rings_, .plan = &plan});
    for (int place = 0; place < members_; ++place) member_.push_back(order.member_at(place));
    for (int member = 0; member < members_; ++member) position_.push_back(order.position_of(member));
    for (int member = 0; member < members_; ++member) {
      nics_.push_back(nics_between(layout, plan, ring, member, peer_of(ring, member)));
    }
  }
  message_.resize(member_.size());
  for (int member = 0; member < members_; ++member) number_messages(member);
}

void RingTables::number_messages(int member) {
  int messages = 0;
  for (int ring = 0; ring < rings_; ++ring) {
    int& number = message_[at(ring * members_ + member)];
    number = messages;
    for (int other = 0; other < ring && number == messages; ++other) {
      const bool same = peer_of(other, member) == peer_of(ring, member) &&
                        nics_from(other, member) == nics_from(ring, member);
      if (same) number = message_of(other, member);
    }
    if (number == messages) ++messages;
  }
}

// Larger groups do without.
std::unique_ptr<const RingTables> tables_of(const GroupLayout& layout, const CollectivePlan& plan) {
  constexpr std::int64_t kMostEntries = std::int64_t{1} << 20U;
  if (std::int64_t{ring_kinds(layout, plan)} * layout.size() > kMostEntries) return nullptr;
  return std::make_unique<const RingTables>(layout, plan);
}

class LibraryRings final : public CollectiveAlgorithm {
 public:
  explicit LibraryRings(const CollectivePlan& plan) : plan_(plan) {}
  LibraryRings(const CollectivePlan& plan, const GroupLayout& layout)
      : plan_(plan), layout_(&layout), tables_(tables_of(layout, plan)) {}

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
    if (tables_ != nullptr && call.layout == layout_ && !is_chain(call)) {
      return round(call, {.member = member, .index = index}, cut, out);
    }
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

  // A step of the group that the tables are of, in which every member sends in every ring.
  void round(const CollectiveCall& call, Receiver at_work, const Cut& cut, CollectiveStep& out) const {
    const RingTables& tables = *tables_;
    const int member = at_work.member;
    const int n = call.size();
    const int turn = at_work.index >= n - 1 ? at_work.index - (n - 1) : at_work.index;
    const int back = turn + (is_reducing(call, at_work.index) ? 1 : 0);
    for (int ring = 0; ring < tables.rings(); ++ring) {
      const auto message = static_cast<std::size_t>(tables.message_of(ring, member));
      if (message == out.sends.size()) {
        out.sends.push_back(
            {.peer = tables.peer_of(ring, member), .size = Bytes(0), .nics = tables.nics_from(ring, member)});
      }
      const int owner = tables.member_at(ring, tables.position_of(ring, member) - back);
      out.sends[message].size += cut.size(owner * tables.rings() + ring);
    }
    for (int ring = 0; ring < tables.rings(); ++ring) {
      const int peer = tables.member_at(ring, tables.position_of(ring, member) - 1);
      const auto is_known = [&](const CollectiveAwait& await) { return await.peer == peer; };
      if (std::ranges::any_of(out.awaits, is_known)) continue;
      int awaited = -1;
      for (int other = 0; other < tables.rings(); ++other) {
        if (tables.peer_of(other, peer) != member || tables.message_of(other, peer) <= awaited) continue;
        awaited = tables.message_of(other, peer);
        out.awaits.push_back({.peer = peer, .send = awaited});
      }
    }
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
  const GroupLayout* layout_ = nullptr;  // of the tables
  std::unique_ptr<const RingTables> tables_;
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

const CollectiveAlgorithm& LibraryAlgorithms::rings(const CollectivePlan& plan, const GroupLayout& layout) {
  const CollectivePlan orders = distinct_orders(plan, layout);
  const std::scoped_lock lock(mutex_);
  auto& known = rings_[{&layout, orders.channels, paths_in_one(orders)}];
  if (known == nullptr) known = std::make_unique<LibraryRings>(orders, layout);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::trees(const CollectivePlan& plan, const GroupLayout& layout) {
  const CollectivePlan orders = distinct_orders(plan, layout);
  const std::scoped_lock lock(mutex_);
  auto& known = trees_[{orders.channels, paths_in_one(orders)}];
  if (known == nullptr) known = make_library_trees(orders);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::streamed(const CollectiveAlgorithm& rings, const CollectiveCall& call) {
  const bool are_rings = rings.name() == "rail_rings" || rings.name() == "rings";
  if (!are_rings || !is_streamed(rings, call)) return rings;
  const std::scoped_lock lock(mutex_);
  auto& known = streamed_[&rings];
  if (known == nullptr) known = make_streamed_rings(rings);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::torus(const std::vector<int>& sides) {
  const std::scoped_lock lock(mutex_);
  auto& known = on_torus_[sides];
  if (known == nullptr) known = make_torus_rings(sides);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::adaptive(const std::vector<double>& speed_of_host) {
  const std::scoped_lock lock(mutex_);
  auto& known = adaptive_[speed_of_host];
  if (known == nullptr) known = make_adaptive_trees(speed_of_host);
  return *known;
}

const CollectiveAlgorithm& LibraryAlgorithms::around_lost_nics(const CollectiveCall& call) {
  const std::scoped_lock lock(mutex_);
  auto& known = around_lost_nics_[{call.layout, call.bytes}];
  if (known == nullptr) known = make_around_lost_nics(call);
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
