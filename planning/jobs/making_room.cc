#include "planning/jobs/making_room.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::planning {
namespace {

void take_back(GpuPool& pool, const Grant& grant) {
  const auto same = pool.take_again(grant);
  CHECK(same && same->shared_gpu == grant.shared_gpu, "what was given back is free");
}

// Whether there are as many GPUs, wherever they are: most wishes that find no place fail here.
bool may_suffice(const GpuPool& pool, const GpuPool::Wish& wish, std::span<const Grant* const> later) {
  int gpus = pool.free();
  for (auto grant = later.rbegin(); grant != later.rend() && gpus < wish.gpus; ++grant) gpus += (*grant)->gpus();
  return gpus >= wish.gpus;
}

}  // namespace

std::vector<std::size_t> jobs_that_make_room(GpuPool& pool, const GpuPool::Wish& wish,
                                             std::span<const Grant* const> later) {
  if (!may_suffice(pool, wish, later)) return {};
  std::size_t first = later.size();  // all from this one on have given back
  bool has_place = pool.has(wish);
  while (!has_place && first > 0) {
    pool.give_back(*later[--first]);
    has_place = pool.has(wish);
  }
  std::vector<std::size_t> stopped;
  for (std::size_t job = first; job < later.size(); ++job) {
    take_back(pool, *later[job]);
    if (!has_place || pool.has(wish)) continue;
    pool.give_back(*later[job]);
    stopped.push_back(job);
  }
  for (const std::size_t job : stopped) take_back(pool, *later[job]);
  return stopped;
}

}  // namespace ringwright::planning
