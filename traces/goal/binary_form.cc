#include "traces/goal/binary_form.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::uint64_t kGoalCookie = 4223;
constexpr std::uint64_t kSpentCookie = 2342;  // a simulator has used the file as memory
constexpr std::size_t kAfterCookie = 8;
constexpr std::size_t kHeaderBytes = kAfterCookie + 4 + 1 + 1;
constexpr std::size_t kRecordBytes = 39;

template <class Number>
Number little_endian(std::string_view bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i));
  }
  return value;
}

template <class Number>
void append_little_endian(std::string& to, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

// Lists of successors within a part, of one operation.
struct SuccessorLists {
  std::uint32_t count = 0;
  std::uint32_t first = 0;
  std::uint32_t start_count = 0;
  std::uint32_t start_first = 0;
};

class GoalBinaryReader {
 public:
  GoalBinaryReader(const std::string& file, std::string_view bytes) : bytes_(bytes) { schedule_.file = file; }

  [[nodiscard]] Result<GoalSchedule> read() {
    if (const std::string wrong = read_all(); !wrong.empty()) {
      return tl::unexpected(failure("E390", wrong, {.file = schedule_.file}));
    }
    return std::move(schedule_);
  }

 private:
  // What is wrong; empty when nothing is.
  std::string read_all() {
    if (bytes_.size() < kHeaderBytes) return fmt::format("the file ends within its header, at byte {}", bytes_.size());
    const auto cookie = little_endian<std::uint64_t>(bytes_, 0);
    if (cookie == kSpentCookie) {
      return "a simulator has overwritten this schedule (--save-mem); make it again with txt2bin";
    }
    if (cookie != kGoalCookie) return fmt::format("it begins with {}, a binary schedule with {}", cookie, kGoalCookie);
    const std::size_t ranks = little_endian<std::uint32_t>(bytes_, kAfterCookie);
    if ((bytes_.size() - kHeaderBytes) / 16 < ranks) {
      return fmt::format("the table of {} ranks does not fit the file of {} bytes", ranks, bytes_.size());
    }
    schedule_.ranks.resize(ranks);
    if (ranks == 0) return "num_ranks is 0; a schedule has at least one rank";
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto begin = little_endian<std::uint64_t>(bytes_, kHeaderBytes + rank * 16);
      const auto end = little_endian<std::uint64_t>(bytes_, kHeaderBytes + rank * 16 + 8);
      if (begin > end || end > bytes_.size() - kAfterCookie) {
        return fmt::format("rank {} has bytes {} to {} of a file of {}", rank, begin, end, bytes_.size());
      }
      const std::string wrong = read_part(bytes_.substr(kAfterCookie + begin, end - begin), schedule_.ranks[rank]);
      if (!wrong.empty()) return fmt::format("rank {} (from byte {}): {}", rank, kAfterCookie + begin, wrong);
    }
    return {};
  }

  std::string read_part(std::string_view part, GoalRank& rank) {
    if (part.size() < 8) return "it ends within its header";
    const std::size_t operations = little_endian<std::uint32_t>(part, 0);
    const std::size_t roots = little_endian<std::uint32_t>(part, 4);
    const std::size_t records = 8 + 4 * roots;
    if (records > part.size() || (part.size() - records) / kRecordBytes < operations) {
      return fmt::format("{} operations and {} roots do not fit {} bytes", operations, roots, part.size());
    }
    const std::string_view successors = part.substr(records + operations * kRecordBytes);
    std::vector<std::uint32_t> waits_for(operations, 0);
    for (std::size_t i = 0; i < operations; ++i) {
      const std::string_view record = part.substr(records + i * kRecordBytes, kRecordBytes);
      const std::string wrong = read_record(record, successors, static_cast<std::uint32_t>(i), operations, rank);
      if (!wrong.empty()) return fmt::format("operation {} {}", i, wrong);
    }
    for (const GoalDependency& dependency : rank.requirements) ++waits_for[dependency.waits];
    for (const GoalDependency& dependency : rank.start_requirements) ++waits_for[dependency.waits];
    for (std::size_t i = 0; i < operations; ++i) {
      const auto stated = little_endian<std::uint32_t>(part, records + i * kRecordBytes);
      if (stated != waits_for[i]) {
        return fmt::format("operation {} states {} dependencies, and {} operations name it as successor", i, stated,
                           waits_for[i]);
      }
    }
    put_in_order(rank);
    return {};
  }

  std::string read_record(std::string_view record, std::string_view successors, std::uint32_t number,
                          std::size_t operations, GoalRank& rank) const {
    const auto kind = static_cast<std::uint8_t>(record[4]);
    if (kind < 1 || kind > 3) return fmt::format("is of kind {}; known are 1 (send), 2 (recv) and 3 (calc)", kind);
    GoalOperation operation{.kind = static_cast<GoalKind>(kind),
                            .peer = little_endian<std::uint32_t>(record, 5),
                            .size = little_endian<std::uint64_t>(record, 9),
                            .tag = little_endian<std::uint32_t>(record, 17),
                            .cpu = static_cast<std::uint8_t>(record[21]),
                            .nic = static_cast<std::uint8_t>(record[22])};
    if (operation.kind == GoalKind::kCalc) {
      operation.peer = 0;
      operation.tag = 0;
    } else if (operation.peer >= schedule_.ranks.size()) {
      return fmt::format("has the peer {} of {} ranks; any rank (-1) is not simulated", operation.peer,
                         schedule_.ranks.size());
    }
    rank.operations.push_back(operation);
    const SuccessorLists lists{.count = little_endian<std::uint32_t>(record, 23),
                               .first = little_endian<std::uint32_t>(record, 27),
                               .start_count = little_endian<std::uint32_t>(record, 31),
                               .start_first = little_endian<std::uint32_t>(record, 35)};
    const std::string wrong =
        read_successors(successors, lists.first, lists.count, number, operations, rank.requirements);
    if (!wrong.empty()) return wrong;
    return read_successors(successors, lists.start_first, lists.start_count, number, operations,
                           rank.start_requirements);
  }

  static std::string read_successors(std::string_view successors, std::size_t first, std::size_t count,
                                     std::uint32_t number, std::size_t operations, std::vector<GoalDependency>& to) {
    if (count > 0 && first + count > successors.size() / 4) {
      return fmt::format("has successors {} to {} of {}", first, first + count, successors.size() / 4);
    }
    // Each is in one list: lists that share entries could be as long as the square of the file.
    if (to.size() + count > successors.size() / 4) return "shares its list of successors with others";
    for (std::size_t s = first; s < first + count; ++s) {
      const auto successor = little_endian<std::uint32_t>(successors, 4 * s);
      if (successor >= operations) return fmt::format("has successor {} of {} operations", successor, operations);
      to.push_back({.waits = successor, .before = number});
    }
    return {};
  }

  std::string_view bytes_;
  GoalSchedule schedule_;
};

// By operation: those that wait for it.
std::vector<std::vector<std::uint32_t>> successors_of(std::size_t operations, std::span<const GoalDependency> list) {
  std::vector<std::vector<std::uint32_t>> successors(operations);
  for (const GoalDependency& dependency : list) successors[dependency.before].push_back(dependency.waits);
  return successors;
}

std::string goal_part(const GoalRank& rank) {
  const std::size_t count = rank.operations.size();
  const auto after_end = successors_of(count, rank.requirements);
  const auto after_start = successors_of(count, rank.start_requirements);
  std::vector<std::uint32_t> waits_for(count, 0);
  for (const auto* lists : {&after_end, &after_start}) {
    for (const std::vector<std::uint32_t>& list : *lists) {
      for (const std::uint32_t successor : list) ++waits_for[successor];
    }
  }
  std::string roots, records, appendix;
  std::uint32_t root_count = 0, next = 0;
  const auto list = [&](const std::vector<std::uint32_t>& successors) {
    append_little_endian(records, static_cast<std::uint32_t>(successors.size()));
    append_little_endian(records, next);
    for (const std::uint32_t successor : successors) append_little_endian(appendix, successor);
    next += static_cast<std::uint32_t>(successors.size());
  };
  for (std::size_t i = 0; i < count; ++i) {
    const GoalOperation& operation = rank.operations[i];
    if (waits_for[i] == 0) {
      append_little_endian(roots, static_cast<std::uint32_t>(i));
      ++root_count;
    }
    append_little_endian(records, waits_for[i]);
    append_little_endian(records, static_cast<std::uint8_t>(operation.kind));
    append_little_endian(records, operation.peer);
    append_little_endian(records, operation.size);
    append_little_endian(records, operation.tag);
    append_little_endian(records, operation.cpu);
    append_little_endian(records, operation.nic);
    list(after_end[i]);
    list(after_start[i]);
  }
  std::string part;
  append_little_endian(part, static_cast<std::uint32_t>(count));
  append_little_endian(part, root_count);
  return part + roots + records + appendix;
}

}  // namespace

bool looks_like_goal_binary(std::string_view beginning) {
  if (beginning.size() < kHeaderBytes) return false;
  const auto cookie = little_endian<std::uint64_t>(beginning, 0);
  return cookie == kGoalCookie || cookie == kSpentCookie;
}

Result<GoalSchedule> parse_goal_binary(const std::string& file, std::string_view bytes) {
  return GoalBinaryReader(file, bytes).read();
}

std::string goal_binary(const GoalSchedule& schedule) {
  std::uint8_t cpu = 0, nic = 0;
  for (const GoalRank& rank : schedule.ranks) {
    for (const GoalOperation& operation : rank.operations) {
      cpu = std::max(cpu, operation.cpu);
      nic = std::max(nic, operation.nic);
    }
  }
  std::string table, parts;
  std::uint64_t at = kHeaderBytes - kAfterCookie + 16 * schedule.ranks.size();
  for (const GoalRank& rank : schedule.ranks) {
    const std::string part = goal_part(rank);
    append_little_endian(table, at);
    at += part.size();
    append_little_endian(table, at);
    parts += part;
  }
  std::string head;
  append_little_endian(head, kGoalCookie);
  append_little_endian(head, static_cast<std::uint32_t>(schedule.ranks.size()));
  append_little_endian(head, cpu);
  append_little_endian(head, nic);
  return head + table + parts;
}

}  // namespace ringwright::traces
