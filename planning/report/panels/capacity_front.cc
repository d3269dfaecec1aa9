// The machines of a capacity study: days against money and against GPUs, with those that no other one beats.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/capacity_offers.h"
#include "planning/report/cause_rows.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostStackedOffers = 24;

std::string_view standing(const JsonValue& offer) {
  if (offer["on_front"].is_true()) return "no other is as good";
  return offer["status"].text() == "ok" ? "within the budget" : "over the budget";
}

struct AgainstDays {
  std::string_view key;  // of an offer
  PanelColumn column;
  Panel frame;
};

// Days over another figure; none where no offer has it.
std::vector<Panel> against_days(const JsonValue& study, AgainstDays axis) {
  PanelColumn series = text_column("standing"), days = number_column("time", "days"), name = text_column("machine"),
              layout = text_column("layout"), mfu = number_column("MFU", "% of peak"),
              tokens = number_column("tokens/s", "");
  for (const JsonValue& offer : study["offers"].list()) {
    if (!was_simulated(offer) || !offer[axis.key].number()) continue;
    texts(series).emplace_back(standing(offer));
    numbers(axis.column).push_back(offer[axis.key].number_or_unknown());
    numbers(days).push_back(offer["days"].number_or_unknown());
    texts(name).push_back(offer_name(offer));
    texts(layout).push_back(offer_layout(offer));
    numbers(mfu).push_back(100.0 * offer["mfu"].number_or_unknown());
    numbers(tokens).push_back(offer["tokens_per_s"].number_or_unknown());
  }
  if (series.size() == 0) return {};
  axis.frame.chart = Chart::kPoints;
  axis.frame.columns = {series, std::move(axis.column), days, name, layout, mfu, tokens};
  return {axis.frame};
}

}  // namespace

std::vector<Panel> capacity_front(const ResultInput& result) {
  std::vector<Panel> panels = against_days(
      result.json, {.key = "usd",
                    .column = number_column("cost", "USD"),
                    .frame = {.id = "cost-front",
                              .title = "Time against cost",
                              .sentence = "Each point is a machine with its best layout; soon and cheap is down and "
                                          "left. The front is also by GPUs."}});
  std::ranges::move(against_days(result.json, {.key = "gpus",
                                               .column = number_column("GPUs", ""),
                                               .frame = {.id = "gpu-front",
                                                         .title = "Time against GPUs",
                                                         .sentence = "The same machines by their number of GPUs."}}),
                    std::back_inserter(panels));
  return panels;
}

// The offers that were simulated, in parts of a step.
std::vector<Panel> capacity_parts(const ResultInput& result) {
  std::vector<NamedCauses> entries;
  for (const JsonValue* offer : ranked_offers(result.json)) {
    if (entries.size() == kMostStackedOffers) break;
    entries.push_back({.name = offer_name(*offer), .rows = cause_rows((*offer)["parts_ps"])});
  }
  if (entries.empty()) return {};
  Panel panel = stacked_causes(entries, "machine");
  panel.id = "capacity-parts";
  panel.title = "Where the step of each machine goes";
  panel.sentence = "Machines within the budget, best first: averages over all GPUs.";
  panel.wide = true;
  return {panel};
}

std::vector<Panel> capacity_table(const ResultInput& result) {
  PanelColumn machine = text_column("machine"), hosts = number_column("hosts", ""), gpus = number_column("GPUs", ""),
              status = text_column("status"), days = number_column("time", "days"), usd = number_column("cost", "USD"),
              energy = number_column("energy", "MWh"), step = number_column("step", "s"),
              mfu = number_column("MFU", "%"), memory = number_column("memory", "GiB"), layout = text_column("layout"),
              reason = text_column("reason"), notes = text_column("remarks");
  for (const JsonValue& offer : result.json["offers"].list()) {
    texts(machine).push_back(offer["machine"].text());
    numbers(hosts).push_back(offer["hosts"].number_or_unknown());
    numbers(gpus).push_back(offer["gpus"].number_or_unknown());
    texts(status).push_back(offer["status"].text());
    std::ranges::replace(texts(status).back(), '_', ' ');
    numbers(days).push_back(offer["days"].number_or_unknown());
    numbers(usd).push_back(offer["usd"].number_or_unknown());
    numbers(energy).push_back(offer["megawatt_hours"].number_or_unknown());
    numbers(step).push_back(offer["step_ps"].number_or_unknown() * 1e-12);
    numbers(mfu).push_back(100.0 * offer["mfu"].number_or_unknown());
    numbers(memory).push_back(offer["memory_bytes"].number_or_unknown() / 1073741824.0);
    texts(layout).push_back(offer_layout(offer));
    texts(reason).push_back(offer["reason"].text());
    texts(notes).push_back(offer["notes"].joined("; "));
  }
  if (machine.size() == 0) return {};
  return {Panel{.id = "machines",
                .title = "All machines and sizes",
                .sentence = "With the best layout on each, or why there is none.",
                .columns = {machine, hosts, gpus, status, days, usd, energy, step, mfu, memory, layout, reason, notes},
                .wide = true}};
}

}  // namespace ringwright::planning
