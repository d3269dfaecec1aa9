// The command `collective`: the output of nccl-tests on a machine that you may not have: time and bandwidth by size.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/load_warnings.h"
#include "configs/scenario/nccl_host.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "configs/simulation/collective_sizes.h"
#include "core/base/diagnostic.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "tools/command.h"
#include "tools/machine_file.h"
#include "tools/size_range.h"
#include "tools/terminal.h"
#include "validation/left_out/left_out_collectives.h"

namespace ringwright::tools {
namespace {

using configs::CollectiveOperation;
using configs::CollectiveRequest;
using configs::CollectiveResult;

constexpr std::size_t kMostSizes = 10'000;
constexpr std::uint64_t kMostCalls = 1'000'000;

struct ElementType {
  std::string_view name;
  int bytes = 4;
};
// The names of nccl-tests.
constexpr ElementType kTypes[] = {{"int8", 1},   {"uint8", 1},    {"int32", 4},  {"uint32", 4},
                                  {"int64", 8},  {"uint64", 8},   {"half", 2},   {"float", 4},
                                  {"double", 8}, {"bfloat16", 2}, {"f8e4m3", 1}, {"f8e5m2", 1}};
constexpr std::string_view kReductions[] = {"sum", "prod", "min", "max", "avg"};

bool reduces(CollectiveOperation operation) {
  return operation == CollectiveOperation::kAllReduce || operation == CollectiveOperation::kReduceScatter ||
         operation == CollectiveOperation::kReduce;
}

struct Row {
  Bytes size;
  std::int64_t count = 0;
  CollectiveResult result;
  double algbw = 0.0;  // GB/s
  double busbw = 0.0;
};

template <class Names, class Name>
std::string unknown_word(std::string_view option, const std::string& word, const Names& names, Name&& name_of) {
  std::vector<std::string> all;
  for (const auto& entry : names) all.emplace_back(name_of(entry));
  const std::string near = nearest_name(word, all);
  return fmt::format("{} is '{}' and must be one of {}{}", option, word, join(all, ", "),
                     near.empty() ? "" : "; did you mean '" + near + "'?");
}

class Collective final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "collective"; }
  [[nodiscard]] std::string_view summary() const override {
    return "time and bandwidth of a collective by size, as nccl-tests prints them";
  }
  [[nodiscard]] std::string notes() const override {
    return "Times are in us, algbw and busbw in GB/s (1e9 bytes), as in nccl-tests; then what NCCL's cost model\n"
           "chooses. The collective is simulated as NCCL's kernels execute it. The last line is the error\n"
           "found on machines held out of the fit (docs/collectives.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {
        {.names = "cluster",
         .value = "",
         .doc = "a file with a cluster, or a shipped node or machine (`list nodes`, `list machines`)",
         .target = &cluster_,
         .required = true},
        {.names = "operation",
         .value = "",
         .doc = "all_reduce (default), all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv; also as "
                "all_reduce_perf",
         .target = &operation_},
        {.names = "-N,--nodes", .value = "N", .doc = "hosts, instead of the file's", .target = &nodes_, .least = 1},
        {.names = "-g,--ngpus",
         .value = "N",
         .doc = "only the first N GPUs of each host",
         .target = &gpus_,
         .least = 1},
        {.names = "-p,--gpus-per-process",
         .value = "N",
         .doc = "one thread issues the calls of N GPUs, one after another; -g in nccl-tests (all of one host, as its "
                "README starts it; 1 on several hosts)",
         .target = &process_,
         .least = 1},
        {.names = "-b,--minbytes",
         .value = "SIZE",
         .doc = "first size in bytes; K, M, G are powers of 1024 (8)",
         .target = &from_},
        {.names = "-e,--maxbytes", .value = "SIZE", .doc = "last size (8G)", .target = &to_},
        {.names = "-f,--stepfactor",
         .value = "F",
         .doc = "each size is F times the previous one (2)",
         .target = &factor_},
        {.names = "-i,--stepbytes",
         .value = "SIZE",
         .doc = "each size is SIZE more than the previous one",
         .target = &increment_},
        {.names = "-d,--datatype", .value = "TYPE", .doc = "of the elements (float)", .target = &type_},
        {.names = "-o,--op", .value = "OP", .doc = "reduction (sum); times do not depend on it", .target = &reduction_},
        {.names = "-w,--warmup_iters",
         .value = "N",
         .doc = "calls before those that are measured (0)",
         .target = &warmup_,
         .most = kMostCalls},
        {.names = "-n,--iters",
         .value = "N",
         .doc = "calls that are measured, back to back; the mean is printed (1)",
         .target = &iterations_,
         .least = 1,
         .most = kMostCalls},
        threads_option(&threads_),
        {.names = "--set", .value = "KEY=VALUE", .doc = "override a value, may be repeated", .target = &overrides_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    std::string problem = check_order();
    if (problem.empty()) problem = check_words();
    if (!problem.empty()) return refuse(problem);
    const auto scenario = load_machine(cluster_, {.nodes = nodes_, .overrides = overrides_});
    if (!scenario) return refuse(scenario.error());
    warn(configs::unlisted_warnings(*scenario), common);
    if (gpus_ && *gpus_ > static_cast<std::uint64_t>(scenario->cluster.host.gpus)) {
      return refuse(fmt::format("--ngpus is {} and a host has {} GPUs", *gpus_, scenario->cluster.host.gpus));
    }
    const int per_host = static_cast<int>(gpus_.value_or(static_cast<std::uint64_t>(scenario->cluster.host.gpus)));
    if (process_ && per_host % static_cast<int>(*process_) != 0) {
      return refuse(fmt::format("--gpus-per-process is {} and must divide the {} GPUs of a host", *process_, per_host));
    }
    driven_ = process_ ? static_cast<int>(*process_) : configs::usual_gpus_per_process(scenario->cluster, per_host);
    if (process_ && scenario->collectives.rung != collectives::Rung::kChunks && !common.quiet) {
      std::fprintf(stderr, "warning: --gpus-per-process has no effect with collectives.model: %s\n",
                   std::string(collectives::to_string(scenario->collectives.rung)).c_str());
    }
    ranks_ = static_cast<int>(scenario->cluster.hosts) * per_host;
    if (ranks_ < 2) return refuse("a collective needs two ranks; set --nodes N for more hosts");
    return sweep(*scenario, common);
  }

 private:
  // An operation in the place of the cluster, as on the command line of nccl-tests.
  [[nodiscard]] std::string check_order() const {
    std::error_code ignored;
    if (!configs::parse_operation(cluster_) || std::filesystem::exists(cluster_, ignored)) return {};
    return fmt::format("'{0}' is an operation and the cluster comes first: `ringwright collective {1} {0}`", cluster_,
                       operation_.empty() ? "dgx-h100" : operation_);
  }

  // Parses the words of the command line; returns what is wrong with them.
  std::string check_words() {
    const auto operation = configs::parse_operation(operation_.empty() ? "all_reduce" : operation_);
    if (!operation) {
      return unknown_word("the operation", operation_, configs::collective_operations(),
                          [](const auto& entry) { return entry.name; });
    }
    wanted_ = *operation;
    for (const ElementType& entry : kTypes) {
      if (entry.name == type_) element_bytes_ = entry.bytes;
    }
    if (element_bytes_ == 0) {
      return unknown_word("--datatype", type_, kTypes, [](const ElementType& entry) { return entry.name; });
    }
    bool known = false;
    for (const std::string_view entry : kReductions) known = known || entry == reduction_;
    if (!known) return unknown_word("--op", reduction_, kReductions, [](std::string_view entry) { return entry; });
    return check_sizes();
  }

  std::string check_sizes() {
    const auto from = parse_test_size(from_);
    const auto to = parse_test_size(to_);
    const auto increment = increment_.empty() ? std::nullopt : parse_test_size(increment_);
    if (!from) return "--minbytes is '" + from_ + "' and must be a size such as 8, 128M or 1G, at most 1 PiB";
    if (!to) return "--maxbytes is '" + to_ + "' and must be a size such as 8, 128M or 1G, at most 1 PiB";
    if (!increment_.empty() && !increment) return "--stepbytes is '" + increment_ + "' and must be a size such as 1M";
    if (!increment_.empty() && !factor_.empty()) {
      return "--stepbytes and --stepfactor both state the next size; keep one";
    }
    const auto factor = factor_.empty() ? Bytes(2) : parse_test_size(factor_);
    if (!factor || factor->count() < 2)
      return "--stepfactor is '" + factor_ + "' and must be a whole number of at least 2";
    if (*from > *to) return fmt::format("--minbytes {} is above --maxbytes {}", from_, to_);
    if (increment && (*to - *from).count() / increment->count() >= static_cast<std::int64_t>(kMostSizes)) {
      return fmt::format("--stepbytes {} makes more than {} sizes", increment_, kMostSizes);
    }
    sizes_ =
        sizes_of({.from = *from, .to = *to, .factor = static_cast<double>(factor->count()), .increment = increment});
    return "";
  }

  ExitCode sweep(const configs::Scenario& scenario, const CommonOptions& common) {
    if (!common.json && !common.quiet) print(head(scenario));
    const std::vector<CollectiveRequest> requests = requests_of_ranks();
    double sum_of_busbw = 0.0;
    std::vector<std::string> rows;
    configs::IgnoredBySize by_size;
    std::optional<Diagnostics> refused;
    configs::run_sizes(scenario, requests, static_cast<int>(threads_.value_or(0)), [&](std::size_t i, auto result) {
      if (!result) {
        refused = std::move(result.error());
        return false;
      }
      const Row row = row_of(requests[i].bytes, std::move(*result));
      sum_of_busbw += row.busbw;
      by_size.add(row.result.ignored);
      rows.push_back(common.json ? json(row) : line(row));
      if (common.json) return true;
      print(rows.back());
      static_cast<void>(flush_output());
      return true;
    });
    if (refused) return refuse(*refused);
    std::vector<IgnoredKey> ignored = scenario.document.log().ignored();
    std::ranges::move(by_size.keys(), std::back_inserter(ignored));
    if (requests.size() < sizes_.size() && !common.quiet) {
      std::fprintf(stderr, "note: the %zu smallest sizes have no element for each of %d ranks and are left out\n",
                   sizes_.size() - requests.size(), ranks_);
    }
    if (common.json) print(document(scenario, rows, ignored));
    if (common.json || common.quiet) return ExitCode::kOk;
    if (!rows.empty()) {
      const double mean = sum_of_busbw / static_cast<double>(rows.size());
      print(fmt::format("# Avg bus bandwidth    : {:.6g}\n", mean));
    }
    print(expected_error(scenario) + remarks(ignored));
    return ExitCode::kOk;
  }

  // Without the sizes that have no element for each rank.
  [[nodiscard]] std::vector<CollectiveRequest> requests_of_ranks() const {
    std::vector<CollectiveRequest> requests;
    for (const Bytes wanted : sizes_) {
      const Bytes size = configs::rounded_size(wanted_, wanted, ranks_, element_bytes_);
      if (size > Bytes(0)) requests.push_back(request(size));
    }
    return requests;
  }

  [[nodiscard]] CollectiveRequest request(Bytes size) const {
    CollectiveRequest request{
        .operation = wanted_, .bytes = size, .gpus_per_host = static_cast<int>(gpus_.value_or(0))};
    request.gpus_per_process = driven_;
    request.warmup = static_cast<int>(warmup_.value_or(request.warmup));
    request.iterations = static_cast<int>(iterations_.value_or(request.iterations));
    return request;
  }

  // Settings on top of the cluster, so that `validate nccl` can simulate it again.
  [[nodiscard]] std::vector<std::string> settings_played() const {
    std::vector<std::string> settings;
    if (nodes_) settings.push_back(fmt::format("cluster.nodes={}", *nodes_));
    settings.insert(settings.end(), overrides_.begin(), overrides_.end());
    return settings;
  }

  [[nodiscard]] Row row_of(Bytes size, CollectiveResult result) const {
    const Bytes share = size / element_bytes_;
    const bool cut = configs::cuts_buffer_over_ranks(wanted_);
    Row row{.size = size, .count = share.count() / (cut ? ranks_ : 1), .result = std::move(result)};
    row.algbw = per_second(size, row.result.time).count() / 1e9;
    row.busbw = row.algbw * configs::bus_factor(wanted_, ranks_);
    return row;
  }

  [[nodiscard]] std::string head(const configs::Scenario& scenario) const {
    const configs::Cluster& cluster = scenario.cluster;
    const CollectiveRequest calls = request(Bytes(1));
    std::string settings;
    for (const std::string& setting : settings_played()) settings += fmt::format("# simulated set: {}\n", setting);
    return fmt::format(
        "# Collective test starting: {0}_perf\n"
        "# {0} on {1} ranks: {2} hosts x {3} {4}, fabric {5}, network {6}\n"
        "# simulated cluster: {7}\n"
        "{8}"
        "# simulated ranks: {1}\n"
        "# simulated hosts: {2}\n"
        "# simulated gpus_per_process: {9}\n"
        "# simulated warmup: {10}\n"
        "# simulated iterations: {11}\n"
        "#\n"
        "#       size         count      type   redop    root      time    algbw    busbw  algorithm   protocol  "
        "channels\n"
        "#        (B)    (elements)                                (us)   (GB/s)   (GB/s)\n",
        to_string(wanted_), ranks_, cluster.hosts, ranks_ / static_cast<int>(cluster.hosts), cluster.gpu_names(),
        cluster.fabric, scenario.simulate.network->name, cluster_, settings, calls.gpus_per_process, calls.warmup,
        calls.iterations);
  }

  [[nodiscard]] std::string_view shown_reduction() const {
    return reduces(wanted_) ? std::string_view(reduction_) : "none";
  }
  [[nodiscard]] int shown_root() const {
    return wanted_ == CollectiveOperation::kBroadcast || wanted_ == CollectiveOperation::kReduce ? 0 : -1;
  }

  [[nodiscard]] std::string line(const Row& row) const {
    const double us = to_seconds(row.result.time) * 1e6;
    const std::string time = us < 1000.0 ? fmt::format("{:.2f}", us) : fmt::format("{:.1f}", us);
    const std::string channels = row.result.channels > 0 ? fmt::format("{}", row.result.channels) : "-";
    return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {:>8}  {:>7.2f}  {:>7.2f}  {:<10}  {:<8}  {:>8}\n",
                       row.size.count(), row.count, type_, shown_reduction(), shown_root(), time, row.algbw, row.busbw,
                       row.result.algorithm.empty() ? "-" : row.result.algorithm,
                       row.result.protocol.empty() ? "-" : row.result.protocol, channels);
  }

  [[nodiscard]] std::string json(const Row& row) const {
    return fmt::format(
        "    {{\"size\": {}, \"count\": {}, \"type\": {}, \"redop\": {}, \"root\": {}, \"time_us\": {:.6f}, "
        "\"algbw_GBps\": {:.6g}, "
        "\"busbw_GBps\": {:.6g}, \"algorithm\": {}, \"protocol\": {}, \"channels\": {}}}",
        row.size.count(), row.count, json_text(type_), json_text(shown_reduction()), shown_root(),
        to_seconds(row.result.time) * 1e6, row.algbw, row.busbw, json_text(row.result.algorithm),
        json_text(row.result.protocol), row.result.channels);
  }

  // What was found for machines of this kind that were left out of the fits of the constants.
  [[nodiscard]] static std::string left_out_of_kind(const configs::Scenario& scenario) {
    const auto errors = validation::read_left_out();
    if (!errors || scenario.collectives.rung != collectives::Rung::kChunks) return "";
    const auto of = configs::cost_class_of(scenario.cluster, scenario.nccl);
    return validation::left_out_text(*errors, scenario.cluster.hosts > 1 ? of.transport : "none");
  }
  [[nodiscard]] static std::string expected_error(const configs::Scenario& scenario) {
    const std::string text = left_out_of_kind(scenario);
    return text.empty() ? "" : "# Error found on machines held out of the fit: " + text + "\n";
  }

  // Settings that were given but have no effect, as `run` lists them.
  [[nodiscard]] static std::string remarks(const std::vector<IgnoredKey>& ignored) {
    std::string text = ignored.empty() ? "" : "#\n# Given, but without effect here:\n";
    for (const IgnoredKey& key : ignored) {
      text += fmt::format("#   {}{}\n", key.path, key.why.empty() ? "" : ": " + key.why);
    }
    return text;
  }

  [[nodiscard]] std::string document(const configs::Scenario& scenario, const std::vector<std::string>& rows,
                                     const std::vector<IgnoredKey>& ignored) const {
    const CollectiveRequest calls = request(Bytes(1));
    std::vector<std::string> settings;
    for (const std::string& setting : settings_played()) settings.push_back(json_text(setting));
    const std::string played =
        fmt::format("{{\"cluster\": {}, \"set\": [{}], \"gpus_per_process\": {}, \"warmup\": {}, \"iterations\": {}}}",
                    json_text(cluster_), join(settings, ", "), calls.gpus_per_process, calls.warmup, calls.iterations);
    std::vector<std::string> without_effect;
    for (const IgnoredKey& key : ignored) {
      without_effect.push_back(fmt::format("{{\"path\": {}, \"why\": {}}}", json_text(key.path), json_text(key.why)));
    }
    return fmt::format(
        "{{\n  \"schema\": \"ringwright.collective/1\",\n  \"operation\": {},\n  \"ranks\": {},\n  \"hosts\": {},\n"
        "  \"gpu\": {},\n  \"fabric\": {},\n  \"network\": {},\n  \"simulated\": {},\n  \"results\": [\n{}\n  ],\n"
        "  \"ignored\": [{}],\n  \"error_on_machines_left_out\": {}\n}}\n",
        json_text(to_string(wanted_)), ranks_, scenario.cluster.hosts, json_text(scenario.cluster.gpu_names()),
        json_text(scenario.cluster.fabric), json_text(scenario.simulate.network->name), played, join(rows, ",\n"),
        join(without_effect, ", "), json_text(left_out_of_kind(scenario)));
  }

  std::string cluster_, operation_, from_ = "8", to_ = "8G", factor_, increment_, type_ = "float", reduction_ = "sum";
  std::optional<std::uint64_t> nodes_, gpus_, process_, warmup_, iterations_, threads_;
  std::vector<std::string> overrides_;
  CollectiveOperation wanted_ = CollectiveOperation::kAllReduce;
  std::vector<Bytes> sizes_;
  int element_bytes_ = 0;
  int ranks_ = 0;
  int driven_ = 1;  // GPUs by one thread
};

}  // namespace

std::unique_ptr<Command> make_collective() {
  return std::make_unique<Collective>();
}

}  // namespace ringwright::tools
