#include "core/run/astra/isolated_collective.h"

#include <algorithm>
#include <functional>

#include "core/base/check.h"

namespace ringwright {
namespace {

constexpr Tick kNever = -1;
constexpr NetworkEvents kEventKinds{.arrival = static_cast<std::uint32_t>(JobEvent::kArrival),
                                    .internal = static_cast<std::uint32_t>(JobEvent::kNetwork)};

Tick endpoint_ticks(const StreamRules& rules, const ChunkedCollective& plan, std::uint32_t packet) {
  const EndpointTime time = endpoint_time(rules, plan, packet_at(plan.phases.front(), packet));
  return later(time.delay, time.reduction);
}

}  // namespace

void IsolatedCollective::on_member_done(std::uint32_t /*collective*/, std::uint32_t position) {
  done_[position] = queue_.now();
}

IsolatedCollective::Machine IsolatedCollective::make(std::size_t ranks, std::unique_ptr<MessageNetwork> network) {
  Machine machine;
  machine.events = std::make_unique<RankEvents>(queue_, ranks);
  machine.network = std::move(network);
  machine.streams = std::make_unique<ChunkStreams>(
      rules_, ranks,
      ChunkStreams::Surroundings{
          .queue = queue_, .events = *machine.events, .network = *machine.network, .listener = *this});
  return machine;
}

void IsolatedCollective::drive(Machine& machine) {
  while (const auto event = queue_.next()) {
    switch (static_cast<JobEvent>(event->kind)) {
      case JobEvent::kRankBatch:
        machine.events->run(event->index, [&](std::uint32_t rank, const RankEvent& what) {
          if (what.kind == RankEventKind::kPacket) {
            machine.streams->on_packet(what.index, what.extra);
          } else {
            machine.streams->enter(0, rank, 0);
          }
        });
        break;
      case JobEvent::kArrival: machine.streams->on_arrival(event->index); break;
      case JobEvent::kNetwork: machine.network->on_event(event->index); break;
      case JobEvent::kLateMessage: machine.streams->on_late_message(event->index); break;
      case JobEvent::kRing: CHECK(false, "a network opens no ring unasked"); break;
    }
  }
}

// One phase in which each member has one message in flight: no event is needed, since a member's next step begins when
// its own step and that of its sender allow it.
bool IsolatedCollective::is_chain(const ChunkedCollective& plan) {
  return plan.phases.size() == 1 && plan.phases.front().shape == PhaseShape::kWindow && plan.phases.front().window == 1;
}

std::vector<Tick> IsolatedCollective::run_chain(const ChunkedCollective& plan, std::span<const std::uint32_t> members,
                                                std::span<const Tick> entered) const {
  const ChunkPhase& phase = plan.phases.front();
  const std::size_t size = entered.size();
  const std::size_t at_once = rules_.queues.running_per_queue;
  std::vector<std::vector<Tick>> turns(size);  // when the running chunks of a member end, a heap
  std::vector<Tick> sent(size), next(size), delays(size), last(entered.begin(), entered.end());
  std::vector<std::uint32_t> senders(size);
  for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
    const Tick first_packet = endpoint_ticks(rules_, plan, 0);
    for (std::size_t i = 0; i < size; ++i) {
      Tick begin = entered[i];
      if (turns[i].size() == at_once) {
        std::ranges::pop_heap(turns[i], std::greater<>());
        begin = turns[i].back();
        turns[i].pop_back();
      }
      sent[i] = later(begin, first_packet);
    }
    for (std::uint32_t message = 0; message < phase.messages; ++message) {
      if (message == 0 || phase.steps.size() > 1) {
        const MessageStep& step = phase.step(message);
        for (std::uint32_t i = 0; i < size; ++i) {
          senders[i] = peers_in(phase, i, step).from;
          delays[i] = networks_.delay(members, {.from = senders[i], .to = i, .bytes = step.bytes});
        }
      }
      const Tick packet = endpoint_ticks(rules_, plan, message + 1);
      for (std::size_t i = 0; i < size; ++i)
        next[i] = later(std::max(sent[i], later(sent[senders[i]], delays[i])), packet);
      sent.swap(next);
    }
    for (std::size_t i = 0; i < size; ++i) {
      last[i] = std::max(last[i], sent[i]);
      turns[i].push_back(sent[i]);
      std::ranges::push_heap(turns[i], std::greater<>());
    }
  }
  return last;
}

std::optional<std::vector<Tick>> IsolatedCollective::run(const ChunkedCollective& plan,
                                                         std::span<const std::uint32_t> members,
                                                         std::span<const Tick> entered) {
  if (!networks_.shares_links() && is_chain(plan)) return run_chain(plan, members, entered);
  queue_.reset();
  Machine machine = make(entered.size(), networks_.make(queue_, kEventKinds, members));
  done_.assign(entered.size(), kNever);
  const std::uint32_t collective =
      machine.streams->open({.plan = &plan, .size = static_cast<std::uint32_t>(entered.size())});
  CHECK(collective == 0, "the only collective is the first");
  for (std::uint32_t position = 0; position < entered.size(); ++position) {
    machine.events->after(position, entered[position], {.kind = RankEventKind::kNodeDone});
  }
  drive(machine);
  if (std::ranges::count(done_, kNever) > 0) return std::nullopt;
  return done_;
}

std::optional<Tick> IsolatedCollective::run_folded(const ChunkedCollective& plan,
                                                   std::span<const std::uint32_t> members, std::uint32_t size) {
  queue_.reset();
  const bool shared = networks_.shares_links();
  Machine machine =
      make(1, shared ? networks_.make_folded(queue_, kEventKinds) : networks_.make(queue_, kEventKinds, members));
  done_.assign(1, kNever);
  const std::uint32_t collective = machine.streams->open({.plan = &plan, .size = size, .folded = true});
  machine.streams->enter(collective, 0, 0);
  drive(machine);
  if (done_.front() == kNever || machine.network->met_ties()) return std::nullopt;
  return done_.front();
}

}  // namespace ringwright
