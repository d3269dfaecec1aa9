// Jobs from files against results of ASTRA-sim. Small ones are written here; a folder of many more, in the form that
// docs/astra-sim.md describes, is named by RINGWRIGHT_PEER_CASES.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "configs/astra/astra_files.h"
#include "configs/astra/astra_report.h"
#include "tests/support/own_folder.h"

namespace ringwright::peers::astra_sim_peers_test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7U) bytes.push_back(static_cast<char>((value & 127U) | 128U));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}
std::string field(std::uint64_t number, const std::string& value) {
  return varint(number << 3U | 2U) + varint(value.size()) + value;
}
std::string record(const std::string& message) {
  return varint(message.size()) + message;
}
std::string attribute(const std::string& name, std::uint64_t value) {
  return field(10, field(1, name) + field(9, value));  // int64
}

const std::map<std::string, std::uint64_t> kCommTypes = {
    {"all_reduce", 0}, {"all_gather", 2}, {"all_to_all", 6}, {"reduce_scatter", 7}};

// A trace of one collective.
std::string collective_trace(std::uint64_t id, const std::string& type, std::uint64_t bytes) {
  const std::string node = field(1, id) + field(2, std::string("collective")) + field(3, 7) +
                           attribute("comm_type", kCommTypes.at(type)) + attribute("comm_size", bytes);
  return record(field(1, std::string("0.0.4"))) + record(node);
}

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::path(test::own_folder()) / name) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string list(const json& values) {
  std::string text;
  for (const json& value : values)
    text += (text.empty() ? "" : ", ") + (value.is_string() ? value.get<std::string>() : value.dump());
  return "[ " + text + " ]";
}

// The files of a case, and its options.
configs::AstraFiles files_of(const json& a_case, const Folder& folder, const fs::path& data) {
  configs::AstraFiles files;
  const json& workload = a_case.at("workload");
  if (workload.at("kind") == "single_collective") {
    files.workload = folder.at("w");
    for (std::uint64_t rank = 0; rank < workload.at("npus"); ++rank) {
      folder.write("w." + std::to_string(rank) + ".et",
                   collective_trace(rank, workload.at("comm_type"), workload.at("comm_size_bytes")));
    }
  } else {
    files.workload = (data / workload.at("et_prefix").get<std::string>()).string();
  }
  json system = a_case.at("system");
  for (auto& [key, value] : system.items()) {
    if (key.ends_with("-custom")) value = {(data / value.at(0).get<std::string>()).string()};
  }
  files.system = folder.write("system.json", system.dump(1, '\t'));
  std::string network;
  for (const auto& [key, value] : a_case.at("network").items()) network += key + ": " + list(value) + "\n";
  files.network = folder.write("network.yml", network);
  if (a_case.contains("remote_memory")) files.remote_memory = folder.write("m.json", a_case["remote_memory"].dump());
  if (a_case.contains("comm_group")) files.groups = folder.write("g.json", a_case["comm_group"].dump());
  if (a_case.at("backend") == "congestion_aware") files.backend = configs::AstraBackend::kAware;
  for (const std::string& option : a_case.value("extra_cli", std::vector<std::string>())) {
    const std::string value = option.substr(option.find('=') + 1);
    if (option.starts_with("--injection-scale")) files.injection_scale = std::stod(value);
    if (option.starts_with("--num-queues")) files.queues_per_dimension = static_cast<std::uint32_t>(std::stoul(value));
    if (option.starts_with("--rendezvous")) files.rendezvous = value == "true";
  }
  return files;
}

// What differs; empty: nothing.
std::string difference(const JobOutcome& outcome, const json& result) {
  Tick least = kLastTick;
  Tick most = -1;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    const Tick finish = outcome.ranks[rank].finish.value_or(-1);
    least = std::min(least, finish);
    most = std::max(most, finish);
    const auto differs = [&](const char* key, Tick ours) {
      return result.contains(key) && result[key].at(rank).get<Tick>() != ours;
    };
    if (differs("cycles_per_rank", finish) || differs("exposed_comm_per_rank", outcome.ranks[rank].exposed())) {
      return "rank " + std::to_string(rank) + " finishes at " + std::to_string(finish);
    }
    if (result.contains("exposed_comm_cycles") && result["exposed_comm_cycles"] != outcome.ranks[rank].exposed()) {
      return "exposed communication is " + std::to_string(outcome.ranks[rank].exposed());
    }
  }
  if (least == result.at("min_cycles") && most == result.at("max_cycles")) return {};
  return std::to_string(least) + " to " + std::to_string(most);
}

std::string play(const json& a_case, const fs::path& data, Shortcuts shortcuts) {
  const Folder folder(a_case.at("id"));
  configs::AstraFiles files = files_of(a_case, folder, data);
  files.shortcuts = shortcuts;
  const auto job = configs::load_astra_job(files);
  if (!job) return render(job.error());
  return difference(run_node_job(job->job, job->rules, *job->networks), a_case.at("result"));
}

// A row of the sweep as a case.
json case_of(const std::map<std::string, std::string>& row) {
  const auto words = [&](const char* column) {
    json values = json::array();
    std::stringstream text(row.at(column));
    for (std::string word; std::getline(text, word, '|');) values.push_back(word);
    return values;
  };
  json a_case = {{"id", row.at("id")}, {"backend", row.at("backend")}};
  a_case["workload"] = {{"kind", "single_collective"},
                        {"comm_type", row.at("comm_type")},
                        {"npus", std::stoull(row.at("npus"))},
                        {"comm_size_bytes", std::stoull(row.at("comm_size_bytes"))}};
  a_case["network"] = {{"topology", words("topology")},
                       {"npus_count", words("npus_count")},
                       {"bandwidth", words("bandwidth_GBps")},
                       {"latency", words("latency_ns")}};
  json& system = a_case["system"];
  for (const char* kind : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    system[std::string(kind) + "-implementation"] = words("impl_per_dim");
  }
  system["preferred-dataset-splits"] = std::stoi(row.at("preferred_dataset_splits"));
  system["active-chunks-per-dimension"] = std::stoi(row.at("active_chunks_per_dim"));
  system["endpoint-delay"] = std::stoi(row.at("endpoint_delay"));
  system["local-mem-bw"] = std::stod(row.at("local_mem_bw_GBps"));
  system["collective-optimization"] = row.at("collective_optimization");
  system["scheduling-policy"] = row.at("scheduling_policy");
  a_case["result"] = {{"max_cycles", std::stoll(row.at("max_cycles"))},
                      {"min_cycles", std::stoll(row.at("min_cycles"))}};
  return a_case;
}

std::vector<json> cases_in(const fs::path& data) {
  std::vector<json> cases;
  for (const char* name : {"core_cases.json", "extra_cases.json"}) {
    std::ifstream file(data / name);
    if (!file) continue;
    const json document = json::parse(file);
    for (const json& a_case : document.at("cases")) cases.push_back(a_case);
  }
  std::ifstream sweep(data / "collective_sweep.csv");
  std::vector<std::string> columns;
  for (std::string line; std::getline(sweep, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string> fields;
    std::stringstream text(line);
    for (std::string word; std::getline(text, word, ',');) fields.push_back(word);
    if (columns.empty()) {
      columns = fields;
      continue;
    }
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < columns.size() && i < fields.size(); ++i) row[columns[i]] = fields[i];
    cases.push_back(case_of(row));
  }
  return cases;
}

TEST(AstraSimPeers, AllCasesOfAFolderAreMatchedToTheNanosecond) {
  const char* const data = std::getenv("RINGWRIGHT_PEER_CASES");
  if (data == nullptr) GTEST_SKIP() << "RINGWRIGHT_PEER_CASES names no folder";
  std::map<std::string, std::pair<int, int>> kinds;  // matched, all
  for (const json& a_case : cases_in(data)) {
    const json& workload = a_case.at("workload");
    const std::string kind = (workload.contains("comm_type") ? workload["comm_type"].get<std::string>() : "traces") +
                             " " + a_case.at("backend").get<std::string>();
    for (const Shortcuts shortcuts : {Shortcuts::kYes, Shortcuts::kNo}) {
      const std::string found = play(a_case, data, shortcuts);
      EXPECT_EQ(found, "") << a_case.at("id") << " should be " << a_case.at("result");
      ++kinds[kind].second;
      if (found.empty()) ++kinds[kind].first;
    }
  }
  for (const auto& [kind, counts] : kinds) {
    std::printf("%-40s %d of %d\n", kind.c_str(), counts.first / 2, counts.second / 2);
  }
}

json small_case() {
  return {
      {"id", "small"},
      {"backend", "congestion_unaware"},
      {"workload",
       {{"kind", "single_collective"}, {"comm_type", "all_reduce"}, {"npus", 8}, {"comm_size_bytes", 1048576}}},
      {"network", {{"topology", {"Ring"}}, {"npus_count", {8}}, {"bandwidth", {50.0}}, {"latency", {500.0}}}},
      {"system", {{"preferred-dataset-splits", 4}, {"local-mem-bw", 1600}, {"all-reduce-implementation", {"ring"}}}},
      // 4 * (10 + 14 * (1110 + 10) + 7 * 60), as in ASTRA-sim's documentation.
      {"result", {{"max_cycles", 64440}, {"min_cycles", 64440}, {"exposed_comm_cycles", 64440}}}};
}

TEST(AstraSimPeers, TheDocumentedExampleTakesItsDocumentedTime) {
  json a_case = small_case();
  EXPECT_EQ(play(a_case, {}, Shortcuts::kYes), "");
  a_case["backend"] = "congestion_aware";
  EXPECT_EQ(play(a_case, {}, Shortcuts::kYes), "");
}

// As measured with ASTRA-sim: four chunks of 15 packets, seven of them reduced, over a LogGP bus.
TEST(AstraSimPeers, TheSharedBusDelaysEachPacket) {
  json a_case = small_case();
  a_case["system"].update({{"model-shared-bus", 1}, {"L", 10}, {"o", 5}, {"g", 2}, {"G", 0.01}});
  a_case["result"] = {{"max_cycles", 135488}, {"min_cycles", 135488}};
  EXPECT_EQ(play(a_case, {}, Shortcuts::kYes), "");
}

TEST(AstraSimPeers, MistakesOfAllFilesComeAtOnce) {
  json a_case = small_case();
  a_case["system"]["all-reduce-implementation"] = {"rings"};
  a_case["system"]["endpoint-dellay"] = 10;
  a_case["network"]["topology"] = {"Rin"};
  const Folder folder("mistakes");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_FALSE(job.has_value());
  const std::string text = render(job.error());
  EXPECT_NE(text.find("all-reduce-implementation has 'rings', which is no algorithm"), std::string::npos) << text;
  EXPECT_NE(text.find("topology has 'Rin'"), std::string::npos) << text;
}

TEST(AstraSimPeers, AKeyThatASTRASimDoesNotReadIsAWarning) {
  json a_case = small_case();
  a_case["system"]["boost-mode"] = 0;
  const Folder folder("warning");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_TRUE(job.has_value()) << render(job.error());
  EXPECT_NE(render(job->warnings).find("ASTRA-sim does not read 'boost-mode'"), std::string::npos);
}

TEST(AstraSimPeers, AMemoryOfFewerNodesThanTheRanksNeedIsRefused) {
  json a_case = small_case();
  a_case["remote_memory"] = {{"memory-type", "PER_NODE_MEMORY_EXPANSION"},
                             {"remote-mem-latency", 100},
                             {"remote-mem-bw", 10},
                             {"num-nodes", 2},
                             {"num-npus-per-node", 4}};
  const Folder folder("memory");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  EXPECT_TRUE(job.has_value()) << render(job.error());
  a_case["remote_memory"]["num-nodes"] = 1;
  const auto smaller = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_FALSE(smaller.has_value());
  EXPECT_NE(render(smaller.error()).find("num-nodes 1 times num-npus-per-node 4 is less than the 8 ranks"),
            std::string::npos);
}

TEST(AstraSimPeers, AlgorithmsForDimensionsThatTheNetworkLacksAreNamed) {
  json a_case = small_case();
  a_case["system"]["all-reduce-implementation"] = {"ring", "direct"};
  const Folder folder("more");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_TRUE(job.has_value()) << render(job.error());
  EXPECT_NE(render(job->warnings).find("all-reduce-implementation has 2 entries and the network 1 dimension:"),
            std::string::npos);
}

TEST(AstraSimPeers, GroupZeroIsThatOfAllRanks) {
  json a_case = small_case();
  a_case["comm_group"] = {{"0", {0, 1, 2, 3, 4, 5, 6, 7}}};
  const Folder folder("zero");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  EXPECT_TRUE(job.has_value()) << render(job.error());
  a_case["comm_group"] = {{"0", {0, 1}}};
  const auto part = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_FALSE(part.has_value());
  EXPECT_NE(render(part.error()).find("group '0' has 2 of 8 ranks, and ASTRA-sim reserves this name"),
            std::string::npos);
}

TEST(AstraSimPeers, AnAwareNetworkOfTwoDimensionsIsRefused) {
  json a_case = small_case();
  a_case["backend"] = "congestion_aware";
  a_case["network"] = {
      {"topology", {"Ring", "Ring"}}, {"npus_count", {4, 2}}, {"bandwidth", {50, 50}}, {"latency", {500, 500}}};
  const Folder folder("aware");
  const auto job = configs::load_astra_job(files_of(a_case, folder, {}));
  ASSERT_FALSE(job.has_value());
  EXPECT_NE(render(job.error()).find("E277"), std::string::npos);
}

TEST(AstraSimPeers, TheLogHasASTRASimsLines) {
  const Folder folder("log");
  const auto job = configs::load_astra_job(files_of(small_case(), folder, {}));
  ASSERT_TRUE(job.has_value());
  const std::string log = configs::astra_log(run_node_job(job->job, job->rules, *job->networks));
  EXPECT_TRUE(log.starts_with("sys[0] finished, 64440 cycles, exposed communication 64440 cycles.\n")) << log;
}

}  // namespace
}  // namespace ringwright::peers::astra_sim_peers_test
