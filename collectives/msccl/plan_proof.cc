// Operations of an execution plan run over symbolic memory: signals, flags, barriers, and whose data each unit holds.
#include "collectives/msccl/plan_proof.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "collectives/proof/proof_order.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

// Whose data a unit holds: numbers GPU * units + unit, ascending. Empty: nothing.
using Holdings = std::vector<std::uint32_t>;

class PlanProver {
 public:
  explicit PlanProver(const ExecutionPlan& plan) : plan_(plan) {
    for (const PlanGpu& gpu : plan.gpus) {
      State& state = states_.emplace_back();
      state.outputs = gpu.outputs;
      state.first_output = plan.in_place ? 0 : gpu.inputs;
      state.first_scratch =
          plan.in_place ? std::max({gpu.inputs, gpu.outputs, plan.units()}) : gpu.inputs + gpu.outputs;
      state.memory.resize(at(state.first_scratch + gpu.scratch));
      state.flagged.resize(at(gpu.scratch), false);
      state.done.resize(gpu.blocks.size(), 0);
      state.semaphores = gpu.semaphores;
    }
    for (int rank = 0; rank < plan.ranks(); ++rank) fill(rank);
  }

  std::optional<PlanProblem> run(ProofOrder order) {
    run_blocks(order);
    if (!problem_) check_ends();
    if (!problem_) check_result();
    return problem_;
  }

 private:
  struct State {
    int outputs = 0;
    int first_output = 0;
    int first_scratch = 0;
    std::vector<Holdings> memory;
    std::vector<bool> flagged;  // of scratch: packets have arrived
    std::vector<int> done;      // operations, by block
    std::vector<int> semaphores;
    std::map<std::pair<int, int>, int> arrived;  // at a barrier, by block: how often
    std::map<std::pair<int, int>, int> passed;
  };

  void fail(std::string what, int line) {
    if (!problem_) problem_ = {.what = std::move(what), .line = line};
  }
  [[nodiscard]] int part() const { return std::max(1, plan_.units() / plan_.ranks()); }

  // In place the input of an all-gather is the GPU's part of its output, and the output of a reduce-scatter the GPU's
  // part of its input.
  [[nodiscard]] std::size_t place(int gpu, MscclBuffer buffer, int unit) const {
    const State& state = states_[at(gpu)];
    const bool parts_in = plan_.in_place && plan_.kind == CollectiveKind::kAllGather;
    const bool parts_out = plan_.in_place && plan_.kind == CollectiveKind::kReduceScatter;
    switch (buffer) {
      case MscclBuffer::kInput: return at((parts_in ? gpu * part() : 0) + unit);
      case MscclBuffer::kOutput: return at(state.first_output + (parts_out ? gpu * part() : 0) + unit);
      case MscclBuffer::kScratch: return at(state.first_scratch + unit);
    }
    return 0;
  }
  [[nodiscard]] std::uint32_t number(int gpu, int unit) const {
    return static_cast<std::uint32_t>(gpu * plan_.units() + unit);
  }
  void fill(int gpu) {
    for (int unit = 0; unit < plan_.gpus[at(gpu)].inputs; ++unit) {
      if (plan_.kind == CollectiveKind::kBroadcast && gpu != 0) continue;
      states_[at(gpu)].memory[place(gpu, MscclBuffer::kInput, unit)] = {number(gpu, unit)};
    }
  }

  void run_blocks(ProofOrder order) {
    for (bool moved = true; moved && !problem_;) {
      moved = false;
      for (int i = 0; i < plan_.ranks(); ++i) {
        const int gpu = order == ProofOrder::kAscending ? i : plan_.ranks() - 1 - i;
        const int blocks = static_cast<int>(plan_.gpus[at(gpu)].blocks.size());
        for (int b = 0; b < blocks; ++b) {
          const int block = order == ProofOrder::kAscending ? b : blocks - 1 - b;
          while (!problem_ && advance(gpu, block, moved)) {
            moved = true;
            if (order == ProofOrder::kAscending) break;
          }
        }
      }
    }
  }

  bool advance(int gpu, int block, bool& moved) {
    State& state = states_[at(gpu)];
    const std::vector<PlanOp>& ops = plan_.gpus[at(gpu)].blocks[at(block)].ops;
    if (state.done[at(block)] == static_cast<int>(ops.size())) return false;
    const PlanOp& op = ops[at(state.done[at(block)])];
    if (op.action->barrier && !pass_barrier(gpu, block, op, moved)) return false;
    if (op.action->waits && !take_signals(gpu, op)) return false;
    if (op.action->acquires && !acquire(state, op)) return false;
    if (!packets_are_there(gpu, op)) return false;
    op.action->adds ? add(op) : copy(op);
    for (const PlanChannel& channel : op.channels) {
      if (op.action->signals) ++signals_[{gpu, channel.peer, channel.port, channel.ordinal}];
    }
    if (op.action->releases) {
      for (const int semaphore : op.semaphores) ++state.semaphores[at(semaphore)];
    }
    ++state.done[at(block)];
    return !problem_;
  }

  bool pass_barrier(int gpu, int block, const PlanOp& op, bool& moved) {
    State& state = states_[at(gpu)];
    const std::pair own(op.barrier, block);
    if (state.arrived[own] == state.passed[own]) {
      ++state.arrived[own];
      moved = true;
    }
    const std::vector<PlanBlock>& blocks = plan_.gpus[at(gpu)].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const bool takes_part = std::ranges::any_of(
          blocks[b].ops, [&](const PlanOp& other) { return other.action->barrier && other.barrier == op.barrier; });
      if (takes_part && state.arrived[{op.barrier, static_cast<int>(b)}] <= state.passed[own]) return false;
    }
    ++state.passed[own];
    return true;
  }

  bool take_signals(int gpu, const PlanOp& op) {
    const auto given = [&](const PlanChannel& c) -> int& { return signals_[{c.peer, gpu, c.port, c.ordinal}]; };
    if (std::ranges::any_of(op.channels, [&](const PlanChannel& c) { return given(c) == 0; })) return false;
    for (const PlanChannel& channel : op.channels) --given(channel);
    return true;
  }

  static bool acquire(State& state, const PlanOp& op) {
    if (std::ranges::any_of(op.semaphores, [&](int s) { return state.semaphores[at(s)] == 0; })) return false;
    for (const int semaphore : op.semaphores) --state.semaphores[at(semaphore)];
    return true;
  }

  bool packets_are_there(int gpu, const PlanOp& op) const {
    for (int s = op.action->packets_from; s < static_cast<int>(op.sources.size()); ++s) {
      const PlanRange& range = op.sources[at(s)];
      for (int unit = range.begin; unit < range.end; ++unit) {
        if (!states_[at(gpu)].flagged[at(unit)]) return false;
      }
    }
    return true;
  }

  Holdings& held(const PlanRange& range, int unit) {
    return states_[at(range.gpu)].memory[place(range.gpu, range.buffer, range.begin + unit)];
  }
  void put(const PlanOp& op, std::size_t target, int unit, Holdings data) {
    const PlanRange& range = op.targets[target];
    held(range, unit) = std::move(data);
    if (static_cast<int>(target) >= op.action->packets_to)
      states_[at(range.gpu)].flagged[at(range.begin + unit)] = true;
  }

  void copy(const PlanOp& op) {
    for (std::size_t target = 0; target < op.targets.size(); ++target) {
      const PlanRange& source = op.sources[std::min(target, op.sources.size() - 1)];
      for (int unit = 0; unit < op.targets[target].size(); ++unit) {
        if (held(source, unit).empty()) return fail("reads data that have not arrived", op.line);
        put(op, target, unit, held(source, unit));
      }
    }
  }

  void add(const PlanOp& op) {
    for (int unit = 0; unit < op.targets.front().size(); ++unit) {
      Holdings sum;
      for (const PlanRange& source : op.sources) {
        const Holdings& more = held(source, unit);
        if (more.empty()) return fail("adds data that have not arrived", op.line);
        Holdings both;
        std::merge(more.begin(), more.end(), sum.begin(), sum.end(), std::back_inserter(both));
        if (std::adjacent_find(both.begin(), both.end()) != both.end()) {
          return fail("adds a contribution that the sum already contains", op.line);
        }
        sum = std::move(both);
      }
      for (std::size_t target = 0; target < op.targets.size(); ++target) put(op, target, unit, sum);
    }
  }

  void check_ends() {
    for (int gpu = 0; gpu < plan_.ranks(); ++gpu) {
      const std::vector<PlanBlock>& blocks = plan_.gpus[at(gpu)].blocks;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const int done = states_[at(gpu)].done[b];
        if (done == static_cast<int>(blocks[b].ops.size())) continue;
        return fail(fmt::format("never runs: GPU {}, thread block {} waits in a cycle with others", gpu, blocks[b].id),
                    blocks[b].ops[at(done)].line);
      }
    }
  }

  [[nodiscard]] Holdings sum_over_gpus(int unit) const {
    Holdings all;
    for (int gpu = 0; gpu < plan_.ranks(); ++gpu) all.push_back(number(gpu, unit));
    return all;
  }
  // Required content of a GPU's output; empty where any content is allowed.
  [[nodiscard]] Holdings wanted(int gpu, int unit) const {
    switch (plan_.kind) {
      case CollectiveKind::kAllReduce: return sum_over_gpus(unit);
      case CollectiveKind::kReduceScatter: return sum_over_gpus(gpu * part() + unit);
      case CollectiveKind::kReduce: return gpu == 0 ? sum_over_gpus(unit) : Holdings{};
      case CollectiveKind::kAllGather: return {number(unit / part(), unit % part())};
      case CollectiveKind::kAllToAll: return {number(unit / part(), gpu * part() + unit % part())};
      case CollectiveKind::kBroadcast: return {number(0, unit)};
    }
    return {};
  }

  void check_result() {
    const int units = plan_.kind == CollectiveKind::kReduceScatter ? part() : plan_.units();
    for (int gpu = 0; gpu < plan_.ranks(); ++gpu) {
      for (int unit = 0; unit < units; ++unit) {
        const Holdings want = wanted(gpu, unit);
        const Holdings& has = states_[at(gpu)].memory[place(gpu, MscclBuffer::kOutput, unit)];
        if (want.empty() || has == want) continue;
        return fail(fmt::format("GPU {} ends with the wrong data in chunk {} of its output: {} of {} contributions{}",
                                gpu, unit / plan_.units_per_chunk, has.size(), want.size(),
                                has.size() == want.size() ? ", but not the right ones" : ""),
                    plan_.gpus[at(gpu)].line);
      }
    }
  }

  const ExecutionPlan& plan_;
  std::vector<State> states_;
  std::map<std::tuple<int, int, bool, int>, int> signals_;  // from, to, port, ordinal: sent and not consumed
  std::optional<PlanProblem> problem_;
};

}  // namespace

std::optional<PlanProblem> disprove(const ExecutionPlan& plan) {
  auto problem = PlanProver(plan).run(ProofOrder::kAscending);
  return problem ? problem : PlanProver(plan).run(ProofOrder::kDescending);
}

}  // namespace ringwright::collectives
