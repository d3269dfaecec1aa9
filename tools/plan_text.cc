#include "tools/plan_text.h"

#include <vector>

#include <fmt/format.h>

#include "configs/simulation/step_facts.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/report/text_table.h"

namespace ringwright::tools {
namespace {

using configs::Estimate;
using configs::Scenario;
using configs::Simulation;

std::string count(std::uint64_t number) {
  return with_commas(static_cast<long long>(number));
}
// Whole numbers up to 2^63; beyond that, the last digits do not matter.
std::string count(double number) {
  return number < 0x1p63 ? with_commas(static_cast<long long>(number)) : fmt::format("{:.2g}", number);
}

// Parallel dimensions whose groups have more than one rank: "tp 8 (2,048 groups)".
std::string dimensions_text(const TaskGraph& graph) {
  std::vector<std::string> parts;
  for (const Dimension& dimension : graph.dimensions) {
    const std::size_t size = dimension.groups.empty() ? 0 : dimension.groups.front().size();
    const std::size_t groups = dimension.groups.size();
    if (size < 2) continue;
    parts.push_back(fmt::format("{} {} ({} group{})", dimension.name, size, count(groups), groups == 1 ? "" : "s"));
  }
  return parts.empty() ? "none" : join(parts, ", ");
}

// Bytes that one rank of each stage communicates in one step, by dimension.
std::vector<std::string> communication_lines(const Simulation& simulation) {
  const TaskGraph& graph = simulation.plan().graph;
  const auto& communication = simulation.plan().communication;
  TextTable table(std::vector<Align>(graph.dimensions.size() + 2, Align::kRight));
  std::vector<std::string> header = {"stage", "parameters"};
  for (const Dimension& dimension : graph.dimensions) header.push_back(dimension.name);
  table.add_row(header);
  for (std::size_t stage = 0; stage < communication.size(); ++stage) {
    std::vector<std::string> row = {std::to_string(stage),
                                    count(static_cast<std::uint64_t>(simulation.plan().stage_parameters[stage]))};
    for (const Bytes bytes : communication[stage]) row.push_back(to_string(bytes));
    table.add_row(row);
  }
  return table.lines();
}

}  // namespace

std::string plan_text(const Scenario& scenario, const Simulation& simulation) {
  const workload::StepPlan& plan = simulation.plan();
  const Estimate cost = estimate(simulation);
  TextTable table({Align::kLeft, Align::kLeft});
  const bool recorded = scenario.job.trace.has_value();
  table.add_row(
      recorded ? std::vector<std::string>{"traces", scenario.job.trace->name}
               : std::vector<std::string>{"model", fmt::format("{}, {} parameters", configs::name_of(scenario.job),
                                                               count(static_cast<std::uint64_t>(plan.parameters)))});
  table.add_row({"GPUs", fmt::format("{} on {} host{}, {}", count(cost.ranks),
                                     count(static_cast<std::uint64_t>(scenario.cluster.hosts)),
                                     scenario.cluster.hosts == 1 ? "" : "s", scenario.cluster.fabric)});
  table.add_row({"groups", dimensions_text(plan.graph)});
  if (!recorded) {
    table.add_row({"microbatches", count(static_cast<std::uint64_t>(plan.microbatches))});
    table.add_row({"tokens/step", count(static_cast<std::uint64_t>(plan.tokens))});
    table.add_row({"FLOPs/step", fmt::format("{} of the model, {} of the hardware", to_string(plan.model_flops),
                                             to_string(plan.hardware_flops))});
  }
  table.add_row(
      {"to run", fmt::format("{} of {} ranks, {} tasks, about {} messages, about {:.2g} s", count(cost.classes),
                             count(cost.ranks), count(cost.tasks), count(cost.messages + cost.exchanged),
                             cost.seconds)});
  std::string text;
  for (const std::string& line : table.lines()) text += line + "\n";
  if (recorded) return text;
  text += "\nPer rank and step, buffers of collectives and messages sent:\n";
  for (const std::string& line : communication_lines(simulation)) text += "  " + line + "\n";
  return text;
}

std::string plan_json(const Scenario& scenario, const Simulation& simulation) {
  const workload::StepPlan& plan = simulation.plan();
  const Estimate cost = estimate(simulation);
  const std::string name = scenario.job.trace ? scenario.job.trace->name : configs::name_of(scenario.job);
  return fmt::format(
      "{{\n  \"model\": {},\n  \"parameters\": {},\n  \"gpus\": {},\n  \"microbatches\": {},\n  \"tokens_per_step\": "
      "{},\n"
      "  \"model_flops_per_step\": {},\n  \"hardware_flops_per_step\": {},\n  \"classes\": {},\n  \"tasks\": {:.0f},\n"
      "  \"messages\": {:.0f}\n}}\n",
      json_text(name), plan.parameters, cost.ranks, plan.microbatches, plan.tokens, plan.model_flops.count(),
      plan.hardware_flops.count(), cost.classes, cost.tasks, cost.messages + cost.exchanged);
}

}  // namespace ringwright::tools
