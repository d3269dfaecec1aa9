// Around lost NICs: an all-reduce that spares a host of which some NICs are down (mode 3 of R2CCL, arXiv 2512.25059).
//
// With the share X of a host's NICs lost, 1 - X of the buffer goes over rail rings of all hosts, and X over rings of
// all but that one, at the same time. Then the host's own X are added to the others' on the next host, in kTailChunks
// chunks. Each goes from there along a chain of all hosts, over every rail. That is what the project's AllReduce does
// (src/r2cc/allreduce/r2cc_allreduce.cc: a main and a tail of count X, R2CC_AR_STAGE2_CHUNKS = 4, schedule 0, from
// 16 MiB on). Time without latency, N hosts: 2 (n-1)/n S / B + (1 + 1 / kTailChunks) X / (1 - X) S / B, where balancing
// takes 2 (n-1)/n S / ((1 - X) B); B is the bandwidth of a complete host.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/rail_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr Bytes kPlannedFrom(std::int64_t{16} << 20);  // R2CC_AR_MIN_BYTES; smaller ones are balanced
constexpr int kTailChunks = 4;
constexpr int kLeastTailSlices = 64;  // of the second stage, so that a chain of hosts adds little

struct PlannedSend {
  int peer = 0;
  bool reduce = false;
  std::vector<int> pieces;
  MessageNics nics = {};
};

// Numbers of the NICs that the host has lost.
std::vector<int> lost_rails(const CollectiveCall& call) {
  std::vector<int> rails;
  for (int rail = 0; rail < call.layout->lost_nics.of; ++rail) {
    if ((call.layout->lost_nics.lost >> rail & 1) != 0) rails.push_back(rail);
  }
  return rails;
}

// Pieces: those of the rings of all hosts, then those of the rings without the host, each ring's piece in `fine` parts.
// Part q belongs to slice q / p and to place q mod p of the second stage.
class PlannedRings {
 public:
  explicit PlannedRings(const CollectiveCall& call)
      : all(call),
        healthy(call, call.layout->lost_nics.host),
        fine(all.hosts() * ((kLeastTailSlices + healthy.size() * all.hosts() - 1) / (healthy.size() * all.hosts()))),
        slices(healthy.size() * fine),
        tail(Bytes(call.bytes.count() / call.layout->lost_nics.of * static_cast<int>(lost_rails(call).size()))),
        main_cut(call.bytes - tail, all.size() * all.rings()),
        tail_cut(tail, slices * all.rings()) {}

  RailOrder all;
  RailOrder healthy;
  int fine;
  int slices;
  Bytes tail;
  Cut main_cut;
  Cut tail_cut;

  [[nodiscard]] int main_pieces() const { return all.size() * all.rings(); }
  [[nodiscard]] int pieces() const { return main_pieces() + slices * all.rings(); }
  [[nodiscard]] Bytes size(int piece) const {
    return piece < main_pieces() ? main_cut.size(piece) : tail_cut.size(piece - main_pieces());
  }
  [[nodiscard]] int first_steps() const { return 2 * (all.size() - 1); }
  // Rounds of the rings without the host are fewer, by (N - 1) / N: each is divided into N parts, of which N - 1 go in
  // a step, so that both end together. The parts of a step, counted over all rounds: from first to last, without last.
  struct Parts {
    int first = 0;
    int last = 0;
  };
  [[nodiscard]] Parts parts_in(int step) const {
    const int most = 2 * (healthy.size() - 1) * all.hosts();
    const int each = std::max(1, all.hosts() - 1);
    return {.first = std::min(most, step * each), .last = std::min(most, (step + 1) * each)};
  }
  // A slice may leave once the chunk that it belongs to has been added.
  [[nodiscard]] int lag() const { return (slices + kTailChunks - 1) / kTailChunks; }
  // Slices that the spared host has summed within itself before a step of the first stage.
  [[nodiscard]] int summed_before(int step) const {
    return static_cast<int>(std::int64_t{step} * slices / first_steps());
  }
  [[nodiscard]] int steps() const { return first_steps() + lag() + slices + all.hosts() - 1; }
};

class AroundLostNics final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "around_lost_nics"; }
  [[nodiscard]] std::string_view help() const override {
    return "rail rings of all hosts, and of all but one that has lost NICs (R2CCL's AllReduce); with faults of "
           "`failover: replan`";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const GroupLayout& layout = *call.layout;
    const LostNics& nics = layout.lost_nics;
    const bool one_each = nics.of == layout.largest_host && layout.even();
    // The hop that closes a ring of an odd number of hosts changes rails, and leaves no NIC of the host before it idle.
    if (nics.host == 0 && layout.host_count() % 2 == 1) return false;
    return call.kind == CollectiveKind::kAllReduce && nics.host >= 0 && one_each &&
           layout.host_count() > 1 && layout.largest_host > 1 && call.bytes >= kPlannedFrom &&
           static_cast<int>(lost_rails(call).size()) < nics.of;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return PlannedRings(call).steps(); }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const PlannedRings plan(call);
    for (const PlannedSend& send : sends(call, plan, member, index)) {
      Bytes size;
      for (const int piece : send.pieces) size += plan.size(piece);
      out.sends.push_back({.peer = send.peer, .size = size, .nics = send.nics});
    }
    for (const int peer : senders(call, plan, member, index)) {
      const std::vector<PlannedSend> theirs = sends(call, plan, peer, index);
      for (std::size_t number = 0; number < theirs.size(); ++number) {
        if (theirs[number].peer == member) out.awaits.push_back({.peer = peer, .send = static_cast<int>(number)});
      }
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return PlannedRings(call).pieces(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return PlannedRings(call).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const PlannedSend all = sends(call, PlannedRings(call), member, index)[static_cast<std::size_t>(send)];
    out = {.pieces = all.pieces, .reduce = all.reduce};
  }
 private:
  static int lost_host(const CollectiveCall& call) { return call.layout->lost_nics.host; }

  // Along the chain: the next host is the first, and the one that lost NICs the last.
  static int link_of(const CollectiveCall& call, int host) {
    return wrap(host - lost_host(call) - 1, call.layout->host_count());
  }

  static std::vector<PlannedSend> sends(const CollectiveCall& call, const PlannedRings& plan, int member, int index) {
    std::vector<PlannedSend> result;
    if (index >= plan.first_steps()) {
      add_own_share(call, plan, member, index - plan.first_steps(), result);
      add_chain(call, plan, member, index - plan.first_steps(), result);
      return result;
    }
    add_main(plan, member, index, result);
    if (host_of(call, member) != lost_host(call)) {
      add_tail(call, plan, member, index, result);
    } else {
      add_own_sum(call, plan, member, index, result);
    }
    return result;
  }

  // Whose sends of the step may be to this member.
  static std::vector<int> senders(const CollectiveCall& call, const PlannedRings& plan, int member, int index) {
    const int host = host_of(call, member);
    if (index >= plan.first_steps()) {
      std::vector<int> peers = call.layout->hosts[static_cast<std::size_t>(host)];
      std::erase(peers, member);
      const int before = wrap(host - 1, call.layout->host_count());
      peers.push_back(member_on(call, before, place_of(call, member)));
      return peers;
    }
    std::vector<int> peers;
    const auto add = [&](int peer) {
      if (peer != member && std::ranges::count(peers, peer) == 0) peers.push_back(peer);
    };
    add(plan.all.previous_in_host(member));
    add(plan.all.previous_host_peer(member));
    if (host == lost_host(call)) {
      for (const int peer : call.layout->hosts[static_cast<std::size_t>(host)]) add(peer);
    } else {
      add(plan.healthy.previous_in_host(member));
      add(plan.healthy.previous_host_peer(member));
    }
    return peers;
  }

  // The piece of a ring that a member passes on in a round, as rail_rings.cc has it.
  struct Round {
    const RailOrder& order;
    int number = 0;

    [[nodiscard]] bool reduces() const { return number < order.size() - 1; }
    [[nodiscard]] int piece(int member, int ring) const {
      const int n = order.size();
      const int position = order.position_in(member, ring);
      const int owner = wrap(reduces() ? position - 1 - number : position - (number - (n - 1)), n);
      return owner * order.rings() + ring;
    }
  };

  static void add_main(const PlannedRings& plan, int member, int index, std::vector<PlannedSend>& result) {
    const Round round{.order = plan.all, .number = index};
    PlannedSend inside{.peer = plan.all.next_in_host(member), .reduce = round.reduces(), .pieces = {}};
    PlannedSend outside{.peer = plan.all.next_host_peer(member), .reduce = round.reduces(), .pieces = {}};
    for (int ring = 0; ring < plan.all.rings(); ++ring) {
      const bool leaves = ring == plan.all.leaving_ring(member);
      (leaves ? outside : inside).pieces.push_back(round.piece(member, ring));
    }
    result.push_back(std::move(inside));
    result.push_back(std::move(outside));
  }

  // Past the spared host, by the NICs on the lost rails, which the rings of all hosts leave idle there.
  static MessageNics nics_past(const CollectiveCall& call, int member, int peer) {
    const int before = wrap(lost_host(call) - 1, call.layout->host_count());
    if (host_of(call, member) != before || host_of(call, peer) == before) return {};
    const std::vector<int> rails = lost_rails(call);
    const auto rail = static_cast<std::int16_t>(
        rails[static_cast<std::size_t>(place_of(call, member)) % rails.size()]);
    const bool own = call.layout->gpu_of[static_cast<std::size_t>(member)] == rail;
    return {.out = rail, .relay = own ? std::int16_t{-1} : rail};
  }

  // The parts of the step: of each round one message to the next member in the host, and one to the next host.
  static void add_tail(const CollectiveCall& call, const PlannedRings& plan, int member, int index,
                       std::vector<PlannedSend>& result) {
    const RailOrder& order = plan.healthy;
    const int parts = call.layout->host_count();
    const int of_part = plan.fine / parts;
    const auto [first, last] = plan.parts_in(index);
    for (int part = first; part < last; ++part) {
      const Round round{.order = order, .number = part / parts};
      const int peer = order.next_host_peer(member);
      PlannedSend inside{.peer = order.next_in_host(member), .reduce = round.reduces(), .pieces = {}};
      PlannedSend outside{
          .peer = peer, .reduce = round.reduces(), .pieces = {}, .nics = nics_past(call, member, peer)};
      for (int ring = 0; ring < order.rings(); ++ring) {
        const bool leaves = ring == order.leaving_ring(member);
        const int begin = plan.main_pieces() + round.piece(member, ring) * plan.fine + part % parts * of_part;
        for (int piece = begin; piece < begin + of_part; ++piece) (leaves ? outside : inside).pieces.push_back(piece);
      }
      result.push_back(std::move(inside));
      result.push_back(std::move(outside));
    }
  }

  // During the first stage the spared host sums its own slices: the member at place q sums part q of each.
  static void add_own_sum(const CollectiveCall& call, const PlannedRings& plan, int member, int index,
                          std::vector<PlannedSend>& result) {
    const int p = plan.all.rings();
    for (int place = 0; place < p; ++place) {
      if (place == place_of(call, member)) continue;
      PlannedSend send{.peer = member_on(call, lost_host(call), place), .reduce = true, .pieces = {}};
      for (int slice = plan.summed_before(index); slice < plan.summed_before(index + 1); ++slice) {
        send.pieces.push_back(plan.main_pieces() + slice * p + place);
      }
      if (!send.pieces.empty()) result.push_back(std::move(send));
    }
  }

  // In the second stage the spared host sends these sums to the next host.
  static void add_own_share(const CollectiveCall& call, const PlannedRings& plan, int member, int step,
                            std::vector<PlannedSend>& result) {
    const int host = host_of(call, member);
    if (host != lost_host(call) || step >= plan.slices) return;
    const int place = place_of(call, member);
    result.push_back({.peer = member_on(call, wrap(host + 1, call.layout->host_count()), place),
                      .reduce = true,
                      .pieces = {plan.main_pieces() + step * plan.all.rings() + place}});
  }

  // A host sends its part of a slice to the next host and to its own members.
  static void add_chain(const CollectiveCall& call, const PlannedRings& plan, int member, int step,
                        std::vector<PlannedSend>& result) {
    const int host = host_of(call, member);
    const int hosts = call.layout->host_count();
    const int slice = step - plan.lag() - link_of(call, host);
    if (slice < 0 || slice >= plan.slices) return;
    const int place = place_of(call, member);
    const std::vector<int> pieces = {plan.main_pieces() + slice * plan.all.rings() + place};
    if (link_of(call, host) + 1 < hosts) {
      result.push_back({.peer = member_on(call, wrap(host + 1, hosts), place), .reduce = false, .pieces = pieces});
    }
    for (int other = 0; other < plan.all.rings(); ++other) {
      if (other == place) continue;
      result.push_back({.peer = member_on(call, host, other), .reduce = false, .pieces = pieces});
    }
  }
};

}  // namespace

const CollectiveAlgorithm& around_lost_nics() {
  static const AroundLostNics algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
