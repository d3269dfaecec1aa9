// The compiled part of the Python package `ringwright`: each function takes what the command of its name takes, and
// returns the JSON of its result. No function holds Python's lock while it simulates.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "configs/simulation/fault_times.h"
#include "configs/simulation/simulate.h"
#include "core/base/text.h"
#include "core/report/report.h"
#include "planning/compare/comparison.h"
#include "planning/report/page.h"
#include "planning/search/search.h"
#include "planning/search/search_base.h"
#include "planning/search/search_report.h"
#include "planning/sensitivity/sensitivity.h"
#include "planning/sweep/sweep.h"
#include "planning/sweep/sweep_report.h"
#include "planning/what_if/what_if.h"
#include "tools/scenario_file.h"
#include "tools/studies/compared_sides.h"
#include "validation/builtin.h"

namespace ringwright::tools {
namespace {

using Settings = std::vector<std::string>;
// The JSON of a result, and its warnings as the command line prints them; empty: none.
using Warned = std::pair<std::string, std::string>;

std::string text_of(const Diagnostics& warnings) {
  return warnings.all().empty() ? std::string() : render(warnings);
}

// What the user did wrong, as the command line prints it. Python sees ringwright.Error.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Value>
Value value_or_refuse(Result<Value> result) {
  if (!result) throw Refused(render(result.error()));
  return std::move(*result);
}

std::string run(const std::string& name, const Settings& settings, bool fold) {
  const std::string path = value_or_refuse(find_scenario(name));
  auto scenario = value_or_refuse(configs::load_scenario(path, {.overrides = settings, .share_folders = {}}));
  if (const Diagnostics wrong = configs::settle_fault_times(scenario); wrong.has_errors()) throw Refused(render(wrong));
  const auto outcome =
      value_or_refuse(configs::simulate(scenario, fold ? configs::FoldMode::kFold : configs::FoldMode::kNoFold));
  if (outcome.report) return render_json(*outcome.report);
  throw Refused(outcome.end == RunOutcome::kClockRanOut
                    ? render(outcome.late)
                    : "error: the run cannot continue: ranks wait for each other\n" + render(outcome.stall));
}

// The settings of a search are keys of its block: "search.tp=[4, 8]".
std::string search(const std::string& name, const Settings& settings, int threads) {
  const std::string path = value_or_refuse(find_scenario(name));
  std::vector<configs::SearchAxis> others;
  const auto base =
      value_or_refuse(planning::load_search_base(path, {.overrides = settings, .share_folders = {}}, others));
  const auto result = value_or_refuse(
      planning::search(base.scenario, base.scenario.search, {.threads = threads, .own_problem = base.own_problem}));
  return planning::render_search_json({.scenario = base.scenario, .settings = base.scenario.search, .result = result});
}

Warned sweep(const std::string& file, const std::string& database, int threads, bool allow_slow) {
  const auto plan = value_or_refuse(planning::load_sweep(file));
  const std::string scenario = value_or_refuse(find_scenario(plan.scenario));
  auto store = value_or_refuse(planning::ResultStore::open(database.empty() ? ":memory:" : database));
  const auto result = value_or_refuse(
      planning::sweep(plan, scenario, store, {.workers = {.threads = threads}, .allow_slow = allow_slow}));
  return {planning::render_sweep_json({.plan = plan, .result = result}), text_of(store.unused())};
}

// Of scenarios and results; the settings are those of the second side.
std::string compare(const std::vector<std::string>& sides, const Settings& settings) {
  return planning::render_comparison_json(value_or_refuse(compare_sides(sides, settings)));
}

std::string what_if(const std::string& name, const Settings& settings, int threads) {
  const std::string path = value_or_refuse(find_scenario(name));
  return planning::render_what_if_json(
      value_or_refuse(planning::ask_what_ifs(path, settings, {.workers = {.threads = threads}})));
}

std::string sensitivity(const std::string& name, const Settings& settings, double share, int threads) {
  if (!(share > 0.0 && share < 1.0)) throw Refused("error: `by` must be above 0 and below 1, as 0.1\n");
  const std::string path = value_or_refuse(find_scenario(name));
  return planning::render_sensitivity_json(
      value_or_refuse(planning::sensitivity(path, settings, {.share = share, .workers = {.threads = threads}})));
}

Warned validate(const std::string& kind, const std::vector<std::string>& files, const Settings& settings) {
  std::vector<std::string> kinds;
  for (const validation::Validator& validator : validation::validators()) {
    if (validator.name == kind) {
      auto outcome = value_or_refuse(validation::run_validator(validator, {.files = files, .overrides = settings}));
      return {std::move(outcome.json), text_of(outcome.warnings)};
    }
    kinds.emplace_back(validator.name);
  }
  throw Refused("error: '" + kind + "' is not a kind of measurement; one of: " + join(kinds, ", ") + "\n");
}

std::string page(const std::string& json) {
  return value_or_refuse(planning::page_of_result(json));
}

}  // namespace
}  // namespace ringwright::tools

PYBIND11_MODULE(_ringwright, module) {
  namespace py = pybind11;
  namespace tools = ringwright::tools;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::register_exception<tools::Refused>(module, "Error", PyExc_ValueError);
  module.attr("__version__") = RINGWRIGHT_VERSION;
  module.def("run", &tools::run, py::arg("scenario"), py::arg("settings"), py::arg("fold"), Unlocked());
  module.def("search", &tools::search, py::arg("scenario"), py::arg("settings"), py::arg("threads"), Unlocked());
  module.def("sweep", &tools::sweep, py::arg("file"), py::arg("database"), py::arg("threads"), py::arg("allow_slow"),
             Unlocked());
  module.def("compare", &tools::compare, py::arg("sides"), py::arg("settings"), Unlocked());
  module.def("what_if", &tools::what_if, py::arg("scenario"), py::arg("settings"), py::arg("threads"), Unlocked());
  module.def("sensitivity", &tools::sensitivity, py::arg("scenario"), py::arg("settings"), py::arg("share"),
             py::arg("threads"), Unlocked());
  module.def("validate", &tools::validate, py::arg("kind"), py::arg("files"), py::arg("settings"), Unlocked());
  module.def("page", &tools::page, py::arg("json"), Unlocked());
}
