#include "core/run/collectives/collective_player.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {
namespace {

constexpr std::uint64_t make_token(std::uint32_t slot, std::size_t send) {
  return (std::uint64_t{slot} << 32U) | static_cast<std::uint32_t>(send);
}

}  // namespace

CollectivePlayer::CollectivePlayer(PlayedJob& job, const CollectiveChooser& chooser, const StepCosts& costs,
                                   const CallOverhead* overhead)
    : job_(job),
      chooser_(chooser),
      costs_(costs),
      overhead_(overhead),
      active_calls_(job.classes.count() * job.graph.dimensions.size()),
      choices_(job.graph.dimensions.size() * job.graph.collectives.size()),
      roster_(job),
      rings_(job, roster_) {}

const CollectivePlayer::Choice& CollectivePlayer::choose(const CollectiveCall& call, std::uint32_t spec,
                                                         std::uint32_t layout) {
  std::vector<const Choice*>& choices = choices_[call.dimension.index() * job_.graph.collectives.size() + spec];
  for (const Choice* const known : choices) {
    if (known->layout == layout) return *known;
  }
  const CollectiveAlgorithm& algorithm = chooser_.choose(call);
  return *choices.emplace_back(
      &chosen_.emplace_back(Choice{.layout = layout,
                                   .algorithm = &algorithm,
                                   .steps = algorithm.steps(call),
                                   .uniform = algorithm.uniform_steps(call),
                                   .ring = algorithm.ring_steps(call),
                                   .repeats_edges = RingCalls::repeats_edges(algorithm, call),
                                   .overhead = overhead_ != nullptr ? overhead_->of(call) : Duration()}));
}

std::optional<std::uint32_t> CollectivePlayer::find_active(ClassId c, DimensionId d, std::uint64_t sequence) const {
  for (const std::uint32_t slot : active_calls(c, d).active) {
    if (calls_[slot].request.sequence == sequence) return slot;
  }
  return std::nullopt;
}

void CollectivePlayer::start(const Request& request) {
  std::uint32_t slot = 0;
  if (free_calls_.empty()) {
    slot = static_cast<std::uint32_t>(calls_.size());
    calls_.emplace_back();
  } else {
    slot = free_calls_.back();
    free_calls_.pop_back();
  }
  const CollectiveSpec& spec = job_.graph.collectives[request.spec];
  const std::uint32_t layout = job_.layout_of(request.rank_class, request.dimension);
  Call& call = calls_[slot];
  call.request = request;
  call.call = {.kind = spec.kind, .bytes = spec.bytes, .layout = &job_.graph.layouts[layout],
               .dimension = request.dimension};
  const Choice& choice = choose(call.call, request.spec, layout);
  call.algorithm = choice.algorithm;
  call.steps = choice.steps;
  call.member = job_.index_in_group(request.rank_class, request.dimension);
  call.step = kJoining;
  call.sends_pending = 0;
  call.awaits_pending = 0;
  call.everyone_pending = false;
  call.active = true;
  call.booked = false;
  call.ring.reset();
  active_calls(request.rank_class, request.dimension).active.push_back(slot);
  join(slot);
  call.begins = job_.engine.now() + choice.overhead;
  if (choice.overhead == Duration()) {
    begin_steps(slot, choice);
  } else {
    job_.engine.after(choice.overhead, [this, slot, &choice] { begin_steps(slot, choice); });
  }
}

void CollectivePlayer::begin_steps(std::uint32_t slot, const Choice& choice) {
  Call& call = calls_[slot];
  call.step = 0;
  const bool of_network = costs_.free() && job_.clocks == nullptr;
  const bool repeats = of_network && call.steps > 1;
  if (repeats && choice.uniform && among_equals(call, *choice.uniform)) return start_batch(slot, *choice.uniform);
  if (of_network && choice.repeats_edges && start_ring(slot, choice)) return;
  enter_steps(slot);
}

// All steps as a member of a ring, which waits for the others within the network.
bool CollectivePlayer::start_ring(std::uint32_t slot, const Choice& choice) {
  Call& call = calls_[slot];
  call.ring = rings_.start({.request = call.request,
                            .call = call.call,
                            .algorithm = *choice.algorithm,
                            .ring = choice.ring,
                            .steps = call.steps,
                            .token = make_token(slot, 0)},
                           *this);
  return call.ring.has_value();
}

// The peers that this member sends to and waits for are of its own class: all of them take every step at the same time.
bool CollectivePlayer::among_equals(const Call& call, const UniformSteps& uniform) const {
  const int size = call.call.size();
  const auto class_at = [&](int offset) {
    const int member = (call.member + offset % size + size) % size;
    return job_.class_of_member(call.request.rank_class, call.request.dimension, member);
  };
  return class_at(uniform.offset) == call.request.rank_class && class_at(-uniform.offset) == call.request.rank_class;
}

// All steps as one repeated transfer: each begins when the previous one has arrived, without waiting for others.
void CollectivePlayer::start_batch(std::uint32_t slot, const UniformSteps& uniform) {
  Call& call = calls_[slot];
  const Request& request = call.request;
  call.step = call.steps - 1;
  call.now.clear();
  call.now.sends.push_back({.peer = (call.member + uniform.offset) % call.call.size(), .size = uniform.size});
  call.arrived.assign(1, false);
  call.sends_pending = 1;
  call.awaits_pending = 0;
  call.everyone_pending = false;
  job_.sent[request.rank_class.index()][request.dimension.index()] += uniform.size * call.steps;
  job_.messages[request.rank_class.index()] += static_cast<std::uint64_t>(call.steps);
  const auto& group = job_.group_of(request.rank_class, request.dimension);
  job_.paced.start({.from = job_.rank_of(request.rank_class),
                      .to = group[static_cast<std::size_t>(call.now.sends.front().peer)],
                      .size = uniform.size,
                      .label = collective_label(request.dimension),
                      .repeats = static_cast<std::uint32_t>(call.steps),
                      .token = make_token(slot, 0)},
                     *this);
}

void CollectivePlayer::start_sends(std::uint32_t slot) {
  const Call& call = calls_[slot];
  for (std::size_t j = 0; j < call.now.sends.size(); ++j) {
    const Duration delay = costs_.before_send(j, call.now.sends[j].size);
    if (delay == Duration()) {
      start_send(slot, j);
    } else {
      job_.engine.after(delay, [this, slot, j] { start_send(slot, j); });
    }
  }
}

void CollectivePlayer::start_send(std::uint32_t slot, std::size_t index) {
  const Call& call = calls_[slot];
  const CollectiveSend& send = call.now.sends[index];
  const RankId self = job_.rank_of(call.request.rank_class);
  const RankId peer =
      job_.group_of(call.request.rank_class, call.request.dimension)[static_cast<std::size_t>(send.peer)];
  const bool down = send.route_kind == RouteKind::kDownFromSwitch;
  if (!down) job_.sent[call.request.rank_class.index()][call.request.dimension.index()] += send.size;
  ++job_.messages[call.request.rank_class.index()];
  job_.paced.start({.from = down ? peer : self,
                      .to = down ? self : peer,
                      .size = send.size,
                      .route_kind = send.route_kind,
                      .nics = send.nics,
                      .label = collective_label(call.request.dimension),
                      .token = make_token(slot, index)},
                     *this);
}

// Time to add the peers' messages of the current step to this member's data. A switch's sum costs nothing here.
Duration CollectivePlayer::time_to_reduce(const Call& call) const {
  if (!(costs_.reduce_rate > Bandwidth(0.0))) return {};
  Bytes added;
  CollectiveStep theirs;
  SendContents contents;
  for (const CollectiveAwait& await : call.now.awaits) {
    call.algorithm->contents(call.call, await.peer, call.step, await.send, contents);
    if (!contents.reduce) continue;
    call.algorithm->step(call.call, await.peer, call.step, theirs);
    added += theirs.sends[static_cast<std::size_t>(await.send)].size;
  }
  return transfer_time(added, costs_.reduce_rate);
}

// Enters steps until one has something to wait for, or the call ends.
void CollectivePlayer::enter_steps(std::uint32_t slot) {
  Call& call = calls_[slot];
  for (; call.step < call.steps; ++call.step) {
    call.algorithm->step(call.call, call.member, call.step, call.now);
    call.sends_pending = static_cast<int>(call.now.sends.size());
    call.arrived.assign(call.now.sends.size(), false);
    call.everyone_pending = call.now.await_everyone;
    call.awaits_pending = 0;
    for (const CollectiveAwait& await : call.now.awaits) {
      const ClassId peer = job_.class_of_member(call.request.rank_class, call.request.dimension, await.peer);
      if (!has_arrived(peer, call, await.send)) ++call.awaits_pending;
    }
    start_sends(slot);
    // A member without sends has nothing in flight that could count it later.
    if (call.everyone_pending && call.sends_pending == 0) count_everyone(slot);
    if (call.sends_pending > 0 || call.awaits_pending > 0 || call.everyone_pending || begin_reducing(slot)) return;
  }
  finish(slot);
}

// True: the step ends when the received data is added.
bool CollectivePlayer::begin_reducing(std::uint32_t slot) {
  const Duration adding = time_to_reduce(calls_[slot]);
  if (adding == Duration()) return false;
  calls_[slot].reduces_pending = true;
  job_.engine.after(adding, [this, slot] {
    calls_[slot].reduces_pending = false;
    ++calls_[slot].step;
    enter_steps(slot);
  });
  return true;
}

void CollectivePlayer::try_advance(std::uint32_t slot) {
  Call& call = calls_[slot];
  if (!call.active || call.sends_pending > 0 || call.awaits_pending > 0 || call.everyone_pending ||
      call.reduces_pending)
    return;
  if (begin_reducing(slot)) return;
  ++call.step;
  enter_steps(slot);
}

void CollectivePlayer::finish(std::uint32_t slot) {
  Call& call = calls_[slot];
  const Request request = call.request;
  ActiveCalls& own = active_calls(request.rank_class, request.dimension);
  own.active.erase(std::ranges::find(own.active, slot));
  own.done.add(request.sequence);
  call.active = false;
  if (!call.ring) {
    call.now.clear();
    call.arrived.clear();
  }
  free_calls_.push_back(slot);
  if (call.booked) job_.ledger.end_communication(request.rank_class, request.dimension, job_.engine.now());
  job_.listener.on_communication_ended(request.rank_class, request.task);
}

void CollectivePlayer::on_arrived(std::uint64_t token) {
  const auto slot = static_cast<std::uint32_t>(token >> 32U);
  const auto send = static_cast<std::size_t>(token & 0xFFFFFFFFU);
  Call& call = calls_[slot];
  if (call.ring) return finish(slot);
  call.arrived[send] = true;
  --call.sends_pending;
  if (call.sends_pending == 0 && call.now.await_everyone) count_everyone(slot);
  if (call.now.sends[send].route_kind == RouteKind::kWhole) notify_peer(call, static_cast<int>(send));
  try_advance(slot);
}

// Has the sender's send number `send` of the receiver's current step arrived?
bool CollectivePlayer::has_arrived(ClassId sender, const Call& receiver, int send) const {
  const Request& request = receiver.request;
  if (active_calls(sender, request.dimension).done.contains(request.sequence)) return true;
  const auto slot = find_active(sender, request.dimension, request.sequence);
  if (!slot) return false;
  const Call& call = calls_[*slot];
  if (call.ring) return arrived_over(call, send) > receiver.step;
  if (call.step != receiver.step) return call.step > receiver.step;
  // When a call enters a step, its own earlier `arrived` is cleared before anyone reads it.
  const auto index = static_cast<std::size_t>(send);
  return index < call.arrived.size() && call.arrived[index];
}

void CollectivePlayer::notify_peer(const Call& sender, int send) {
  const Request request = sender.request;
  const int peer = sender.now.sends[static_cast<std::size_t>(send)].peer;
  const ClassId receiver_class = job_.class_of_member(request.rank_class, request.dimension, peer);
  const auto slot = find_active(receiver_class, request.dimension, request.sequence);
  if (!slot) return;
  Call& receiver = calls_[*slot];
  if (receiver.step != sender.step) return;  // it will check when it gets here
  for (const CollectiveAwait& await : receiver.now.awaits) {
    if (await.send != send) continue;
    const ClassId awaited = job_.class_of_member(receiver_class, request.dimension, await.peer);
    if (awaited == request.rank_class) --receiver.awaits_pending;
  }
  // A class that sends to itself advances in on_arrived.
  if (receiver_class != request.rank_class) try_advance(*slot);
}

void CollectivePlayer::join(std::uint32_t slot) {
  const Request request = calls_[slot].request;
  if (!roster_.come(request.rank_class, request.dimension, request.sequence, kJoining)) return;
  for (const ClassId member_class : roster_.classes_of_group(request.rank_class, request.dimension)) {
    const auto member = find_active(member_class, request.dimension, request.sequence);
    if (!member) continue;  // a member that waits for nobody may already be done
    calls_[*member].booked = true;
    job_.ledger.begin_communication(member_class, request.dimension, job_.engine.now());
  }
}

// All sends of this member's step have arrived: when this holds for all members, the whole group may continue.
void CollectivePlayer::count_everyone(std::uint32_t slot) {
  const Request request = calls_[slot].request;
  const int step = calls_[slot].step;
  if (!roster_.come(request.rank_class, request.dimension, request.sequence, step)) return;
  for (const ClassId member_class : roster_.classes_of_group(request.rank_class, request.dimension)) {
    const auto member = find_active(member_class, request.dimension, request.sequence);
    CHECK(member && calls_[*member].step == step, "a member left a step that everyone awaits");
    calls_[*member].everyone_pending = false;
    if (*member != slot) try_advance(*member);
  }
}

std::uint64_t CollectivePlayer::identity(const Call& call) const {
  const Request& request = call.request;
  const auto relative = static_cast<std::uint64_t>(request.iteration - job_.reference_iteration);
  return mix(mix(request.rank_class.value, request.dimension.value),
             mix(job_.relative_task(request.rank_class, request.task), relative));
}

std::uint64_t CollectivePlayer::identity(std::uint64_t token) const {
  return mix(identity(calls_[token >> 32U]), token & 0xFFFFFFFFU);
}

std::uint64_t CollectivePlayer::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the slot of a call does not matter
  for (const Call& call : calls_) {
    if (!call.active) continue;
    std::uint64_t state = mix(identity(call), static_cast<std::uint64_t>(call.step));
    if (call.step == kJoining)
      state = mix(state, static_cast<std::uint64_t>((call.begins - job_.engine.now()).count()));
    state = mix(state, static_cast<std::uint64_t>(call.awaits_pending) * 4 + (call.everyone_pending ? 2 : 0) +
                           (call.booked ? 1 : 0));
    for (const bool arrived : call.arrived) state = mix(state, arrived ? 1 : 0);
    // Work that a processor has begun is not among the network's transfers: no two moments are equal.
    if (!costs_.free()) state = mix(state, static_cast<std::uint64_t>(job_.engine.now().since_start().count()));
    sum += state;
  }
  return sum;
}

std::string CollectivePlayer::waits_for(ClassId rank_class, std::uint32_t task) const {
  for (const Call& call : calls_) {
    if (!call.active || call.request.rank_class != rank_class || call.request.task != task) continue;
    return describe_wait(call.ring ? in_steps(call) : call);
  }
  return {};
}

// How many messages of a call that the network moves have arrived over an edge.
int CollectivePlayer::arrived_over(const Call& call, int send) const {
  return static_cast<int>(rings_.arrived_over(*call.ring, static_cast<std::uint32_t>(send)));
}

// A call that the network moves, with the step that it is in: that of its last messages until those that it awaits have
// arrived too.
CollectivePlayer::Call CollectivePlayer::in_steps(Call call) const {
  call.algorithm->step(call.call, call.member, 0, call.now);
  int arrived = call.steps;
  for (int send = 0; send < std::ssize(call.now.sends); ++send) arrived = std::min(arrived, arrived_over(call, send));
  call.step = std::max(arrived - 1, 0);
  const auto has_come = [&](const CollectiveAwait& await) {
    return has_arrived(job_.class_of_member(call.request.rank_class, call.request.dimension, await.peer), call,
                       await.send);
  };
  if (arrived > 0 && arrived < call.steps && std::ranges::all_of(call.now.awaits, has_come)) ++call.step;
  return call;
}

std::string CollectivePlayer::describe_wait(const Call& call) const {
  std::string ranks;
  const auto& group = job_.group_of(call.request.rank_class, call.request.dimension);
  const auto add = [&ranks](RankId rank) { ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.value); };
  for (const CollectiveAwait& await : call.now.awaits) {
    const RankId peer = group[static_cast<std::size_t>(await.peer)];
    if (!has_arrived(job_.classes.class_of[peer.index()], call, await.send)) add(peer);
  }
  for (const RankId rank : group) {
    if (!call.everyone_pending) break;
    const ClassId c = job_.classes.class_of[rank.index()];
    const auto slot = find_active(c, call.request.dimension, call.request.sequence);
    if (!slot || calls_[*slot].step < call.step) add(rank);
  }
  return fmt::format("call {} of '{}' ({}, {}), step {} of {}, for rank{} {}", call.request.sequence,
                     job_.graph.dimensions[call.request.dimension.index()].name, to_string(call.call.kind),
                     call.algorithm->name(), call.step, call.steps, ranks.find(',') == std::string::npos ? "" : "s",
                     ranks.empty() ? "none" : ranks);
}

}  // namespace ringwright
