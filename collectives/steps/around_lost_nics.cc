// Around lost NICs: an all-reduce that spares hosts of which some NICs are down (mode 3 of R2CCL, arXiv 2512.25059).
//
// With the share X of a host's NICs lost, 1 - X of the buffer goes over rail rings of all hosts, and X over rings of
// all but that one, at the same time. Then the host's own X are added to the others' on the next host, in kTailChunks
// chunks. Each goes from there along a chain of all hosts, over every rail. That is what the project's AllReduce does
// (src/r2cc/allreduce/r2cc_allreduce.cc: a main and a tail of count X, R2CC_AR_STAGE2_CHUNKS = 4, schedule 0, from
// 16 MiB on). Time without latency, N hosts: 2 (n-1)/n S / B + (1 + 1 / kTailChunks) X / (1 - X) S / B, where balancing
// takes 2 (n-1)/n S / ((1 - X) B); B is the bandwidth of a complete host.
//
// Several hosts: rings in levels (collectives/shapes/spared_hosts.h), which end together. The second stage has several
// chains of complete hosts, on whose ends the spared ones hang; it takes (1 + 1 / kTailChunks) S / B times the greater
// of the largest X / (1 - X) and the load of a complete host: with k spared hosts, m complete ones and a chain from
// each of them (m - 1 + k) / m times the largest X. The project's code has one such host; the order of adding is ours.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/rail_order.h"
#include "collectives/shapes/spared_hosts.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr Bytes kPlannedFrom(std::int64_t{16} << 20);  // R2CC_AR_MIN_BYTES; smaller ones are balanced
constexpr int kTailChunks = 4;
constexpr Bytes kBuffered(std::int64_t{4} << 20);  // NCCL_BUFFSIZE: how far a connection may be ahead
constexpr int kLeastStepsApart = 2;
constexpr int kLeastTailSlices = 64;  // of a chain of the second stage: its hosts and latencies add little

struct PlannedSend {
  int peer = 0;
  bool reduce = false;
  std::vector<int> pieces;
  MessageNics nics = {};
};

// Numbers of the NICs that a host has lost.
std::vector<int> lost_rails(const LostNics& nics) {
  std::vector<int> rails;
  for (int rail = 0; rail < nics.of; ++rail) {
    if ((nics.lost >> rail & 1) != 0) rails.push_back(rail);
  }
  return rails;
}

int parts_of(int pieces, int least) {
  return (least + pieces - 1) / pieces;
}

// The rings of one level: the piece of each goes in `fine` parts. Part q belongs to slice q / p and to place q mod p of
// the second stage. There `bundle` slices at a time go along a chain, the chains in turn, one bundle on each in a slot.
struct LevelRings {
  LevelRings(const CollectiveCall& call, const SparedHosts& hosts, const SparedLevel& level, int least_slices)
      : rings(call, level.hosts, hosts.order()),
        fine(parts_of(rings.size() * call.layout->host_count(), least_slices) * call.layout->host_count()),
        slices(rings.size() * fine),
        bundle(std::max(1, slices / least_slices)),
        bytes(call.bytes.count() / call.layout->lost_nics.front().of * level.nics),
        cut(bytes, slices * rings.rings()) {}

  RailOrder rings;
  int fine;
  int slices;
  int bundle;
  Bytes bytes;
  Cut cut;
  int first_piece = 0;
  int first_slot = 0;
};

// Pieces: those of the rings of all hosts, then those of each level.
class PlannedRings {
 public:
  explicit PlannedRings(const CollectiveCall& call)
      : hosts(*call.layout),
        all(call, hosts.order(), hosts.order()),
        main_cut(Bytes(), 1),
        main_pieces(all.size() * all.rings()) {
    int most = 0;
    for (const SparedLevel& level : hosts.levels()) most += level.nics;
    Bytes main = call.bytes;
    int next_piece = main_pieces;
    for (const SparedLevel& each : hosts.levels()) {
      const int least = (kLeastTailSlices * hosts.chains() * each.nics + most - 1) / most;
      LevelRings& level = levels.emplace_back(call, hosts, each, least);
      level.first_piece = next_piece;
      level.first_slot = slots;
      next_piece += level.slices * all.rings();
      const int in_slot = level.bundle * hosts.chains();
      slots += (level.slices + in_slot - 1) / in_slot;
      main = main - level.bytes;
    }
    pieces = next_piece;
    main_cut = Cut(main, main_pieces);
  }

  SparedHosts hosts;
  RailOrder all;
  std::vector<LevelRings> levels;
  Cut main_cut;
  int main_pieces;
  int pieces = 0;
  int slots = 0;

  [[nodiscard]] Bytes size(int piece) const {
    if (piece < main_pieces) return main_cut.size(piece);
    const LevelRings* level = &levels.front();
    for (const LevelRings& each : levels) {
      if (piece >= each.first_piece) level = &each;
    }
    return level->cut.size(piece - level->first_piece);
  }
  [[nodiscard]] int first_steps() const { return 2 * (all.size() - 1); }
  // Rounds of the rings of fewer hosts are fewer: of N hosts, h of them in the rings, each is divided into N parts, of
  // which h go in a step, so that all end together. The parts of a step, counted over all rounds: from first to last,
  // without last.
  struct Parts {
    int first = 0;
    int last = 0;
  };
  [[nodiscard]] Parts parts_in(const LevelRings& level, int step) const {
    const int most = 2 * (level.rings.size() - 1) * all.hosts();
    const int each = level.rings.hosts();
    return {.first = std::min(most, step * each), .last = std::min(most, (step + 1) * each)};
  }
  // Members whose connections have filled their buffers wait for each other: large pieces keep all members together.
  [[nodiscard]] int steps_apart() const {
    const std::int64_t piece = std::max<std::int64_t>(1, main_cut.size(0).count());
    return static_cast<int>(std::clamp<std::int64_t>(kBuffered.count() / piece, kLeastStepsApart, first_steps()));
  }
  // A bundle may leave once the chunk that it belongs to has been added.
  [[nodiscard]] int lag() const { return (slots + kTailChunks - 1) / kTailChunks; }
  [[nodiscard]] int steps() const { return first_steps() + lag() + slots + hosts.complete(); }

  // What goes along the chain in the slot.
  struct Slices {
    int level = 0;
    int first_piece = 0;  // of place 0 in the first slice
    int count = 0;
  };
  [[nodiscard]] Slices slices_in(int slot, int chain) const {
    if (slot < 0 || slot >= slots) return {};
    int number = 0;
    for (std::size_t next = 1; next < levels.size() && slot >= levels[next].first_slot; ++next) ++number;
    const LevelRings& level = levels[static_cast<std::size_t>(number)];
    const int first = ((slot - level.first_slot) * hosts.chains() + chain) * level.bundle;
    return {.level = number,
            .first_piece = level.first_piece + first * all.rings(),
            .count = std::clamp(level.slices - first, 0, level.bundle)};
  }
  [[nodiscard]] std::vector<int> pieces_of(const Slices& slices, int place) const {
    std::vector<int> pieces_of_place;
    for (int i = 0; i < slices.count; ++i) pieces_of_place.push_back(slices.first_piece + i * all.rings() + place);
    return pieces_of_place;
  }
};

class AroundLostNics final : public CollectiveAlgorithm {
 public:
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
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return PlannedRings(call).steps(); }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const PlannedRings plan(call);
    out.await_everyone = (index + 1) % plan.steps_apart() == 0;
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

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return PlannedRings(call).pieces; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return PlannedRings(call).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const PlannedSend all = sends(call, PlannedRings(call), member, index)[static_cast<std::size_t>(send)];
    out = {.pieces = all.pieces, .reduce = all.reduce};
  }

 private:
  static std::vector<PlannedSend> sends(const CollectiveCall& call, const PlannedRings& plan, int member, int index) {
    std::vector<PlannedSend> result;
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
                        const Sender& sender, std::vector<PlannedSend>& result) {
    const RailOrder& order = level.rings;
    const int member = sender.member;
    const int parts = call.layout->host_count();
    const int of_part = level.fine / parts;
    const auto [first, last] = plan.parts_in(level, sender.index);
    for (int part = first; part < last; ++part) {
      const Round round{.order = order, .number = part / parts};
      const int peer = order.next_host_peer(member);
      PlannedSend inside{.peer = order.next_in_host(member), .reduce = round.reduces(), .pieces = {}};
      PlannedSend outside{
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
                          std::vector<PlannedSend>& result) {
    const int host = host_of(call, member);
    const int p = plan.all.rings();
    const int first_piece = plan.levels[static_cast<std::size_t>(plan.hosts.first_without(host))].first_piece;
    const std::int64_t slices = (plan.pieces - first_piece) / p;
    const auto summed_before = [&](int step) { return static_cast<int>(step * slices / plan.first_steps()); };
    for (int place = 0; place < p; ++place) {
      if (place == place_of(call, member)) continue;
      PlannedSend send{.peer = member_on(call, host, place), .reduce = true, .pieces = {}};
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
                            std::vector<PlannedSend>& result) {
    const PlannedRings::Slices slices = plan.slices_in(turn.step, turn.chain);
    if (slices.count == 0 || slices.level < plan.hosts.first_without(host_of(call, member))) return;
    const int place = place_of(call, member);
    result.push_back({.peer = member_on(call, plan.hosts.chain_host(turn.chain, 0), place),
                      .reduce = true,
                      .pieces = plan.pieces_of(slices, place)});
  }

  // A host sends its part of a slice to the next host, to the spared host that hangs on it, and to its own members.
  static void add_chain(const CollectiveCall& call, const PlannedRings& plan, int member, const Turn& turn,
                        std::vector<PlannedSend>& result) {
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
};

}  // namespace

const CollectiveAlgorithm& around_lost_nics() {
  static const AroundLostNics algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
