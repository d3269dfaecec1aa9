#include "planning/capacity/capacity.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "planning/capacity/capacity_front.h"
#include "planning/search/search.h"
#include "planning/search/search_base.h"
#include "planning/search/search_report.h"
#include "planning/study/first_error.h"
#include "planning/study/idle_settings.h"

namespace ringwright::planning {
namespace {

constexpr std::array<std::string_view, 4> kOfferStatusNames{"ok", "over_budget", "too_large", "refused"};
constexpr double kSecondsPerDay = 86'400.0;
constexpr double kJoulesPerMegawattHour = 3.6e9;

void refuse(Offer& offer, const Diagnostics& mistakes) {
  const Diagnostic* const first = first_error(mistakes);
  offer.status = OfferStatus::kRefused;
  offer.code = first == nullptr ? "" : first->code;
  offer.reason = first == nullptr ? "it cannot be searched" : reason_of(*first);
}

// One machine with one number of hosts: 0 stands for the scenario's own.
class Candidate {
 public:
  Candidate(const CapacityPlan& plan, const std::string& scenario, const Workers& workers)
      : plan_(plan), scenario_(scenario), workers_(workers) {}

  // A mistake only where the whole study cannot be made.
  // Appends to `layouts` those of which no other on this machine is both faster and smaller.
  [[nodiscard]] Result<Offer> evaluate(std::size_t machine, std::int64_t hosts,
                                       std::vector<LayoutOffer>& layouts) const {
    Offer offer{.machine = machine, .hosts = hosts};
    std::vector<std::string> settings = plan_.settings;
    const CapacityMachine& described = plan_.machines[machine];
    settings.insert(settings.end(), described.settings.begin(), described.settings.end());
    if (hosts > 0) settings.push_back(fmt::format("cluster.nodes={}", hosts));
    const auto base = load_search_base(scenario_, {.overrides = settings, .share_folders = {}}, {});
    if (!base) {
      refuse(offer, base.error());
      return offer;
    }
    offer.hosts = base->scenario.cluster.hosts;
    offer.gpus = base->scenario.cluster.gpus();
    if (auto problem = lack_of_cost(base->scenario, described.name)) return tl::unexpected(std::move(*problem));
    if (auto problem = varied_batch(base->scenario)) return tl::unexpected(std::move(*problem));
    if (plan_.budget.gpus && offer.gpus > *plan_.budget.gpus) {
      offer.status = OfferStatus::kOverBudget;
      offer.reason = fmt::format("{} GPUs of {}", offer.gpus, *plan_.budget.gpus);
      return offer;
    }
    search_layouts(base->scenario, settings, offer, layouts);
    return offer;
  }

 private:
  [[nodiscard]] std::optional<Diagnostics> lack_of_cost(const configs::Scenario& scenario,
                                                        const std::string& machine) const {
    const bool priced = scenario.cost && scenario.cost->usd_per_gpu_hour > 0.0;
    const bool powered = scenario.cost && scenario.cost->gpu_watts > 0.0;
    const bool needs_price = plan_.objective == CapacityObjective::kUsd || plan_.budget.usd.has_value();
    if (needs_price && !priced) {
      return failure("E621", fmt::format("machine '{}' has no price, which the objective or the budget needs", machine),
                     {.file = scenario_}, "set: { cost.preset: dgx-h100 }, or cost.usd_per_gpu_hour: 2.5");
    }
    if (plan_.budget.megawatt_hours && !powered) {
      return failure("E621", fmt::format("machine '{}' has no power, which the budget needs", machine),
                     {.file = scenario_}, "set: { cost.preset: dgx-h100 }, or cost.gpu_watts: 700");
    }
    return std::nullopt;
  }

  // Layouts of one machine are compared by their steps, which have the same tokens.
  [[nodiscard]] std::optional<Diagnostics> varied_batch(const configs::Scenario& scenario) const {
    const auto& given = scenario.search.given;
    if (std::ranges::find(given, "training.global_batch", &configs::SearchAxis::name) == given.end()) {
      return std::nullopt;
    }
    return failure("E620", "the search varies 'training.global_batch', and a capacity study has one batch on a machine",
                   {.file = scenario_}, "a machine for each batch, as set: { training.global_batch: 1024 }");
  }

  void search_layouts(const configs::Scenario& scenario, const std::vector<std::string>& given, Offer& offer,
                      std::vector<LayoutOffer>& layouts) const {
    configs::SearchSettings settings = scenario.search;
    settings.replay = plan_.replay;
    // With a fixed batch and number of GPUs, the shortest step is also the cheapest.
    settings.objective = configs::Objective::kStepTime;
    settings.skip_slower = configs::SkipSlower::kAlways;  // of the result only the best and the front are used
    const auto found = search(scenario, settings, {.threads = workers_.threads});
    if (!found) {
      refuse(offer, found.error());
      return;
    }
    offer.layouts = found->fitting();
    if (found->ranked.empty()) {
      no_layout(*found, offer);
      return;
    }
    const SearchSpace space(scenario, settings);
    const Configuration& best = found->ranked.front();
    offer.layout = choices_of(*found, best);
    const auto chosen = changed_scenario(scenario, changes_of(space, best));
    if (!chosen) {
      refuse(offer, chosen.error());
      return;
    }
    const Point point = simulate_point(*chosen);
    if (point.status != PointStatus::kOk) {
      offer.status = point.status == PointStatus::kTooLarge ? OfferStatus::kTooLarge : OfferStatus::kRefused;
      offer.code = point.code;
      offer.reason = point.reason;
      return;
    }
    offer.figures = point.figures;
    std::vector<std::string> of_step = given;  // the search itself uses the others
    std::erase_if(of_step, [](const std::string& setting) { return setting.starts_with("search"); });
    offer.notes = idle_settings(point, of_step);
    if (scenario.search.objective != configs::Objective::kStepTime) {
      offer.notes.push_back(fmt::format("search.objective = {} has no effect: with one batch the shortest step is also "
                                        "the cheapest",
                                        to_string(scenario.search.objective)));
    }
    // Warnings about settings have the codes of errors.
    for (const ReportWarning& warning : point.warnings) {
      if (warning.code.starts_with('E')) offer.notes.push_back(warning.text);
    }
    add_run(offer);
    for (const std::size_t index : found->front) layouts.push_back(layout_offer(*found, found->ranked[index], offer));
  }

  // Every axis and dp; without those that no machine varied, see drop_fixed().
  static std::vector<LayoutChoice> choices_of(const SearchResult& found, const Configuration& configuration) {
    std::vector<LayoutChoice> choices;
    for (const configs::SearchAxis& axis : found.axes) {
      choices.push_back(
          {.axis = axis.name, .value = value_on(configuration.layout, axis.name), .varied = axis.values.size() > 1});
    }
    choices.push_back({.axis = "dp", .value = std::to_string(configuration.dp), .varied = true});
    return choices;
  }

  // Days, money and energy are those of the offer's own layout, in the ratio of the steps.
  static LayoutOffer layout_offer(const SearchResult& found, const Configuration& configuration, const Offer& offer) {
    const Duration step = configuration.quick->step_time.mean;
    // Formulas predict steps without checkpoints: they take as long with every layout.
    const Duration best = found.ranked.front().quick->step_time.mean;
    const Duration saving = offer.figures.checkpoint_takes ? offer.figures.mean_step - best : Duration();
    const double times = ratio(step + std::max(saving, Duration()), offer.figures.mean_step);
    const auto scaled = [times](const std::optional<double>& value) {
      return value ? std::optional(*value * times) : value;
    };
    return {.offer = 0,
            .gpus = offer.gpus,
            .layout = choices_of(found, configuration),
            .step = step,
            .memory = configuration.fullest.total,
            .days = offer.days * times,
            .usd = scaled(offer.usd),
            .megawatt_hours = scaled(offer.megawatt_hours)};
  }

  static void no_layout(const SearchResult& found, Offer& offer) {
    if (!found.misfits.empty()) {
      offer.status = OfferStatus::kTooLarge;
      const Configuration& closest = found.misfits.front();
      const bool of_host = closest.overfull_host && closest.fullest.fits();
      const std::string what = of_host ? fmt::format(" in the {} of a host", closest.overfull_host->what) : "";
      offer.reason = fmt::format("the smallest of {} layouts needs {} of {}{}", found.misfits.size(),
                                 to_string(of_host ? closest.overfull_host->total : closest.fullest.total),
                                 to_string(of_host ? closest.overfull_host->capacity : closest.fullest.capacity), what);
      return;
    }
    offer.status = OfferStatus::kRefused;
    offer.reason = "no layout is legal";
    if (found.refusals.empty()) return;
    offer.code = found.refusals.front().refusal.code;
    offer.reason = fmt::format("no layout is legal: {}", found.refusals.front().refusal.example);
  }

  // What all tokens take, and whether that is within the budget.
  void add_run(Offer& offer) const {
    const StepFigures& step = offer.figures;
    const double mean_step = ratio(step.mean_step, step.step);  // of which money and energy are as well
    offer.days = plan_.tokens / step.tokens_per_second() * mean_step / plan_.goodput / kSecondsPerDay;
    if (step.mean_step != step.step) {
      offer.notes.push_back(fmt::format("days, money and energy are those of {}, the mean step between checkpoints",
                                        to_string(step.mean_step)));
    }
    if (step.cost.usd_per_tera_tokens) {
      offer.usd = *step.cost.usd_per_tera_tokens * plan_.tokens / 1e12 / plan_.goodput;
    }
    if (step.cost.joules_per_token) {
      offer.megawatt_hours = *step.cost.joules_per_token * plan_.tokens / plan_.goodput / kJoulesPerMegawattHour;
    }
    offer.status = OfferStatus::kOk;
    const auto limit = [&offer](double value, const std::optional<double>& most, std::string_view unit) {
      if (!most || value <= *most || offer.status != OfferStatus::kOk) return;
      offer.status = OfferStatus::kOverBudget;
      offer.reason = fmt::format("{:.4g} {} of {:.4g}", value, unit, *most);
    };
    limit(offer.days, plan_.budget.days, "days");
    limit(offer.usd.value_or(0.0), plan_.budget.usd, "usd");
    limit(offer.megawatt_hours.value_or(0.0), plan_.budget.megawatt_hours, "MWh");
  }

  const CapacityPlan& plan_;
  const std::string& scenario_;
  const Workers& workers_;
};

double score_of(const Offer& offer, CapacityObjective objective) {
  switch (objective) {
    case CapacityObjective::kDays: return offer.days;
    case CapacityObjective::kUsd: return offer.usd.value_or(0.0);
    case CapacityObjective::kGpus: return static_cast<double>(offer.gpus);
  }
  return 0.0;
}

// Days, GPUs, and money where every machine has a price.
std::array<double, 3> burdens_of(const Offer& offer, bool priced) {
  return {offer.days, static_cast<double>(offer.gpus), priced ? offer.usd.value_or(0.0) : 0.0};
}

// An offer is on the front when no other one beats it.
void mark_front(CapacityResult& result) {
  const bool priced =
      std::ranges::all_of(result.ranking, [&](std::size_t index) { return result.offers[index].usd.has_value(); });
  for (const std::size_t index : result.ranking) {
    const auto mine = burdens_of(result.offers[index], priced);
    result.offers[index].on_front = std::ranges::none_of(
        result.ranking, [&](std::size_t other) { return beats(burdens_of(result.offers[other], priced), mine); });
  }
}

// Leaves out the axes that no machine's search varied. Where one machine's did, the single value of another one counts.
void drop_fixed(CapacityResult& result) {
  std::set<std::string> varied;
  for (const Offer& offer : result.offers) {
    for (const LayoutChoice& choice : offer.layout) {
      if (choice.varied) varied.insert(choice.axis);
    }
  }
  const auto drop = [&varied](std::vector<LayoutChoice>& layout) {
    std::erase_if(layout, [&varied](const LayoutChoice& choice) { return !varied.contains(choice.axis); });
  };
  for (Offer& offer : result.offers) drop(offer.layout);
  for (LayoutOffer& offer : result.front) drop(offer.layout);
}

}  // namespace

std::string_view to_string(OfferStatus status) {
  return kOfferStatusNames[static_cast<std::size_t>(status)];
}

Result<CapacityResult> find_capacity(const CapacityPlan& plan, const std::string& scenario, const Workers& workers) {
  std::vector<std::pair<std::size_t, std::int64_t>> candidates;
  for (std::size_t machine = 0; machine < plan.machines.size(); ++machine) {
    if (plan.machines[machine].hosts.empty()) candidates.emplace_back(machine, 0);
    for (const std::int64_t hosts : plan.machines[machine].hosts) candidates.emplace_back(machine, hosts);
  }
  CapacityResult result{.scenario = scenario, .offers = {}, .ranking = {}, .front = {}};
  std::vector<LayoutOffer> layouts;
  const Candidate candidate(plan, scenario, workers);
  for (const auto& [machine, hosts] : candidates) {
    const std::size_t known = layouts.size();
    auto offer = candidate.evaluate(machine, hosts, layouts);
    if (!offer) return tl::unexpected(offer.error());
    for (std::size_t i = known; i < layouts.size(); ++i) layouts[i].offer = result.offers.size();
    if (offer->status == OfferStatus::kOk) result.ranking.push_back(result.offers.size());
    result.offers.push_back(std::move(*offer));
    if (workers.progress) workers.progress(result.offers.size(), candidates.size());
  }
  std::ranges::stable_sort(result.ranking, {}, [&](std::size_t index) {
    const Offer& offer = result.offers[index];
    return std::pair(score_of(offer, plan.objective), offer.days);
  });
  mark_front(result);
  result.front = capacity_front(std::move(layouts), plan.budget);
  drop_fixed(result);
  return result;
}

}  // namespace ringwright::planning
