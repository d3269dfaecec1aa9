// The state of computing under contention as one hash, and its losses as sums that repeat.
#include <algorithm>
#include <bit>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/run/contention/contended_compute.h"

namespace ringwright {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits(Duration time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

// Rates follow from the works and the claims, except where computing ends at this instant and keeps its end.
std::uint64_t ContendedCompute::digest(ClassId rank_class, const Scope& scope) const {
  const OfClass& of = classes_[rank_class.index()];
  const TimePoint now = inputs_.engine.now();
  std::uint64_t hash = mix(bits(now - of.since), bits(of.copy_blocks));
  for (const Running& running : of.running) {
    const std::uint64_t ends = running.end.order != 0 ? bits(running.ends_at - now) : ~std::uint64_t{0};
    hash = mix(mix(hash, running.job.task - scope.reference), mix(bits(running.left), ends));
    hash = mix(mix(hash, bits(running.rate.all)), mix(bits(running.rate.sms_only), bits(running.rate.copy_blocks)));
  }
  for (const Held& held : of.held) {
    hash = mix(hash, std::uint64_t{held.claim.task - scope.reference} * 2 + (held.moves ? 1 : 0));
  }
  for (std::size_t d = 0; d < of.in_flight.size(); ++d) {
    hash = mix(hash, static_cast<std::uint64_t>(of.in_flight[d]));
    for (const auto& [number, claim] : of.awaited[d]) {
      if (claim.task > scope.farthest) continue;
      // Its place among the active claims, should it become one.
      const auto place = std::ranges::lower_bound(of.held, number, {}, &Held::number) - of.held.begin();
      hash = mix(hash, mix(claim.task - scope.reference, static_cast<std::uint64_t>(place)));
    }
  }
  return hash;
}

ContendedCompute::Losses ContendedCompute::losses() const {
  Losses result;
  for (const OfClass& of : classes_) result.push_back(of.lost);
  return result;
}

void ContendedCompute::repeat(const Losses& from, const Losses& to, std::int64_t times) {
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (std::size_t d = 0; d < to[c].size(); ++d) {
      Loss& lost = classes_[c].lost[d];
      lost.to_sms += (to[c][d].to_sms - from[c][d].to_sms) * times;
      lost.to_memory += (to[c][d].to_memory - from[c][d].to_memory) * times;
      lost.of_copy_blocks += (to[c][d].of_copy_blocks - from[c][d].of_copy_blocks) * times;
    }
  }
}

bool ContendedCompute::holds_from(ClassId rank_class, std::uint32_t task) const {
  return std::ranges::any_of(classes_[rank_class.index()].held,
                             [task](const Held& held) { return held.claim.task >= task; });
}

// The new ones come after the last receive in front of them.
void ContendedCompute::insert_tasks(ClassId rank_class, std::uint32_t before, std::uint32_t tasks,
                                    const std::vector<Claim>& receives) {
  OfClass& of = classes_[rank_class.index()];
  std::uint64_t last = 0;
  for (auto& awaited : of.awaited) {
    for (auto& [number, claim] : awaited) {
      if (claim.task < before) {
        last = std::max(last, number);
        continue;
      }
      claim.task += tasks;
    }
  }
  of.awaited_task.clear();
  for (std::size_t d = 0; d < of.awaited.size(); ++d) {
    for (const auto& [number, claim] : of.awaited[d]) {
      of.awaited_task.emplace(claim.task, Awaited{.dimension = d, .number = number});
    }
  }
  for (const Claim& receive : receives) {
    await(of, {.claim = receive, .number = ++last});
    CHECK(last < of.next_number, "there is room between claims");
  }
}

}  // namespace ringwright
