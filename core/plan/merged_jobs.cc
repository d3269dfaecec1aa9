#include "core/plan/merged_jobs.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ringwright {
namespace {

bool is_same_dimension(const Dimension& a, const Dimension& b) {
  return a.name == b.name && a.joins_stages == b.joins_stages && a.servers == b.servers;
}

// Those of all jobs, from the inside out: one that the jobs before do not have follows the one that it follows in its
// own job.
std::vector<Dimension> dimensions_of(std::span<const PlacedJob> jobs) {
  std::vector<Dimension> all;
  for (const PlacedJob& job : jobs) {
    std::size_t next = 0;
    for (const Dimension& dimension : job.graph.dimensions) {
      const auto known = std::ranges::find_if(all, [&](const Dimension& d) { return is_same_dimension(d, dimension); });
      if (known != all.end()) {
        next = static_cast<std::size_t>(known - all.begin()) + 1;
        continue;
      }
      Dimension fresh;
      fresh.name = dimension.name;
      fresh.joins_stages = dimension.joins_stages;
      fresh.servers = dimension.servers;
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(next), std::move(fresh));
      ++next;
    }
  }
  return all;
}

// Adds one job's tables to those of all.
class JobMerger {
 public:
  JobMerger(TaskGraph& all, const PlacedJob& job, const std::vector<RankId>& ranks, std::uint32_t number)
      : all_(all), job_(job), ranks_(ranks), number_(number) {
    for (const Dimension& dimension : job.graph.dimensions) {
      const auto found =
          std::ranges::find_if(all.dimensions, [&](const Dimension& d) { return is_same_dimension(d, dimension); });
      dimension_.emplace_back(static_cast<std::size_t>(found - all.dimensions.begin()));
    }
  }

  void add() {
    add_groups();
    if (!job_.runs) return;
    works_ = append(all_.works, job_.graph.works);
    collectives_ = append(all_.collectives, job_.graph.collectives);
    messages_ = append(all_.messages, job_.graph.messages);
    labels_ = append(all_.labels, job_.graph.labels);
    segments_ = static_cast<std::uint32_t>(all_.segments.size());
    for (const Segment& segment : job_.graph.segments) {
      all_.segments.push_back(segment);
      for (Task& task : all_.segments.back().tasks) renumber(task);
    }
    const std::size_t first = all_.programs.size();
    for (const Program& program : job_.graph.programs) {
      Program& own = all_.programs.emplace_back(program);
      own.name = job_.spec.name + ": " + program.name;
      own.job = number_;
      for (Task& task : own.tasks) renumber(task);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      all_.program_of[ranks_[rank].index()] = ProgramId(first + job_.graph.program_of[rank].index());
    }
  }

 private:
  template <class Row>
  static std::uint32_t append(std::vector<Row>& to, const std::vector<Row>& rows) {
    const auto first = static_cast<std::uint32_t>(to.size());
    to.insert(to.end(), rows.begin(), rows.end());
    return first;
  }

  void add_groups() {
    for (std::size_t d = 0; d < dimension_.size(); ++d) {
      for (const std::vector<RankId>& group : job_.graph.dimensions[d].groups) {
        std::vector<RankId>& placed = all_.dimensions[dimension_[d].index()].groups.emplace_back();
        for (const RankId rank : group) placed.push_back(ranks_[rank.index()]);
      }
    }
  }

  void renumber(Task& task) const {
    if (task.label != kCallersLabel) task.label += labels_;
    if (task.kind != TaskKind::kCompute && task.kind != TaskKind::kSegment) {
      task.dimension = dimension_[task.dimension.index()];
    }
    switch (task.kind) {
      case TaskKind::kCompute: task.detail += works_; return;
      case TaskKind::kCollective: task.detail += collectives_; return;
      case TaskKind::kSend:
      case TaskKind::kReceive: task.detail += messages_; return;
      case TaskKind::kSegment: task.detail += segments_; return;
    }
  }

  TaskGraph& all_;
  const PlacedJob& job_;
  const std::vector<RankId>& ranks_;  // by rank of the job
  std::uint32_t number_;
  std::vector<DimensionId> dimension_;  // by dimension of the job
  std::uint32_t works_ = 0;
  std::uint32_t collectives_ = 0;
  std::uint32_t messages_ = 0;
  std::uint32_t labels_ = 0;
  std::uint32_t segments_ = 0;
};

// Every rank is in one group of each dimension: those that a job leaves out are alone in theirs.
void complete_groups(Dimension& dimension, std::size_t ranks) {
  std::vector<bool> member(ranks, false);
  for (const std::vector<RankId>& group : dimension.groups) {
    for (const RankId rank : group) member[rank.index()] = true;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!member[rank]) dimension.groups.push_back({RankId(rank)});
  }
  index_groups(dimension, ranks);
}

// By job, by its rank: its rank among all. Fills gpu_of_rank where GPUs are shared.
std::vector<std::vector<RankId>> number_ranks(std::span<const PlacedJob> jobs, std::size_t gpus, GpuSharing& sharing) {
  std::vector<bool> taken(gpus, false);
  std::vector<RankId> gpu_of_rank;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) gpu_of_rank.emplace_back(gpu);
  std::vector<std::vector<RankId>> ranks;
  for (const PlacedJob& job : jobs) {
    std::vector<RankId>& of_job = ranks.emplace_back();
    for (const RankId gpu : job.gpus) {
      const bool first = !taken[gpu.index()];
      taken[gpu.index()] = true;
      of_job.push_back(first ? gpu : RankId(gpu_of_rank.size()));
      if (!first) gpu_of_rank.push_back(gpu);
    }
  }
  if (gpu_of_rank.size() > gpus) sharing.gpu_of_rank = std::move(gpu_of_rank);
  return ranks;
}

}  // namespace

TaskGraph merge_jobs(std::span<const PlacedJob> jobs, std::size_t gpus) {
  TaskGraph all;
  const std::vector<std::vector<RankId>> ranks = number_ranks(jobs, gpus, all.sharing);
  const std::size_t count = std::max(gpus, all.sharing.gpu_of_rank.size());
  all.dimensions = dimensions_of(jobs);
  all.programs.push_back({.name = "idle", .tasks = {}, .dependencies = {}});
  all.programs.front().job = kNoJob;
  all.program_of.assign(count, ProgramId(std::size_t{0}));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    all.jobs.push_back(jobs[j].spec);
    JobMerger(all, jobs[j], ranks[j], static_cast<std::uint32_t>(j)).add();
  }
  for (Dimension& dimension : all.dimensions) complete_groups(dimension, count);
  return all;
}

}  // namespace ringwright
