#include "core/run/alone/lone_calls.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/index.h"

namespace ringwright {

LoneCalls::LoneCalls(const LoneInputs& inputs) : inputs_(inputs), player_(inputs), roster_(player_.job()) {}

LoneCall& LoneCalls::collective(ClassId rank_class, DimensionId dimension, std::uint32_t spec) {
  const std::span<const ClassId> members = roster_.classes_of_group(rank_class, dimension);
  LoneCall*& call = collectives_[{members.front(), dimension, spec}];
  if (call != nullptr) return *call;
  call = &calls_.emplace_back();
  call->order = {.members = {members.begin(), members.end()}, .dimension = dimension, .spec = spec, .message = {}};
  std::ranges::sort(call->order.members);
  find_shape(*call);
  return *call;
}

LoneCall& LoneCalls::message(const MessageOrder& order) {
  LoneCall*& call = messages_[{order.sender, order.receiver, order.to, order.call.dimension, order.call.bytes,
                               order.call.from, order.call.to, order.label}];
  if (call != nullptr) return *call;
  call = &calls_.emplace_back();
  call->order = {.members = {order.sender, order.receiver},
                 .dimension = order.call.dimension,
                 .spec = 0,
                 .message = order};
  find_shape(*call);
  return *call;
}

const LonePlay* LoneCalls::play(LoneCall& call, const std::vector<Duration>& starts) {
  if (!call.known) return nullptr;
  const auto known = call.plays.find(starts);
  if (known != call.plays.end()) return &known->second;
  LoneCall& first = *shapes_[call.shape].first;
  if (&call == &first) {
    std::optional<LonePlay> play = player_.play(call.order, starts);
    if (!play) return nullptr;
    player_.add_links(call.links, *play);
    return &call.plays.emplace(starts, std::move(*play)).first->second;
  }
  const LonePlay* of_first = play(first, starts);
  if (of_first == nullptr) return nullptr;
  LonePlay& own = call.plays.emplace(starts, *of_first).first->second;
  for (std::size_t link = 0; link < own.links.size(); ++link) own.links[link].link = call.links[link];
  return &own;
}

std::size_t LoneCalls::clashes() const {
  std::size_t count = 0;
  for (const LoneCall& call : calls_) count += call.clashes.size();
  return count;
}

void LoneCalls::find_shape(LoneCall& call) {
  std::vector<RankId> ranks = ranks_of(call);
  std::vector<std::uint32_t>& candidates = shapes_of_[common(call, ranks)];
  for (const std::uint32_t shape : candidates) {
    if (!takes_equal_paths(shapes_[shape], ranks, call)) continue;
    call.shape = shape;
    call.known = shapes_[shape].first->known;
    call.events = shapes_[shape].first->events;
    return;
  }
  candidates.push_back(static_cast<std::uint32_t>(shapes_.size()));
  simulate_first(call, std::move(ranks));
}

void LoneCalls::simulate_first(LoneCall& call, std::vector<RankId> ranks) {
  call.shape = static_cast<std::uint32_t>(shapes_.size());
  Shape& shape = shapes_.emplace_back();
  shape.first = &call;
  shape.ranks = std::move(ranks);
  if (call.order.message) shape.plan = inputs_.kernels->choose_message(call.order.message->call).plan;
  const std::vector<Duration> together(call.order.members.size());
  const std::uint64_t events = inputs_.engine.events_run();
  std::optional<LonePlay> play = player_.play(call.order, together);
  call.events = inputs_.engine.events_run() - events;
  call.known = play.has_value();
  if (!play) return;
  shape.queries = player_.queries();
  for (const RouteQuery& query : shape.queries) shape.paths.push_back(path_of(query, call.links));
  player_.add_links(call.links, *play);
  call.plays.emplace(together, std::move(*play));
}

std::vector<RankId> LoneCalls::ranks_of(const LoneCall& call) const {
  const PlayedJob& job = player_.job();
  if (const auto& message = call.order.message) return {job.rank_of(message->sender), message->to};
  std::vector<const std::vector<RankId>*> groups;
  std::vector<RankId> ranks;
  for (const ClassId member : call.order.members) {
    const std::vector<RankId>& group = job.group_of(member, call.order.dimension);
    if (std::ranges::find(groups, &group) != groups.end()) continue;
    groups.push_back(&group);
    ranks.insert(ranks.end(), group.begin(), group.end());
  }
  return ranks;
}

std::vector<std::uint64_t> LoneCalls::common(const LoneCall& call, std::span<const RankId> ranks) const {
  const PlayedJob& job = player_.job();
  const LoneOrder& order = call.order;
  std::vector<std::uint64_t> key = {order.dimension.value, order.spec, order.members.size(), ranks.size()};
  if (const auto& message = order.message) {
    key.push_back(static_cast<std::uint64_t>(message->call.bytes.count()));
    key.push_back(message->label);
    key.push_back(message->call.leaves_host() ? 1 : 0);
    key.push_back(message->sender == message->receiver ? 1 : 0);
    return key;
  }
  // Of each member its index, its group and the layout of that, and of each rank its member.
  for (const ClassId member : order.members) {
    const std::vector<RankId>& group = job.group_of(member, order.dimension);
    key.push_back(static_cast<std::uint64_t>(job.index_in_group(member, order.dimension)));
    key.push_back(job.layout_of(member, order.dimension));
    key.push_back(static_cast<std::uint64_t>(std::ranges::find(ranks, group.front()) - ranks.begin()));
  }
  for (const RankId rank : ranks) {
    const auto member = std::ranges::lower_bound(order.members, inputs_.classes.class_of[rank.index()]);
    key.push_back(static_cast<std::uint64_t>(member - order.members.begin()));
  }
  return key;
}

// `links`: those of the call so far.
LoneCalls::Path LoneCalls::path_of(const RouteQuery& query, std::vector<LinkId>& links) const {
  std::vector<Hop> hops;
  Path path{.latency = inputs_.router.route(query, hops), .links = {}};
  for (const Hop& hop : hops) {
    const auto number = static_cast<std::uint32_t>(std::ranges::find(links, hop.link) - links.begin());
    if (number == links.size()) links.push_back(hop.link);
    path.links.push_back({.number = number,
                          .share = hop.share,
                          .multiplicity = hop.multiplicity,
                          .capacity = inputs_.capacities[hop.link.index()]});
  }
  return path;
}

// Then the call has its links.
bool LoneCalls::takes_equal_paths(const Shape& shape, std::span<const RankId> ranks, LoneCall& call) const {
  if (call.order.message) {
    const CollectivePlan plan = inputs_.kernels->choose_message(call.order.message->call).plan;
    if (!(plan == shape.plan)) return false;
  }
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  for (std::size_t place = 0; place < shape.ranks.size(); ++place) place_of.emplace(shape.ranks[place].value, place);
  call.links.clear();
  for (std::size_t i = 0; i < shape.queries.size(); ++i) {
    RouteQuery query = shape.queries[i];
    query.from = ranks[place_of.at(query.from.value)];
    query.to = ranks[place_of.at(query.to.value)];
    if (!(path_of(query, call.links) == shape.paths[i])) {
      call.links.clear();
      return false;
    }
  }
  return true;
}

}  // namespace ringwright
