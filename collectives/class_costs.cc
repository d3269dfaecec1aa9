#include "collectives/class_costs.h"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "collectives/comm_settings.h"
#include "core/config/config_document.h"

namespace ringwright::collectives {
namespace {

using namespace ringwright::literals;

constexpr std::string_view kCostsFolder = "costs";
constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kPlanning = "planning";

// The defaults of the provider: FI_CXI_RDZV_THRESHOLD and FI_CXI_RDZV_GET_MIN.
constexpr Bytes kRendezvousFrom(16384);
constexpr Bytes kLeastGet(2049);

// The class's file in the first folder that has it; nothing where no machine of the class was measured.
std::string file_of(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const auto path = std::filesystem::path(folder) / (name + ".yaml");
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path.string();
  }
  return "";
}

struct ClassFiles {
  std::vector<std::string> folders;
  ParsedFiles* parsed = nullptr;
};

void add_class(ConfigMap& comm, const std::string& name, const ClassFiles& files, ChannelCosts& costs,
               Diagnostics& foreign) {
  const std::string path = file_of(name, files.folders);
  if (path.empty()) return;
  auto document = ConfigDocument::load(path, {.parsed = files.parsed});
  if (!document) {
    for (const Diagnostic& problem : document.error().all()) foreign.add(problem);
    return;
  }
  comm.note_content("classes." + name, name + ".yaml", document->content_sha256());
  costs = read_channel_costs(document->root().map("costs", "constants of the class"), costs);
  document->check_all_read();
  for (const Diagnostic& problem : document->log().diagnostics().all()) foreign.add(problem);
}

// What is known of a network before any log. Of those whose libraries are far from the NIC, from a filled slot to the
// NIC takes about a small message's time between two hosts: 15.5 us over EFA (AWS on MPI's latency), some 20 us through
// the sockets of two hosts of a cloud (assumed). libfabric's provider for Slingshot sends larger messages by
// rendezvous; where it matches in software, it copies smaller ones from its own memory, from 4 KiB on by a call of the
// GPU's driver. What these take no fit separates from the costs of LL: 2 and 8 us on Alps. Its NIC sends a process's
// messages one after another (of trees with chunks of 512 KiB two at a time).
void plan_network(std::string_view transport, ChannelCosts& costs) {
  if (transport == "efa") costs.network_post = 12_us;
  if (transport == "tcp" || transport == "tcpx" || transport == "fastrak") costs.network_post = 20_us;
  if (!transport.starts_with("slingshot")) return;
  costs.network_eager = kRendezvousFrom + kLeastGet;
  costs.network_rendezvous = 2_us;
  costs.network_at_once = 2;
  costs.network_matched = transport == "slingshot_software";
}

// As the variables of the provider set them.
void set_provider(const NcclKnobs& knobs, ChannelCosts& costs) {
  if (knobs.cxi_rendezvous || knobs.cxi_least_get) {
    costs.network_eager = knobs.cxi_rendezvous.value_or(kRendezvousFrom) + knobs.cxi_least_get.value_or(kLeastGet);
  }
  if (knobs.cxi_own_copy) costs.network_own_copy = *knobs.cxi_own_copy;
  if (knobs.cxi_gdrcopy && !*knobs.cxi_gdrcopy) costs.network_own_copy = Bytes(0);
}

bool sets_up_channels_separately(std::string_view version) {
  int major = 0, minor = 0;
  const char* const last = version.data() + version.size();
  const auto [dot, wrong] = std::from_chars(version.data(), last, major);
  if (wrong != std::errc() || dot == last || *dot != '.') return false;
  const auto [end, error] = std::from_chars(dot + 1, last, minor);
  return error == std::errc() && major == 2 && minor < 14;
}

// NCCL before 2.14 sets up every channel separately: on the device 1.5 and 1.8 us with 2.8 (ABCI's V100 and A100), next
// to nothing with 2.20 and later; on the host 0.2 us for each GPU (SuperBench: with eight A100 in one process all five
// operations take 34 us with one channel and 1.6 us more with each further one).
void add_old_channels(ChannelCosts& costs) {
  costs.launch_channel = 1600_ns;
  costs.host_channel = 200_ns;
  costs.host_peer = 800_ns;  // 86 us for an all-to-all among eight A100 in one process; 75 with later ones, on H100
}

void list_idle_variables(ConfigMap& comm, const CostClass& of, const NcclKnobs& knobs) {
  if (!knobs.names_cxi() || of.transport.starts_with("slingshot") || !comm.has("env")) return;
  ConfigMap env = comm.map("env", "");
  for (const std::string& name : env.keys()) {
    if (name.starts_with("FI_")) env.ignore(name, "only 'cluster.node.nic.transport: slingshot' has this library");
  }
}

}  // namespace

ChannelCosts class_costs(ConfigMap& comm, const CostClass& of, const NcclKnobs& knobs, const NcclFiles& files,
                         Diagnostics& foreign) {
  const std::string which =
      comm.text({.name = "classes",
                 .doc = "where constants begin that `costs` does not set: `measured` on machines of the class, "
                        "`planning` values, or a folder with such files",
                 .fallback = std::string(kMeasured)});
  ChannelCosts costs = planning_costs(of.generation);
  plan_network(of.transport, costs);
  list_idle_variables(comm, of, knobs);
  std::vector<std::string> folders = {which};
  if (which == kMeasured) {
    folders.clear();
    for (const std::string& share : files.share_folders) {
      folders.push_back((std::filesystem::path(share) / kCostsFolder).string());
    }
  }
  std::error_code error;
  if (which != kMeasured && which != kPlanning && !std::filesystem::is_directory(which, error)) {
    comm.error("classes", "E360", fmt::format("'{}' is no folder with the constants of classes", which),
               "write measured, planning, or a folder that holds files such as hopper.yaml");
  }
  if (which != kPlanning && !comm.documenting()) {
    const ClassFiles of_classes{.folders = folders, .parsed = files.parsed};
    for (const std::string& name : {of.kernels, of.transport, of.kernels + "-" + of.transport}) {
      add_class(comm, name, of_classes, costs, foreign);
    }
  }
  if (sets_up_channels_separately(of.version)) add_old_channels(costs);
  set_provider(knobs, costs);
  return costs;
}

}  // namespace ringwright::collectives
