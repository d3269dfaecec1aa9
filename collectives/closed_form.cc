#include "collectives/closed_form.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "collectives/bus_bandwidth.h"
#include "collectives/closed_form_torus.h"
#include "collectives/shapes/host_tree.h"
#include "collectives/shapes/island_hosts.h"
#include "collectives/shapes/pipeline.h"

namespace ringwright::collectives {
namespace {

// A call on its links, in the formulas' letters.
struct Formula {
  const CollectiveCall& call;
  const WireCosts& wires;
  int n;  // members
  int p;  // members on a host (the fullest)
  int k;  // hosts
  int steps;

  Formula(const CollectiveCall& asked, const WireCosts& costs, int steps_of_call)
      : call(asked),
        wires(costs),
        n(asked.size()),
        p(asked.layout->largest_host),
        k(asked.layout->host_count()),
        steps(steps_of_call) {}

  // Of a step of rings: what would be sent in n - 1 steps of a pass is sent in as many as there are.
  [[nodiscard]] Bytes merged(Bytes bytes) const {
    const int usual = passes() * (n - 1);
    return steps == usual ? bytes : scale(bytes, static_cast<double>(usual) / steps);
  }

  // The largest of `pieces` equal parts, and of `count` of them.
  [[nodiscard]] Bytes part(std::int64_t pieces, std::int64_t count = 1) const {
    return Bytes((call.bytes.count() + pieces - 1) / pieces) * count;
  }
  // Zero where no host has two members: there is no such link.
  [[nodiscard]] Duration inside(Bytes bytes) const {
    if (p == 1) return Duration(0);
    return wires.inside.latency + transfer_time(bytes, wires.inside.bandwidth);
  }
  // To all other members of the host at once: bytes to each of them.
  [[nodiscard]] Duration inside_to_all(Bytes each) const {
    if (p == 1) return Duration(0);
    const Bandwidth all = std::max(wires.member_outward, wires.inside.bandwidth);
    return wires.inside.latency + transfer_time(each * (p - 1), all);
  }
  // To or from the switch: half of the path between two GPUs.
  [[nodiscard]] Duration to_switch(Bytes bytes) const {
    const HopCost& hop = k == 1 ? wires.inside : wires.between;
    return hop.latency / 2 + transfer_time(bytes, hop.bandwidth);
  }
  // Zero where all are on one host.
  [[nodiscard]] Duration between(Bytes bytes, int together = 1) const {
    if (k == 1) return Duration(0);
    const Bandwidth share = wires.host_outward / static_cast<double>(together);
    return wires.between.latency + transfer_time(bytes, std::min(wires.between.bandwidth, share));
  }
  // With a known step: the hops inside hosts and between them end together.
  [[nodiscard]] Duration step(Bytes bytes) const {
    Duration longest;
    for (const HopCost& hop : {wires.step_inside, wires.step_between}) {
      if (hop.bandwidth.count() > 0.0) longest = std::max(longest, hop.latency + transfer_time(bytes, hop.bandwidth));
    }
    return longest;
  }
  [[nodiscard]] bool all_reduce() const { return call.kind == CollectiveKind::kAllReduce; }
  // All-reduce passes over the data twice.
  [[nodiscard]] int passes() const { return all_reduce() ? 2 : 1; }
};

// Rings whose joint load on the links is known; the C chunks of a chain follow each other at that pace.
Duration rings_time(const Formula& f) {
  const bool chain = f.call.kind == CollectiveKind::kBroadcast || f.call.kind == CollectiveKind::kReduce;
  if (!chain) return f.steps * f.step(f.merged(f.call.bytes));
  const int chunks = pipeline_chunks(f.call.bytes, f.n - 2);
  return (chunks + f.n - 2) * f.step(f.part(chunks, f.n));
}

Duration ring_time(const Formula& f) {
  if (f.wires.knows_step()) return rings_time(f);
  const bool chain = f.call.kind == CollectiveKind::kBroadcast || f.call.kind == CollectiveKind::kReduce;
  const int chunks = chain ? pipeline_chunks(f.call.bytes, f.n - 2) : f.n;
  const Bytes bytes = f.part(chunks);
  const Duration in = f.inside(bytes);
  const Duration out = f.between(bytes);
  if (!chain) return f.passes() * (f.n - 1) * std::max(in, out);
  // The first chunk traverses the chain; the others follow at the pace of its slowest hop.
  return (f.n - f.k) * in + (f.k - 1) * out + (chunks - 1) * std::max(in, out);
}

Duration rail_rings_time(const Formula& f) {
  if (f.wires.knows_step()) return rings_time(f);
  const std::int64_t pieces = std::int64_t{f.n} * f.p;
  return f.steps * std::max(f.inside(f.merged(f.part(pieces, f.p - 1))), f.between(f.merged(f.part(pieces)), f.p));
}

Duration hierarchical_time(const Formula& f) {
  const Duration in = (f.p - 1) * f.inside(f.part(f.n, f.k));
  const bool exchange = f.call.kind == CollectiveKind::kAllToAll;
  const Duration out = (f.k - 1) * f.between(f.part(f.n, exchange ? f.p : 1), f.p);
  return f.passes() * (in + out);
}

// As the head of islands.cc states it.
Duration islands_time(const Formula& f) {
  const int hosts = hosts_of_island(*f.call.layout);
  const int islands = f.k / hosts;
  const Duration in = (f.p - 1) * f.inside(f.part(f.n, f.k));
  const Duration out = (hosts - 1) * f.between(f.part(f.n, islands), f.p) + (islands - 1) * f.between(f.part(f.n), f.p);
  return f.passes() * (in + out);
}

// All messages leave at once and share the member's and the host's outgoing links.
Duration direct_time(const Formula& f) {
  const Duration in = f.inside_to_all(f.part(f.n));
  const Duration out = f.between(f.part(f.n, f.n - f.p), f.p);
  return std::max(in, out);
}

// A part of all messages after the other.
Duration scattered_time(const Formula& f) {
  const Duration in = f.inside_to_all(f.part(std::int64_t{f.n} * f.steps));
  const Duration out = f.between(f.part(std::int64_t{f.n} * f.steps, f.n - f.p), f.p);
  return f.steps * std::max(in, out);
}

// The busier of a server's port, which the parts of all other workers cross, and a worker's, which those of all other
// servers do. Members are on different hosts.
Duration parameter_server_time(const Formula& f) {
  const ParameterServers& servers = f.call.layout->servers;
  const int workers = servers.dedicated ? f.n - servers.count : f.n;
  const bool all_serve = !servers.dedicated && servers.count == f.n;
  const int at_server = servers.dedicated ? workers : workers - 1;
  const int at_worker = all_serve ? servers.count - 1 : servers.count;
  return f.between(f.part(servers.count, std::max(at_server, at_worker)));
}

Duration all_pairs_time(const Formula& f) {
  return 2 * direct_time(f);
}
Duration all_pairs_once_time(const Formula& f) {
  return std::max(f.inside_to_all(f.call.bytes), f.between(f.call.bytes * (f.n - f.p), f.p));
}

// At distance d along the hosts, min(d, p) members of a host send to another one.
Duration pairwise_time(const Formula& f) {
  const Bytes bytes = f.part(f.n);
  Duration total;
  for (int distance = 1; distance < f.n; ++distance) {
    const int leaving = f.k == 1 ? 0 : std::min({distance, f.n - distance, f.p});
    const Duration in = leaving < f.p ? f.inside(bytes) : Duration(0);
    total += std::max(in, leaving > 0 ? f.between(bytes, leaving) : Duration(0));
  }
  return total;
}

// A hop to the member whose number differs by `distance`.
Duration hop_at(const Formula& f, int distance, Bytes bytes) {
  const bool stays = f.k == 1 || (f.p > distance && f.p % (2 * distance) == 0);
  return stays ? f.inside(bytes) : f.between(bytes, f.p);
}

Duration halving_doubling_time(const Formula& f) {
  int core = 1;
  Duration once;
  for (; 2 * core <= f.n; core *= 2) once += hop_at(f, core, f.part(2 * std::int64_t{core}));
  // Members beyond the power of two send in all their data and get the result back.
  const Duration excess = core < f.n ? 2 * hop_at(f, 1, f.call.bytes) : Duration(0);
  return f.passes() * once + excess;
}

Duration recursive_multiplying_time(const Formula& f) {
  Duration total;
  const auto multiply = [&](int count, bool leaves) {
    for (int prime = 2; count > 1; ++prime) {
      for (; count % prime == 0; count /= prime) {
        const Bytes bytes = f.call.bytes * (prime - 1);
        total += leaves ? f.between(bytes, f.p) : f.inside(bytes);
      }
    }
  };
  if (!f.call.layout->even()) {
    multiply(f.n, f.k > 1);
    return total;
  }
  multiply(f.p, false);
  multiply(f.k, true);
  return total;
}

// Pieces that a host's head sends at once while both trees are full: up to the parents and down to the children. An
// inner host of one tree is a leaf of the other: 1 + 2 + 1; of two hosts each is the root of one tree and a leaf of the
// other, of three none has two children below a parent.
int most_tree_sends(int hosts) {
  return hosts == 2 ? 2 : hosts == 3 ? 3 : 4;
}

// The first chunk travels up and down a tree hop by hop; the others follow at the pace of a step in which all trees are
// full.
Duration trees_time(const Formula& f, std::int64_t pieces, int senders, Duration full) {
  const bool rooted = !f.all_reduce();
  const int chain = f.p - 1;
  const int height = f.k == 1 ? 0 : tree_height(std::max(rooted ? f.k - 1 : f.k, 1));
  const int depth = chain + height + (rooted && f.k > 1 ? chain + 1 : 0);
  const int chunks = pipeline_chunks(f.call.bytes, (rooted ? depth : 2 * depth) - 1);
  const Duration in = f.inside(f.part(pieces));
  const Duration out = f.between(f.part(pieces), senders);
  const int hops_in = rooted && f.k == 1 ? chain : 2 * chain;
  const int hops_out = f.k == 1 ? 0 : rooted ? height + 1 : 2 * height;
  return hops_in * in + hops_out * out + (chunks - 1) * std::max({full, in, out});
}

// An inner node sends a piece up and two down in its tree and one up in the other; a GPU sends the pieces of all
// channels, up and down, except of the channel that ends at it.
Duration double_tree_time(const Formula& f, const CollectiveAlgorithm& algorithm) {
  const std::int64_t pieces = algorithm.pieces(f.call);
  const int trees = f.k > 1 ? 2 : 1;
  const int channels = f.call.layout->smallest_host;
  const int directions = f.all_reduce() ? 2 : 1;
  const int at_once = f.all_reduce() ? most_tree_sends(f.k) : trees;
  const Duration in = f.inside(f.part(pieces, std::int64_t{directions} * trees * std::max(channels - 1, 1)));
  const Duration out = f.between(f.part(pieces, at_once), channels);
  return trees_time(f, pieces, channels, std::max(in, out));
}

Duration library_trees_time(const Formula& f, const CollectiveAlgorithm& algorithm) {
  if (!f.wires.knows_step()) return double_tree_time(f, algorithm);
  return trees_time(f, algorithm.pieces(f.call), 1, f.step(f.call.bytes));
}

// Chunks pass through the stages of the switch in lock step; up or down carries a chunk of all members, and 1/n of one.
Duration in_switch_time(const Formula& f) {
  const bool four = f.all_reduce() && f.k == 1;
  const int stages = four ? 4 : 2;
  const int chunks = pipeline_chunks(f.call.bytes, stages - 1);
  const Bytes bytes = f.part(chunks) + (four && chunks > 1 ? f.part(std::int64_t{f.n} * chunks) : Bytes(0));
  return (chunks + stages - 1) * f.to_switch(bytes);
}

Duration nvls_tree_time(const Formula& f) {
  const int height = tree_height(f.k);
  const int chunks = pipeline_chunks(f.call.bytes, 2 * height + 3);
  const std::int64_t pieces = std::int64_t{2} * f.p * chunks;
  const Bytes bytes = f.part(chunks) + (chunks > 1 ? f.part(pieces, 2) : Bytes(0));
  const Duration in = f.p > 1 ? f.inside(bytes) - f.wires.inside.latency / 2 : Duration(0);
  const Duration out = f.between(f.part(pieces, chunks > 1 ? most_tree_sends(f.k) : 1), f.p);
  return (chunks + 2 * height + 3) * std::max(in, out);
}

// A part of a chunk to the network switches and back, or all parts of a member to or from the heads.
Duration collnet_time(const Formula& f, int hops) {
  const int chunks = pipeline_chunks(f.call.bytes, 2 * hops + 1);
  const std::int64_t pieces = std::int64_t{chunks} * f.p;
  const int alone = hops == 1 ? f.p - 1 : 1;  // messages that a member sends at once, of one chunk
  const Duration in = f.inside(f.part(pieces, chunks > 1 ? 2 * (f.p - 1) : alone));
  const Duration out = f.k > 1 ? f.between(f.part(pieces), f.p) - f.wires.between.latency / 2 : Duration(0);
  return (chunks + 2 * hops + 1) * std::max(in, out);
}

Duration collnet_direct_time(const Formula& f) {
  return collnet_time(f, 1);
}
Duration collnet_chain_time(const Formula& f) {
  return collnet_time(f, f.p - 1);
}

// Where a member sends at most one message per step: a member's step lasts as long as its own message, and until the
// message that it waits for has arrived.
Duration stepwise_time(const Formula& f, const CollectiveAlgorithm& algorithm) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  std::vector<int> leaving(at(f.k));  // by host: members that send to other hosts
  std::vector<CollectiveStep> steps(at(f.n));
  std::vector<Duration> begun(at(f.n)), arrives(at(f.n)), ended(at(f.n));  // by member
  for (int index = 0; index < algorithm.steps(f.call); ++index) {
    const auto host = [&](int member) { return f.call.layout->host_of[at(member)]; };
    leaving.assign(leaving.size(), 0);
    for (int member = 0; member < f.n; ++member) {
      algorithm.step(f.call, member, index, steps[at(member)]);
      for (const CollectiveSend& send : steps[at(member)].sends)
        leaving[at(host(member))] += host(send.peer) == host(member) ? 0 : 1;
    }
    for (int member = 0; member < f.n; ++member) {
      arrives[at(member)] = begun[at(member)];
      for (const CollectiveSend& send : steps[at(member)].sends) {
        const bool stays = host(send.peer) == host(member);
        arrives[at(member)] += stays ? f.inside(send.size) : f.between(send.size, leaving[at(host(member))]);
      }
    }
    for (int member = 0; member < f.n; ++member) {
      ended[at(member)] = arrives[at(member)];
      for (const CollectiveAwait& await : steps[at(member)].awaits) {
        ended[at(member)] = std::max(ended[at(member)], arrives[at(await.peer)]);
      }
    }
    begun.swap(ended);
  }
  return *std::ranges::max_element(begun);
}

struct Row {
  std::string_view algorithm;
  Duration (*time)(const Formula& formula);
};
constexpr std::array kRows = {
    Row{"ring", ring_time},
    Row{"rail_rings", rail_rings_time},
    Row{"rings", rail_rings_time},
    Row{"halving_doubling", halving_doubling_time},
    Row{"recursive_multiplying", recursive_multiplying_time},
    Row{"hierarchical", hierarchical_time},
    Row{"islands", islands_time},
    Row{"direct", direct_time},
    Row{"all_pairs", all_pairs_time},
    Row{"all_pairs_once", all_pairs_once_time},
    Row{"pairwise", pairwise_time},
    Row{"scattered", scattered_time},
    Row{"parameter_server", parameter_server_time},
    Row{"in_switch", in_switch_time},
    Row{"nvls_tree", nvls_tree_time},
    Row{"collnet_direct", collnet_direct_time},
    Row{"collnet_chain", collnet_chain_time},
};

class Barrier final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "closed_form"; }
  [[nodiscard]] std::string_view help() const override { return "a barrier of all ranks; the time is a formula"; }
  [[nodiscard]] bool supports(const CollectiveCall&) const override { return true; }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() > 1 ? 1 : 0; }
  void step(const CollectiveCall&, int, int, CollectiveStep& out) const override {
    out.clear();
    out.await_everyone = true;
  }
  [[nodiscard]] int pieces(const CollectiveCall&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes; }
  void contents(const CollectiveCall&, int, int, int, SendContents& out) const override { out = {}; }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall&) const override { return true; }
};

class BarrierChooser final : public CollectiveChooser {
 public:
  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall&) const override { return pairing_; }

 private:
  Barrier pairing_;
};

}  // namespace

Duration closed_form_time(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const WireCosts& wires) {
  if (call.size() == 1) return Duration(0);
  if (algorithm.name() == "torus_rings") return torus_rings_time(algorithm, call, wires);
  const Formula formula(call, wires, algorithm.steps(call));
  if (algorithm.name() == "double_tree") return double_tree_time(formula, algorithm);
  if (algorithm.name() == "trees") return library_trees_time(formula, algorithm);
  const auto row = std::ranges::find(kRows, algorithm.name(), &Row::algorithm);
  return row != kRows.end() ? row->time(formula) : stepwise_time(formula, algorithm);
}

StepAsked step_asked(const CollectiveAlgorithm& algorithm) {
  const std::string_view name = algorithm.name();
  if (name == "ring" || name == "rail_rings" || name == "rings") return StepAsked::kOfRings;
  if (name == "torus_rings") return StepAsked::kBetweenHosts;
  return name == "trees" ? StepAsked::kMiddle : StepAsked::kNone;
}

Duration ClosedForm::time(const CollectiveCall& call) const {
  if (call.size() == 1) return Duration(0);
  const CollectiveAlgorithm& algorithm = chooser_.choose(call);
  return closed_form_time(algorithm, call, wires_of_(call, algorithm));
}

Bytes ClosedForm::sent(const CollectiveCall& call) const {
  return scale(call.bytes, busbw_factor(call.kind, call.size()));
}

const CollectiveChooser& pairings() {
  static const BarrierChooser chooser;
  return chooser;
}

}  // namespace ringwright::collectives
