#include "core/symmetry/member_pattern.h"

#include <bit>
#include <optional>

#include "core/base/index.h"
#include "core/base/random.h"

namespace ringwright {
namespace {

std::uint64_t bits(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

// The steps of a call as folding compares them.
struct ComparedSteps {
  ComparedSteps(const CollectiveAlgorithm& by, const CollectiveCall& of, StepVisits visits);

  const CollectiveAlgorithm& algorithm;
  const CollectiveCall& call;
  int steps;
  bool by_phase;                     // only the first step of each phase is visited
  std::optional<CyclicSizes> sizes;  // of all messages of the only phase, unless these are equal or do not matter
};

ComparedSteps::ComparedSteps(const CollectiveAlgorithm& by, const CollectiveCall& of, StepVisits visits)
    : algorithm(by), call(of), steps(by.steps(of)), by_phase(visits == StepVisits::kPhases) {
  const int phase = steps > 1 ? algorithm.same_until(call, 0) : steps;
  if (by_phase || phase <= 1) return;
  by_phase = has_equal_pieces(algorithm, call);
  if (by_phase || phase < steps) return;
  sizes = algorithm.cyclic_sizes(call);
  by_phase = sizes.has_value();
}

std::uint64_t hash_of(const std::vector<Bytes>& cycle, std::uint32_t first, int steps) {
  std::uint64_t hash = 0;
  std::size_t entry = first;
  for (int step = 0; step < steps; ++step) {
    hash = mix(hash, bits(cycle[entry].count()));
    entry = entry == 0 ? cycle.size() - 1 : entry - 1;
  }
  return hash;
}

// Visits the steps of one member. Returns whether any step waits for everyone.
bool collect_member(const ComparedSteps& compared, int member, EdgeCollector& collector) {
  const auto& [algorithm, call, steps, by_phase, sizes] = compared;
  bool everyone = false;
  CollectiveStep step;
  // The algorithm determines what messages carry, and whether it is added.
  const std::uint64_t of_all =
      mix(hash_text(algorithm.name()), mix(bits(call.size()), bits(call.layout->host_count())));
  int next = 0;
  for (int index = 0; index < steps; index = next) {
    next = by_phase ? algorithm.same_until(call, index) : index + 1;
    algorithm.step(call, member, index, step);
    everyone = everyone || step.await_everyone;
    const std::uint64_t salt = mix(of_all, bits(index) + (bits(next - index - 1) << 32U));
    for (std::size_t j = 0; j < step.sends.size(); ++j) {
      const CollectiveSend& send = step.sends[j];
      std::uint64_t carried = bits(send.size.count());
      if (sizes) {
        const auto [cycle, first] = sizes->of_member[at(member)][j];
        carried = hash_of(sizes->cycles[cycle], first, steps);
      }
      collector.add({.peer = send.peer, .route_kind = send.route_kind, .nics = send.nics, .starts_flow = true},
                    mix(salt + j, carried));
    }
    for (const CollectiveAwait& await : step.awaits) {
      collector.add({.peer = await.peer}, salt + bits(await.send));
    }
  }
  return everyone;
}

std::uint64_t hash_of(const Primitive& primitive, const std::vector<int>& parts) {
  std::uint64_t hash =
      mix(bits(primitive.size.count()), bits(primitive.receives.first) << 32U | bits(primitive.receives.count));
  hash = mix(hash, bits(primitive.sends.first) << 32U | bits(primitive.sends.count));
  hash = mix(hash, (primitive.reads ? 1U : 0U) | (primitive.stores ? 2U : 0U) | (primitive.adds ? 4U : 0U) |
                       (primitive.notifies ? 8U : 0U) | (primitive.continues ? 16U : 0U) |
                       (primitive.signal_only ? 32U : 0U));
  hash = mix(hash, bits(primitive.operands) << 32U | bits(primitive.results));
  // collect_one_sided() adds whom they reach.
  hash = mix(hash, bits(static_cast<std::int64_t>(primitive.stores_to.size())) << 32U |
                       bits(static_cast<std::int64_t>(primitive.loads_from.size())));
  for (const PrimitiveDependency& after : primitive.after) {
    const int part = after.block < 0 ? after.block : parts[at(after.block)];
    hash = mix(hash, mix(bits(part), bits(after.primitive)));
  }
  return hash;
}

// What all members of a call have in common, but members of other calls may not. Not ring orders and PXN: the ports of
// a block give its peers and route kinds.
std::uint64_t hash_of(const CollectivePlan& plan, const GroupLayout& layout) {
  std::uint64_t hash = mix(bits(layout.size()), bits(layout.host_count()));
  hash = mix(hash, mix(static_cast<std::uint64_t>(plan.protocol), bits(plan.channels)));
  hash = mix(hash, mix(bits(plan.threads), bits(plan.chunk.count())));
  hash = mix(hash, mix(mix(bits(plan.heads), bits(plan.message_channels)), bits(plan.grain.count())));
  return mix(hash, hash_text(plan.algorithm));
}

std::uint64_t shape_of(const ChannelChoice& choice, const CollectiveCall& call, int member, int block,
                       const ThreadBlock& made, const std::vector<int>& parts) {
  std::uint64_t shape = choice.algorithm->shape(call, choice.plan, member, block);
  if (shape == 0) {
    Primitive primitive;
    for (std::int64_t index = 0; index < made.primitives; ++index) {
      choice.algorithm->primitive(call, choice.plan, member, block, index, primitive);
      shape = mix(shape, hash_of(primitive, parts));
    }
  }
  shape = mix(shape, mix(bits(parts[at(block)]), bits(made.primitives)));
  shape = mix(shape, mix(bits(made.copies), bits(made.slots_per_message)));
  return mix(shape, std::bit_cast<std::uint64_t>(made.thread_share));
}

}  // namespace

void EdgeCollector::add(const MemberEdge& edge, std::uint64_t what) {
  std::uint64_t& role =
      roles_[{edge.peer, edge.route_kind, edge.nics, edge.channel, edge.starts_flow, edge.loads_links}];
  role = mix(role, what);
}

std::vector<MemberEdge> EdgeCollector::edges() const {
  std::vector<MemberEdge> result;
  for (const auto& [key, role] : roles_) {
    const auto& [peer, route_kind, nics, channel, starts_flow, loads_links] = key;
    result.push_back({.peer = peer,
                      .route_kind = route_kind,
                      .nics = nics,
                      .channel = channel,
                      .starts_flow = starts_flow,
                      .role = mix(role, mix(static_cast<std::uint64_t>(route_kind), starts_flow ? 1 : 0)),
                      .loads_links = loads_links});
  }
  return result;
}

MemberPattern make_call_pattern(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, StepVisits visits) {
  const int size = call.size();
  const bool symmetric = algorithm.rotation_symmetric(call);
  const ComparedSteps compared(algorithm, call, visits);
  MemberPattern pattern;
  for (int member = 0; member < (symmetric ? 1 : size); ++member) {
    EdgeCollector collector;
    pattern.everyone = collect_member(compared, member, collector) || pattern.everyone;
    pattern.edges.push_back(collector.edges());
  }
  for (int member = 1; symmetric && member < size; ++member) {
    pattern.edges.push_back(pattern.edges.front());
    for (MemberEdge& edge : pattern.edges.back()) edge.peer = (edge.peer + member) % size;
  }
  return pattern;
}

namespace {

// The roles of every member's thread blocks, and the block of each role.
struct Parts {
  std::vector<std::vector<int>> of_block;  // by member, by block
  std::vector<std::vector<int>> block_of;  // by member, by role
};

Parts parts_of(const ChannelChoice& choice, const CollectiveCall& call) {
  Parts parts;
  for (int member = 0; member < call.size(); ++member) {
    std::vector<int>& of_block = parts.of_block.emplace_back();
    choice.algorithm->parts(call, choice.plan, member, of_block);
    std::vector<int>& block_of = parts.block_of.emplace_back(of_block.size());
    for (std::size_t block = 0; block < of_block.size(); ++block)
      block_of[at(of_block[block])] = static_cast<int>(block);
  }
  return parts;
}

// What reads from each thread block of each member: a number of the ports and of the readers' roles. Only the root of a
// reduction reads without sending: elsewhere the chain of writers distinguishes members that different blocks read.
std::vector<std::vector<std::uint64_t>> readers_of(const ChannelChoice& choice, const CollectiveCall& call,
                                                   const Parts& parts) {
  std::vector<std::vector<std::uint64_t>> readers;
  if (call.kind != CollectiveKind::kReduce) return readers;
  for (const std::vector<int>& of_member : parts.of_block) readers.emplace_back(of_member.size());
  ThreadBlock made;
  for (int member = 0; member < call.size(); ++member) {
    const std::vector<int>& roles = parts.of_block[at(member)];
    for (std::size_t block = 0; block < roles.size(); ++block) {
      choice.algorithm->block(call, choice.plan, member, static_cast<int>(block), made);
      for (const ReceivePort& from : made.receives)
        readers[at(from.peer)][at(from.block)] += mix(bits(from.port), bits(roles[block]));
    }
  }
  return readers;
}

// Adds what one thread block sends and receives. A queue couples both its ends: the reader waits for messages, the
// writer for free slots. So each depends on the other, and the role names the ports at both ends.
void collect_block(const CollectiveCall& call, const Parts& parts, int member, const ThreadBlock& made,
                   std::uint64_t shape, EdgeCollector& collector) {
  const std::vector<int>& host_of = call.layout->host_of;
  const auto leaves_host = [&](int peer) { return host_of[at(member)] != host_of[at(peer)] ? 1U : 0U; };
  const auto is_sum = [](int sum) { return sum == kNoSum ? 0U : 1U; };
  for (std::size_t port = 0; port < made.sends.size(); ++port) {
    const SendPort& send = made.sends[port];
    collector.add({.peer = switch_partner(*call.layout, member, send.peer),
                   .route_kind = send.route_kind,
                   .nics = send.nics,
                   .channel = made.channel,
                   .starts_flow = true},
                  mix(shape, 8 * port + 4 * is_sum(send.sum) + 2 * leaves_host(send.peer)));
  }
  for (std::size_t port = 0; port < made.receives.size(); ++port) {
    const ReceivePort& from = made.receives[port];
    const bool fetches = from.route_kind == RouteKind::kDownFromSwitch;
    const int writer = parts.of_block[at(from.peer)][at(from.block)];
    collector.add({.peer = switch_partner(*call.layout, member, from.peer),
                   .route_kind = from.route_kind,
                   .channel = made.channel,
                   .starts_flow = fetches},
                  mix(mix(shape, 8 * port + 4 * is_sum(from.sum) + 2 * leaves_host(from.peer) + 1),
                      mix(bits(writer), bits(from.port))));
  }
}

// Stores and loads without a queue; the bytes of a load begin at the other member. Members with such work are
// distinguished from all others of the group, since no port names the peer of a primitive.
void collect_one_sided(const ChannelChoice& choice, const CollectiveCall& call, int member, int block,
                       const ThreadBlock& made, std::vector<EdgeCollector>& collectors) {
  if (choice.algorithm->shape(call, choice.plan, member, block) != 0) return;
  Primitive primitive;
  for (std::int64_t index = 0; index < made.primitives; ++index) {
    choice.algorithm->primitive(call, choice.plan, member, block, index, primitive);
    const std::uint64_t salt = mix(mix(bits(member), bits(block)), bits(index));
    for (const int peer : primitive.stores_to) {
      collectors[at(member)].add({.peer = peer, .channel = made.channel, .starts_flow = true}, salt);
    }
    for (const int peer : primitive.loads_from) {
      collectors[at(peer)].add({.peer = member, .channel = made.channel, .starts_flow = true}, salt + 1);
      collectors[at(member)].add({.peer = peer, .channel = made.channel}, salt + 1);
    }
  }
}

}  // namespace

// Blocks are distinguished by their roles, not by their numbers or channels; the path itself shows what the channel
// means for it.
MemberPattern make_call_pattern(const ChannelChoice& choice, const CollectiveCall& call) {
  MemberPattern pattern;
  ThreadBlock made;
  const std::uint64_t salt = hash_of(choice.plan, *call.layout);
  const Parts parts = parts_of(choice, call);
  const auto readers = readers_of(choice, call, parts);
  std::vector<EdgeCollector> collectors(at(call.size()));
  for (int member = 0; member < call.size(); ++member) {
    EdgeCollector& collector = collectors[at(member)];
    for (const int block : parts.block_of[at(member)]) {
      choice.algorithm->block(call, choice.plan, member, block, made);
      collect_one_sided(choice, call, member, block, made, collectors);
      std::uint64_t shape = mix(salt, shape_of(choice, call, member, block, made, parts.of_block[at(member)]));
      if (!readers.empty()) shape = mix(shape, readers[at(member)][at(block)]);
      collect_block(call, parts, member, made, shape, collector);
    }
  }
  for (const EdgeCollector& collector : collectors) pattern.edges.push_back(collector.edges());
  return pattern;
}

}  // namespace ringwright
