#include "validation/mpi/mpi_play.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

// Rows that are simulated on one machine with one algorithm.
using GroupKey = std::tuple<std::string, std::string, std::string_view, configs::CollectiveOperation>;

Result<std::string> machine_of(const MpiTable& table, const MeasuredMpi& row, const MpiPlayOptions& options) {
  if (!options.cluster.empty()) return options.cluster;
  std::string file = shipped_folder("mpi") + "/" + row.system + ".yaml";
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return file;
  std::vector<std::string> known;
  for (const std::string& path : files_in(shipped_folder("mpi"), ".yaml"))
    known.push_back(std::filesystem::path(path).stem().string());
  Diagnostics problems;
  problems.add({.code = "E240",
                .place = {.file = table.file, .line = row.line},
                .message = fmt::format("no machine is shipped for the system '{}'", row.system),
                .hint = fmt::format("known: {}; or describe it in a file and name that with --cluster",
                                    fmt::join(known, ", "))});
  return tl::unexpected(std::move(problems));
}

Result<configs::Scenario> load_for(const MpiTable& table, const MeasuredMpi& row, const MpiPlayOptions& options) {
  const auto machine = machine_of(table, row, options);
  if (!machine) return tl::unexpected(machine.error());
  configs::ScenarioOptions scenario{.overrides = {fmt::format("cluster.nodes={}", row.hosts()),
                                                  fmt::format("collectives.world.algorithm={}", row.algorithm)},
                                    .share_folders = {}};
  if (row.sides.size() > 1)
    scenario.overrides.push_back(fmt::format("cluster.fabric.dims=[{}]", fmt::join(row.sides, ", ")));
  scenario.overrides.insert(scenario.overrides.end(), options.overrides.begin(), options.overrides.end());
  return configs::load_machine(*machine, scenario);
}

// Sets the seconds of the rows with these numbers, which share machine and algorithm; empty when all is well.
Diagnostics play_group(const MpiTable& table, const std::vector<std::size_t>& rows, const MpiPlayOptions& options,
                       std::vector<double>& seconds) {
  const MeasuredMpi& first = table.rows[rows.front()];
  const auto scenario = load_for(table, first, options);
  if (!scenario) return scenario.error();
  configs::CollectiveBench bench(*scenario);
  std::map<Bytes, double> known;  // sizes that were measured more than once
  for (const std::size_t number : rows) {
    const MeasuredMpi& row = table.rows[number];
    auto found = known.find(row.bytes);
    if (found == known.end()) {
      const auto result = bench.run({.operation = row.operation, .bytes = row.bytes});
      if (!result) return result.error();
      found = known.emplace(row.bytes, to_seconds(result->time)).first;
    }
    seconds[number] = found->second;
  }
  return {};
}

}  // namespace

Result<std::vector<double>> play_mpi(const MpiTable& table, const MpiPlayOptions& options) {
  std::map<GroupKey, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredMpi& row = table.rows[i];
    by_key[{row.system, row.nodes, row.algorithm, row.operation}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, rows] : by_key) groups.push_back(std::move(rows));
  std::vector<double> seconds(table.rows.size());
  std::vector<Diagnostics> problems(groups.size());
  const auto count = static_cast<std::int64_t>(groups.size());
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto group = static_cast<std::size_t>(i);
    problems[group] = play_group(table, groups[group], options, seconds);
  }
  for (Diagnostics& problem : problems) {
    if (problem.has_errors()) return tl::unexpected(std::move(problem));
  }
  return seconds;
}

}  // namespace ringwright::validation
