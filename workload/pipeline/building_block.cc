#include "workload/pipeline/building_block.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

constexpr int kPeriod = 6;

// The passes with dependents, in the order of the blocks.
std::vector<Slot> chain_of(int stage, const ScheduleRequest& request, const BuildingBlock& block) {
  const int last = request.stages - 1;
  const int second = last * block.down + block.turn;  // forward of chunk 1 on the last stage
  const int loss = second + last * block.up + block.loss;
  const int back = loss + last * block.gradient_down + block.gradient_turn;
  const std::array<std::pair<int, Slot>, 4> offsets{{{stage * block.down, {Pass::kForward, 0, 0}},
                                                     {second + (last - stage) * block.up, {Pass::kForward, 0, 1}},
                                                     {loss + stage * block.gradient_down, {Pass::kInputGradient, 0, 1}},
                                                     {back + (last - stage) * block.gradient_up,
                                                      {Pass::kInputGradient, 0, 0}}}};
  std::vector<std::pair<int, Slot>> timed;
  for (int microbatch = 0; microbatch < request.microbatches; ++microbatch) {
    for (auto [at, slot] : offsets) {
      slot.microbatch = microbatch;
      timed.emplace_back(at + kPeriod * microbatch, slot);
    }
  }
  std::ranges::stable_sort(timed, {}, &std::pair<int, Slot>::first);
  std::vector<Slot> chain;
  for (const auto& [at, slot] : timed) chain.push_back(slot);
  return chain;
}

// Compacts the blocks by simulating them with passes of one unit each.
class Squeezer {
 public:
  Squeezer(const ScheduleRequest& request, const BuildingBlock& block, const BlockLimits& limits)
      : request_(request), shape_{.placement = Placement::kVee, .stages = request.stages, .chunks = 2},
        limits_(limits), done_(static_cast<std::size_t>(2 * shape_.parts() * request.microbatches), false) {
    for (int stage = 0; stage < request.stages; ++stage) {
      stages_.push_back({.chain = chain_of(stage, request, block), .weights = {}, .slots = {}});
      stages_.back().taken.assign(stages_.back().chain.size(), false);
    }
  }

  PipelineOrder run() {
    const std::size_t slots = static_cast<std::size_t>(request_.microbatches) * kPeriod;
    for (bool unfinished = true; unfinished;) {
      std::vector<std::size_t> now;  // passes that end with this unit
      bool moved = false;
      for (int stage = 0; stage < request_.stages; ++stage) moved = step(stage, now) || moved;
      for (const std::size_t pass : now) done_[pass] = true;
      unfinished = std::ranges::any_of(stages_, [slots](const Stage& stage) { return stage.slots.size() < slots; });
      CHECK(moved || !unfinished, "building blocks have no cycle");
    }
    PipelineOrder order;
    for (Stage& stage : stages_) order.push_back(std::move(stage.slots));
    return order;
  }

 private:
  struct Stage {
    std::vector<Slot> chain;
    std::deque<Slot> weights;  // input gradient done, weight gradient not
    std::vector<Slot> slots;
    std::vector<bool> taken = {};  // by position in the chain
    std::size_t next = 0;
    int held = 0;
    int first_chunk = 0;  // number of its forward passes
    bool went_back = false;
  };

  [[nodiscard]] std::size_t index(Pass pass, int part, int microbatch) const {
    const int row = (pass == Pass::kForward ? 0 : shape_.parts()) + part;
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(request_.microbatches) +
           static_cast<std::size_t>(microbatch);
  }
  [[nodiscard]] bool ready(int stage, const Slot& slot) const {
    const int part = part_at(shape_, {stage, slot.chunk});
    if (slot.pass == Pass::kForward) return part == 0 || done_[index(Pass::kForward, part - 1, slot.microbatch)];
    if (!done_[index(Pass::kForward, part, slot.microbatch)]) return false;
    return part == shape_.parts() - 1 || done_[index(Pass::kInputGradient, part + 1, slot.microbatch)];
  }
  // The next pass of the chain, or while memory fills up another forward pass of the first chunk.
  [[nodiscard]] std::size_t choose(int number) const {
    const Stage& stage = stages_[static_cast<std::size_t>(number)];
    const std::size_t none = stage.chain.size();
    if (stage.next == none) return none;
    const Slot& slot = stage.chain[stage.next];
    if (ready(number, slot) && (slot.pass != Pass::kForward || stage.held < limits_.held)) return stage.next;
    const bool early = limits_.warm_up == WarmUp::kEarly && !stage.went_back &&
                       stage.first_chunk < request_.microbatches && stage.held + 1 < limits_.held;
    const Slot forward{Pass::kForward, stage.first_chunk, 0};
    if (!early || !ready(number, forward)) return none;
    return static_cast<std::size_t>(std::ranges::find(stage.chain, forward) - stage.chain.begin());
  }
  bool step(int number, std::vector<std::size_t>& now) {
    Stage& stage = stages_[static_cast<std::size_t>(number)];
    const std::size_t chosen = choose(number);
    if (chosen == stage.chain.size()) {
      if (stage.weights.empty()) return false;
      stage.slots.push_back(stage.weights.front());
      stage.weights.pop_front();
      --stage.held;
      return true;
    }
    const Slot slot = stage.chain[chosen];
    stage.taken[chosen] = true;
    while (stage.next < stage.chain.size() && stage.taken[stage.next]) ++stage.next;
    stage.slots.push_back(slot);
    now.push_back(index(slot.pass, part_at(shape_, {number, slot.chunk}), slot.microbatch));
    if (slot.pass == Pass::kForward) {
      ++stage.held;
      if (slot.chunk == 0) ++stage.first_chunk;
    } else {
      stage.weights.push_back({Pass::kWeightGradient, slot.microbatch, slot.chunk});
      stage.went_back = true;
    }
    return true;
  }

  const ScheduleRequest& request_;
  PipelineShape shape_;
  BlockLimits limits_;
  std::vector<bool> done_;
  std::vector<Stage> stages_;
};

}  // namespace

PipelineOrder repeat_block(const ScheduleRequest& request, const BuildingBlock& block, const BlockLimits& limits) {
  return Squeezer(request, block, limits).run();
}

}  // namespace ringwright::workload
