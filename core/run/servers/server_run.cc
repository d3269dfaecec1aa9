#include "core/run/servers/server_run.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/run/servers/server_queue.h"

namespace ringwright {
namespace {

constexpr std::uint32_t kPushLabel = 0;
constexpr std::uint32_t kPullLabel = 1;

// What a message is about.
struct Part {
  std::uint32_t worker = 0;
  std::uint32_t server = 0;
  std::uint32_t bucket = 0;
};

class ServerRun final : public TransferListener, public ServedListener {
 public:
  ServerRun(Engine& engine, NetworkModel& network, const ServerPlan& plan)
      : engine_(engine),
        network_(network),
        plan_(plan),
        workers_(plan.workers.size()),
        window_({.warmup = plan.warmup, .first = plan.steps}, plan.until) {
    for (std::size_t s = 0; s < plan.servers.size(); ++s) {
      servers_.emplace_back(engine, *this, static_cast<std::uint32_t>(s), plan.threads);
    }
    result_.workers.resize(workers_.size());
    connections_.resize(2 * workers_.size() * plan.servers.size());
    served_.assign(plan.servers.size() * plan.buckets.size(), {});
  }

  ServerRunResult run() {
    if (plan_.staleness) let_faster_ones_lead();
    for (std::uint32_t w = 0; w < workers_.size(); ++w) begin_step(w);
    const RunEnd end = engine_.run();
    result_.finished = done_ && end != RunEnd::kClockRanOut;
    result_.counted = engine_.now() - counted_from_;
    for (const ServerQueue& server : servers_) result_.servers.push_back(server.figures(counted_from_));
    result_.usage = network_.usage();
    result_.events = engine_.events_run();
    return std::move(result_);
  }

  void on_arrived(std::uint64_t token) override {
    const bool push = token < parts();
    const Part part = part_of(push ? token : token - parts());
    const std::size_t pieces = plan_.workers[part.worker].size();
    Connection& connection = connection_of(part, push);
    if (++connection.arrived < pieces) return;
    connection.arrived = 0;
    connection.buckets.erase(connection.buckets.begin());
    if (!connection.buckets.empty()) {
      start_message({.worker = part.worker, .server = part.server, .bucket = connection.buckets.front()}, push);
    }
    push ? servers_[part.server].take({.worker = part.worker, .bucket = part.bucket}, service_time(part.bucket))
         : pulled(part.worker);
  }

  // A push was applied.
  void on_served(std::uint32_t server, const ServerQueue::Request& request) override {
    note_staleness(server, request);
    if (!plan_.synchronous) return reply(server, request.worker, request.bucket);
    std::vector<std::uint32_t>& served = served_[server * plan_.buckets.size() + request.bucket];
    served.push_back(request.worker);
    if (served.size() < workers_.size()) return;
    for (const std::uint32_t worker : std::exchange(served, {})) reply(server, worker, request.bucket);
  }

 private:
  // A worker that gains a step in a hundred would take hundreds of steps until the bound holds it back.
  void let_faster_ones_lead() {
    if (plan_.slowdown.size() < workers_.size()) return;
    const auto of_workers = std::span(plan_.slowdown).first(workers_.size());
    const double slowest = *std::ranges::max_element(of_workers);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (of_workers[w] >= slowest) continue;
      workers_[w].steps = static_cast<std::uint64_t>(*plan_.staleness);
      workers_[w].replies = workers_[w].steps * plan_.buckets.size() * plan_.servers.size();
    }
  }

  struct Worker {
    std::uint64_t steps = 0;    // ended
    std::uint64_t replies = 0;  // of servers, for buckets of all steps
    bool computed = false;
    bool blocked = false;  // by the bound on staleness
    TimePoint since;       // it is blocked, or has computed
    std::uint64_t pulled_version = 0;
  };

  // Of a worker and a server in one direction: its buckets follow each other.
  struct Connection {
    std::vector<std::uint32_t> buckets;  // to send, the first in flight
    std::size_t arrived = 0;             // pieces of the first
  };

  [[nodiscard]] std::size_t parts() const { return plan_.workers.size() * plan_.servers.size() * plan_.buckets.size(); }
  [[nodiscard]] std::uint64_t number_of(const Part& part) const {
    return (part.worker * plan_.servers.size() + part.server) * plan_.buckets.size() + part.bucket;
  }
  [[nodiscard]] Part part_of(std::uint64_t number) const {
    const std::uint64_t buckets = plan_.buckets.size(), servers = plan_.servers.size();
    return {.worker = static_cast<std::uint32_t>(number / buckets / servers),
            .server = static_cast<std::uint32_t>(number / buckets % servers),
            .bucket = static_cast<std::uint32_t>(number % buckets)};
  }
  [[nodiscard]] Bytes share(std::uint32_t bucket) const {
    return Bytes(plan_.buckets[bucket].bytes.count() / static_cast<std::int64_t>(plan_.servers.size()));
  }
  [[nodiscard]] Duration service_time(std::uint32_t bucket) const {
    const Duration moved =
        plan_.rpc_thread_rate > Bandwidth() ? transfer_time(share(bucket) * 2, plan_.rpc_thread_rate) : Duration(0);
    return plan_.request + moved + transfer_time(share(bucket), plan_.update_rate);
  }

  void begin_step(std::uint32_t w) {
    workers_[w].computed = false;
    const double slow = plan_.slowdown.empty() ? 1.0 : plan_.slowdown[w];
    for (std::uint32_t b = 0; b < plan_.buckets.size(); ++b) {
      engine_.after(scale(plan_.buckets[b].ready, slow), [this, w, b] { push(w, b); });
    }
    engine_.after(scale(plan_.step, slow), [this, w] { computed(w); });
  }

  void push(std::uint32_t w, std::uint32_t b) {
    for (std::uint32_t s = 0; s < plan_.servers.size(); ++s) {
      exchange({.worker = w, .server = s, .bucket = b}, true);
    }
  }
  void reply(std::uint32_t s, std::uint32_t w, std::uint32_t b) {
    if (s == 0 && b + 1 == plan_.buckets.size()) workers_[w].pulled_version = version_;
    exchange({.worker = w, .server = s, .bucket = b}, false);
  }

  // After half of the time that calls take besides wires.
  void exchange(const Part& part, bool push) {
    const bool is_local = plan_.workers[part.worker].front() == plan_.servers[part.server].front();
    if (plan_.rpc_latency > Duration(0) && !is_local) {
      engine_.after(Duration(plan_.rpc_latency.count() / 2), [this, part, push] { send(part, push); });
    } else {
      send(part, push);
    }
  }
  [[nodiscard]] Connection& connection_of(const Part& part, bool push) {
    const std::size_t at = part.worker * plan_.servers.size() + part.server;
    return connections_[push ? at : at + workers_.size() * plan_.servers.size()];
  }
  void send(const Part& part, bool push) {
    std::vector<std::uint32_t>& buckets = connection_of(part, push).buckets;
    buckets.push_back(part.bucket);
    if (buckets.size() == 1) start_message(part, push);
  }

  // Every GPU of the worker with its own part.
  void start_message(const Part& part, bool push) {
    const std::vector<RankId>& workers = plan_.workers[part.worker];
    const std::vector<RankId>& servers = plan_.servers[part.server];
    const std::uint64_t token = number_of(part) + (push ? 0 : parts());
    for (std::size_t i = 0; i < workers.size(); ++i) {
      // A server on the worker's own host.
      if (workers[i] == servers[i]) {
        engine_.after(Duration(0), [this, token] { on_arrived(token); });
        continue;
      }
      network_.start({.from = push ? workers[i] : servers[i],
                      .to = push ? servers[i] : workers[i],
                      .size = Bytes(share(part.bucket).count() / static_cast<std::int64_t>(workers.size())),
                      .label = push ? kPushLabel : kPullLabel,
                      .token = token},
                     *this);
    }
  }

  void computed(std::uint32_t w) {
    workers_[w].computed = true;
    workers_[w].since = engine_.now();
    end_step_if_done(w);
  }
  void pulled(std::uint32_t w) {
    ++workers_[w].replies;
    end_step_if_done(w);
  }

  void end_step_if_done(std::uint32_t w) {
    Worker& worker = workers_[w];
    const std::uint64_t replies = plan_.buckets.size() * plan_.servers.size();  // of one step
    const std::uint64_t ahead = worker.replies + replies * static_cast<std::uint64_t>(plan_.outstanding);
    if (!worker.computed || worker.blocked || ahead < replies * (worker.steps + 1)) return;
    ++worker.steps;
    if (window_.counts()) {
      WorkerFigures& figures = result_.workers[w];
      if (figures.steps++ == 0) figures.first_end = engine_.now();
      figures.last_end = engine_.now();
      figures.exchanging += engine_.now() - std::max(worker.since, counted_from_);
    }
    worker.blocked = true;
    worker.since = engine_.now();
    note_progress();
    if (!done_) release();
  }

  [[nodiscard]] std::uint64_t slowest() const { return std::ranges::min_element(workers_, {}, &Worker::steps)->steps; }

  void note_progress() {
    if (!window_.is_over(slowest())) return;
    if (window_.counts() && window_.is_last(result_.steps_per_second(engine_.now() - counted_from_))) {
      done_ = true;
      engine_.stop_after_instant();
      return;
    }
    window_.begin_next();
    counted_from_ = engine_.now();
    result_.workers.assign(workers_.size(), {});
    result_.staleness.clear();
    for (ServerQueue& server : servers_) server.begin_counting();
  }

  // Those that may go on: nobody is held where there is no bound, and servers hold all where updates are synchronous.
  void release() {
    const std::uint64_t least = slowest();
    for (std::uint32_t w = 0; w < workers_.size(); ++w) {
      Worker& worker = workers_[w];
      if (!worker.blocked) continue;
      if (plan_.staleness && worker.steps > least + static_cast<std::uint64_t>(*plan_.staleness)) continue;
      worker.blocked = false;
      if (window_.counts()) result_.workers[w].waiting += engine_.now() - std::max(worker.since, counted_from_);
      begin_step(w);
    }
  }

  void note_staleness(std::uint32_t server, const ServerQueue::Request& request) {
    if (server != 0 || request.bucket + 1 != plan_.buckets.size()) return;
    const std::uint64_t behind = plan_.synchronous ? 0 : version_ - workers_[request.worker].pulled_version;
    ++version_;
    if (!window_.counts()) return;
    if (result_.staleness.size() <= behind) result_.staleness.resize(behind + 1);
    ++result_.staleness[behind];
  }

  Engine& engine_;
  NetworkModel& network_;
  const ServerPlan& plan_;
  std::vector<Worker> workers_;
  std::deque<ServerQueue> servers_;
  std::vector<Connection> connections_;             // by worker and server; pushes, then pulls
  std::vector<std::vector<std::uint32_t>> served_;  // synchronous, by server and bucket: workers whose push was added
  std::uint64_t version_ = 0;                       // updates so far
  SteadyWindow window_;
  TimePoint counted_from_;
  bool done_ = false;
  ServerRunResult result_;
};

}  // namespace

double WorkerFigures::steps_per_second(Duration counted) const {
  if (last_end > first_end) return static_cast<double>(steps - 1) / to_seconds(last_end - first_end);
  return counted > Duration(0) ? static_cast<double>(steps) / to_seconds(counted) : 0.0;
}

double ServerRunResult::steps_per_second(Duration time) const {
  double sum = 0.0;
  for (const WorkerFigures& worker : workers) sum += worker.steps_per_second(time);
  return sum;
}

double ServerRunResult::mean_staleness() const {
  double sum = 0.0, count = 0.0;
  for (std::size_t behind = 0; behind < staleness.size(); ++behind) {
    sum += static_cast<double>(behind) * static_cast<double>(staleness[behind]);
    count += static_cast<double>(staleness[behind]);
  }
  return count > 0.0 ? sum / count : 0.0;
}

ServerRunResult run_servers(Engine& engine, NetworkModel& network, const ServerPlan& plan) {
  CHECK(!plan.workers.empty() && !plan.servers.empty() && !plan.buckets.empty(), "there is something to exchange");
  return ServerRun(engine, network, plan).run();
}

}  // namespace ringwright
