#include "workload/pipeline/schedule_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

constexpr std::array kPlacements{
    Option{"looped", "chunk c of stage i is model chunk c x pp + i"},
    Option{"vee", "V shape of two chunks: model chunks i and 2 x pp - 1 - i"},
    Option{"bidirectional",
           "two copies of the model: chunk 0 is model chunk i, chunk 1 is model chunk pp - 1 - i of "
           "the other copy"}};

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "F3" or "F3.1".
std::optional<Slot> read_slot(std::string_view word) {
  Slot slot;
  switch (word.empty() ? ' ' : word.front()) {
    case 'F': slot.pass = Pass::kForward; break;
    case 'B': slot.pass = Pass::kBackward; break;
    case 'W': slot.pass = Pass::kWeightGradient; break;
    default: return std::nullopt;
  }
  word.remove_prefix(1);
  const auto microbatch = take_number(word);
  if (!microbatch || *microbatch < 0) return std::nullopt;
  slot.microbatch = *microbatch;
  if (word.empty()) return slot;
  if (word.front() != '.') return std::nullopt;
  word.remove_prefix(1);
  const auto chunk = take_number(word);
  if (!chunk || *chunk < 0 || !word.empty()) return std::nullopt;
  slot.chunk = *chunk;
  return slot;
}

std::vector<Slot> read_stage(ConfigMap& stages, const std::string& name) {
  const std::string text =
      stages.text({.name = name, .doc = "passes in order: F0 forward, B0 backward, W0 weight gradient"});
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of(" ,\t\n", i);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" ,\t\n", begin), text.size());
    const auto slot = read_slot(std::string_view(text).substr(begin, end - begin));
    if (!slot) {
      stages.error(name, "E145", fmt::format("'{}' is not a pass", text.substr(begin, end - begin)),
                   "F0, B0 or W0 with the number of the microbatch; F0.1 with that of the chunk");
      return slots;
    }
    slots.push_back(*slot);
    i = end;
  }
  // With a separate W, B is only the gradient of the input.
  std::set<std::pair<int, int>> apart;
  for (const Slot& slot : slots) {
    if (slot.pass == Pass::kWeightGradient) apart.emplace(slot.microbatch, slot.chunk);
  }
  for (Slot& slot : slots) {
    if (slot.pass == Pass::kBackward && apart.contains({slot.microbatch, slot.chunk})) slot.pass = Pass::kInputGradient;
  }
  return slots;
}

}  // namespace

ListedSchedule read_listed_schedule(ConfigMap& file) {
  ListedSchedule schedule;
  const std::string placement = file.choice(
      {.name = "placement", .doc = "placement of model chunks on stages", .fallback = "looped"}, kPlacements);
  if (placement == "vee") schedule.placement = Placement::kVee;
  if (placement == "bidirectional") schedule.placement = Placement::kBidirectional;
  const bool two = schedule.placement != Placement::kLooped;
  schedule.chunks = static_cast<int>(file.integer({.name = "chunks",
                                                   .doc = "model chunks per stage",
                                                   .fallback = two ? 2 : 1,
                                                   .min = two ? 2 : 1,
                                                   .max = two ? 2 : 1000}));
  ConfigMap stages = file.map("stages", "passes by stage number, from 0");
  for (std::size_t number = 0; stages.has(std::to_string(number)); ++number) {
    schedule.order.push_back(read_stage(stages, std::to_string(number)));
  }
  return schedule;
}

void check_listed_schedule(ConfigMap& file, const ListedSchedule& schedule, int stages, int microbatches) {
  ConfigMap map = file.map("stages", "passes by stage number, from 0");
  if (static_cast<int>(schedule.order.size()) != stages) {
    file.error(
        "stages", "E145",
        fmt::format("it lists stages 0 to {}, but pp is {}", static_cast<int>(schedule.order.size()) - 1, stages),
        "give every stage a line: 0: F0 B0");
    return;
  }
  int listed = 0;
  for (const std::vector<Slot>& slots : schedule.order) {
    for (const Slot& slot : slots) listed = std::max(listed, slot.microbatch + 1);
  }
  if (listed != microbatches) {
    file.error("stages", "E145",
               fmt::format("it lists {} microbatches, but a training step has {}", listed, microbatches),
               "microbatches = training.global_batch / (micro_batch x dp)");
    return;
  }
  const ScheduleVerdict verdict = check_order(
      schedule.order, {.placement = schedule.placement, .stages = stages, .chunks = schedule.chunks}, microbatches);
  if (verdict.problem.empty()) return;
  map.error(std::to_string(verdict.stage), "E145",
            fmt::format("{} (pass {} of its line)", verdict.problem, verdict.slot + 1));
}

}  // namespace ringwright::workload
