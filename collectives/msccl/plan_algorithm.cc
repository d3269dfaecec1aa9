#include "collectives/msccl/plan_algorithm.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

bool moves_data(const PlanOp& op) {
  return !op.targets.empty();
}

}  // namespace

PlanAlgorithm::PlanAlgorithm(ExecutionPlan plan) : plan_(std::move(plan)), port_of_(plan_.messages.size()) {
  for (const PlanGpu& gpu : plan_.gpus) {
    most_blocks_ = std::max(most_blocks_, static_cast<int>(gpu.blocks.size()));
    std::vector<Ports>& of_gpu = ports_.emplace_back();
    for (const PlanBlock& block : gpu.blocks) {
      Ports& ports = of_gpu.emplace_back();
      ports.notifies.resize(block.ops.size(), false);
      for (const PlanOp& op : block.ops) {
        ports.first_sent.push_back(static_cast<int>(ports.sent.size()));
        ports.first_awaited.push_back(static_cast<int>(ports.awaited.size()));
        for (const int message : op.sent) {
          port_of_[at(message)] = static_cast<int>(ports.sent.size());
          ports.sent.push_back(message);
        }
        ports.awaited.insert(ports.awaited.end(), op.awaited.begin(), op.awaited.end());
      }
    }
    for (const PlanBlock& block : gpu.blocks) {
      for (const PlanOp& op : block.ops) {
        for (const PlanOpRef& after : op.after) of_gpu[at(after.block)].notifies[at(after.op)] = true;
      }
    }
  }
}

bool PlanAlgorithm::fits_hosts(const GroupLayout& layout) const {
  for (std::size_t gpu = 0; gpu < plan_.gpus.size(); ++gpu) {
    const int host = layout.host_of[gpu];
    const auto elsewhere = [&](const PlanRange& range) { return layout.host_of[at(range.gpu)] != host; };
    for (const PlanBlock& block : plan_.gpus[gpu].blocks) {
      for (const PlanOp& op : block.ops) {
        if (std::ranges::any_of(op.sources, elsewhere)) return false;  // proxies do not fetch
        if (!op.port && std::ranges::any_of(op.targets, elsewhere)) return false;
      }
    }
  }
  return true;
}

bool PlanAlgorithm::matches(const CollectiveCall& call) const {
  return plan_.kind == call.kind && plan_.ranks() == call.size() && call.bytes >= plan_.min_bytes &&
         call.bytes <= plan_.max_bytes && call.bytes.count() % (plan_.alignment.count() * plan_.chunks) == 0 &&
         call.root == 0 && fits_hosts(*call.layout);
}

CollectivePlan PlanAlgorithm::plan() const {
  return {.algorithm = plan_.name,
          .protocol = plan_.protocol,
          .channels = std::max(most_blocks_, 1),
          .threads = plan_.threads,
          .chunk = Bytes(0)};
}

bool PlanAlgorithm::supports(const CollectiveCall& call, const CollectivePlan&) const {
  return matches(call);
}

int PlanAlgorithm::blocks(const CollectiveCall& call, const CollectivePlan&) const {
  return call.size() < 2 ? 0 : most_blocks_;
}

const PlanBlock* PlanAlgorithm::find(int member, int block) const {
  const std::vector<PlanBlock>& blocks = plan_.gpus[at(member)].blocks;
  return at(block) < blocks.size() ? &blocks[at(block)] : nullptr;
}

const PlanAlgorithm::Ports& PlanAlgorithm::ports(int member, int block) const {
  return ports_[at(member)][at(block)];
}

void PlanAlgorithm::block(const CollectiveCall&, const CollectivePlan&, int member, int block, ThreadBlock& out) const {
  out.clear();
  out.channel = block;
  const PlanBlock* found = find(member, block);
  if (found == nullptr) return;
  out.primitives = static_cast<std::int64_t>(found->ops.size());
  for (const int message : ports(member, block).sent) out.sends.push_back({.peer = plan_.messages[at(message)].to});
  for (const int number : ports(member, block).awaited) {
    const PlanMessage& message = plan_.messages[at(number)];
    out.receives.push_back({.peer = message.from, .block = message.writer.block, .port = port_of_[at(number)]});
  }
}

// What a port's proxy sends is a message with the data; threads store and load themselves, and their messages are
// signal-only.
void PlanAlgorithm::primitive(const CollectiveCall& call, const CollectivePlan&, int member, int block,
                              std::int64_t index, Primitive& out) const {
  out.clear();
  const PlanBlock* found = find(member, block);
  CHECK(found != nullptr, "primitive() is not called for a thread block without primitives");
  const PlanOp& op = found->ops[at(index)];
  const Ports& own = ports(member, block);
  out.sends = {.first = own.first_sent[at(index)], .count = static_cast<int>(op.sent.size())};
  out.receives = {.first = own.first_awaited[at(index)], .count = static_cast<int>(op.awaited.size())};
  out.notifies = own.notifies[at(index)];
  for (const PlanOpRef& after : op.after) out.after.push_back({.block = after.block, .primitive = after.op});
  out.continues = !moves_data(op);
  out.signal_only = true;
  if (!moves_data(op)) return;
  out.size = Bytes(call.bytes.count() / plan_.units() * op.targets.front().size());
  out.adds = op.action->adds;
  const bool proxy_sends = op.port && out.sends.count > 0;
  out.signal_only = !proxy_sends;
  out.operands = op.action->adds ? static_cast<int>(op.sources.size()) : 1;
  out.results = static_cast<int>(op.targets.size());
  for (const PlanRange& range : op.sources) {
    if (range.gpu != member) out.loads_from.push_back(range.gpu);
  }
  for (const PlanRange& range : op.targets) {
    if (range.gpu != member && !op.port) out.stores_to.push_back(range.gpu);
  }
}

int PlanAlgorithm::pieces(const CollectiveCall&, const CollectivePlan&) const {
  return plan_.chunks * (plan_.kind == CollectiveKind::kAllToAll ? plan_.ranks() : 1);
}

Bytes PlanAlgorithm::piece_size(const CollectiveCall& call, const CollectivePlan&, int) const {
  return call.bytes / plan_.chunks;
}

void PlanAlgorithm::contents(const CollectiveCall&, const CollectivePlan&, int member, int block, std::int64_t index,
                             PrimitiveContents& out) const {
  out.clear();
  const PlanBlock* found = find(member, block);
  CHECK(found != nullptr, "primitive() is not called for a thread block without primitives");
  const auto add = [&](const PlanRange& range, std::vector<int>& cells) {
    for (int unit = range.begin; range.gpu == member && unit < range.end; ++unit) cells.push_back(unit);
  };
  for (const PlanRange& range : found->ops[at(index)].sources) add(range, out.reads);
  for (const PlanRange& range : found->ops[at(index)].targets) add(range, out.stores);
}

}  // namespace ringwright::collectives
