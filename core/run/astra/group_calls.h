// Collectives that ranks call on groups: the first call of every member belongs together, then the second, and so on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/plan/node_job.h"
#include "core/run/astra/chunk_streams.h"
#include "core/run/astra/isolated_collective.h"
#include "core/run/astra/job_outcome.h"
#include "core/run/astra/job_run.h"
#include "core/run/astra/message_ring_calls.h"

namespace ringwright {

class CallListener {
 public:
  virtual ~CallListener() = default;
  virtual void on_call_done(std::uint32_t rank, std::uint32_t node) = 0;
};

class GroupCalls final : public ChunkListener {
 public:
  struct Parts {
    const NodeJob& job;
    const JobRules& rules;
    const MessageNetworks& networks;
    TickQueue& queue;
    RankEvents& events;
    MessageRingCalls& rings;
    CallListener& listener;
  };
  explicit GroupCalls(const Parts& parts);

  void use(ChunkStreams& streams) { streams_ = &streams; }

  struct Caller {
    std::uint32_t rank = 0;
    std::uint32_t node = 0;
    std::int64_t priority = 0;
  };
  // Where another member called something else, mismatch() says so.
  void call(const Caller& caller, std::uint32_t call);
  // All that happened at this tick is known: calls that wait for it start.
  void end_of_tick();
  [[nodiscard]] bool waits_for_end_of_tick() const { return !gathering_.empty(); }

  void on_member_done(std::uint32_t collective, std::uint32_t position) override;
  // The last packet of a member of a ring is handled.
  void on_ring_packet(std::uint32_t rank, const RankEvent& packet);

  [[nodiscard]] std::vector<CallOutcome> outcomes() const;
  [[nodiscard]] std::uint64_t shortcuts() const { return shortcuts_ + parts_.rings.opened(); }
  [[nodiscard]] std::uint64_t events() const { return isolated_.events(); }
  [[nodiscard]] const std::optional<StuckNode>& mismatch() const { return mismatch_; }
  // Why a rank's collective does not end.
  [[nodiscard]] std::string reason(std::uint32_t rank, std::uint32_t call) const;

 private:
  // One execution.
  struct Execution {
    std::uint32_t call = 0;
    std::uint32_t ordinal = 0;  // in its group
    std::uint32_t entered = 0;
    std::uint32_t done = 0;
    std::uint32_t open = kNotOpen;  // in ChunkStreams
    std::uint32_t ring = kNotOpen;  // of the network
    Tick first = 0;                 // when the first member called
    std::vector<Caller> callers;    // by position
    std::vector<Tick> times;        // by position, of isolated ones: when it called
    static constexpr std::uint32_t kNotOpen = UINT32_MAX;
    [[nodiscard]] bool is_started() const { return open != kNotOpen || ring != kNotOpen; }
  };
  struct Group {
    std::vector<std::uint32_t> calls_of;   // by position
    std::deque<std::uint32_t> executions;  // open ones, by ordinal
    std::uint32_t first_ordinal = 0;       // of `executions`
  };
  enum class Simulated : std::uint8_t { kNothing, kMessages, kIsolated, kTogether };

  [[nodiscard]] std::uint32_t execution_of(const Caller& caller, std::uint32_t call, std::uint32_t position);
  [[nodiscard]] Simulated simulated_as(const GraphCall& use) const;
  void enter_messages(std::uint32_t execution, std::uint32_t position);
  void enter_streams(std::uint32_t execution, std::uint32_t position);
  void finish_member(std::uint32_t execution, std::uint32_t position);
  void finish_isolated(std::uint32_t execution);
  [[nodiscard]] bool finish_folded(std::uint32_t execution);
  [[nodiscard]] std::optional<Tick> folded_time(const GraphCall& use);
  void finish_all_at(std::uint32_t execution, Tick after);
  void close(std::uint32_t execution);
  void note(const Execution& execution);
  [[nodiscard]] std::uint32_t size_of(std::uint32_t group) const {
    return parts_.job.groups[group].size(parts_.job.ranks());
  }

  Parts parts_;
  ChunkStreams* streams_ = nullptr;
  IsolatedCollective isolated_;
  std::vector<Group> groups_;
  std::vector<Execution> executions_;
  std::vector<std::uint32_t> free_executions_;
  std::vector<std::uint32_t> execution_of_open_;                                   // by collective of the streams
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Tick>> folded_;  // by plan and group
  std::vector<std::uint32_t> gathering_;  // executions that all ranks may be about to enter at this tick
  std::map<std::uint32_t, CallOutcome> outcomes_;
  std::uint64_t shortcuts_ = 0;
  std::optional<StuckNode> mismatch_;
};

}  // namespace ringwright
