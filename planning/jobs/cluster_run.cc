#include "planning/jobs/cluster_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "planning/jobs/gpu_company.h"
#include "planning/jobs/running_jobs.h"

namespace ringwright::planning {
namespace {

constexpr double kNoMoreEvents = std::numeric_limits<double>::infinity();

class ClusterPlayer {
 public:
  explicit ClusterPlayer(const ClusterInputs& inputs) : inputs_(inputs), jobs_(inputs) {}

  ClusterRun run() {
    ClusterRun result;
    result.first_submit = first_submit_;
    for (double now = next(0.0); now < kNoMoreEvents; now = next(now)) {
      account(now);
      const std::size_t ended = jobs_.end_until(now);
      arrive(now);
      changed_ = changed_ || ended > 0;
      fail_and_repair(now);
      result.last_end = now;
      if (all_ended()) break;  // a round that follows decides nothing
      if (acts_at(now)) {
        decide(now);
        ++jobs_.totals().events;
      }
    }
    result.totals = jobs_.totals();
    result.use = use_;
    result.jobs = jobs_.take_results();
    return result;
  }

 private:
  // The key of a waiting job does not change. Opportunistic jobs come after all guaranteed ones.
  using Waiting = std::tuple<bool, double, double, std::size_t>;

  [[nodiscard]] Waiting entry(std::size_t job) const {
    return {is_opportunistic(job), inputs_.policy.key(jobs_.view(job)), inputs_.jobs[job].submit, job};
  }
  [[nodiscard]] static std::size_t job_of(const Waiting& one) { return std::get<3>(one); }
  [[nodiscard]] bool is_opportunistic(std::size_t job) const {
    return has_classes(inputs_.sharing) && inputs_.jobs[job].opportunistic;
  }
  // A guaranteed job stops opportunistic ones whatever the policy.
  [[nodiscard]] bool may_stop_others(std::size_t job) const {
    return inputs_.policy.preempts() || (has_classes(inputs_.sharing) && !is_opportunistic(job));
  }
  [[nodiscard]] bool all_ended() const {
    return arrived_ == inputs_.jobs.size() && waiting_.empty() && jobs_.running().empty();
  }
  [[nodiscard]] bool relaxes() const { return inputs_.settings.relax_after >= 0.0; }
  [[nodiscard]] double relaxed_at(std::size_t job) const {
    return jobs_.state(job).waits_since + inputs_.settings.relax_after;
  }

  double next(double now) {
    double at = arrived_ < inputs_.jobs.size() ? inputs_.jobs[arrived_].submit : kNoMoreEvents;
    if (const auto end = jobs_.next_end()) at = std::min(at, *end);
    if (inputs_.policy.in_rounds() && (changed_ || (!waiting_.empty() && !jobs_.running().empty()))) {
      at = std::min(at, next_round(now));
    }
    while (!relaxations_.empty() && relaxations_.begin()->first <= now) relaxations_.erase(relaxations_.begin());
    if (!relaxations_.empty()) at = std::min(at, relaxations_.begin()->first);
    return std::min(at, failures_.next());
  }
  // The quotient is rounded: 3 rounds of 3.3 s may seem to be less than 3.
  [[nodiscard]] double next_round(double now) const {
    const double round = inputs_.settings.round;
    double tick = std::floor(now / round) + 1.0;
    if (tick * round <= now) tick += 1.0;
    return tick * round;
  }

  // Of the time since the last event, in which nothing changed.
  void account(double now) {
    const double time = now - last_;
    const GpuPool& pool = jobs_.pool();
    ClusterTotals& totals = jobs_.totals();
    const int in_use = inputs_.shape.gpus() - pool.free() - jobs_.gpus_down();
    totals.down += time * jobs_.gpus_down();
    const double shared = static_cast<double>(pool.shared_parts()) / kWholeGpu;
    // Jobs that disturb each other have a GPU together; parts that do not are parts of it.
    const bool together = inputs_.sharing != SharingKind::kParts;
    const double busy = together ? in_use : in_use - pool.shared_gpus() + shared;
    totals.allocated += time * busy;
    if (now > first_submit_)
      use_.add({.from = last_ - first_submit_,
                .to = now - first_submit_,
                .gpus = busy,
                .waiting = static_cast<double>(waiting_.size())});
    totals.fragmented += time * pool.fragmented();
    if (is_blocked()) totals.blocked += time;
    totals.peak_gpus = std::max(totals.peak_gpus, in_use);
    last_ = now;
  }
  [[nodiscard]] bool is_blocked() const {
    return !waiting_.empty() && inputs_.jobs[job_of(*waiting_.begin())].gpus <= jobs_.pool().free();
  }

  void arrive(double now) {
    for (; arrived_ < inputs_.jobs.size() && inputs_.jobs[arrived_].submit <= now; ++arrived_) {
      waiting_.insert(entry(arrived_));
      if (relaxes()) relaxations_.insert({relaxed_at(arrived_), arrived_});
      changed_ = true;
    }
  }

  void fail_and_repair(double now) {
    for (; failures_.next() <= now; changed_ = true) {
      const HostFailures::Event event = failures_.take();
      if (event.fails) {
        for (const std::size_t job : jobs_.fail_host(event.host, now)) wait_again(job);
      } else {
        jobs_.repair_host(event.host);
      }
    }
  }

  [[nodiscard]] bool acts_at(double now) {
    if (!inputs_.policy.in_rounds()) return true;
    const double round = inputs_.settings.round;
    if (now < round * std::round(now / round) || now > round * std::round(now / round)) return false;
    return changed_ || !waiting_.empty();
  }

  void decide(double now) {
    changed_ = false;
    for (const std::size_t job : jobs_.running()) jobs_.advance(job, now);
    if (inputs_.policy.resizes()) {
      resize(now);
    } else {
      start_waiting(now);
    }
    if (inputs_.settings.migrate) {
      const std::vector<std::size_t> running = jobs_.running();
      for (const std::size_t job : running) static_cast<void>(jobs_.migrate(job, now));
    }
  }

  // A size that finds no place, and larger ones, are not tried again at this moment; so are parts of a GPU. A job of
  // more hosts than a unit has takes them from any units, so that it may find a place where a smaller one, which needs
  // one unit, does not. Later jobs have fewer jobs after them that they might stop.
  struct Limits {
    int strict = std::numeric_limits<int>::max();
    int wide = strict;
    int relaxed = strict;
    std::array<int, 2> share{strict, strict};  // of guaranteed jobs, and opportunistic ones
  };
  [[nodiscard]] int& limit_of(const ClusterJob& own, Search search, Limits& limits) const {
    if (own.share < kWholeGpu) return limits.share[own.opportunistic ? 1 : 0];
    if (search == Search::kRelaxed) return limits.relaxed;
    return inputs_.speed.best_locality(own.gpus) == Locality::kFabric ? limits.wide : limits.strict;
  }
  // No job finds a place any more.
  [[nodiscard]] bool is_full(const Limits& limits) const {
    return jobs_.pool().free() == 0 && std::min({limits.strict, limits.wide, limits.relaxed}) <= 1 && !has_parts_;
  }

  void start_waiting(double now) {
    Limits limits;
    if (!waiting_.empty()) find_stoppable();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const std::size_t job = job_of(*at);
      const ClusterJob& own = inputs_.jobs[job];
      const Search search = relaxes() && now >= relaxed_at(job) ? Search::kRelaxed : Search::kStrict;
      int& limit = limit_of(own, search, limits);
      const int size = own.share < kWholeGpu ? own.share : own.gpus;
      if ((size < limit || jobs_.just_stopped(job, now)) && start_or_make_room(*at, own.gpus, search, now)) {
        at = waiting_.erase(at);
        continue;
      }
      limit = std::min(limit, size);
      if (!inputs_.settings.backfill || is_full(limits)) return;
      ++at;
    }
  }

  // Running jobs that some waiting one may stop, in the order of the policy.
  void find_stoppable() {
    stoppable_.clear();
    for (const std::size_t job : jobs_.running()) {
      if (inputs_.policy.preempts() || is_opportunistic(job)) stoppable_.push_back(entry(job));
    }
    std::ranges::sort(stoppable_);
  }
  // Jobs that come after a waiting one stop if it finds no place otherwise.
  bool start_or_make_room(const Waiting& one, int gpus, Search search, double now) {
    const std::size_t job = job_of(one);
    if (jobs_.start(job, gpus, search, now)) return true;
    if (!may_stop_others(job)) return false;
    std::vector<std::size_t> later;
    for (auto at = std::ranges::upper_bound(stoppable_, one); at != stoppable_.end(); ++at) {
      later.push_back(job_of(*at));
    }
    const std::vector<std::size_t> stopped = jobs_.in_the_way(job, gpus, search, later);
    if (stopped.empty()) return false;
    for (const std::size_t other : stopped) stop(other, now);
    std::erase_if(stoppable_, [&](const Waiting& running) { return !jobs_.state(job_of(running)).grant; });
    return jobs_.start(job, gpus, search, now);
  }

  // Jobs that wait, which are in order, and jobs that run.
  [[nodiscard]] std::vector<Waiting> all_in_order() const {
    std::vector<Waiting> order(waiting_.begin(), waiting_.end());
    const auto waiting = static_cast<std::ptrdiff_t>(order.size());
    for (const std::size_t job : jobs_.running()) order.push_back(entry(job));
    std::ranges::sort(order.begin() + waiting, order.end());
    std::ranges::inplace_merge(order, order.begin() + waiting);
    return order;
  }

  void stop(std::size_t job, double now) {
    jobs_.stop(job, now);
    wait_again(job);
  }
  void wait_again(std::size_t job) {
    waiting_.insert(entry(job));
    if (relaxes()) relaxations_.insert({relaxed_at(job), job});
  }

  [[nodiscard]] std::vector<int> sizes_of(const std::vector<ClusterJobView>& views) const {
    const int gpus = inputs_.shape.gpus() - jobs_.gpus_down();
    if (!has_parts_) return inputs_.policy.sizes(views, gpus, inputs_.speed);
    const GpuCompany company = company_of(views, inputs_.sharing);
    const std::vector<int> of_first = inputs_.policy.sizes(company.first, gpus, inputs_.speed);
    std::vector<int> sizes;
    for (const std::size_t first : company.of_job) sizes.push_back(of_first[first]);
    return sizes;
  }

  void resize(double now) {
    std::vector<Waiting> order = all_in_order();
    std::vector<ClusterJobView> views;
    for (const Waiting& one : order) views.push_back(jobs_.view(job_of(one)));
    const std::vector<int> sizes = sizes_of(views);
    // First what jobs give back, then what they get. Jobs on a GPU of several stay together or stop.
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool shares = views[i].job->share < kWholeGpu;
      if (views[i].gpus == 0 || views[i].gpus == sizes[i] || (shares && sizes[i] > 0)) continue;
      const std::size_t job = job_of(order[i]);
      jobs_.stop(job, now);
      order[i] = entry(job);
      waiting_.insert(order[i]);
    }
    find_stoppable();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t job = job_of(order[i]);
      if (sizes[i] == 0 || jobs_.state(job).grant) continue;
      const int gpus = placeable(*views[i].job, sizes[i]);
      if (!start_or_make_room(order[i], gpus, Search::kRelaxed, now)) continue;
      waiting_.erase(order[i]);
      if (views[i].gpus > 0 && views[i].gpus != gpus) ++jobs_.totals().resizes;
    }
  }
  // Parts of GPUs lie on more GPUs than the policy counts, where jobs that share have ended since: what is left goes to
  // the jobs that come first. Where it is less than the least of one, parts of later jobs make room for that.
  [[nodiscard]] int placeable(const ClusterJob& job, int gpus) const {
    return job.share < kWholeGpu ? gpus : std::max(std::min(gpus, jobs_.pool().free()), job.least);
  }

  const ClusterInputs& inputs_;
  RunningJobs jobs_;
  std::set<Waiting> waiting_;
  std::vector<Waiting> stoppable_;
  std::set<std::pair<double, std::size_t>> relaxations_;
  std::size_t arrived_ = 0;
  double first_submit_ = inputs_.jobs.empty() ? 0.0 : inputs_.jobs.front().submit;
  double last_ = first_submit_;
  HostFailures failures_{inputs_.failures, inputs_.shape.hosts, first_submit_};
  UseOverTime use_;
  bool changed_ = false;
  bool has_parts_ = std::ranges::any_of(inputs_.jobs, [](const ClusterJob& job) { return job.share < kWholeGpu; });
};

}  // namespace

ClusterRun run_cluster(const ClusterInputs& inputs) {
  return ClusterPlayer(inputs).run();
}

}  // namespace ringwright::planning
