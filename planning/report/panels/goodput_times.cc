// Where the wall time of a job's life goes, and what each recovery policy loses.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/operation_accounts.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> goodput_waterfall(const ResultInput& result) {
  const std::vector<JsonValue>& policies = result.json["policies"].list();
  if (policies.empty()) return {};
  const std::vector<AccountTime> times = account_times(policies.front()["seconds"]);
  double wall = 0.0;
  for (const AccountTime& time : times) wall += time.seconds;
  if (wall <= 0.0) return {};
  const UnitScale scale = long_time_scale(wall);
  const auto gpus = result.json["job"]["gpus"].number_or_unknown();
  PanelColumn name = text_column("account"), value = number_column("time", std::string(scale.unit)),
              share = number_column("of the wall time", "%"), lost = number_column("GPU hours", "");
  for (const AccountTime& time : times) {
    if (time.seconds <= 0.0) continue;
    texts(name).push_back(time.name);
    numbers(value).push_back(time.seconds * scale.factor);
    numbers(share).push_back(100.0 * time.seconds / wall);
    numbers(lost).push_back(time.seconds / 3600.0 * gpus);
  }
  return {Panel{.id = "life",
                .title = "Where the time of the job goes",
                .sentence =
                    "Means over all repetitions. Productive is the healthy time of steps that lasted; the parts add "
                    "up to the wall time.",
                .chart = Chart::kWaterfall,
                .columns = {name, value, share, lost},
                .wide = true,
                .total = "wall time"}};
}

// A bar for each policy with its losses stacked; the productive time would hide them.
std::vector<Panel> goodput_policies(const ResultInput& result) {
  std::vector<std::string> names;
  std::vector<std::vector<AccountTime>> losses;
  double most = 0.0;
  PanelColumn policy = text_column("policy"), ratio = number_column("productive time", "%"),
              faults = number_column("faults", ""), price = number_column("price of a productive GPU hour", "USD"),
              refused = text_column("refused");
  for (const JsonValue& one : result.json["policies"].list()) {
    texts(policy).push_back(one["policy"].text());
    losses.push_back(account_times(one["seconds"]));
    double sum = 0.0;
    for (const AccountTime& time : losses.back()) sum += time.is_productive ? 0.0 : time.seconds;
    most = std::max(most, sum);
    numbers(ratio).push_back(100.0 * one["ettr"]["mean"].number_or_unknown());
    numbers(faults).push_back(one["faults"]["mean"].number_or_unknown());
    numbers(price).push_back(one["usd_per_productive_gpu_hour"].number_or_unknown());
    texts(refused).push_back(one["reason"].text());
    for (const AccountTime& time : losses.back()) {
      if (time.is_productive || std::ranges::find(names, time.name) != names.end()) continue;
      names.push_back(time.name);
    }
  }
  if (policy.size() < 2 || most <= 0.0) return {};
  const UnitScale scale = long_time_scale(most);
  Panel panel{.id = "policies",
              .title = "What each recovery policy loses",
              .sentence =
                  "Time of a repetition that is not productive, by account, under the same faults. A shorter bar is "
                  "a job that is done sooner.",
              .chart = Chart::kBars,
              .columns = {policy},
              .wide = true};
  for (const std::string& name : names) {
    PanelColumn part = number_column(name, std::string(scale.unit));
    for (const std::vector<AccountTime>& times : losses) {
      const auto found = std::ranges::find(times, name, &AccountTime::name);
      numbers(part).push_back(found == times.end() ? 0.0 : found->seconds * scale.factor);
    }
    if (std::ranges::any_of(numbers(part), [](double value) { return value > 0.0; })) panel.columns.push_back(part);
  }
  panel.columns.insert(panel.columns.end(), {ratio, faults, price, refused});
  if (std::ranges::any_of(texts(refused), [](const std::string& reason) { return !reason.empty(); })) {
    panel.note = "A policy that the job cannot use has no bar; the table has its reason.";
  }
  return {panel};
}

}  // namespace ringwright::planning
