// The command `topo`: a view of a cluster: its devices and links, its connectivity, a path through it, its bisection.
#include <charconv>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/load_warnings.h"
#include "configs/scenario/named_machine.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/fabric_view.h"
#include "core/base/diagnostic.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

using configs::FabricView;

struct RankPair {
  std::size_t from = 0;
  std::size_t to = 0;
};

// "0,4097"
std::optional<RankPair> parse_pair(std::string_view text) {
  RankPair pair;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, pair.from);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, pair.to);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return pair;
}

std::string table_text(std::string_view title, const TextTable& table) {
  std::string text = std::string(title) + "\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string parts_text(const FabricView& view) {
  TextTable devices({Align::kLeft, Align::kRight});
  for (const auto& device : view.devices()) {
    devices.add_row({device.kind, with_commas(static_cast<long long>(device.count))});
  }
  TextTable links({Align::kLeft, Align::kRight, Align::kLeft});
  for (const auto& link : view.links()) {
    links.add_row(
        {link.from + " -> " + link.to, with_commas(static_cast<long long>(link.count)), "x " + to_string(link.each)});
  }
  return table_text("Devices", devices) + table_text("Links, one direction each", links);
}

std::string parts_json(const FabricView& view) {
  std::vector<std::string> devices, links;
  for (const auto& device : view.devices())
    devices.push_back(fmt::format("{}: {}", json_text(device.kind), device.count));
  for (const auto& link : view.links()) {
    links.push_back(fmt::format("{{\"from\": {}, \"to\": {}, \"count\": {}, \"bytes_per_s_each\": {}}}",
                                json_text(link.from), json_text(link.to), link.count, link.each.count()));
  }
  return fmt::format("\"devices\": {{{}}},\n  \"links\": [{}]", join(devices, ", "), join(links, ",\n    "));
}

std::string path_text(const configs::PathView& path, RankPair ranks) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"link", "bandwidth", "latency", "share"});
  for (const auto& hop : path.hops) {
    table.add_row({hop.link, to_string(hop.bandwidth), to_string(hop.latency), fmt::format("{:.4g}", hop.share)});
  }
  return table_text(fmt::format("Path from rank {} to rank {}: {}, at most {} alone", ranks.from, ranks.to,
                                to_string(path.latency), to_string(path.narrowest)),
                    table);
}

std::string path_json(const configs::PathView& path, RankPair ranks) {
  std::vector<std::string> hops;
  for (const auto& hop : path.hops) {
    hops.push_back(fmt::format("{{\"link\": {}, \"bytes_per_s\": {}, \"latency_ps\": {}, \"share\": {}}}",
                               json_text(hop.link), hop.bandwidth.count(), hop.latency.count(), hop.share));
  }
  return fmt::format(
      "\"path\": {{\"from\": {}, \"to\": {}, \"latency_ps\": {}, \"narrowest_bytes_per_s\": {}, \"hops\": [{}]}}",
      ranks.from, ranks.to, path.latency.count(), path.narrowest.count(), join(hops, ",\n    "));
}

std::string names_text(const FabricView& view) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"link", "bandwidth", "latency"});
  for (const auto& link : view.named_links()) {
    table.add_row({link.link, to_string(link.bandwidth), to_string(link.latency)});
  }
  return table_text("Links by name, as in `faults`", table);
}

std::string names_json(const FabricView& view) {
  std::vector<std::string> links;
  for (const auto& link : view.named_links()) {
    links.push_back(fmt::format("{{\"link\": {}, \"bytes_per_s\": {}, \"latency_ps\": {}}}", json_text(link.link),
                                link.bandwidth.count(), link.latency.count()));
  }
  return fmt::format("\"named_links\": [{}]", join(links, ",\n    "));
}

// Of a scenario or file, or of a shipped machine or node.
Result<configs::DescribedCluster> cluster_of(const std::string& word, const std::vector<std::string>& overrides) {
  const auto file = find_scenario_or_machine(word);
  if (file) return configs::describe_cluster(*file, {.overrides = overrides, .share_folders = {}});
  if (!configs::is_named_machine(word)) return tl::unexpected(file.error());
  auto machine = configs::load_named_machine(word, {.overrides = overrides, .share_folders = {}});
  if (!machine) return tl::unexpected(machine.error());
  Diagnostics warnings = configs::unlisted_warnings(*machine);
  return configs::DescribedCluster{.cluster = std::move(machine->cluster), .warnings = std::move(warnings)};
}

class Topo final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "topo"; }
  [[nodiscard]] std::string_view summary() const override {
    return "inspect a cluster: devices, paths, bisection, drawing";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {
        {.names = "config",
         .value = "",
         .doc = "a scenario, a file with a cluster, or a shipped machine or node",
         .target = &config_,
         .required = true},
        {.names = "--set", .value = "KEY=VALUE", .doc = "override a value, may be repeated", .target = &overrides_},
        {.names = "--check", .value = "", .doc = "check that every GPU reaches every other", .target = &check_},
        {.names = "--names", .value = "", .doc = "every link by its name in `faults`, FROM->TO", .target = &names_},
        {.names = "--path", .value = "A,B", .doc = "the path from rank A to rank B", .target = &path_},
        {.names = "--bisection",
         .value = "",
         .doc = "the bandwidth of the cut through the middle of the hosts",
         .target = &bisection_},
        {.names = "--dot",
         .value = "FILE",
         .doc = "write a drawing for Graphviz ('-': to stdout)",
         .target = &dot_,
         .writes = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const std::optional<RankPair> ranks = parse_pair(path_);  // none in an empty text
    if (!path_.empty() && !ranks) return refuse("--path takes two ranks, as in --path 0,8, not '" + path_ + "'");
    const auto found = cluster_of(config_, overrides_);
    if (!found) return refuse(found.error());
    warn(found->warnings, common);
    const FabricView view(found->cluster);
    if (ranks && (ranks->from >= view.gpus() || ranks->to >= view.gpus() || ranks->from == ranks->to)) {
      return refuse(
          fmt::format("--path {}: the ranks of this cluster are 0 to {}; a path needs two", path_, view.gpus() - 1));
    }
    const std::string drawing = dot_.empty() ? "" : view.drawing();
    if (dot_ == "-") {
      print(drawing);
      return ExitCode::kOk;
    }
    if (!dot_.empty()) {
      if (const ExitCode code = write_to(dot_, drawing); code != ExitCode::kOk) return code;
    }
    return answer(view, ranks, common);
  }

 private:
  ExitCode answer(const FabricView& view, const std::optional<RankPair>& ranks, const CommonOptions& common) const {
    std::vector<std::string> parts = {common.json ? parts_json(view) : parts_text(view)};
    bool whole = true;
    if (names_) parts.push_back(common.json ? names_json(view) : names_text(view));
    if (ranks) {
      const auto path = view.path(ranks->from, ranks->to);
      parts.push_back(common.json ? path_json(path, *ranks) : path_text(path, *ranks));
    }
    if (bisection_) {
      const Bandwidth bandwidth = view.bisection();
      parts.push_back(
          common.json ? fmt::format("\"bisection_bytes_per_s\": {}", bandwidth.count())
                      : fmt::format("Bisection, first half of the hosts to the second: {}\n", to_string(bandwidth)));
    }
    if (check_) {
      const auto reachability = view.reachability();
      whole = reachability.unreachable_pairs == 0;
      parts.push_back(common.json ? fmt::format("\"unreachable_pairs\": {}", reachability.unreachable_pairs)
                                  : check_text(reachability));
    }
    const std::string text = common.json ? "{\n  " + join(parts, ",\n  ") + "\n}\n" : join(parts, "");
    print(text);
    return whole ? ExitCode::kOk : ExitCode::kInfeasible;
  }

  static std::string check_text(const configs::Reachability& reachability) {
    if (reachability.unreachable_pairs == 0) return "Every GPU reaches every other\n";
    std::string text = fmt::format("{} pairs of GPUs do not reach each other:\n", reachability.unreachable_pairs);
    for (const std::string& example : reachability.examples) text += "  " + example + "\n";
    return text;
  }

  std::string config_, path_, dot_;
  std::vector<std::string> overrides_;
  bool check_ = false;
  bool names_ = false;
  bool bisection_ = false;
};

}  // namespace

std::unique_ptr<Command> make_topo() {
  return std::make_unique<Topo>();
}

}  // namespace ringwright::tools
