#include "core/report/time_breakdown.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/check.h"

namespace ringwright {
namespace {

// Sums of picoseconds over a hundred thousand ranks do not fit 64 bits, and a sum of doubles would depend on how ranks
// are grouped into classes.
struct Sums {
  explicit Sums(std::size_t dimensions)
      : exposed(dimensions),
        hidden(dimensions),
        in_flight(dimensions),
        lost_to_sms(dimensions),
        lost_to_memory(dimensions),
        slowed(dimensions),
        sent(dimensions) {}

  std::size_t ranks = 0;
  WideInteger computing = 0;
  std::vector<WideInteger> exposed, hidden, in_flight, lost_to_sms, lost_to_memory, slowed, sent;
};

void add_class(const BreakdownInputs& inputs, std::size_t rank_class, Sums& sums) {
  const std::size_t size = inputs.classes.size[rank_class];
  sums.ranks += size;
  for (const auto& [mask, spent] : inputs.record.time_in[rank_class].entries()) {
    if (mask == 0) continue;
    const WideInteger time = static_cast<WideInteger>(spent.count()) * static_cast<WideInteger>(size);
    const bool computing = (mask & kComputing) != 0;
    if (computing) sums.computing += time;
    bool exposed = !computing;
    for (std::size_t d = 0; d < sums.exposed.size(); ++d) {
      if ((mask & communicating(DimensionId(d))) == 0) continue;
      sums.in_flight[d] += time;
      if (computing) sums.hidden[d] += time;
      if (exposed) sums.exposed[d] += time;
      exposed = false;
    }
  }
  if (!inputs.record.interference.empty()) {
    for (std::size_t d = 0; d < sums.sent.size(); ++d) {
      const Interference& lost = inputs.record.interference[rank_class][d];
      sums.lost_to_sms[d] += static_cast<WideInteger>(lost.computing_to_sms.count()) * static_cast<WideInteger>(size);
      sums.lost_to_memory[d] +=
          static_cast<WideInteger>(lost.computing_to_memory.count()) * static_cast<WideInteger>(size);
      sums.slowed[d] += static_cast<WideInteger>(lost.communication.count()) * static_cast<WideInteger>(size);
    }
  }
  for (std::size_t d = 0; d < sums.sent.size(); ++d) {
    sums.sent[d] +=
        static_cast<WideInteger>(inputs.record.sent[rank_class][d].count()) * static_cast<WideInteger>(size);
  }
}

// Rounds half up; sums are not negative.
std::int64_t divide(WideInteger sum, WideInteger by) { return static_cast<std::int64_t>((sum + by / 2) / by); }

TimeBreakdown average(const BreakdownInputs& inputs, const Sums& sums, std::string of) {
  const auto ranks = static_cast<WideInteger>(sums.ranks);
  const WideInteger steps = ranks * inputs.counted_iterations;
  const WideInteger all_steps = ranks * inputs.graph.iterations;
  TimeBreakdown result{.of = std::move(of),
                       .ranks = sums.ranks,
                       .computing = Duration(divide(sums.computing, steps)),
                       .dimensions = {},
                       .idle = {},
                       .data = {},
                       .outer = {},
                       .total = {},
                       .contended = !inputs.record.interference.empty()};
  Duration busy = result.computing;
  for (std::size_t d = 0; d < sums.exposed.size(); ++d) {
    if (sums.in_flight[d] == 0 && sums.sent[d] == 0) continue;
    result.dimensions.push_back({.name = inputs.graph.dimensions[d].name,
                                 .joins_stages = inputs.graph.dimensions[d].joins_stages,
                                 .exposed = Duration(divide(sums.exposed[d], steps)),
                                 .hidden = Duration(divide(sums.hidden[d], steps)),
                                 .in_flight = Duration(divide(sums.in_flight[d], steps)),
                                 .compute_lost_to_sms = Duration(divide(sums.lost_to_sms[d], steps)),
                                 .compute_lost_to_memory = Duration(divide(sums.lost_to_memory[d], steps)),
                                 .lost_to_compute = Duration(divide(sums.slowed[d], steps)),
                                 .sent = Bytes(divide(sums.sent[d], all_steps))});
    busy += result.dimensions.back().exposed;
  }
  // A rank's own counted time may differ slightly from the job's step time where steps are not yet identical.
  result.idle = std::max(inputs.step_time - inputs.data - inputs.outer - busy, Duration());
  result.data = inputs.data;
  result.outer = inputs.outer;
  result.total = busy + result.idle + result.data + result.outer;
  return result;
}

std::size_t program_of(const BreakdownInputs& inputs, std::size_t rank_class) {
  return inputs.graph.program_of[inputs.classes.representative[rank_class].index()].index();
}

}  // namespace

double TimeBreakdown::share(Duration part) const { return total > Duration() ? ratio(part, total) : 0.0; }

TimeBreakdown break_down(const BreakdownInputs& inputs) {
  CHECK(inputs.counted_iterations > 0, "a step needs a counted iteration");
  Sums sums(inputs.record.dimension_count);
  for (std::size_t c = 0; c < inputs.classes.count(); ++c) add_class(inputs, c, sums);
  return average(inputs, sums, "all ranks");
}

TimeBreakdown break_down_some(const BreakdownInputs& inputs, const std::function<bool(RankId)>& takes,
                              std::string of) {
  CHECK(inputs.counted_iterations > 0, "a step needs a counted iteration");
  Sums sums(inputs.record.dimension_count);
  for (std::size_t c = 0; c < inputs.classes.count(); ++c) {
    if (takes(inputs.classes.representative[c])) add_class(inputs, c, sums);
  }
  if (sums.ranks == 0) return {.of = std::move(of)};
  return average(inputs, sums, std::move(of));
}

std::vector<TimeBreakdown> break_down_stages(const BreakdownInputs& inputs) {
  CHECK(inputs.counted_iterations > 0, "a step needs a counted iteration");
  std::vector<std::string> names;
  for (const Program& program : inputs.graph.programs) {
    if (std::ranges::find(names, program.name) == names.end()) names.push_back(program.name);
  }
  std::vector<Sums> by_name(names.size(), Sums(inputs.record.dimension_count));
  for (std::size_t c = 0; c < inputs.classes.count(); ++c) {
    const auto name = std::ranges::find(names, inputs.graph.programs[program_of(inputs, c)].name);
    add_class(inputs, c, by_name[static_cast<std::size_t>(name - names.begin())]);
  }
  std::vector<TimeBreakdown> stages;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (by_name[i].ranks > 0) stages.push_back(average(inputs, by_name[i], names[i]));
  }
  return stages;
}

TimeBreakdown break_down_slowest(const BreakdownInputs& inputs) {
  CHECK(inputs.counted_iterations > 0, "a step needs a counted iteration");
  std::vector<Sums> by_program(inputs.graph.programs.size(), Sums(inputs.record.dimension_count));
  for (std::size_t c = 0; c < inputs.classes.count(); ++c) add_class(inputs, c, by_program[program_of(inputs, c)]);
  std::size_t slowest = 0;
  for (std::size_t p = 1; p < by_program.size(); ++p) {
    const Sums& best = by_program[slowest];
    const Sums& candidate = by_program[p];
    // Averages compared as products, which is exact; a program that no rank runs is never the longest.
    const bool longer = candidate.computing * static_cast<WideInteger>(best.ranks) >
                        best.computing * static_cast<WideInteger>(candidate.ranks);
    if (longer || best.ranks == 0) slowest = p;
  }
  return average(inputs, by_program[slowest], inputs.graph.programs[slowest].name);
}

}  // namespace ringwright
