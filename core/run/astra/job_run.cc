#include "core/run/astra/job_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/run/astra/graph_phases.h"
#include "core/run/astra/group_calls.h"
#include "core/run/astra/message_ring_calls.h"
#include "core/run/astra/node_messages.h"
#include "core/run/astra/rank_nodes.h"

namespace ringwright {
namespace {

constexpr NetworkEvents kNetworkEvents{.arrival = static_cast<std::uint32_t>(JobEvent::kArrival),
                                       .internal = static_cast<std::uint32_t>(JobEvent::kNetwork),
                                       .ring = static_cast<std::uint32_t>(JobEvent::kRing)};
constexpr std::size_t kBusiestLinks = 8;
constexpr std::size_t kMostStuck = 64;

// The collectives of a job: calls of groups, their chunks, and those that are given as graphs.
struct JobCollectives {
  JobCollectives(const GroupCalls::Parts& parts, MessageNetwork& network, NodeMessages& messages)
      : calls(parts),
        graphs(parts.job.graph_sets, messages, parts.queue, parts.events),
        streams(
            parts.rules.streams, parts.job.ranks(),
            {.queue = parts.queue, .events = parts.events, .network = network, .listener = calls, .graphs = &graphs}) {
    calls.use(streams);
  }
  JobCollectives(const JobCollectives&) = delete;  // they refer to each other
  JobCollectives& operator=(const JobCollectives&) = delete;

  GroupCalls calls;
  GraphPhases graphs;
  ChunkStreams streams;
};

class JobRun final : CallListener {
 public:
  JobRun(const NodeJob& job, const JobRules& rules, const MessageNetworks& networks)
      : job_(job),
        rules_(rules),
        events_(queue_, job.ranks()),
        network_(networks.make(queue_, kNetworkEvents, {})),
        messages_(*network_, rules.streams.rendezvous),
        rings_(job, rules_, *network_, events_),
        collectives_({.job = job,
                      .rules = rules_,
                      .networks = networks,
                      .queue = queue_,
                      .events = events_,
                      .rings = rings_,
                      .listener = *this},
                     *network_, messages_),
        memory_(rules.memory) {
    outcome_.ranks.resize(job.ranks());
    ranks_.reserve(job.ranks());
    for (const std::uint32_t graph : job.graph_of) ranks_.emplace_back(job.graphs[graph]);
  }

  // Empty: the order of events decides what a shortcut leaves open.
  [[nodiscard]] std::optional<JobOutcome> run() {
    for (std::uint32_t rank = 0; rank < job_.ranks(); ++rank) issue(rank);
    drive();
    // Nodes that were freed by one that was passed over, on ranks where nothing else happened since.
    for (bool again = !is_stopped() && !network_->rings_met_tie(); again;) {
      again = false;
      for (std::uint32_t rank = 0; rank < job_.ranks(); ++rank) {
        if (!ranks_[rank].has_asleep()) continue;
        again = true;
        ranks_[rank].wake();
        issue(rank);
      }
      if (again) drive();
    }
    if (network_->rings_met_tie()) return std::nullopt;
    outcome_.out_of_clock = queue_.is_out_of_clock();
    outcome_.calls = collectives_.calls.outcomes();
    outcome_.mismatch = collectives_.calls.mismatch();
    outcome_.links = network_->busiest_links(kBusiestLinks);
    outcome_.events = queue_.events_run() + collectives_.calls.events();
    outcome_.shortcuts = collectives_.calls.shortcuts();
    if (!outcome_.out_of_clock) find_stuck();
    return std::move(outcome_);
  }

 private:
  // Members of a group have called different collectives.
  [[nodiscard]] bool is_stopped() const { return collectives_.calls.mismatch().has_value(); }

  void drive() {
    while (!is_stopped()) {
      if (collectives_.calls.waits_for_end_of_tick() && !queue_.has_more_now()) collectives_.calls.end_of_tick();
      const auto event = queue_.next();
      if (!event) return;
      handle(*event);
      if (is_ring(*event) && network_->rings_met_tie()) return;
    }
  }

  [[nodiscard]] static bool is_ring(TickEvent event) { return static_cast<JobEvent>(event.kind) == JobEvent::kRing; }

  void handle(TickEvent event) {
    switch (static_cast<JobEvent>(event.kind)) {
      case JobEvent::kRankBatch:
        events_.run(event.index, [this](std::uint32_t rank, const RankEvent& what) { on_rank_event(rank, what); });
        break;
      case JobEvent::kArrival:
        if (owner_of(event.index) == MessageOwner::kChunk) {
          collectives_.streams.on_arrival(event.index);
        } else {
          on_node_message(event.index);
        }
        break;
      case JobEvent::kNetwork: network_->on_event(event.index); break;
      case JobEvent::kLateMessage: collectives_.streams.on_late_message(event.index); break;
      case JobEvent::kRing:
        if (const auto member = network_->on_ring_event(event.index)) rings_.on_received(*member);
        break;
    }
  }

  void on_rank_event(std::uint32_t rank, const RankEvent& event) {
    switch (event.kind) {
      case RankEventKind::kPacket: collectives_.streams.on_packet(event.index, event.extra); break;
      case RankEventKind::kNodeDone: complete(rank, event.index); break;
      case RankEventKind::kGraphNodeDone:
        collectives_.graphs.on_node_done(event.index, static_cast<std::uint32_t>(event.extra), collectives_.streams);
        break;
      case RankEventKind::kRingPacket: collectives_.calls.on_ring_packet(rank, event); break;
    }
  }

  void on_call_done(std::uint32_t rank, std::uint32_t node) override { complete(rank, node); }

  void on_node_message(std::uint32_t token) {
    const NodeMessages::Arrival arrival = messages_.on_arrival(token);
    for (const auto& node : {arrival.sent, arrival.received}) {
      if (!node) continue;
      if (GraphPhases::owns(*node)) {
        collectives_.graphs.on_message(*node, collectives_.streams);
      } else {
        complete(static_cast<std::uint32_t>(*node >> 32U), static_cast<std::uint32_t>(*node));
      }
    }
  }

  void complete(std::uint32_t rank, std::uint32_t node) {
    ranks_[rank].complete(node);
    issue(rank);
  }

  // Looks at every node that is free now, in order of ids; those that a passed-over node frees wait for the next time,
  // unless nothing of this rank is left that could be waited for.
  void issue(std::uint32_t rank) {
    RankNodes& nodes = ranks_[rank];
    do {
      if (nodes.is_idle()) nodes.wake();
      while (const auto node = nodes.issue()) start(rank, *node);
    } while (nodes.is_idle() && nodes.has_asleep() && !is_stopped());
    if (nodes.all_done() && !outcome_.ranks[rank].finish) outcome_.ranks[rank].finish = queue_.now();
  }

  void start(std::uint32_t rank, std::uint32_t index) {
    const GraphNode& node = ranks_[rank].graph().nodes[index];
    const std::uint64_t name = std::uint64_t{rank} << 32U | index;
    switch (node.work) {
      case NodeWork::kLasting:
        if (node.counts_as_gpu_time) outcome_.ranks[rank].gpu += node.duration;
        if (node.slot == NodeSlot::kCpu) outcome_.ranks[rank].cpu += node.duration;
        events_.after(rank, node.duration, {.kind = RankEventKind::kNodeDone, .index = index});
        break;
      case NodeWork::kMemory:
        events_.after(rank, memory_.request(rank, node.bytes, queue_.now()) - queue_.now(),
                      {.kind = RankEventKind::kNodeDone, .index = index});
        break;
      case NodeWork::kSend:
        messages_.send({.from = rank, .to = node.peer, .tag = node.tag, .bytes = node.bytes}, name);
        break;
      case NodeWork::kReceive:
        if (messages_.receive({.from = node.peer, .to = rank, .tag = node.tag, .bytes = node.bytes}, name)) {
          events_.after(rank, 0, {.kind = RankEventKind::kNodeDone, .index = index});
        }
        break;
      case NodeWork::kCollective:
        static_cast<void>(
            collectives_.calls.call({.rank = rank, .node = index, .priority = priority_of(node)}, node.call));
        break;
      case NodeWork::kSkipped: ranks_[rank].skip(index); break;
    }
  }

  [[nodiscard]] std::int64_t priority_of(const GraphNode& node) {
    switch (rules_.order) {
      case ChunkOrder::kLatestFirst: return ++calls_made_;
      case ChunkOrder::kEarliestFirst: return -++calls_made_;
      case ChunkOrder::kByPriority: break;
    }
    return node.priority;
  }

  void find_stuck() {
    const auto add = [this](std::uint32_t rank, std::uint32_t index, std::string reason) {
      if (outcome_.stuck.size() >= kMostStuck) return;
      outcome_.stuck.push_back(
          {.rank = rank, .node = ranks_[rank].graph().nodes[index].id, .reason = std::move(reason)});
    };
    for (const auto& [message, node] : messages_.waiting_receives()) {
      if (GraphPhases::owns(node)) continue;
      add(message.to, static_cast<std::uint32_t>(node),
          fmt::format("receives {} bytes with tag {} from rank {}, which sends no such message", message.bytes,
                      message.tag, message.from));
    }
    for (const auto& [message, node] : messages_.waiting_sends()) {
      if (GraphPhases::owns(node)) continue;
      add(message.from, static_cast<std::uint32_t>(node),
          fmt::format("sends {} bytes with tag {} to rank {}, which does not receive them", message.bytes, message.tag,
                      message.to));
    }
    for (std::uint32_t rank = 0; rank < job_.ranks(); ++rank) {
      for (const std::uint32_t index : ranks_[rank].running()) {
        const GraphNode& node = ranks_[rank].graph().nodes[index];
        if (node.work == NodeWork::kCollective) add(rank, index, collectives_.calls.reason(rank, node.call));
      }
    }
    std::ranges::stable_sort(outcome_.stuck, {}, &StuckNode::rank);
  }

  const NodeJob& job_;
  JobRules rules_;
  TickQueue queue_;
  RankEvents events_;
  std::unique_ptr<MessageNetwork> network_;
  NodeMessages messages_;
  MessageRingCalls rings_;
  JobCollectives collectives_;
  RemoteMemory memory_;
  std::vector<RankNodes> ranks_;
  std::int64_t calls_made_ = 0;
  JobOutcome outcome_;
};

}  // namespace

JobOutcome run_node_job(const NodeJob& job, const JobRules& rules, const MessageNetworks& networks) {
  if (auto outcome = JobRun(job, rules, networks).run()) return std::move(*outcome);
  JobRules by_messages = rules;
  by_messages.rings = Shortcuts::kNo;
  auto outcome = JobRun(job, by_messages, networks).run();
  CHECK(outcome.has_value(), "without rings nothing is left open");
  return std::move(*outcome);
}

}  // namespace ringwright
