#include "planning/servers/server_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/servers/servers.h"

namespace ringwright::planning {
namespace {

// Servers that move cost a copy of their parameters, so that a plan is worth it only where it gains this much.
constexpr double kWorthMoving = 0.01;

class Planner {
 public:
  Planner(const ServerScenario& load, const configs::Scenario& first)
      : load_(load),
        hosts_(first.cluster.hosts),
        samples_of_host_(first.job.layered->model.global_batch /
                         (first.job.layered->layout.workers() / first.job.layered->layout.host_ranks)) {}

  // With the job's own rule of applying gradients.
  Result<ServerPlanTried> measure(std::int64_t servers) {
    const std::int64_t workers = hosts_ - servers;
    const auto scenario = load_({fmt::format("layer_table.parameter_server.servers={}", servers),
                                 fmt::format("layer_table.global_batch={}", workers * samples_of_host_)});
    if (!scenario) return tl::unexpected(scenario.error());
    const auto result = study_servers(*scenario);
    if (!result) return tl::unexpected(result.error());
    updates_ = job_updates(*scenario);
    const auto row = std::ranges::find(result->rows, updates_, &ServersRow::updates);
    return ServerPlanTried{.servers = servers, .workers = workers, .samples_per_second = row->samples_per_second};
  }
  // Plans that differ from one by a little or by a factor of two.
  [[nodiscard]] std::set<std::int64_t> near(std::int64_t servers) const {
    std::set<std::int64_t> plans;
    for (const std::int64_t plan : {servers / 2, servers - 1, servers + 1, servers * 2}) {
      if (plan >= 1 && plan < hosts_ && plan != servers) plans.insert(plan);
    }
    return plans;
  }
  [[nodiscard]] const std::string& updates() const { return updates_; }

 private:
  static std::string job_updates(const configs::Scenario& scenario) {
    const auto& service = scenario.job.layered->layout.service;
    if (service.updates == workload::ServerUpdates::kAsync) return "async";
    return service.updates == workload::ServerUpdates::kSync ? "sync" : fmt::format("ssp {}", service.staleness);
  }

  const ServerScenario& load_;
  std::int64_t hosts_;
  std::int64_t samples_of_host_;
  std::string updates_;
};

}  // namespace

const ServerPlanTried& ServerPlan::best() const {
  return *std::ranges::find_if(tried.rbegin(), tried.rend(), [](const ServerPlanTried& plan) { return plan.taken; });
}

double ServerPlan::gain() const { return best().samples_per_second / tried.front().samples_per_second; }

Result<ServerPlan> plan_servers(const ServerScenario& load) {
  const auto first = load({});
  if (!first) return tl::unexpected(first.error());
  const bool dedicated = first->job.layered && first->job.layered->layout.servers.count > 0 &&
                         first->job.layered->layout.servers.dedicated;
  if (!dedicated) {
    return tl::unexpected(failure("E549", "the scenario has no dedicated parameter servers to plan",
                                  {.file = first->simulate.steps_at.file},
                                  "layer_table: {preset: vgg16, parameter_server: {servers: 2, updates: async}}"));
  }
  Planner planner(load, *first);
  ServerPlan plan{.scenario = first->name, .updates = {}, .tried = {}};
  std::set<std::int64_t> known;
  std::set<std::int64_t> next{first->job.layered->layout.servers.count};
  double speed = 0.0;
  while (!next.empty()) {
    std::optional<std::size_t> fastest;
    for (const std::int64_t servers : next) {
      if (!known.insert(servers).second) continue;
      auto measured = planner.measure(servers);
      if (!measured) return tl::unexpected(measured.error());
      const bool gains = measured->samples_per_second > speed * (1.0 + kWorthMoving);
      plan.tried.push_back(*std::move(measured));
      if (!gains) continue;
      if (!fastest || plan.tried.back().samples_per_second > plan.tried[*fastest].samples_per_second) {
        fastest = plan.tried.size() - 1;
      }
    }
    if (!fastest) break;
    // In the order in which the job ran with them: the taken plan of a round is its last.
    std::rotate(plan.tried.begin() + static_cast<std::ptrdiff_t>(*fastest),
                plan.tried.begin() + static_cast<std::ptrdiff_t>(*fastest) + 1, plan.tried.end());
    plan.tried.back().taken = true;
    speed = plan.tried.back().samples_per_second;
    next = planner.near(plan.tried.back().servers);
  }
  plan.updates = planner.updates();
  return plan;
}

std::string render_server_plan_text(const ServerPlan& plan) {
  std::string text = fmt::format("{}: servers and workers on {} hosts, {}\n\n", plan.scenario,
                                 plan.tried.front().servers + plan.tried.front().workers, plan.updates);
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"servers", "workers", "samples/s", ""});
  for (const ServerPlanTried& tried : plan.tried) {
    table.add_row({std::to_string(tried.servers), std::to_string(tried.workers),
                   fmt::format("{:.1f}", tried.samples_per_second), tried.taken ? "taken" : ""});
  }
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text + fmt::format("\n  {} server{}: {:.3f} times as fast as {}\n", plan.best().servers,
                              plan.best().servers == 1 ? "" : "s", plan.gain(),
                            plan.tried.front().servers);
}

std::string render_server_plan_json(const ServerPlan& plan) {
  std::vector<std::string> rows;
  for (const ServerPlanTried& tried : plan.tried) {
    rows.push_back(fmt::format("{{\"servers\": {}, \"workers\": {}, \"samples_per_s\": {}, \"taken\": {}}}",
                               tried.servers, tried.workers, tried.samples_per_second, tried.taken));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.server_plan/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {}, \"updates\": {}, \"gain\": {},\n  \"tried\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(plan.scenario), json_text(plan.updates), plan.gain(),
      join(rows, ",\n    "));
}

}  // namespace ringwright::planning
