// Islands: rings inside every host, then over the hosts of each island on every rail, then across islands, so that only
// a share of each member's data leaves an island. An island is a kind of host of the machine (cluster.groups): GPUs of
// one vendor or generation, which its own library connects.
//
// With p members on each host, h hosts of each island, k islands, n = p h k, and without sharing: all-reduce
// 2 (p-1) (a + S / (p B)) + 2 (h-1) (a + S / (p h B)) + 2 (k-1) (a + S / (n B)); all-gather and reduce-scatter half of
// it (HetCCL: Kim et al., arXiv 2601.22585: reduce-scatter by each vendor's library, exchange over RDMA, all-gather).
// Of one island it is the hierarchical algorithm.
#include <array>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/island_hosts.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

// Level 0: members of a host; 1: hosts of an island; 2: islands.
constexpr int kLevels = 3;
using Places = std::array<int, kLevels>;  // by level: of a member; or how many there are

struct IslandStage {
  int level = 0;
  int round = 0;
  bool reduces = false;  // otherwise it gathers
};

class Islands final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "islands"; }
  [[nodiscard]] std::string_view help() const override {
    return "rings inside hosts, then over the hosts of each group of nodes, then across groups (HetCCL)";
  }
  // Islands of equal size, each of consecutive hosts.
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const GroupLayout& layout = *call.layout;
    const bool sums = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kReduceScatter ||
                      call.kind == CollectiveKind::kAllGather;
    if (!sums || !layout.even()) return false;
    const int hosts = hosts_of_island(layout);
    if (layout.host_count() % hosts != 0) return false;
    for (int host = 0; host < layout.host_count(); ++host) {
      const int first = host / hosts * hosts;
      if (kind_of_host(layout.nic_set_of(host)) != kind_of_host(layout.nic_set_of(first))) return false;
      const bool begins = host == first && host > 0;
      if (begins && kind_of_host(layout.nic_set_of(host)) == kind_of_host(layout.nic_set_of(host - 1))) return false;
    }
    return true;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce ? 2 * once(sizes(call)) : once(sizes(call));
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const Places all = sizes(call);
    const IslandStage stage = stage_at(call, all, index);
    out.sends.push_back({.peer = neighbour(call, all, member, stage.level, 1),
                         .size = sent_bytes(call, all, member, stage)});
    out.awaits.push_back({.peer = neighbour(call, all, member, stage.level, -1), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int /*send*/, SendContents& out) const override {
    const Places all = sizes(call);
    const IslandStage stage = stage_at(call, all, index);
    out.pieces.clear();
    out.reduce = stage.reduces;
    for_each_sent(call, all, member, stage, [&](int piece) { out.pieces.push_back(piece); });
  }
  // The rounds of a ring.
  [[nodiscard]] int same_until(const CollectiveCall& call, int index) const override {
    const Places all = sizes(call);
    const IslandStage stage = stage_at(call, all, index);
    int end = index + 1;
    for (const int last = steps(call); end < last; ++end) {
      const IslandStage next = stage_at(call, all, end);
      if (next.level != stage.level || next.reduces != stage.reduces) break;
    }
    return end;
  }
  // One ring of all members.
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    const Places all = sizes(call);
    const int rings = (all[0] > 1 ? 1 : 0) + (all[1] > 1 ? 1 : 0) + (all[2] > 1 ? 1 : 0);
    return rings <= 1 && Cut(call.bytes, call.size()).even();
  }

 private:
  static Places sizes(const CollectiveCall& call) {
    const int hosts = hosts_of_island(*call.layout);
    return {call.layout->largest_host, hosts, call.layout->host_count() / hosts};
  }
  static int once(const Places& all) { return all[0] + all[1] + all[2] - kLevels; }

  // Reductions from the inside out, gathers from the outside in.
  static IslandStage stage_at(const CollectiveCall& call, const Places& all, int index) {
    int round = call.kind == CollectiveKind::kAllGather ? index + once(all) : index;
    for (int level = 0; level < kLevels; ++level) {
      const int rounds = all[static_cast<std::size_t>(level)] - 1;
      if (round < rounds) return {.level = level, .round = round, .reduces = true};
      round -= rounds;
    }
    for (int level = kLevels - 1; level > 0; --level) {
      const int rounds = all[static_cast<std::size_t>(level)] - 1;
      if (round < rounds) return {.level = level, .round = round, .reduces = false};
      round -= rounds;
    }
    return {.level = 0, .round = round, .reduces = false};
  }

  static Places places_of(const CollectiveCall& call, const Places& all, int member) {
    const int host = host_of(call, member);
    return {place_of(call, member), host % all[1], host / all[1]};
  }
  static int member_of(const CollectiveCall& call, const Places& all, const Places& at) {
    return member_on(call, at[2] * all[1] + at[1], at[0]);
  }
  static int neighbour(const CollectiveCall& call, const Places& all, int member, int level, int distance) {
    Places at = places_of(call, all, member);
    const auto l = static_cast<std::size_t>(level);
    at[l] = wrap(at[l] + distance, all[l]);
    return member_of(call, all, at);
  }

  // A piece has the number of the member that holds it in the end. Inside the level all places are the sender's own,
  // and outside every one. As in a ring, a reduction sends the previous member's share first, a gather its own.
  template <class Visit>
  static void for_each_sent(const CollectiveCall& call, const Places& all, int member, const IslandStage& stage,
                            const Visit& visit) {
    Places at = places_of(call, all, member);
    const auto l = static_cast<std::size_t>(stage.level);
    at[l] = wrap(at[l] - (stage.reduces ? stage.round + 1 : stage.round), all[l]);
    const int islands = stage.level < 2 ? all[2] : 1;
    const int hosts = stage.level < 1 ? all[1] : 1;
    for (int island = 0; island < islands; ++island) {
      for (int host = 0; host < hosts; ++host) {
        Places piece = at;
        if (stage.level < 2) piece[2] = island;
        if (stage.level < 1) piece[1] = host;
        visit(member_of(call, all, piece));
      }
    }
  }
  static Bytes sent_bytes(const CollectiveCall& call, const Places& all, int member, const IslandStage& stage) {
    const Cut cut(call.bytes, call.size());
    const int count = (stage.level < 2 ? all[2] : 1) * (stage.level < 1 ? all[1] : 1);
    if (cut.even()) return cut.size(0) * count;
    Bytes total;
    for_each_sent(call, all, member, stage, [&](int piece) { total += cut.size(piece); });
    return total;
  }
};

}  // namespace

const CollectiveAlgorithm& islands() {
  static const Islands algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
