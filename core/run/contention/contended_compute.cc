#include "core/run/contention/contended_compute.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace ringwright {
namespace {

// Between the numbers of two claims: for those of receives that are inserted later.
constexpr std::uint64_t kRoom = std::uint64_t{1} << 24U;

Contention without_memory(Contention contention) {
  contention.memory = {};
  contention.copies = {};
  return contention;
}

}  // namespace

ContendedCompute::ContendedCompute(const Inputs& inputs)
    : inputs_(inputs), classes_(inputs.classes.count()), shared_(inputs.graph, inputs.classes) {
  for (OfClass& of : classes_) {
    of.in_flight.resize(inputs.graph.dimensions.size(), 0);
    of.lost.resize(inputs.graph.dimensions.size());
    of.awaited.resize(inputs.graph.dimensions.size());
  }
}

void ContendedCompute::compute(ClassId rank_class, const Job& job) {
  OfClass& of = classes_[rank_class.index()];
  count_up(rank_class);
  const auto alone = static_cast<double>(job.alone.count());
  of.running.push_back({.job = job, .left = alone, .rate = {}, .end = {}, .ends_at = {}});
  share_out(rank_class);
  watch(rank_class);
}

void ContendedCompute::hold(ClassId rank_class, const Claim& claim) {
  OfClass& of = classes_[rank_class.index()];
  count_up(rank_class);
  const Held held{.claim = claim, .number = of.next_number};
  of.next_number += kRoom;
  if (claim.once_data_move) {
    await(of, held);
  } else {
    of.held.push_back(held);
  }
  mark_copy_blocks(of, claim.dimension);
  share_out(rank_class);
}

void ContendedCompute::release(ClassId rank_class, std::uint32_t task) {
  OfClass& of = classes_[rank_class.index()];
  const auto held = std::ranges::find(of.held, task, [](const Held& h) { return h.claim.task; });
  const bool is_awaited = held == of.held.end() && of.awaited_task.contains(task);
  if (held == of.held.end() && !is_awaited) return;
  count_up(rank_class);
  if (is_awaited) {
    forget_awaited(of, task);
  } else {
    const DimensionId dimension = held->claim.dimension;
    of.held.erase(held);
    mark_copy_blocks(of, dimension);
  }
  share_out(rank_class);
}

void ContendedCompute::on_movement(ClassId rank_class, DimensionId dimension, int in_flight) {
  OfClass& of = classes_[rank_class.index()];
  count_up(rank_class);
  of.in_flight[dimension.index()] = in_flight;
  mark_copy_blocks(of, dimension);
  share_out(rank_class);
}

void ContendedCompute::await(OfClass& of, const Held& receive) {
  const std::size_t dimension = receive.claim.dimension.index();
  auto& awaited = of.awaited[dimension];
  awaited.emplace_hint(awaited.end(), receive.number, receive.claim);  // nearly always the newest
  of.awaited_task.emplace(receive.claim.task, Awaited{.dimension = dimension, .number = receive.number});
}

void ContendedCompute::forget_awaited(OfClass& of, std::uint32_t task) {
  const auto entry = of.awaited_task.find(task);
  of.awaited[entry->second.dimension].erase(entry->second.number);
  of.awaited_task.erase(entry);
}

// The oldest of the receives that do not move data yet.
void ContendedCompute::begin_to_move(OfClass& of, DimensionId dimension) {
  const auto [number, claim] = *of.awaited[dimension.index()].begin();
  forget_awaited(of, claim.task);
  const auto place = std::ranges::lower_bound(of.held, number, {}, &Held::number);
  of.held.insert(place, {.claim = claim, .number = number, .moves = true});
}

void ContendedCompute::mark_copy_blocks(OfClass& of, DimensionId dimension) {
  int moving = of.in_flight[dimension.index()];
  for (Held& held : of.held) {
    if (held.claim.dimension == dimension && !held.claim.once_data_move) held.moves = moving-- > 0;
  }
  std::erase_if(of.held, [&](const Held& held) {
    if (held.claim.dimension != dimension || !held.claim.once_data_move || moving-- > 0) return false;
    await(of, held);
    return true;
  });
  for (; moving > 0 && !of.awaited[dimension.index()].empty(); --moving) begin_to_move(of, dimension);
  visited_ += of.held.size();
}

// Of all on the GPU, since a change of one changes the rates of all.
void ContendedCompute::count_up(ClassId rank_class) {
  const SharedGpu* const gpu = shared_.of(rank_class);
  if (gpu == nullptr) return count_up(classes_[rank_class.index()]);
  for (const ClassId tenant : gpu->tenants) count_up(classes_[tenant.index()]);
}

// Work done, and time lost, since the last change.
void ContendedCompute::count_up(OfClass& of) {
  const auto passed = static_cast<double>((inputs_.engine.now() - of.since).count());
  of.since = inputs_.engine.now();
  if (passed <= 0.0) return;
  book_copy_blocks(of, passed * (1.0 - of.copy_blocks));
  if (!of.running.empty()) {
    of.history.computing += passed;
    of.history.granted += passed * of.kernels;
  }
  for (Running& running : of.running) {
    if (running.rate.all <= 0.0) continue;
    const double done = passed * running.rate.all;
    const double with_sms_held = done / running.rate.sms_only;
    running.left = std::max(running.left - done, 0.0);
    book(of, with_sms_held - done, passed - with_sms_held);
  }
}

void ContendedCompute::book(OfClass& of, double to_sms, double to_memory) {
  const Contention all = taken(of);
  const double memory = all.memory.count() + all.copies.count();
  for (const Held& held : of.held) {
    Loss& loss = of.lost[held.claim.dimension.index()];
    if (all.sms > 0) loss.to_sms += FineTime(to_sms * held.sms() / all.sms);
    if (memory > 0.0) loss.to_memory += FineTime(to_memory * (held.memory() + held.copies()).count() / memory);
  }
}

// Books the loss on every dimension that moves data by thread blocks, once.
void ContendedCompute::book_copy_blocks(OfClass& of, double lost) {
  if (lost <= 0.0) return;
  for (std::size_t d = 0; d < of.lost.size(); ++d) {
    const bool moves = std::ranges::any_of(of.held, [d](const Held& held) {
      return held.claim.dimension.index() == d && held.memory() > Bandwidth(0.0);
    });
    if (moves) of.lost[d].of_copy_blocks += FineTime(lost);
  }
}

Contention ContendedCompute::taken(const OfClass& of) {
  Contention all;
  for (const Held& held : of.held) {
    all.sms += held.sms();
    all.memory = all.memory + held.memory();
    all.copies = all.copies + held.copies();
  }
  return all;
}

void ContendedCompute::share_out(ClassId rank_class) {
  if (const SharedGpu* const gpu = shared_.of(rank_class); gpu != nullptr) return share_out(*gpu);
  set_rates(rank_class, taken(classes_[rank_class.index()]), 1.0);
  pace_copy_blocks(rank_class);
}

// New rates for the class's current computing. Computing that ends at this instant keeps its end: it must not matter
// whether the end or another change of the same instant comes first.
void ContendedCompute::set_rates(ClassId rank_class, const Contention& contention, double time) {
  OfClass& of = classes_[rank_class.index()];
  of.kernels = time;
  for (Running& running : of.running) {
    running.rate = rate_of(running.job.work, contention).for_part(time);
    const bool scheduled = running.end.order != 0;
    if (scheduled && running.ends_at == inputs_.engine.now()) continue;
    if (scheduled) inputs_.engine.cancel(running.end);
    running.end = {};
    if (running.rate.all <= 0.0) continue;
    const Duration left(std::llround(running.left / running.rate.all));
    const std::uint32_t task = running.job.task;
    running.ends_at = inputs_.engine.now() + left;
    running.end = inputs_.engine.after(left, [this, rank_class, task] { end(rank_class, task); });
  }
}

void ContendedCompute::pace_copy_blocks(ClassId rank_class) {
  double speed = 1.0;
  for (const Running& running : classes_[rank_class.index()].running) {
    speed = std::min(speed, running.rate.copy_blocks);
  }
  set_copy_blocks(rank_class, speed);
}

void ContendedCompute::set_copy_blocks(ClassId rank_class, double speed) {
  classes_[rank_class.index()].copy_blocks = speed;
  inputs_.clocks.set_speed(rank_class, speed);
}

ContendedCompute::Rate ContendedCompute::rate_of(std::uint32_t work, const Contention& contention) {
  if (contention == Contention{}) return {};
  const auto [entry, is_new] = rates_.try_emplace({work, contention});
  if (!is_new) return entry->second;
  const Work& asked_work = inputs_.graph.works[work];
  const auto alone = static_cast<double>(duration(inputs_.compute, asked_work).count());
  if (alone <= 0.0) return entry->second;
  const auto share = [&](const Contention& c) {
    return std::min(1.0, alone / static_cast<double>(duration_under(inputs_.compute, asked_work, c).count()));
  };
  const double all = share(contention);
  const double asked = contention.memory.count();
  const double copy_blocks = asked > 0.0 ? memory_under(inputs_.compute, asked_work, contention).count() / asked : 1.0;
  entry->second = {
      .all = all,
      .sms_only = std::max(all, share(without_memory(contention))),
      .copy_blocks = std::min(copy_blocks, 1.0)};
  return entry->second;
}

void ContendedCompute::end(ClassId rank_class, std::uint32_t task) {
  OfClass& of = classes_[rank_class.index()];
  count_up(rank_class);
  const auto erased = std::erase_if(of.running, [task](const Running& running) { return running.job.task == task; });
  CHECK(erased == 1, "a compute task ends once");
  if (const SharedGpu* const gpu = shared_.of(rank_class); gpu != nullptr) {
    share_out(*gpu);
  } else {
    pace_copy_blocks(rank_class);
  }
  inputs_.listener.on_computed(rank_class, task);
}

void ContendedCompute::restart(ClassId rank_class) {
  OfClass& of = classes_[rank_class.index()];
  count_up(rank_class);
  std::ranges::fill(of.lost, Loss{});
}

std::vector<std::vector<Interference>> ContendedCompute::lost() const {
  std::vector<std::vector<Interference>> result;
  for (const OfClass& of : classes_) {
    std::vector<Interference>& row = result.emplace_back();
    for (const Loss& loss : of.lost) {
      row.push_back(
          {.computing_to_sms = Duration(std::llround(loss.to_sms.picoseconds())),
                     .computing_to_memory = Duration(std::llround(loss.to_memory.picoseconds())),
                     .communication = Duration(std::llround(loss.of_copy_blocks.picoseconds()))});
    }
  }
  return result;
}

}  // namespace ringwright
