// Computing and communication of several processes on one GPU: what each takes of it from the others.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/run/contention/contended_compute.h"

namespace ringwright {

std::vector<Tenant> ContendedCompute::tenants_now(const SharedGpu& gpu) const {
  const auto sms = static_cast<double>(std::max<std::int64_t>(inputs_.compute.sms(), 1));
  std::vector<Tenant> tenants;
  for (std::size_t t = 0; t < gpu.tenants.size(); ++t) {
    const OfClass& of = classes_[gpu.tenants[t].index()];
    tenants.push_back(
        {.limits = gpu.limits[t], .computes = !of.running.empty(), .sms_held = taken(of).sms / sms});
  }
  return tenants;
}

// What its kernels take from concurrent ones: their multiprocessors, and the memory bandwidth that they draw on these.
Contention ContendedCompute::taken_by_kernels(ClassId rank_class, const TenantShare& share) {
  const OfClass& of = classes_[rank_class.index()];
  Contention all;
  if (of.running.empty() || share.kernels <= 0.0) return all;
  all.sms = static_cast<int>(std::llround(share.sms * static_cast<double>(inputs_.compute.sms())));
  for (const Running& running : of.running) {
    const auto [entry, is_new] = drawn_.try_emplace({running.job.work, share.sms});
    if (is_new) {
      entry->second =
          memory_drawn(inputs_.compute, inputs_.graph.works[running.job.work], {.most_sms = share.sms});
    }
    all.memory = all.memory + entry->second;
  }
  return all;
}

Contention ContendedCompute::contention_of(const SharedGpu& gpu, std::size_t tenant,
                                           const std::vector<TenantShare>& shares) {
  Contention all = taken(classes_[gpu.tenants[tenant].index()]);
  all.most_sms = shares[tenant].sms;
  all.instance_sms = gpu.limits[tenant].instance_sms;
  all.instance_memory = gpu.limits[tenant].instance_memory;
  if (shares[tenant].meets == Meets::kNothing) return all;
  const auto add = [&all](const Contention& other) {
    all.sms += other.sms;
    all.memory = all.memory + other.memory;
    all.copies = all.copies + other.copies;
  };
  for (std::size_t t = 0; t < gpu.tenants.size(); ++t) {
    if (t == tenant || shares[t].meets == Meets::kNothing) continue;
    add(taken(classes_[gpu.tenants[t].index()]));
    const bool kernels = shares[tenant].meets == Meets::kEverything && shares[t].meets == Meets::kEverything;
    if (kernels) add(taken_by_kernels(gpu.tenants[t], shares[t]));
  }
  return all;
}

// Of the thread blocks of one process, running together with every kernel it overlaps.
double ContendedCompute::slowest_copies(const SharedGpu& gpu, const std::vector<TenantShare>& shares,
                                        std::size_t tenant) const {
  double speed = 1.0;
  for (std::size_t t = 0; t < gpu.tenants.size(); ++t) {
    const bool meets = shares[t].meets != Meets::kNothing && shares[tenant].meets != Meets::kNothing;
    if (t != tenant && !meets) continue;
    for (const Running& running : classes_[gpu.tenants[t].index()].running) {
      speed = std::min(speed, running.rate.copy_blocks);
    }
  }
  return speed * shares[tenant].copies;
}

void ContendedCompute::share_out(const SharedGpu& gpu) {
  std::vector<TenantShare> shares(gpu.tenants.size());
  gpu.rule->share(tenants_now(gpu), shares);
  for (std::size_t t = 0; t < shares.size(); ++t) {
    set_rates(gpu.tenants[t], contention_of(gpu, t, shares), shares[t].kernels);
  }
  for (std::size_t t = 0; t < shares.size(); ++t) set_copy_blocks(gpu.tenants[t], slowest_copies(gpu, shares, t));
}

// The rule of the GPU adapts as long as something computes there: a run in which nothing happens must be seen to stall.
void ContendedCompute::watch(ClassId rank_class) {
  SharedGpu* const gpu = shared_.of(rank_class);
  if (gpu == nullptr || gpu->is_watched || gpu->rule->period() <= Duration(0)) return;
  gpu->is_watched = true;
  inputs_.engine.after(gpu->rule->period(), [this, rank_class] { adapt(rank_class); });
}

void ContendedCompute::adapt(ClassId rank_class) {
  SharedGpu& gpu = *shared_.of(rank_class);
  gpu.is_watched = false;
  count_up(rank_class);
  std::vector<TenantHistory> histories;
  bool computes = false;
  for (const ClassId tenant : gpu.tenants) {
    OfClass& of = classes_[tenant.index()];
    histories.push_back(std::exchange(of.history, {}));
    computes |= !of.running.empty();
  }
  gpu.rule->adapt(tenants_now(gpu), histories);
  share_out(gpu);
  if (computes) watch(rank_class);
}

}  // namespace ringwright
