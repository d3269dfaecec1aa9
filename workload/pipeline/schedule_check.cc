#include "workload/pipeline/schedule_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "workload/pipeline/timeline.h"

namespace ringwright::workload {
namespace {

constexpr std::array kPasses = {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient};

char letter(Pass pass) {
  switch (pass) {
    case Pass::kForward: return 'F';
    case Pass::kBackward:
    case Pass::kInputGradient: return 'B';
    case Pass::kWeightGradient: return 'W';
  }
  return '?';
}

class Checker {
 public:
  Checker(const PipelineOrder& order, const PipelineShape& shape, int microbatches)
      : order_(order), shape_(shape), microbatches_(microbatches),
        places_(static_cast<std::size_t>(shape.stages * shape.chunks) * static_cast<std::size_t>(microbatches)) {}

  ScheduleVerdict run() {
    for (std::size_t stage = 0; stage < order_.size() && verdict_.problem.empty(); ++stage) note(stage);
    for (std::size_t stage = 0; stage < order_.size() && verdict_.problem.empty(); ++stage) complete(stage);
    for (std::size_t stage = 0; stage < order_.size() && verdict_.problem.empty(); ++stage) messages(stage);
    if (verdict_.problem.empty()) play();
    return std::move(verdict_);
  }

 private:
  // By pass: 1 + the position in the stage's order.
  using Places = std::array<std::size_t, kPasses.size()>;

  [[nodiscard]] Places& places(std::size_t stage, int chunk, int microbatch) {
    const auto chunks = static_cast<std::size_t>(shape_.chunks);
    return places_[(stage * chunks + static_cast<std::size_t>(chunk)) * static_cast<std::size_t>(microbatches_) +
                   static_cast<std::size_t>(microbatch)];
  }
  void refuse(std::size_t stage, std::size_t slot, std::string why) {
    if (!verdict_.problem.empty()) return;
    verdict_.stage = stage;
    verdict_.slot = slot;
    verdict_.problem = fmt::format("stage {}: {}", stage, why);
  }
  [[nodiscard]] std::string name(const Slot& slot) const { return name_of(slot, shape_.chunks); }

  // Every pass exists and occurs once, after its predecessors.
  void note(std::size_t stage) {
    for (std::size_t i = 0; i < order_[stage].size(); ++i) {
      const Slot& slot = order_[stage][i];
      const bool exists = slot.microbatch >= 0 && slot.microbatch < microbatches_ && slot.chunk >= 0 &&
                          slot.chunk < shape_.chunks;
      if (!exists) return refuse(stage, i, name(slot) + " does not exist");
      Places& seen = places(stage, slot.chunk, slot.microbatch);
      const auto at = [&seen](Pass pass) -> std::size_t& { return seen[static_cast<std::size_t>(pass)]; };
      const bool again = slot.pass == Pass::kForward || slot.pass == Pass::kWeightGradient
                             ? at(slot.pass) > 0
                             : at(Pass::kBackward) + at(Pass::kInputGradient) > 0;
      if (again) return refuse(stage, i, name(slot) + " occurs twice");
      if (slot.pass == Pass::kWeightGradient && at(Pass::kBackward) > 0) {
        return refuse(stage, i, name(slot) + " comes after a backward pass that already includes it");
      }
      if (slot.pass != Pass::kForward && at(Pass::kForward) == 0) return early(stage, i, Pass::kForward);
      if (slot.pass == Pass::kWeightGradient && at(Pass::kInputGradient) == 0) {
        return early(stage, i, Pass::kInputGradient);
      }
      at(slot.pass) = i + 1;
    }
  }
  void early(std::size_t stage, std::size_t slot, Pass missing) {
    Slot before = order_[stage][slot];
    before.pass = missing;
    refuse(stage, slot, fmt::format("{} comes before {}", name(order_[stage][slot]), name(before)));
  }

  // Every model chunk has processed every microbatch, forward and backward.
  void complete(std::size_t stage) {
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (int microbatch = 0; microbatch < microbatches_; ++microbatch) {
        const Places& mine = places(stage, chunk, microbatch);
        const bool forward = mine[static_cast<std::size_t>(Pass::kForward)] > 0;
        const bool input = mine[static_cast<std::size_t>(Pass::kInputGradient)] > 0;
        const bool backward = mine[static_cast<std::size_t>(Pass::kBackward)] > 0;
        const bool weight = mine[static_cast<std::size_t>(Pass::kWeightGradient)] > 0;
        const std::size_t end = order_[stage].size();
        if (!forward && elsewhere(stage, chunk, microbatch)) continue;
        if (!forward) return refuse(stage, end, name({Pass::kForward, microbatch, chunk}) + " is missing");
        if (!backward && !input) return refuse(stage, end, name({Pass::kBackward, microbatch, chunk}) + " is missing");
        if (input && !weight)
          return refuse(stage, end, name({Pass::kWeightGradient, microbatch, chunk}) + " is missing");
      }
    }
  }
  // With two copies of the model a microbatch goes through one of them: the other stage's other chunk.
  [[nodiscard]] bool elsewhere(std::size_t stage, int chunk, int microbatch) {
    if (shape_.placement != Placement::kBidirectional) return false;
    const std::size_t mirror = order_.size() - 1 - stage;
    return places(mirror, 1 - chunk, microbatch)[static_cast<std::size_t>(Pass::kForward)] > 0;
  }

  // Messages from one stage to another in one direction arrive in sending order.
  void messages(std::size_t stage) {
    latest_.assign(2 * order_.size(), 0);    // by sender and direction: its position there
    std::vector<std::optional<Need>> needs;  // by chunk and pass: what other places send
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (const Pass pass : kPasses) {
        needs.push_back(needs_of(shape_, static_cast<int>(stage), {.pass = pass, .chunk = chunk}).others);
      }
    }
    for (std::size_t i = 0; i < order_[stage].size(); ++i) {
      const Slot& slot = order_[stage][i];
      const std::optional<Need>& need =
          needs[static_cast<std::size_t>(slot.chunk) * kPasses.size() + static_cast<std::size_t>(slot.pass)];
      if (!need || need->place.stage == static_cast<int>(stage)) continue;
      const auto sender = static_cast<std::size_t>(need->place.stage);
      const Places& theirs = places(sender, need->place.chunk, slot.microbatch);
      const bool forward = slot.pass == Pass::kForward;
      const std::size_t sent = forward ? theirs[static_cast<std::size_t>(Pass::kForward)]
                                       : theirs[static_cast<std::size_t>(Pass::kBackward)] +
                                             theirs[static_cast<std::size_t>(Pass::kInputGradient)];
      std::size_t& before = latest_[2 * sender + (forward ? 1 : 0)];
      if (sent < before) {
        return refuse(stage, i,
                      fmt::format("{} receives a message of stage {} that was sent before the one received last ({})",
                                  name(slot), sender, name(order_[sender][before - 1])));
      }
      before = sent;
    }
  }

  void play() {
    const Timeline timeline = play_order(order_, shape_, microbatches_, {});
    for (const StageTimeline& stage : timeline.stages) verdict_.held_at_peak.push_back(stage.held_at_peak);
    if (timeline.finished) return;
    constexpr std::size_t kMostListed = 6;
    std::vector<std::string> waits;
    std::size_t first = order_.size();
    for (std::size_t stage = 0; stage < order_.size(); ++stage) {
      const std::size_t played = timeline.stages[stage].played;
      if (played == order_[stage].size()) continue;
      if (first == order_.size()) first = stage;
      const Slot& slot = order_[stage][played];
      const Needs needs = needs_of(shape_, static_cast<int>(stage), slot);
      waits.push_back(needs.others
                          ? fmt::format("stage {} in {} for stage {}", stage, name(slot), needs.others->place.stage)
                          : fmt::format("stage {} in {}", stage, name(slot)));
    }
    if (waits.size() > kMostListed + 1) {
      waits[kMostListed] = fmt::format("and {} further stages", waits.size() - kMostListed);
      waits.resize(kMostListed + 1);
    }
    const std::size_t slot = timeline.stages[first].played;
    refuse(first, slot, fmt::format("{} waits forever: {}", name(order_[first][slot]), join(waits, ", ")));
  }

  const PipelineOrder& order_;
  const PipelineShape& shape_;
  int microbatches_;
  std::vector<Places> places_;  // by stage, chunk, microbatch
  std::vector<std::size_t> latest_;
  ScheduleVerdict verdict_;
};

}  // namespace

std::vector<Slot> release_first(std::vector<Slot> slots) {
  for (std::size_t i = 0; i + 1 < slots.size(); ++i) {
    if (!slots[i].in_turns) continue;
    slots[i].joined = slots[i].in_turns = false;
    std::swap(slots[i], slots[i + 1]);
    ++i;
  }
  return slots;
}

int most_held(const std::vector<Slot>& slots) {
  int held = 0;
  int most = 0;
  for (const Slot& slot : release_first(slots)) {
    if (slot.pass == Pass::kForward) most = std::max(most, ++held);
    if (ends_microbatch(slot.pass)) --held;
  }
  return most;
}

std::string name_of(const Slot& slot, int chunks) {
  return chunks == 1 ? fmt::format("{}{}", letter(slot.pass), slot.microbatch)
                     : fmt::format("{}{}.{}", letter(slot.pass), slot.microbatch, slot.chunk);
}

ScheduleVerdict check_order(const PipelineOrder& order, const PipelineShape& shape, int microbatches) {
  return Checker(order, shape, microbatches).run();
}

}  // namespace ringwright::workload
