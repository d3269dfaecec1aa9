#include "core/run/collectives/ring_calls.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ringwright {
namespace {

int position_in(const RingSteps& ring, int member) {
  return static_cast<int>(std::ranges::find(ring.members, member) - ring.members.begin());
}

std::size_t wrapped(int value, std::size_t modulus) {
  const auto n = static_cast<int>(modulus);
  return static_cast<std::size_t>((value % n + n) % n);
}

Bytes bytes_sent(const RingSteps& ring, int position, int steps) {
  if (ring.sizes.size() == 1) return ring.sizes.front() * steps;
  Bytes sent;
  for (int step = 0; step < steps; ++step) sent += ring.sizes[wrapped(position + ring.shift - step, ring.sizes.size())];
  return sent;
}

}  // namespace

RingCalls::RingCalls(PlayedJob& job, GroupRoster& roster)
    : job_(job), roster_(roster), seats_(job.classes.count() * job.graph.dimensions.size()) {
  std::map<std::pair<CollectiveKind, std::int64_t>, std::uint32_t> first;
  for (const CollectiveSpec& spec : job.graph.collectives) {
    const auto number = static_cast<std::uint32_t>(first_equal_.size());
    first_equal_.push_back(first.try_emplace({spec.kind, spec.bytes.count()}, number).first->second);
  }
}

std::optional<RingPlace> RingCalls::start(const Call& call, TransferListener& listener) {
  const CollectiveRequest& request = call.request;
  const Seat& seat = seat_of(call);
  if (seat.edges == 0) return std::nullopt;
  const std::optional<std::uint32_t> ring = join(seat, request.sequence);
  if (!ring) return std::nullopt;
  const RingPlace place{.ring = *ring, .edge = seat.edge};
  job_.sent[request.rank_class.index()][request.dimension.index()] += seat.sent;
  job_.messages[request.rank_class.index()] += static_cast<std::uint64_t>(call.steps);
  const std::size_t next = wrapped(seat.position + 1, call.ring.members.size());
  const auto& group = job_.group_of(request.rank_class, request.dimension);
  const std::size_t first = wrapped(seat.position + call.ring.shift, call.ring.sizes.size());
  job_.network.start_edge(place,
                          {.from = job_.rank_of(request.rank_class),
                           .to = group[static_cast<std::size_t>(call.ring.members[next])],
                           .label = collective_label(request.dimension),
                           .sizes = call.ring.sizes,
                           .first = static_cast<std::uint32_t>(first),
                           .repeats = static_cast<std::uint32_t>(call.steps),
                           .token = call.token},
                          listener);
  return place;
}

// The ring of this call; the first member opens it. None of them ends before all have started.
std::optional<std::uint32_t> RingCalls::join(const Seat& seat, std::uint64_t sequence) {
  std::vector<Open>& open = open_[seat.group];
  auto found = std::ranges::find(open, sequence, &Open::sequence);
  if (found == open.end()) {
    const std::optional<std::uint32_t> ring = job_.network.open_ring(seat.edges);
    if (!ring) return std::nullopt;
    open.push_back({.sequence = sequence, .ring = *ring});
    found = open.end() - 1;
  }
  const std::uint32_t ring = found->ring;
  if (++found->started == seat.edges) open.erase(found);
  return ring;
}

const RingCalls::Seat& RingCalls::seat_of(const Call& call) {
  const std::vector<Seat>& known = seats(call.request.rank_class, call.request.dimension);
  const std::uint32_t spec = first_equal_[call.request.spec];
  const auto seat = std::ranges::find(known, spec, &Seat::spec);
  if (seat != known.end()) return *seat;
  seat_group(call);
  return *std::ranges::find(known, spec, &Seat::spec);
}

void RingCalls::seat_group(const Call& call) {
  const DimensionId dimension = call.request.dimension;
  const std::span<const ClassId> classes = roster_.classes_of_group(call.request.rank_class, dimension);
  const std::vector<ClassId> order = classes_along(call, classes.front());
  bool in_order = order.size() > 1;
  for (std::size_t edge = 0; edge < order.size() && in_order; ++edge) {
    std::vector<ClassId> expected = order;
    std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(edge), expected.end());
    in_order = classes_along(call, order[edge]) == expected;
  }
  open_.emplace_back();
  for (const ClassId c : classes) {
    const int position = position_in(call.ring, job_.index_in_group(c, dimension));
    Seat seat{.spec = first_equal_[call.request.spec],
              .group = static_cast<std::uint32_t>(open_.size() - 1),
              .position = position};
    if (in_order) {
      seat.edge = static_cast<std::uint32_t>(std::ranges::find(order, c) - order.begin());
      seat.edges = static_cast<std::uint32_t>(order.size());
      seat.sent = bytes_sent(call.ring, position, call.steps);
    }
    seats(c, dimension).push_back(seat);
  }
}

// The classes of the group of the class's representative along the ring, from itself on, each once; none if they do not
// follow each other in the same order all around.
std::vector<ClassId> RingCalls::classes_along(const Call& call, ClassId c) const {
  const DimensionId dimension = call.request.dimension;
  const std::vector<int>& members = call.ring.members;
  const int position = position_in(call.ring, job_.index_in_group(c, dimension));
  const auto class_at = [&](std::size_t offset) {
    const std::size_t at = wrapped(position + static_cast<int>(offset), members.size());
    return job_.class_of_member(c, dimension, members[at]);
  };
  std::vector<ClassId> along = {c};
  while (along.size() < members.size() && class_at(along.size()) != c) along.push_back(class_at(along.size()));
  for (std::size_t offset = 0; offset < members.size(); ++offset) {
    if (members.size() % along.size() != 0 || class_at(offset) != along[offset % along.size()]) return {};
  }
  return along;
}

}  // namespace ringwright
