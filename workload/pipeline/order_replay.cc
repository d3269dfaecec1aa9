#include "workload/pipeline/order_replay.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace ringwright::workload {
namespace {

constexpr std::size_t kPassKinds = 4;       // kinds
constexpr std::uint32_t kAlways = 0;     // of `ends_`: what is there from the beginning
constexpr std::uint32_t kForNobody = 1;  // what nobody waits for
constexpr std::uint32_t kFirstEnd = 2;

std::uint32_t time_index(const PipelineShape& shape, int stage, const Slot& slot) {
  const int part = part_at(shape, {.stage = stage, .chunk = slot.chunk});
  return static_cast<std::uint32_t>(static_cast<std::size_t>(part) * kPassKinds + static_cast<std::size_t>(slot.pass));
}

}  // namespace

// Finds a sequence in which every pass follows those that it waits for.
class OrderReplay::Sequencer {
 public:
  Sequencer(const PipelineOrder& order, const PipelineShape& shape, int microbatches)
      : order_(order),
        shape_(shape),
        microbatches_(static_cast<std::uint32_t>(microbatches)),
        next_(order.size(), 0),
        ended_(kFirstEnd + 2 * static_cast<std::size_t>(shape.stages * shape.chunks) * microbatches_, 0) {
    ended_[kAlways] = 1;
    find_rows();
    for (const std::vector<Slot>& slots : order) passes_ += slots.size();
    steps_.reserve(passes_);
  }

  [[nodiscard]] std::vector<Step> find() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < order_.size(); ++stage) {
        while (advance(stage)) moved = true;
      }
    }
    return std::move(steps_);
  }
  [[nodiscard]] std::size_t passes() const { return passes_; }
  [[nodiscard]] std::size_t ends() const { return ended_.size(); }

 private:
  // The same for all microbatches.
  struct Rows {
    Step of_first;  // microbatch
    std::array<std::uint32_t, 3> per_microbatch{};  // what is added to both needs and the end
  };

  [[nodiscard]] std::size_t rows_index(int stage, int chunk, Pass pass) const {
    return static_cast<std::size_t>(stage * shape_.chunks + chunk) * kPassKinds + static_cast<std::size_t>(pass);
  }
  [[nodiscard]] std::uint32_t first_end(const std::optional<Need>& need) const {
    if (!need) return kAlways;
    const auto chunk = static_cast<std::uint32_t>(need->place.stage * shape_.chunks + need->place.chunk);
    return kFirstEnd + (2 * chunk + (need->pass == Pass::kForward ? 0 : 1)) * microbatches_;
  }
  void find_rows() {
    for (int stage = 0; stage < shape_.stages; ++stage) {
      for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
        for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient}) {
          rows_.push_back(rows_of(stage, {.pass = pass, .microbatch = 0, .chunk = chunk}));
        }
      }
    }
  }
  [[nodiscard]] Rows rows_of(int stage, const Slot& slot) const {
    const Needs needs = needs_of(shape_, stage, slot);
    Rows rows{.of_first = {.needs = {first_end(needs.own), first_end(needs.others)},
                           .end = kForNobody,
                           .time = time_index(shape_, stage, slot),
                           .stage = static_cast<std::uint16_t>(stage)}};
    if (slot.pass == Pass::kForward || passes_gradient_on(slot.pass)) {
      const Pass pass = slot.pass == Pass::kForward ? Pass::kForward : Pass::kInputGradient;
      rows.of_first.end = first_end(Need{.place = {.stage = stage, .chunk = slot.chunk}, .pass = pass});
    }
    rows.per_microbatch = {needs.own ? 1U : 0U, needs.others ? 1U : 0U, rows.of_first.end == kForNobody ? 0U : 1U};
    return rows;
  }
  [[nodiscard]] Step step_of(int stage, const Slot& slot) const {
    const Rows& rows = rows_[rows_index(stage, slot.chunk, slot.pass)];
    const auto microbatch = static_cast<std::uint32_t>(slot.microbatch);
    Step step = rows.of_first;
    step.needs[0] += rows.per_microbatch[0] * microbatch;
    step.needs[1] += rows.per_microbatch[1] * microbatch;
    step.end += rows.per_microbatch[2] * microbatch;
    return step;
  }
  // Takes the next block of a stage, if what it waits for has ended.
  bool advance(std::size_t stage) {
    const std::vector<Slot>& slots = order_[stage];
    std::size_t& next = next_[stage];
    if (next == slots.size()) return false;
    if (!slots[next].joined) {  // most
      const Step step = step_of(static_cast<int>(stage), slots[next]);
      if (ended_[step.needs[0]] == 0 || ended_[step.needs[1]] == 0) return false;
      steps_.push_back(step);
      ended_[step.end] = 1;
      ++next;
      return true;
    }
    std::size_t last = next;
    while (slots[last].joined && last + 1 < slots.size()) ++last;
    const std::size_t before = steps_.size();
    for (std::size_t i = next; i <= last; ++i) {
      steps_.push_back(step_of(static_cast<int>(stage), slots[i]));
      steps_.back().ends_block = i == last;
      if (ended_[steps_.back().needs[0]] != 0 && ended_[steps_.back().needs[1]] != 0) continue;
      steps_.resize(before);
      return false;
    }
    for (std::size_t i = before; i < steps_.size(); ++i) ended_[steps_[i].end] = 1;
    next = last + 1;
    return true;
  }

  const PipelineOrder& order_;
  const PipelineShape& shape_;
  std::uint32_t microbatches_;
  std::vector<std::size_t> next_;  // by stage
  std::vector<char> ended_;        // as `ends_`
  std::vector<Rows> rows_;         // by stage, chunk, pass
  std::size_t passes_ = 0;
  std::vector<Step> steps_;
};

OrderReplay::OrderReplay(const PipelineOrder& order, const PipelineShape& shape, int microbatches) : shape_(shape) {
  Sequencer sequencer(order, shape_, microbatches);
  steps_ = sequencer.find();
  ends_.resize(sequencer.ends());
  finishes_ = steps_.size() == sequencer.passes();
}

OrderReplay::Ends OrderReplay::play(std::span<const PassTimes> times_of_part) {
  std::vector<std::int64_t> times;
  for (const PassTimes& part : times_of_part) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient}) {
      times.push_back(part.of(pass));
    }
  }
  std::vector<std::int64_t> end_of_stage(static_cast<std::size_t>(shape_.stages), 0);
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::size_t block = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    begin = std::max({begin, ends_[step.needs[0]], ends_[step.needs[1]]});
    length += times[step.time];
    if (!step.ends_block) continue;
    std::int64_t& end = end_of_stage[step.stage];
    end = std::max(begin, end) + length;
    for (; block <= i; ++block) ends_[steps_[block].end] = end;
    begin = length = 0;
  }
  return {.last = std::ranges::max(end_of_stage), .first_stage = end_of_stage.front()};
}

}  // namespace ringwright::workload
