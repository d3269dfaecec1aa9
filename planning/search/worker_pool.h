// Evaluates many layouts on all threads, each with an evaluator of its own, which it retains for the next ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "planning/search/evaluator.h"

namespace ringwright::planning {

class WorkerPool {
 public:
  WorkerPool(const configs::Scenario& base, const SearchSpace& space, Bytes capacity, const SearchOptions& options,
             configs::KnownOverheads& overheads)
      : base_(base), space_(space), capacity_(capacity), options_(options), overheads_(overheads) {}

  // Items 0 to `count`, of which `done` of `all` were done before, as the progress has them.
  struct Progress {
    std::size_t done = 0;
    std::size_t all = 0;
  };
  template <class Work>
  void each(std::size_t count, Progress progress, const Work& work) {
    const int usual = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int asked = options_.threads > 0 ? options_.threads : usual;
    [[maybe_unused]] const int threads =
        static_cast<int>(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(asked)));
    // Its first item may take long.
    if (options_.progress && count > 0) options_.progress(progress.done, progress.all);
#pragma omp parallel if (count > 1) num_threads(threads)
    {
      std::unique_ptr<Evaluator> evaluator;
#pragma omp critical(search_evaluators)
      if (!idle_.empty()) {
        evaluator = std::move(idle_.back());
        idle_.pop_back();
      }
      if (evaluator == nullptr) evaluator = std::make_unique<Evaluator>(base_, space_, capacity_, overheads_);
#pragma omp for schedule(dynamic)
      for (std::size_t item = 0; item < count; ++item) {
        work(*evaluator, item);
#pragma omp critical(search_progress)
        if (options_.progress) options_.progress(++progress.done, progress.all);
      }
#pragma omp critical(search_evaluators)
      idle_.push_back(std::move(evaluator));
    }
  }

 private:
  const configs::Scenario& base_;
  const SearchSpace& space_;
  Bytes capacity_;
  const SearchOptions& options_;
  configs::KnownOverheads& overheads_;
  std::vector<std::unique_ptr<Evaluator>> idle_;
};

}  // namespace ringwright::planning
