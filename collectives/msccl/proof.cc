#include "collectives/msccl/proof.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectives/proof/proof_order.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

constexpr std::size_t kProofSlots = 8;

// Whose data a chunk holds: numbers rank * chunks + chunk, ascending. Empty: nothing.
using Holdings = std::vector<std::uint32_t>;
using Message = std::vector<Holdings>;  // by chunk

class ProgramProver {
 public:
  explicit ProgramProver(const MscclProgram& program) : program_(program) {
    for (const MscclGpu& gpu : program.gpus) {
      State state;
      // In place, output and input are one buffer.
      const int rank = static_cast<int>(states_.size());
      state.inputs = aliased() ? std::max({gpu.inputs, gpu.outputs, shift_end(gpu, rank)}) : gpu.inputs;
      state.outputs = gpu.outputs;
      state.memory.resize(at(state.inputs + state.outputs + gpu.scratch));
      state.blocks.resize(gpu.blocks.size());
      states_.push_back(std::move(state));
    }
    for (int rank = 0; rank < program.ranks(); ++rank) fill(rank);
  }

  MscclProof run(ProofOrder order) {
    run_blocks(order);
    if (proof_.holds()) check_ends();
    if (proof_.holds() && program_.kind) check_result();
    return proof_;
  }

  // The final state of all memory.
  [[nodiscard]] std::vector<std::vector<Holdings>> memory() const {
    std::vector<std::vector<Holdings>> all;
    for (const State& state : states_) all.push_back(state.memory);
    return all;
  }

 private:
  struct BlockState {
    std::size_t done = 0;
    std::deque<Message> sent;
  };
  struct State {
    int inputs = 0;
    int outputs = 0;
    std::vector<Holdings> memory;  // inputs, outputs, scratch
    std::vector<BlockState> blocks;
  };

  [[nodiscard]] bool aliased() const { return program_.in_place; }
  [[nodiscard]] int per_rank() const { return program_.chunks_per_rank(); }
  // A rank may state more inputs than its part of an all-gather has.
  [[nodiscard]] int shift_end(const MscclGpu& gpu, int rank) const {
    if (program_.kind != CollectiveKind::kAllGather) return inputs_of(gpu);
    return std::max(per_rank() * program_.ranks(), rank * per_rank() + inputs_of(gpu));
  }

  // In place, a file may state the size of only one of the two buffers, as msccl-tools does.
  [[nodiscard]] int inputs_of(const MscclGpu& gpu) const {
    if (!aliased()) return gpu.inputs;
    return program_.kind == CollectiveKind::kAllGather ? std::max(gpu.inputs, per_rank())
                                                       : std::max(gpu.inputs, gpu.outputs);
  }

  void fail(std::string what, int line) {
    if (proof_.holds()) proof_ = {.violation = std::move(what), .line = line};
  }

  // Location of a chunk of a buffer. In place, the input of an all-gather is the rank's part of its output, and the
  // output of a reduce-scatter the rank's part of its input.
  [[nodiscard]] std::size_t place(int rank, MscclBuffer buffer, int chunk) const {
    const State& state = states_[at(rank)];
    switch (buffer) {
      case MscclBuffer::kInput:
        return at(aliased() && program_.kind == CollectiveKind::kAllGather ? rank * per_rank() + chunk : chunk);
      case MscclBuffer::kOutput:
        if (!aliased()) return at(state.inputs + chunk);
        return at(program_.kind == CollectiveKind::kReduceScatter ? rank * per_rank() + chunk : chunk);
      case MscclBuffer::kScratch: return at(state.inputs + state.outputs + chunk);
    }
    return 0;
  }

  [[nodiscard]] std::uint32_t number(int rank, int chunk) const {
    return static_cast<std::uint32_t>(rank * program_.chunks + chunk);
  }

  void fill(int rank) {
    const MscclGpu& gpu = program_.gpus[at(rank)];
    State& state = states_[at(rank)];
    const bool has = program_.kind != CollectiveKind::kBroadcast || rank == 0;
    for (int chunk = 0; has && chunk < inputs_of(gpu); ++chunk) {
      state.memory[place(rank, MscclBuffer::kInput, chunk)] = {number(rank, chunk)};
    }
    for (const MscclCopy& copy : gpu.copies) {
      state.memory[place(rank, MscclBuffer::kOutput, copy.output)] = {number(rank, copy.input)};
    }
  }

  void run_blocks(ProofOrder order) {
    bool moved = true;
    while (moved && proof_.holds()) {
      moved = false;
      for (int i = 0; i < program_.ranks(); ++i) {
        const int rank = order == ProofOrder::kAscending ? i : program_.ranks() - 1 - i;
        const int blocks = static_cast<int>(program_.gpus[at(rank)].blocks.size());
        for (int b = 0; b < blocks; ++b) {
          const int block = order == ProofOrder::kAscending ? b : blocks - 1 - b;
          while (proof_.holds() && advance(rank, block)) {
            moved = true;
            if (order == ProofOrder::kAscending) break;
          }
        }
      }
    }
  }

  bool advance(int rank, int number_of_block) {
    const MscclBlock& block = program_.gpus[at(rank)].blocks[at(number_of_block)];
    BlockState& state = states_[at(rank)].blocks[at(number_of_block)];
    if (state.done == block.steps.size()) return false;
    const MscclStep& step = block.steps[state.done];
    if (step.after_block >= 0 &&
        states_[at(rank)].blocks[at(step.after_block)].done <= static_cast<std::size_t>(step.after_step)) {
      return false;
    }
    std::deque<Message>* queue = nullptr;
    if (step.action->receives) {
      queue = &states_[at(block.receive)].blocks[at(block.receive_block)].sent;
      if (queue->empty()) return false;
    }
    if (step.action->sends && state.sent.size() == kProofSlots) return false;
    Message message(at(step.count));
    if (queue != nullptr) {
      message = std::move(queue->front());
      queue->pop_front();
    }
    for (int chunk = 0; chunk < step.count; ++chunk) work(rank, step, chunk, message[at(chunk)]);
    if (step.action->sends) state.sent.push_back(std::move(message));
    ++state.done;
    return proof_.holds();
  }

  void work(int rank, const MscclStep& step, int chunk, Holdings& held) {
    std::vector<Holdings>& memory = states_[at(rank)].memory;
    if (step.action->reads) add(step, memory[place(rank, step.source_buffer, step.source + chunk)], held);
    if (!step.action->stores) return;
    Holdings& target = memory[place(rank, step.target_buffer, step.target + chunk)];
    if (step.action->adds_to_destination) add(step, target, held);
    target = held;
  }

  void add(const MscclStep& step, const Holdings& more, Holdings& sum) {
    if (more.empty()) return fail("reads a chunk that holds nothing", step.line);
    Holdings both;
    std::merge(more.begin(), more.end(), sum.begin(), sum.end(), std::back_inserter(both));
    if (std::adjacent_find(both.begin(), both.end()) != both.end()) {
      return fail("adds a contribution that the sum already contains", step.line);
    }
    sum = std::move(both);
  }

  void check_ends() {
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      const MscclGpu& gpu = program_.gpus[at(rank)];
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        const std::size_t done = states_[at(rank)].blocks[b].done;
        if (done == gpu.blocks[b].steps.size()) continue;
        return fail(
            fmt::format("never runs: GPU {}, thread block {} waits in a cycle with others", rank, gpu.blocks[b].id),
            gpu.blocks[b].steps[done].line);
      }
    }
  }

  [[nodiscard]] Holdings sum_over_ranks(int chunk) const {
    Holdings all;
    for (int rank = 0; rank < program_.ranks(); ++rank) all.push_back(number(rank, chunk));
    return all;
  }

  // Required content of a rank's output; empty where any content is allowed.
  [[nodiscard]] Holdings wanted(int rank, int chunk) const {
    const int part = per_rank();
    switch (*program_.kind) {
      case CollectiveKind::kAllReduce: return sum_over_ranks(chunk);
      case CollectiveKind::kReduceScatter: return sum_over_ranks(rank * part + chunk);
      case CollectiveKind::kReduce: return rank == 0 ? sum_over_ranks(chunk) : Holdings{};
      case CollectiveKind::kAllGather: return {number(chunk / part, chunk % part)};
      case CollectiveKind::kAllToAll: return {number(chunk / part, rank * part + chunk % part)};
      case CollectiveKind::kBroadcast: return {number(0, chunk)};
    }
    return {};
  }

  void check_result() {
    const int outputs = *program_.kind == CollectiveKind::kReduceScatter ? per_rank() : program_.chunks;
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      for (int chunk = 0; chunk < outputs; ++chunk) {
        const Holdings want = wanted(rank, chunk);
        const std::size_t here = place(rank, MscclBuffer::kOutput, chunk);
        if (want.empty()) continue;
        if (here < states_[at(rank)].memory.size() && states_[at(rank)].memory[here] == want) continue;
        const std::size_t held = here < states_[at(rank)].memory.size() ? states_[at(rank)].memory[here].size() : 0;
        return fail(fmt::format("GPU {} ends with the wrong data in chunk {} of its output: {} of {} contributions{}",
                                rank, chunk, held, want.size(), held == want.size() ? ", but not the right ones" : ""),
                    program_.gpus[at(rank)].line);
      }
    }
  }

  const MscclProgram& program_;
  std::vector<State> states_;
  MscclProof proof_;
};

}  // namespace

MscclProof prove(const MscclProgram& program) {
  ProgramProver one(program);
  MscclProof proof = one.run(ProofOrder::kAscending);
  if (!proof.holds()) return proof;
  ProgramProver other(program);
  proof = other.run(ProofOrder::kDescending);
  if (!proof.holds()) return proof;
  if (program.kind || one.memory() == other.memory()) return proof;
  return {.violation = "the result depends on the order in which thread blocks run", .line = program.gpus.front().line};
}

}  // namespace ringwright::collectives
