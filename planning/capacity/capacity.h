// Which machine to train on, and with how many GPUs: the best layout on each, and what the training run then takes.
//
// On every machine and number of hosts the layouts are searched (planning/search), and the best one is simulated with
// the scenario's own models. With T tokens in all, b tokens and t seconds a step, and the share g of time that becomes
// progress (goodput):
//
//     days = T / b * t / g / 86,400        usd = T * usd per token / g        energy = T * joules per token / g
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/capacity/capacity_file.h"
#include "planning/study/point.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

// kTooLarge: no layout fits into the memory. kRefused: it cannot be searched or simulated.
enum class OfferStatus { kOk, kOverBudget, kTooLarge, kRefused };
[[nodiscard]] std::string_view to_string(OfferStatus status);  // "ok", "over_budget", "too_large", "refused"

// One value of an axis of the best layout: "tp", "4".
struct LayoutChoice {
  std::string axis;
  std::string value;
  bool varied = true;  // its machine's search had other values
};

// What the training run takes on one machine with one number of hosts.
struct Offer {
  std::size_t machine = 0;  // in the plan
  std::int64_t hosts = 0;
  std::int64_t gpus = 0;
  OfferStatus status = OfferStatus::kRefused;
  std::string code;    // of the first mistake
  std::string reason;  // why it is not ok
  // The rest holds where a layout was simulated.
  std::vector<LayoutChoice> layout;  // every axis that a machine's search varied, and dp
  std::size_t layouts = 0;           // that fit
  StepFigures figures;
  double days = 0.0;
  std::optional<double> usd;
  std::optional<double> megawatt_hours;
  std::vector<std::string> notes;  // settings of the machine that have no effect
  bool on_front = false;  // no other within the budget is as good in days, GPUs and money, and better in one of them

  [[nodiscard]] bool was_simulated() const { return figures.gpus > 0; }
};

// One layout on one machine, as formulas predict it.
struct LayoutOffer {
  std::size_t offer = 0;  // its machine and number of hosts
  std::int64_t gpus = 0;
  std::vector<LayoutChoice> layout;
  Duration step;
  Bytes memory;  // of the fullest GPU
  double days = 0.0;
  std::optional<double> usd;
  std::optional<double> megawatt_hours;
};

struct CapacityResult {
  std::string scenario;
  std::vector<Offer> offers;         // in the order of the file
  std::vector<std::size_t> ranking;  // of offers within the budget, best first
  // Over all layouts of all machines within the budget: no other is as good in days, money, GPUs and memory, and better
  // in one of them. By formulas, fastest first (capacity_front.h).
  std::vector<LayoutOffer> front;
};

// `scenario`: path of plan.scenario. Fails where the objective or the budget needs a cost that a machine does not have
// (E621).
[[nodiscard]] Result<CapacityResult> find_capacity(const CapacityPlan& plan, const std::string& scenario,
                                                   const Workers& workers = {});

// "tp=4 dp=16"
[[nodiscard]] std::string layout_words(const std::vector<LayoutChoice>& layout);
[[nodiscard]] std::string render_capacity_text(const CapacityPlan& plan, const CapacityResult& result);
// Schema "ringwright.capacity/1" (docs/capacity.md).
[[nodiscard]] std::string render_capacity_json(const CapacityPlan& plan, const CapacityResult& result);
// A row for every machine and number of hosts.
[[nodiscard]] std::string render_capacity_csv(const CapacityPlan& plan, const CapacityResult& result);

}  // namespace ringwright::planning
