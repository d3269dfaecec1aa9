// Simulates one call at a time, in steps or as kernels run it, alone on a network and a clock of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/router.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"
#include "core/run/alone/lone_wires.h"

namespace ringwright {

// Of the runner that carries out calls which are simulated alone, in a job of their own.
class RunnerMaker {
 public:
  virtual ~RunnerMaker() = default;
  [[nodiscard]] virtual std::unique_ptr<CollectiveRunner> make(PlayedJob& job) const = 0;
};

struct LoneInputs {
  Engine& engine;  // of this network, which carries nothing else
  NetworkModel& network;
  const Router& router;  // of that network
  std::span<const Bandwidth> capacities;  // of its links while calls are simulated
  const TaskGraph& graph;
  const RankClasses& classes;
  const ChannelChooser* kernels = nullptr;  // of messages; null: only collectives are asked for
  const RunnerMaker& maker;
};

// A collective of a group, or a message.
struct LoneOrder {
  std::vector<ClassId> members;  // of a collective the classes of its group, ascending; of a message both ends
  DimensionId dimension;
  std::uint32_t spec = 0;               // index into TaskGraph::collectives
  std::optional<MessageOrder> message;  // empty: a collective
};

// What a call does, from the moment at which its first member starts.
struct LonePlay {
  std::vector<Duration> ends;  // by member
  Duration over;               // all its transfers have arrived
  std::vector<Bytes> sent;     // by member; of two members of one class by the first
  std::vector<std::uint64_t> messages;  // the same: transfers that it started
  std::vector<UsedLink> links;          // as LonePlayer::play was given them
};

class LonePlayer final : public CommunicationListener, public MessageEnds {
 public:
  explicit LonePlayer(const LoneInputs& inputs);

  // Members start so long after the first one. Empty: the call does not end, and no later one can be simulated.
  [[nodiscard]] std::optional<LonePlay> play(const LoneOrder& order, std::span<const Duration> starts);
  // Adds what the last call did to these links.
  void add_links(std::span<const LinkId> links, LonePlay& play) const;
  // The paths of its transfers.
  [[nodiscard]] const std::vector<RouteQuery>& queries() const { return wires_.queries(); }
  [[nodiscard]] const PlayedJob& job() const { return job_; }

  void on_communication_ended(ClassId rank_class, std::uint32_t task) override;
  void on_sent(std::uint64_t token) override { note_end(static_cast<std::uint32_t>(token)); }
  void on_received(std::uint64_t token) override { note_end(static_cast<std::uint32_t>(token) + 1); }
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }

 private:
  void start(const LoneOrder& order, std::span<const Duration> starts);
  void note_end(std::uint32_t member);
  void count_traffic(const LoneOrder& order, std::int64_t sign, LonePlay& play) const;

  LoneWires wires_;
  ActivityLedger ledger_;
  PlayedJob job_;
  std::unique_ptr<CollectiveRunner> runner_;
  std::uint64_t calls_ = 0;
  std::vector<CollectiveRequest> requests_;  // of the current call, by member
  std::vector<TimePoint> ends_;
  std::size_t members_left_ = 0;
  bool stuck_ = false;
  std::vector<LinkUsage> usage_before_;
  std::vector<LinkUsage> usage_after_;
};

}  // namespace ringwright
