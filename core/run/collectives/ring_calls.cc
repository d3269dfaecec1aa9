#include "core/run/collectives/ring_calls.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/ports/equal_steps.h"

namespace ringwright {
namespace {

// Of messages whose sizes differ from step to step: 32 MiB.
constexpr std::size_t kMostListedSizes = std::size_t{1} << 22U;
// Of a call of one step, whose messages are listed: all-to-alls have a message for each pair.
constexpr int kMostInExchange = 64;

std::size_t wrapped(int value, std::size_t modulus) {
  const auto n = static_cast<int>(modulus);
  return static_cast<std::size_t>((value % n + n) % n);
}

std::uint32_t first_size(const RingSteps& ring, int member) {
  const auto position = static_cast<int>(std::ranges::find(ring.members, member) - ring.members.begin());
  return static_cast<std::uint32_t>(wrapped(position + ring.shift, ring.sizes.size()));
}

Bytes bytes_sent(const RingEdge& edge, int steps) {
  if (edge.sizes.size() == 1) return edge.sizes.front() * steps;
  Bytes sent;
  std::size_t entry = edge.first;
  for (int step = 0; step < steps; ++step) {
    sent += edge.sizes[entry];
    entry = entry == 0 ? edge.sizes.size() - 1 : entry - 1;
  }
  return sent;
}

bool sends_to_peers(const CollectiveStep& step) {
  const auto whole = [](const CollectiveSend& send) { return send.route_kind == RouteKind::kWhole; };
  return !step.await_everyone && !step.sends.empty() && std::ranges::all_of(step.sends, whole);
}

}  // namespace

RingCalls::RingCalls(PlayedJob& job, GroupRoster& roster)
    : job_(job), roster_(roster), seat_of_(job.graph.dimensions.size() * job.graph.collectives.size()) {
  std::map<std::pair<CollectiveKind, std::int64_t>, std::uint32_t> first;
  for (const CollectiveSpec& spec : job.graph.collectives) {
    const auto number = static_cast<std::uint32_t>(first_equal_.size());
    first_equal_.push_back(first.try_emplace({spec.kind, spec.bytes.count()}, number).first->second);
  }
}

bool RingCalls::repeats_edges(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  const int steps = algorithm.steps(call);
  if (steps == 1) return call.size() <= kMostInExchange;
  return steps > 1 && algorithm.same_until(call, 0) >= steps;
}

std::optional<RingCalls::Edges> RingCalls::start(const Call& call, TransferListener& listener) {
  const CollectiveRequest& request = call.request;
  Seat& seat = seat_of(call);
  if (seat.group == nullptr) return std::nullopt;
  const std::optional<std::uint32_t> ring = join(seat, request.sequence);
  if (!ring) return std::nullopt;
  ++seat.calls;
  const Edges edges{.ring = *ring, .first_edge = seat.first_edge, .in_exchange = seat.in_exchange};
  if (edges.in_exchange) {
    job_.network.start_in_exchange({.exchange = *ring, .member = seat.member}, call.token, listener);
    return edges;
  }
  job_.network.start_member(
      {.ring = *ring, .member = seat.member},
      {.edges = seat.edges, .repeats = static_cast<std::uint32_t>(call.steps), .token = call.token}, listener);
  return edges;
}

void RingCalls::book_sent() {
  for (Seat& seat : seats_) {
    const auto calls = static_cast<std::int64_t>(std::exchange(seat.calls, 0));
    if (calls == 0) continue;
    job_.sent[seat.rank_class.index()][seat.dimension.index()] += seat.sent * calls;
    const std::uint64_t in_one = std::uint64_t{seat.group->steps} * seat.edges.size();
    job_.messages[seat.rank_class.index()] += in_one * static_cast<std::uint64_t>(calls);
  }
}

std::uint32_t RingCalls::arrived_over(const Edges& edges, std::uint32_t send) const {
  const std::uint32_t edge = edges.first_edge + send;
  if (edges.in_exchange) return job_.network.has_arrived(edges.ring, edge) ? 1 : 0;
  return job_.network.arrived_in(edges.ring, edge);
}

// The ring of this call; the first member opens it. None of them ends before all have started.
std::optional<std::uint32_t> RingCalls::join(const Seat& seat, std::uint64_t sequence) {
  std::vector<Open>& open = seat.group->open;
  auto found = std::ranges::find(open, sequence, &Open::sequence);
  if (found == open.end()) {
    const std::optional<std::uint32_t> ring = open_in_network(*seat.group);
    if (!ring) return std::nullopt;
    open.push_back({.sequence = sequence, .ring = *ring});
    found = open.end() - 1;
  }
  const std::uint32_t ring = found->ring;
  if (++found->started == seat.group->members) open.erase(found);
  return ring;
}

std::optional<std::uint32_t> RingCalls::open_in_network(const Group& group) {
  return group.exchange ? job_.network.open_exchange(*group.exchange) : job_.network.open_ring(*group.shape);
}

RingCalls::Seat& RingCalls::seat_of(const Call& call) {
  std::vector<std::uint32_t>& numbers = numbers_of(call.request.dimension, call.request.spec);
  if (numbers.empty()) numbers.assign(job_.classes.count(), kNone);
  const std::uint32_t& number = numbers[call.request.rank_class.index()];
  if (number == kNone) seat_group(call, numbers);
  return seats_[number];
}

void RingCalls::seat_group(const Call& call, std::vector<std::uint32_t>& numbers) {
  const std::vector<Candidate> members = candidates_along(call);
  Group& group = groups_.emplace_back();
  group.shape = shape_of(call, members);
  Sizes sizes;
  if (group.shape && !call.ring) sizes = sizes_of(call);
  const std::size_t first = seats_.size();
  for (const Candidate& member : members) {
    numbers[member.rank_class.index()] = static_cast<std::uint32_t>(seats_.size());
    Seat& seat = seats_.emplace_back();
    seat.member = static_cast<std::uint32_t>(&member - members.data());
    seat.rank_class = member.rank_class;
    seat.dimension = call.request.dimension;
    if (group.shape && !add_edges(call, member, sizes, seat)) group.shape.reset();
  }
  if (!group.shape) return;
  group.members = group.shape->members();
  group.steps = static_cast<std::uint32_t>(call.steps);
  std::vector<RingEdge> edges;  // of all
  for (Seat& seat : std::span(seats_).subspan(first)) {
    seat.group = &group;
    seat.first_edge = group.shape->first_edge(seat.member);
    seat.in_exchange = call.steps == 1;
    edges.insert(edges.end(), seat.edges.begin(), seat.edges.end());
  }
  if (call.steps == 1) group.exchange = Exchange{.shape = *group.shape, .edges = std::move(edges)};
}

RingCalls::Sizes RingCalls::sizes_of(const Call& call) {
  Sizes sizes;
  if (has_equal_pieces(call.algorithm, call.call)) return sizes;
  sizes.steps = static_cast<std::size_t>(call.steps);
  sizes.cyclic = call.algorithm.cyclic_sizes(call.call);
  if (!sizes.cyclic) return sizes;
  for (std::vector<Bytes>& cycle : sizes.cyclic->cycles) {
    listed_ += cycle.size();
    sizes.cycles.emplace_back(sizes_.emplace_back(std::move(cycle)));
  }
  return sizes;
}

// The classes of the group, each followed by the one that it sends to first: along a ring where there is one.
std::vector<RingCalls::Candidate> RingCalls::candidates_along(const Call& call) const {
  const DimensionId dimension = call.request.dimension;
  std::map<ClassId, bool> is_among;
  const std::span<const ClassId> classes = roster_.classes_of_group(call.request.rank_class, dimension);
  std::vector<Candidate> along;
  for (const ClassId start : classes) {
    ClassId c = start;
    while (!std::exchange(is_among[c], true)) {
      Candidate& next =
          along.emplace_back(Candidate{.rank_class = c, .index = job_.index_in_group(c, dimension), .step = {}});
      call.algorithm.step(call.call, next.index, 0, next.step);
      if (!next.step.sends.empty()) c = job_.class_of_member(c, dimension, next.step.sends.front().peer);
    }
  }
  return along;
}

// None: a member sends to a switch, or awaits more than messages of its group.
std::optional<RingShape> RingCalls::shape_of(const Call& call, std::span<const Candidate> members) const {
  const DimensionId dimension = call.request.dimension;
  const std::uint32_t layout = job_.layout_of(call.request.rank_class, dimension);
  std::map<ClassId, std::pair<std::uint32_t, std::size_t>> edges_of;  // the first, and how many
  std::uint32_t edges = 0;
  for (const Candidate& member : members) {
    if (!sends_to_peers(member.step) || job_.layout_of(member.rank_class, dimension) != layout) return std::nullopt;
    edges_of[member.rank_class] = {edges, member.step.sends.size()};
    edges += static_cast<std::uint32_t>(member.step.sends.size());
  }
  std::vector<RingShape::Member> waits;
  for (const Candidate& member : members) {
    RingShape::Member& waiting = waits.emplace_back();
    waiting.edges = static_cast<std::uint32_t>(member.step.sends.size());
    for (const CollectiveAwait& await : member.step.awaits) {
      const auto of = edges_of.find(job_.class_of_member(member.rank_class, dimension, await.peer));
      if (of == edges_of.end() || static_cast<std::size_t>(await.send) >= of->second.second) return std::nullopt;
      waiting.awaits.push_back(of->second.first + static_cast<std::uint32_t>(await.send));
    }
  }
  return RingShape(waits);
}

// False: the member's steps differ by more than sizes, or these are too many to list.
bool RingCalls::add_edges(const Call& call, const Candidate& member, const Sizes& sizes, Seat& seat) {
  const DimensionId dimension = call.request.dimension;
  const std::vector<RankId>& group = job_.group_of(member.rank_class, dimension);
  for (const CollectiveSend& send : member.step.sends) {
    seat.edges.push_back({.from = job_.rank_of(member.rank_class),
                          .to = group[static_cast<std::size_t>(send.peer)],
                          .nics = send.nics,
                          .label = collective_label(dimension),
                          .sizes = {},
                          .first = 0});
  }
  if (call.ring && seat.edges.size() == 1) {
    seat.edges.front().sizes = call.ring->sizes;
    seat.edges.front().first = first_size(*call.ring, member.index);
  } else if (sizes.cyclic) {
    const std::vector<CyclicSizes::Send>& sends = sizes.cyclic->of_member[static_cast<std::size_t>(member.index)];
    for (std::size_t j = 0; j < sends.size(); ++j) {
      seat.edges[j].sizes = sizes.cycles[sends[j].cycle];
      seat.edges[j].first = sends[j].first;
    }
    if (listed_ > kMostListedSizes) return false;
  } else if (!find_sizes(call, member, sizes.steps, seat.edges)) {
    return false;
  }
  for (const RingEdge& edge : seat.edges) seat.sent += bytes_sent(edge, call.steps);
  return true;
}

// Those of so many steps.
bool RingCalls::find_sizes(const Call& call, const Candidate& member, std::size_t steps, std::vector<RingEdge>& edges) {
  const std::size_t first = sizes_.size();
  for (const CollectiveSend& send : member.step.sends) sizes_.emplace_back(steps, send.size);
  CollectiveStep step;
  for (std::size_t index = 1; index < steps; ++index) {
    call.algorithm.step(call.call, member.index, static_cast<int>(index), step);
    if (!is_same_but_for_sizes(step, member.step)) return false;
    // Message k has sizes[(first - k) modulo their number], with first = 0.
    for (std::size_t j = 0; j < edges.size(); ++j) sizes_[first + j][steps - index] = step.sends[j].size;
  }
  for (std::size_t j = 0; j < edges.size(); ++j) {
    std::vector<Bytes>& sizes = sizes_[first + j];
    if (std::ranges::count(sizes, sizes.front()) == std::ssize(sizes)) sizes.resize(1);
    listed_ += sizes.size();
    edges[j].sizes = sizes;
  }
  return listed_ <= kMostListedSizes;
}

}  // namespace ringwright
