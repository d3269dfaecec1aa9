#include "collectives/msccl/algorithm.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

// Useful data in a slot (nccl: device.h): 512 KiB of Simple, 120 of 128 bytes of 600 KiB, half of 64 KiB.
Bytes slot_of(const CollectivePlan& plan) {
  if (plan.chunk.count() > 0) return plan.chunk;
  switch (plan.protocol) {
    case Protocol::kLl: return Bytes(32 << 10);
    case Protocol::kLl128: return Bytes((600 << 10) / 128 * 120);
    case Protocol::kSimple: return Bytes(512 << 10);
  }
  return Bytes(512 << 10);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

struct MscclAlgorithm::Cutting {
  std::int64_t loops = 1;
  std::int64_t piece = 0;        // bytes of a chunk in one loop
  std::int64_t at_a_time = 1;    // chunks in one message

  [[nodiscard]] std::int64_t messages(const MscclStep& step) const {
    return std::max<std::int64_t>(1, divide_up(step.count, at_a_time));
  }
  [[nodiscard]] std::int64_t messages(const MscclBlock& block) const {
    std::int64_t sum = 0;
    for (const MscclStep& step : block.steps) sum += messages(step);
    return sum;
  }
};

// The step of a primitive, and the chunk within the step.
struct MscclAlgorithm::Part {
  std::size_t step = 0;
  std::int64_t loop = 0;
  int first = 0;
  int count = 0;

  Part(const Cutting& cutting, const MscclBlock& block, std::int64_t index) {
    const std::int64_t in_loop = cutting.messages(block);
    loop = index / in_loop;
    std::int64_t left = index % in_loop;
    while (left >= cutting.messages(block.steps[step])) left -= cutting.messages(block.steps[step++]);
    first = static_cast<int>(left * cutting.at_a_time);
    count = static_cast<int>(std::min<std::int64_t>(cutting.at_a_time, block.steps[step].count - first));
  }
};

MscclAlgorithm::MscclAlgorithm(MscclProgram program) : program_(std::move(program)) {
  for (const MscclGpu& gpu : program_.gpus) {
    most_blocks_ = std::max(most_blocks_, gpu.blocks.size());
    auto& of_gpu = notifies_.emplace_back();
    for (const MscclBlock& block : gpu.blocks) of_gpu.emplace_back(block.steps.size(), false);
    for (const MscclBlock& block : gpu.blocks) {
      for (const MscclStep& step : block.steps) {
        if (step.after_block >= 0) of_gpu[at(step.after_block)][at(step.after_step)] = true;
      }
    }
  }
}

bool MscclAlgorithm::matches(const CollectiveCall& call) const {
  return program_.kind == call.kind && program_.ranks() == call.size() && call.bytes >= program_.min_bytes &&
         call.bytes < program_.max_bytes && call.root == 0;
}

CollectivePlan MscclAlgorithm::plan() const {
  return {.algorithm = program_.name,
          .protocol = program_.protocol,
          .channels = program_.channels,
          .threads = program_.threads,
          .chunk = Bytes(0)};
}

bool MscclAlgorithm::supports(const CollectiveCall& call, const CollectivePlan&) const { return matches(call); }

int MscclAlgorithm::blocks(const CollectiveCall& call, const CollectivePlan&) const {
  return call.size() < 2 ? 0 : static_cast<int>(most_blocks_);
}

MscclAlgorithm::Cutting MscclAlgorithm::cut(const CollectiveCall& call, const CollectivePlan& plan) const {
  const std::int64_t chunk = divide_up(call.bytes.count(), program_.chunks);
  const std::int64_t slot = slot_of(plan).count();
  Cutting cutting;
  cutting.loops = std::max<std::int64_t>(1, divide_up(chunk, slot));
  cutting.piece = divide_up(chunk, cutting.loops);
  cutting.at_a_time = cutting.piece == 0 ? program_.chunks : std::max<std::int64_t>(1, slot / cutting.piece);
  return cutting;
}

const MscclBlock* MscclAlgorithm::find(int member, int block) const {
  const std::vector<MscclBlock>& blocks = program_.gpus[at(member)].blocks;
  return at(block) < blocks.size() ? &blocks[at(block)] : nullptr;
}

void MscclAlgorithm::block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                           ThreadBlock& out) const {
  out.clear();
  const MscclBlock* found = find(member, block);
  if (found == nullptr) return;
  const Cutting cutting = cut(call, plan);
  out.channel = found->channel;
  out.primitives = cutting.loops * cutting.messages(*found);
  if (found->receive >= 0) out.receives.push_back({.peer = found->receive, .block = found->receive_block, .port = 0});
  if (found->send >= 0) out.sends.push_back({.peer = found->send});
}

void MscclAlgorithm::primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                               std::int64_t index, Primitive& out) const {
  out.clear();
  const MscclBlock* found = find(member, block);
  CHECK(found != nullptr, "primitive() is not called for a thread block without primitives");
  const Cutting cutting = cut(call, plan);
  const Part part(cutting, *found, index);
  const MscclStep& step = found->steps[part.step];
  const MscclAction& action = *step.action;
  out.size = Bytes(part.count * cutting.piece);
  out.receives = {.first = 0, .count = action.receives ? 1 : 0};
  out.sends = {.first = 0, .count = action.sends ? 1 : 0};
  out.reads = action.reads;
  out.stores = action.stores;
  out.adds = action.adds_to_destination || (action.receives && action.reads);
  const bool last_of_step = part.first + part.count == step.count;
  out.notifies = last_of_step && notifies_[at(member)][at(block)][part.step];
  if (step.after_block < 0 || part.first > 0) return;
  // In the other block: the last message of the step, in the same loop.
  const MscclBlock& other = program_.gpus[at(member)].blocks[at(step.after_block)];
  std::int64_t last = part.loop * cutting.messages(other) - 1;
  for (int s = 0; s <= step.after_step; ++s) last += cutting.messages(other.steps[at(s)]);
  out.after.push_back({.block = step.after_block, .primitive = last});
}

int MscclAlgorithm::pieces(const CollectiveCall&, const CollectivePlan&) const {
  const int buffers = program_.kind == CollectiveKind::kAllToAll ? program_.ranks() : 1;
  return program_.chunks * buffers;
}

Bytes MscclAlgorithm::piece_size(const CollectiveCall& call, const CollectivePlan&, int piece) const {
  const int chunk = piece % program_.chunks;
  const auto before = [&](std::int64_t n) { return call.bytes.count() * n / program_.chunks; };
  return Bytes(before(chunk + 1) - before(chunk));
}

void MscclAlgorithm::contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
                              std::int64_t index, PrimitiveContents& out) const {
  out.clear();
  const MscclBlock* found = find(member, block);
  CHECK(found != nullptr, "primitive() is not called for a thread block without primitives");
  const Part part(cut(call, plan), *found, index);
  const MscclStep& step = found->steps[part.step];
  for (int chunk = part.first; chunk < part.first + part.count; ++chunk) {
    if (step.action->reads) out.reads.push_back(step.source + chunk);
    if (step.action->stores) out.stores.push_back(step.target + chunk);
  }
}

}  // namespace ringwright::collectives
