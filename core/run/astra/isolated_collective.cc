#include "core/run/astra/isolated_collective.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright {
namespace {

constexpr Tick kNever = -1;
constexpr NetworkEvents kEventKinds{.arrival = static_cast<std::uint32_t>(JobEvent::kArrival),
                                    .internal = static_cast<std::uint32_t>(JobEvent::kNetwork)};

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
    }
  }
}

std::optional<std::vector<Tick>> IsolatedCollective::run(const ChunkedCollective& plan,
                                                         std::span<const std::uint32_t> members,
                                                         std::span<const Tick> entered) {
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
