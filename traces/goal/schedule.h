// A GOAL schedule (Group Operation Assembly Language, Hoefler et al., ICPP 2009), as LogGOPSim and ATLAHS read it: what
// each rank computes, sends and receives, and what waits for what.
//
// Plain data. Times are whole nanoseconds, as ATLAHS takes the unit of `calc`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::traces {

inline constexpr std::int64_t kPicosOfGoalTick = 1'000;  // a nanosecond

enum class GoalKind : std::uint8_t { kSend = 1, kReceive = 2, kCalc = 3 };  // the numbers of the binary form
[[nodiscard]] std::string_view to_string(GoalKind kind);  // "send"

struct GoalOperation {
  GoalKind kind = GoalKind::kCalc;
  std::uint32_t peer = 0;  // of messages
  std::uint64_t size = 0;  // bytes of messages, nanoseconds of a calc
  std::uint32_t tag = 0;
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;
  std::uint32_t line = 0;  // of the text; 0: of a binary file
  friend bool operator==(const GoalOperation&, const GoalOperation&) = default;
};

// Operation `waits` begins after operation `before` has finished, or started. Positions in GoalRank::operations.
struct GoalDependency {
  std::uint32_t waits = 0;
  std::uint32_t before = 0;
  friend auto operator<=>(const GoalDependency&, const GoalDependency&) = default;
};

struct GoalRank {
  std::vector<GoalOperation> operations;
  std::vector<GoalDependency> requirements;        // `requires`: after the end; sorted, without repetitions
  std::vector<GoalDependency> start_requirements;  // `irequires`: after the start; the same
  friend bool operator==(const GoalRank&, const GoalRank&) = default;
};

struct GoalSchedule {
  std::string file;
  std::vector<GoalRank> ranks;
};

// Sorts both lists and removes repetitions.
void put_in_order(GoalRank& rank);

// "rank 3, line 12 (send)", or "rank 3, operation 7 (send)" of a binary file.
[[nodiscard]] std::string describe(const GoalSchedule& schedule, std::size_t rank, std::uint32_t operation);

}  // namespace ringwright::traces
