// Around lost NICs: an all-reduce that spares hosts of which some NICs are down (mode 3 of R2CCL, arXiv 2512.25059).
//
// With the share X of a host's NICs lost, 1 - X of the buffer goes over rail rings of all hosts, and X over rings of
// all but that one, at the same time. Then the host's own X are added to the others' on the next host, in kTailChunks
// chunks (shapes/planned_rings.cc). Each goes from there along a chain of all hosts, over every rail. That is what the
// project's AllReduce does (src/r2cc/allreduce/r2cc_allreduce.cc: a main and a tail of count X,
// R2CC_AR_STAGE2_CHUNKS = 4, schedule 0, from 16 MiB on). Time without latency, N hosts:
// 2 (n-1)/n S / B + (1 + 1 / kTailChunks) X / (1 - X) S / B, where balancing takes 2 (n-1)/n S / ((1 - X) B); B is the
// bandwidth of a complete host.
//
// Several hosts: rings in levels (collectives/shapes/spared_hosts.h), which end together. The second stage has several
// chains of complete hosts, on whose ends the spared ones hang; it takes (1 + 1 / kTailChunks) S / B times the greater
// of the largest X / (1 - X) and the load of a complete host: with k spared hosts, m complete ones and a chain from
// each of them (m - 1 + k) / m times the largest X. The project's code has one such host; the order of adding is ours.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/shapes/planned_rings.h"
#include "collectives/steps/library_rings.h"
#include "collectives/steps/piece_messages.h"
#include "core/base/check.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr Bytes kPlannedFrom(std::int64_t{16} << 20);  // R2CC_AR_MIN_BYTES; smaller ones are balanced

// Numbers of the NICs that a host has lost.
std::vector<int> lost_rails(const LostNics& nics) {
  std::vector<int> rails;
  for (int rail = 0; rail < nics.of; ++rail) {
    if ((nics.lost >> rail & 1) != 0) rails.push_back(rail);
  }
  return rails;
}

// The plan refers to the call.
struct PlanOfCall {
  explicit PlanOfCall(const CollectiveCall& asked) : call(asked), plan(call) {}
  PlanOfCall(const PlanOfCall&) = delete;
  PlanOfCall& operator=(const PlanOfCall&) = delete;

  const CollectiveCall call;
  const PlannedRings plan;
};

class AroundLostNics final : public CollectiveAlgorithm {
 public:
  AroundLostNics() = default;
  explicit AroundLostNics(const CollectiveCall& call) : made_(std::make_unique<const PlanOfCall>(call)) {}

  [[nodiscard]] std::string_view name() const override { return "around_lost_nics"; }
  [[nodiscard]] std::string_view help() const override {
    return "rail rings of all hosts, and of those that have lost fewer NICs (R2CCL's AllReduce); with faults of "
           "`failover: replan`";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const GroupLayout& layout = *call.layout;
    return call.kind == CollectiveKind::kAllReduce && call.bytes >= kPlannedFrom && can_spare(layout) &&
           layout.even() && layout.lost_nics.front().of == layout.largest_host && layout.host_count() > 1 &&
           layout.largest_host > 1;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return with_plan(call, [](const PlannedRings& plan) { return plan.steps(); });
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    with_plan(call, [&](const PlannedRings& plan) {
      out.await_everyone = (index + 1) % plan.steps_apart() == 0;
      fill_step(
          member, senders(call, plan, member, index), [&](int of) { return sends(call, plan, of, index); },
          [&](int piece) { return plan.size(piece); }, out);
    });
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return with_plan(call, [](const PlannedRings& plan) { return plan.pieces; });
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return with_plan(call, [&](const PlannedRings& plan) { return plan.size(piece); });
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    with_plan(call, [&](const PlannedRings& plan) {
      const PieceMessage all = sends(call, plan, member, index)[static_cast<std::size_t>(send)];
      out = {.pieces = all.pieces, .reduce = all.reduce};
    });
  }

 private:
  // Made for one call, or for each question anew.
  template <class Use>
  std::invoke_result_t<Use, const PlannedRings&> with_plan(const CollectiveCall& call, const Use& use) const {
    if (made_ == nullptr) return use(PlannedRings(call));
    CHECK(made_->call.layout == call.layout && made_->call.bytes == call.bytes, "the plan is of this call");
    return use(made_->plan);
  }

  static std::vector<PieceMessage> sends(const CollectiveCall& call, const PlannedRings& plan, int member, int index) {
    std::vector<PieceMessage> result;
    const LostNics* const lost = plan.hosts.losses(host_of(call, member));
    if (index >= plan.first_steps()) {
      const int step = index - plan.first_steps();
      for (int chain = 0; chain < plan.hosts.chains(); ++chain) {
        if (lost != nullptr) add_own_share(call, plan, member, {.step = step, .chain = chain}, result);
        add_chain(call, plan, member, {.step = step, .chain = chain}, result);
      }
      return result;
    }
    add_main(plan, member, index, result);
    for (const LevelRings& level : plan.levels) {
      if (!level.rings.passes(host_of(call, member))) continue;
      add_level(call, plan, level, {.member = member, .index = index}, result);
    }
    if (lost != nullptr) add_own_sum(call, plan, member, index, result);
    return result;
  }

  // Whose sends of the step may be to this member.
  static std::vector<int> senders(const CollectiveCall& call, const PlannedRings& plan, int member, int index) {
    const int host = host_of(call, member);
    std::vector<int> peers;
    const auto add = [&](int peer) {
      if (peer != member && std::ranges::count(peers, peer) == 0) peers.push_back(peer);
    };
    const auto add_own_host = [&] {
      for (const int peer : call.layout->hosts[static_cast<std::size_t>(host)]) add(peer);
    };
    const bool is_spared = plan.hosts.losses(host) != nullptr;
    if (index >= plan.first_steps()) {
      add_own_host();
      for (const int from : hosts_before(plan, host)) add(member_on(call, from, place_of(call, member)));
      return peers;
    }
    add(plan.all.previous_in_host(member));
    add(plan.all.previous_host_peer(member));
    if (is_spared) add_own_host();
    for (const LevelRings& level : plan.levels) {
      if (!level.rings.passes(host)) continue;
      add(level.rings.previous_in_host(member));
      add(level.rings.previous_host_peer(member));
    }
    return peers;
  }

  // In the second stage.
  static std::vector<int> hosts_before(const PlannedRings& plan, int host) {
    std::vector<int> before;
    const bool is_spared = plan.hosts.losses(host) != nullptr;
    for (int chain = 0; chain < plan.hosts.chains(); ++chain) {
      if (is_spared) {
        before.push_back(plan.hosts.parent(chain, host));
        continue;
      }
      const int position = plan.hosts.position_in(chain, host);
      if (position > 0) {
        before.push_back(plan.hosts.chain_host(chain, position - 1));
        continue;
      }
      for (const LostNics& nics : plan.hosts.spared()) before.push_back(nics.host);
    }
    return before;
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

  static void add_main(const PlannedRings& plan, int member, int index, std::vector<PieceMessage>& result) {
    const Round round{.order = plan.all, .number = index};
    PieceMessage inside{.peer = plan.all.next_in_host(member), .reduce = round.reduces(), .pieces = {}};
    PieceMessage outside{.peer = plan.all.next_host_peer(member), .reduce = round.reduces(), .pieces = {}};
    for (int ring = 0; ring < plan.all.rings(); ++ring) {
      const bool leaves = ring == plan.all.leaving_ring(member);
      (leaves ? outside : inside).pieces.push_back(round.piece(member, ring));
    }
    result.push_back(std::move(inside));
    result.push_back(std::move(outside));
  }

  // Past a spared host, by the NICs on its lost rails, which traffic to it leaves idle on the host before it.
  static MessageNics nics_past(const CollectiveCall& call, const PlannedRings& plan, int member, int peer) {
    const LostNics* const passed = plan.hosts.passed(host_of(call, member), host_of(call, peer));
    if (passed == nullptr) return {};
    const std::vector<int> rails = lost_rails(*passed);
    const auto rail = static_cast<std::int16_t>(rails[static_cast<std::size_t>(place_of(call, member)) % rails.size()]);
    const bool own = call.layout->gpu_of[static_cast<std::size_t>(member)] == rail;
    return {.out = rail, .relay = own ? std::int16_t{-1} : rail};
  }

  struct Sender {
    int member = 0;
    int index = 0;  // of the step
  };

  // The parts of the step: of each round one message to the next member in the host, and one to the next host.
  static void add_level(const CollectiveCall& call, const PlannedRings& plan, const LevelRings& level,
                        const Sender& sender, std::vector<PieceMessage>& result) {
    const RailOrder& order = level.rings;
    const int member = sender.member;
    const int parts = call.layout->host_count();
    const int of_part = level.fine / parts;
    const auto [first, last] = plan.parts_in(level, sender.index);
    for (int part = first; part < last; ++part) {
      const Round round{.order = order, .number = part / parts};
      const int peer = order.next_host_peer(member);
      PieceMessage inside{.peer = order.next_in_host(member), .reduce = round.reduces(), .pieces = {}};
      PieceMessage outside{
          .peer = peer, .reduce = round.reduces(), .pieces = {}, .nics = nics_past(call, plan, member, peer)};
      for (int ring = 0; ring < order.rings(); ++ring) {
        const bool leaves = ring == order.leaving_ring(member);
        const int begin = level.first_piece + round.piece(member, ring) * level.fine + part % parts * of_part;
        for (int piece = begin; piece < begin + of_part; ++piece) (leaves ? outside : inside).pieces.push_back(piece);
      }
      result.push_back(std::move(inside));
      result.push_back(std::move(outside));
    }
  }

  // During the first stage a spared host sums its own slices: the member at place q sums part q of each. They are those
  // of its first level without it, and of all later ones.
  static void add_own_sum(const CollectiveCall& call, const PlannedRings& plan, int member, int index,
                          std::vector<PieceMessage>& result) {
    const int host = host_of(call, member);
    const int p = plan.all.rings();
    const int first_piece = plan.levels[static_cast<std::size_t>(plan.hosts.first_without(host))].first_piece;
    const std::int64_t slices = (plan.pieces - first_piece) / p;
    const auto summed_before = [&](int step) { return static_cast<int>(step * slices / plan.first_steps()); };
    for (int place = 0; place < p; ++place) {
      if (place == place_of(call, member)) continue;
      PieceMessage send{.peer = member_on(call, host, place), .reduce = true, .pieces = {}};
      for (int slice = summed_before(index); slice < summed_before(index + 1); ++slice) {
        send.pieces.push_back(first_piece + slice * p + place);
      }
      if (!send.pieces.empty()) result.push_back(std::move(send));
    }
  }

  struct Turn {
    int step = 0;  // of the second stage
    int chain = 0;
  };

  // In the second stage the spared host sends these sums to the head of the chain.
  static void add_own_share(const CollectiveCall& call, const PlannedRings& plan, int member, const Turn& turn,
                            std::vector<PieceMessage>& result) {
    const PlannedRings::Slices slices = plan.slices_in(turn.step, turn.chain);
    if (slices.count == 0 || slices.level < plan.hosts.first_without(host_of(call, member))) return;
    const int place = place_of(call, member);
    result.push_back({.peer = member_on(call, plan.hosts.chain_host(turn.chain, 0), place),
                      .reduce = true,
                      .pieces = plan.pieces_of(slices, place)});
  }

  // A host sends its part of a slice to the next host, to the spared host that hangs on it, and to its own members.
  static void add_chain(const CollectiveCall& call, const PlannedRings& plan, int member, const Turn& turn,
                        std::vector<PieceMessage>& result) {
    const int host = host_of(call, member);
    const PlannedRings::Slices slices =
        plan.slices_in(turn.step - plan.lag() - plan.hosts.delay(turn.chain, host), turn.chain);
    if (slices.count == 0) return;
    const int place = place_of(call, member);
    const auto send_to = [&](int peer) {
      result.push_back({.peer = peer, .reduce = false, .pieces = plan.pieces_of(slices, place)});
    };
    if (plan.hosts.losses(host) == nullptr) {
      const int next = plan.hosts.position_in(turn.chain, host) + 1;
      if (next < plan.hosts.complete()) send_to(member_on(call, plan.hosts.chain_host(turn.chain, next), place));
      for (const int hung : plan.hosts.hung_on(turn.chain, host)) send_to(member_on(call, hung, place));
    }
    for (int other = 0; other < plan.all.rings(); ++other) {
      if (other != place) send_to(member_on(call, host, other));
    }
  }

  std::unique_ptr<const PlanOfCall> made_;
};

}  // namespace

const CollectiveAlgorithm& around_lost_nics() {
  static const AroundLostNics algorithm;
  return algorithm;
}

std::unique_ptr<const CollectiveAlgorithm> make_around_lost_nics(const CollectiveCall& call) {
  return std::make_unique<AroundLostNics>(call);
}

}  // namespace ringwright::collectives
