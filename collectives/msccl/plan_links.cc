#include "collectives/msccl/plan_links.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

struct PlanPlace {
  int gpu = 0;
  PlanOpRef op;
};

using ChannelKey = std::tuple<int, int, bool, int>;  // from, to, port, ordinal
struct Talk {
  std::vector<PlanPlace> signals;
  std::vector<PlanPlace> waits;
  std::vector<std::pair<std::size_t, PlanPlace>> puts;  // over a port, before the signal of this number
};

// Packets in a GPU's scratch memory.
struct PacketWrite {
  int begin = 0;
  int end = 0;
  PlanPlace by;
  std::optional<PlanOpRef> first_reader = {};  // of data from a proxy
};

bool is_put(const PlanOp& op) {
  return op.port && !op.targets.empty() && op.action->packets_to == PlanAction::kNever && !op.action->signals;
}

class Linker {
 public:
  explicit Linker(ExecutionPlan& plan) : plan_(plan), packets_(plan.gpus.size()) {}

  std::optional<PlanProblem> run() {
    visit([this](const PlanPlace& place, PlanOp& op) { note(place, op); });
    for (auto& [key, talk] : talks_) join(talk);
    visit([this](const PlanPlace& place, PlanOp& op) { join_packets(place, op); });
    visit([this](const PlanPlace& place, PlanOp& op) {
      if (op.action->barrier) join_barrier(place, op);
      if (op.action->acquires) join_semaphores(place, op);
    });
    return problem_;
  }

 private:
  template <class Visitor>
  void visit(Visitor&& visitor) {
    for (int gpu = 0; gpu < plan_.ranks(); ++gpu) {
      std::vector<PlanBlock>& blocks = plan_.gpus[at(gpu)].blocks;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (std::size_t o = 0; o < blocks[b].ops.size(); ++o) {
          visitor({.gpu = gpu, .op = {.block = static_cast<int>(b), .op = static_cast<int>(o)}}, blocks[b].ops[o]);
        }
      }
    }
  }

  PlanOp& op(const PlanPlace& place) {
    return plan_.gpus[at(place.gpu)].blocks[at(place.op.block)].ops[at(place.op.op)];
  }
  void fail(std::string what, int line) {
    if (!problem_) problem_ = {.what = std::move(what), .line = line};
  }

  void note(const PlanPlace& place, const PlanOp& op) {
    for (const PlanChannel& channel : op.channels) {
      const ChannelKey out(place.gpu, channel.peer, channel.port, channel.ordinal);
      const ChannelKey in(channel.peer, place.gpu, channel.port, channel.ordinal);
      if (op.action->signals) talks_[out].signals.push_back(place);
      if (op.action->waits) talks_[in].waits.push_back(place);
      if (is_put(op)) talks_[out].puts.emplace_back(talks_[out].signals.size(), place);
    }
    for (int t = op.action->packets_to; t < static_cast<int>(op.targets.size()); ++t) {
      const PlanRange& range = op.targets[at(t)];
      note_packets(range, place, op);
    }
  }

  void note_packets(const PlanRange& range, const PlanPlace& place, const PlanOp& op) {
    if (range.buffer != MscclBuffer::kScratch)
      return fail("packets can only be written to scratch memory (type s)", op.line);
    for (const PacketWrite& other : packets_[at(range.gpu)]) {
      if (other.begin < range.end && range.begin < other.end) {
        return fail(fmt::format("packets of line {} are written to the same scratch chunk of GPU {}",
                                this->op(other.by).line, range.gpu),
                    op.line);
      }
    }
    packets_[at(range.gpu)].push_back({.begin = range.begin, .end = range.end, .by = place});
  }

  void tell(const PlanPlace& from, const PlanPlace& to, bool carries_data) {
    const int number = static_cast<int>(plan_.messages.size());
    plan_.messages.push_back(
        {.from = from.gpu, .to = to.gpu, .writer = from.op, .reader = to.op, .carries_data = carries_data});
    op(from).sent.push_back(number);
    op(to).awaited.push_back(number);
  }

  static bool in_one_block(const std::vector<PlanPlace>& places) {
    return std::ranges::all_of(places, [&](const PlanPlace& p) { return p.op.block == places.front().op.block; });
  }

  void join(Talk& talk) {
    if (talk.waits.size() > talk.signals.size()) {
      return fail("waits for a signal that is never sent", op(talk.waits[talk.signals.size()]).line);
    }
    if (talk.signals.size() > talk.waits.size()) {
      return fail("sends a signal that nobody waits for", op(talk.signals[talk.waits.size()]).line);
    }
    if (!talk.signals.empty() && !(in_one_block(talk.signals) && in_one_block(talk.waits))) {
      return fail("several thread blocks use one channel, so the order of signals is undefined",
                  op(talk.signals.front()).line);
    }
    for (std::size_t i = 0; i < talk.signals.size(); ++i) {
      const PlanOp& signal = op(talk.signals[i]);
      tell(talk.signals[i], talk.waits[i], signal.port && !signal.targets.empty());
    }
    for (const auto& [next, put] : talk.puts) {
      if (next >= talk.signals.size() || talk.signals[next].op.block != put.op.block) {
        return fail("puts data through a port, but its thread block sends no signal after it", op(put).line);
      }
      tell(put, talk.waits[next], true);
    }
  }

  void join_packets(const PlanPlace& place, const PlanOp& reader) {
    for (int s = reader.action->packets_from; s < static_cast<int>(reader.sources.size()); ++s) {
      const PlanRange& range = reader.sources[at(s)];
      if (range.buffer != MscclBuffer::kScratch || range.gpu != place.gpu) {
        return fail("packets are read from the GPU's own scratch memory (type s) only", reader.line);
      }
      int covered = 0;
      for (PacketWrite& write : packets_[at(place.gpu)]) {
        const int overlap = std::min(write.end, range.end) - std::max(write.begin, range.begin);
        if (overlap <= 0) continue;
        covered += overlap;
        await(place, write);
      }
      if (covered < range.size()) return fail("reads packets that are never written", reader.line);
    }
  }

  void await(const PlanPlace& place, PacketWrite& write) {
    PlanOp& reader = op(place);
    if (write.by.gpu == place.gpu) {
      if (write.by.op.block != place.op.block) reader.after.push_back(write.by.op);
      return;
    }
    const bool known = std::ranges::any_of(reader.awaited, [&](int number) {
      const PlanMessage& m = plan_.messages[at(number)];
      return m.from == write.by.gpu && m.writer.block == write.by.op.block && m.writer.op == write.by.op.op;
    });
    if (known) return;
    const bool port = op(write.by).port;
    if (port && write.first_reader) {
      if (write.first_reader->block != place.op.block) reader.after.push_back(*write.first_reader);
      return;
    }
    write.first_reader = place.op;
    tell(write.by, place, port);
  }

  // The n-th arrival at a barrier: all others have completed the operations before their n-th arrival.
  void join_barrier(const PlanPlace& place, PlanOp& op) {
    const std::vector<PlanBlock>& blocks = plan_.gpus[at(place.gpu)].blocks;
    const auto is_here = [&](const PlanOp& other) { return other.action->barrier && other.barrier == op.barrier; };
    const std::vector<PlanOp>& own = blocks[at(place.op.block)].ops;
    const auto number = std::count_if(own.begin(), own.begin() + place.op.op, is_here);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::vector<PlanOp>& ops = blocks[b].ops;
      if (static_cast<int>(b) == place.op.block || std::ranges::none_of(ops, is_here)) continue;
      std::ptrdiff_t left = number;
      const auto same = std::ranges::find_if(ops, [&](const PlanOp& other) { return is_here(other) && left-- == 0; });
      if (same == ops.end()) return fail("thread blocks reach a barrier a different number of times", op.line);
      const int before = static_cast<int>(same - ops.begin()) - 1;
      if (before >= 0) op.after.push_back({.block = static_cast<int>(b), .op = before});
    }
  }

  void join_semaphores(const PlanPlace& place, PlanOp& op) {
    const PlanGpu& gpu = plan_.gpus[at(place.gpu)];
    for (const int semaphore : op.semaphores) {
      const auto uses = [&](const PlanOp& other) { return std::ranges::count(other.semaphores, semaphore) > 0; };
      const auto acquires = [&](const PlanOp& other) { return other.action->acquires && uses(other); };
      const auto releases = [&](const PlanOp& other) { return other.action->releases && uses(other); };
      const std::vector<PlanOp>& own = gpu.blocks[at(place.op.block)].ops;
      const auto number =
          std::count_if(own.begin(), own.begin() + place.op.op, acquires) - gpu.semaphores[at(semaphore)];
      std::vector<PlanOpRef> given;
      int acquirers = 0;
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        if (std::ranges::any_of(gpu.blocks[b].ops, acquires)) ++acquirers;
        for (std::size_t o = 0; o < gpu.blocks[b].ops.size(); ++o) {
          if (releases(gpu.blocks[b].ops[o]))
            given.push_back({.block = static_cast<int>(b), .op = static_cast<int>(o)});
        }
      }
      const bool one =
          std::ranges::all_of(given, [&](const PlanOpRef& ref) { return ref.block == given.front().block; });
      if (acquirers > 1 || !one) {
        return fail(
            fmt::format("semaphore {} is used by more than two thread blocks, so its order is undefined", semaphore),
            op.line);
      }
      if (number < 0) continue;  // covered by the initial value
      if (number >= std::ssize(given)) return fail(fmt::format("semaphore {} is never released", semaphore), op.line);
      op.after.push_back(given[static_cast<std::size_t>(number)]);
    }
  }

  ExecutionPlan& plan_;
  std::map<ChannelKey, Talk> talks_;
  std::vector<std::vector<PacketWrite>> packets_;  // by GPU
  std::optional<PlanProblem> problem_;
};

}  // namespace

std::optional<PlanProblem> link(ExecutionPlan& plan) {
  return Linker(plan).run();
}

}  // namespace ringwright::collectives
